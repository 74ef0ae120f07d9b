// Whether two placed meshes are the same geometry in the same place.

import { transformedCoordinate } from '../plan/bounds.js';
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
export function* placeGeometry(localCorners: Float64Array, matrix: ArrayLike<number>): Generator<void, PlacedGeometry> {
  const corners = new Float64Array(localCorners.length);
  const edge = new Float64Array(9);
  let [most, area, length] = [0, 0, 0];
  yield* inChunks(localCorners.length / 9, (triangle) => {
    const at = 9 * triangle;
    for (let i = at; i < at + 9; i++) {
      const k = i % 3;
      corners[i] = transformedCoordinate(
        k,
        matrix,
        localCorners[i - k],
        localCorners[i - k + 1],
        localCorners[i - k + 2],
      );
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
  // Rounding errors are those of the largest coordinates, since a vertex near zero may be a difference of large numbers.
  const radius = tolerance + 3 * ROUNDING * Math.max(a.most, b.most);
  const [pointsOfA, isNearA] = yield* buildPointTable(a.corners, radius);
  const [pointsOfB, isNearB] = yield* buildPointTable(b.corners, radius);
  return (yield* areAllNear(pointsOfA, isNearB)) && (yield* areAllNear(pointsOfB, isNearA));
}

type PointTest = (x: number, y: number, z: number) => boolean;

function* areAllNear(points: Float64Array, test: PointTest): Generator<void, boolean> {
  let areNear = true;
  yield* inChunks(points.length / 3, (i) => {
    areNear &&= test(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
  });
  return areNear;
}

/** The most points of a bucket that are compared to find a duplicate. */
const MAX_TESTED = 16;

/**
 * Returns the points of a list, most of them once, and a function that tests whether one of them is within the radius. They
 * are in a hash table of cells, a linked list for each bucket: sorted along an axis, all points of a mesh in one plane might
 * be candidates for each.
 */
function* buildPointTable(
  corners: Float64Array,
  radius: number,
): Generator<void, [points: Float64Array, isNear: PointTest]> {
  // The radius is less than half of a cell.
  const cellSize = 2.1 * radius;
  const count = corners.length / 3;
  const points = new Float64Array(corners.length);
  const next = new Int32Array(count);
  const heads = new Int32Array(2 << Math.log2(count)).fill(-1);
  const shift = Math.clz32(heads.length) + 1;
  const cellOf = (coordinate: number): number => Math.floor(coordinate / cellSize);
  const bucketOf = (x: number, y: number, z: number): number => {
    const hash = Math.imul(cellOf(x), 73856093) ^ Math.imul(cellOf(y), 19349663) ^ Math.imul(cellOf(z), 83492791);
    return Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) >>> shift;
  };
  const isInBucket = (bucket: number, x: number, y: number, z: number, radius: number, maxTested: number): boolean => {
    for (let i = heads[bucket], remaining = maxTested; i >= 0 && remaining > 0; i = next[i], remaining--) {
      if (Math.hypot(points[3 * i] - x, points[3 * i + 1] - y, points[3 * i + 2] - z) <= radius) return true;
    }
    return false;
  };
  let pointCount = 0;
  yield* inChunks(count, (corner) => {
    const [x, y, z] = [corners[3 * corner], corners[3 * corner + 1], corners[3 * corner + 2]];
    const bucket = bucketOf(x, y, z);
    if (isInBucket(bucket, x, y, z, 0, MAX_TESTED)) return;
    points.set([x, y, z], 3 * pointCount);
    next[pointCount] = heads[bucket];
    heads[bucket] = pointCount++;
  });
  const isNear: PointTest = (x, y, z) => {
    for (let k = 0; k < 8; k++) {
      const cornerOffset = (bit: number): number => (k & bit ? 0.5 : -0.5) * cellSize;
      if (isInBucket(bucketOf(x + cornerOffset(1), y + cornerOffset(2), z + cornerOffset(4)), x, y, z, radius, count))
        return true;
    }
    return false;
  };
  return [points.subarray(0, 3 * pointCount), isNear];
}

/** Returns whether two boxes of a list are equal, each side within a tolerance. */
export function isSameBox(boxes: Float64Array, a: number, b: number, tolerance: number): boolean {
  for (let i = 0; i < 6; i++) {
    const [p, q] = [boxes[6 * a + i], boxes[6 * b + i]];
    if (!(Math.abs(p - q) <= tolerance + ROUNDING * (Math.abs(p) + Math.abs(q)))) return false;
  }
  return true;
}
