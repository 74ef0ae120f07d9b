// Binned surface-area heuristic (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007)
// over axis-aligned bounds of triangles. The cost of a side counts blocks of four, as rays do.

import { WORD_BYTES } from '../../sizes';

/** The bounds of one triangle, in tree space: xyz of low, its index, xyz of high, nothing. */
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

const BINS = 16;
const BIN_BYTES: usize = 32;
const bins: usize = memory.data(3 * BINS * <i32>BIN_BYTES, 16); // low and high, per axis and bin
const counts: usize = memory.data(3 * BINS * WORD_BYTES, 16);
const rightArea: usize = memory.data(BINS * 4, 16);
const rightBlocks: usize = memory.data(BINS * 4, 16);

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

/** Answers half the surface area of the box from low to high. */
// @ts-ignore: decorator
@inline
export function halfArea(low: v128, high: v128): f32 {
  const d = f32x4.sub(high, low);
  const x = f32x4.extract_lane(d, 0);
  const y = f32x4.extract_lane(d, 1);
  const z = f32x4.extract_lane(d, 2);
  return x * y + y * z + z * x;
}

// @ts-ignore: decorator
@inline
function blocksOf(count: i32): i32 {
  return (count + 3) >> 2;
}

/** The bounds of the sums of primitives' corners, which are twice their centres. */
@unmanaged
export class Centres {
  low: v128;
  high: v128;
}

export const CENTRES_BYTES: usize = offsetof<Centres>();

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

/**
 * Reorders primitives [start, end) and answers where to cut them: start < cut < end. `centres` are theirs; those of the first
 * part take their place, those of the second are written to `second`.
 */
export function split(primitives: usize, start: u32, end: u32, halve: bool, centres: Centres, second: Centres): u32 {
  const low = centres.low, high = centres.high;
  if (halve) return halved(primitives, start, end, centres, second);
  // Along an axis without an extent, or with one so small that float32 has no reciprocal of it, all is in the first
  // bin.
  const steps = f32x4.div(f32x4.splat(<f32>BINS * 0.999), f32x4.sub(high, low));
  const scale = v128.and(steps, f32x4.lt(steps, f32x4.splat(Infinity)));
  for (let i: usize = 0; i < 3 * BINS; i++) {
    v128.store(bins + i * BIN_BYTES, emptyLow());
    v128.store(bins + i * BIN_BYTES, emptyHigh(), 16);
  }
  memory.fill(counts, 0, 3 * BINS * 4);
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    const bin = i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.sub(f32x4.add(p.low, p.high), low), scale));
    addToBin(i32x4.extract_lane(bin, 0), p);
    addToBin(i32x4.extract_lane(bin, 1) + BINS, p);
    addToBin(i32x4.extract_lane(bin, 2) + 2 * BINS, p);
  }
  let best: f32 = Infinity;
  let bestBin = -1;
  for (let axis = 0; axis < 3; axis++) {
    const first = axis * BINS;
    let boxLow = emptyLow();
    let boxHigh = emptyHigh();
    let count = 0;
    for (let i = BINS - 1; i > 0; i--) {
      const bin = bins + <usize>(first + i) * BIN_BYTES;
      boxLow = f32x4.pmin(boxLow, v128.load(bin));
      boxHigh = f32x4.pmax(boxHigh, v128.load(bin, 16));
      count += load<i32>(counts + (<usize>(first + i) << 2));
      store<f32>(rightArea + (<usize>i << 2), count == 0 ? 0 : halfArea(boxLow, boxHigh));
      store<i32>(rightBlocks + (<usize>i << 2), blocksOf(count));
    }
    boxLow = emptyLow();
    boxHigh = emptyHigh();
    count = 0;
    for (let i = 0; i < BINS - 1; i++) {
      const bin = bins + <usize>(first + i) * BIN_BYTES;
      boxLow = f32x4.pmin(boxLow, v128.load(bin));
      boxHigh = f32x4.pmax(boxHigh, v128.load(bin, 16));
      count += load<i32>(counts + (<usize>(first + i) << 2));
      const blocks = load<i32>(rightBlocks + (<usize>(i + 1) << 2));
      if (count == 0 || blocks == 0) continue;
      const cost =
        halfArea(boxLow, boxHigh) * <f32>blocksOf(count) +
        load<f32>(rightArea + (<usize>(i + 1) << 2)) * <f32>blocks;
      if (cost < best) {
        best = cost;
        bestBin = first + i;
      }
    }
  }
  if (bestBin < 0) return halved(primitives, start, end, centres, second);
  // The same arithmetic as above decides the side, so both agree to the bit.
  const axis = bestBin / BINS;
  const last = bestBin % BINS;
  let firstLow = emptyLow(), firstHigh = emptyHigh(), secondLow = emptyLow(), secondHigh = emptyHigh();
  // Every primitive changes places with the first of those that go to the other side: without a branch, as no processor
  // guesses it.
  let cut = start;
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
  }
  centres.low = firstLow;
  centres.high = firstHigh;
  second.low = secondLow;
  second.high = secondHigh;
  return cut;
}

function halved(primitives: usize, start: u32, end: u32, centres: Centres, second: Centres): u32 {
  const middle = (start + end) >> 1;
  boundCentres(primitives, start, middle, centres);
  boundCentres(primitives, middle, end, second);
  return middle;
}

// @ts-ignore: decorator
@inline
function addToBin(index: i32, p: Primitive): void {
  const bin = bins + <usize>index * BIN_BYTES;
  v128.store(bin, f32x4.pmin(v128.load(bin), p.low));
  v128.store(bin, f32x4.pmax(v128.load(bin, 16), p.high), 16);
  const count = counts + (<usize>index << 2);
  store<i32>(count, load<i32>(count) + 1);
}
