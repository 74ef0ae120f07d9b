// Nearness: which objects a shape meets, which are around a point, and which is nearest to one.

import {
  HIT_DISTANCE, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, PRECISION_AABB, PRECISION_MESH,
} from '../../../../shared/layout';
import { upward } from '../../math/interval';
import { reserve } from '../../memory';
import { noWitness } from '../../mesh/query/mesh-pair';
import { oneHoldsOther } from '../pairs/containment';
import { isIgnored, layers, precision, setFilter } from './filter';
import { addFound, clearFound, foundCount } from './result-ids';
import { solidsMeet } from '../pairs/overlap-tests';
import { distanceTo, isAround, solidTriangle, solidX, solidY, solidZ } from './closest-point';
import { idAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import {
  BLOCK_BYTES, MOVING_TREE, STATIC_TREE, Tree, blockAt, candidateAt, cellAt, childBlocksAt, isEmpty, slotAt,
} from '../index/octree';
import { updateTrees } from '../scene';
import { Solid, describedSolid, solidAt } from '../../shape/placed-shape';
import { boundsIn } from '../index/bounding-spheres';
import { findWithin, withinAt, withinCount } from './aabb-query';

const query = changetype<Solid>(memory.data(112, 16)); // SOLID_BYTES
const solid = changetype<Solid>(memory.data(112, 16));

/** Objects that the described shape (layout.ts, OBJECT_*, with a matrix) meets, to found.ts; answers how many. */
export function overlap(description: usize, filter: usize): u32 {
  updateTrees();
  setFilter(filter);
  clearFound();
  describedSolid(query, description, PRECISION_AABB);
  findWithin(query.tx, query.ty, query.tz, query.xx, query.yy, query.zz);
  describedSolid(query, description, PRECISION_MESH);
  for (let i: u32 = 0; i < withinCount; i++) {
    const slot = withinAt(i);
    solidAt(solid, slot, precision);
    if (solidsMeet(query, solid, noWitness()) || oneHoldsOther(query, solid)) addFound(idAt(slot));
  }
  return foundCount;
}

/** Objects that are solid around the point, to found.ts; answers how many. */
export function containing(x: f64, y: f64, z: f64, filter: usize): u32 {
  updateTrees();
  setFilter(filter);
  clearFound();
  // As uncertain as it is (nearest.ts).
  const blur = (abs(x) + abs(y) + abs(z)) * 8.881784197001252e-16; // 2^-50
  findWithin(x, y, z, blur, blur, blur);
  for (let i: u32 = 0; i < withinCount; i++) {
    const slot = withinAt(i);
    solidAt(solid, slot, precision);
    if (isAround(solid, x, y, z)) addFound(idAt(slot));
  }
  return foundCount;
}

// --- the nearest ---

let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
let nearestId: u32 = 0;
let nearestDistance: f64 = 0;
let nearestTriangle: i32 = -1;
let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;

/** The nearest point of any object that is no farther than `maxDistance`, to `hit` (HIT_*). False if there is none. */
export function closestPoint(x: f64, y: f64, z: f64, maxDistance: f64, filter: usize, hit: usize): bool {
  updateTrees();
  setFilter(filter);
  pointX = x;
  pointY = y;
  pointZ = z;
  nearestId = 0;
  nearestDistance = maxDistance;
  search(boundsIn(STATIC_TREE));
  search(boundsIn(MOVING_TREE));
  if (nearestId == 0) return false;
  store<u32>(hit, nearestId, HIT_OBJECT);
  store<i32>(hit, nearestTriangle, HIT_TRIANGLE);
  store<f64>(hit, nearestDistance, HIT_DISTANCE);
  store<f64>(hit, x + nearestX, HIT_POINT);
  store<f64>(hit, y + nearestY, HIT_POINT + 8);
  store<f64>(hit, z + nearestZ, HIT_POINT + 16);
  return true;
}

function consider(slot: u32): void {
  const id = idAt(slot);
  if (isIgnored(id)) return;
  solidAt(solid, slot, precision);
  const distance = distanceTo(solid, pointX, pointY, pointZ, nearestDistance);
  if (!(distance < nearestDistance || (distance == nearestDistance && (nearestId == 0 || id < nearestId)))) return;
  nearestId = id;
  nearestDistance = distance;
  nearestTriangle = solidTriangle;
  nearestX = solidX;
  nearestY = solidY;
  nearestZ = solidZ;
}

/** Cells that wait, and how near each can be. */
let stack: usize = 0;
const keys: usize = memory.data(32, 16);
// About the scene's origin, and with all lengths, times `unit`.
let atX: v128 = i32x4.splat(0), atY: v128 = i32x4.splat(0), atZ: v128 = i32x4.splat(0);
let unit: v128 = i32x4.splat(0);
const FARTHEST: f64 = 1e30; // as bounds have it (objects.ts)
/** Of a distance in float32, when the largest coordinate is 1: 2^-20. */
const ROUNDING: f32 = 9.5367431640625e-7;

/** Depth first, the nearest cell first. */
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
  // Each cell that is taken leaves at most eight in its place.
  stack = reserve(stack, 0, <u64>(tree.cellCount + 8) << 3);
  let top = stack + 8;
  store<f32>(stack, 0);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const cell = cellAt(tree, load<u32>(top, 4));
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      const near = distances(blockAt(tree, position));
      let bits = <u32>i32x4.bitmask(f32x4.le(near, f32x4.splat(bound)));
      if (bits == 0) continue;
      v128.store(keys, near);
      for (; bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        if (load<f32>(keys + (<usize>lane << 2)) > bound) continue;
        if (!(candidateAt(tree, position + lane).pickable() & layers)) continue;
        consider(slotAt(tree, position + lane));
        bound = boundOf(scale);
      }
    }
    if (cell.firstChild == 0) continue;
    const block = childBlocksAt(tree, cell);
    const four = distances(block), others = distances(block + BLOCK_BYTES);
    const most = f32x4.splat(bound);
    let bits = <u32>(i32x4.bitmask(f32x4.le(four, most)) | (i32x4.bitmask(f32x4.le(others, most)) << 4));
    v128.store(keys, four);
    v128.store(keys, others, 16);
    while (bits != 0) {
      // The farthest first, so that the nearest is taken next.
      let next = ctz(bits);
      for (let rest = bits & (bits - 1); rest != 0; rest &= rest - 1) {
        if (load<f32>(keys + (<usize>ctz(rest) << 2)) > load<f32>(keys + (<usize>next << 2))) next = ctz(rest);
      }
      bits &= ~(1 << next);
      store<f32>(top, load<f32>(keys + (<usize>next << 2)));
      store<u32>(top, cell.firstChild + next, 4);
      top += 8;
    }
  }
}

// @ts-ignore: decorator
@inline
function boundOf(scale: f64): f32 {
  return upward(min(nearestDistance * scale, 1e30));
}

/** How near four boxes can be at least, times `unit`. An empty one is infinitely far. */
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
