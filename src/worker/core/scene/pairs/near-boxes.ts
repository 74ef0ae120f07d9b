// Gathers the objects near a leaf of the broad phase from both trees: boxes as six arrays of bytes, and the addresses of their
// proxies. Bounds are rounded to steps of the leaf's own bounds, and clamped to their ends. However bounds are rounded,
// overlapping ones still overlap in steps, since rounding is monotonic; pairs that overlap in steps alone, one in twelve, are
// found to be apart later. Frames of 10,000 rotating boxes take 0.99 of the time that they take with four floats per step.

import { laneCompaction, laneCompactionBytes } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { PROXY_BYTES, Proxy } from '../../shape/proxy';
import { BLOCK_BYTES, Cell, Tree, blockAt, cellAt, isEmpty, proxyAt } from '../index/octree';
import { boxAgainstFour, push, pushChildren, stack } from './box-descent';

export let near: usize = 0;
export let nearStride: usize = 0;
export let nearCount: usize = 0;
export let proxies: usize = 0;

/** Makes room for this many objects. Throws OUT_OF_MEMORY. */
export function reserveNear(count: u32): void {
  const bytes = ((<u64>count << 2) + 31) & ~15; // some more, since whole vectors are written and read
  nearStride = (<usize>count + 47) & ~15;
  near = reserve(near, 0, <u64>nearStride * 6);
  proxies = reserve(proxies, 0, bytes);
}

/** In floats from this number on, a step is the last bit: their last byte is the number of steps from the centre. */
const STEPS: f32 = 12582912; // 1.5 · 2^23
const MOST_STEPS: f32 = 127;
let stepsX: v128 = i32x4.splat(0), stepsY: v128 = i32x4.splat(0), stepsZ: v128 = i32x4.splat(0);

export function setGrid(leaf: Cell): void {
  stepsX = stepsOver(leaf.ownHighX - leaf.ownLowX);
  stepsY = stepsOver(leaf.ownHighY - leaf.ownLowY);
  stepsZ = stepsOver(leaf.ownHighZ - leaf.ownLowZ);
}

/** Returns the number of steps per unit, for bounds of a length. */
function stepsOver(length: f32): v128 {
  return f32x4.splat(min<f32>(2 * MOST_STEPS / length, 1e30));
}

// @ts-ignore: decorator
@inline
function inSteps(v: v128, low: v128, steps: v128): v128 {
  const at = f32x4.add(f32x4.mul(f32x4.sub(v, low), steps), f32x4.splat(STEPS - MOST_STEPS));
  return f32x4.pmin(f32x4.pmax(at, f32x4.splat(STEPS - MOST_STEPS)), f32x4.splat(STEPS + MOST_STEPS));
}

/** Gathers the objects of a tree at positions from `first` on that overlap a leaf's bounds. */
export function gather(leaf: Cell, tree: Tree, first: u32): void {
  if (isEmpty(tree) || leaf.start == leaf.ownEnd) return;
  const lowX = f32x4.splat(leaf.ownLowX), lowY = f32x4.splat(leaf.ownLowY), lowZ = f32x4.splat(leaf.ownLowZ);
  const highX = f32x4.splat(leaf.ownHighX), highY = f32x4.splat(leaf.ownHighY), highZ = f32x4.splat(leaf.ownHighZ);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= first) continue;
    if (
      cell.ownEnd > first &&
      cell.ownLowX <= leaf.ownHighX && cell.ownHighX >= leaf.ownLowX &&
      cell.ownLowY <= leaf.ownHighY && cell.ownHighY >= leaf.ownLowY &&
      cell.ownLowZ <= leaf.ownHighZ && cell.ownHighZ >= leaf.ownLowZ
    ) gatherFrom(leaf, tree, cell);
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Gathers the objects near the leaf among one cell's own objects. */
export function gatherFrom(leaf: Cell, tree: Tree, cell: Cell): void {
  const lowX = f32x4.splat(leaf.ownLowX), lowY = f32x4.splat(leaf.ownLowY), lowZ = f32x4.splat(leaf.ownLowZ);
  const highX = f32x4.splat(leaf.ownHighX), highY = f32x4.splat(leaf.ownHighY), highZ = f32x4.splat(leaf.ownHighZ);
  const stride = nearStride;
  let count = nearCount;
  let address = addresses(proxyAt(tree, cell.start));
  let block = blockAt(tree, cell.start);
  for (const last = blockAt(tree, cell.ownEnd); block < last; block += BLOCK_BYTES) {
    const bits = boxAgainstFour(block, lowX, lowY, lowZ, highX, highY, highZ);
    const bytes = laneCompactionBytes(bits);
    const to = near + count;
    addFour(to, inSteps(v128.load(block), lowX, stepsX), bytes);
    addFour(to + stride, inSteps(v128.load(block, 16), lowY, stepsY), bytes);
    addFour(to + 2 * stride, inSteps(v128.load(block, 32), lowZ, stepsZ), bytes);
    addFour(to + 3 * stride, inSteps(v128.load(block, 48), lowX, stepsX), bytes);
    addFour(to + 4 * stride, inSteps(v128.load(block, 64), lowY, stepsY), bytes);
    addFour(to + 5 * stride, inSteps(v128.load(block, 80), lowZ, stepsZ), bytes);
    v128.store(proxies + (count << 2), v128.swizzle(address, laneCompaction(bits)));
    count += popcnt(bits);
    address = i32x4.add(address, i32x4.splat(4 * <i32>PROXY_BYTES));
  }
  nearCount = count;
}

/** Drops all gathered objects from index `count` on. */
export function keepNear(count: usize): void {
  nearCount = count;
}

/** Writes a byte for each of the packed lanes: the last byte of the lane. */
// @ts-ignore: decorator
@inline
function addFour(to: usize, steps: v128, bytes: v128): void {
  v128.store32_lane(to, v128.swizzle(steps, bytes), 0);
}

/** Returns the addresses of four consecutive proxies, as a vector. */
function addresses(first: Proxy): v128 {
  const step = <i32>PROXY_BYTES;
  return i32x4.add(i32x4.splat(<i32>changetype<usize>(first)), i32x4(0, step, 2 * step, 3 * step));
}
