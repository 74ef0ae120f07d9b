// Reduces the points of a contact to four at most that span a large area across its normal: of all that are offered
// those that reach farthest in one of 16 directions are kept, which is as many as are compared with each other; then
// the two of them that are farthest apart, and on each side of these the one that is farthest off. Where points are
// reduced four boxes at a time, box-box.ts does the same on its float32 lanes.

/** A point as it is offered: how far it reaches in its direction, across the normal, and in space. */
@unmanaged
class Point {
  reach: f64;
  u: f64; v: f64;
  x: f64; y: f64; z: f64;
}

const POINT_BYTES: usize = offsetof<Point>();
const DIRECTIONS: usize = 16;
const points: usize = memory.data(16 * <i32>offsetof<Point>(), 16);
/** The cosines of 0, π / 8, … 7 π / 8. */
const cosines = memory.data<f64>([
  1, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0, -0.3826834323650898, -0.7071067811865476,
  -0.9238795325112867,
]);

/** The indices of the chosen points, u32 each. */
const chosen: usize = memory.data(4 * 4, 16);
/** How many points are left. */
export let reducedCount: u32 = 0;

// @ts-ignore: decorator
@inline
function pointAt(i: usize): Point {
  return changetype<Point>(points + i * POINT_BYTES);
}

// @ts-ignore: decorator
@inline
function chosenAt(i: usize): Point {
  return pointAt(load<u32>(chosen + (i << 2)));
}

export function reducedX(i: u32): f64 { return chosenAt(i).x; }
export function reducedY(i: u32): f64 { return chosenAt(i).y; }
export function reducedZ(i: u32): f64 { return chosenAt(i).z; }

/** Forgets what was offered. */
export function beginReduction(): void {
  for (let i: usize = 0; i < DIRECTIONS; i++) pointAt(i).reach = -Infinity;
}

/** Tells whether nothing was offered. */
export function isReductionEmpty(): bool {
  return pointAt(0).reach == -Infinity;
}

/** Offers a point, by its place across the normal and in space. */
export function offerPoint(u: f64, v: f64, x: f64, y: f64, z: f64): void {
  for (let i: usize = 0; i < 8; i++) {
    const along = u * load<f64>(cosines + (i << 3)) + v * load<f64>(cosines + (((i + 4) & 7) << 3)) * (i < 4 ? -1 : 1);
    if (along > pointAt(i).reach) setPoint(i, along, u, v, x, y, z);
    if (-along > pointAt(i + 8).reach) setPoint(i + 8, -along, u, v, x, y, z);
  }
}

function setPoint(i: usize, reach: f64, u: f64, v: f64, x: f64, y: f64, z: f64): void {
  const point = pointAt(i);
  point.reach = reach;
  point.u = u;
  point.v = v;
  point.x = x;
  point.y = y;
  point.z = z;
}

/**
 * Chooses at most four of the offered points, of which there must be one. Points no farther apart than `same` across
 * the normal count as the same.
 */
export function reduceToFour(same: f64): void {
  let first: usize = 0, second: usize = 0, most: f64 = same * same;
  for (let i: usize = 1; i < DIRECTIONS; i++) {
    for (let j: usize = 0; j < i; j++) {
      const u = pointAt(i).u - pointAt(j).u, v = pointAt(i).v - pointAt(j).v;
      const square = u * u + v * v;
      if (!(square > most)) continue;
      most = square;
      first = j;
      second = i;
    }
  }
  store<u32>(chosen, <u32>first);
  reducedCount = 1;
  if (first == second) return;
  // On each side of the line through both.
  const p = pointAt(first), q = pointAt(second);
  const eu = q.u - p.u, ev = q.v - p.v;
  let left: usize = first, right: usize = first, high: f64 = same * sqrt(most), low: f64 = -high;
  for (let i: usize = 0; i < DIRECTIONS; i++) {
    const off = eu * (pointAt(i).v - p.v) - ev * (pointAt(i).u - p.u);
    if (off > high) {
      high = off;
      left = i;
    }
    if (off < low) {
      low = off;
      right = i;
    }
  }
  if (left != first) choose(left);
  choose(second);
  if (right != first) choose(right);
}

function choose(i: usize): void {
  store<u32>(chosen + (<usize>reducedCount << 2), <u32>i);
  reducedCount++;
}
