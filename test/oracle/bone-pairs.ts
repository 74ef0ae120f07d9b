// Finds the bones of two objects that meet: all boxes of one against all of the other, or against its shape, in float64.
import { Matrix4, Vector3 } from 'three';
import type { BoneBox } from './bone-boxes.js';
import { box, type Convex, separation, triangle } from './convex.js';
import type { Triangles } from './meshes.js';
import { type Body, cubeBody, farApart, gapBetween } from './solids.js';
import { trianglesUnder } from './triangle-pairs.js';
import { windingNumber } from './winding.js';

/** Stand-in for an object without bones: a solid, or a surface, which may be that of a solid. */
type Shape = { solid: Body } | Surface;
export type Party = { boxes: readonly BoneBox[] } | Shape;

interface Surface {
  surface: Triangles;
  matrix: Matrix4;
  isSolid: boolean;
}

/** World units: whether objects closer to touching than this meet depends on rounding. */
const DOUBT = 1e-4;
/** An object that meets a box shrunk by this factor certainly meets the box. */
const SMALLER = 1 - 1e-3;

/** Two bones, -1 for an object without any. */
export interface BonePair {
  a: number;
  b: number;
  /** 'open' if it depends on rounding, and 'unknown' if the axes of a box are ambiguous. */
  state: 'meet' | 'open' | 'unknown';
}

/** Lists the pairs of bones that meet or may meet. At least one of the two objects has bones. */
export function bonePairs(a: Party, b: Party): BonePair[] {
  if (!('boxes' in a)) {
    if (!('boxes' in b)) throw new Error('neither has bones');
    return b.boxes.flatMap((each) => withShape(each, a).map((state) => ({ a: -1, b: each.bone, state })));
  }
  if (!('boxes' in b)) {
    return a.boxes.flatMap((each) => withShape(each, b).map((state) => ({ a: each.bone, b: -1, state })));
  }
  const [first, second] = [a, b].map(({ boxes }) => boxes.map((each) => ({ ...each, convex: box(each.matrix) })));
  const stateOf = (p: (typeof first)[0], q: (typeof first)[0]): BonePair['state'][] => {
    if (p.isAmbiguous || q.isAmbiguous) return ['unknown'];
    const apart = separation(p.convex, q.convex, DOUBT);
    return apart > DOUBT ? [] : [apart < -DOUBT ? 'meet' : 'open'];
  };
  return first.flatMap((p) => second.flatMap((q) => stateOf(p, q).map((state) => ({ a: p.bone, b: q.bone, state }))));
}

function withShape(each: BoneBox, other: Shape): BonePair['state'][] {
  if (each.isAmbiguous) return ['unknown'];
  const isMeeting = 'solid' in other ? meetsSolid(each, other.solid) : meetsSurface(each, other);
  return isMeeting === false ? [] : [isMeeting === null ? 'open' : 'meet'];
}

/** null if it depends on rounding. */
function meetsSolid({ matrix }: BoneBox, solid: Body): boolean | null {
  const whole = cubeBody(matrix);
  if (farApart(whole, solid, DOUBT) || gapBetween(whole, solid, 1e-7).least > DOUBT) return false;
  const inner = cubeBody(matrix.clone().multiply(new Matrix4().makeScale(SMALLER, SMALLER, SMALLER)));
  return gapBetween(inner, solid, 1e-7).most <= 1e-7 ? true : null;
}

function meetsSurface({ matrix }: BoneBox, { surface, matrix: placed, isSolid }: Surface): boolean | null {
  const own = box(matrix);
  const faces: Convex[] = trianglesUnder(surface, placed).map(([a, b, c]) => triangle(a, b, c));
  let apart = Number.POSITIVE_INFINITY;
  for (const face of faces) {
    apart = Math.min(apart, separation(own, face, DOUBT));
    if (apart < -DOUBT) return true;
  }
  if (apart <= DOUBT) return null;
  if (!isSolid) return false;
  const middle = new Vector3().setFromMatrixPosition(matrix).applyMatrix4(placed.clone().invert());
  return Math.abs(windingNumber(surface, middle)) > 0.5;
}
