// The descent of all octrees for a sweep, nearest cell first: the box around the shape moves along its way against boxes. It
// uses the slab test of a Minkowski sum, four boxes at a time in float32, conservative. core/sweep decides pairs. World units.

import { PRECISION_MESH, PRECISION_OBB, SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Support } from '../../contact/convex/support';
import { clip, enter, interval, leave, reciprocals, upward } from '../../math/interval';
import { lane0, lane1, lane2, leastOf } from '../../math/lanes';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { Proxy, boundsOf } from '../../shape/proxy';
import { angle, wayX, wayY, wayZ } from '../../sweep/motion';
import { writeMeeting } from '../../sweep/pair-sweep';
import { sweepPair } from '../../sweep/sweep';
import { boundsIn } from '../index/bounding-spheres';
import {
  CELL_ENTRY_BYTES, beginCells, cellAtEntry, cellStack, childDistances, distanceAt, pushChildren,
} from '../index/cell-stack';
import { BLOCK_BYTES, Cell, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, reachOf, readPlace, slotAt } from '../index/octree';
import { idAt, placedShapeAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { faceSidesOf, isIgnored, precision, sidesOf } from './filter';
import { passesBy, setRound } from './round-passing';
import { addCandidate } from './sweep-candidates';
import { addMeeting, best, clearBest, takeFirst } from './sweep-hit';
import { VECTOR_BYTES } from '../../sizes';

/** The shape at the start. */
export const shape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const other = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Whether all objects that are met are to be found, and not only the first. */
let wantsAll: bool = false;
/** Whether candidates are collected: objects that are met, and those whose test may take long. */
let areCandidates: bool = false;
/** The work that may still be done in one go (`workOf`), and whether there was more. */
let workLeft: f64 = 0;
let isTooLong: bool = false;

/** The centre of the box around the shape at the start, and its half size all the way. */
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
let sizeX: f64 = 0, sizeY: f64 = 0, sizeZ: f64 = 0;
/** Whether the shape is a sphere or capsule that does not turn, and objects are no larger than their oriented bounds. */
let isRound: bool = false;

/** Sets the box around the shape, by its centre and half size; `round` is the sphere or capsule, or 0. */
export function setMovingBox(round: Support, x: f64, y: f64, z: f64, halfX: f64, halfY: f64, halfZ: f64): void {
  middleX = x; middleY = y; middleZ = z;
  sizeX = halfX; sizeY = halfY; sizeZ = halfZ;
  isRound = changetype<usize>(round) != 0 && (precision == PRECISION_MESH || precision == PRECISION_OBB);
  if (isRound) setRound(round);
}

/** The work of a triangle if a box that does not turn is swept. */
const OF_BOX: f64 = 0.0625;
/** The work of an object without triangles if the shape turns. */
const OF_TURN: f64 = 4;

/** How far the moving box travels to each of four others, f32. */
const distances: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Finds what `shape` meets (sweep-hit.ts): the first object, or each of them with `all`, or likewise the candidates
 * (sweep-candidates.ts), some of which are still to be swept against. Returns false if there is more work than `most`
 * (`workOf`). Throws OUT_OF_MEMORY.
 */
export function descendTrees(all: bool, candidates: bool, most: f64): bool {
  wantsAll = all;
  areCandidates = candidates;
  workLeft = most;
  isTooLong = false;
  clearBest();
  for (let which: u32 = 0; which < TREE_COUNT && !isTooLong; which++) search(boundsIn(which));
  return !isTooLong;
}

/** Returns the work that an object counts for, by its triangles and those of the shape. */
// @ts-ignore: decorator
@inline
function workOf(it: PlacedShape): f64 {
  return trianglesOf(shape) + trianglesOf(it) + (angle != 0 ? OF_TURN : 1);
}

/** Returns how many triangles a shape counts for: a box that does not turn tests few, and a sphere or capsule none. */
function trianglesOf(it: PlacedShape): f64 {
  if (it.shape != SHAPE_MESH) return 0;
  const count = <f64>changetype<Mesh>(<usize>it.mesh).triangleCount;
  if (angle != 0 || shape.shape == SHAPE_MESH) return count;
  return shape.shape == SHAPE_BOX ? count * OF_BOX : 0;
}

/** The possible rounding error in float32, relative to the largest coordinate: 2⁻¹⁸ (ray.ts). */
const PADDING: f64 = 3.814697265625e-6;
/** More than float32 can delay the time at which bounds meet. */
const EARLIER: f64 = 1e-6;
/** A length that is long enough for any scene, so that nothing overflows. */
const LONGEST: f64 = 1e30;

// When the moving box enters the bounds of the tree, its distance per unit of time, and its distance within the bounds.
let entryTime: f64 = 0;
let speed: f64 = 0;
let whole: f64 = 0;

function search(tree: Tree): void {
  if (isEmpty(tree) || !enterTree(cellAt(tree, 0))) return;
  let top = beginCells(tree);
  while (top != cellStack) {
    top -= CELL_ENTRY_BYTES;
    if (distanceAt(top) > limit) continue;
    const cell = cellAt(tree, cellAtEntry(top));
    sweepAtOwn(tree, cell);
    if (isTooLong) return;
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    const bits = met(block, childDistances) | (met(block + BLOCK_BYTES, childDistances + VECTOR_BYTES) << 4);
    top = pushChildren(top, cell.firstChild, bits);
  }
}

/** Clips the way to the bounds of a tree and prepares slab tests from there on. Returns false if it misses them. */
function enterTree(root: Cell): bool {
  const px = middleX - sceneOriginX, py = middleY - sceneOriginY, pz = middleZ - sceneOriginZ;
  const slack = (abs(middleX) + abs(middleY) + abs(middleZ) + sizeX + sizeY + sizeZ) * 3.552713678800501e-15;
  const hx = sizeX + slack, hy = sizeY + slack, hz = sizeZ + slack;
  let part = interval(0, best);
  part = clip(part, px, wayX, root.lowX - hx, root.highX + hx);
  part = clip(part, py, wayY, root.lowY - hy, root.highY + hy);
  part = clip(part, pz, wayZ, root.lowZ - hz, root.highZ + hz);
  const from = enter(part);
  if (!(from <= leave(part))) return false;
  const length = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ);
  const unit = length > 0 ? 1.0 / length : 0;
  const fx = px + from * wayX, fy = py + from * wayY, fz = pz + from * wayZ;
  const padding = (<f64>reachOf(root) + max(max(hx, hy), hz)) * PADDING;
  const along = f32x4(<f32>(wayX * unit), <f32>(wayY * unit), <f32>(wayZ * unit), 1);
  const inverse = reciprocals(along);
  const point = f32x4(<f32>fx, <f32>fy, <f32>fz, 0);
  const grown = f32x4(<f32>(hx + padding), <f32>(hy + padding), <f32>(hz + padding), 0);
  const low = f32x4.add(point, grown), high = f32x4.sub(point, grown);
  lowX = lane0(low); lowY = lane1(low); lowZ = lane2(low);
  highX = lane0(high); highY = lane1(high); highZ = lane2(high);
  byX = lane0(inverse); byY = lane1(inverse); byZ = lane2(inverse);
  entryTime = from;
  speed = length;
  whole = min((leave(part) - from) * length, LONGEST);
  limit = upward(whole);
  return true;
}

/** Sweeps against the cell's own objects, four at a time, the nearest of these first. */
// @ts-ignore: decorator
@inline
function sweepAtOwn(tree: Tree, cell: Cell): void {
  for (let position = cell.start; position < cell.ownEnd; position += 4) {
    let bits = met(blockAt(tree, position), distances);
    while (bits != 0) {
      const lane = leastOf(distances, bits), distance = load<f32>(distances + (<usize>lane << 2));
      bits &= ~(1 << lane);
      if (distance > limit) continue;
      sweepAtPlace(tree, position + lane, distance);
      if (isTooLong) return;
    }
  }
}

/** Sweeps against an object whose bounds the moving box meets at a distance, or makes it a candidate. */
// @ts-ignore: decorator
@inline
function sweepAtPlace(tree: Tree, position: u32, distance: f32): void {
  const proxy = readPlace(tree, position);
  if (isRound && tree.proxies != 0 && passesBy(proxy, middleX, middleY, middleZ, best)) return;
  const sides = sidesOf(proxy);
  if (sides == 0 || isIgnored(proxy.id)) return;
  const slot = slotAt(tree, position);
  if (precision == PRECISION_MESH && proxy.shape == SHAPE_BOX) placeBox(proxy);
  else placedShapeAt(other, slot, precision);
  const isMesh = shape.shape == SHAPE_MESH || other.shape == SHAPE_MESH;
  if (!isMesh || !areCandidates) workLeft -= workOf(other);
  if (areCandidates && (isMesh || workLeft < 0)) {
    const time = speed > 0 ? entryTime + <f64>distance / speed : 0;
    addCandidate(other, time * (1.0 - EARLIER), idAt(slot), sides, faceSidesOf(proxy));
    return;
  }
  if (workLeft < 0) {
    isTooLong = true;
    return;
  }
  if (!sweepPair(other, sides, faceSidesOf(proxy), wantsAll ? 1 : best)) return;
  take(idAt(slot));
  if (!wantsAll) limit = upward(min(max((best - entryTime) * speed, 0.0), whole));
}

/** Takes the meeting of the shape with `other`. */
function take(id: u32): void {
  if (areCandidates) writeMeeting(addCandidate(other, 0, id, 0, 0));
  if (!wantsAll) takeFirst(id);
  else if (!areCandidates) addMeeting(id);
}

/** Places a box, which equals its oriented bounds: the proxy has them at hand. */
// @ts-ignore: decorator
@inline
function placeBox(proxy: Proxy): void {
  boundsOf(proxy, mapOf(other));
  other.half = 0;
  other.shape = <u16>SHAPE_BOX;
  other.filled = 0;
  other.mesh = 0;
}

// --- boxes, four at a time ---

let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);
let byX: v128 = i32x4.splat(0), byY: v128 = i32x4.splat(0), byZ: v128 = i32x4.splat(0);
let limit: f32 = 0;

/** Returns a bit mask of which of four boxes the moving box meets, and writes how far it travels before. */
// @ts-ignore: decorator
@inline
function met(block: usize, to: usize): u32 {
  const ax = f32x4.mul(f32x4.sub(v128.load(block), lowX), byX), bx = f32x4.mul(f32x4.sub(v128.load(block, 48), highX), byX);
  const ay = f32x4.mul(f32x4.sub(v128.load(block, 16), lowY), byY), by = f32x4.mul(f32x4.sub(v128.load(block, 64), highY), byY);
  const az = f32x4.mul(f32x4.sub(v128.load(block, 32), lowZ), byZ), bz = f32x4.mul(f32x4.sub(v128.load(block, 80), highZ), byZ);
  const near = f32x4.pmax(
    f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmax(f32x4.pmin(az, bz), f32x4.splat(0)),
  );
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  v128.store(to, near);
  // An empty box has low greater than high.
  const isBox = f32x4.le(v128.load(block), v128.load(block, 48));
  return <u32>i32x4.bitmask(v128.and(isBox, f32x4.le(near, f32x4.pmin(far, f32x4.splat(limit)))));
}
