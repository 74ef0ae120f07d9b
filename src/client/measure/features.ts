import type { FlatFace, Hit, Snap, Vec3 } from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { checkFinite, checkVec3, guardRead, throwInvalid } from '../check/validate.js';

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
export function readFeature(operation: string, argument: string, feature: Measurable): MeasuredFeature {
  return guardRead(operation, argument, () => {
    if (typeof feature !== 'object' || feature === null) throwInvalid(operation, argument, feature, EXPECTED);
    if (Array.isArray(feature) || ArrayBuffer.isView(feature))
      return pointOf(operation, argument, feature as unknown as Vec3);
    const { snap } = feature as Partial<Hit>;
    return snap
      ? readSingleFeature(operation, `${argument}.snap`, snap)
      : readSingleFeature(operation, argument, feature);
  });
}

/** Reads a feature that is not a hit with a snap. */
function readSingleFeature(operation: string, argument: string, feature: Measurable): MeasuredFeature {
  const { kind, face, a, b, point, corners } = feature as Partial<Snap & FlatFace>;
  if (corners !== undefined) return faceOf(operation, `${argument}.corners`, corners);
  if (kind === 'face') return faceOf(operation, `${argument}.face.corners`, face?.corners);
  const isEdge = kind === 'edge' || (kind === undefined && a !== undefined);
  // Without a point it is none of these; three's vectors are the likeliest.
  if (!isEdge) return pointOf(operation, point ? `${argument}.point` : argument, (point ?? feature) as Vec3);
  const ends = [checkVec3(operation, `${argument}.a`, a as Vec3), checkVec3(operation, `${argument}.b`, b as Vec3)];
  return { kind: 'edge', corners: Float64Array.from(ends.flat()) };
}

function pointOf(operation: string, argument: string, value: Vec3): MeasuredFeature {
  return { kind: 'point', corners: Float64Array.from(checkVec3(operation, argument, value)) };
}

function faceOf(operation: string, argument: string, value: Float64Array | undefined): MeasuredFeature {
  const corners = checkTypedArray<Float64Array>(operation, argument, value, ['Float64Array']).slice();
  if (corners.length === 0 || corners.length % 9 !== 0) {
    throwInvalid(operation, `the length of ${argument}`, corners.length, '9 for each triangle, of one or more');
  }
  const invalidIndex = corners.findIndex((each) => !Number.isFinite(each));
  if (invalidIndex >= 0) checkFinite(operation, `${argument}[${invalidIndex}]`, corners[invalidIndex]);
  return { kind: 'face', corners };
}
