// The descent of all octrees for a sweep, nearest cell first: the box around the shape moves along its path against boxes. It
// uses the slab test of a Minkowski sum, four boxes at a time in float32, conservative. core/sweep decides pairs. World units.

import { PRECISION_MESH, PRECISION_OBB, SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Support } from '../../contact/convex/support';
import { clip, intervalStart, interval, intervalEnd, reciprocals, roundUp } from '../../math/interval';
import { lane0, lane1, lane2, indexOfMin } from '../../math/lanes';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { Proxy, boundsOf } from '../../shape/proxy';
import { angle, translationX, translationY, translationZ } from '../../sweep/motion';
import { writeContact } from '../../sweep/pair-sweep';
import { sweepPair } from '../../sweep/sweep';
import { treeAtPrecision } from '../index/bounding-spheres';
import {
  CELL_ENTRY_BYTES, beginCells, cellAtEntry, cellStack, childDistances, distanceAt, pushChildren,
} from '../index/cell-stack';
import {
  BLOCK_BYTES, Cell, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, maxCoordinateOf, readProxy, slotAt,
} from '../index/octree';
import { idAt, placedShapeAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { faceSidesOf, isIgnored, precision, sidesOf } from './filter';
import { missesBounds, setRoundShape } from './round-passing';
import { addCandidate } from './sweep-candidates';
import { addMeeting, bestTime, clearBest, updateBest } from './sweep-hit';
import { VECTOR_BYTES } from '../../sizes';

/** The shape at the start. */
export const shape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const target = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Whether all objects that are met are to be found, and not only the first. */
let wantsAll: bool = false;
/** Whether candidates are collected: objects that are met, and those whose test may take long. */
let collectsCandidates: bool = false;
/** The work that may still be done in one go (`workOf`), and whether there was more. */
let workLeft: f64 = 0;
let isOverBudget: bool = false;

/** The centre of the box around the shape at the start, and its half size along the whole path. */
let centerX: f64 = 0, centerY: f64 = 0, centerZ: f64 = 0;
let halfSizeX: f64 = 0, halfSizeY: f64 = 0, halfSizeZ: f64 = 0;
/** Whether the shape is a sphere or capsule that does not rotate, and objects are no larger than their oriented bounds. */
let isRound: bool = false;

/** Sets the box around the shape, by its centre and half size; `round` is the sphere or capsule, or 0. */
export function setMovingBox(round: Support, x: f64, y: f64, z: f64, halfX: f64, halfY: f64, halfZ: f64): void {
  centerX = x; centerY = y; centerZ = z;
  halfSizeX = halfX; halfSizeY = halfY; halfSizeZ = halfZ;
  isRound = changetype<usize>(round) != 0 && (precision == PRECISION_MESH || precision == PRECISION_OBB);
  if (isRound) setRoundShape(round);
}

/** The work of a triangle if a box that does not rotate is swept. */
const BOX_TRIANGLE_WORK: f64 = 0.0625;
/** The work of an object without triangles if the shape rotates. */
const ROTATION_WORK: f64 = 4;

/** How far the moving box travels to each of four others, f32. */
const distances: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Finds what `shape` meets (sweep-hit.ts): the first object, or each of them with `findAll`, or likewise the candidates
 * (sweep-candidates.ts), some of which are still to be swept against. Returns false if there is more work than `maxWork`
 * (`workOf`). Throws OUT_OF_MEMORY.
 */
export function descendTrees(findAll: bool, candidates: bool, maxWork: f64): bool {
  wantsAll = findAll;
  collectsCandidates = candidates;
  workLeft = maxWork;
  isOverBudget = false;
  clearBest();
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT && !isOverBudget; treeIndex++) search(treeAtPrecision(treeIndex));
  return !isOverBudget;
}

/** Returns the work that an object counts for, by its triangles and those of the shape. */
// @ts-ignore: decorator
@inline
function workOf(object: PlacedShape): f64 {
  return trianglesOf(shape) + trianglesOf(object) + (angle != 0 ? ROTATION_WORK : 1);
}

/** Returns how many triangles a shape counts for: a box that does not rotate tests few, and a sphere or capsule none. */
function trianglesOf(object: PlacedShape): f64 {
  if (object.shape != SHAPE_MESH) return 0;
  const count = <f64>changetype<Mesh>(<usize>object.mesh).triangleCount;
  if (angle != 0 || shape.shape == SHAPE_MESH) return count;
  return shape.shape == SHAPE_BOX ? count * BOX_TRIANGLE_WORK : 0;
}

/** The possible rounding error in float32, relative to the largest coordinate: 2⁻¹⁸ (ray.ts). */
const PADDING: f64 = 3.814697265625e-6;
/** More than float32 can delay the time at which bounds meet. */
const TIME_SLACK: f64 = 1e-6;
/** A length that is long enough for any scene, so that nothing overflows. */
const MAX_DISTANCE: f64 = 1e30;

// When the moving box enters the bounds of the tree, its distance per unit of time, and its distance within the bounds.
let entryTime: f64 = 0;
let speed: f64 = 0;
let pathLength: f64 = 0;

function search(tree: Tree): void {
  if (isEmpty(tree) || !enterTree(cellAt(tree, 0))) return;
  let top = beginCells(tree);
  while (top != cellStack) {
    top -= CELL_ENTRY_BYTES;
    if (distanceAt(top) > limit) continue;
    const cell = cellAt(tree, cellAtEntry(top));
    sweepAtCellObjects(tree, cell);
    if (isOverBudget) return;
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    const bits = intersectBoxes(block, childDistances) |
      (intersectBoxes(block + BLOCK_BYTES, childDistances + VECTOR_BYTES) << 4);
    top = pushChildren(top, cell.firstChild, bits);
  }
}

/** Clips the path to the bounds of a tree and prepares slab tests from there on. Returns false if it misses them. */
function enterTree(root: Cell): bool {
  const px = centerX - sceneOriginX, py = centerY - sceneOriginY, pz = centerZ - sceneOriginZ;
  const slack = (abs(centerX) + abs(centerY) + abs(centerZ) + halfSizeX + halfSizeY + halfSizeZ) * 3.552713678800501e-15;
  const hx = halfSizeX + slack, hy = halfSizeY + slack, hz = halfSizeZ + slack;
  let part = interval(0, bestTime);
  part = clip(part, px, translationX, root.minX - hx, root.maxX + hx);
  part = clip(part, py, translationY, root.minY - hy, root.maxY + hy);
  part = clip(part, pz, translationZ, root.minZ - hz, root.maxZ + hz);
  const from = intervalStart(part);
  if (!(from <= intervalEnd(part))) return false;
  const length = sqrt(translationX * translationX + translationY * translationY + translationZ * translationZ);
  const inverseLength = length > 0 ? 1.0 / length : 0;
  const fx = px + from * translationX, fy = py + from * translationY, fz = pz + from * translationZ;
  const padding = (<f64>maxCoordinateOf(root) + max(max(hx, hy), hz)) * PADDING;
  const direction = f32x4(<f32>(translationX * inverseLength), <f32>(translationY * inverseLength),
    <f32>(translationZ * inverseLength), 1);
  const inverse = reciprocals(direction);
  const point = f32x4(<f32>fx, <f32>fy, <f32>fz, 0);
  const paddedHalf = f32x4(<f32>(hx + padding), <f32>(hy + padding), <f32>(hz + padding), 0);
  const boxMax = f32x4.add(point, paddedHalf), boxMin = f32x4.sub(point, paddedHalf);
  movingMaxX = lane0(boxMax); movingMaxY = lane1(boxMax); movingMaxZ = lane2(boxMax);
  movingMinX = lane0(boxMin); movingMinY = lane1(boxMin); movingMinZ = lane2(boxMin);
  inverseX = lane0(inverse); inverseY = lane1(inverse); inverseZ = lane2(inverse);
  entryTime = from;
  speed = length;
  pathLength = min((intervalEnd(part) - from) * length, MAX_DISTANCE);
  limit = roundUp(pathLength);
  return true;
}

/** Sweeps against the cell's own objects, four at a time, the nearest of these first. */
// @ts-ignore: decorator
@inline
function sweepAtCellObjects(tree: Tree, cell: Cell): void {
  for (let position = cell.start; position < cell.ownEnd; position += 4) {
    let bits = intersectBoxes(blockAt(tree, position), distances);
    while (bits != 0) {
      const lane = indexOfMin(distances, bits), distance = load<f32>(distances + (<usize>lane << 2));
      bits &= ~(1 << lane);
      if (distance > limit) continue;
      sweepAtPosition(tree, position + lane, distance);
      if (isOverBudget) return;
    }
  }
}

/** Sweeps against an object whose bounds the moving box meets at a distance, or makes it a candidate. */
// @ts-ignore: decorator
@inline
function sweepAtPosition(tree: Tree, position: u32, distance: f32): void {
  const proxy = readProxy(tree, position);
  if (isRound && tree.proxies != 0 && missesBounds(proxy, centerX, centerY, centerZ, bestTime)) return;
  const sides = sidesOf(proxy);
  if (sides == 0 || isIgnored(proxy.id)) return;
  const slot = slotAt(tree, position);
  if (precision == PRECISION_MESH && proxy.shape == SHAPE_BOX) setBoxFromProxy(proxy);
  else placedShapeAt(target, slot, precision);
  const isMesh = shape.shape == SHAPE_MESH || target.shape == SHAPE_MESH;
  if (!isMesh || !collectsCandidates) workLeft -= workOf(target);
  if (collectsCandidates && (isMesh || workLeft < 0)) {
    const time = speed > 0 ? entryTime + <f64>distance / speed : 0;
    addCandidate(target, time * (1.0 - TIME_SLACK), idAt(slot), sides, faceSidesOf(proxy));
    return;
  }
  if (workLeft < 0) {
    isOverBudget = true;
    return;
  }
  if (!sweepPair(target, sides, faceSidesOf(proxy), wantsAll ? 1 : bestTime)) return;
  recordMeeting(idAt(slot));
  if (!wantsAll) limit = roundUp(min(max((bestTime - entryTime) * speed, 0.0), pathLength));
}

/** Records the meeting of the shape with `target`. */
function recordMeeting(id: u32): void {
  if (collectsCandidates) writeContact(addCandidate(target, 0, id, 0, 0));
  if (!wantsAll) updateBest(id);
  else if (!collectsCandidates) addMeeting(id);
}

/** Places a box, which equals its oriented bounds: the proxy has them at hand. */
// @ts-ignore: decorator
@inline
function setBoxFromProxy(proxy: Proxy): void {
  boundsOf(proxy, mapOf(target));
  target.half = 0;
  target.shape = <u16>SHAPE_BOX;
  target.filled = 0;
  target.mesh = 0;
}

// --- boxes, four at a time ---

let movingMaxX: v128 = i32x4.splat(0), movingMaxY: v128 = i32x4.splat(0), movingMaxZ: v128 = i32x4.splat(0);
let movingMinX: v128 = i32x4.splat(0), movingMinY: v128 = i32x4.splat(0), movingMinZ: v128 = i32x4.splat(0);
let inverseX: v128 = i32x4.splat(0), inverseY: v128 = i32x4.splat(0), inverseZ: v128 = i32x4.splat(0);
let limit: f32 = 0;

/** Returns a bit mask of which of four boxes the moving box meets, and writes how far it travels before. */
// @ts-ignore: decorator
@inline
function intersectBoxes(block: usize, to: usize): u32 {
  const ax = f32x4.mul(f32x4.sub(v128.load(block), movingMaxX), inverseX),
    bx = f32x4.mul(f32x4.sub(v128.load(block, 48), movingMinX), inverseX);
  const ay = f32x4.mul(f32x4.sub(v128.load(block, 16), movingMaxY), inverseY),
    by = f32x4.mul(f32x4.sub(v128.load(block, 64), movingMinY), inverseY);
  const az = f32x4.mul(f32x4.sub(v128.load(block, 32), movingMaxZ), inverseZ),
    bz = f32x4.mul(f32x4.sub(v128.load(block, 80), movingMinZ), inverseZ);
  const near = f32x4.pmax(
    f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmax(f32x4.pmin(az, bz), f32x4.splat(0)),
  );
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  v128.store(to, near);
  // An empty box has min greater than max.
  const isBox = f32x4.le(v128.load(block), v128.load(block, 48));
  return <u32>i32x4.bitmask(v128.and(isBox, f32x4.le(near, f32x4.pmin(far, f32x4.splat(limit)))));
}
