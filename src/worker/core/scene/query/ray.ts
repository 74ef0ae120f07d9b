// Casts rays against the scene: a descent of all octrees, nearest cell first, by slab tests of four boxes at a time
// (Kay and Kajiya, "Ray Tracing Complex Scenes", 1986), then against shapes in their own space (ray-hit.ts). Boxes are
// padded in float32, and conservative; hits are float64. World units.

import { PRECISION_MESH, PRECISION_OBB } from '../../../../shared/layout';
import { lineMisses, lineMissesMap } from '../../math/obb-sat-f32';
import { clip, enter, interval, leave, reciprocals, upward } from '../../math/interval';
import { lane0, lane1, lane2 } from '../../math/lanes';
import { laneCompaction } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { ANY, NEAREST } from '../../mesh/query/ray';
import { passOver, precision, sidesOf } from './filter';
import { boxAt, itemAt, orientedBounds, pointLineCount, sceneOriginX, sceneOriginY, sceneOriginZ, slotOf } from '../objects';
import {
  BLOCK_BYTES, Cell, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, proxyAt, readPlace, slotAt, treeOf,
} from '../index/octree';
import { castObject } from './ray-hit';
import {
  approach, beginRay, clipRay, directionX, directionY, directionZ, foundDistance, foundObject, mode, originX, originY, originZ, tMin,
  unclipRay,
} from './ray-line';
import { boundsIn } from '../index/bounding-spheres';
import { castThickRays } from './thick-ray';

export {
  findNormal, foundBone, foundDistanceToRay, foundElement, foundNormalX, foundNormalY, foundNormalZ, foundTriangle, foundU, foundV, foundW,
  pointX, pointY, pointZ,
} from './ray-hit';
export { foundObject, hitDistance } from './ray-line';
export { setCone } from './ray-point-line';

let stack: usize = 0;
/** Whether what stands for an object is within its oriented bounds. */
let oriented: bool = true;

/**
 * Finds the nearest hit, into found*, without its normal. Answers false if there is none. With ANY, finds a hit that
 * need not be the nearest; with ALL, writes every hit to hits.ts and nothing to found*. The direction must not be zero;
 * lengths are in world units. The filter must be set before. Throws OUT_OF_MEMORY.
 */
export function castRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32,
): bool {
  castSurfaces(ox, oy, oz, dx, dy, dz, from, to, asked);
  if (pointLineCount != 0 && precision == PRECISION_MESH && !(asked == ANY && foundObject != 0)) castThickRays();
  return foundObject != 0;
}

/**
 * Does what `castRay` does, but with all points and lines left out. `first`: an object that is likely to be hit, which is asked
 * before the others; or 0. Throws OUT_OF_MEMORY.
 */
export function castSurfaces(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32, first: u32 = 0,
): bool {
  beginRay(ox, oy, oz, dx, dy, dz, from, to, asked);
  oriented = precision == PRECISION_MESH || precision == PRECISION_OBB;
  let reach: f32 = 0;
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = boundsIn(which);
    if (!isEmpty(tree)) reach = max(reach, reachOf(cellAt(tree, 0)));
  }
  approach(sceneOriginX, sceneOriginY, sceneOriginZ, reach);
  const isLeft = clipRay();
  if (isLeft && first != 0) {
    castAtObject(first);
    passOver(first);
  }
  for (let which: u32 = 0; isLeft && which < TREE_COUNT && !(asked == ANY && foundObject != 0); which++) {
    castTree(boundsIn(which));
  }
  if (first != 0) passOver(0);
  // Points and lines are cut by where they are themselves.
  unclipRay();
  return foundObject != 0;
}

function castAtObject(id: u32): void {
  const box = boxAt(slotOf(id));
  const tree = treeOf(box.tree);
  const proxy = readPlace(tree, box.position);
  const sides = sidesOf(proxy);
  if (sides != 0) castObject(proxy, tree, box.position, sides);
}

/**
 * The padding relative to the largest coordinate: 2^-18, as for BOX_PADDING (mesh/tree/layout.ts) but without a
 * rotation and steps of bounds.
 */
const PADDING: f32 = 3.814697265625e-6;

/** Casts the ray at the objects of a tree. Throws OUT_OF_MEMORY. */
function castTree(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
  const hasProxies = tree.proxies != 0;
  const px = originX - sceneOriginX, py = originY - sceneOriginY, pz = originZ - sceneOriginZ;
  const padding = reachOf(root) * PADDING;
  const slack = <f64>padding + (abs(px) + abs(py) + abs(pz)) * 3.552713678800501e-15;
  let part = interval(tMin, foundDistance);
  part = clip(part, px, directionX, root.lowX - slack, root.highX + slack);
  part = clip(part, py, directionY, root.lowY - slack, root.highY + slack);
  part = clip(part, pz, directionZ, root.lowZ - slack, root.highZ + slack);
  const from = enter(part);
  const end = leave(part);
  if (!(from <= end)) return;
  const point = f32x4(
    <f32>(px + from * directionX), <f32>(py + from * directionY), <f32>(pz + from * directionZ), 0,
  );
  const along = f32x4(<f32>directionX, <f32>directionY, <f32>directionZ, 1);
  const inverse = reciprocals(along);
  const signs = i32x4.bitmask(inverse);
  // The ray's origin moved by the padding for one bound and the other: the same as boxes that are larger.
  const aside = v128.or(f32x4.splat(padding), v128.and(inverse, i32x4.splat(i32.MIN_VALUE)));
  const near = f32x4.add(point, aside), far = f32x4.sub(point, aside);
  const nearX = lane0(near), nearY = lane1(near), nearZ = lane2(near);
  const farX = lane0(far), farY = lane1(far), farZ = lane2(far);
  const invX = lane0(inverse), invY = lane1(inverse), invZ = lane2(inverse);
  const alongX = lane0(along), alongY = lane1(along), alongZ = lane2(along);
  // Where in a block the bounds are that the ray passes first, and last.
  const firstX: usize = signs & 1 ? 48 : 0, firstY: usize = signs & 2 ? 64 : 16, firstZ: usize = signs & 4 ? 80 : 32;
  const lastX: usize = 48 - firstX, lastY: usize = 80 - firstY, lastZ: usize = 112 - firstZ;
  let limit = upward(end - from);

  // What float64 leaves uncertain of where the ray enters.
  const blur = (abs(originX) + abs(originY) + abs(originZ) + abs(from)) * 8.881784197001252e-16; // 2^-50
  const enterX = originX + from * directionX;
  const enterY = originY + from * directionY;
  const enterZ = originZ + from * directionZ;

  // An entry: the first of eight children, those of them that are still to be visited, and where the ray enters each.
  // There are never more than cells with children.
  if (stack == 0 || root.firstChild != 0) stack = reserve(stack, 0, <u64>(tree.childBlockCount + 2) * (ENTRY_BYTES >> 1));
  // Children are visited by octant, from where the ray comes: octant ^ flip.
  const flip: u32 = signs & 7;
  let top = stack - ENTRY_BYTES;
  let cell = root;
  while (true) {
    for (let start = cell.start; start < cell.ownEnd; start += LISTED) {
      // What the ray may meet, as a list: fewer branches that nobody can foresee.
      const stop = min(cell.ownEnd, start + LISTED);
      let listed: usize = 0;
      let positions = i32x4.add(i32x4.splat(start), i32x4(0, 1, 2, 3));
      for (let block = blockAt(tree, start), end = blockAt(tree, stop); block < end; block += BLOCK_BYTES) {
        const first = firstOf(block, firstX, firstY, firstZ, nearX, nearY, nearZ, invX, invY, invZ);
        const last = lastOf(block, lastX, lastY, lastZ, farX, farY, farZ, invX, invY, invZ, limit);
        const bits = i32x4.bitmask(f32x4.le(first, last));
        v128.store(listedDistances + listed, v128.swizzle(first, laneCompaction(bits)));
        v128.store(listedPositions + listed, v128.swizzle(positions, laneCompaction(bits)));
        positions = i32x4.add(positions, i32x4.splat(4));
        listed += popcnt(bits) << 2;
      }
      if (!hasProxies && listed > FEW_LISTED) readAhead(tree, listed);
      for (let i: usize = 0; i < listed; i += 4) {
        const position = load<u32>(listedPositions + i);
        if (load<f32>(listedDistances + i) > limit) continue;
        if (oriented) {
          if (hasProxies) {
            const p = proxyAt(tree, position);
            const x = enterX - p.x, y = enterY - p.y, z = enterZ - p.z;
            if (lineMisses(p.form(), x, y, z, blur, alongX, alongY, alongZ)) continue;
          } else {
            const box = orientedBounds(slotAt(tree, position));
            const x = enterX - box.tx, y = enterY - box.ty, z = enterZ - box.tz;
            if (lineMissesMap(box, x, y, z, blur, alongX, alongY, alongZ)) continue;
          }
        }
        const proxy = readPlace(tree, position);
        const sides = sidesOf(proxy);
        if (sides == 0) continue;
        castObject(proxy, tree, position, sides);
        if (foundObject == 0) continue;
        if (mode == ANY) return;
        limit = min(limit, upward(foundDistance - from));
      }
    }
    if (cell.firstChild != 0) {
      const block = childBlocksAt(tree, cell);
      const next = block + BLOCK_BYTES;
      const near0 = firstOf(block, firstX, firstY, firstZ, nearX, nearY, nearZ, invX, invY, invZ);
      const far0 = lastOf(block, lastX, lastY, lastZ, farX, farY, farZ, invX, invY, invZ, limit);
      const near1 = firstOf(next, firstX, firstY, firstZ, nearX, nearY, nearZ, invX, invY, invZ);
      const far1 = lastOf(next, lastX, lastY, lastZ, farX, farY, farZ, invX, invY, invZ, limit);
      const met = i32x4.bitmask(f32x4.le(near0, far0)) | (i32x4.bitmask(f32x4.le(near1, far1)) << 4);
      if (met != 0) {
        top += ENTRY_BYTES;
        store<u32>(top, cell.firstChild);
        store<u32>(top, flipped(met, flip), 4);
        v128.store(top, near0, 16);
        v128.store(top, near1, 32);
      }
    }
    let child: u32 = 0;
    do {
      if (top < stack) return;
      const waiting = load<u32>(top, 4);
      const octant = ctz(waiting) ^ flip;
      const rest = waiting & (waiting - 1);
      store<u32>(top, rest, 4);
      if (!(load<f32>(top + (<usize>octant << 2), 16) > limit)) child = load<u32>(top) + octant;
      if (rest == 0) top -= ENTRY_BYTES;
    } while (child == 0);
    cell = cellAt(tree, child);
  }
}

/** The bytes of a list that is not worth `readAhead`. */
const FEW_LISTED: usize = 8;
let ahead: u32 = 0;

/** Reads the records of what is listed, which are far apart, so that the caches are waited for once. */
function readAhead(tree: Tree, bytes: usize): void {
  let sum: u32 = 0;
  for (let i: usize = 0; i < bytes; i += 4) {
    const at = changetype<usize>(itemAt(slotAt(tree, load<u32>(listedPositions + i))));
    sum += load<u32>(at) + load<u32>(at, 64);
  }
  ahead = sum;
}

/** Answers the largest coordinate of a cell's bounds, about the scene's origin. */
// @ts-ignore: decorator
@inline
export function reachOf(cell: Cell): f32 {
  const at = changetype<usize>(cell);
  const some = f32x4.abs(v128.load(at, offsetof<Cell>('lowX'))), others = f32x4.abs(v128.load(at, offsetof<Cell>('lowZ')));
  const four = f32x4.pmax(some, others);
  const two = f32x4.pmax(four, v128.shuffle<f32>(four, four, 2, 3, 0, 1));
  return f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<f32>(two, two, 1, 0, 3, 2)), 0);
}

const ENTRY_BYTES: usize = 48;
const LISTED: u32 = 64;
// Four at a time are written, the last ones beyond those that are listed.
const LISTED_BYTES: i32 = <i32>LISTED * 4 + 16;
const listedDistances: usize = memory.data(LISTED_BYTES, 16);
const listedPositions: usize = memory.data(LISTED_BYTES, 16);

/** Finds where the ray enters each of four boxes, if it does, from 0 on. */
// @ts-ignore: decorator
@inline
function firstOf(
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
function lastOf(
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

/** Answers eight bits, each moved from its place i to i ^ flip. */
// @ts-ignore: decorator
@inline
function flipped(bits: u32, flip: u32): u32 {
  let b = bits;
  b = flip & 1 ? ((b & 0x55) << 1) | ((b >> 1) & 0x55) : b;
  b = flip & 2 ? ((b & 0x33) << 2) | ((b >> 2) & 0x33) : b;
  return flip & 4 ? ((b & 0x0f) << 4) | (b >> 4) : b;
}
