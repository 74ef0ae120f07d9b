// Answers the queries `sweep`: what a shape meets on a way through the scene, where all objects stand. Descends all
// octrees, nearest cell first, by the box about the shape moving along its way against boxes: the slab test of a Minkowski
// sum, four at a time in float32, conservative. Pairs are decided by core/sweep. World units.

import {
  FILTER_PRECISION, HIT_DEPTH, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TIME, HIT_TRIANGLE, MOTION_BYTES, MOTION_ROTATION,
  MOTION_TOLERANCE, MOTION_WAY, OBJECT_BYTES, OBJECT_MATRIX, PRECISION_AABB, PRECISION_MESH, PRECISION_OBB, SHAPE_BOX, SHAPE_MESH, WAY_FROM, WAY_NUMBERS, WAY_TO,
} from '../../../../shared/layout';
import { Support } from '../../contact/convex/support';
import { clearHits, hitAt, hitCount, newHit } from '../../hits';
import { now } from '../../host';
import { clip, enter, interval, leave, reciprocals, upward } from '../../math/interval';
import { lane0, lane1, lane2, leastOf } from '../../math/lanes';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, describedAgain, mapOf, readDescription } from '../../shape/placed-shape';
import { Proxy, boundsOf } from '../../shape/proxy';
import {
  best as meetTime, meetDepth, meetNormalX, meetNormalY, meetNormalZ, meetTriangle, meetX, meetY, meetZ,
} from '../../sweep/meeting';
import { armOfSweep, beginSweep, roundOfSweep, sweepPair } from '../../sweep/sweep';
import { angle, setMotion, wayX, wayY, wayZ } from '../../sweep/motion';
import { boundsIn } from '../index/bounding-spheres';
import {
  CELL_ENTRY_BYTES, beginCells, cellAtEntry, cellStack, childDistances, distanceAt, pushChildren,
} from '../index/cell-stack';
import { BLOCK_BYTES, Cell, TREE_COUNT, Tree, blockAt, cellAt, childBlocksAt, isEmpty, reachOf, readPlace, slotAt } from '../index/octree';
import { PairSweep, writeMeeting } from '../../sweep/pair-sweep';
import { idAt, placedShapeAt, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { updateTrees } from '../scene';
import { faceSidesOf, isIgnored, precision, setFilter, sidesOf } from './filter';
import { addCandidate, clearCandidates } from './sweep-candidates';
import { VECTOR_BYTES } from '../../sizes';

const shape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const box = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const other = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Whether all objects that are met are to be found, and not only the first. */
let wantsAll: bool = false;
/** Whether candidates are found: objects that are met, and those of which that may take long. */
let areCandidates: bool = false;
/** How much may still be done in one go (`workOf`), and whether it would have been more. */
let workLeft: f64 = 0;
let isTooLong: bool = false;
/** The best so far; where all are wanted, how long the way matters. */
let best: f64 = 0;
let bestId: u32 = 0;
let bestTriangle: i32 = -1;
let bestDepth: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

/** The middle of the box about the shape at the start, and half of its size all the way. */
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
let sizeX: f64 = 0, sizeY: f64 = 0, sizeZ: f64 = 0;

/**
 * Finds what a described shape (layout.ts, OBJECT_*, with the matrix at the start) meets first on its way (MOTION_*), into
 * a hit (HIT_*, with HIT_TIME and HIT_DEPTH). Answers how many hits there are, 0 or 1, or TOO_LONG. Throws OUT_OF_MEMORY.
 */
export function sweep(description: usize, motion: usize, filter: usize, hit: usize, most: f64): i32 {
  begin(description, motion, filter, most);
  wantsAll = false;
  searchAll();
  if (isTooLong) return TOO_LONG;
  if (bestId == 0) return 0;
  write(hit);
  return 1;
}

/** Finds the first contact with each object, into hits.ts. Answers how many there are, or TOO_LONG. Throws OUT_OF_MEMORY. */
export function sweepAll(description: usize, motion: usize, filter: usize, most: f64): i32 {
  begin(description, motion, filter, most);
  wantsAll = true;
  clearHits();
  searchAll();
  return isTooLong ? TOO_LONG : <i32>hitCount;
}

/** Is answered where more is to be done than was asked for (`workOf`): it must be done in slices (sweep-slices.ts). */
const TOO_LONG: i32 = -1;

/**
 * Finds the objects that are met (sweep-candidates.ts), and those of which it may take long to tell, as they or the shape are
 * meshes, or as there are so many. Throws OUT_OF_MEMORY.
 */
export function findCandidates(description: usize, motion: usize, filter: usize, all: bool): void {
  begin(description, motion, filter, MOST_WORK);
  wantsAll = all;
  areCandidates = true;
  clearCandidates();
  searchAll();
  areCandidates = false;
}

/** Answers the shape where it is at the start. */
export function placedShape(): PlacedShape {
  return shape;
}

/** Writes a hit of what was found of an object. */
export function writeHit(hit: usize, found: PairSweep): void {
  bestId = found.id;
  bestTriangle = found.triangle;
  best = found.time;
  bestDepth = found.depth;
  pointX = found.x; pointY = found.y; pointZ = found.z;
  normalX = found.normalX; normalY = found.normalY; normalZ = found.normalZ;
  write(hit);
}

function begin(description: usize, motion: usize, filter: usize, most: f64): void {
  areCandidates = false;
  workLeft = most;
  updateTrees();
  setFilter(filter);
  readDescription(description);
  place(description, motion);
}

/** Takes the shape that was read at the start of its motion. */
function place(description: usize, motion: usize): void {
  setMotion(
    load<f64>(motion, MOTION_WAY), load<f64>(motion, MOTION_WAY + 8), load<f64>(motion, MOTION_WAY + 16),
    load<f64>(motion, MOTION_ROTATION), load<f64>(motion, MOTION_ROTATION + 8), load<f64>(motion, MOTION_ROTATION + 16),
    load<f64>(motion, MOTION_ROTATION + 24),
  );
  const matrix = description + OBJECT_MATRIX;
  const x = load<f64>(matrix, 72), y = load<f64>(matrix, 80), z = load<f64>(matrix, 88);
  describedAgain(shape, description, PRECISION_MESH);
  beginSweep(shape, x, y, z, load<f64>(motion, MOTION_TOLERANCE));
  const round = roundOfSweep();
  setRound(round);
  if (changetype<usize>(round) != 0) {
    // No larger than it is: with the box of its oriented bounds, capsules among boxes look at a third more.
    const hasAxis = round.edges != 0;
    middleX = shape.tx; middleY = shape.ty; middleZ = shape.tz;
    sizeX = round.radius + (hasAxis ? abs(round.edge0X) : 0);
    sizeY = round.radius + (hasAxis ? abs(round.edge0Y) : 0);
    sizeZ = round.radius + (hasAxis ? abs(round.edge0Z) : 0);
  } else if (angle == 0) {
    describedAgain(box, description, PRECISION_AABB);
    middleX = box.tx; middleY = box.ty; middleZ = box.tz;
    sizeX = box.xx; sizeY = box.yy; sizeZ = box.zz;
  } else {
    // All places of the shape are about the pivot.
    middleX = x; middleY = y; middleZ = z;
    sizeX = sizeY = sizeZ = armOfSweep();
  }
  isTooLong = false;
  best = 1;
  bestId = 0;
  bestTriangle = -1;
  bestDepth = 0;
}

function write(hit: usize): void {
  store<u32>(hit, bestId, HIT_OBJECT);
  store<i32>(hit, bestTriangle, HIT_TRIANGLE);
  store<f64>(hit, best, HIT_TIME);
  store<f64>(hit, bestDepth, HIT_DEPTH);
  store<f64>(hit, pointX, HIT_POINT);
  store<f64>(hit, pointY, HIT_POINT + 8);
  store<f64>(hit, pointZ, HIT_POINT + 16);
  store<f64>(hit, normalX, HIT_NORMAL);
  store<f64>(hit, normalY, HIT_NORMAL + 8);
  store<f64>(hit, normalZ, HIT_NORMAL + 16);
}

/**
 * Sweeps shapes along `count` ways (layout.ts, WAY_*), for each the shape whose number `shapeOf` has, or the first where
 * that is 0. Writes for each: object u32 (0xffffffff for none), triangle i32, time and depth f64, point 3 f64, normal 3
 * f32. Answers how many are done by a time of the clock: at least one, or -1 - n where the one behind these n may take so long that it
 * must be done in slices (`writeWay`, sweep-slices.ts). Throws OUT_OF_MEMORY.
 */
export function sweepMany(
  descriptions: usize, shapeOf: usize, ways: usize, count: u32, tolerance: f64, filter: usize,
  objects: usize, triangles: usize, times: usize, depths: usize, placesOf: usize, normals: usize, until: f64,
): i32 {
  updateTrees();
  setFilter(filter);
  wantsAll = areCandidates = false;
  let last: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    if (i != 0 && (i & (WAYS_PER_READING - 1)) == 0 && now() >= until) return <i32>i;
    const description = descriptions + (shapeOf != 0 ? <usize>load<u32>(shapeOf + (i << 2)) * OBJECT_BYTES : 0);
    if (description != last) readDescription(description);
    last = description;
    writeWay(description, ways + i * WAY_NUMBERS * 8, tolerance, motionOfWay);
    place(description, motionOfWay);
    workLeft = MOST_WORK;
    searchAll();
    if (isTooLong) return -1 - <i32>i;
    if (bestId == 0) setNothing();
    store<u32>(objects + (i << 2), bestId);
    store<i32>(triangles + (i << 2), bestTriangle);
    store<f64>(times + (i << 3), best);
    store<f64>(depths + (i << 3), bestDepth);
    const at = placesOf + i * 24, to = normals + i * 12;
    store<f64>(at, pointX);
    store<f64>(at, pointY, 8);
    store<f64>(at, pointZ, 16);
    store<f32>(to, <f32>normalX);
    store<f32>(to, <f32>normalY, 4);
    store<f32>(to, <f32>normalZ, 8);
  }
  return <i32>count;
}

/** Sets what a way is told to meet that meets nothing. */
function setNothing(): void {
  bestId = 0xffffffff;
  best = Infinity;
  pointX = pointY = pointZ = 0;
  normalX = normalY = normalZ = 0;
}

/** The ways between two readings of the clock; each takes a microsecond or far more. */
const WAYS_PER_READING: usize = 8;
const motionOfWay: usize = memory.data(MOTION_BYTES, 16);

/** Writes the motion of a way (MOTION_*), and the matrix of a description to where it starts. */
export function writeWay(description: usize, way: usize, tolerance: f64, motion: usize): void {
  const from = way + WAY_FROM, to = way + WAY_TO;
  const x = load<f64>(from), y = load<f64>(from, 8), z = load<f64>(from, 16);
  const a = load<f64>(from, 24), b = load<f64>(from, 32), c = load<f64>(from, 40), d = load<f64>(from, 48);
  const e = load<f64>(to, 24), f = load<f64>(to, 32), g = load<f64>(to, 40), h = load<f64>(to, 48);
  const matrix = description + OBJECT_MATRIX;
  const s = 2.0 / (a * a + b * b + c * c + d * d);
  store<f64>(matrix, 1.0 - s * (b * b + c * c));
  store<f64>(matrix, s * (a * b + c * d), 8);
  store<f64>(matrix, s * (a * c - b * d), 16);
  store<f64>(matrix, s * (a * b - c * d), 24);
  store<f64>(matrix, 1.0 - s * (a * a + c * c), 32);
  store<f64>(matrix, s * (b * c + a * d), 40);
  store<f64>(matrix, s * (a * c + b * d), 48);
  store<f64>(matrix, s * (b * c - a * d), 56);
  store<f64>(matrix, 1.0 - s * (a * a + b * b), 64);
  store<f64>(matrix, x, 72);
  store<f64>(matrix, y, 80);
  store<f64>(matrix, z, 88);
  store<f64>(motion, load<f64>(to) - x, MOTION_WAY);
  store<f64>(motion, load<f64>(to, 8) - y, MOTION_WAY + 8);
  store<f64>(motion, load<f64>(to, 16) - z, MOTION_WAY + 16);
  // What turns the start to the end: the end's quaternion times the inverse of the start's.
  const isSame = a == e && b == f && c == g && d == h;
  store<f64>(motion, isSame ? 0 : e * d - h * a - f * c + g * b, MOTION_ROTATION);
  store<f64>(motion, isSame ? 0 : f * d - h * b - g * a + e * c, MOTION_ROTATION + 8);
  store<f64>(motion, isSame ? 0 : g * d - h * c - e * b + f * a, MOTION_ROTATION + 16);
  store<f64>(motion, isSame ? 1 : h * d + e * a + f * b + g * c, MOTION_ROTATION + 24);
  store<f64>(motion, tolerance, MOTION_TOLERANCE);
}

// --- the descent ---

/** How many triangles and objects one way may be about at one go: each takes up to a microsecond. */
const MOST_WORK: f64 = 4096;
/** A triangle counts for so much where a box that does not turn is swept. */
const OF_BOX: f64 = 0.0625;
/** An object without triangles counts for so much where the shape turns. */
const OF_TURN: f64 = 4;

/** How far the moving box goes to each of four others, f32. */
const distances: usize = memory.data(VECTOR_BYTES, 16);

function searchAll(): void {
  for (let which: u32 = 0; which < TREE_COUNT && !isTooLong; which++) search(boundsIn(which));
}

/** Answers for how much an object counts, with its triangles and those of the shape. */
// @ts-ignore: decorator
@inline
function workOf(it: PlacedShape): f64 {
  return trianglesOf(shape) + trianglesOf(it) + (angle != 0 ? OF_TURN : 1);
}

/** Answers for how many triangles a shape counts: a box that does not turn looks at few, and a sphere or capsule at none. */
function trianglesOf(it: PlacedShape): f64 {
  if (it.shape != SHAPE_MESH) return 0;
  const count = <f64>changetype<Mesh>(<usize>it.mesh).triangleCount;
  if (angle != 0 || shape.shape == SHAPE_MESH) return count;
  return shape.shape == SHAPE_BOX ? count * OF_BOX : 0;
}

/** What rounding in float32 may add, relative to the largest coordinate: 2⁻¹⁸ (ray.ts). */
const PADDING: f64 = 3.814697265625e-6;
/** More than float32 makes later of the time at which bounds meet. */
const EARLIER: f64 = 1e-6;
/** A length that counts as long enough for all of a scene, so that nothing overflows. */
const LONGEST: f64 = 1e30;

// They say of the tree that is descended when the moving box enters its bounds, and how long the way is: for a unit of time, and within.
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

/** Clips the way to the bounds of a tree and prepares slab tests from there on. Answers false where it misses them. */
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

/** Sweeps at the objects that a cell has itself, of four at a time the nearest first. */
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

/** Sweeps at an object whose bounds the moving box meets at a distance, or makes it a candidate. */
// @ts-ignore: decorator
@inline
function sweepAtPlace(tree: Tree, position: u32, distance: f32): void {
  const proxy = readPlace(tree, position);
  if (isRound && tree.proxies != 0 && passesBy(proxy)) return;
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

/** Sets what stands for a box, which is as its oriented bounds are: the proxy has them at hand. */
// @ts-ignore: decorator
@inline
function placeBox(proxy: Proxy): void {
  boundsOf(proxy, mapOf(other));
  other.half = 0;
  other.shape = <u16>SHAPE_BOX;
  other.filled = 0;
  other.mesh = 0;
}

// --- a sphere or capsule and the oriented bounds of an object, in float32 ---

/** Whether the shape is a sphere or capsule that does not turn, and objects are no larger than their oriented bounds. */
let isRound: bool = false;
/** Half of its axis, its way, and its radius. */
let axisX: v128 = i32x4.splat(0), axisY: v128 = i32x4.splat(0), axisZ: v128 = i32x4.splat(0);
let alongX: v128 = i32x4.splat(0), alongY: v128 = i32x4.splat(0), alongZ: v128 = i32x4.splat(0);
let radius: f32 = 0;
/** The sum of the way's coordinates, and of the axis', without signs. */
let terms: f32 = 0;

function setRound(body: Support): void {
  isRound = changetype<usize>(body) != 0 && (precision == PRECISION_MESH || precision == PRECISION_OBB);
  if (!isRound) return;
  const hasAxis = body.edges != 0;
  const x = hasAxis ? body.edge0X : 0, y = hasAxis ? body.edge0Y : 0, z = hasAxis ? body.edge0Z : 0;
  axisX = f32x4.splat(<f32>x); axisY = f32x4.splat(<f32>y); axisZ = f32x4.splat(<f32>z);
  alongX = f32x4.splat(<f32>wayX); alongY = f32x4.splat(<f32>wayY); alongZ = f32x4.splat(<f32>wayZ);
  radius = <f32>body.radius;
  terms = <f32>(abs(wayX) + abs(wayY) + abs(wayZ) + abs(x) + abs(y) + abs(z) + body.radius);
}

/** Far more than rounding adds in float32, relative to what goes into it: 2⁻¹⁸. */
const SLACK: f32 = 3.814697265625e-6;
/** The cube that stands for a box, and as much more. */
const CUBE_SIZE: f32 = 1.00001;

/**
 * Tells whether the shape surely passes by the oriented bounds of an object: in the space in which these are a cube, the way of
 * its middle is a segment, and the cube is larger by the shape's reach along each of its axes. The two are apart along one of
 * these axes, or across one of them and the way (Ericson, "Real-Time Collision Detection", 2005, 5.3.3).
 */
// @ts-ignore: decorator
@inline
function passesBy(proxy: Proxy): bool {
  const at = changetype<usize>(proxy);
  // The columns of the map to that space; what is in the last lane is not looked at.
  const x = v128.load(at), y = v128.load(at, 12), z = v128.load(at, 24);
  const half = <f32>(0.5 * best);
  const dx = <f32>(shape.tx - proxy.x), dy = <f32>(shape.ty - proxy.y), dz = <f32>(shape.tz - proxy.z);
  const rate = f32x4.mul(mapped(x, y, z, alongX, alongY, alongZ), f32x4.splat(half));
  const middle = f32x4.add(mapped(x, y, z, f32x4.splat(dx), f32x4.splat(dy), f32x4.splat(dz)), rate);
  const axis = f32x4.abs(mapped(x, y, z, axisX, axisY, axisZ));
  const rows = f32x4.sqrt(mapped(x, y, z, x, y, z));
  const more = radius + SLACK * (abs(dx) + abs(dy) + abs(dz) + terms);
  const reach = f32x4.add(f32x4.add(f32x4.splat(CUBE_SIZE), axis), f32x4.mul(rows, f32x4.splat(more)));
  const far = f32x4.abs(rate);
  const beyond = f32x4.gt(f32x4.abs(middle), f32x4.add(reach, far));
  const cross = f32x4.sub(f32x4.mul(next(middle), after(rate)), f32x4.mul(after(middle), next(rate)));
  const both = f32x4.add(f32x4.mul(next(reach), after(far)), f32x4.mul(after(reach), next(far)));
  return (i32x4.bitmask(v128.or(beyond, f32x4.gt(f32x4.abs(cross), both))) & 7) != 0;
}

/** The components y, z, x and z, x, y. */
// @ts-ignore: decorator
@inline
function next(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 1, 2, 0, 3);
}
// @ts-ignore: decorator
@inline
function after(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 2, 0, 1, 3);
}

// @ts-ignore: decorator
@inline
function mapped(x: v128, y: v128, z: v128, u: v128, v: v128, w: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, u), f32x4.mul(y, v)), f32x4.mul(z, w));
}

// --- boxes, four at a time ---

let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);
let byX: v128 = i32x4.splat(0), byY: v128 = i32x4.splat(0), byZ: v128 = i32x4.splat(0);
let limit: f32 = 0;

/** Marks which of four boxes the moving box meets, a bit each, and writes how far it goes before. */
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
  // An empty box is the wrong way round.
  const isBox = f32x4.le(v128.load(block), v128.load(block, 48));
  return <u32>i32x4.bitmask(v128.and(isBox, f32x4.le(near, f32x4.pmin(far, f32x4.splat(limit)))));
}

/** Takes what the shape meets, where it is the first, the deepest at the start or, of equals, the one with the lower id. */
function take(id: u32): void {
  if (areCandidates) writeMeeting(addCandidate(other, 0, id, 0, 0));
  if (wantsAll) {
    set(id);
    if (!areCandidates) write(newHit());
    best = 1; // what is met later matters as well
    return;
  }
  if (bestId != 0) {
    if (meetTime > best) return;
    if (meetTime == best && (meetDepth < bestDepth || (meetDepth == bestDepth && id > bestId))) return;
  }
  set(id);
}

function set(id: u32): void {
  best = meetTime;
  bestId = id;
  bestTriangle = meetTriangle;
  bestDepth = meetDepth;
  normalX = meetNormalX; normalY = meetNormalY; normalZ = meetNormalZ;
  pointX = meetX; pointY = meetY; pointZ = meetZ;
}
