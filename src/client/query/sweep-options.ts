import { MAX_OBJECTS, WAY_NUMBERS } from '../../shared/layout.js';
import type { Motion } from '../../shared/protocol.js';
import type { Shape, SweepManyOptions } from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { checkInteger, checkMatrix, checkPositive, guardRead, throwInvalid } from '../check/validate.js';
import { QUERY_KEYS } from './query-options.js';

export const SWEEP_KEYS = [...QUERY_KEYS, 'tolerance'];
export const SWEEP_MANY_KEYS = [...SWEEP_KEYS, 'shapeOf'];

/** How far a matrix may deviate from a rotation of another one, relative to its columns: within the precision of float32. */
const RIGID_TOLERANCE = 1e-5;
/** How far the length of a quaternion may be from 1. */
const UNIT_TOLERANCE = 1e-3;

/** Reads where a shape starts, and how it moves from there; the end must be the start, moved and turned. */
export function checkMotion(
  operation: string,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
  tolerance: number | undefined,
): { matrix: number[]; motion: Motion } {
  const a = checkMatrix(operation, 'from', from);
  const b = checkMatrix(operation, 'to', to);
  const way: Motion['way'] = [b[12] - a[12], b[13] - a[13], b[14] - a[14]];
  if (!Number.isFinite(Math.hypot(...way))) throwInvalid(operation, 'to', to, 'a place less far from `from`');
  const rotation = rotationBetween(a, b);
  if (rotation === null) {
    throwInvalid(operation, 'to', to, '`from`, moved and turned: a shape keeps its scale and its form on its way');
  }
  return {
    matrix: a,
    motion: {
      way,
      rotation,
      tolerance: tolerance === undefined ? 0 : checkPositive(operation, 'tolerance', tolerance),
    },
  };
}

/** Returns the quaternion that rotates the linear part of one matrix to that of another; null if there is none. */
function rotationBetween(a: ArrayLike<number>, b: ArrayLike<number>): Motion['rotation'] | null {
  if ([0, 1, 2, 4, 5, 6, 8, 9, 10].every((i) => a[i] === b[i])) return [0, 0, 0, 1];
  // The rows of the inverse of a's linear part, times the determinant.
  const rows = [
    [a[5] * a[10] - a[6] * a[9], a[6] * a[8] - a[4] * a[10], a[4] * a[9] - a[5] * a[8]],
    [a[2] * a[9] - a[1] * a[10], a[0] * a[10] - a[2] * a[8], a[1] * a[8] - a[0] * a[9]],
    [a[1] * a[6] - a[2] * a[5], a[2] * a[4] - a[0] * a[6], a[0] * a[5] - a[1] * a[4]],
  ];
  const determinant = a[0] * rows[0][0] + a[1] * rows[0][1] + a[2] * rows[0][2];
  const r = [0, 1, 2].map((i) =>
    [0, 1, 2].map((j) => (b[i] * rows[0][j] + b[4 + i] * rows[1][j] + b[8 + i] * rows[2][j]) / determinant),
  );
  const rotation = quaternionOf(r);
  const rotationMatrix = rotationMatrixOf(rotation);
  for (let column = 0; column < 3; column++) {
    const at = 4 * column;
    const length = Math.hypot(a[at], a[at + 1], a[at + 2]);
    for (let i = 0; i < 3; i++) {
      const rotatedValue =
        rotationMatrix[i][0] * a[at] + rotationMatrix[i][1] * a[at + 1] + rotationMatrix[i][2] * a[at + 2];
      if (!(Math.abs(rotatedValue - b[at + i]) <= RIGID_TOLERANCE * length)) return null;
    }
  }
  return rotation;
}

/** Returns the quaternion of a rotation's rows (Shepperd 1978); any quaternion if they are not a rotation. */
function quaternionOf(r: number[][]): Motion['rotation'] {
  const trace = r[0][0] + r[1][1] + r[2][2];
  let q: [number, number, number, number];
  if (trace > 0) {
    q = [r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1], 1 + trace];
  } else if (r[0][0] > r[1][1] && r[0][0] > r[2][2]) {
    q = [1 + r[0][0] - r[1][1] - r[2][2], r[0][1] + r[1][0], r[0][2] + r[2][0], r[2][1] - r[1][2]];
  } else if (r[1][1] > r[2][2]) {
    q = [r[0][1] + r[1][0], 1 + r[1][1] - r[0][0] - r[2][2], r[1][2] + r[2][1], r[0][2] - r[2][0]];
  } else {
    q = [r[0][2] + r[2][0], r[1][2] + r[2][1], 1 + r[2][2] - r[0][0] - r[1][1], r[1][0] - r[0][1]];
  }
  const length = Math.hypot(...q);
  return [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
}

function rotationMatrixOf([x, y, z, w]: Motion['rotation']): number[][] {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
    [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
    [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
  ];
}

/** Copies one shape or several, at most as many as there can be objects. */
export function checkShapes(operation: string, shape: Shape | readonly Shape[]): Shape[] {
  return guardRead(operation, 'shape', () => {
    if (!Array.isArray(shape)) return [shape as Shape];
    const { length } = shape;
    checkInteger(operation, 'the length of shape', length, 1, MAX_OBJECTS);
    return Array.from({ length }, (_, i) => shape[i]);
  });
}

/** Copies ways, 14 numbers each: position and quaternion at the start, then at the end. */
export function checkWays(operation: string, ways: Float64Array | Float32Array): Float64Array {
  const array = checkTypedArray<Float64Array | Float32Array>(operation, 'ways', ways, ['Float64Array', 'Float32Array']);
  if (array.length % WAY_NUMBERS > 0)
    throwInvalid(operation, 'the length of ways', array.length, `a multiple of ${WAY_NUMBERS}`);
  const copy = new Float64Array(array);
  for (let i = 0; i < copy.length; i += WAY_NUMBERS / 2) {
    const lengthSquared = copy[i + 3] ** 2 + copy[i + 4] ** 2 + copy[i + 5] ** 2 + copy[i + 6] ** 2;
    const sum = copy[i] + copy[i + 1] + copy[i + 2];
    if (!(sum - sum === 0 && Math.abs(lengthSquared - 1) <= 2 * UNIT_TOLERANCE)) {
      const end = i % WAY_NUMBERS === 0 ? 'start' : 'end';
      const expected = `the ${end} of a way: a finite place, then a quaternion of length 1`;
      throwInvalid(operation, `ways[${i}…${i + 6}]`, Array.from(copy.subarray(i, i + 7)), expected);
    }
  }
  return copy;
}

/** Copies the index of each way's shape; undefined if all ways are of the first shape. */
export function checkShapeOf(
  operation: string,
  shapeOf: SweepManyOptions['shapeOf'],
  shapes: readonly Shape[],
  count: number,
): Uint32Array | undefined {
  if (shapeOf === undefined) {
    if (shapes.length !== 1)
      throwInvalid(operation, 'shapeOf', shapeOf, `one for each way, as there are ${shapes.length} shapes`);
    return undefined;
  }
  const kinds = ['Uint32Array', 'Uint16Array', 'Uint8Array'] as const;
  const copy = new Uint32Array(checkTypedArray<Uint32Array>(operation, 'shapeOf', shapeOf as Uint32Array, kinds));
  if (copy.length !== count)
    throwInvalid(operation, 'the length of shapeOf', copy.length, `that of the ways, ${count}`);
  for (let i = 0; i < count; i++) checkInteger(operation, `shapeOf[${i}]`, copy[i], 0, shapes.length - 1);
  return copy;
}
