// Answers the proximity queries: which objects a shape meets, which contain a point, and which is nearest to a point. The nearest
// is found by branch and bound, depth first and nearest cell first (Roussopoulos, Kelley and Vincent, "Nearest Neighbor Queries",
// 1995). Bounds of distances are float32 and never too great; distances are float64. World units. Each query is about all
// objects, or about those of a list: if its time is over, the untested objects are returned as such a list (result-ids.ts).

import {
  HIT_DISTANCE, HIT_ELEMENT, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, PRECISION_AABB, PRECISION_MESH, SHAPE_BOX, SHAPE_MESH,
  SHAPE_POINT_LINE,
} from '../../../../shared/layout';
import { Affine, setRelative } from '../../math/affine';
import { roundUp } from '../../math/interval';
import { noWitness } from '../../mesh/query/mesh-pair';
import { Mesh } from '../../mesh/tree/layout';
import { PointLine } from '../../point-line/layout';
import { pointLineOverlapsShape, pointLineOverlapsMesh } from '../../point-line/overlap';
import { doesOneContainOther } from '../pairs/containment';
import { keepsPoint } from './clipping';
import { isIgnored, precision, setFilter, sidesOf } from './filter';
import { MESH_WORK, addFound, addWaiting, testList, beginTesting, foundCount, mayTest } from './result-ids';
import { shapesOverlap } from '../pairs/overlap-tests';
import {
  distanceTo, containsPoint, closestPointElement, closestPointTriangle, closestPointX, closestPointY, closestPointZ,
} from './closest-point';
import { idAt, itemAt, placedShapeAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  BLOCK_BYTES, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, readProxy, slotAt,
} from '../index/octree';
import { updateTrees } from '../scene';
import { PlacedShape, setDescribedShape, mapOf } from '../../shape/placed-shape';
import { refitPoseAndSums } from '../../skin/deform';
import { treeAtPrecision } from '../index/bounding-spheres';
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
export function overlap(description: usize, filter: usize, ids: usize, count: u32, deadline: f64): u32 {
  updateTrees();
  setFilter(filter);
  beginTesting(ids, deadline);
  if (ids == 0) {
    setDescribedShape(query, description, PRECISION_AABB);
    queryAabb(query.tx, query.ty, query.tz, query.xx, query.yy, query.zz);
  }
  setDescribedShape(query, description, PRECISION_MESH);
  return testObjects(ids, count, query.shape == SHAPE_MESH ? MESH_WORK : 1, testOverlap);
}

/** Tests the objects of a list, or of `queryAabb`. Returns how many were found. */
function testObjects(ids: usize, count: u32, work: i32, visit: (slot: u32) => void): u32 {
  if (ids != 0) testList(ids, count, work, visit);
  else for (let i: u32 = 0; i < aabbCount; i++) {
    const slot = aabbAt(i);
    if (mayTest(itemAt(slot).shape, work)) visit(slot);
    else addWaiting(idAt(slot));
  }
  return foundCount;
}

function testOverlap(slot: u32): void {
  placedShapeAt(solid, slot, precision);
  const overlaps = solid.shape == SHAPE_POINT_LINE
    ? queryOverlapsPointLine()
    : shapesOverlap(query, solid, noWitness()) || doesOneContainOther(query, solid);
  if (overlaps) addFound(idAt(slot));
}

/** Returns whether the query's shape meets an object of points or lines. Throws OUT_OF_MEMORY. */
function queryOverlapsPointLine(): bool {
  const mesh = changetype<PointLine>(<usize>solid.mesh);
  if (query.shape == SHAPE_MESH) {
    return pointLineOverlapsMesh(mesh, mapOf(solid), changetype<Mesh>(<usize>query.mesh), mapOf(query), query.filled != 0);
  }
  setRelative(map, mapOf(query), mapOf(solid));
  return pointLineOverlapsShape(mesh, map, query.shape == SHAPE_BOX ? -1 : query.half);
}

/**
 * Finds the solid objects that contain the point, of all or of a list as in `overlap`, into result-ids.ts. Returns their number.
 * Throws OUT_OF_MEMORY.
 */
export function containing(x: f64, y: f64, z: f64, filter: usize, ids: usize, count: u32, deadline: f64): u32 {
  updateTrees();
  setFilter(filter);
  beginTesting(ids, deadline);
  if (!keepsPoint(x, y, z)) return 0;
  setPoint(x, y, z);
  if (ids == 0) {
    // The point is as exact as its coordinates (closest-point.ts).
    const pointError = (abs(x) + abs(y) + abs(z)) * POINT_ROUNDING;
    queryAabb(x, y, z, pointError, pointError, pointError);
  }
  return testObjects(ids, count, 1, testContainment);
}

function testContainment(slot: u32): void {
  placedShapeAt(solid, slot, precision);
  // The test takes every mesh for a solid.
  if (solid.shape == SHAPE_MESH) refitPoseAndSums(changetype<Mesh>(<usize>solid.mesh));
  if (containsPoint(solid, pointX, pointY, pointZ)) addFound(idAt(slot));
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
 * Finds the nearest point of any object that is no farther than `maxDistance`, which is the distance of the object `bestId`
 * unless that is 0, and writes it to `hit` (HIT_*): of all objects or of a list, as in `overlap`. Returns false if there is
 * none, or none that is better. Throws OUT_OF_MEMORY.
 */
export function closestPoint(
  x: f64, y: f64, z: f64, maxDistance: f64, bestId: u32, filter: usize, hit: usize, ids: usize, count: u32, deadline: f64,
): bool {
  updateTrees();
  setFilter(filter);
  beginTesting(ids, deadline);
  setPoint(x, y, z);
  nearestId = bestId;
  nearestDistance = maxDistance;
  if (ids != 0) testList(ids, count, 1, visitObject);
  else for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) search(treeAtPrecision(treeIndex));
  if (nearestId == bestId) return false;
  store<u32>(hit, nearestId, HIT_OBJECT);
  store<i32>(hit, nearestTriangle, HIT_TRIANGLE);
  store<i32>(hit, nearestElement, HIT_ELEMENT);
  store<f64>(hit, nearestDistance, HIT_DISTANCE);
  store<f64>(hit, x + nearestX, HIT_POINT);
  store<f64>(hit, y + nearestY, HIT_POINT + 8);
  store<f64>(hit, z + nearestZ, HIT_POINT + 16);
  return true;
}

function visitObject(slot: u32): void {
  const id = idAt(slot);
  if (isIgnored(id)) return;
  placedShapeAt(solid, slot, precision);
  const distance = distanceTo(solid, pointX, pointY, pointZ, nearestDistance);
  if (distance == Infinity) return; // a pose may leave no triangle with an area
  if (!(distance < nearestDistance || (distance == nearestDistance && (nearestId == 0 || id < nearestId)))) return;
  nearestId = id;
  nearestDistance = distance;
  nearestTriangle = closestPointTriangle;
  nearestElement = closestPointElement;
  nearestX = closestPointX;
  nearestY = closestPointY;
  nearestZ = closestPointZ;
}

/** Lower bounds of the distances of four boxes, f32. */
const boxDistances: usize = memory.data(VECTOR_BYTES, 16);
// Relative to the scene's origin and, like all lengths, times `scaleLanes`.
let pointLanesX: v128 = i32x4.splat(0), pointLanesY: v128 = i32x4.splat(0), pointLanesZ: v128 = i32x4.splat(0);
let scaleLanes: v128 = i32x4.splat(0);
const MAX_COORDINATE: f64 = 1e30; // as for bounds (objects.ts)
/** The bound of the rounding of a distance in float32, when the largest coordinate is 1: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/** Searches a tree for the nearest object: depth first, the nearest cell first. Throws OUT_OF_MEMORY. */
function search(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
  const x = max(min(pointX - sceneOriginX, MAX_COORDINATE), -MAX_COORDINATE);
  const y = max(min(pointY - sceneOriginY, MAX_COORDINATE), -MAX_COORDINATE);
  const z = max(min(pointZ - sceneOriginZ, MAX_COORDINATE), -MAX_COORDINATE);
  const minBound = min(min(root.minX, root.minY), root.minZ), maxBound = max(max(root.maxX, root.maxY), root.maxZ);
  const largest = max(max(max(abs(x), abs(y)), abs(z)), max(<f64>max(abs(minBound), abs(maxBound)), 1e-30));
  const scale = 1.0 / largest;
  pointLanesX = f32x4.splat(<f32>x);
  pointLanesY = f32x4.splat(<f32>y);
  pointLanesZ = f32x4.splat(<f32>z);
  scaleLanes = f32x4.splat(<f32>scale);
  let bound = boundOf(scale);
  let top = beginCells(tree);
  while (top != cellStack) {
    top -= CELL_ENTRY_BYTES;
    if (distanceAt(top) > bound) continue;
    const cell = cellAt(tree, cellAtEntry(top));
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      const lowerBounds = distances(blockAt(tree, position));
      let bits = <u32>i32x4.bitmask(f32x4.le(lowerBounds, f32x4.splat(bound)));
      if (bits == 0) continue;
      v128.store(boxDistances, lowerBounds);
      for (; bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        if (load<f32>(boxDistances + (<usize>lane << 2)) > bound) continue;
        if (sidesOf(readProxy(tree, position + lane)) == 0) continue;
        const slot = slotAt(tree, position + lane);
        if (!mayTest(itemAt(slot).shape, 1)) {
          addWaiting(idAt(slot));
          continue;
        }
        visitObject(slot);
        bound = boundOf(scale);
      }
    }
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    const firstFour = distances(block), lastFour = distances(block + BLOCK_BYTES);
    const maxDistances = f32x4.splat(bound);
    const bits = <u32>(i32x4.bitmask(f32x4.le(firstFour, maxDistances)) | (i32x4.bitmask(f32x4.le(lastFour, maxDistances)) << 4));
    v128.store(childDistances, firstFour);
    v128.store(childDistances, lastFour, VECTOR_BYTES);
    top = pushChildren(top, cell.firstChild, bits);
  }
}

// @ts-ignore: decorator
@inline
function boundOf(scale: f64): f32 {
  return roundUp(min(nearestDistance * scale, 1e30));
}

/** Returns lower bounds of the distances of four boxes, times `scaleLanes`. An empty box is infinitely far. */
// @ts-ignore: decorator
@inline
function distances(block: usize): v128 {
  const x = gapToInterval(v128.load(block), v128.load(block, 48), pointLanesX);
  const y = gapToInterval(v128.load(block, 16), v128.load(block, 64), pointLanesY);
  const z = gapToInterval(v128.load(block, 32), v128.load(block, 80), pointLanesZ);
  return f32x4.sqrt(f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z)));
}

// @ts-ignore: decorator
@inline
function gapToInterval(lower: v128, upper: v128, value: v128): v128 {
  const gap = f32x4.mul(f32x4.pmax(f32x4.sub(lower, value), f32x4.sub(value, upper)), scaleLanes);
  return f32x4.pmax(f32x4.splat(0), f32x4.sub(f32x4.mul(gap, f32x4.splat(<f32>1.0 - ROUNDING)), f32x4.splat(ROUNDING)));
}
