// The table of objects, by slot.

import {
  FLAG_CULLABLE, FLAG_MATRIX, GENERATION_BITS, OBJECT_CENTER, OBJECT_COLLIDES_WITH,
  OBJECT_CONTACTS, OBJECT_EXTENT, OBJECT_FLAGS, OBJECT_GROUP, OBJECT_LAYERS, OBJECT_MATRIX, OBJECT_MESH,
  OBJECT_RADIUS, OBJECT_ROTATION, OBJECT_SHAPE, SHAPE_BOX, SHAPE_MESH, SHAPE_SPHERE,
} from '../../../shared/layout';
import { AFFINE_BYTES, Affine, between, multiply, setIdentity } from '../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { reserve } from '../memory';
import { Mesh } from '../mesh/tree/layout';

/** An object. Its oriented bounds are the cube [-1, 1]³ under world · local. */
@unmanaged
export class Item {
  id: u32; // 0 where the slot is empty
  shape: u32;
  mesh: u32;
  flags: u32;
  layers: u32;
  collidesWith: u32;
  group: u32;
  contacts: u32;
  /** Object space to world. */
  worldXx: f64; worldXy: f64; worldXz: f64;
  worldYx: f64; worldYy: f64; worldYz: f64;
  worldZx: f64; worldZy: f64; worldZz: f64;
  worldTx: f64; worldTy: f64; worldTz: f64;
  /** The cube to object space: the shape's own box. */
  localXx: f64; localXy: f64; localXz: f64;
  localYx: f64; localYy: f64; localYz: f64;
  localZx: f64; localZy: f64; localZz: f64;
  localTx: f64; localTy: f64; localTz: f64;
  /** Of a capsule: half its segment, in radii. */
  half: f64;
  pad: f64;
}

export const ITEM_BYTES: usize = 240;

/** World bounds of a slot in float32, relative to the scene's origin, rounded outwards. */
@unmanaged
export class Box {
  lowX: f32; lowY: f32; lowZ: f32;
  /** Position in its tree, UNPLACED until that is built. */
  position: u32;
  highX: f32; highY: f32; highZ: f32;
  /** TREE_*. */
  tree: u32;
}

export const BOX_BYTES: usize = 32;
export const NO_TREE: u32 = 2;
export const UNPLACED: u32 = 0xffffffff;

export let items: usize = 0;
export let boxes: usize = 0;
/** Ids by slot, 0 where empty: what is scanned most, kept dense. */
export let ids: usize = 0;
/** Slots that may be in use: all below. */
export let slotCount: u32 = 0;
export let liveCount: u32 = 0;
/** How often bounds were set. */
export let changes: u32 = 1;

export let sceneOriginX: f64 = 0;
export let sceneOriginY: f64 = 0;
export let sceneOriginZ: f64 = 0;

// @ts-ignore: decorator
@inline
export function slotOf(id: u32): u32 {
  return id >> GENERATION_BITS;
}

// @ts-ignore: decorator
@inline
export function itemAt(slot: u32): Item {
  return changetype<Item>(items + slot * <u32>ITEM_BYTES);
}

// @ts-ignore: decorator
@inline
export function boxAt(slot: u32): Box {
  return changetype<Box>(boxes + slot * <u32>BOX_BYTES);
}

// @ts-ignore: decorator
@inline
export function idAt(slot: u32): u32 {
  return load<u32>(ids + (<usize>slot << 2));
}

// @ts-ignore: decorator
@inline
export function worldOf(item: Item): Affine {
  return changetype<Affine>(changetype<usize>(item) + offsetof<Item>('worldXx'));
}

// @ts-ignore: decorator
@inline
export function localOf(item: Item): Affine {
  return changetype<Affine>(changetype<usize>(item) + offsetof<Item>('localXx'));
}

export function isAlive(id: u32): bool {
  const slot = slotOf(id);
  return id != 0 && slot < slotCount && idAt(slot) == id;
}

/** Layers under which views see it, or 0. */
export function visibleLayers(item: Item): u32 {
  return item.flags & FLAG_CULLABLE ? item.layers : 0;
}

/** Makes room for slots up to and including `slot`, which is a new one. */
export function reserveSlots(slot: u32): void {
  const count = slot + 1;
  items = reserve(items, slotCount * <u32>ITEM_BYTES, <u64>count * ITEM_BYTES);
  boxes = reserve(boxes, slotCount * <u32>BOX_BYTES, <u64>count * BOX_BYTES);
  ids = reserve(ids, slotCount << 2, <u64>count << 2);
  for (let s = slotCount; s < count; s++) {
    itemAt(s).id = 0;
    boxAt(s).tree = NO_TREE;
    boxAt(s).position = UNPLACED;
    store<u32>(ids + (<usize>s << 2), 0);
  }
  slotCount = count;
}

/** Writes a description (layout.ts, OBJECT_*) to a slot, but for its bounds. A new object without a matrix gets the identity. */
export function describe(id: u32, description: usize): void {
  const slot = slotOf(id);
  const item = itemAt(slot);
  const fresh = item.id != id;
  if (fresh) liveCount++;
  item.id = id;
  store<u32>(ids + (<usize>slot << 2), id);
  describeShape(item, description);
  item.flags = load<u32>(description, OBJECT_FLAGS);
  item.layers = load<u32>(description, OBJECT_LAYERS);
  item.collidesWith = load<u32>(description, OBJECT_COLLIDES_WITH);
  item.group = load<u32>(description, OBJECT_GROUP);
  item.contacts = load<u32>(description, OBJECT_CONTACTS);
  const world = worldOf(item);
  if (item.flags & FLAG_MATRIX) memory.copy(changetype<usize>(world), description + OBJECT_MATRIX, AFFINE_BYTES);
  else if (fresh) setIdentity(world);
}

export function forget(slot: u32): void {
  boxAt(slot).tree = NO_TREE;
  boxAt(slot).position = UNPLACED;
  itemAt(slot).id = 0;
  store<u32>(ids + (<usize>slot << 2), 0);
  liveCount--;
}

/** The shape of a description, and its box in object space. */
export function describeShape(item: Item, description: usize): void {
  item.shape = load<u32>(description, OBJECT_SHAPE);
  item.mesh = load<u32>(description, OBJECT_MESH);
  item.half = 0;
  if (item.shape == SHAPE_MESH) setMeshBounds(item);
  else if (item.shape == SHAPE_BOX) setBoxBounds(localOf(item), description);
  else if (item.shape == SHAPE_SPHERE) setSphereBounds(localOf(item), description);
  else setCapsuleBounds(item, description);
}

function setBoxBounds(local: Affine, description: usize): void {
  let hx = load<f64>(description, OBJECT_EXTENT);
  let hy = load<f64>(description, OBJECT_EXTENT + 8);
  let hz = load<f64>(description, OBJECT_EXTENT + 16);
  const least = thinnest(hx, hy, hz);
  hx = max(hx, least);
  hy = max(hy, least);
  hz = max(hz, least);
  const x = load<f64>(description, OBJECT_ROTATION);
  const y = load<f64>(description, OBJECT_ROTATION + 8);
  const z = load<f64>(description, OBJECT_ROTATION + 16);
  const w = load<f64>(description, OBJECT_ROTATION + 24);
  const s = 2.0 / (x * x + y * y + z * z + w * w);
  local.xx = (1.0 - s * (y * y + z * z)) * hx;
  local.xy = s * (x * y + z * w) * hx;
  local.xz = s * (x * z - y * w) * hx;
  local.yx = s * (x * y - z * w) * hy;
  local.yy = (1.0 - s * (x * x + z * z)) * hy;
  local.yz = s * (y * z + x * w) * hy;
  local.zx = s * (x * z + y * w) * hz;
  local.zy = s * (y * z - x * w) * hz;
  local.zz = (1.0 - s * (x * x + y * y)) * hz;
  setCentre(local, description);
}

function setCentre(local: Affine, description: usize): void {
  local.tx = load<f64>(description, OBJECT_CENTER);
  local.ty = load<f64>(description, OBJECT_CENTER + 8);
  local.tz = load<f64>(description, OBJECT_CENTER + 16);
}

function setSphereBounds(local: Affine, description: usize): void {
  setIdentity(local);
  local.xx = local.yy = local.zz = load<f64>(description, OBJECT_RADIUS);
  setCentre(local, description);
}

/** Its z runs along the segment, any two axes across it. */
function setCapsuleBounds(item: Item, description: usize): void {
  const local = localOf(item);
  const radius = load<f64>(description, OBJECT_RADIUS);
  const fromX = load<f64>(description, OBJECT_CENTER), toX = load<f64>(description, OBJECT_EXTENT);
  const fromY = load<f64>(description, OBJECT_CENTER + 8), toY = load<f64>(description, OBJECT_EXTENT + 8);
  const fromZ = load<f64>(description, OBJECT_CENTER + 16), toZ = load<f64>(description, OBJECT_EXTENT + 16);
  const dx = toX - fromX, dy = toY - fromY, dz = toZ - fromZ;
  // By the largest part, so that no square overflows or vanishes.
  const largest = max(max(abs(dx), abs(dy)), abs(dz));
  const ax = dx / largest, ay = dy / largest, az = dz / largest;
  const norm = sqrt(ax * ax + ay * ay + az * az);
  const length = largest == 0 ? 0 : largest * norm;
  const wx = largest == 0 ? 0 : ax / norm, wy = largest == 0 ? 0 : ay / norm, wz = largest == 0 ? 1 : az / norm;
  setBasis(wx, wy, wz);
  item.half = 0.5 * length / radius;
  const along = radius + 0.5 * length;
  local.xx = firstX * radius; local.xy = firstY * radius; local.xz = firstZ * radius;
  local.yx = secondX * radius; local.yy = secondY * radius; local.yz = secondZ * radius;
  local.zx = wx * along; local.zy = wy * along; local.zz = wz * along;
  local.tx = 0.5 * (fromX + toX);
  local.ty = 0.5 * (fromY + toY);
  local.tz = 0.5 * (fromZ + toZ);
}

/** The same, of a mesh. */
export function setMeshBounds(item: Item): void {
  const local = localOf(item);
  const mesh = changetype<Mesh>(item.mesh);
  setIdentity(local);
  const x = 0.5 * (mesh.highX - mesh.lowX), y = 0.5 * (mesh.highY - mesh.lowY), z = 0.5 * (mesh.highZ - mesh.lowZ);
  const least = thinnest(x, y, z);
  local.xx = max(x, least);
  local.yy = max(y, least);
  local.zz = max(z, least);
  local.tx = 0.5 * (mesh.highX + mesh.lowX);
  local.ty = 0.5 * (mesh.highY + mesh.lowY);
  local.tz = 0.5 * (mesh.highZ + mesh.lowZ);
}

/** Flat meshes and boxes get a thickness that nobody sees, so that every oriented box can be inverted. */
function thinnest(x: f64, y: f64, z: f64): f64 {
  return max(max(max(x, y), z) * 1e-9, 1e-90);
}

const bounds = changetype<Affine>(memory.data(96, 16));

/** The cube [-1, 1]³ to the oriented bounds, in a place that the next call reuses. */
export function orientedBounds(slot: u32): Affine {
  const item = itemAt(slot);
  multiply(bounds, worldOf(item), localOf(item));
  return bounds;
}

/** World bounds by slot from the oriented ones. */
export function setBox(slot: u32, b: Affine): void {
  changes++;
  const box = boxAt(slot);
  const at = changetype<usize>(b);
  // x and y at once, then the two ends of z.
  const y = between(v128.load(at, 16), v128.load(at, 32)), t = between(v128.load(at, 64), v128.load(at, 80));
  const h = f64x2.add(f64x2.add(f64x2.abs(v128.load(at)), f64x2.abs(y)), f64x2.abs(v128.load(at, 48)));
  const middle = f64x2.sub(t, f64x2.replace_lane(f64x2.splat(sceneOriginX), 1, sceneOriginY));
  const z = b.tz - sceneOriginZ, hz = abs(b.xz) + abs(b.yz) + abs(b.zz);
  const ends = outward(f64x2.replace_lane(f64x2.splat(z - hz), 1, z + hz), f64x2(-OUTWARD, OUTWARD));
  const to = changetype<usize>(box);
  v128.store64_lane(to + offsetof<Box>('lowX'), outward(f64x2.sub(middle, h), f64x2.splat(-OUTWARD)), 0);
  box.lowZ = f32x4.extract_lane(ends, 0);
  v128.store64_lane(to + offsetof<Box>('highX'), outward(f64x2.add(middle, h), f64x2.splat(OUTWARD)), 0);
  box.highZ = f32x4.extract_lane(ends, 1);
}

/** All boxes anew, about another origin. */
export function moveOrigin(x: f64, y: f64, z: f64): void {
  sceneOriginX = x;
  sceneOriginY = y;
  sceneOriginZ = z;
  for (let slot: u32 = 0; slot < slotCount; slot++) if (idAt(slot) != 0) setBox(slot, orientedBounds(slot));
}

const OUTWARD: f64 = 1.1920928955078125e-7; // 2^-23, twice what rounding to float32 can take away
/** Boxes end here, far inside of float32: nothing that is made of them overflows. What lies beyond is tested by shape. */
const FARTHEST: f64 = 1e30;

// min and max of scalars branch, those of vectors do not.
/** Float32 that are surely no less than the two values, or with a negative share no greater. */
// @ts-ignore: decorator
@inline
function outward(values: v128, share: v128): v128 {
  const moved = f64x2.add(values, f64x2.mul(f64x2.abs(values), share));
  return f32x4.demote_f64x2_zero(
    f64x2.pmax(f64x2.pmin(moved, f64x2.splat(FARTHEST)), f64x2.splat(-FARTHEST)),
  );
}

/** A float32 that is surely no greater, as bounds have them. */
// @ts-ignore: decorator
@inline
export function below(value: f64): f32 {
  return f32x4.extract_lane(outward(f64x2.splat(value), f64x2.splat(-OUTWARD)), 0);
}

// @ts-ignore: decorator
@inline
export function above(value: f64): f32 {
  return f32x4.extract_lane(outward(f64x2.splat(value), f64x2.splat(OUTWARD)), 0);
}
