// The phases of a build that put triangles in the order of a Morton curve and gather neighbours on it in cells: parts of
// an octree, halved further along the curve, with a few triangles each. The upper levels of the tree are made of cells, as if
// each were one triangle, so that only the lower ones look at all triangles (Ganestam, Barringer, Doggett and Akenine-Möller,
// "Bonsai: Rapid Bounding Volume Hierarchy Generation using Mini Trees", 2015).
//
// The full dragon's tree, one thread: all of its triangles were split in 546 ms, cells of 3 and parts of 256 are in 290, the
// sorting included; rays visit 1.6 % more nodes.

import { allocate, release, reserve } from '../../memory';
import { emptyHigh, emptyLow, PRIMITIVE_BYTES, primitiveAt, setTag, tagOf } from './binned-sah';
import { Build, PHASE_CELLS, PHASE_SORT } from './build-state';

/** A triangle's place among the primitives, and the Morton code of its middle. */
@unmanaged
class KeyedTriangle {
  key: u32;
  primitive: u32;
}

const KEYED_BYTES: usize = offsetof<KeyedTriangle>();
/** Codes have ten bits of each coordinate, and are sorted by ten at a time. */
const DIGIT_BITS: u32 = 10;
const DIGITS: usize = 1 << DIGIT_BITS;
const PASSES: u32 = 3;
const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
const KEY_STEPS: f32 = 1023.99;

/**
 * Cells have no more triangles than this, unless these have the same code. With 8 instead of 3, rays visit 1.2 % more nodes of
 * the small dragon, and 0.8 % more of the full one.
 */
const CELL_SIZE: u32 = 3;
const FAST_CELL_SIZE: u32 = 8;
/**
 * Of more triangles than these, cells are gathered in groups of no more than so many triangles, of which the uppermost levels are
 * made: the full dragon is split in 0.8 of the time, and rays visit 1.3 % more nodes of it. With groups of 64, that are 3.2 %.
 */
const LEAST_GROUPED: u32 = 16384;
const GROUP_SIZE: u32 = 32;
/** Triangles that are sorted or gathered between two looks at the clock. */
const TRIANGLES_A_STEP: u32 = 16384;

/** A part of the order that waits to become cells, and the highest bit in which its codes may differ. */
@unmanaged
class Stretch {
  start: u32;
  end: u32;
  bit: i32;
}

const STRETCH_BYTES: usize = offsetof<Stretch>();
/** At most one more waits for each bit. */
const STRETCHES: usize = 32;

// @ts-ignore: decorator
@inline
function keyedAt(order: usize, i: u32): KeyedTriangle {
  return changetype<KeyedTriangle>(order + i * <u32>KEYED_BYTES);
}

// --- codes ---

/** Prepares to note the codes of all primitives. Throws OUT_OF_MEMORY. */
export function reserveOrder(build: Build): void {
  build.order = allocate(<u64>build.kept * KEYED_BYTES);
  build.spare = allocate(<u64>build.kept * KEYED_BYTES);
  build.digits = allocate(<u64>PASSES * DIGITS * 4);
  memory.fill(build.digits, 0, <usize>PASSES * DIGITS * 4);
}

/** Notes the code of primitive `i`, whose twofold middle is given: cubes of the bounds from `low`, `scale` to a side. */
// @ts-ignore: decorator
@inline
export function noteCode(build: Build, i: u32, centre: v128, low: v128, scale: v128): void {
  const key = mortonCode(f32x4.mul(f32x4.sub(centre, low), scale));
  const keyed = keyedAt(build.order, i);
  keyed.key = key;
  keyed.primitive = i;
  count(build.digits, key & DIGIT_MASK);
  count(build.digits + DIGITS * 4, (key >> DIGIT_BITS) & DIGIT_MASK);
  count(build.digits + 2 * DIGITS * 4, key >> (2 * DIGIT_BITS));
}

// @ts-ignore: decorator
@inline
function count(digits: usize, digit: u32): void {
  const at = digits + (<usize>digit << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** Answers the steps of the code along each axis that a length in tree space has, of what is twice a middle. */
export function codeScale(extent: f32): f32 {
  return extent > 0 ? KEY_STEPS / (2 * extent) : 0;
}

/** Interleaves the bits of three coordinates from 0 to 1023. */
// @ts-ignore: decorator
@inline
function mortonCode(place: v128): u32 {
  let v = i32x4.trunc_sat_f32x4_u(place);
  v = v128.and(v128.or(v, i32x4.shl(v, 16)), i32x4.splat(0x030000ff));
  v = v128.and(v128.or(v, i32x4.shl(v, 8)), i32x4.splat(0x0300f00f));
  v = v128.and(v128.or(v, i32x4.shl(v, 4)), i32x4.splat(0x030c30c3));
  v = v128.and(v128.or(v, i32x4.shl(v, 2)), i32x4.splat(0x09249249));
  return <u32>i32x4.extract_lane(v, 0) | (<u32>i32x4.extract_lane(v, 1) << 1) | (<u32>i32x4.extract_lane(v, 2) << 2);
}

// --- the order: a radix sort ---

/** Begins to sort, when all codes are noted. */
export function beginSort(build: Build): void {
  for (let pass: usize = 0; pass < <usize>PASSES; pass++) {
    let sum: u32 = 0;
    for (let at = build.digits + pass * DIGITS * 4, end = at + DIGITS * 4; at < end; at += 4) {
      const n = load<u32>(at);
      store<u32>(at, sum);
      sum += n;
    }
  }
  build.sortPass = 0;
  build.cursor = 0;
  build.phase = PHASE_SORT;
}

export function sortSome(build: Build): void {
  const end = min(build.cursor + TRIANGLES_A_STEP, build.kept);
  const places = build.digits + build.sortPass * <u32>DIGITS * 4, shift = build.sortPass * DIGIT_BITS;
  for (let i = build.cursor; i < end; i++) {
    const keyed = load<u64>(build.order + <usize>i * KEYED_BYTES);
    const at = places + (<usize>((<u32>keyed >> shift) & DIGIT_MASK) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u64>(build.spare + <usize>place * KEYED_BYTES, keyed);
  }
  build.cursor = end;
  if (end < build.kept) return;
  const sorted = build.spare;
  build.spare = build.order;
  build.order = sorted;
  build.cursor = 0;
  if (++build.sortPass < PASSES) return;
  release(build.spare);
  release(build.digits);
  // Where there is no memory for the rest, what is released here is not released again.
  build.spare = build.digits = 0;
  build.spare = allocate(<u64>build.kept * PRIMITIVE_BYTES);
  build.stack = allocate(STRETCHES * STRETCH_BYTES);
  build.stackCount = 0;
  pushStretch(build, 0, build.kept, PASSES * DIGIT_BITS - 1);
  build.phase = PHASE_CELLS;
}

// --- cells ---

function pushStretch(build: Build, start: u32, end: u32, bit: i32): void {
  if (start == end) return;
  const stretch = changetype<Stretch>(build.stack + build.stackCount++ * <u32>STRETCH_BYTES);
  stretch.start = start;
  stretch.end = end;
  stretch.bit = bit;
}

/** Cuts stretches of the order where a bit of the code changes, until each is a cell. Answers whether all are. */
export function gatherCells(build: Build): bool {
  let work: u32 = 0;
  const cellSize = build.isFast ? FAST_CELL_SIZE : CELL_SIZE;
  const groupSize: u32 = build.kept > LEAST_GROUPED ? GROUP_SIZE : 0;
  while (build.stackCount > 0 && work < TRIANGLES_A_STEP) {
    const stretch = changetype<Stretch>(build.stack + --build.stackCount * <u32>STRETCH_BYTES);
    const start = stretch.start, end = stretch.end, bit = stretch.bit;
    if (groupSize > 0 && start >= build.groupEnd && (end - start <= groupSize || bit < 0)) addGroup(build, end);
    if (end - start <= cellSize || bit < 0) {
      addCell(build, start, end);
      work += end - start;
      continue;
    }
    const middle = firstWithBit(build.order, start, end, bit);
    pushStretch(build, middle, end, bit - 1);
    pushStretch(build, start, middle, bit - 1);
    work++;
  }
  if (build.stackCount > 0) return false;
  release(build.stack);
  release(build.order);
  release(build.primitives);
  build.stack = build.order = 0;
  build.primitives = build.spare;
  build.spare = 0;
  return true;
}

/** Finds the first place from `start` to `end` whose code has a bit, above which all codes agree. */
function firstWithBit(order: usize, start: u32, end: u32, bit: i32): u32 {
  let low = start, high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyedAt(order, middle).key >> bit & 1) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Begins a group of the cells that come next, up to a place in the order. */
function addGroup(build: Build, end: u32): void {
  const index = build.groupCount++;
  build.groups = reserve(build.groups, <usize>index * PRIMITIVE_BYTES, <u64>build.groupCount * PRIMITIVE_BYTES);
  const group = primitiveAt(build.groups, index);
  group.low = setTag(emptyLow(), build.cellCount);
  group.high = setTag(emptyHigh(), end - build.groupEnd);
  build.groupEnd = end;
}

/** Adds a cell, and brings its primitives to where they are in the order: so they lie together when cells are looked into. */
function addCell(build: Build, start: u32, end: u32): void {
  const index = build.cellCount++;
  build.cells = reserve(build.cells, <usize>index * PRIMITIVE_BYTES, <u64>build.cellCount * PRIMITIVE_BYTES);
  let low = emptyLow(), high = emptyHigh();
  for (let i = start; i < end; i++) {
    const p = primitiveAt(build.primitives, keyedAt(build.order, i).primitive), to = primitiveAt(build.spare, i);
    to.low = p.low;
    to.high = p.high;
    low = f32x4.pmin(low, p.low);
    high = f32x4.pmax(high, p.high);
  }
  const cell = primitiveAt(build.cells, index);
  cell.low = setTag(low, start);
  cell.high = setTag(high, end - start);
  if (build.groupCount == 0) return;
  const group = primitiveAt(build.groups, build.groupCount - 1);
  group.low = setTag(f32x4.pmin(low, group.low), tagOf(group.low));
  group.high = setTag(f32x4.pmax(high, group.high), tagOf(group.high));
}

/**
 * Copies to `to`, in their order, what cells from `start` to `end` are made of, or groups: those of `below` that follow one another
 * and have as many triangles. Answers how many these are.
 */
export function copyBelow(cells: usize, start: u32, end: u32, below: usize, to: usize): u32 {
  let at = to;
  for (let c = start; c < end; c++) {
    const cell = primitiveAt(cells, c), count = tagOf(cell.high);
    for (let i = tagOf(cell.low), copied: u32 = 0; copied < count; i++) {
      const p = primitiveAt(below, i), high = p.high;
      v128.store(at, p.low);
      v128.store(at, high, 16);
      at += PRIMITIVE_BYTES;
      copied += tagOf(high);
    }
  }
  return <u32>((at - to) / PRIMITIVE_BYTES);
}
