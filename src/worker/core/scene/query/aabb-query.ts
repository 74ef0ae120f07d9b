// Finds the objects whose bounds overlap an axis-aligned box of the world: a descent of all octrees that tests four
// boxes at a time (the interval test of Ericson, "Real-Time Collision Detection", 2005, 4.2). Conservative: bounds are
// float32 relative to the scene's origin, rounded outwards; the caller decides by shape. World units.

import { reserve } from '../../memory';
import { isIgnored, sidesOf } from './filter';
import { roundUp, roundDown, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  BLOCK_BYTES, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, readProxy, slotAt,
} from '../index/octree';
import { treeAtPrecision } from '../index/bounding-spheres';

/** The slots that were found, in the order of the descent. */
let slots: usize = 0;
export let aabbCount: u32 = 0;
let stack: usize = 0;

// @ts-ignore: decorator
@inline
export function aabbAt(i: u32): u32 {
  return load<u32>(slots + (<usize>i << 2));
}

/**
 * Finds the objects that pass the filter and may reach into a box of the world, given by its centre and half size.
 * Throws OUT_OF_MEMORY.
 */
export function queryAabb(x: f64, y: f64, z: f64, hx: f64, hy: f64, hz: f64): void {
  aabbCount = 0;
  const cx = x - sceneOriginX, cy = y - sceneOriginY, cz = z - sceneOriginZ;
  minX = f32x4.splat(roundDown(cx - hx)); maxX = f32x4.splat(roundUp(cx + hx));
  minY = f32x4.splat(roundDown(cy - hy)); maxY = f32x4.splat(roundUp(cy + hy));
  minZ = f32x4.splat(roundDown(cz - hz)); maxZ = f32x4.splat(roundUp(cz + hz));
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) search(treeAtPrecision(treeIndex));
}

function add(slot: u32): void {
  slots = reserve(slots, aabbCount << 2, <u64>(aabbCount + 1) << 2);
  store<u32>(slots + (<usize>aabbCount << 2), slot);
  aabbCount++;
}

let minX: v128 = i32x4.splat(0), minY: v128 = i32x4.splat(0), minZ: v128 = i32x4.splat(0);
let maxX: v128 = i32x4.splat(0), maxY: v128 = i32x4.splat(0), maxZ: v128 = i32x4.splat(0);

/** Tests which of four boxes overlap the query's box; returns a bit mask. */
// @ts-ignore: decorator
@inline
function overlaps(block: usize): u32 {
  return <u32>i32x4.bitmask(v128.and(
    v128.and(
      v128.and(f32x4.le(v128.load(block), maxX), f32x4.ge(v128.load(block, 48), minX)),
      v128.and(f32x4.le(v128.load(block, 16), maxY), f32x4.ge(v128.load(block, 64), minY)),
    ),
    v128.and(f32x4.le(v128.load(block, 32), maxZ), f32x4.ge(v128.load(block, 80), minZ)),
  ));
}

function search(tree: Tree): void {
  if (isEmpty(tree)) return;
  // The stack never holds more entries than there are cells.
  stack = reserve(stack, 0, <u64>tree.cellCount << 2);
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      for (let bits = overlaps(blockAt(tree, position)); bits != 0; bits &= bits - 1) {
        const proxy = readProxy(tree, position + ctz(bits));
        if (sidesOf(proxy) != 0 && !isIgnored(proxy.id)) add(slotAt(tree, position + ctz(bits)));
      }
    }
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    for (let bits = overlaps(block) | (overlaps(block + BLOCK_BYTES) << 4); bits != 0; bits &= bits - 1) {
      store<u32>(top, cell.firstChild + ctz(bits));
      top += 4;
    }
  }
}
