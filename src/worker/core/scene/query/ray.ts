// Casts rays against the scene: a descent of all octrees, nearest cell first, by slab tests of four boxes at a time (Kay and
// Kajiya, "Ray Tracing Complex Scenes", 1986), then against shapes in their own space (ray-hit.ts). Boxes are padded in float32,
// and conservative; hits are float64. World units.

import { PRECISION_MESH, PRECISION_OBB } from '../../../../shared/layout';
import { lineMisses, lineMissesMap } from '../../math/obb-sat-f32';
import { clipInlined, intervalStart, interval, intervalEnd, reciprocals, roundUp } from '../../math/interval';
import { reserve } from '../../memory';
import { ANY, NEAREST } from '../../mesh/query/ray';
import { setIgnoredObject, precision, sidesOf } from './filter';
import { boxAt, itemAt, orientedBounds, pointLineCount, sceneOriginX, sceneOriginY, sceneOriginZ, slotOf } from '../objects';
import {
  BLOCK_BYTES, Cell, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, proxyAt, maxCoordinateOf, readProxy, slotAt,
  treeOf,
} from '../index/octree';
import { castObject } from './ray-hit';
import {
  moveOriginNear, beginRay, clipRay, directionX, directionY, directionZ, foundDistance, foundObject, mode, originX, originY,
  originZ, tMin, unclipRay,
} from './ray-line';
import { treeAtPrecision } from '../index/bounding-spheres';
import { castThickRays } from './thick-ray';
import { VECTOR_BYTES } from '../../sizes';

export {
  findNormal, foundBone, foundDistanceToRay, foundElement, foundNormalX, foundNormalY, foundNormalZ, foundTriangle, foundU,
  foundV,
  foundW, pointX, pointY, pointZ,
} from './ray-hit';
export { foundObject, hitDistance } from './ray-line';
export { setCone } from './ray-point-line';

/** Whether the representation of an object is within its oriented bounds. */
let usesOrientedBounds: bool = true;

/**
 * Finds the nearest hit, into found*, without its normal. Returns false if there is none. With ANY, finds a hit that need not be
 * the nearest; with ALL, writes every hit to hits.ts and nothing to found*. The direction must not be zero; lengths are in world
 * units. The filter must be set before. Throws OUT_OF_MEMORY.
 */
export function castRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  hitMode: u32,
): bool {
  castSurfaces(ox, oy, oz, dx, dy, dz, from, to, hitMode);
  if (pointLineCount != 0 && precision == PRECISION_MESH && !(hitMode == ANY && foundObject != 0)) castThickRays();
  return foundObject != 0;
}

/**
 * Does the same as `castRay`, but ignores points and lines. `entryLanes`: an object that is likely to be hit, which is tested
 * before the others; or 0. Throws OUT_OF_MEMORY.
 */
export function castSurfaces(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  hitMode: u32, first: u32 = 0,
): bool {
  beginRay(ox, oy, oz, dx, dy, dz, from, to, hitMode);
  usesOrientedBounds = precision == PRECISION_MESH || precision == PRECISION_OBB;
  let extent: f32 = 0;
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) {
    const tree = treeAtPrecision(treeIndex);
    if (!isEmpty(tree)) extent = max(extent, maxCoordinateOf(cellAt(tree, 0)));
  }
  moveOriginNear(sceneOriginX, sceneOriginY, sceneOriginZ, extent);
  const hasInterval = clipRay();
  if (hasInterval && first != 0) {
    castAtObject(first);
    setIgnoredObject(first);
  }
  for (let treeIndex: u32 = 0; hasInterval && treeIndex < TREE_COUNT && !(hitMode == ANY && foundObject != 0); treeIndex++) {
    castTree(treeAtPrecision(treeIndex));
  }
  if (first != 0) setIgnoredObject(0);
  // Points and lines are clipped by their own positions.
  unclipRay();
  return foundObject != 0;
}

function castAtObject(id: u32): void {
  const box = boxAt(slotOf(id));
  castAtPosition(treeOf(box.tree), box.position);
}

/**
 * The padding relative to the largest coordinate: 2^-18, as for BOX_PADDING (mesh/tree/layout.ts), but without a rotation and
 * without quantized bounds.
 */
const PADDING: f32 = 3.814697265625e-6;

// Where the ray enters the tree: the parameter, the point in the world, and the bound of that point's rounding.
let entryT: f64 = 0;
let entryX: f64 = 0, entryY: f64 = 0, entryZ: f64 = 0;
let pointError: f64 = 0;
/** The direction, three f32. */
const directionAddress: usize = memory.data(VECTOR_BYTES, 16);
/** The limit if the ray misses a tree, or if one hit was enough. */
const NOTHING_LEFT: f32 = -Infinity;

/**
 * Casts the ray at the objects of a tree. Throws OUT_OF_MEMORY.
 *
 * A ray among 10,000 boxes visits 7 cells and 23 blocks of four boxes; the line test runs on 2.8 objects, and 1.3 are cast at.
 * With all data cached and every branch predicted it takes 0.6 of the time. Sorted rays take 0.95 of it, so they are not sorted;
 * 64 rays at once, as meshes have them, took 0.92 and 6 KB of code.
 */
function castTree(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
  // How far beyond the entry a hit still matters.
  let limit = enterTree(root);
  if (limit == NOTHING_LEFT) return;
  // There are never more entries than cells with children.
  if (stack == 0 || root.firstChild != 0) stack = reserve(stack, 0, <u64>(tree.childBlockCount + 2) * (ENTRY_BYTES >> 1));
  // Children are visited by octant, from the side that the ray comes from: octant ^ flip.
  const flip: u32 = i32x4.bitmask(v128.load(slabs, 32)) & 7;
  let top = stack - ENTRY_BYTES;
  let cell = root;
  while (true) {
    limit = castAtCellObjects(tree, cell, limit);
    if (limit == NOTHING_LEFT) return;
    const added = top + ENTRY_BYTES;
    const hitBits = intersectChildren(tree, cell, limit, added);
    if (hitBits != 0) {
      // The nearest child is visited at once, the others are pushed.
      const pending = flipped(hitBits, flip), others = pending & (pending - 1);
      store<u32>(added, cell.firstChild);
      store<u32>(added, others, ENTRY_PENDING);
      if (others != 0) top = added;
      cell = cellAt(tree, cell.firstChild + (ctz(pending) ^ flip));
      continue;
    }
    let child: u32 = 0;
    do {
      if (top < stack) return;
      const pending = load<u32>(top, ENTRY_PENDING), others = pending & (pending - 1), octant = ctz(pending) ^ flip;
      store<u32>(top, others, ENTRY_PENDING);
      if (!(load<f32>(top + (<usize>octant << 2), ENTRY_DISTANCES) > limit)) child = load<u32>(top) + octant;
      if (others == 0) top -= ENTRY_BYTES;
    } while (child == 0);
    cell = cellAt(tree, child);
  }
}

/**
 * Clips the ray to the bounds of a tree and prepares slab tests from there on. Returns its length within them, or NOTHING_LEFT.
 */
function enterTree(root: Cell): f32 {
  const px = originX - sceneOriginX, py = originY - sceneOriginY, pz = originZ - sceneOriginZ;
  const padding = maxCoordinateOf(root) * PADDING;
  const slack = <f64>padding + (abs(px) + abs(py) + abs(pz)) * 3.552713678800501e-15;
  let part = interval(tMin, foundDistance);
  part = clipInlined(part, px, directionX, root.minX - slack, root.maxX + slack);
  part = clipInlined(part, py, directionY, root.minY - slack, root.maxY + slack);
  part = clipInlined(part, pz, directionZ, root.minZ - slack, root.maxZ + slack);
  const from = intervalStart(part), end = intervalEnd(part);
  if (!(from <= end)) return NOTHING_LEFT;
  const point = f32x4(
    <f32>(px + from * directionX), <f32>(py + from * directionY), <f32>(pz + from * directionZ), 0,
  );
  const direction = f32x4(<f32>directionX, <f32>directionY, <f32>directionZ, 1);
  const inverse = reciprocals(direction);
  const signs = i32x4.bitmask(inverse);
  // The ray's origin is moved by the padding, for near and far bounds separately: the same as enlarging the boxes.
  const offset = v128.or(f32x4.splat(padding), v128.and(inverse, i32x4.splat(i32.MIN_VALUE)));
  v128.store(slabs, f32x4.add(point, offset));
  v128.store(slabs, f32x4.sub(point, offset), 16);
  v128.store(slabs, inverse, 32);
  store<u32>(slabs, signs & 1 ? 48 : 0, 48);
  store<u32>(slabs, signs & 2 ? 64 : 16, 52);
  store<u32>(slabs, signs & 4 ? 80 : 32, 56);
  v128.store(directionAddress, direction);
  entryT = from;
  entryX = originX + from * directionX;
  entryY = originY + from * directionY;
  entryZ = originZ + from * directionZ;
  pointError = (abs(originX) + abs(originY) + abs(originZ) + abs(from)) * 8.881784197001252e-16; // 2^-50
  return roundUp(end - from);
}

/** Casts the ray at the cell's own objects. Returns the new limit, or NOTHING_LEFT. */
// @ts-ignore: decorator
@inline
function castAtCellObjects(tree: Tree, cell: Cell, initialLimit: f32): f32 {
  let limit = initialLimit;
  for (let start = cell.start; start < cell.ownEnd; start += BATCH_SIZE) {
    // A bit mask of the objects that the ray may meet: fewer unpredictable branches.
    const stop = min(cell.ownEnd, start + BATCH_SIZE);
    let hitBits = intersectBoxes(blockAt(tree, start), blockAt(tree, stop), limit, distances);
    if (tree.proxies == 0 && popcnt(hitBits) > PREFETCH_MINIMUM) prefetch(tree, start, hitBits);
    for (; hitBits != 0; hitBits &= hitBits - 1) {
      const i = <u32>ctz(hitBits);
      if (load<f32>(distances + (<usize>i << 2)) > limit || (usesOrientedBounds && missesBounds(tree, start + i))) continue;
      castAtPosition(tree, start + i);
      if (foundObject == 0) continue;
      if (mode == ANY) return NOTHING_LEFT;
      limit = min(limit, roundUp(foundDistance - entryT));
    }
  }
  return limit;
}

/** Returns whether the line of the ray certainly misses the oriented bounds of an object. */
// @ts-ignore: decorator
@inline
function missesBounds(tree: Tree, position: u32): bool {
  const lineDirectionX = v128.load32_splat(directionAddress), lineDirectionY = v128.load32_splat(directionAddress, 4),
    lineDirectionZ = v128.load32_splat(directionAddress, 8);
  if (tree.proxies != 0) {
    const p = proxyAt(tree, position);
    return lineMisses(p.form(), entryX - p.x, entryY - p.y, entryZ - p.z, pointError, lineDirectionX, lineDirectionY,
      lineDirectionZ);
  }
  const box = orientedBounds(slotAt(tree, position));
  return lineMissesMap(box, entryX - box.tx, entryY - box.ty, entryZ - box.tz, pointError, lineDirectionX, lineDirectionY,
    lineDirectionZ);
}

// @ts-ignore: decorator
@inline
function castAtPosition(tree: Tree, position: u32): void {
  const proxy = readProxy(tree, position);
  const sides = sidesOf(proxy);
  if (sides != 0) castObject(proxy, tree, position, sides);
}

// --- the stack ---

/** An entry: the first of eight children, a bit mask of those still to be visited, and where the ray enters each. */
const ENTRY_BYTES: usize = 48;
const ENTRY_PENDING: usize = 4;
const ENTRY_DISTANCES: usize = 16;
let stack: usize = 0;

/** Returns a bit mask of the children of a cell that the ray meets, and writes where it enters them. */
// @ts-ignore: decorator
@inline
function intersectChildren(tree: Tree, cell: Cell, limit: f32, entryAddress: usize): u32 {
  if (cell.firstChild == 0) return 0;
  const block = childBlocksAt(tree, cell);
  return <u32>intersectBoxes(block, block + 2 * BLOCK_BYTES, limit, entryAddress + ENTRY_DISTANCES);
}

// --- boxes, four at a time ---

/** This many objects or fewer are not worth `prefetch`. */
const PREFETCH_MINIMUM: u64 = 2;
let prefetchSum: u32 = 0;

/** Reads the records of all objects that the ray may meet, which are far apart, so that their cache misses overlap. */
function prefetch(tree: Tree, start: u32, hitBits: u64): void {
  let sum: u32 = 0;
  for (let rest = hitBits; rest != 0; rest &= rest - 1) {
    const at = changetype<usize>(itemAt(slotAt(tree, start + <u32>ctz(rest))));
    sum += load<u32>(at) + load<u32>(at, 64);
  }
  prefetchSum = sum;
}

/** How many objects of a cell are tested together. */
const BATCH_SIZE: u32 = 64;
const distances: usize = memory.data(<i32>BATCH_SIZE * 4, 16);

/**
 * The ray's origin moved by the padding for near bounds, and for far ones; the reciprocals of its direction; the offsets in a
 * block of the bounds that it passes first.
 */
const slabs: usize = memory.data(64, 64);

/** Returns a bit mask of the boxes of some blocks that the ray meets, and writes where it enters each, as f32 at `out`. */
function intersectBoxes(from: usize, end: usize, limit: f32, out: usize): u64 {
  const firstX: usize = load<u32>(slabs, 48), firstY: usize = load<u32>(slabs, 52), firstZ: usize = load<u32>(slabs, 56);
  const lastX: usize = 48 - firstX, lastY: usize = 80 - firstY, lastZ: usize = 112 - firstZ;
  const nearX = v128.load32_splat(slabs), nearY = v128.load32_splat(slabs, 4), nearZ = v128.load32_splat(slabs, 8);
  const farX = v128.load32_splat(slabs, 16), farY = v128.load32_splat(slabs, 20), farZ = v128.load32_splat(slabs, 24);
  const invX = v128.load32_splat(slabs, 32), invY = v128.load32_splat(slabs, 36), invZ = v128.load32_splat(slabs, 40);
  let hitBits: u64 = 0, lane: u64 = 0;
  for (let block = from; block < end; block += BLOCK_BYTES) {
    const entryLanes = entryDistances(block, firstX, firstY, firstZ, nearX, nearY, nearZ, invX, invY, invZ);
    const exitLanes = exitDistances(block, lastX, lastY, lastZ, farX, farY, farZ, invX, invY, invZ, limit);
    v128.store(out + (<usize>lane << 2), entryLanes);
    hitBits |= <u64>i32x4.bitmask(f32x4.le(entryLanes, exitLanes)) << lane;
    lane += 4;
  }
  return hitBits;
}

/** Finds where the ray enters each of four boxes, if it does, from 0 on. */
// @ts-ignore: decorator
@inline
function entryDistances(
  block: usize, x: usize, y: usize, z: usize, fromX: v128, fromY: v128, fromZ: v128, invX: v128, invY: v128, invZ: v128,
): v128 {
  return f32x4.pmax(
    f32x4.pmax(
      f32x4.mul(f32x4.sub(v128.load(block + x), fromX), invX),
      f32x4.mul(f32x4.sub(v128.load(block + y), fromY), invY),
    ),
    f32x4.pmax(f32x4.mul(f32x4.sub(v128.load(block + z), fromZ), invZ), f32x4.splat(0)),
  );
}

/** Finds where the ray leaves each of four boxes, up to `limit`. */
// @ts-ignore: decorator
@inline
function exitDistances(
  block: usize, x: usize, y: usize, z: usize, fromX: v128, fromY: v128, fromZ: v128, invX: v128, invY: v128, invZ: v128,
  limit: f32,
): v128 {
  return f32x4.pmin(
    f32x4.pmin(
      f32x4.mul(f32x4.sub(v128.load(block + x), fromX), invX),
      f32x4.mul(f32x4.sub(v128.load(block + y), fromY), invY),
    ),
    f32x4.pmin(f32x4.mul(f32x4.sub(v128.load(block + z), fromZ), invZ), f32x4.splat(limit)),
  );
}

/** Returns eight bits, each moved from its index i to i ^ flip. */
// @ts-ignore: decorator
@inline
function flipped(bits: u32, flip: u32): u32 {
  let b = bits;
  b = flip & 1 ? ((b & 0x55) << 1) | ((b >> 1) & 0x55) : b;
  b = flip & 2 ? ((b & 0x33) << 2) | ((b >> 2) & 0x33) : b;
  return flip & 4 ? ((b & 0x0f) << 4) | (b >> 4) : b;
}
