// Finds the bones of two objects that meet: all boxes of one against all of the other, or against its shape, in float64.
import { Matrix4, Vector3 } from 'three';
import type { BoneBox } from './bone-boxes.js';
import { box, type Convex, separation, triangle } from './convex.js';
import type { Triangles } from './meshes.js';
import { areFarApart, type ConvexSet, cubeBody, gapBetween } from './solids.js';
import { trianglesUnder } from './triangle-pairs.js';
import { windingNumber } from './winding.js';

/** Stand-in for an object without bones: a solid, or a surface, which may be that of a solid. */
type Shape = { solid: ConvexSet } | Surface;
export type PairObject = { boxes: readonly BoneBox[] } | Shape;

interface Surface {
  surface: Triangles;
  matrix: Matrix4;
  isSolid: boolean;
}

/** World units: whether objects closer to touching than this meet depends on rounding. */
const TOLERANCE = 1e-4;
/** An object that meets a box shrunk by this factor certainly meets the box. */
const SHRINK_FACTOR = 1 - 1e-3;

/** Two bones, -1 for an object without any. */
export interface BonePair {
  a: number;
  b: number;
  /** 'open' if it depends on rounding, and 'unknown' if the axes of a box are ambiguous. */
  state: 'meet' | 'open' | 'unknown';
}

/** Lists the pairs of bones that meet or may meet. At least one of the two objects has bones. */
export function bonePairs(a: PairObject, b: PairObject): BonePair[] {
  if (!('boxes' in a)) {
    if (!('boxes' in b)) throw new Error('neither has bones');
    return b.boxes.flatMap((boneBox) =>
      statesWithShape(boneBox, a).map((state) => ({ a: -1, b: boneBox.bone, state })),
    );
  }
  if (!('boxes' in b)) {
    return a.boxes.flatMap((boneBox) =>
      statesWithShape(boneBox, b).map((state) => ({ a: boneBox.bone, b: -1, state })),
    );
  }
  const [first, second] = [a, b].map(({ boxes }) =>
    boxes.map((boneBox) => ({ ...boneBox, convex: box(boneBox.matrix) })),
  );
  const stateOf = (p: (typeof first)[0], q: (typeof first)[0]): BonePair['state'][] => {
    if (p.isAmbiguous || q.isAmbiguous) return ['unknown'];
    const gap = separation(p.convex, q.convex, TOLERANCE);
    return gap > TOLERANCE ? [] : [gap < -TOLERANCE ? 'meet' : 'open'];
  };
  return first.flatMap((p) => second.flatMap((q) => stateOf(p, q).map((state) => ({ a: p.bone, b: q.bone, state }))));
}

function statesWithShape(boneBox: BoneBox, shape: Shape): BonePair['state'][] {
  if (boneBox.isAmbiguous) return ['unknown'];
  const isMeeting = 'solid' in shape ? meetsSolid(boneBox, shape.solid) : meetsSurface(boneBox, shape);
  return isMeeting === false ? [] : [isMeeting === null ? 'open' : 'meet'];
}

/** null if it depends on rounding. */
function meetsSolid({ matrix }: BoneBox, solid: ConvexSet): boolean | null {
  const cube = cubeBody(matrix);
  if (areFarApart(cube, solid, TOLERANCE) || gapBetween(cube, solid, 1e-7).least > TOLERANCE) return false;
  const shrunkCube = cubeBody(
    matrix.clone().multiply(new Matrix4().makeScale(SHRINK_FACTOR, SHRINK_FACTOR, SHRINK_FACTOR)),
  );
  return gapBetween(shrunkCube, solid, 1e-7).most <= 1e-7 ? true : null;
}

function meetsSurface({ matrix }: BoneBox, { surface, matrix: surfaceMatrix, isSolid }: Surface): boolean | null {
  const boneBox = box(matrix);
  const faces: Convex[] = trianglesUnder(surface, surfaceMatrix).map(([a, b, c]) => triangle(a, b, c));
  let minGap = Number.POSITIVE_INFINITY;
  for (const face of faces) {
    minGap = Math.min(minGap, separation(boneBox, face, TOLERANCE));
    if (minGap < -TOLERANCE) return true;
  }
  if (minGap <= TOLERANCE) return null;
  if (!isSolid) return false;
  const center = new Vector3().setFromMatrixPosition(matrix).applyMatrix4(surfaceMatrix.clone().invert());
  return Math.abs(windingNumber(surface, center)) > 0.5;
}
