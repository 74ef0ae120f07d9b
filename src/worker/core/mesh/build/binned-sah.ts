// Binned surface-area heuristic (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007) over
// axis-aligned bounds of triangles. The cost of a side counts blocks of four triangles, since rays test whole blocks.

import { VECTOR_BYTES } from '../../sizes';

/**
 * The bounds of a triangle, or of a cell of several, in tree space: xyz of low, a tag with its index, xyz of high, a tag
 * with the number of its triangles.
 */
@unmanaged
export class Primitive {
  min: v128;
  max: v128;
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
const MAX_BINS = 16;
const FEW_PRIMITIVES: u32 = 16;
/** Low and high bounds of a bin on each axis: x, y, z. */
const BIN_BYTES: usize = 96;
const bins: usize = memory.data(MAX_BINS * <i32>BIN_BYTES, 16);
/** The number of triangles in a bin on each axis; the fourth lane is unused, here and below. */
const counts: usize = memory.data(MAX_BINS * VECTOR_BYTES, 16);
/** The cost of everything from a bin on, along each axis. */
const rightCosts: usize = memory.data(MAX_BINS * VECTOR_BYTES, 16);

// @ts-ignore: decorator
@inline
export function emptyMin(): v128 {
  return f32x4.splat(Infinity);
}

// @ts-ignore: decorator
@inline
export function emptyMax(): v128 {
  return f32x4.splat(-Infinity);
}

/** Returns half the surface area of the box from `boxMin` to `boxMax`. */
// @ts-ignore: decorator
@inline
export function halfArea(boxMin: v128, boxMax: v128): f32 {
  const extent = f32x4.sub(boxMax, boxMin);
  const x = f32x4.extract_lane(extent, 0);
  const y = f32x4.extract_lane(extent, 1);
  const z = f32x4.extract_lane(extent, 2);
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
export class CenterBounds {
  min: v128;
  max: v128;
}

export function boundCenters(primitives: usize, start: u32, end: u32, to: CenterBounds): void {
  let centerMin = emptyMin();
  let centerMax = emptyMax();
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const center = f32x4.add(p.min, p.max);
    centerMin = f32x4.pmin(centerMin, center);
    centerMax = f32x4.pmax(centerMax, center);
  }
  to.min = centerMin;
  to.max = centerMax;
}

/** The number of triangles in the first part of the last cut. */
export let firstPartCount: u32 = 0;

/**
 * Reorders primitives [start, end) and returns where to cut them: start < cut < end. `centers` are the bounds of their
 * centres; they are replaced by those of the first part, and those of the second part are written to `second`.
 */
export function split(primitives: usize, start: u32, end: u32, halve: bool, centers: CenterBounds, second: CenterBounds): u32 {
  const centerMin = centers.min, centerMax = centers.max;
  if (halve) return halved(primitives, start, end, centers, second);
  const binCount = end - start > FEW_PRIMITIVES ? MAX_BINS : MAX_BINS / 2;
  // Along an axis without an extent, or with one too small to have a reciprocal in float32, everything is in the first
  // bin.
  const steps = f32x4.div(f32x4.splat(<f32>binCount * 0.999), f32x4.sub(centerMax, centerMin));
  const scale = v128.and(steps, f32x4.lt(steps, f32x4.splat(Infinity)));
  let bin = bins;
  for (let count = counts, end = counts + (<usize>binCount << 4); count < end; count += 16) {
    v128.store(count, i32x4.splat(0));
    v128.store(bin, emptyMin()); v128.store(bin, emptyMax(), 16);
    v128.store(bin, emptyMin(), 32); v128.store(bin, emptyMax(), 48);
    v128.store(bin, emptyMin(), 64); v128.store(bin, emptyMax(), 80);
    bin += BIN_BYTES;
  }
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const primitiveMin = p.min, primitiveMax = p.max, weight = tagOf(primitiveMax);
    const bin = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(f32x4.add(primitiveMin, primitiveMax), centerMin), scale));
    addToBin(i32x4.extract_lane(bin, 0), 0, primitiveMin, primitiveMax, weight);
    addToBin(i32x4.extract_lane(bin, 1), 1, primitiveMin, primitiveMax, weight);
    addToBin(i32x4.extract_lane(bin, 2), 2, primitiveMin, primitiveMax, weight);
  }

  // All three axes at once: first the boxes on the right of each cut, then those on the left.
  let minX = emptyMin(), minY = minX, minZ = minX, maxX = emptyMax(), maxY = maxX, maxZ = maxX;
  let count = i32x4.splat(0);
  for (let i = binCount - 1; i > 0; i--) {
    const bin = bins + <usize>i * BIN_BYTES;
    minX = f32x4.pmin(minX, v128.load(bin)); maxX = f32x4.pmax(maxX, v128.load(bin, 16));
    minY = f32x4.pmin(minY, v128.load(bin, 32)); maxY = f32x4.pmax(maxY, v128.load(bin, 48));
    minZ = f32x4.pmin(minZ, v128.load(bin, 64)); maxZ = f32x4.pmax(maxZ, v128.load(bin, 80));
    count = i32x4.add(count, v128.load(counts + (<usize>i << 4)));
    const costs = costsOf(f32x4.sub(maxX, minX), f32x4.sub(maxY, minY), f32x4.sub(maxZ, minZ), count);
    v128.store(rightCosts + (<usize>i << 4), costs);
  }
  minX = minY = minZ = emptyMin();
  maxX = maxY = maxZ = emptyMax();
  count = i32x4.splat(0);
  let minCosts = f32x4.splat(Infinity), bestBins = i32x4.splat(-1);
  for (let i = 0; i < binCount - 1; i++) {
    const bin = bins + <usize>i * BIN_BYTES;
    minX = f32x4.pmin(minX, v128.load(bin)); maxX = f32x4.pmax(maxX, v128.load(bin, 16));
    minY = f32x4.pmin(minY, v128.load(bin, 32)); maxY = f32x4.pmax(maxY, v128.load(bin, 48));
    minZ = f32x4.pmin(minZ, v128.load(bin, 64)); maxZ = f32x4.pmax(maxZ, v128.load(bin, 80));
    count = i32x4.add(count, v128.load(counts + (<usize>i << 4)));
    const leftCosts = costsOf(f32x4.sub(maxX, minX), f32x4.sub(maxY, minY), f32x4.sub(maxZ, minZ), count);
    const costs = f32x4.add(leftCosts, v128.load(rightCosts + (<usize>i << 4), 16));
    // False if a side is empty.
    const isBetter = f32x4.lt(costs, minCosts);
    minCosts = v128.bitselect(costs, minCosts, isBetter);
    bestBins = v128.bitselect(i32x4.splat(i), bestBins, isBetter);
  }
  let axis = f32x4.extract_lane(minCosts, 1) < f32x4.extract_lane(minCosts, 0) ? 1 : 0;
  if (f32x4.extract_lane(minCosts, 2) < min(f32x4.extract_lane(minCosts, 0), f32x4.extract_lane(minCosts, 1))) axis = 2;
  const lastBin =
    axis == 0 ? i32x4.extract_lane(bestBins, 0) : axis == 1 ? i32x4.extract_lane(bestBins, 1) : i32x4.extract_lane(bestBins, 2);
  if (lastBin < 0) return halved(primitives, start, end, centers, second);
  // The side is decided by the same arithmetic as above, so both agree to the bit.
  let firstMin = emptyMin(), firstMax = emptyMax(), secondMin = emptyMin(), secondMax = emptyMax();
  // Every primitive is swapped with the first of those that go to the other side: branchless, since the side is
  // unpredictable.
  let cut = start, firstPartTriangles: u32 = 0;
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const primitiveMin = p.min, primitiveMax = p.max;
    const center = f32x4.add(primitiveMin, primitiveMax);
    const bin = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(center, centerMin), scale));
    const b =
      axis == 0 ? i32x4.extract_lane(bin, 0) : axis == 1 ? i32x4.extract_lane(bin, 1) : i32x4.extract_lane(bin, 2);
    const isFirst = <i32>(b <= lastBin);
    const mask = i32x4.splat(-isFirst);
    firstMin = f32x4.pmin(firstMin, v128.bitselect(center, emptyMin(), mask));
    firstMax = f32x4.pmax(firstMax, v128.bitselect(center, emptyMax(), mask));
    secondMin = f32x4.pmin(secondMin, v128.bitselect(emptyMin(), center, mask));
    secondMax = f32x4.pmax(secondMax, v128.bitselect(emptyMax(), center, mask));
    const q = primitiveAt(primitives, cut);
    p.min = q.min;
    p.max = q.max;
    q.min = primitiveMin;
    q.max = primitiveMax;
    cut += isFirst;
    firstPartTriangles += tagOf(primitiveMax) & -isFirst;
  }
  firstPartCount = firstPartTriangles;
  centers.min = firstMin;
  centers.max = firstMax;
  second.min = secondMin;
  second.max = secondMax;
  return cut;
}

function halved(primitives: usize, start: u32, end: u32, centers: CenterBounds, second: CenterBounds): u32 {
  const middle = (start + end) >> 1;
  firstPartCount = 0;
  for (let i = start; i < middle; i++) firstPartCount += tagOf(primitiveAt(primitives, i).max);
  boundCenters(primitives, start, middle, centers);
  boundCenters(primitives, middle, end, second);
  return middle;
}

// @ts-ignore: decorator
@inline
function addToBin(index: i32, axis: usize, boxMin: v128, boxMax: v128, weight: u32): void {
  const bin = bins + <usize>index * BIN_BYTES + axis * 32;
  v128.store(bin, f32x4.pmin(v128.load(bin), boxMin));
  v128.store(bin, f32x4.pmax(v128.load(bin, 16), boxMax), 16);
  const count = counts + (<usize>index << 4) + (axis << 2);
  store<u32>(count, load<u32>(count) + weight);
}
