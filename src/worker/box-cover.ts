import { BOX_NUMBERS } from '../shared/baked-boxes.js';
import type { BoxCheck } from '../shared/types.js';
import { type MemoryGetter, readCorners } from './snap/corners.js';

/** Boxes that triangles, or parts of them, are tested against between two rests. */
const TESTS_PER_STEP = 512;
/**
 * What rounding may leave outside of a box, relative to the largest coordinate: far above float64's epsilon, far below float32's.
 */
const SLACK = 2 ** -40;

/** A convex polygon: xyz of each corner, in order. */
type Polygon = number[];

/** A box as six half-spaces, n · p ≤ d: four numbers each. */
interface Box {
  planes: Float64Array;
  center: readonly number[];
  half: readonly number[];
  /** Three unit axes. */
  axes: readonly (readonly number[])[];
}

/**
 * Tests whether boxes contain all triangles of a mesh, in its own space: the boxes are clipped away from each triangle one after
 * another, and any remainder sticks out. It may rest after each step, during which the mesh must not change.
 */
export function* boxCover(getMemory: MemoryGetter, mesh: number, records: Float64Array): Generator<void, BoxCheck> {
  const { positions } = yield* readCorners(getMemory, mesh);
  const boxes: Box[] = [];
  for (let i = 0; i < records.length; i += BOX_NUMBERS) boxes.push(boxOf(records.subarray(i, i + BOX_NUMBERS)));
  let maxCoordinate = 0;
  for (let i = 0; i < positions.length; i++) {
    maxCoordinate = Math.max(maxCoordinate, Math.abs(positions[i]));
    if (i % 65536 === 65535) yield;
  }
  const slack = SLACK * maxCoordinate;
  let triangles = 0;
  let farthest = 0;
  let tests = 0;
  const isStepOver = (count: number): boolean => {
    tests += count;
    if (tests < TESTS_PER_STEP) return false;
    tests = 0;
    return true;
  };
  for (let t = 0; t < positions.length; t += 9) {
    const triangle = Array.from(positions.subarray(t, t + 9));
    if (isStepOver(boxes.length + 1)) yield;
    if (isInOne(triangle, boxes, slack)) continue;
    let outside = [triangle];
    for (const { planes } of boxes) {
      const remainders: Polygon[] = [];
      for (const piece of outside) cutAway(piece, planes, slack, remainders);
      outside = remainders;
      if (outside.length === 0) break;
      if (isStepOver(outside.length)) yield;
    }
    if (outside.length > 0) triangles++;
    for (const polygon of outside) {
      farthest = Math.max(farthest, farthestOf(polygon, boxes));
      if (isStepOver(boxes.length)) yield;
    }
  }
  return { conservative: triangles === 0, triangles, farthest };
}

function boxOf(record: ArrayLike<number>): Box {
  const [cx, cy, cz, hx, hy, hz, x, y, z, w] = Array.from(record);
  const axes = [
    [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
    [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
    [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
  ];
  const half = [hx, hy, hz];
  const planes = new Float64Array(24);
  axes.forEach(([a, b, c], k) => {
    const centerOffset = a * cx + b * cy + c * cz;
    planes.set([a, b, c, centerOffset + half[k], -a, -b, -c, half[k] - centerOffset], 8 * k);
  });
  return { planes, center: [cx, cy, cz], half, axes };
}

/** Returns whether a box contains all of a polygon, and moves it to the front. */
function isInOne(polygon: Polygon, boxes: Box[], slack: number): boolean {
  // Most triangles lie entirely in one box, often in that of the previous triangle.
  const containingBox = boxes.findIndex(({ planes }) => isWithin(polygon, planes, slack));
  if (containingBox < 0) return false;
  [boxes[0], boxes[containingBox]] = [boxes[containingBox], boxes[0]];
  return true;
}

function isWithin(polygon: Polygon, planes: Float64Array, slack: number): boolean {
  for (let k = 0; k < 24; k += 4) {
    for (let i = 0; i < polygon.length; i += 3) if (heightOf(polygon, i, planes, k) > slack) return false;
  }
  return true;
}

/** Adds the parts of a piece that are outside of a box: one for each of its planes. */
function cutAway(piece: Polygon, planes: Float64Array, slack: number, outside: Polygon[]): void {
  const initialLength = outside.length;
  let remaining = piece;
  for (let k = 0; k < 24; k += 4) {
    const { inner, outer } = split(remaining, planes, k, slack);
    if (outer.length > 0) outside.push(outer);
    remaining = inner;
    if (remaining.length === 0) {
      // The box does not intersect the piece, which stays whole.
      outside.length = initialLength;
      outside.push(piece);
      return;
    }
  }
}

/** Splits a convex polygon by a plane; what is beyond it by no more than the slack counts as inside. */
function split(polygon: Polygon, planes: Float64Array, k: number, slack: number): { inner: Polygon; outer: Polygon } {
  const inner: Polygon = [];
  const outer: Polygon = [];
  const heights: number[] = [];
  for (let i = 0; i < polygon.length; i += 3) heights.push(heightOf(polygon, i, planes, k));
  if (Math.max(...heights) <= slack) return { inner: polygon, outer };
  if (Math.min(...heights) >= 0) return { inner, outer: polygon };
  for (let i = 0; i < heights.length; i++) {
    const j = (i + 1) % heights.length;
    const [p, q] = [heights[i], heights[j]];
    const corner = polygon.slice(3 * i, 3 * i + 3);
    if (p <= 0) inner.push(...corner);
    if (p >= 0) outer.push(...corner);
    if (p * q >= 0) continue;
    const fraction = p / (p - q);
    const crossing = corner.map((value, axis) => value + fraction * (polygon[3 * j + axis] - value));
    inner.push(...crossing);
    outer.push(...crossing);
  }
  return { inner, outer };
}

/** Returns the height of a corner above a plane. */
function heightOf(polygon: Polygon, i: number, planes: Float64Array, k: number): number {
  return planes[k] * polygon[i] + planes[k + 1] * polygon[i + 1] + planes[k + 2] * polygon[i + 2] - planes[k + 3];
}

/** Returns the distance from the nearest box of the farthest of a polygon's corners and its centre. */
function farthestOf(polygon: Polygon, boxes: readonly Box[]): number {
  const count = polygon.length / 3;
  const center = [0, 0, 0];
  let farthest = 0;
  for (let i = 0; i < count; i++) {
    const corner = polygon.slice(3 * i, 3 * i + 3);
    for (let k = 0; k < 3; k++) center[k] += corner[k] / count;
    farthest = Math.max(farthest, distanceTo(corner, boxes));
  }
  return Math.max(farthest, distanceTo(center, boxes));
}

function distanceTo(point: readonly number[], boxes: readonly Box[]): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const { center, half, axes } of boxes) {
    const excess = axes.map((axis, k) => {
      const at = axis.reduce((sum, value, i) => sum + value * (point[i] - center[i]), 0);
      return Math.max(Math.abs(at) - half[k], 0);
    });
    nearest = Math.min(nearest, Math.hypot(...excess));
  }
  return nearest;
}
