// The record of an object: its shape, where that is, and who may ask about it. What the shape is made of is read from a
// description (layout.ts, OBJECT_*); the box around it in object space is derived here.

import {
  OBJECT_CENTER, OBJECT_EXTENT, OBJECT_MESH, OBJECT_RADIUS, OBJECT_ROTATION, OBJECT_SHAPE, SHAPE_BOX, SHAPE_MESH,
  SHAPE_POINT_LINE, SHAPE_SPHERE,
} from '../../../shared/layout';
import { Affine, setIdentity } from '../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { Mesh } from '../mesh/tree/layout';
import { isPointLine } from '../point-line/layout';

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
  /** The map from object space to the world. */
  worldXx: f64; worldXy: f64; worldXz: f64;
  worldYx: f64; worldYy: f64; worldYz: f64;
  worldZx: f64; worldZy: f64; worldZz: f64;
  worldTx: f64; worldTy: f64; worldTz: f64;
  /** The map from the cube to object space: the shape's own box. */
  localXx: f64; localXy: f64; localXz: f64;
  localYx: f64; localYy: f64; localYz: f64;
  localZx: f64; localZy: f64; localZz: f64;
  localTx: f64; localTy: f64; localTz: f64;
  /** Half of a capsule's segment, in radii. */
  half: f64;
  /** What its triangles show that is not as FLAG_SIDE says (mesh/query/face-sides.ts); 0 without. */
  faceSides: u32;
  pad: u32;
}

export const ITEM_BYTES: usize = offsetof<Item>();

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

/** Reads the shape of a description, and derives its box in object space. */
export function describeShape(item: Item, description: usize): void {
  item.shape = load<u32>(description, OBJECT_SHAPE);
  item.mesh = load<u32>(description, OBJECT_MESH);
  item.half = 0;
  if (item.shape == SHAPE_MESH) {
    if (isPointLine(item.mesh)) item.shape = SHAPE_POINT_LINE;
    setMeshBounds(item);
  }
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

/** Derives the box of a capsule: its z axis runs along the segment, the two others are any across it. */
function setCapsuleBounds(item: Item, description: usize): void {
  const local = localOf(item);
  const radius = load<f64>(description, OBJECT_RADIUS);
  const fromX = load<f64>(description, OBJECT_CENTER), toX = load<f64>(description, OBJECT_EXTENT);
  const fromY = load<f64>(description, OBJECT_CENTER + 8), toY = load<f64>(description, OBJECT_EXTENT + 8);
  const fromZ = load<f64>(description, OBJECT_CENTER + 16), toZ = load<f64>(description, OBJECT_EXTENT + 16);
  const dx = toX - fromX, dy = toY - fromY, dz = toZ - fromZ;
  // It is divided by the largest part, so that no square overflows or vanishes.
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

/** Derives the box of a mesh, of triangles or of points or lines. */
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

/**
 * Answers the least half size of a box with these half sizes. Flat meshes and boxes get a thickness that nobody sees,
 * so that every oriented box can be inverted.
 */
function thinnest(x: f64, y: f64, z: f64): f64 {
  return max(max(max(x, y), z) * 1e-9, 1e-90);
}
