// Finds the objects that a view sees (Assarsson and Möller, "Optimized View Frustum Culling Algorithms for Bounding
// Boxes", 2000): tests the corner of a box that is farthest along a plane's normal, and the nearest; planes that a cell is
// wholly inside of are not tested in its subtree. AABBs in float32 decide the clear cases, oriented bounds in float64 the
// rest.

import { Affine } from '../../math/affine';
import { reserve } from '../../memory';
import { itemAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { lastSlotCount } from './last-ids';
import {
  BLOCK_BYTES, Cell, SCATTERED, TREE_COUNT, Tree, blockAt, boundsAt, cellAt, childBlocksAt, isEmpty, proxyAt,
  slotAt,
  treeOf,
} from '../index/octree';
import { View, addBit, beginView, planeOf, setBit } from './views';
import { VECTOR_BYTES } from '../../sizes';

/** A plane in float32 relative to the scene's origin, with a bound on its rounding. */
@unmanaged
class PlaneF32 {
  x: f32; y: f32; z: f32; w: f32;
  error: f32;
  /**
   * The offsets in a block of the bounds that are farthest along the normal; the nearest bounds are 48 bytes before or
   * after.
   */
  farX: u32; farY: u32; farZ: u32;
}

/** The most planes of a view: as many as a lane has bits. */
const MAX_PLANES: i32 = 32;
const planes: usize = memory.data(MAX_PLANES * <i32>offsetof<PlaneF32>(), 16);
let planeCount: u32 = 0;
let currentView: View = changetype<View>(0);
let stack: usize = 0; // cell and the planes that still cross it

// @ts-ignore: decorator
@inline
function planeAt(i: u32): PlaneF32 {
  return changetype<PlaneF32>(planes + (<usize>i << 5));
}

export function cull(view: View): void {
  beginView(view, lastSlotCount);
  currentView = view;
  listedCount = 0; // the last call may have thrown
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) cullTree(treeOf(treeIndex));
}

function cullTree(tree: Tree): void {
  if (isEmpty(tree)) return;
  setPlanes(cellAt(tree, 0));
  if (planeCount == 0) {
    markSubtree(tree, 0);
    return;
  }
  let top = push(stack, 0, <u32>((<u64>1 << planeCount) - 1));
  let sum: u32 = 0;
  // The root itself is tested through its children; the root of a single-cell tree through its objects.
  while (top != stack) {
    top -= 8;
    const cell = cellAt(tree, load<u32>(top));
    const mask = load<u32>(top, 4);
    if (top != stack) sum += prefetch(tree, cellAt(tree, load<u32>(top - 8)));
    cullRange(tree, cell.start, cell.ownEnd, mask);
    if (cell.firstChild == 0) continue;
    for (let group: u32 = 0; group < 8; group += 4) {
      const block = childBlocksAt(tree, cell) + (group >> 2) * <u32>BLOCK_BYTES;
      let visible = i32x4.splat(-1);
      // For each child, the planes that still cross it, as bits of a lane.
      let crossed = i32x4.splat(0);
      for (let planeBits = mask; planeBits != 0; planeBits &= planeBits - 1) {
        const plane = planeAt(ctz(planeBits));
        const farthest = farthestOf(plane, block);
        visible = v128.and(visible, f32x4.ge(farthest, f32x4.splat(-plane.error)));
        if (!v128.any_true(visible)) break;
        const nearest = nearestOf(plane, block);
        crossed = v128.or(crossed, v128.and(f32x4.lt(nearest, f32x4.splat(plane.error)), i32x4.splat(planeBits & -planeBits)));
      }
      let bits = i32x4.bitmask(visible) & 15;
      if (bits == 0) continue;
      v128.store(laneMasks, crossed);
      while (bits != 0) {
        const lane = ctz(bits);
        bits &= bits - 1;
        const childIndex = cell.firstChild + group + lane;
        const remaining = load<u32>(laneMasks + (<usize>lane << 2));
        if (remaining == 0) {
          markSubtree(tree, childIndex);
        } else {
          top = push(top, childIndex, remaining);
          sum += cellAt(tree, childIndex).start;
        }
      }
    }
  }
  prefetchSum = sum;
  testListed(tree);
}

/**
 * Reads the data of the next cell of the stack while the current one is processed: for a million objects nearly none of it
 * is cached. Culling these takes 2.0 ms instead of 2.3.
 */
// @ts-ignore: decorator
@inline
function prefetch(tree: Tree, cell: Cell): u32 {
  let sum: u32 = 0;
  if (cell.start != cell.ownEnd) {
    const block = blockAt(tree, cell.start);
    sum = load<u32>(block) + load<u32>(block, 64);
  }
  if (cell.firstChild != 0) {
    const blocks = childBlocksAt(tree, cell);
    sum += load<u32>(blocks) + load<u32>(blocks, 64) + load<u32>(blocks, 128);
  }
  return sum;
}

const laneMasks: usize = memory.data(VECTOR_BYTES, 16);

function push(top: usize, cell: u32, mask: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 8);
  store<u32>(stack + used, cell);
  store<u32>(stack + used, mask, 4);
  return stack + used + 8;
}

function setPlanes(root: Cell): void {
  planeCount = currentView.planeCount;
  const extent = max(
    max(max(abs(root.minX), abs(root.maxX)), max(abs(root.minY), abs(root.maxY))),
    max(abs(root.minZ), abs(root.maxZ)),
  );
  for (let i: u32 = 0; i < planeCount; i++) {
    const sourcePlane = planeOf(currentView, i);
    const plane = planeAt(i);
    plane.x = <f32>sourcePlane.x;
    plane.y = <f32>sourcePlane.y;
    plane.z = <f32>sourcePlane.z;
    plane.w = <f32>(sourcePlane.w + sourcePlane.x * sceneOriginX + sourcePlane.y * sceneOriginY + sourcePlane.z * sceneOriginZ);
    plane.farX = plane.x >= 0 ? 48 : 0;
    plane.farY = plane.y >= 0 ? 64 : 16;
    plane.farZ = plane.z >= 0 ? 80 : 32;
    plane.error = (<f32>3 * extent + abs(plane.w)) * <f32>4.76837158203125e-7; // 2^-21, three products and three sums
  }
}

/**
 * Returns the distances from a plane of those corners of four boxes that are farthest along its normal; `nearestOf`
 * returns those of the nearest corners.
 */
// @ts-ignore: decorator
@inline
function farthestOf(plane: PlaneF32, block: usize): v128 {
  return distancesFrom(plane, block + plane.farX, block + plane.farY, block + plane.farZ);
}

// @ts-ignore: decorator
@inline
function nearestOf(plane: PlaneF32, block: usize): v128 {
  return distancesFrom(plane, block + 48 - plane.farX, block + 80 - plane.farY, block + 112 - plane.farZ);
}

// @ts-ignore: decorator
@inline
function distancesFrom(plane: PlaneF32, atX: usize, atY: usize, atZ: usize): v128 {
  const x = f32x4.splat(plane.x), y = f32x4.splat(plane.y), z = f32x4.splat(plane.z), w = f32x4.splat(plane.w);
  return distances(x, y, z, w, atX, atY, atZ);
}

// @ts-ignore: decorator
@inline
function distances(x: v128, y: v128, z: v128, w: v128, atX: usize, atY: usize, atZ: usize): v128 {
  const sumXY = f32x4.add(f32x4.mul(x, v128.load(atX)), f32x4.mul(y, v128.load(atY)));
  return f32x4.add(f32x4.add(sumXY, f32x4.mul(z, v128.load(atZ))), w);
}

/**
 * Culls the objects of one cell, four at a time. Usually one plane crosses the cell, and its data are read once for all of
 * them.
 */
function cullRange(tree: Tree, start: u32, end: u32, mask: u32): void {
  const first = planeAt(ctz(mask));
  const x = f32x4.splat(first.x), y = f32x4.splat(first.y), z = f32x4.splat(first.z), w = f32x4.splat(first.w);
  const error = f32x4.splat(first.error);
  const atX = first.farX, atY = first.farY, atZ = first.farZ;
  for (let position = start; position < end; position += 4) {
    const block = blockAt(tree, position);
    let visible = f32x4.ge(distances(x, y, z, w, block + atX, block + atY, block + atZ), f32x4.neg(error));
    if (!v128.any_true(visible)) continue;
    let inside = f32x4.ge(distances(x, y, z, w, block + 48 - atX, block + 80 - atY, block + 112 - atZ), error);
    for (let planeBits = mask & (mask - 1); planeBits != 0; planeBits &= planeBits - 1) {
      const plane = planeAt(ctz(planeBits));
      visible = v128.and(visible, f32x4.ge(farthestOf(plane, block), f32x4.splat(-plane.error)));
      if (!v128.any_true(visible)) break;
      inside = v128.and(inside, f32x4.ge(nearestOf(plane, block), f32x4.splat(plane.error)));
    }
    let bits = i32x4.bitmask(visible);
    const insideBits = i32x4.bitmask(inside);
    while (bits != 0) {
      const lane = ctz(bits);
      bits &= bits - 1;
      if (!(load<u32>(tree.visibleLayers + (<usize>(position + lane) << 2)) & currentView.layers)) continue;
      if (insideBits & (1 << lane)) markInside(tree, position + lane);
      else listObject(tree, position + lane, mask);
    }
  }
}

function markSubtree(tree: Tree, index: u32): void {
  const cell = cellAt(tree, index);
  if (cell.end != SCATTERED) {
    markRange(tree, cell.start, cell.end);
    return;
  }
  markRange(tree, cell.start, cell.ownEnd);
  for (let i: u32 = 0; i < 8 && cell.firstChild != 0; i++) markSubtree(tree, cell.firstChild + i);
}

function markRange(tree: Tree, start: u32, end: u32): void {
  const layers = currentView.layers;
  for (let position = start; position < end; position++) {
    if (load<u32>(tree.visibleLayers + (<usize>position << 2)) & layers) markInside(tree, position);
  }
}

// @ts-ignore: decorator
@inline
function markInside(tree: Tree, position: u32): void {
  if (currentView.minPixels > 0 && isTooSmall(currentView, boundsAt(tree, position))) return;
  setBit(currentView.inside, slotAt(tree, position));
}

// Objects to be decided by oriented bounds: positions, and the planes that cross the cell.
const MAX_LISTED: u32 = 64;
const listedObjects: usize = memory.data(<i32>MAX_LISTED * 8, 16);
let listedCount: u32 = 0;
let prefetchSum: u32 = 0;

function listObject(tree: Tree, position: u32, mask: u32): void {
  const at = listedObjects + (<usize>listedCount << 3);
  listedCount++;
  store<u32>(at, position);
  store<u32>(at, mask, 4);
  if (listedCount == MAX_LISTED) testListed(tree);
}

/**
 * Decides the listed objects. It reads all needed data before it decides the first: most of the time is waiting for the
 * caches, and this way many reads are waited for at once.
 */
function testListed(tree: Tree): void {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < listedCount; i++) {
    const position = load<u32>(listedObjects + (<usize>i << 3));
    if (tree.proxies != 0) {
      const at = changetype<usize>(proxyAt(tree, position));
      sum += load<u32>(at) + load<u32>(at, 64) + load<u32>(at, 128);
    } else {
      const item = itemAt(slotAt(tree, position));
      // Its local bounds, too: each page has one, and culling a million objects takes 1.9 ms with it instead of 2.3.
      const local = <usize>(item.mesh != 0 ? item.mesh : item.primitive);
      sum += load<u32>(changetype<usize>(item)) + load<u32>(local) + load<u32>(local, 64);
    }
  }
  prefetchSum = sum;
  for (let i: u32 = 0; i < listedCount; i++) {
    const at = listedObjects + (<usize>i << 3);
    testOriented(tree, load<u32>(at), load<u32>(at, 4));
  }
  listedCount = 0;
}

/**
 * Decides whether a view sees an object, by its oriented bounds in float64. Planes that the cell is wholly inside of
 * cannot change the answer.
 */
function testOriented(tree: Tree, position: u32, mask: u32): void {
  const b = boundsAt(tree, position);
  // Whether the object is outside of a plane, and whether one crosses it, is unpredictable: branches would cost more.
  let isOutside: u32 = 0, isCrossed: u32 = 0;
  for (let planeBits = mask; planeBits != 0; planeBits &= planeBits - 1) {
    const plane = planeOf(currentView, ctz(planeBits));
    const distance = plane.x * b.tx + plane.y * b.ty + plane.z * b.tz + plane.w;
    const radius =
      abs(plane.x * b.xx + plane.y * b.xy + plane.z * b.xz) +
      abs(plane.x * b.yx + plane.y * b.yy + plane.z * b.yz) +
      abs(plane.x * b.zx + plane.y * b.zy + plane.z * b.zz);
    isOutside |= u32(distance < -radius);
    isCrossed |= u32(distance < radius);
  }
  if (isTooSmall(currentView, b)) return;
  const slot = slotAt(tree, position);
  addBit(currentView.crossing, slot, (isOutside ^ 1) & isCrossed);
  addBit(currentView.inside, slot, (isOutside | isCrossed) ^ 1);
}

/**
 * Returns whether the bounding sphere of the oriented bounds has fewer pixels across than requested, at the depth of its
 * centre.
 */
// @ts-ignore: decorator
@inline
export function isTooSmall(view: View, b: Affine): bool {
  return view.minPixels > 0 && pixelsAcross(view, b) < view.minPixels;
}

/**
 * Returns the pixels across the bounding sphere of the oriented bounds, at the depth of its centre; Infinity behind the
 * eye.
 */
export function pixelsAcross(view: View, b: Affine): f64 {
  const w = view.wx * b.tx + view.wy * b.ty + view.wz * b.tz + view.ww;
  if (w <= 0) return Infinity;
  // Half the longest diagonal: of |± x ± y ± z|, which differ if a shear makes the axes oblique.
  const xy = b.xx * b.yx + b.xy * b.yy + b.xz * b.yz;
  const xz = b.xx * b.zx + b.xy * b.zy + b.xz * b.zz;
  const yz = b.yx * b.zx + b.yy * b.zy + b.yz * b.zz;
  const oblique = max(max(xy + xz + yz, xy - xz - yz), max(xz - xy - yz, yz - xy - xz));
  const diameter = 2.0 * sqrt(
    b.xx * b.xx + b.xy * b.xy + b.xz * b.xz +
    b.yx * b.yx + b.yy * b.yy + b.yz * b.yz +
    b.zx * b.zx + b.zy * b.zy + b.zz * b.zz +
    2.0 * oblique,
  );
  return diameter * view.pixelsPerUnit / w;
}
