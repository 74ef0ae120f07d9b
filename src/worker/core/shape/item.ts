// The record of an object: its shape, its placement, and the filters that select it. The shape is read from a
// description (layout.ts, OBJECT_*). A mesh has its own bounding box; that of any other shape is derived here, and
// stored in a separate record: a million instances of a mesh are a million matrices and little more.

import {
  OBJECT_CENTER, OBJECT_EXTENT, OBJECT_MESH, OBJECT_RADIUS, OBJECT_SHAPE, SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE,
  SHAPE_SPHERE,
} from '../../../shared/layout';
import { Affine, copy, multiply, multiplyScaled, setIdentity } from '../math/affine';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../math/basis';
import { copyVectors } from '../math/lanes';
import { Mesh } from '../mesh/tree/layout';
import { isPointLine } from '../point-line/layout';
import { isPosed, poseOf } from '../skin/pose';
import { boxList } from './box-list';
import { setBoxMap, minHalfSize } from './box-map';

/** An object. Its oriented bounds are the cube [-1, 1]³ under world · (map to its own box). */
@unmanaged
export class Item {
  /** The map from object space to the world. */
  worldXx: f64; worldXy: f64; worldXz: f64;
  worldYx: f64; worldYy: f64; worldYz: f64;
  worldZx: f64; worldZy: f64; worldZz: f64;
  worldTx: f64; worldTy: f64; worldTz: f64;
  id: u32; // 0 if the slot is empty
  shape: u8;
  contacts: u8;
  flags: u16;
  /** The address of the mesh; 0 for other shapes. */
  mesh: u32;
  /** The address of the Primitive; for a mesh, of the boxes that stand for it (box-list.ts), 0 if none. */
  primitive: u32;
  layers: u32;
  collidesWith: u32;
  group: u32;
  /** The list of triangles whose visible sides differ from FLAG_SIDE (mesh/query/face-sides.ts); 0 if none. */
  faceSides: u32;
}

/** A sphere, box or capsule in object space. */
@unmanaged
export class Primitive {
  /** The map from the cube to object space: the shape's own box. */
  localXx: f64; localXy: f64; localXz: f64;
  localYx: f64; localYy: f64; localYz: f64;
  localZx: f64; localZy: f64; localZz: f64;
  localTx: f64; localTy: f64; localTz: f64;
  /** Half of a capsule's segment, in radii. */
  half: f64;
}

export const ITEM_BYTES: usize = offsetof<Item>();
export const PRIMITIVE_BYTES: usize = offsetof<Primitive>();
/** The bytes of a copy of an item followed by its primitive. */
export const ITEM_COPY_BYTES: usize = ITEM_BYTES + PRIMITIVE_BYTES;

/** Copies an item as it is now to ITEM_COPY_BYTES of memory. */
export function copyItem(to: usize, item: Item): void {
  copyVectors(to, changetype<usize>(item), ITEM_BYTES);
  if (!hasPrimitive(item)) return;
  copy(changetype<Affine>(to + ITEM_BYTES), localOf(item));
  changetype<Primitive>(to + ITEM_BYTES).half = halfOf(item);
}

/** Returns the item that was copied to an address by `copyItem`, with its primitive's address set. */
export function copiedItem(at: usize): Item {
  const item = changetype<Item>(at);
  if (hasPrimitive(item)) item.primitive = <u32>(at + ITEM_BYTES);
  return item;
}

// @ts-ignore: decorator
@inline
function hasPrimitive(item: Item): bool {
  return item.mesh == 0 && item.primitive != 0;
}

/** Returns the list of the boxes that stand for an object (box-list.ts); 0 if none. */
// @ts-ignore: decorator
@inline
export function boxListOf(item: Item): usize {
  return item.mesh != 0 ? <usize>item.primitive : 0;
}

// @ts-ignore: decorator
@inline
export function worldOf(item: Item): Affine {
  return changetype<Affine>(changetype<usize>(item));
}

/** Returns the map from the cube to the own box of an item that is not a mesh. */
// @ts-ignore: decorator
@inline
export function localOf(item: Item): Affine {
  return changetype<Affine>(<usize>item.primitive);
}

/** Returns half of a capsule's segment, in radii. */
// @ts-ignore: decorator
@inline
export function halfOf(item: Item): f64 {
  return changetype<Primitive>(<usize>item.primitive).half;
}

/** Reads the shape of a description. The item must already have a primitive, unless it is a mesh. */
export function describeShape(item: Item, description: usize): void {
  item.shape = <u8>load<u32>(description, OBJECT_SHAPE);
  item.mesh = load<u32>(description, OBJECT_MESH);
  if (item.shape == SHAPE_MESH) {
    if (isPointLine(item.mesh)) item.shape = <u8>SHAPE_POINT_LINE;
    return;
  }
  changetype<Primitive>(<usize>item.primitive).half = 0;
  if (item.shape == SHAPE_BOX) setBoxMap(localOf(item), description);
  else if (item.shape == SHAPE_SPHERE) setSphereBounds(localOf(item), description);
  else setCapsuleBounds(item, description);
}

/** Sets the map from the cube to the oriented bounds in the world. */
export function setOrientedBounds(out: Affine, item: Item): void {
  setBoundsUnder(out, item, worldOf(item));
}

/** Sets the oriented bounds of an item as if it were placed by another map from object space to the world. */
export function setBoundsUnder(out: Affine, item: Item, world: Affine): void {
  if (item.mesh == 0) {
    multiply(out, world, localOf(item));
    return;
  }
  const mesh = changetype<Mesh>(<usize>item.mesh);
  if (item.shape == SHAPE_MESH && isPosed(mesh)) {
    // The pose's bounds are the same before and after its triangles are moved.
    const pose = poseOf(mesh);
    setBoxOfBounds(out, world, pose.minX, pose.minY, pose.minZ, pose.maxX, pose.maxY, pose.maxZ);
  } else if (item.primitive != 0) {
    // The boxes may be larger than the mesh, or smaller.
    const list = boxList(<usize>item.primitive);
    setBoxOfBounds(
      out, world, min(mesh.minX, list.minX), min(mesh.minY, list.minY), min(mesh.minZ, list.minZ),
      max(mesh.maxX, list.maxX), max(mesh.maxY, list.maxY), max(mesh.maxZ, list.maxZ),
    );
  } else setBoxOfBounds(out, world, mesh.minX, mesh.minY, mesh.minZ, mesh.maxX, mesh.maxY, mesh.maxZ);
}

const scratchItem = changetype<Item>(memory.data(<i32>offsetof<Item>(), 16));

/** Writes the primitive of a description, which must not be that of a mesh, to an address. */
export function describePrimitive(to: usize, description: usize): void {
  scratchItem.primitive = <u32>to;
  describeShape(scratchItem, description);
}

function setBoxOfBounds(
  out: Affine, world: Affine, minX: f64, minY: f64, minZ: f64, maxX: f64, maxY: f64, maxZ: f64,
): void {
  const x = 0.5 * (maxX - minX), y = 0.5 * (maxY - minY), z = 0.5 * (maxZ - minZ);
  const minSize = minHalfSize(x, y, z);
  multiplyScaled(
    out, world, max(x, minSize), max(y, minSize), max(z, minSize),
    0.5 * (maxX + minX), 0.5 * (maxY + minY), 0.5 * (maxZ + minZ),
  );
}

function setCenter(local: Affine, description: usize): void {
  local.tx = load<f64>(description, OBJECT_CENTER);
  local.ty = load<f64>(description, OBJECT_CENTER + 8);
  local.tz = load<f64>(description, OBJECT_CENTER + 16);
}

function setSphereBounds(local: Affine, description: usize): void {
  setIdentity(local);
  local.xx = local.yy = local.zz = load<f64>(description, OBJECT_RADIUS);
  setCenter(local, description);
}

/** Derives the box of a capsule: its z axis runs along the segment, the other two are arbitrary perpendicular ones. */
function setCapsuleBounds(item: Item, description: usize): void {
  const local = localOf(item);
  const radius = load<f64>(description, OBJECT_RADIUS);
  const fromX = load<f64>(description, OBJECT_CENTER), toX = load<f64>(description, OBJECT_EXTENT);
  const fromY = load<f64>(description, OBJECT_CENTER + 8), toY = load<f64>(description, OBJECT_EXTENT + 8);
  const fromZ = load<f64>(description, OBJECT_CENTER + 16), toZ = load<f64>(description, OBJECT_EXTENT + 16);
  const dx = toX - fromX, dy = toY - fromY, dz = toZ - fromZ;
  // The direction is divided by its largest component, so that no square overflows or underflows.
  const largest = max(max(abs(dx), abs(dy)), abs(dz));
  const ax = dx / largest, ay = dy / largest, az = dz / largest;
  const norm = sqrt(ax * ax + ay * ay + az * az);
  const length = largest == 0 ? 0 : largest * norm;
  const wx = largest == 0 ? 0 : ax / norm, wy = largest == 0 ? 0 : ay / norm, wz = largest == 0 ? 1 : az / norm;
  setBasis(wx, wy, wz);
  changetype<Primitive>(<usize>item.primitive).half = 0.5 * length / radius;
  const halfLength = radius + 0.5 * length;
  local.xx = tangentX * radius; local.xy = tangentY * radius; local.xz = tangentZ * radius;
  local.yx = bitangentX * radius; local.yy = bitangentY * radius; local.yz = bitangentZ * radius;
  local.zx = wx * halfLength; local.zy = wy * halfLength; local.zz = wz * halfLength;
  local.tx = 0.5 * (fromX + toX);
  local.ty = 0.5 * (fromY + toY);
  local.tz = 0.5 * (fromZ + toZ);
}
