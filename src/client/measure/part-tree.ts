// A tree of boxes about the parts of a feature, split in halves on demand: two features of thousands of triangles are measured
// in milliseconds, where testing the boxes of each pair took long. Two plates of 5,000 triangles took 3.9 s, and take 40 ms; of
// 10,000 each, 27 s and 0.1 s (one run each on a busy machine). Sorting in place takes, for those of 10,000, a third to a half of
// the time of lists that were filtered (five calls after the first, in turns, four times; the first in a page gains a fifth).
//
// The boxes are along the features, not along the world's axes: boxes about oblique parts are nearer to each other than the
// parts are, and two parallel plates that are rotated relative to the axes, of 9,800 triangles each, took 6 s because of that.

import type { ClosestPoints } from './closest-points.js';

/** Axes of boxes: three orthonormal vectors, xyz each. */
export type Axes = readonly number[];

/** Parts of a feature, and the box about all of them: minimum xyz, then maximum xyz. */
export interface PartNode {
  /** The corners of the parts, in the coordinates of the axes. */
  corners: Float64Array;
  /** Numbers per part. */
  size: number;
  /** The offset of the corners of each part: one array for all nodes of a feature, of which this one has `start` to `end`. */
  parts: Uint32Array;
  start: number;
  end: number;
  box: Float64Array;
  halves?: readonly [PartNode, PartNode];
}

/** Makes the root node of all parts of a feature, of `size` numbers each. */
export function rootOf(corners: Float64Array, size: number, axes: Axes): PartNode {
  const projected = new Float64Array(corners.length);
  for (let i = 0; i < corners.length; i += 3) {
    const x = corners[i];
    const y = corners[i + 1];
    const z = corners[i + 2];
    for (let k = 0; k < 3; k++) projected[i + k] = axes[3 * k] * x + axes[3 * k + 1] * y + axes[3 * k + 2] * z;
  }
  const parts = new Uint32Array(corners.length / size);
  for (let i = 0; i < parts.length; i++) parts[i] = size * i;
  return nodeOf(projected, size, parts, 0, parts.length);
}

function nodeOf(corners: Float64Array, size: number, parts: Uint32Array, start: number, end: number): PartNode {
  const box = Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
  for (let i = start; i < end; i++) {
    for (let k = parts[i], last = k + size; k < last; k += 3) {
      for (let axis = 0; axis < 3; axis++) {
        const x = corners[k + axis];
        if (x < box[axis]) box[axis] = x;
        if (x > box[3 + axis]) box[3 + axis] = x;
      }
    }
  }
  return { corners, size, parts, start, end, box };
}

/** Returns the squared distance between two boxes. */
function boxDistanceSquared({ box: a }: PartNode, { box: b }: PartNode): number {
  const x = Math.max(a[0] - b[3], b[0] - a[3], 0);
  const y = Math.max(a[1] - b[4], b[1] - a[4], 0);
  const z = Math.max(a[2] - b[5], b[2] - a[5], 0);
  return x * x + y * y + z * z;
}

/** Splits two parts or more by their centroids, along the longest edge of their box, partitioning them in place. */
function splitNode({ corners, size, parts, start, end, box }: PartNode): readonly [PartNode, PartNode] {
  const [x, y, z] = [box[3] - box[0], box[4] - box[1], box[5] - box[2]];
  const axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  const coordinateSumOf = (part: number): number => {
    let sum = 0;
    for (let k = part + axis; k < part + size; k += 3) sum += corners[k];
    return sum;
  };
  let meanSum = 0;
  for (let i = start; i < end; i++) meanSum += coordinateSumOf(parts[i]) / (end - start);
  let splitIndex = start;
  for (let i = start; i < end; i++) {
    const part = parts[i];
    if (!(coordinateSumOf(part) < meanSum)) continue;
    parts[i] = parts[splitIndex];
    parts[splitIndex++] = part;
  }
  // If all have the same centroid, any halves will do.
  if (splitIndex === start || splitIndex === end) splitIndex = (start + end) >> 1;
  return [nodeOf(corners, size, parts, start, splitIndex), nodeOf(corners, size, parts, splitIndex, end)];
}

/**
 * The relative rounding error of boxes along other axes, and of closest points on triangles as thin as those about the centre of a
 * round cap, as a fraction of the corners' distance from the origin. Such triangles all reach to the centre: two parallel caps of
 * 1,000 each took 3 s when each pair was visited that seemed nearer by rounding.
 */
const ROUNDING = 1e-12;

/** Returns the gap that boxes of touching parts may have by rounding. */
export function roundingOf(a: PartNode, b: PartNode): number {
  return ROUNDING * Math.max(...[...a.box, ...b.box].map(Math.abs));
}

/** The first range, in units of rounding: some of the noise of positions that were float32. */
const FIRST_RANGE = 1000;

/**
 * Visits pairs of parts until their closest points are found: those whose boxes are no farther from each other than a range, which
 * doubles until it is wide enough (iterative deepening: Korf 1985). Where the parts have noise, the first points found are not near
 * enough to leave out the others: two oblique round caps of 2,000 triangles took 3 s, and take 24 ms (equal ones alone).
 */
export function visitNearPairs(
  a: PartNode,
  b: PartNode,
  closest: ClosestPoints,
  visit: (i: number, k: number) => void,
): void {
  const rounding = roundingOf(a, b);
  const gap = Math.sqrt(boxDistanceSquared(a, b));
  let limit: number;
  let range = FIRST_RANGE * rounding || Number.MIN_VALUE;
  do {
    closest.square = limit = (gap + range) ** 2;
    visitPairs(a, b, closest, rounding, visit);
    range *= 2;
  } while (!(closest.square < limit) && limit < Infinity);
}

/**
 * Visits the pairs of parts whose boxes are nearer to each other than the closest points found, by more than rounding, near pairs
 * first; and pairs that may touch, until some do.
 */
export function visitPairs(
  a: PartNode,
  b: PartNode,
  closest: ClosestPoints,
  rounding: number,
  visit: (i: number, k: number) => void,
): void {
  const gap = Math.sqrt(boxDistanceSquared(a, b));
  if (!(gap < Math.sqrt(closest.square) - rounding || (gap <= rounding && closest.square > 0))) return;
  const [m, n] = [a.end - a.start, b.end - b.start];
  if (m + n < 3) {
    visit(a.parts[a.start], b.parts[b.start]);
    return;
  }
  const isSplittingA = m >= n;
  const [split, other] = isSplittingA ? [a, b] : [b, a];
  split.halves ??= splitNode(split);
  const [left, right] = split.halves;
  for (const half of boxDistanceSquared(left, other) <= boxDistanceSquared(right, other)
    ? [left, right]
    : [right, left]) {
    visitPairs(isSplittingA ? half : a, isSplittingA ? b : half, closest, rounding, visit);
  }
}
