// Rays against the scene: through both trees nearest cell first, then against shapes in their own space.

import { SHAPE_MESH, SIDE_BACK, SIDE_FRONT } from '../../../shared/layout';
import { Affine, invert } from '../math/affine';
import { clip, enter, interval, leave, reciprocal, upward } from '../math/interval';
import { reserve } from '../memory';
import { Mesh } from '../mesh/layout';
import {
  castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../mesh/ray';
import { Item, boundsOf, itemAt, sceneOriginX, sceneOriginY, sceneOriginZ, worldOf } from './objects';
import { MOVING_TREE, STATIC_TREE, Tree, cellAt, childBoxesAt, isEmpty, slotAt, treeOf } from './octree';

// The ray: world, unit direction.
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
let tMin: f64 = 0;
let layers: u32 = 0;
let sides: u32 = 0;
let anyHit: bool = false;
let ignored: usize = 0;
let ignoredCount: u32 = 0;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundTriangle: i32 = -1;
export let foundDistance: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

const inverse = changetype<Affine>(memory.data(96, 16));
const lanes: usize = memory.data(16, 16);
let stack: usize = 0;

/** Nearest hit into found*; false without one. The direction is not zero; lengths are world units. */
export function castRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  withLayers: u32, withSides: u32, ignore: usize, ignoreCount: u32, any: bool,
): bool {
  // Scaled first, so that lengths neither overflow nor vanish.
  const largest = max(max(abs(dx), abs(dy)), abs(dz));
  const x = dx / largest, y = dy / largest, z = dz / largest;
  const length = sqrt(x * x + y * y + z * z);
  originX = ox; originY = oy; originZ = oz;
  directionX = x / length; directionY = y / length; directionZ = z / length;
  tMin = from;
  layers = withLayers;
  sides = withSides;
  ignored = ignore;
  ignoredCount = ignoreCount;
  anyHit = any;
  foundObject = 0;
  foundDistance = to;
  castTree(treeOf(STATIC_TREE));
  if (!(any && foundObject != 0)) castTree(treeOf(MOVING_TREE));
  return foundObject != 0;
}

const PADDING: f32 = 3.814697265625e-6; // 2^-18 of the largest coordinate: mesh/layout.ts, BOX_PADDING

function castTree(tree: Tree): void {
  if (isEmpty(tree)) return;
  const root = cellAt(tree, 0);
  const px = originX - sceneOriginX, py = originY - sceneOriginY, pz = originZ - sceneOriginZ;
  const reach = max(
    max(max(abs(root.lowX), abs(root.highX)), max(abs(root.lowY), abs(root.highY))),
    max(abs(root.lowZ), abs(root.highZ)),
  );
  const padding = reach * PADDING;
  const slack = <f64>padding + (abs(px) + abs(py) + abs(pz)) * 3.552713678800501e-15;
  let part = interval(tMin, foundDistance);
  part = clip(part, px, directionX, root.lowX - slack, root.highX + slack);
  part = clip(part, py, directionY, root.lowY - slack, root.highY + slack);
  part = clip(part, pz, directionZ, root.lowZ - slack, root.highZ + slack);
  const from = enter(part);
  const end = leave(part);
  if (!(from <= end)) return;
  const fx = <f32>(px + from * directionX), fy = <f32>(py + from * directionY), fz = <f32>(pz + from * directionZ);
  const ux = <f32>directionX, uy = <f32>directionY, uz = <f32>directionZ;
  const ix = reciprocal(ux);
  const iy = reciprocal(uy);
  const iz = reciprocal(uz);
  const backX = ix < 0, backY = iy < 0, backZ = iz < 0;
  // The ray's origin moved by the padding for one bound and the other: the same as boxes that are larger.
  const nearX = f32x4.splat(backX ? fx - padding : fx + padding), farX = f32x4.splat(backX ? fx + padding : fx - padding);
  const nearY = f32x4.splat(backY ? fy - padding : fy + padding), farY = f32x4.splat(backY ? fy + padding : fy - padding);
  const nearZ = f32x4.splat(backZ ? fz - padding : fz + padding), farZ = f32x4.splat(backZ ? fz + padding : fz - padding);
  const invX = f32x4.splat(ix), invY = f32x4.splat(iy), invZ = f32x4.splat(iz);
  const objectStep = tree.stride;
  let limit = upward(end - from);

  let top = push(stack, 0, 0);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top, 4) > limit) continue;
    const cell = cellAt(tree, load<u32>(top));
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      const at = tree.bounds + (<usize>position << 2);
      const near = f32x4.pmax(
        f32x4.pmax(
          f32x4.mul(f32x4.sub(v128.load(at + (backX ? 3 * objectStep : 0)), nearX), invX),
          f32x4.mul(f32x4.sub(v128.load(at + (backY ? 4 * objectStep : objectStep)), nearY), invY),
        ),
        f32x4.pmax(
          f32x4.mul(f32x4.sub(v128.load(at + (backZ ? 5 * objectStep : 2 * objectStep)), nearZ), invZ),
          f32x4.splat(0),
        ),
      );
      const far = f32x4.pmin(
        f32x4.pmin(
          f32x4.mul(f32x4.sub(v128.load(at + (backX ? 0 : 3 * objectStep)), farX), invX),
          f32x4.mul(f32x4.sub(v128.load(at + (backY ? objectStep : 4 * objectStep)), farY), invY),
        ),
        f32x4.pmin(
          f32x4.mul(f32x4.sub(v128.load(at + (backZ ? 2 * objectStep : 5 * objectStep)), farZ), invZ),
          f32x4.splat(limit),
        ),
      );
      let bits = i32x4.bitmask(f32x4.le(near, far));
      while (bits != 0) {
        const lane = ctz(bits);
        bits &= bits - 1;
        if (position + lane >= cell.ownEnd) break;
        if (!(load<u32>(tree.pickable + (<usize>(position + lane) << 2)) & layers)) continue;
        castObject(slotAt(tree, position + lane));
        if (foundObject == 0) continue;
        if (anyHit) return;
        limit = min(limit, upward(foundDistance - from));
      }
    }
    if (cell.childCount == 0) continue;
    const boxes = childBoxesAt(tree, cell);
    const base = top - stack;
    for (let group: u32 = 0; group < cell.childCount; group += 4) {
      const at = boxes + (<usize>group << 2);
      const near = f32x4.pmax(
        f32x4.pmax(
          f32x4.mul(f32x4.sub(v128.load(at + (backX ? 96 : 0)), nearX), invX),
          f32x4.mul(f32x4.sub(v128.load(at + (backY ? 128 : 32)), nearY), invY),
        ),
        f32x4.pmax(f32x4.mul(f32x4.sub(v128.load(at + (backZ ? 160 : 64)), nearZ), invZ), f32x4.splat(0)),
      );
      const far = f32x4.pmin(
        f32x4.pmin(
          f32x4.mul(f32x4.sub(v128.load(at + (backX ? 0 : 96)), farX), invX),
          f32x4.mul(f32x4.sub(v128.load(at + (backY ? 32 : 128)), farY), invY),
        ),
        f32x4.pmin(f32x4.mul(f32x4.sub(v128.load(at + (backZ ? 64 : 160)), farZ), invZ), f32x4.splat(limit)),
      );
      let bits = i32x4.bitmask(f32x4.le(near, far));
      v128.store(lanes, near);
      while (bits != 0) {
        const lane = ctz(bits);
        bits &= bits - 1;
        if (group + lane >= cell.childCount) break;
        const distance = load<f32>(lanes + (<usize>lane << 2));
        top = push(top, 0, 0);
        // Nearest on top.
        let place = top - 8;
        while (place > stack + base && load<f32>(place - 8, 4) < distance) {
          store<u64>(place, load<u64>(place - 8));
          place -= 8;
        }
        store<u32>(place, cell.firstChild + group + lane);
        store<f32>(place, distance, 4);
      }
    }
  }
}

function push(top: usize, cell: u32, distance: f32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 8);
  store<u32>(stack + used, cell);
  store<f32>(stack + used, distance, 4);
  return stack + used + 8;
}

function isIgnored(id: u32): bool {
  for (let i: u32 = 0; i < ignoredCount; i++) if (load<u32>(ignored + (<usize>i << 2)) == id) return true;
  return false;
}

/** A nearer hit on this object replaces the one found; of two at the same distance the lower id stays. */
function castObject(slot: u32): void {
  const item = itemAt(slot);
  if (ignoredCount > 0 && isIgnored(item.id)) return;
  if (item.shape == SHAPE_MESH) castMesh(item);
  else castBox(item);
}

// The ray in an object's space; its direction is not unit there, so that t stays a length in the world.
let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;

function toLocal(m: Affine): void {
  invert(inverse, m);
  // Relative to the object's place first: far from the origin the digits are there.
  const x = originX - m.tx, y = originY - m.ty, z = originZ - m.tz;
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  alongX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  alongY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  alongZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

function better(item: Item, t: f64): bool {
  return t < foundDistance || (t == foundDistance && (foundObject == 0 || item.id < foundObject));
}

function castMesh(item: Item): void {
  toLocal(worldOf(item));
  const t = castMeshRay(
    changetype<Mesh>(item.mesh), localX, localY, localZ, alongX, alongY, alongZ, tMin, foundDistance, sides, anyHit,
  );
  if (t == Infinity || !better(item, t)) return;
  record(item, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = hitTriangle;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** The slab test (Kay and Kajiya 1986) on the cube that the box is an image of. */
function castBox(item: Item): void {
  toLocal(boundsOf(item));
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
  const front = sides & SIDE_FRONT && near >= tMin;
  if (!front && !(sides & SIDE_BACK && far >= tMin)) return;
  const t = front ? near : far;
  if (t > foundDistance || !better(item, t)) return;
  const axis = front ? nearAxis : farAxis;
  const d = axis == 0 ? alongX : axis == 1 ? alongY : alongZ;
  // Outwards: against the ray where it enters, along it where it leaves.
  const sign = d > 0 == front ? -1.0 : 1.0;
  record(item, t, axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
  foundTriangle = -1;
  foundU = 0;
  foundV = 0;
  foundW = 0;
}

/** The hit, with its normal taken to the world by the inverse transposed. */
function record(item: Item, t: f64, nx: f64, ny: f64, nz: f64): void {
  foundObject = item.id;
  foundDistance = t;
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
