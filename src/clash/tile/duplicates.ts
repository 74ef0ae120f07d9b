// Whether two placed meshes are the same geometry in the same place.

import { placedAlong } from '../plan/bounds.js';
import { inChunks } from '../slices.js';

/** A placed mesh: the corners of its triangles, and sums over these. */
export interface PlacedGeometry {
  /** xyz each. */
  corners: Float64Array;
  /** The greatest magnitude of all coordinates. */
  most: number;
  area: number;
  /** The sum of the lengths of all edges of all triangles. */
  length: number;
}

/** Places the corners of triangles, nine numbers each. Yields after each step. */
export function* placeGeometry(given: Float64Array, matrix: ArrayLike<number>): Generator<void, PlacedGeometry> {
  const corners = new Float64Array(given.length);
  const edge = new Float64Array(9);
  let [most, area, length] = [0, 0, 0];
  yield* inChunks(given.length / 9, (triangle) => {
    const at = 9 * triangle;
    for (let i = at; i < at + 9; i++) {
      const k = i % 3;
      corners[i] = placedAlong(k, matrix, given[i - k], given[i - k + 1], given[i - k + 2]);
      most = Math.max(most, Math.abs(corners[i]));
    }
    for (let i = 0; i < 9; i++) edge[i] = corners[at + ((i + 3) % 9)] - corners[at + i];
    const [x, y, z, u, v, w] = edge;
    area += 0.5 * Math.hypot(y * w - z * v, z * u - x * w, x * v - y * u);
    for (let i = 0; i < 9; i += 3) length += Math.hypot(edge[i], edge[i + 1], edge[i + 2]);
  });
  return { corners, most, area, length };
}

/** The relative error of float64 computations. */
const ROUNDING = 1e-12;

/** Returns whether each vertex of one is within the tolerance of a vertex of the other, and both areas are equal. Yields, too. */
export function* isDuplicate(a: PlacedGeometry, b: PlacedGeometry, tolerance: number): Generator<void, boolean> {
  const slack = tolerance * Math.max(a.length, b.length) + 1e-9 * Math.max(a.area, b.area);
  if (Math.abs(a.area - b.area) > slack) return false;
  // The search radius of a vertex is less than half of a cell.
  const side = 2.1 * (tolerance + 3 * ROUNDING * Math.max(a.most, b.most));
  const [pointsOfA, isNearA] = yield* tableOf(a.corners, side, tolerance);
  const [pointsOfB, isNearB] = yield* tableOf(b.corners, side, tolerance);
  return (yield* areAll(pointsOfA, isNearB)) && (yield* areAll(pointsOfB, isNearA));
}

type PointTest = (x: number, y: number, z: number) => boolean;

function* areAll(points: Float64Array, test: PointTest): Generator<void, boolean> {
  let are = true;
  yield* inChunks(points.length / 3, (i) => {
    are &&= test(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  });
  return are;
}

/** The most points of a bucket that are compared to find a duplicate. */
const MOST_LOOKED_AT = 16;

/**
 * Returns the points of a list, most of them once, and a function that tests whether one of them is near. They are in a hash table
 * of cells, a linked list for each bucket: sorted along an axis, all points of a mesh in one plane might be candidates for each.
 */
function* tableOf(
  corners: Float64Array,
  side: number,
  tolerance: number,
): Generator<void, [points: Float64Array, isNear: PointTest]> {
  const count = corners.length / 3;
  const points = new Float64Array(corners.length);
  const next = new Int32Array(count);
  const heads = new Int32Array(2 << Math.log2(count)).fill(-1);
  const shift = Math.clz32(heads.length) + 1;
  const cellOf = (coordinate: number): number => Math.floor(coordinate / side);
  const bucketOf = (x: number, y: number, z: number): number => {
    const hash = Math.imul(cellOf(x), 73856093) ^ Math.imul(cellOf(y), 19349663) ^ Math.imul(cellOf(z), 83492791);
    return Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) >>> shift;
  };
  const isIn = (bucket: number, x: number, y: number, z: number, reach: number, most: number): boolean => {
    for (let i = heads[bucket], left = most; i >= 0 && left > 0; i = next[i], left--) {
      if (Math.hypot(points[3 * i] - x, points[3 * i + 1] - y, points[3 * i + 2] - z) <= reach) return true;
    }
    return false;
  };
  let end = 0;
  yield* inChunks(count, (corner) => {
    const [x, y, z] = [corners[3 * corner], corners[3 * corner + 1], corners[3 * corner + 2]];
    const bucket = bucketOf(x, y, z);
    if (isIn(bucket, x, y, z, 0, MOST_LOOKED_AT)) return;
    points.set([x, y, z], 3 * end);
    next[end] = heads[bucket];
    heads[bucket] = end++;
  });
  const isNear: PointTest = (x, y, z) => {
    const reach = tolerance + ROUNDING * (Math.abs(x) + Math.abs(y) + Math.abs(z));
    for (let k = 0; k < 8; k++) {
      const beside = (bit: number): number => (k & bit ? 0.5 : -0.5) * side;
      if (isIn(bucketOf(x + beside(1), y + beside(2), z + beside(4)), x, y, z, reach, count)) return true;
    }
    return false;
  };
  return [points.subarray(0, 3 * end), isNear];
}

/** Returns whether two boxes of a list are equal, each side within a tolerance. */
export function isSameBox(boxes: Float64Array, a: number, b: number, tolerance: number): boolean {
  for (let i = 0; i < 6; i++) {
    const [one, other] = [boxes[6 * a + i], boxes[6 * b + i]];
    if (!(Math.abs(one - other) <= tolerance + ROUNDING * (Math.abs(one) + Math.abs(other)))) return false;
  }
  return true;
}
