// Directional penetration depth: how far a set of triangles must move along a direction to be clear of another set. It
// is the largest difference of heights where triangles of both overlap in projection (Zhang, Kim, Varadhan and Manocha,
// "Generalized Penetration Depth Computation", 2006, for one direction). Bounds and heights that only select the
// triangles to compare are float32, with a margin for their rounding (shadows.ts). The highest triangles of each side
// are compared with all others, which rules most triangles out; the rest is compared by the cells of a grid
// (shadow-grid.ts). Two triangles are compared in float64 (triangle-depth.ts), so the depth is exact except for float64
// rounding.

import { reserve } from '../../memory';
import { beginDepth, bestDepth, bestTriangle0, bestTriangle1, bestFeature, compare, sufficientDepth } from './triangle-depth';
import { Projected, setProjectionDirection, project, sourceAt } from './triangle-projection';
import { searchGrid } from './shadow-grid';
import {
  PROBED, SHADOW_BYTES, Shadow, beginComparing, castShadows, compareShadows, findHighest, hasWindow, highest, overlapsBounds,
  keepHigher, remainingTop, limitDepthToTops, minHeightSum, resetWindow, marginMax, marginMin, restTop, secondHighest,
  setMarginBounds, setUnit, topOf,
} from './shadows';

let shadows0: usize = 0, shadows1: usize = 0; // Shadow each

/**
 * Returns how far side 1 must move along a unit direction until the listed triangles, u32 each, are clear of those of
 * side 0. The result is negative if they are already apart, -Infinity if they do not overlap in projection. A result of
 * `limit` or more may be too low, but never below `limit`. Throws OUT_OF_MEMORY.
 */
export function depthAlong(
  list0: usize, count0: u32, list1: usize, count1: u32, nx: f64, ny: f64, nz: f64, limit: f64 = Infinity,
): f64 {
  beginDepth(limit);
  if (count0 == 0 || count1 == 0) return bestDepth;
  shadows0 = reserve(shadows0, 0, <u64>count0 * SHADOW_BYTES);
  shadows1 = reserve(shadows1, 0, <u64>count1 * SHADOW_BYTES);
  setProjectionDirection(nx, ny, nz);
  setUnit(list0, count0, list1, count1);
  resetWindow();
  castShadows(0, shadows0, list0, count0);
  castShadows(1, shadows1, list1, count1);
  if (!hasWindow()) return bestDepth;
  findHighest(shadows0, count0);
  const highest0 = highest, secondHighest0 = secondHighest, top0 = topOf(highest0);
  findHighest(shadows1, count1);
  const highest1 = highest, secondHighest1 = secondHighest, top1 = topOf(highest1), restTop1 = restTop;
  limitDepthToTops(shadows0, count0, top0, shadows1, count1, top1);
  if (!compareWithAll(highest0, shadows1, count1, top1, false)) return bestDepth;
  if (!compareWithAll(highest1, shadows0, count0, top0, true)) return bestDepth;
  if (!compareWithAll(secondHighest0, shadows1, count1, top1, false)) return bestDepth;
  if (!compareWithAll(secondHighest1, shadows0, count0, top0, true)) return bestDepth;
  // The probed triangles are finished. Each of these steps uses a tighter bound of the height and extent of the other
  // side's rest: of two dragons, 480 triangles are left for the grid, instead of 650 with the tops of all.
  let remaining0 = keepHigher(shadows0, count0, restTop1);
  const remaining1 = remaining0 == 0 ? 0 : keepHigher(shadows1, count1, remainingTop);
  if (remaining1 == 0 || !hasWindow()) return bestDepth;
  remaining0 = keepHigher(shadows0, remaining0, remainingTop);
  if (remaining0 != 0 && hasWindow()) searchGrid(shadows0, remaining0, shadows1, remaining1);
  return bestDepth;
}

/**
 * Compares one of the highest shadows of a side with all of the other side, the highest of which has height `otherTop`.
 * Returns false if it cannot reach more than the best depth so far, or if that depth is enough. The depths of the two
 * highest of each side rule most triangles out before the grid is built: of 5,600 triangles in the large regions of
 * dragons in dragons, 2,000 are left.
 */
function compareWithAll(shadow: usize, otherShadows: usize, otherCount: u32, otherTop: f32, isSwapped: bool): bool {
  const top = topOf(shadow);
  if (shadow == 0 || !(<f64>(top + otherTop) > minHeightSum)) return false;
  const p = changetype<Shadow>(shadow);
  p.comparedWith = PROBED;
  beginComparing(sourceAt(isSwapped ? 1 : 0), p);
  const otherSource = sourceAt(isSwapped ? 0 : 1);
  setMarginBounds(shadow);
  const lower = marginMin, upper = marginMax;
  for (let at = otherShadows, end = otherShadows + <usize>otherCount * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const q = changetype<Shadow>(at);
    if (!(<f64>(top + q.top) > minHeightSum) || !overlapsBounds(lower, upper, at)) continue;
    compareShadows(otherSource, p, q, isSwapped);
    if (bestDepth >= sufficientDepth) return false;
  }
  return true;
}

// --- witnesses ---

/** How many witnesses are remembered: the pairs of triangles that touched last along the latest directions. */
const MAX_WITNESSES: u32 = 8;
const WITNESS_BYTES: u32 = 8;
const witnesses: usize = memory.data(<i32>(MAX_WITNESSES * WITNESS_BYTES), 8);
let witnessCount: u32 = 0;
const first = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const second = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

/** Discards the witnesses, before a different set of triangles is used. */
export function clearWitnesses(): void {
  witnessCount = 0;
}

/** Remembers the pair of triangles that touched last in `depthAlong`, in place of the oldest witness. */
export function addWitness(): void {
  if (bestFeature < 0) return;
  const at = witnesses + (witnessCount++ % MAX_WITNESSES) * WITNESS_BYTES;
  store<u32>(at, bestTriangle0);
  store<u32>(at, bestTriangle1, 4);
}

/**
 * Returns whether a witness proves that the depth along a unit direction is at least `limit`, so that `depthAlong` could
 * not find less. Most directions end here: the depths of the 11,000 clashes of a building took 0.5 s when all triangles
 * were examined each time, and take 0.15.
 */
export function isDepthWitnessed(nx: f64, ny: f64, nz: f64, limit: f64): bool {
  if (witnessCount == 0) return false;
  beginDepth(limit);
  setProjectionDirection(nx, ny, nz);
  // The latest witness first.
  for (let age: u32 = 1; age <= min(witnessCount, MAX_WITNESSES); age++) {
    const at = witnesses + ((witnessCount - age) % MAX_WITNESSES) * WITNESS_BYTES;
    project(first, sourceAt(0), load<u32>(at));
    project(second, sourceAt(1), load<u32>(at, 4));
    compare(first, second);
    if (bestDepth >= limit) return true;
  }
  return false;
}
