// Axis-aligned boxes of the world: six numbers each, minimum xyz, then maximum xyz, and lists of such boxes in one array.

import { invalid } from '../check.js';
import { IDENTITY } from './matrix.js';

/** Positions are relative to a point amid most parts: with a part beyond this, float64 could not resolve the others. */
const MAX_DISTANCE = 1e12;

/** One box. */
export type Box = ArrayLike<number>;

/**
 * Returns the box about points, xyz each, under a matrix; points that are not finite do not count. A matrix that maps axes
 * to axes maps boxes to boxes, so that `box`, the one about the untransformed points, is enough.
 * Throws INVALID_ARGUMENT for a box too far away.
 */
export function transformedBox(points: () => ArrayLike<number>, box: Box, matrix: ArrayLike<number>): number[] {
  const worldBox = boxAlongAxes(box, matrix) ?? boxOfPoints(points(), matrix);
  const distance = Math.hypot(...worldBox);
  return distance < MAX_DISTANCE ? worldBox : invalid('the place of the part', distance, 'at most 1e12');
}

/** Returns a coordinate of a point under a matrix. */
export function transformedCoordinate(axis: number, m: ArrayLike<number>, x: number, y: number, z: number): number {
  return m[axis] * x + m[4 + axis] * y + m[8 + axis] * z + m[12 + axis];
}

/** Transforms a box by an invertible matrix if that maps axes to axes; otherwise returns null. */
function boxAlongAxes(box: Box, matrix: ArrayLike<number>): number[] | null {
  const worldBox = emptyBox();
  for (let column = 0; column < 3; column++) {
    let row = -1;
    for (let i = 0; i < 3; i++) {
      if (matrix[4 * column + i] === 0) continue;
      if (row >= 0) return null;
      row = i;
    }
    const scale = matrix[4 * column + row];
    const [p, q] = [scale * box[column] + matrix[12 + row], scale * box[column + 3] + matrix[12 + row]];
    worldBox[row] = Math.min(p, q);
    worldBox[row + 3] = Math.max(p, q);
  }
  return worldBox;
}

/** Returns the box about points, xyz each, under a matrix; points that are not finite do not count. */
export function boxOfPoints(points: ArrayLike<number>, matrix: ArrayLike<number> = IDENTITY): number[] {
  const box = emptyBox();
  for (let i = 0; i + 2 < points.length; i += 3) {
    const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
    if (!Number.isFinite(x + y + z)) continue;
    const coordinate = (axis: number): number => transformedCoordinate(axis, matrix, x, y, z);
    addPoint(box, coordinate(0), coordinate(1), coordinate(2));
  }
  return box;
}

/** Not a typed array: a small one takes longer to allocate, and to collect, than everything else of a box. */
export function emptyBox(): number[] {
  return [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
}

/** Grows a box to hold a point. */
export function addPoint(box: number[], x: number, y: number, z: number): void {
  if (x < box[0]) box[0] = x;
  if (y < box[1]) box[1] = y;
  if (z < box[2]) box[2] = z;
  if (x > box[3]) box[3] = x;
  if (y > box[4]) box[4] = y;
  if (z > box[5]) box[5] = z;
}

/** Returns the distance between two boxes of a list; 0 if they meet. */
export function gapOf(boxes: ArrayLike<number>, a: number, b: number): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const [p, q] = [6 * a + axis, 6 * b + axis];
    const gap = Math.max(boxes[p] - boxes[q + 3], boxes[q] - boxes[p + 3], 0);
    sum += gap * gap;
  }
  return Math.sqrt(sum);
}
