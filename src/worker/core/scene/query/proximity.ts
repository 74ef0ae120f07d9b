// Answers the proximity queries: which objects a shape meets, which contain a point, and which is nearest to a point. The nearest
// is found by branch and bound, depth first and nearest cell first (Roussopoulos, Kelley and Vincent, "Nearest Neighbor Queries",
// 1995). Bounds of distances are float32 and never too great; distances are float64. World units. Each query is about all
// objects, or about those of a list: if its time is over, the untested objects are returned as such a list (result-ids.ts).

import {
  HIT_DISTANCE, HIT_ELEMENT, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, PRECISION_AABB, PRECISION_MESH, SHAPE_BOX, SHAPE_MESH,
  SHAPE_POINT_LINE,
} from '../../../../shared/layout';
import { Affine, relate } from '../../math/affine';
import { upward } from '../../math/interval';
import { noWitness } from '../../mesh/query/mesh-pair';
import { Mesh } from '../../mesh/tree/layout';
import { PointLine } from '../../point-line/layout';
import { pointLineMeets, pointLineMeetsMesh } from '../../point-line/overlap';
import { oneHoldsOther } from '../pairs/containment';
import { keeps } from './clipping';
import { isIgnored, precision, setFilter, sidesOf } from './filter';
import { MESH_WORK, addFound, addWaiting, askList, beginAsking, foundCount, mayAsk } from './result-ids';
import { shapesOverlap } from '../pairs/overlap-tests';
import { distanceTo, isAround, solidElement, solidTriangle, solidX, solidY, solidZ } from './closest-point';
import { idAt, itemAt, placedShapeAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  BLOCK_BYTES, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, readPlace, slotAt,
} from '../index/octree';
import { updateTrees } from '../scene';
import { PlacedShape, describedShape, mapOf } from '../../shape/placed-shape';
import { boundsIn } from '../index/bounding-spheres';
import {
  CELL_ENTRY_BYTES, beginCells, cellAtEntry, cellStack, childDistances, distanceAt, pushChildren,
} from '../index/cell-stack';
import { queryAabb, aabbAt, aabbCount } from './aabb-query';
import { VECTOR_BYTES } from '../../sizes';

const query = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Finds the objects that the described shape (layout.ts, OBJECT_*, with a matrix) meets, of all or of `count` ids at an address,
 * into result-ids.ts, up to a time of the clock. Returns their number. Throws OUT_OF_MEMORY.
 */
export function overlap(description: usize, filter: usize, ids: usize, count: u32, until: f64): u32 {
  updateTrees();
  setFilter(filter);
  beginAsking(until);
  if (ids == 0) {
    describedShape(query, description, PRECISION_AABB);
    queryAabb(query.tx, query.ty, query.tz, query.xx, query.yy, query.zz);
  }
  describedShape(query, description, PRECISION_MESH);
  return ask(ids, count, query.shape == SHAPE_MESH ? MESH_WORK : 1, meet);
}

/** Tests the objects of a list, or of `queryAabb`. Returns how many were found. */
function ask(ids: usize, count: u32, work: i32, look: (slot: u32) => void): u32 {
  if (ids != 0) askList(ids, count, work, look);
  else for (let i: u32 = 0; i < aabbCount; i++) {
    const slot = aabbAt(i);
    if (mayAsk(itemAt(slot).shape, work)) look(slot);
    else addWaiting(idAt(slot));
  }
  return foundCount;
}

function meet(slot: u32): void {
  placedShapeAt(solid, slot, precision);
  const isMet = solid.shape == SHAPE_POINT_LINE
    ? queryMeetsPointLine()
    : shapesOverlap(query, solid, noWitness()) || oneHoldsOther(query, solid);
  if (isMet) addFound(idAt(slot));
}

/** Returns whether the query's shape meets an object of points or lines. Throws OUT_OF_MEMORY. */
function queryMeetsPointLine(): bool {
  const mesh = changetype<PointLine>(<usize>solid.mesh);
  if (query.shape == SHAPE_MESH) {
    return pointLineMeetsMesh(mesh, mapOf(solid), changetype<Mesh>(<usize>query.mesh), mapOf(query), query.filled != 0);
  }
  relate(map, mapOf(query), mapOf(solid));
  return pointLineMeets(mesh, map, query.shape == SHAPE_BOX ? -1 : query.half);
}

/**
 * Finds the solid objects that contain the point, of all or of a list as in `overlap`, into result-ids.ts. Returns their number.
 * Throws OUT_OF_MEMORY.
 */
export function containing(x: f64, y: f64, z: f64, filter: usize, ids: usize, count: u32, until: f64): u32 {
  updateTrees();
  setFilter(filter);
  beginAsking(until);
  if (!keeps(x, y, z)) return 0;
  setPoint(x, y, z);
  if (ids == 0) {
    // The point is as exact as its coordinates (closest-point.ts).
    const blur = (abs(x) + abs(y) + abs(z)) * POINT_ROUNDING;
    queryAabb(x, y, z, blur, blur, blur);
  }
  return ask(ids, count, 1, surround);
}

function surround(slot: u32): void {
  placedShapeAt(solid, slot, precision);
  if (isAround(solid, pointX, pointY, pointZ)) addFound(idAt(slot));
}

/** How far a point may be off, relative to its coordinates: 2^-50, as closest-point.ts assumes for point and position. */
const POINT_ROUNDING: f64 = 8.881784197001252e-16;

let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

function setPoint(x: f64, y: f64, z: f64): void {
  pointX = x;
  pointY = y;
  pointZ = z;
}

// --- the nearest object ---

let nearestId: u32 = 0;
let nearestDistance: f64 = 0;
let nearestTriangle: i32 = -1;
let nearestElement: i32 = -1;
let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;

/**
 * Finds the nearest point of any object that is no farther than `maxDistance`, which is the distance of the object `best` unless
 * that is 0, and writes it to `hit` (HIT_*): of all objects or of a list, as in `overlap`. Returns false if there is none, or
 * none that is better. Throws OUT_OF_MEMORY.
 */
export function closestPoint(
  x: f64, y: f64, z: f64, maxDistance: f64, best: u32, filter: usize, hit: usize, ids: usize, count: u32, until: f64,
): bool {
  updateTrees();
  setFilter(filter);
  beginAsking(until);
  setPoint(x, y, z);
  nearestId = best;
  nearestDistance = maxDistance;
  if (ids != 0) askList(ids, count, 1, consider);
  else for (let which: u32 = 0; which < TREE_COUNT; which++) search(boundsIn(which));
  if (nearestId == best) return false;
  store<u32>(hit, nearestId, HIT_OBJECT);
  store<i32>(hit, nearestTriangle, HIT_TRIANGLE);
  store<i32>(hit, nearestElement, HIT_ELEMENT);
  store<f64>(hit, nearestDistance, HIT_DISTANCE);
  store<f64>(hit, x + nearestX, HIT_POINT);
  store<f64>(hit, y + nearestY, HIT_POINT + 8);
  store<f64>(hit, z + nearestZ, HIT_POINT + 16);
  return true;
}

function consider(slot: u32): void {
  const id = idAt(slot);
  if (isIgnored(id)) return;
  placedShapeAt(solid, slot, precision);
  const distance = distanceTo(solid, pointX, pointY, pointZ, nearestDistance);
  if (!(distance < nearestDistance || (distance == nearestDistance && (nearestId == 0 || id < nearestId)))) return;
  nearestId = id;
  nearestDistance = distance;
  nearestTriangle = solidTriangle;
  nearestElement = solidElement;
  nearestX = solidX;
  nearestY = solidY;
  nearestZ = solidZ;
}

/** Lower bounds of the distances of four boxes, f32. */
const nearness: usize = memory.data(VECTOR_BYTES, 16);
// Relative to the scene's origin and, like all lengths, times `unit`.
let atX: v128 = i32x4.splat(0), atY: v128 = i32x4.splat(0), atZ: v128 = i32x4.splat(0);
let unit: v128 = i32x4.splat(0);
const FARTHEST: f64 = 1e30; // as for bounds (objects.ts)
/** The bound of the rounding of a distance in float32, when the largest coordinate is 1: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/** Searches a tree for the nearest object: depth first, the nearest cell first. Throws OUT_OF_MEMORY. */
function search(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
  const x = max(min(pointX - sceneOriginX, FARTHEST), -FARTHEST);
  const y = max(min(pointY - sceneOriginY, FARTHEST), -FARTHEST);
  const z = max(min(pointZ - sceneOriginZ, FARTHEST), -FARTHEST);
  const low = min(min(root.lowX, root.lowY), root.lowZ), high = max(max(root.highX, root.highY), root.highZ);
  const largest = max(max(max(abs(x), abs(y)), abs(z)), max(<f64>max(abs(low), abs(high)), 1e-30));
  const scale = 1.0 / largest;
  atX = f32x4.splat(<f32>x);
  atY = f32x4.splat(<f32>y);
  atZ = f32x4.splat(<f32>z);
  unit = f32x4.splat(<f32>scale);
  let bound = boundOf(scale);
  let top = beginCells(tree);
  while (top != cellStack) {
    top -= CELL_ENTRY_BYTES;
    if (distanceAt(top) > bound) continue;
    const cell = cellAt(tree, cellAtEntry(top));
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      const near = distances(blockAt(tree, position));
      let bits = <u32>i32x4.bitmask(f32x4.le(near, f32x4.splat(bound)));
      if (bits == 0) continue;
      v128.store(nearness, near);
      for (; bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        if (load<f32>(nearness + (<usize>lane << 2)) > bound) continue;
        if (sidesOf(readPlace(tree, position + lane)) == 0) continue;
        const slot = slotAt(tree, position + lane);
        if (!mayAsk(itemAt(slot).shape, 1)) {
          addWaiting(idAt(slot));
          continue;
        }
        consider(slot);
        bound = boundOf(scale);
      }
    }
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    const four = distances(block), others = distances(block + BLOCK_BYTES);
    const most = f32x4.splat(bound);
    const bits = <u32>(i32x4.bitmask(f32x4.le(four, most)) | (i32x4.bitmask(f32x4.le(others, most)) << 4));
    v128.store(childDistances, four);
    v128.store(childDistances, others, VECTOR_BYTES);
    top = pushChildren(top, cell.firstChild, bits);
  }
}

// @ts-ignore: decorator
@inline
function boundOf(scale: f64): f32 {
  return upward(min(nearestDistance * scale, 1e30));
}

/** Returns lower bounds of the distances of four boxes, times `unit`. An empty box is infinitely far. */
// @ts-ignore: decorator
@inline
function distances(block: usize): v128 {
  const x = outside(v128.load(block), v128.load(block, 48), atX);
  const y = outside(v128.load(block, 16), v128.load(block, 64), atY);
  const z = outside(v128.load(block, 32), v128.load(block, 80), atZ);
  return f32x4.sqrt(f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z)));
}

// @ts-ignore: decorator
@inline
function outside(low: v128, high: v128, at: v128): v128 {
  const gap = f32x4.mul(f32x4.pmax(f32x4.sub(low, at), f32x4.sub(at, high)), unit);
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(f32x4.mul(gap, f32x4.splat(<f32>1.0 - ROUNDING)), f32x4.splat(ROUNDING)));
}
