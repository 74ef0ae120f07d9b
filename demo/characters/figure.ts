import { MathUtils, Vector3 } from 'three';

type Point = readonly [x: number, y: number, z: number];

/** A bone and its flesh: a ball that is swept from one point to another while its radius changes. */
export interface Limb {
  readonly name: string;
  /** '' for the root. */
  readonly parent: string;
  readonly joint: Point;
  readonly from: Point;
  readonly to: Point;
  readonly radii: readonly [number, number];
}

/** Metres within which limbs blend into one another. */
const BLEND = 0.035;

/** A person of 1.77 m who faces +z, with the arms slightly apart. Left is +x. */
export const LIMBS: readonly Limb[] = [
  limb('hips', '', [0, 0.95, 0], [-0.075, 0.94, 0], [0.075, 0.94, 0], 0.115),
  limb('belly', 'hips', [0, 1.04, 0], [0, 1.04, 0.005], [0, 1.18, 0.01], 0.115),
  limb('chest', 'belly', [0, 1.2, 0], [-0.085, 1.34, 0], [0.085, 1.34, 0], 0.12),
  limb('neck', 'chest', [0, 1.46, 0], [0, 1.44, 0], [0, 1.54, 0.01], 0.052),
  limb('head', 'neck', [0, 1.56, 0.01], [0, 1.6, 0.03], [0, 1.68, 0.01], 0.078, 0.1),
  ...pair('upper arm', 'chest', [0.19, 1.41, 0], [0.19, 1.41, 0], [0.31, 1.17, 0], 0.06, 0.044),
  ...pair('forearm', 'upper arm', [0.31, 1.17, 0], [0.31, 1.17, 0], [0.41, 0.95, 0.02], 0.044, 0.03),
  ...pair('hand', 'forearm', [0.41, 0.95, 0.02], [0.43, 0.91, 0.02], [0.47, 0.82, 0.04], 0.04, 0.024),
  ...pair('thigh', 'hips', [0.1, 0.9, 0], [0.105, 0.86, 0], [0.115, 0.5, 0.01], 0.088, 0.06),
  ...pair('shin', 'thigh', [0.115, 0.5, 0.01], [0.115, 0.48, 0], [0.12, 0.11, -0.01], 0.062, 0.04),
  ...pair('foot', 'shin', [0.12, 0.1, -0.01], [0.12, 0.05, -0.02], [0.135, 0.038, 0.15], 0.047, 0.036),
];

/** Signed distances to each limb, in metres. */
export function limbDistances(point: Vector3, distances: Float64Array): void {
  LIMBS.forEach(({ from, to, radii }, i) => {
    START.set(...from);
    AXIS.set(...to).sub(START);
    const fraction = MathUtils.clamp(TO_POINT.subVectors(point, START).dot(AXIS) / AXIS.lengthSq(), 0, 1);
    const distance = TO_POINT.addScaledVector(AXIS, -fraction).length();
    distances[i] = distance - MathUtils.lerp(radii[0], radii[1], fraction);
  });
}

/** Signed distance to the whole body, a smooth union of the limbs. */
export function bodyDistance(x: number, y: number, z: number): number {
  limbDistances(POINT.set(x, y, z), DISTANCES);
  let nearest = Number.POSITIVE_INFINITY;
  for (const distance of DISTANCES) {
    const overlap = Math.max(0, BLEND - Math.abs(nearest - distance));
    nearest = Math.min(nearest, distance) - overlap ** 2 / (4 * BLEND);
  }
  return nearest;
}

const START = new Vector3();
const AXIS = new Vector3();
const TO_POINT = new Vector3();
const POINT = new Vector3();
const DISTANCES = new Float64Array(LIMBS.length);

function limb(
  name: string,
  parent: string,
  joint: Point,
  from: Point,
  to: Point,
  radius: number,
  endRadius = radius,
): Limb {
  return { name, parent, joint, from, to, radii: [radius, endRadius] };
}

/** A left limb and its mirror image. */
function pair(
  name: string,
  parent: string,
  joint: Point,
  from: Point,
  to: Point,
  radius: number,
  endRadius: number,
): Limb[] {
  return (['left', 'right'] as const).map((side) => {
    const mirror = ([x, y, z]: Point): Point => [side === 'left' ? x : -x, y, z];
    const sideParent = parent === 'chest' || parent === 'hips' ? parent : `${side} ${parent}`;
    return limb(`${side} ${name}`, sideParent, mirror(joint), mirror(from), mirror(to), radius, endRadius);
  });
}
