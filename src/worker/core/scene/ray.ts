// Rays against the scene: through both trees nearest cell first, then against shapes in their own space.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, SHAPE_MESH, SIDE_BACK, SIDE_FRONT,
} from '../../../shared/layout';
import { clearHits, hitAt, hitCount, newHit } from '../hits';
import { Affine, invert } from '../math/affine';
import { lineMisses } from '../math/boxes32';
import { clip, enter, interval, leave, reciprocals, upward } from '../math/interval';
import { lane0, lane1, lane2 } from '../math/lanes';
import { packing } from '../math/pack';
import { reserve } from '../memory';
import { Mesh } from '../mesh/layout';
import {
  ALL, ANY, NEAREST, castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../mesh/ray';
import { Candidate, boundsOf } from './candidate';
import { isIgnored, layers, sides } from './filter';
import { Item, changes, itemAt, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ, slotOf, worldOf } from './objects';
import {
  BLOCK_BYTES, Cell, MOVING_TREE, STATIC_TREE, Tree, blockAt, candidateAt, cellAt, childBlocksAt, isEmpty, treeOf,
} from './octree';

// The ray: world, unit direction.
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
let tMin: f64 = 0;
let mode: u32 = NEAREST;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundTriangle: i32 = -1;
export let foundDistance: f64 = 0;
let localNormalX: f64 = 0, localNormalY: f64 = 0, localNormalZ: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

const bounds = changetype<Affine>(memory.data(96, 16));
const inverse = changetype<Affine>(memory.data(96, 16));
let stack: usize = 0;

/**
 * Nearest hit into found*, without its normal; false if there is none. With ANY, one that need not be the nearest; with
 * ALL, every hit to hits.ts and nothing here. Direction not zero, lengths in world units. The filter is set before.
 */
export function castRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32,
): bool {
  originX = ox; originY = oy; originZ = oz;
  setDirection(dx, dy, dz);
  tMin = from;
  mode = asked;
  clearHits();
  foundObject = 0;
  foundDistance = to;
  castTree(treeOf(STATIC_TREE));
  if (!(asked == ANY && foundObject != 0)) castTree(treeOf(MOVING_TREE));
  return foundObject != 0;
}

// @ts-ignore: decorator
@inline
function setDirection(x: f64, y: f64, z: f64): void {
  const square = x * x + y * y + z * z;
  // Lengths whose squares overflow or vanish are made about 1 first.
  const largest = square > 1e-280 && square < 1e280 ? 1.0 : max(max(abs(x), abs(y)), abs(z));
  const a = x / largest, b = y / largest, c = z / largest;
  const unit = 1.0 / sqrt(largest == 1.0 ? square : a * a + b * b + c * c);
  directionX = a * unit;
  directionY = b * unit;
  directionZ = c * unit;
}

/** Of the largest coordinate: 2^-18, as for BOX_PADDING (mesh/layout.ts) but without a rotation and steps of bounds. */
const PADDING: f32 = 3.814697265625e-6;

function castTree(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
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
        v128.store(listedDistances + listed, v128.swizzle(first, packing(bits)));
        v128.store(listedPositions + listed, v128.swizzle(positions, packing(bits)));
        positions = i32x4.add(positions, i32x4.splat(4));
        listed += popcnt(bits) << 2;
      }
      for (let i: usize = 0; i < listed; i += 4) {
        const position = load<u32>(listedPositions + i);
        if (load<f32>(listedDistances + i) > limit) continue;
        const candidate = candidateAt(tree, position);
        const x = enterX - candidate.x, y = enterY - candidate.y, z = enterZ - candidate.z;
        if (lineMisses(candidate.form(), x, y, z, blur, alongX, alongY, alongZ)) continue;
        if (!(candidate.pickable() & layers)) continue;
        castObject(candidate);
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

/** The largest coordinate of its bounds. */
// @ts-ignore: decorator
@inline
function reachOf(cell: Cell): f32 {
  const at = changetype<usize>(cell);
  const some = f32x4.abs(v128.load(at, offsetof<Cell>('lowX'))), others = f32x4.abs(v128.load(at, offsetof<Cell>('lowZ')));
  const four = f32x4.pmax(some, others);
  const two = f32x4.pmax(four, v128.shuffle<f32>(four, four, 2, 3, 0, 1));
  return f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<f32>(two, two, 1, 0, 3, 2)), 0);
}

const ENTRY_BYTES: usize = 48;
const LISTED: u32 = 64;
const listedDistances: usize = memory.data(64 * 4 + 16, 16);
const listedPositions: usize = memory.data(64 * 4 + 16, 16);

/** Where the ray enters each of four boxes, if it does, from 0 on. */
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

/** Where it leaves them, up to `limit`. */
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

/** Eight bits, each moved from its place i to i ^ flip. */
// @ts-ignore: decorator
@inline
function flipped(bits: u32, flip: u32): u32 {
  let b = bits;
  b = flip & 1 ? ((b & 0x55) << 1) | ((b >> 1) & 0x55) : b;
  b = flip & 2 ? ((b & 0x33) << 2) | ((b >> 2) & 0x33) : b;
  return flip & 4 ? ((b & 0x0f) << 4) | (b >> 4) : b;
}

/** A nearer hit on this object replaces the one found; of two at the same distance the lower id stays. */
function castObject(candidate: Candidate): void {
  if (isIgnored(candidate.id)) return;
  const hitsBefore = hitCount;
  if (candidate.shape == SHAPE_MESH) castMesh(itemAt(slotOf(candidate.id)));
  else castBox(candidate);
  if (mode == ALL) completeHits(hitsBefore, candidate.id);
}

// Whose map `inverse` is of, and when: rays come in numbers, and often to the same object.
let invertedId: u32 = 0;
let invertedAt: u32 = 0;

function invertOnce(id: u32, m: Affine): void {
  if (id == invertedId && changes == invertedAt) return;
  invertedId = id;
  invertedAt = changes;
  invert(inverse, m);
}

// The ray in an object's space; its direction is not unit there, so that t stays a length in the world.
let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;

/** `m` is the object's map, the same as long as nothing moves. */
function toLocal(id: u32, m: Affine): void {
  invertOnce(id, m);
  // Relative to the object's place first: far from the origin the digits are there.
  const x = originX - m.tx, y = originY - m.ty, z = originZ - m.tz;
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  alongX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  alongY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  alongZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

function better(id: u32, t: f64): bool {
  return t < foundDistance || (t == foundDistance && (foundObject == 0 || id < foundObject));
}

function castMesh(item: Item): void {
  toLocal(item.id, worldOf(item));
  const t = castMeshRay(
    changetype<Mesh>(item.mesh), localX, localY, localZ, alongX, alongY, alongZ, tMin, foundDistance, sides, mode,
  );
  if (t == Infinity || !better(item.id, t)) return;
  record(item.id, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = hitTriangle;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** The slab test (Kay and Kajiya 1986) on the cube that the box is an image of. */
function castBox(candidate: Candidate): void {
  toLocal(candidate.id, boundsOf(candidate, bounds));
  let near = -Infinity, far = Infinity;
  let nearAxis = 0, farAxis = 0;
  for (let axis = 0; axis < 3; axis++) {
    const o = axis == 0 ? localX : axis == 1 ? localY : localZ;
    const d = axis == 0 ? alongX : axis == 1 ? alongY : alongZ;
    if (d == 0) {
      if (abs(o) > 1) return;
      continue;
    }
    const side = d > 0 ? 1.0 : -1.0;
    const t0 = (-side - o) / d;
    const t1 = (side - o) / d;
    if (t0 > near) { near = t0; nearAxis = axis; }
    if (t1 < far) { far = t1; farAxis = axis; }
  }
  if (near > far) return;
  if (mode == ALL) {
    if (sides & SIDE_FRONT) addCrossing(near, nearAxis, -1);
    if (sides & SIDE_BACK) addCrossing(far, farAxis, 1);
    return;
  }
  const front = sides & SIDE_FRONT && near >= tMin;
  if (!front && !(sides & SIDE_BACK && far >= tMin)) return;
  const t = front ? near : far;
  if (t > foundDistance || !better(candidate.id, t)) return;
  const axis = front ? nearAxis : farAxis;
  const d = axis == 0 ? alongX : axis == 1 ? alongY : alongZ;
  // Outwards: against the ray where it enters, along it where it leaves.
  const sign = d > 0 == front ? -1.0 : 1.0;
  record(candidate.id, t, axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
  foundTriangle = -1;
  foundU = 0;
  foundV = 0;
  foundW = 0;
}

/** Where the ray passes through a face of the box's cube: -1 inwards, 1 outwards. */
function addCrossing(t: f64, axis: i32, way: f64): void {
  if (!(t >= tMin && t <= foundDistance)) return;
  const d = axis == 0 ? alongX : axis == 1 ? alongY : alongZ;
  const sign = d > 0 ? way : -way;
  const hit = newHit();
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, axis == 0 ? sign : 0, HIT_NORMAL);
  store<f64>(hit, axis == 1 ? sign : 0, HIT_NORMAL + 8);
  store<f64>(hit, axis == 2 ? sign : 0, HIT_NORMAL + 16);
  store<f64>(hit, 0, HIT_BARYCENTRIC);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 8);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 16);
}

/** What the scene knows of the hits from `first` on, all on the object that `inverse` is of. */
function completeHits(first: u32, id: u32): void {
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const t = load<f64>(hit, HIT_DISTANCE);
    turnNormal(load<f64>(hit, HIT_NORMAL), load<f64>(hit, HIT_NORMAL + 8), load<f64>(hit, HIT_NORMAL + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<f64>(hit, originX + t * directionX, HIT_POINT);
    store<f64>(hit, originY + t * directionY, HIT_POINT + 8);
    store<f64>(hit, originZ + t * directionZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

function record(id: u32, t: f64, nx: f64, ny: f64, nz: f64): void {
  foundObject = id;
  foundDistance = t;
  localNormalX = nx;
  localNormalY = ny;
  localNormalZ = nz;
}

/** The normal of the hit in the world, into foundNormal*. */
export function findNormal(): void {
  const item = itemAt(slotOf(foundObject));
  invertOnce(foundObject, item.shape == SHAPE_MESH ? worldOf(item) : orientedBounds(slotOf(foundObject)));
  turnNormal(localNormalX, localNormalY, localNormalZ);
}

/** From an object's space to the world by the inverse transposed, into foundNormal*. */
function turnNormal(nx: f64, ny: f64, nz: f64): void {
  const x = inverse.xx * nx + inverse.xy * ny + inverse.xz * nz;
  const y = inverse.yx * nx + inverse.yy * ny + inverse.yz * nz;
  const z = inverse.zx * nx + inverse.zy * ny + inverse.zz * nz;
  const largest = max(max(abs(x), abs(y)), abs(z));
  const a = x / largest, b = y / largest, c = z / largest;
  const length = sqrt(a * a + b * b + c * c);
  foundNormalX = a / length;
  foundNormalY = b / length;
  foundNormalZ = c / length;
}

export function pointX(): f64 { return originX + foundDistance * directionX; }
export function pointY(): f64 { return originY + foundDistance * directionY; }
export function pointZ(): f64 { return originZ + foundDistance * directionZ; }
