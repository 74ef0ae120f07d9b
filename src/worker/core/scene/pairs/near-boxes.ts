// Gathers the objects near a leaf of the broad phase from both trees: boxes as six arrays of bytes, and the addresses of their
// proxies. Bounds are rounded to steps of the leaf's own bounds, and clamped to their ends. However bounds are rounded,
// overlapping ones still overlap in steps, since rounding is monotonic; pairs that overlap in steps alone, one in twelve, are
// found to be apart later. Frames of 10,000 rotating boxes take 0.99 of the time that they take with four floats per step.

import { laneCompaction, laneCompactionBytes } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { PROXY_BYTES, Proxy } from '../../shape/proxy';
import { BLOCK_BYTES, Cell, Tree, blockAt, cellAt, isEmpty, proxyAt } from '../index/octree';
import { boxAgainstFour, push, pushChildren, stack } from './box-descent';

export let nearBounds: usize = 0;
export let nearStride: usize = 0;
export let nearCount: usize = 0;
export let nearProxies: usize = 0;

/** Makes room for this many objects. Throws OUT_OF_MEMORY. */
export function reserveNear(count: u32): void {
  const bytes = ((<u64>count << 2) + 31) & ~15; // some more, since whole vectors are written and read
  nearStride = (<usize>count + 47) & ~15;
  nearBounds = reserve(nearBounds, 0, <u64>nearStride * 6);
  nearProxies = reserve(nearProxies, 0, bytes);
}

/** In floats from this number on, a step is the last bit: their last byte is the number of steps from the centre. */
const STEPS_BASE: f32 = 12582912; // 1.5 · 2^23
const MAX_STEPS: f32 = 127;
let stepsX: v128 = i32x4.splat(0), stepsY: v128 = i32x4.splat(0), stepsZ: v128 = i32x4.splat(0);

export function setStepScale(leaf: Cell): void {
  stepsX = stepsPerUnit(leaf.ownMaxX - leaf.ownMinX);
  stepsY = stepsPerUnit(leaf.ownMaxY - leaf.ownMinY);
  stepsZ = stepsPerUnit(leaf.ownMaxZ - leaf.ownMinZ);
}

/** Returns the number of steps per unit, for bounds of a length. */
function stepsPerUnit(length: f32): v128 {
  return f32x4.splat(min<f32>(2 * MAX_STEPS / length, 1e30));
}

// @ts-ignore: decorator
@inline
function toSteps(v: v128, minBound: v128, steps: v128): v128 {
  const at = f32x4.add(f32x4.mul(f32x4.sub(v, minBound), steps), f32x4.splat(STEPS_BASE - MAX_STEPS));
  return f32x4.pmin(f32x4.pmax(at, f32x4.splat(STEPS_BASE - MAX_STEPS)), f32x4.splat(STEPS_BASE + MAX_STEPS));
}

/** Gathers the objects of a tree at positions from `firstPosition` on that overlap a leaf's bounds. */
export function gatherFromTree(leaf: Cell, tree: Tree, firstPosition: u32): void {
  if (isEmpty(tree) || leaf.start == leaf.ownEnd) return;
  const minX = f32x4.splat(leaf.ownMinX), minY = f32x4.splat(leaf.ownMinY), minZ = f32x4.splat(leaf.ownMinZ);
  const maxX = f32x4.splat(leaf.ownMaxX), maxY = f32x4.splat(leaf.ownMaxY), maxZ = f32x4.splat(leaf.ownMaxZ);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= firstPosition) continue;
    if (
      cell.ownEnd > firstPosition &&
      cell.ownMinX <= leaf.ownMaxX && cell.ownMaxX >= leaf.ownMinX &&
      cell.ownMinY <= leaf.ownMaxY && cell.ownMaxY >= leaf.ownMinY &&
      cell.ownMinZ <= leaf.ownMaxZ && cell.ownMaxZ >= leaf.ownMinZ
    ) gatherFromCell(leaf, tree, cell);
    top = pushChildren(top, tree, cell, minX, minY, minZ, maxX, maxY, maxZ);
  }
}

/** Gathers the objects near the leaf among one cell's own objects. */
export function gatherFromCell(leaf: Cell, tree: Tree, cell: Cell): void {
  const minX = f32x4.splat(leaf.ownMinX), minY = f32x4.splat(leaf.ownMinY), minZ = f32x4.splat(leaf.ownMinZ);
  const maxX = f32x4.splat(leaf.ownMaxX), maxY = f32x4.splat(leaf.ownMaxY), maxZ = f32x4.splat(leaf.ownMaxZ);
  const stride = nearStride;
  let count = nearCount;
  let address = addresses(proxyAt(tree, cell.start));
  let block = blockAt(tree, cell.start);
  for (const end = blockAt(tree, cell.ownEnd); block < end; block += BLOCK_BYTES) {
    const bits = boxAgainstFour(block, minX, minY, minZ, maxX, maxY, maxZ);
    const bytes = laneCompactionBytes(bits);
    const to = nearBounds + count;
    addFour(to, toSteps(v128.load(block), minX, stepsX), bytes);
    addFour(to + stride, toSteps(v128.load(block, 16), minY, stepsY), bytes);
    addFour(to + 2 * stride, toSteps(v128.load(block, 32), minZ, stepsZ), bytes);
    addFour(to + 3 * stride, toSteps(v128.load(block, 48), minX, stepsX), bytes);
    addFour(to + 4 * stride, toSteps(v128.load(block, 64), minY, stepsY), bytes);
    addFour(to + 5 * stride, toSteps(v128.load(block, 80), minZ, stepsZ), bytes);
    v128.store(nearProxies + (count << 2), v128.swizzle(address, laneCompaction(bits)));
    count += popcnt(bits);
    address = i32x4.add(address, i32x4.splat(4 * <i32>PROXY_BYTES));
  }
  nearCount = count;
}

/** Drops all gathered objects from index `count` on. */
export function truncateNear(count: usize): void {
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
