// Shadows of triangles: their bounds perpendicular to a direction and along it, which select the few pairs of triangles
// that can be the deepest. Shadows are float32, in a unit and about an origin that preserve the digits that they need,
// with a margin for their rounding; the pairs that pass are compared in float64 (triangle-depth.ts).

import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh, TREE_EXTENT } from '../../mesh/tree/layout';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import { bestDepth, compare, lowerSufficientDepth, setBestTriangles } from './triangle-depth';
import { Projected, Source, project, sourceAt } from './triangle-projection';

/**
 * Bounds of a projected triangle in float32, in the shadows' unit, relative to their origin: the least u, v and height,
 * and the greatest. Manifolds of two dragons take 0.94 of the time that they take with shadows in float64.
 */
@unmanaged
export class Shadow {
  minU: f32; minV: f32; bottom: f32;
  /** The triangle, as given in its list. */
  triangle: u32;
  maxU: f32; maxV: f32; top: f32;
  /** The shadow of the other set with which a shadow in the cells was last compared. */
  comparedWith: u32;
}

export const SHADOW_BYTES: usize = offsetof<Shadow>();
/** The value of `comparedWith` of a shadow that was compared with all others. */
export const PROBED: u32 = 1;

/**
 * The unit of shadows, a power of two: everything that is multiplied by it is below 2, so that float32 can represent it,
 * however large or small the meshes are.
 */
export let unit: f64 = 1;
/** The origin of shadows. */
export let originU: f64 = 0, originV: f64 = 0, originH: f64 = 0;
/**
 * The rounding margin of shadows. In a sum of three products and a constant, with a total below 2, the errors of the
 * entries, the products and the sums add up to at most 5 · 2⁻²³; those of two such sums, and of the value with which
 * they are compared, to less than 2⁻¹⁹.
 */
export const MARGIN: f32 = 1.9073486328125e-6;
/** The height that two shadows must reach together for their triangles to be deeper than the best. */
export let minHeightSum: f64 = 0;

/** The intersection of the bounds of both sides' shadows, u and v in the first lanes, including the margin. */
export let windowMin: v128 = i32x4.splat(0), windowMax: v128 = i32x4.splat(0);
const WINDOW_LANES: u32 = 3;

/** Makes the window unbounded. */
export function resetWindow(): void {
  windowMin = f32x4.splat(-Infinity);
  windowMax = f32x4.splat(Infinity);
}

/** Returns whether the window is not empty. */
export function hasWindow(): bool {
  return (i32x4.bitmask(f32x4.le(windowMin, windowMax)) & WINDOW_LANES) == WINDOW_LANES;
}

/** Intersects the window with bounds, enlarged by the margin. */
function shrinkWindow(lower: v128, upper: v128): void {
  windowMin = f32x4.pmax(windowMin, f32x4.sub(lower, f32x4.splat(MARGIN)));
  windowMax = f32x4.pmin(windowMax, f32x4.add(upper, f32x4.splat(MARGIN)));
}

const projected = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const searchedTriangle = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const candidateTriangle = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

// --- casting shadows ---

/**
 * Chooses the unit and origin of the shadows, and sets the projection of both sources in them. The origin is a corner of
 * the first triangle, so that triangles far from the origin of contact space lose no precision.
 */
export function setUnit(list0: usize, count0: u32, list1: usize, count1: u32): void {
  project(projected, sourceAt(0), load<u32>(list0));
  originU = projected.au;
  originV = projected.av;
  originH = projected.ah;
  const largest = max(extentOf(0, list0, count0), extentOf(1, list1, count1));
  unit = scaleFor(exponentFor(min(max(largest, MIN_EXTENT), MAX_EXTENT)));
  minHeightSum = -Infinity;
  setRows(0);
  setRows(1);
}

// Limits of extents whose reciprocals float64 can represent.
const MIN_EXTENT: f64 = 1e-290;
const MAX_EXTENT: f64 = 1e290;

/** Returns an upper bound of the coordinates and heights of a source's shadows, relative to the origin. */
function extentOf(side: u32, list: usize, count: u32): f64 {
  const s = sourceAt(side), heightAtOrigin = side == 0 ? originH : -originH;
  if (s.mesh != 0) {
    const u = treeExtentOf(s.ofXu, s.ofYu, s.ofZu) + abs(s.ofOneU - originU);
    const v = treeExtentOf(s.ofXv, s.ofYv, s.ofZv) + abs(s.ofOneV - originV);
    return max(max(u, v), treeExtentOf(s.ofXh, s.ofYh, s.ofZh) + abs(s.ofOneH - heightAtOrigin));
  }
  let maximum: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    project(projected, s, load<u32>(list + (<usize>i << 2)));
    for (let at = changetype<usize>(projected), end = at + 72; at < end; at += 24) {
      maximum = max(maximum, max(abs(load<f64>(at) - originU), abs(load<f64>(at, 8) - originV)));
      maximum = max(maximum, abs(load<f64>(at, 16) - heightAtOrigin));
    }
  }
  return maximum;
}

function treeExtentOf(ofX: f64, ofY: f64, ofZ: f64): f64 {
  return <f64>TREE_EXTENT * (abs(ofX) + abs(ofY) + abs(ofZ));
}

/** Sets the projection of a source in the shadows' unit, relative to their origin. */
function setRows(side: u32): void {
  const s = sourceAt(side);
  s.forX = scaleToUnit(s.ofXu, s.ofXv, s.ofXh);
  s.forY = scaleToUnit(s.ofYu, s.ofYv, s.ofYh);
  s.forZ = scaleToUnit(s.ofZu, s.ofZv, s.ofZh);
  s.forOne = scaleToUnit(s.ofOneU - originU, s.ofOneV - originV, s.ofOneH - (side == 0 ? originH : -originH));
}

function scaleToUnit(u: f64, v: f64, h: f64): v128 {
  return f32x4(<f32>(u * unit), <f32>(v * unit), <f32>(h * unit), 0);
}

/** Casts the shadows of a list of triangles, and narrows the window to them. */
export function castShadows(side: u32, shadows: usize, list: usize, count: u32): void {
  const source = sourceAt(side), mesh = changetype<Mesh>(<usize>source.mesh), isMesh = source.mesh != 0;
  const heightAtOrigin = side == 0 ? originH : -originH;
  const forX = source.forX, forY = source.forY, forZ = source.forZ, forOne = source.forOne;
  let listMin = f32x4.splat(Infinity), listMax = f32x4.splat(-Infinity);
  let to = shadows;
  for (let end = list + (<usize>count << 2); list < end; list += 4, to += SHADOW_BYTES) {
    const triangle = load<u32>(list);
    let lower = f32x4.splat(Infinity), upper = f32x4.splat(-Infinity);
    if (isMesh) {
      const at = cornersOf(mesh, triangle);
      const a = castCorner(at, forX, forY, forZ, forOne), b = castCorner(at + 48, forX, forY, forZ, forOne);
      const c = castCorner(at + 96, forX, forY, forZ, forOne);
      lower = f32x4.pmin(f32x4.pmin(a, b), c);
      upper = f32x4.pmax(f32x4.pmax(a, b), c);
    } else {
      project(projected, source, triangle);
      for (let at = changetype<usize>(projected), last = at + 72; at < last; at += 24) {
        const corner = scaleToUnit(
          load<f64>(at) - originU, load<f64>(at, 8) - originV, load<f64>(at, 16) - heightAtOrigin,
        );
        lower = f32x4.pmin(lower, corner);
        upper = f32x4.pmax(upper, corner);
      }
    }
    v128.store(to, i32x4.replace_lane(lower, 3, triangle));
    // The last lane, `comparedWith`, is 0: not compared with any shadow yet.
    v128.store(to, upper, offsetof<Shadow>('maxU'));
    listMin = f32x4.pmin(listMin, lower);
    listMax = f32x4.pmax(listMax, upper);
  }
  shrinkWindow(listMin, listMax);
}

// @ts-ignore: decorator
@inline
function castCorner(at: usize, forX: v128, forY: v128, forZ: v128, forOne: v128): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(v128.load32_splat(at), forX), f32x4.mul(v128.load32_splat(at, 16), forY)),
    f32x4.add(f32x4.mul(v128.load32_splat(at, 32), forZ), forOne),
  );
}

// --- comparing shadows ---

/** A shadow's bounds, enlarged by the margin. */
export let marginMin: v128 = i32x4.splat(0), marginMax: v128 = i32x4.splat(0);

// @ts-ignore: decorator
@inline
export function setMarginBounds(at: usize): void {
  marginMin = f32x4.sub(v128.load(at), f32x4.splat(MARGIN));
  marginMax = f32x4.add(v128.load(at, offsetof<Shadow>('maxU')), f32x4.splat(MARGIN));
}

/** Returns whether a shadow, given by its address, overlaps bounds that include the margin. */
// @ts-ignore: decorator
@inline
export function overlapsBounds(lower: v128, upper: v128, at: usize): bool {
  const isWithin = v128.and(f32x4.le(lower, v128.load(at, offsetof<Shadow>('maxU'))), f32x4.le(v128.load(at), upper));
  return (i32x4.bitmask(isWithin) & WINDOW_LANES) == WINDOW_LANES;
}

/** Projects the triangle of a shadow, for comparisons with others. */
// @ts-ignore: decorator
@inline
export function beginComparing(source: Source, p: Shadow): void {
  project(searchedTriangle, source, p.triangle);
}

/** Compares triangle p, which `beginComparing` has projected, with triangle q of the other source. */
export function compareShadows(otherSource: Source, p: Shadow, q: Shadow, isSwapped: bool): void {
  project(candidateTriangle, otherSource, q.triangle);
  const previousBest = bestDepth;
  if (isSwapped) compare(candidateTriangle, searchedTriangle);
  else compare(searchedTriangle, candidateTriangle);
  if (bestDepth == previousBest) return;
  minHeightSum = bestDepth * unit - MARGIN;
  if (isSwapped) setBestTriangles(q.triangle, p.triangle);
  else setBestTriangles(p.triangle, q.triangle);
}

/** The highest and the second highest of the shadows, as addresses; 0 if none. */
export let highest: usize = 0, secondHighest: usize = 0;
/** The greatest height of all other shadows. */
export let restTop: f32 = 0;

/** Finds the two highest of the shadows that overlap the window; of equally high ones, the first in the list. */
export function findHighest(shadows: usize, count: u32): void {
  let top: f32 = -Infinity, secondTop: f32 = -Infinity, thirdTop: f32 = -Infinity;
  highest = secondHighest = 0;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const shadowTop = changetype<Shadow>(at).top;
    if (!(shadowTop > thirdTop) || !overlapsBounds(windowMin, windowMax, at)) continue;
    if (shadowTop > top) {
      thirdTop = secondTop;
      secondTop = top;
      secondHighest = highest;
      top = shadowTop;
      highest = at;
    } else if (shadowTop > secondTop) {
      thirdTop = secondTop;
      secondTop = shadowTop;
      secondHighest = at;
    } else thirdTop = shadowTop;
  }
  restTop = thirdTop;
}

/** By how much the limit may be too low, relative to the heights whose sum it is. */
const LIMIT_TOLERANCE: f64 = 1e-14;

/**
 * Limits the search to the depth that the highest triangles of both sides reach together in float64; `top0` and `top1`
 * are the heights of their shadows. Faces perpendicular to the direction, such as those of boxes along an axis, have
 * many triangles of the same height up to rounding, and so do all triangles that end at their edges: without this limit,
 * all would be compared with all. The manifolds of a building's 11,000 clashes take 0.91 of the processor time, and 0.94
 * if each pair is limited by its own heights instead.
 */
export function limitDepthToTops(shadows0: usize, count0: u32, top0: f32, shadows1: usize, count1: u32, top1: f32): void {
  const exactTop0 = exactMaxHeight(0, shadows0, count0, top0), exactTop1 = exactMaxHeight(1, shadows1, count1, top1);
  lowerSufficientDepth(exactTop0 + exactTop1 - LIMIT_TOLERANCE * (abs(exactTop0) + abs(exactTop1)));
}

/** Returns the exact height of the highest triangles that overlap the window, given the height of the highest shadow. */
function exactMaxHeight(side: u32, shadows: usize, count: u32, top: f32): f64 {
  const source = sourceAt(side), minTop = top - 2 * MARGIN;
  let maxHeight = -Infinity;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    if (!(s.top >= minTop) || !overlapsBounds(windowMin, windowMax, at)) continue;
    project(projected, source, s.triangle);
    maxHeight = max(maxHeight, max(max(projected.ah, projected.bh), projected.ch));
  }
  return maxHeight;
}

/** Returns the height of a shadow that `findHighest` found, -Infinity if it found none. */
export function topOf(shadow: usize): f32 {
  return shadow == 0 ? -Infinity : changetype<Shadow>(shadow).top;
}

/** The greatest height of the shadows that `keepHigher` kept. */
export let remainingTop: f32 = 0;

/**
 * Moves to the front the shadows in the window that were not probed and that can be deeper than the best depth with one
 * of height `otherTop`, and narrows the window to them. Returns their number.
 */
export function keepHigher(shadows: usize, count: u32, otherTop: f32): u32 {
  const boundsMin = windowMin, boundsMax = windowMax;
  let lower = f32x4.splat(Infinity), upper = f32x4.splat(-Infinity);
  let to = shadows;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    // Branchless, since the result is unpredictable.
    const isKept =
      <u32>(<f64>(s.top + otherTop) > minHeightSum) & <u32>(s.comparedWith != PROBED) & <u32>overlapsBounds(boundsMin,
        boundsMax, at);
    const shadowMin = v128.load(at), shadowMax = v128.load(at, offsetof<Shadow>('maxU'));
    const mask = i32x4.splat(-<i32>isKept);
    lower = v128.bitselect(f32x4.pmin(lower, shadowMin), lower, mask);
    upper = v128.bitselect(f32x4.pmax(upper, shadowMax), upper, mask);
    v128.store(to, shadowMin);
    v128.store(to, shadowMax, offsetof<Shadow>('maxU'));
    to += isKept * <u32>SHADOW_BYTES;
  }
  remainingTop = f32x4.extract_lane(upper, 2);
  shrinkWindow(lower, upper);
  return <u32>((to - shadows) / SHADOW_BYTES);
}
