import type { FlatFace, Hit, Snap, Vec3 } from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { checkFinite, checkVec3, invalid, reading } from '../check/validate.js';

/**
 * Features that can be measured: a point; an edge by its ends; a flat face; a snap of a pick, whole edges and faces included; a
 * hit by its `snap`, or by its point without one.
 */
export type Measurable = Vec3 | { readonly a: Vec3; readonly b: Vec3 } | FlatFace | Snap | Hit;

/** Corners of a measured feature: 3 numbers of a point, 6 of an edge, 9 for each triangle of a face. */
export interface MeasuredFeature {
  kind: 'point' | 'edge' | 'face';
  corners: Float64Array;
}

const EXPECTED = 'a point, an edge, a face, a snap or a hit';

/** Reads a measured feature. Throws INVALID_ARGUMENT. */
export function readFeature(operation: string, argument: string, given: Measurable): MeasuredFeature {
  return reading(operation, argument, () => {
    if (typeof given !== 'object' || given === null) invalid(operation, argument, given, EXPECTED);
    if (Array.isArray(given) || ArrayBuffer.isView(given))
      return pointOf(operation, argument, given as unknown as Vec3);
    const { snap } = given as Partial<Hit>;
    return snap ? readOwn(operation, `${argument}.snap`, snap) : readOwn(operation, argument, given);
  });
}

/** Reads a feature that is not a hit with a snap. */
function readOwn(operation: string, argument: string, given: Measurable): MeasuredFeature {
  const { kind, face, a, b, point, corners } = given as Partial<Snap & FlatFace>;
  if (corners !== undefined) return faceOf(operation, `${argument}.corners`, corners);
  if (kind === 'face') return faceOf(operation, `${argument}.face.corners`, face?.corners);
  const isEdge = kind === 'edge' || (kind === undefined && a !== undefined);
  if (!isEdge) return pointOf(operation, `${argument}.point`, point as Vec3);
  const ends = [checkVec3(operation, `${argument}.a`, a as Vec3), checkVec3(operation, `${argument}.b`, b as Vec3)];
  return { kind: 'edge', corners: Float64Array.from(ends.flat()) };
}

function pointOf(operation: string, argument: string, given: Vec3): MeasuredFeature {
  return { kind: 'point', corners: Float64Array.from(checkVec3(operation, argument, given)) };
}

function faceOf(operation: string, argument: string, given: Float64Array | undefined): MeasuredFeature {
  const corners = checkTypedArray<Float64Array>(operation, argument, given, ['Float64Array']).slice();
  if (corners.length === 0 || corners.length % 9 !== 0) {
    invalid(operation, `the length of ${argument}`, corners.length, '9 for each triangle, of one or more');
  }
  const wrong = corners.findIndex((each) => !Number.isFinite(each));
  if (wrong >= 0) checkFinite(operation, `${argument}[${wrong}]`, corners[wrong]);
  return { kind: 'face', corners };
}
