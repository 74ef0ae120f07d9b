// Shadows of triangles: their bounds perpendicular to a direction and along it, which select the few pairs of triangles
// that can be the deepest. Shadows are float32, in a unit and about an origin that preserve the digits that they need,
// with a margin for their rounding; the pairs that pass are compared in float64 (triangle-depth.ts).

import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh, TREE_EXTENT } from '../../mesh/tree/layout';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import { best, compare, lowerEnough, setDeepest } from './triangle-depth';
import { Projected, Source, project, sourceAt } from './triangle-projection';

/**
 * Bounds of a projected triangle in float32, in the shadows' unit, relative to their origin: the least u, v and height,
 * and the greatest. Manifolds of two dragons take 0.94 of the time that they take with shadows in float64.
 */
@unmanaged
export class Shadow {
  lowU: f32; lowV: f32; bottom: f32;
  /** The triangle, as given in its list. */
  triangle: u32;
  highU: f32; highV: f32; top: f32;
  /** The shadow of the other set with which a shadow in the cells was last compared. */
  compared: u32;
}

export const SHADOW_BYTES: usize = offsetof<Shadow>();
/** The value of `compared` of a shadow that was compared with all others. */
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
export let needed: f64 = 0;

/** The intersection of the bounds of both sides' shadows, u and v in the first lanes, including the margin. */
export let windowLow: v128 = i32x4.splat(0), windowHigh: v128 = i32x4.splat(0);
const WINDOW_LANES: u32 = 3;

/** Makes the window unbounded. */
export function openWindow(): void {
  windowLow = f32x4.splat(-Infinity);
  windowHigh = f32x4.splat(Infinity);
}

/** Returns whether the window is not empty. */
export function hasWindow(): bool {
  return (i32x4.bitmask(f32x4.le(windowLow, windowHigh)) & WINDOW_LANES) == WINDOW_LANES;
}

/** Intersects the window with bounds, enlarged by the margin. */
function narrowWindow(low: v128, high: v128): void {
  windowLow = f32x4.pmax(windowLow, f32x4.sub(low, f32x4.splat(MARGIN)));
  windowHigh = f32x4.pmin(windowHigh, f32x4.add(high, f32x4.splat(MARGIN)));
}

const projected = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const searched = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const candidate = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

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
  unit = scaleFor(exponentFor(min(max(largest, LEAST_EXTENT), GREATEST_EXTENT)));
  needed = -Infinity;
  setRows(0);
  setRows(1);
}

// Limits of extents whose reciprocals float64 can represent.
const LEAST_EXTENT: f64 = 1e-290;
const GREATEST_EXTENT: f64 = 1e290;

/** Returns an upper bound of the coordinates and heights of a source's shadows, relative to the origin. */
function extentOf(side: u32, list: usize, count: u32): f64 {
  const s = sourceAt(side), heightAtOrigin = side == 0 ? originH : -originH;
  if (s.mesh != 0) {
    const u = sumOf(s.ofXu, s.ofYu, s.ofZu) + abs(s.ofOneU - originU);
    const v = sumOf(s.ofXv, s.ofYv, s.ofZv) + abs(s.ofOneV - originV);
    return max(max(u, v), sumOf(s.ofXh, s.ofYh, s.ofZh) + abs(s.ofOneH - heightAtOrigin));
  }
  let most: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    project(projected, s, load<u32>(list + (<usize>i << 2)));
    for (let at = changetype<usize>(projected), end = at + 72; at < end; at += 24) {
      most = max(most, max(abs(load<f64>(at) - originU), abs(load<f64>(at, 8) - originV)));
      most = max(most, abs(load<f64>(at, 16) - heightAtOrigin));
    }
  }
  return most;
}

function sumOf(ofX: f64, ofY: f64, ofZ: f64): f64 {
  return <f64>TREE_EXTENT * (abs(ofX) + abs(ofY) + abs(ofZ));
}

/** Sets the projection of a source in the shadows' unit, relative to their origin. */
function setRows(side: u32): void {
  const s = sourceAt(side);
  s.forX = inUnit(s.ofXu, s.ofXv, s.ofXh);
  s.forY = inUnit(s.ofYu, s.ofYv, s.ofYh);
  s.forZ = inUnit(s.ofZu, s.ofZv, s.ofZh);
  s.forOne = inUnit(s.ofOneU - originU, s.ofOneV - originV, s.ofOneH - (side == 0 ? originH : -originH));
}

function inUnit(u: f64, v: f64, h: f64): v128 {
  return f32x4(<f32>(u * unit), <f32>(v * unit), <f32>(h * unit), 0);
}

/** Casts the shadows of a list of triangles, and narrows the window to them. */
export function cast(side: u32, shadows: usize, list: usize, count: u32): void {
  const source = sourceAt(side), mesh = changetype<Mesh>(<usize>source.mesh), isMesh = source.mesh != 0;
  const heightAtOrigin = side == 0 ? originH : -originH;
  const forX = source.forX, forY = source.forY, forZ = source.forZ, forOne = source.forOne;
  let least = f32x4.splat(Infinity), most = f32x4.splat(-Infinity);
  let to = shadows;
  for (let end = list + (<usize>count << 2); list < end; list += 4, to += SHADOW_BYTES) {
    const triangle = load<u32>(list);
    let low = f32x4.splat(Infinity), high = f32x4.splat(-Infinity);
    if (isMesh) {
      const at = cornersOf(mesh, triangle);
      const a = castCorner(at, forX, forY, forZ, forOne), b = castCorner(at + 48, forX, forY, forZ, forOne);
      const c = castCorner(at + 96, forX, forY, forZ, forOne);
      low = f32x4.pmin(f32x4.pmin(a, b), c);
      high = f32x4.pmax(f32x4.pmax(a, b), c);
    } else {
      project(projected, source, triangle);
      for (let at = changetype<usize>(projected), last = at + 72; at < last; at += 24) {
        const corner = inUnit(
          load<f64>(at) - originU, load<f64>(at, 8) - originV, load<f64>(at, 16) - heightAtOrigin,
        );
        low = f32x4.pmin(low, corner);
        high = f32x4.pmax(high, corner);
      }
    }
    v128.store(to, i32x4.replace_lane(low, 3, triangle));
    // The last lane, `compared`, is 0: not compared with any shadow yet.
    v128.store(to, high, offsetof<Shadow>('highU'));
    least = f32x4.pmin(least, low);
    most = f32x4.pmax(most, high);
  }
  narrowWindow(least, most);
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
export let reachLow: v128 = i32x4.splat(0), reachHigh: v128 = i32x4.splat(0);

// @ts-ignore: decorator
@inline
export function setReach(at: usize): void {
  reachLow = f32x4.sub(v128.load(at), f32x4.splat(MARGIN));
  reachHigh = f32x4.add(v128.load(at, offsetof<Shadow>('highU')), f32x4.splat(MARGIN));
}

/** Returns whether a shadow, given by its address, overlaps bounds that include the margin. */
// @ts-ignore: decorator
@inline
export function isOver(low: v128, high: v128, at: usize): bool {
  const isWithin = v128.and(f32x4.le(low, v128.load(at, offsetof<Shadow>('highU'))), f32x4.le(v128.load(at), high));
  return (i32x4.bitmask(isWithin) & WINDOW_LANES) == WINDOW_LANES;
}

/** Projects the triangle of a shadow, for comparisons with others. */
// @ts-ignore: decorator
@inline
export function beginComparing(source: Source, p: Shadow): void {
  project(searched, source, p.triangle);
}

/** Compares triangle p, which `beginComparing` has projected, with triangle q of the other source. */
export function compareShadows(otherSource: Source, p: Shadow, q: Shadow, isSwapped: bool): void {
  project(candidate, otherSource, q.triangle);
  const before = best;
  if (isSwapped) compare(candidate, searched);
  else compare(searched, candidate);
  if (best == before) return;
  needed = best * unit - MARGIN;
  if (isSwapped) setDeepest(q.triangle, p.triangle);
  else setDeepest(p.triangle, q.triangle);
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
    const own = changetype<Shadow>(at).top;
    if (!(own > thirdTop) || !isOver(windowLow, windowHigh, at)) continue;
    if (own > top) {
      thirdTop = secondTop;
      secondTop = top;
      secondHighest = highest;
      top = own;
      highest = at;
    } else if (own > secondTop) {
      thirdTop = secondTop;
      secondTop = own;
      secondHighest = at;
    } else thirdTop = own;
  }
  restTop = thirdTop;
}

/** By how much the limit may be too low, relative to the heights whose sum it is. */
const FLUSH: f64 = 1e-14;

/**
 * Limits the search to the depth that the highest triangles of both sides reach together in float64; `top0` and `top1`
 * are the heights of their shadows. Faces perpendicular to the direction, such as those of boxes along an axis, have
 * many triangles of the same height up to rounding, and so do all triangles that end at their edges: without this limit,
 * all would be compared with all. The manifolds of a building's 11,000 clashes take 0.91 of the processor time, and 0.94
 * if each pair is limited by its own heights instead.
 */
export function limitToTops(shadows0: usize, count0: u32, top0: f32, shadows1: usize, count1: u32, top1: f32): void {
  const own = exactTop(0, shadows0, count0, top0), other = exactTop(1, shadows1, count1, top1);
  lowerEnough(own + other - FLUSH * (abs(own) + abs(other)));
}

/** Returns the exact height of the highest triangles that overlap the window, given the height of the highest shadow. */
function exactTop(side: u32, shadows: usize, count: u32, top: f32): f64 {
  const source = sourceAt(side), least = top - 2 * MARGIN;
  let most = -Infinity;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    if (!(s.top >= least) || !isOver(windowLow, windowHigh, at)) continue;
    project(projected, source, s.triangle);
    most = max(most, max(max(projected.ah, projected.bh), projected.ch));
  }
  return most;
}

/** Returns the height of a shadow that `findHighest` found, -Infinity if it found none. */
export function topOf(shadow: usize): f32 {
  return shadow == 0 ? -Infinity : changetype<Shadow>(shadow).top;
}

/** The greatest height of the shadows that `keepHigher` kept. */
export let keptTop: f32 = 0;

/**
 * Moves to the front the shadows in the window that were not probed and that can be deeper than the best depth with one
 * of height `opposite`, and narrows the window to them. Returns their number.
 */
export function keepHigher(shadows: usize, count: u32, opposite: f32): u32 {
  const within = windowLow, beyond = windowHigh;
  let low = f32x4.splat(Infinity), high = f32x4.splat(-Infinity);
  let to = shadows;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    // Branchless, since the result is unpredictable.
    const isKept =
      <u32>(<f64>(s.top + opposite) > needed) & <u32>(s.compared != PROBED) & <u32>isOver(within, beyond, at);
    const ownLow = v128.load(at), ownHigh = v128.load(at, offsetof<Shadow>('highU'));
    const mask = i32x4.splat(-<i32>isKept);
    low = v128.bitselect(f32x4.pmin(low, ownLow), low, mask);
    high = v128.bitselect(f32x4.pmax(high, ownHigh), high, mask);
    v128.store(to, ownLow);
    v128.store(to, ownHigh, offsetof<Shadow>('highU'));
    to += isKept * <u32>SHADOW_BYTES;
  }
  keptTop = f32x4.extract_lane(high, 2);
  narrowWindow(low, high);
  return <u32>((to - shadows) / SHADOW_BYTES);
}
