// Binned surface-area heuristic (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007) over
// axis-aligned bounds of triangles. The cost of a side counts blocks of four triangles, since rays test whole blocks.

import { VECTOR_BYTES } from '../../sizes';

/**
 * The bounds of a triangle, or of a cell of several, in tree space: xyz of low, a tag with its index, xyz of high, a tag
 * with the number of its triangles.
 */
@unmanaged
export class Primitive {
  low: v128;
  high: v128;
}

export const PRIMITIVE_BYTES: usize = offsetof<Primitive>();

// @ts-ignore: decorator
@inline
export function primitiveAt(primitives: usize, i: u32): Primitive {
  return changetype<Primitive>(primitives + i * <u32>PRIMITIVE_BYTES);
}

/** Makes a number below 2²⁹ a normal float, so that it does not slow down float32 vectors in whose fourth lane it is. */
const TAG: i32 = 0x40000000;

// @ts-ignore: decorator
@inline
export function setTag(v: v128, value: u32): v128 {
  return i32x4.replace_lane(v, 3, TAG | value);
}

// @ts-ignore: decorator
@inline
export function tagOf(v: v128): u32 {
  return i32x4.extract_lane(v, 3) & ~TAG;
}

/**
 * The most bins per axis; half as many suffice for few primitives, for which the sweep costs more than the counting.
 * Four to six for eight primitives, or twelve for many, are not measurably quicker.
 */
const BINS = 16;
const FEW: u32 = 16;
/** Low and high bounds of a bin on each axis: x, y, z. */
const BIN_BYTES: usize = 96;
const bins: usize = memory.data(BINS * <i32>BIN_BYTES, 16);
/** The number of triangles in a bin on each axis; the fourth lane is unused, here and below. */
const counts: usize = memory.data(BINS * VECTOR_BYTES, 16);
/** The cost of everything from a bin on, along each axis. */
const rightCosts: usize = memory.data(BINS * VECTOR_BYTES, 16);

// @ts-ignore: decorator
@inline
export function emptyLow(): v128 {
  return f32x4.splat(Infinity);
}

// @ts-ignore: decorator
@inline
export function emptyHigh(): v128 {
  return f32x4.splat(-Infinity);
}

/** Returns half the surface area of the box from low to high. */
// @ts-ignore: decorator
@inline
export function halfArea(low: v128, high: v128): f32 {
  const d = f32x4.sub(high, low);
  const x = f32x4.extract_lane(d, 0);
  const y = f32x4.extract_lane(d, 1);
  const z = f32x4.extract_lane(d, 2);
  return x * y + y * z + z * x;
}

/**
 * Returns the cost of one side of a cut along each axis: half the areas of the boxes, whose extents are given axis by
 * axis, times the number of blocks that `count` triangles fill. NaN if a side has no triangles.
 */
// @ts-ignore: decorator
@inline
function costsOf(a: v128, b: v128, c: v128, count: v128): v128 {
  const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5), abz = v128.shuffle<f32>(a, b, 2, 6, 2, 6);
  const x = v128.shuffle<f32>(ab, c, 0, 1, 4, 4), y = v128.shuffle<f32>(ab, c, 2, 3, 5, 5);
  const z = v128.shuffle<f32>(abz, c, 0, 1, 6, 6);
  const areas = f32x4.add(f32x4.mul(x, f32x4.add(y, z)), f32x4.mul(y, z));
  return f32x4.mul(areas, f32x4.convert_i32x4_s(i32x4.shr_u(i32x4.add(count, i32x4.splat(3)), 2)));
}

/** The bounds of the sums of primitives' low and high corners, which are twice their centres. */
@unmanaged
export class Centres {
  low: v128;
  high: v128;
}

export function boundCentres(primitives: usize, start: u32, end: u32, to: Centres): void {
  let low = emptyLow();
  let high = emptyHigh();
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const centre = f32x4.add(p.low, p.high);
    low = f32x4.pmin(low, centre);
    high = f32x4.pmax(high, centre);
  }
  to.low = low;
  to.high = high;
}

/** The number of triangles in the first part of the last cut. */
export let firstCount: u32 = 0;

/**
 * Reorders primitives [start, end) and returns where to cut them: start < cut < end. `centres` are the bounds of their
 * centres; they are replaced by those of the first part, and those of the second part are written to `second`.
 */
export function split(primitives: usize, start: u32, end: u32, halve: bool, centres: Centres, second: Centres): u32 {
  const low = centres.low, high = centres.high;
  if (halve) return halved(primitives, start, end, centres, second);
  const used = end - start > FEW ? BINS : BINS / 2;
  // Along an axis without an extent, or with one too small to have a reciprocal in float32, everything is in the first
  // bin.
  const steps = f32x4.div(f32x4.splat(<f32>used * 0.999), f32x4.sub(high, low));
  const scale = v128.and(steps, f32x4.lt(steps, f32x4.splat(Infinity)));
  let bin = bins;
  for (let count = counts, end = counts + (<usize>used << 4); count < end; count += 16) {
    v128.store(count, i32x4.splat(0));
    v128.store(bin, emptyLow()); v128.store(bin, emptyHigh(), 16);
    v128.store(bin, emptyLow(), 32); v128.store(bin, emptyHigh(), 48);
    v128.store(bin, emptyLow(), 64); v128.store(bin, emptyHigh(), 80);
    bin += BIN_BYTES;
  }
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const pLow = p.low, pHigh = p.high, weight = tagOf(pHigh);
    const bin = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(f32x4.add(pLow, pHigh), low), scale));
    addToBin(i32x4.extract_lane(bin, 0), 0, pLow, pHigh, weight);
    addToBin(i32x4.extract_lane(bin, 1), 1, pLow, pHigh, weight);
    addToBin(i32x4.extract_lane(bin, 2), 2, pLow, pHigh, weight);
  }

  // All three axes at once: first the boxes on the right of each cut, then those on the left.
  let lowX = emptyLow(), lowY = lowX, lowZ = lowX, highX = emptyHigh(), highY = highX, highZ = highX;
  let count = i32x4.splat(0);
  for (let i = used - 1; i > 0; i--) {
    const bin = bins + <usize>i * BIN_BYTES;
    lowX = f32x4.pmin(lowX, v128.load(bin)); highX = f32x4.pmax(highX, v128.load(bin, 16));
    lowY = f32x4.pmin(lowY, v128.load(bin, 32)); highY = f32x4.pmax(highY, v128.load(bin, 48));
    lowZ = f32x4.pmin(lowZ, v128.load(bin, 64)); highZ = f32x4.pmax(highZ, v128.load(bin, 80));
    count = i32x4.add(count, v128.load(counts + (<usize>i << 4)));
    const costs = costsOf(f32x4.sub(highX, lowX), f32x4.sub(highY, lowY), f32x4.sub(highZ, lowZ), count);
    v128.store(rightCosts + (<usize>i << 4), costs);
  }
  lowX = lowY = lowZ = emptyLow();
  highX = highY = highZ = emptyHigh();
  count = i32x4.splat(0);
  let best = f32x4.splat(Infinity), bestBins = i32x4.splat(-1);
  for (let i = 0; i < used - 1; i++) {
    const bin = bins + <usize>i * BIN_BYTES;
    lowX = f32x4.pmin(lowX, v128.load(bin)); highX = f32x4.pmax(highX, v128.load(bin, 16));
    lowY = f32x4.pmin(lowY, v128.load(bin, 32)); highY = f32x4.pmax(highY, v128.load(bin, 48));
    lowZ = f32x4.pmin(lowZ, v128.load(bin, 64)); highZ = f32x4.pmax(highZ, v128.load(bin, 80));
    count = i32x4.add(count, v128.load(counts + (<usize>i << 4)));
    const left = costsOf(f32x4.sub(highX, lowX), f32x4.sub(highY, lowY), f32x4.sub(highZ, lowZ), count);
    const costs = f32x4.add(left, v128.load(rightCosts + (<usize>i << 4), 16));
    // False if a side is empty.
    const isBetter = f32x4.lt(costs, best);
    best = v128.bitselect(costs, best, isBetter);
    bestBins = v128.bitselect(i32x4.splat(i), bestBins, isBetter);
  }
  let axis = f32x4.extract_lane(best, 1) < f32x4.extract_lane(best, 0) ? 1 : 0;
  if (f32x4.extract_lane(best, 2) < min(f32x4.extract_lane(best, 0), f32x4.extract_lane(best, 1))) axis = 2;
  const last =
    axis == 0 ? i32x4.extract_lane(bestBins, 0) : axis == 1 ? i32x4.extract_lane(bestBins, 1) : i32x4.extract_lane(bestBins, 2);
  if (last < 0) return halved(primitives, start, end, centres, second);
  // The side is decided by the same arithmetic as above, so both agree to the bit.
  let firstLow = emptyLow(), firstHigh = emptyHigh(), secondLow = emptyLow(), secondHigh = emptyHigh();
  // Every primitive is swapped with the first of those that go to the other side: branchless, since the side is
  // unpredictable.
  let cut = start, before: u32 = 0;
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const pLow = p.low, pHigh = p.high;
    const centre = f32x4.add(pLow, pHigh);
    const bin = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(centre, low), scale));
    const b =
      axis == 0 ? i32x4.extract_lane(bin, 0) : axis == 1 ? i32x4.extract_lane(bin, 1) : i32x4.extract_lane(bin, 2);
    const isFirst = <i32>(b <= last);
    const mask = i32x4.splat(-isFirst);
    firstLow = f32x4.pmin(firstLow, v128.bitselect(centre, emptyLow(), mask));
    firstHigh = f32x4.pmax(firstHigh, v128.bitselect(centre, emptyHigh(), mask));
    secondLow = f32x4.pmin(secondLow, v128.bitselect(emptyLow(), centre, mask));
    secondHigh = f32x4.pmax(secondHigh, v128.bitselect(emptyHigh(), centre, mask));
    const q = primitiveAt(primitives, cut);
    p.low = q.low;
    p.high = q.high;
    q.low = pLow;
    q.high = pHigh;
    cut += isFirst;
    before += tagOf(pHigh) & -isFirst;
  }
  firstCount = before;
  centres.low = firstLow;
  centres.high = firstHigh;
  second.low = secondLow;
  second.high = secondHigh;
  return cut;
}

function halved(primitives: usize, start: u32, end: u32, centres: Centres, second: Centres): u32 {
  const middle = (start + end) >> 1;
  firstCount = 0;
  for (let i = start; i < middle; i++) firstCount += tagOf(primitiveAt(primitives, i).high);
  boundCentres(primitives, start, middle, centres);
  boundCentres(primitives, middle, end, second);
  return middle;
}

// @ts-ignore: decorator
@inline
function addToBin(index: i32, axis: usize, low: v128, high: v128, weight: u32): void {
  const bin = bins + <usize>index * BIN_BYTES + axis * 32;
  v128.store(bin, f32x4.pmin(v128.load(bin), low));
  v128.store(bin, f32x4.pmax(v128.load(bin, 16), high), 16);
  const count = counts + (<usize>index << 4) + (axis << 2);
  store<u32>(count, load<u32>(count) + weight);
}
