// Shadows of triangles: their bounds across a direction and along it, which tell the few pairs of triangles that can be
// the deepest. Shadows are float32, in a unit and about an origin that keep the digits that they need, with a margin for
// their rounding; what they let through is compared in float64 (triangle-depth.ts).

import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh, TREE_EXTENT } from '../../mesh/tree/layout';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import { best, compare, lowerEnough, setDeepest } from './triangle-depth';
import { Projected, Source, project, sourceAt } from './triangle-projection';

/**
 * Bounds of a projected triangle in float32, in the unit of shadows, about their origin: the least u, v and height, and
 * the greatest. Manifolds of two dragons take 0.94 of the time that they take with shadows in float64.
 */
@unmanaged
export class Shadow {
  lowU: f32; lowV: f32; bottom: f32;
  /** The triangle, as it is listed. */
  triangle: u32;
  highU: f32; highV: f32; top: f32;
  /** The shadow that one in the cells was compared with last. */
  compared: u32;
}

export const SHADOW_BYTES: usize = offsetof<Shadow>();
/** The value of `compared` in a shadow that was compared with all others. */
export const PROBED: u32 = 1;

/**
 * The unit of shadows, a power of two: what is multiplied by it is below 2, so that float32 has room for it, however
 * large or small the meshes are.
 */
export let unit: f64 = 1;
/** What is the origin of shadows. */
export let originU: f64 = 0, originV: f64 = 0, originH: f64 = 0;
/**
 * The margin of shadows. Of a sum of three products and a constant, all together below 2, the entries, the products and
 * the sums are off by 5 · 2⁻²³ at most; two such sums, and what they are compared with, by less than 2⁻¹⁹.
 */
export const MARGIN: f32 = 1.9073486328125e-6;
/** What two shadows must reach together so that their triangles can be deeper than the best. */
export let needed: f64 = 0;

/** What both sides' shadows have in common, u and v in the first lanes, and with it the margin. */
export let windowLow: v128 = i32x4.splat(0), windowHigh: v128 = i32x4.splat(0);
const WINDOW_LANES: u32 = 3;

/** Lets the window be everywhere. */
export function openWindow(): void {
  windowLow = f32x4.splat(-Infinity);
  windowHigh = f32x4.splat(Infinity);
}

/** Tells whether there is a place in the window. */
export function hasWindow(): bool {
  return (i32x4.bitmask(f32x4.le(windowLow, windowHigh)) & WINDOW_LANES) == WINDOW_LANES;
}

/** Narrows the window to bounds and the margin around them. */
function narrowWindow(low: v128, high: v128): void {
  windowLow = f32x4.pmax(windowLow, f32x4.sub(low, f32x4.splat(MARGIN)));
  windowHigh = f32x4.pmin(windowHigh, f32x4.add(high, f32x4.splat(MARGIN)));
}

const projected = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const searched = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const candidate = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

// --- casting them ---

/**
 * Chooses unit and origin of the shadows, and how both sources are seen in them. The origin is a corner of the first
 * triangle, so that places far from that of contact space lose nothing.
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

// Extents whose reciprocals float64 has.
const LEAST_EXTENT: f64 = 1e-290;
const GREATEST_EXTENT: f64 = 1e290;

/** Answers a bound of the sums that place and height of a source's shadows are, about the origin. */
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

/** Sets how a source is seen in the unit and about the origin of shadows. */
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

/** Casts the shadows of a list, and narrows the window to them. */
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
    // The last lane is 0: compared with nothing.
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

// --- comparing them ---

/** A shadow's bounds with the margin. */
export let reachLow: v128 = i32x4.splat(0), reachHigh: v128 = i32x4.splat(0);

// @ts-ignore: decorator
@inline
export function setReach(at: usize): void {
  reachLow = f32x4.sub(v128.load(at), f32x4.splat(MARGIN));
  reachHigh = f32x4.add(v128.load(at, offsetof<Shadow>('highU')), f32x4.splat(MARGIN));
}

/** Tells whether a shadow, by its address, overlaps bounds that have the margin. */
// @ts-ignore: decorator
@inline
export function isOver(low: v128, high: v128, at: usize): bool {
  const isWithin = v128.and(f32x4.le(low, v128.load(at, offsetof<Shadow>('highU'))), f32x4.le(v128.load(at), high));
  return (i32x4.bitmask(isWithin) & WINDOW_LANES) == WINDOW_LANES;
}

/** Takes the triangle of a shadow to compare it with others. */
// @ts-ignore: decorator
@inline
export function beginComparing(source: Source, p: Shadow): void {
  project(searched, source, p.triangle);
}

/** Compares triangle p, which `beginComparing` has taken, with triangle q of the other source. */
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

/** The highest and the second highest of the shadows, as addresses; 0 where there is none. */
export let highest: usize = 0, secondHighest: usize = 0;
/** How high any other one is. */
export let restTop: f32 = 0;

/** Finds the two highest of the shadows that overlap the window; of equally high ones, the first come first. */
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

/** What the depth may come out too low by, relative to the heights that it is the sum of. */
const FLUSH: f64 = 1e-14;

/**
 * Looks for no depth beyond what the highest triangles of both sides reach together in float64; `top0` and `top1` is how high
 * their shadows are. Faces across the direction, as those of boxes along an axis, have many triangles that are as high but for
 * rounding, and as high are all that end at their edges: without this, all are compared with all. The manifolds of a building's
 * 11,000 clashes take 0.91 of the processor time, and 0.94 where each two are compared by their own heights instead.
 */
export function limitToTops(shadows0: usize, count0: u32, top0: f32, shadows1: usize, count1: u32, top1: f32): void {
  const own = exactTop(0, shadows0, count0, top0), other = exactTop(1, shadows1, count1, top1);
  lowerEnough(own + other - FLUSH * (abs(own) + abs(other)));
}

/** Answers how high the triangles over the window are, of which the highest shadow is known. */
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

/** Answers how high a shadow is that `findHighest` found, -Infinity where it found none. */
export function topOf(shadow: usize): f32 {
  return shadow == 0 ? -Infinity : changetype<Shadow>(shadow).top;
}

/** How high the shadows are that `keepHigher` kept. */
export let keptTop: f32 = 0;

/**
 * Moves the shadows in the window that can reach more than the best depth with one as high as `opposite` and were not
 * probed to the front, and narrows the window to them. Answers how many there are.
 */
export function keepHigher(shadows: usize, count: u32, opposite: f32): u32 {
  const within = windowLow, beyond = windowHigh;
  let low = f32x4.splat(Infinity), high = f32x4.splat(-Infinity);
  let to = shadows;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    // Without a branch, as no processor can predict it.
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
