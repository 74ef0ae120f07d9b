// The phases of a build that sort triangles along a Morton curve and gather neighbours on it in cells: parts of an
// octree, subdivided along the curve, with a few triangles each. The upper levels of the tree are made of cells, as if
// each were one triangle, so that only the lower levels process all triangles (Ganestam, Barringer, Doggett and
// Akenine-Möller, "Bonsai: Rapid Bounding Volume Hierarchy Generation using Mini Trees", 2015).
//
// The full dragon's tree, one thread: splitting all of its triangles took 546 ms, with cells of 3 and parts of 256 it
// takes 290, including the sorting; rays visit 1.6 % more nodes.

import { allocate, release, reserve } from '../../memory';
import { emptyMax, emptyMin, PRIMITIVE_BYTES, primitiveAt, setTag, tagOf } from './binned-sah';
import { Build, PHASE_CELLS, PHASE_SORT } from './build-state';

/** The index of a triangle among the primitives, and the Morton code of its centre. */
@unmanaged
class KeyedTriangle {
  key: u32;
  primitive: u32;
}

const KEYED_BYTES: usize = offsetof<KeyedTriangle>();
/** Codes have ten bits per coordinate, and are sorted by ten bits at a time. */
const DIGIT_BITS: u32 = 10;
const DIGITS: usize = 1 << DIGIT_BITS;
const PASSES: u32 = 3;
const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
const KEY_STEPS: f32 = 1023.99;

/**
 * Cells have no more triangles than this, unless they have the same code. With 8 instead of 3, rays visit 1.2 % more
 * nodes of the small dragon, and 0.8 % more of the full one.
 */
const CELL_SIZE: u32 = 3;
const FAST_CELL_SIZE: u32 = 8;
/**
 * Beyond this many triangles, cells are gathered in groups of at most GROUP_SIZE triangles, from which the uppermost
 * levels are made: the full dragon is split in 0.8 of the time, and rays visit 1.3 % more nodes of it. With groups of
 * 64, they visit 3.2 % more.
 */
const MIN_GROUPED: u32 = 16384;
const GROUP_SIZE: u32 = 32;
/** Triangles that are sorted or gathered between two checks of the clock. */
const TRIANGLES_PER_STEP: u32 = 16384;

/** A pending range of the order that is to become cells, and the highest bit in which its codes may differ. */
@unmanaged
class OrderRange {
  start: u32;
  end: u32;
  bit: i32;
}

const ORDER_RANGE_BYTES: usize = offsetof<OrderRange>();
/** At most one more is pending per bit. */
const MAX_ORDER_RANGES: usize = 32;

// @ts-ignore: decorator
@inline
function keyedAt(order: usize, i: u32): KeyedTriangle {
  return changetype<KeyedTriangle>(order + i * <u32>KEYED_BYTES);
}

// --- codes ---

/** Allocates the arrays for the codes of all primitives. Throws OUT_OF_MEMORY. */
export function reserveOrder(build: Build): void {
  build.order = allocate(<u64>build.keptCount * KEYED_BYTES);
  build.spare = allocate(<u64>build.keptCount * KEYED_BYTES);
  build.digits = allocate(<u64>PASSES * DIGITS * 4);
  memory.fill(build.digits, 0, <usize>PASSES * DIGITS * 4);
}

/** Stores the code of primitive `i`, given twice its centre: the grid begins at `gridMin` and has `scale` cells per unit. */
// @ts-ignore: decorator
@inline
export function storeCode(build: Build, i: u32, doubledCenter: v128, gridMin: v128, scale: v128): void {
  const key = mortonCode(f32x4.mul(f32x4.sub(doubledCenter, gridMin), scale));
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

/** Returns the grid cells per unit of length in tree space, for coordinates that are twice a centre. */
export function codeScale(extent: f32): f32 {
  return extent > 0 ? KEY_STEPS / (2 * extent) : 0;
}

/** Interleaves the bits of three coordinates from 0 to 1023. */
// @ts-ignore: decorator
@inline
function mortonCode(gridPosition: v128): u32 {
  let v = i32x4.trunc_sat_f32x4_u(gridPosition);
  v = v128.and(v128.or(v, i32x4.shl(v, 16)), i32x4.splat(0x030000ff));
  v = v128.and(v128.or(v, i32x4.shl(v, 8)), i32x4.splat(0x0300f00f));
  v = v128.and(v128.or(v, i32x4.shl(v, 4)), i32x4.splat(0x030c30c3));
  v = v128.and(v128.or(v, i32x4.shl(v, 2)), i32x4.splat(0x09249249));
  return <u32>i32x4.extract_lane(v, 0) | (<u32>i32x4.extract_lane(v, 1) << 1) | (<u32>i32x4.extract_lane(v, 2) << 2);
}

// --- the order: a radix sort ---

/** Begins to sort, after all codes are stored. */
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

export function sortStep(build: Build): void {
  const end = min(build.cursor + TRIANGLES_PER_STEP, build.keptCount);
  const digitStarts = build.digits + build.sortPass * <u32>DIGITS * 4, shift = build.sortPass * DIGIT_BITS;
  for (let i = build.cursor; i < end; i++) {
    const keyed = load<u64>(build.order + <usize>i * KEYED_BYTES);
    const at = digitStarts + (<usize>((<u32>keyed >> shift) & DIGIT_MASK) << 2);
    const position = load<u32>(at);
    store<u32>(at, position + 1);
    store<u64>(build.spare + <usize>position * KEYED_BYTES, keyed);
  }
  build.cursor = end;
  if (end < build.keptCount) return;
  const sorted = build.spare;
  build.spare = build.order;
  build.order = sorted;
  build.cursor = 0;
  if (++build.sortPass < PASSES) return;
  release(build.spare);
  release(build.digits);
  // If an allocation fails below, the memory released here must not be released again.
  build.spare = build.digits = 0;
  build.spare = allocate(<u64>build.keptCount * PRIMITIVE_BYTES);
  build.stack = allocate(MAX_ORDER_RANGES * ORDER_RANGE_BYTES);
  build.stackCount = 0;
  pushOrderRange(build, 0, build.keptCount, PASSES * DIGIT_BITS - 1);
  build.phase = PHASE_CELLS;
}

// --- cells ---

function pushOrderRange(build: Build, start: u32, end: u32, bit: i32): void {
  if (start == end) return;
  const range = changetype<OrderRange>(build.stack + build.stackCount++ * <u32>ORDER_RANGE_BYTES);
  range.start = start;
  range.end = end;
  range.bit = bit;
}

/** Splits ranges of the order where a bit of the code changes, until each is a cell. Returns whether all are. */
export function gatherCells(build: Build): bool {
  let work: u32 = 0;
  const cellSize = build.isFast ? FAST_CELL_SIZE : CELL_SIZE;
  const groupSize: u32 = build.keptCount > MIN_GROUPED ? GROUP_SIZE : 0;
  while (build.stackCount > 0 && work < TRIANGLES_PER_STEP) {
    const range = changetype<OrderRange>(build.stack + --build.stackCount * <u32>ORDER_RANGE_BYTES);
    const start = range.start, end = range.end, bit = range.bit;
    if (groupSize > 0 && start >= build.groupEnd && (end - start <= groupSize || bit < 0)) addGroup(build, end);
    if (end - start <= cellSize || bit < 0) {
      addCell(build, start, end);
      work += end - start;
      continue;
    }
    const middle = firstWithBit(build.order, start, end, bit);
    pushOrderRange(build, middle, end, bit - 1);
    pushOrderRange(build, start, middle, bit - 1);
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

/** Finds the first index from `start` to `end` whose code has the bit set; all higher bits of the codes are equal. */
function firstWithBit(order: usize, start: u32, end: u32, bit: i32): u32 {
  let low = start, high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyedAt(order, middle).key >> bit & 1) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Begins a group of the next cells, up to an index in the order. */
function addGroup(build: Build, end: u32): void {
  const index = build.groupCount++;
  build.groups = reserve(build.groups, <usize>index * PRIMITIVE_BYTES, <u64>build.groupCount * PRIMITIVE_BYTES);
  const group = primitiveAt(build.groups, index);
  group.min = setTag(emptyMin(), build.cellCount);
  group.max = setTag(emptyMax(), end - build.groupEnd);
  build.groupEnd = end;
}

/**
 * Adds a cell, and copies its primitives to their positions in the order, so that they are contiguous when the cell is
 * opened.
 */
function addCell(build: Build, start: u32, end: u32): void {
  const index = build.cellCount++;
  build.cells = reserve(build.cells, <usize>index * PRIMITIVE_BYTES, <u64>build.cellCount * PRIMITIVE_BYTES);
  let cellMin = emptyMin(), cellMax = emptyMax();
  for (let i = start; i < end; i++) {
    const p = primitiveAt(build.primitives, keyedAt(build.order, i).primitive), to = primitiveAt(build.spare, i);
    to.min = p.min;
    to.max = p.max;
    cellMin = f32x4.pmin(cellMin, p.min);
    cellMax = f32x4.pmax(cellMax, p.max);
  }
  const cell = primitiveAt(build.cells, index);
  cell.min = setTag(cellMin, start);
  cell.max = setTag(cellMax, end - start);
  if (build.groupCount == 0) return;
  const group = primitiveAt(build.groups, build.groupCount - 1);
  group.min = setTag(f32x4.pmin(cellMin, group.min), tagOf(group.min));
  group.max = setTag(f32x4.pmax(cellMax, group.max), tagOf(group.max));
}

/**
 * Copies the contents of cells or groups from `start` to `end` to `to`, in their order: consecutive elements of `contents`
 * with as many triangles. Returns how many elements these are.
 */
export function copyContents(cells: usize, start: u32, end: u32, contents: usize, to: usize): u32 {
  let at = to;
  for (let c = start; c < end; c++) {
    const cell = primitiveAt(cells, c), count = tagOf(cell.max);
    for (let i = tagOf(cell.min), copied: u32 = 0; copied < count; i++) {
      const p = primitiveAt(contents, i), primitiveMax = p.max;
      v128.store(at, p.min);
      v128.store(at, primitiveMax, 16);
      at += PRIMITIVE_BYTES;
      copied += tagOf(primitiveMax);
    }
  }
  return <u32>((at - to) / PRIMITIVE_BYTES);
}
