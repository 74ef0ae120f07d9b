// The ray in the space of an object's representation: its shape, a box or sphere around it, or one of its boxes.

import {
  PRECISION_MESH, PRECISION_OBB, PRECISION_SPHERE, SHAPE_BOX, SHAPE_MESH, SHAPE_SPHERE,
} from '../../../../shared/layout';
import { Affine, copy, invert, setIdentity } from '../../math/affine';
import { coordinateAt } from '../../math/two-term';
import { Mesh } from '../../mesh/tree/layout';
import { Proxy, boundsOf } from '../../shape/proxy';
import { boundsVersion, itemAt, placedShapeAt, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { boxList, boxInList } from '../../shape/box-list';
import { boxListOf, worldOf } from '../../shape/item';
import { HitBox, countHitBoxes, hasBones, hitBoxAt } from '../../skin/hit-boxes';
import { radiusOf } from '../index/bounding-spheres';
import { precision } from './filter';
import {
  originX, originY, originZ, directionX, directionY, directionZ, directionLowX, directionLowY, directionLowZ, FAR_RATIO,
  MAX_DISTANCE, findDirectionLow,
} from './ray-line';

// The representation of an object, with the object, precision and state that it was prepared for: rays come in large numbers,
// and often at the same object.
export const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
export const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
let preparedId: u32 = 0;
let preparedPrecision: u32 = 0;
let preparedVersion: u32 = 0;
/** The centre of the object's bounds, and the distance from there beyond which the ray's origin is far away. */
let centerX: f64 = 0, centerY: f64 = 0, centerZ: f64 = 0;
let farDistance: f64 = 0;
/** Whether boxes represent the object, given ones or those of its bones; then the prepared space is the object's own. */
export let isBoxed: bool = false;

// @ts-ignore: decorator
@inline
export function isPrepared(id: u32): bool {
  return id == preparedId && precision == preparedPrecision && boundsVersion == preparedVersion;
}

export function prepare(proxy: Proxy, tree: Tree, position: u32): void {
  const map = mapOf(solid);
  centerX = proxy.x;
  centerY = proxy.y;
  centerZ = proxy.z;
  const x = abs(proxy.xx) + abs(proxy.xy) + abs(proxy.xz);
  const y = abs(proxy.yx) + abs(proxy.yy) + abs(proxy.yz);
  const z = abs(proxy.zx) + abs(proxy.zy) + abs(proxy.zz);
  // Vector lanes find the largest, since nobody can predict which it is, and scalar max compiles to branches.
  const largest = f64x2.pmax(f64x2.pmax(f64x2.splat(x), f64x2.splat(y)), f64x2.splat(z));
  farDistance = FAR_RATIO * f64x2.extract_lane(largest, 0);
  const shape: u32 = proxy.shape;
  if (precision == PRECISION_OBB && shape == SHAPE_MESH && prepareBoxes(proxy.id)) return;
  // If the proxy suffices, the object's record, which is far away in memory, is not read.
  if (precision == PRECISION_OBB || (precision == PRECISION_MESH && (shape == SHAPE_BOX || shape == SHAPE_SPHERE))) {
    solid.shape = <u16>(precision == PRECISION_OBB ? SHAPE_BOX : shape);
    solid.half = 0;
    boundsOf(proxy, map);
  } else if (precision == PRECISION_SPHERE) {
    solid.shape = <u16>SHAPE_SPHERE;
    solid.half = 0;
    setIdentity(map);
    map.xx = map.yy = map.zz = radiusOf(tree, position);
    map.tx = proxy.x;
    map.ty = proxy.y;
    map.tz = proxy.z;
  } else placedShapeAt(solid, slotOf(proxy.id), precision);
  setPrepared(proxy.id);
}

export function setPrepared(id: u32): void {
  isBoxed = false;
  invert(inverse, mapOf(solid));
  preparedId = id;
  preparedPrecision = precision;
  preparedVersion = boundsVersion;
}

/** Prepares an object for its boxes. Returns false if none were given and no bones move it. */
export function prepareBoxes(id: u32): bool {
  const item = itemAt(slotOf(id));
  if (boxListOf(item) == 0 && !hasBones(changetype<Mesh>(item.mesh))) return false;
  solid.shape = <u16>SHAPE_BOX;
  solid.half = 0;
  copy(mapOf(solid), worldOf(item));
  setPrepared(id);
  isBoxed = true;
  return true;
}

// The ray in the solid's space; its direction is not unit there, so that t stays a length in the world.
export let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
export let localDirectionX: f64 = 0, localDirectionY: f64 = 0, localDirectionZ: f64 = 0;
/**
 * The start of the local ray, as a parameter of the ray and as a point in the world: it differs from the ray's origin if that is
 * far away.
 */
export let startT: f64 = 0;
export let startX: f64 = 0, startY: f64 = 0, startZ: f64 = 0;

// @ts-ignore: decorator
@inline
export function toLocal(): void {
  // Relative to the object's position first: far from the origin that is where the digits are.
  let x = originX - solid.tx, y = originY - solid.ty, z = originZ - solid.tz;
  startT = 0;
  startX = originX;
  startY = originY;
  startZ = originZ;
  const offsetX = originX - centerX, offsetY = originY - centerY, offsetZ = originZ - centerZ;
  const distance = abs(offsetX) + abs(offsetY) + abs(offsetZ);
  if (distance > farDistance && distance < MAX_DISTANCE) {
    findDirectionLow();
    startT = -(offsetX * directionX + offsetY * directionY + offsetZ * directionZ);
    x = coordinateAt(originX, solid.tx, startT, directionX, directionLowX);
    y = coordinateAt(originY, solid.ty, startT, directionY, directionLowY);
    z = coordinateAt(originZ, solid.tz, startT, directionZ, directionLowZ);
    startX = solid.tx + x;
    startY = solid.ty + y;
    startZ = solid.tz + z;
  }
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  localDirectionX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  localDirectionY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  localDirectionZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

// The boxes of the object that is cast at, and the ray in its space.
/** The list of the given boxes; 0 if they are those of the bones of `bonedMesh`. */
let boxListAddress: usize = 0;
let bonedMesh: Mesh = changetype<Mesh>(0);
export let hitBoxCount: u32 = 0;
export let hitBox: HitBox = changetype<HitBox>(0);
let objectOriginX: f64 = 0, objectOriginY: f64 = 0, objectOriginZ: f64 = 0;
let objectDirectionX: f64 = 0, objectDirectionY: f64 = 0, objectDirectionZ: f64 = 0;

export function beginHitBoxes(id: u32): void {
  const item = itemAt(slotOf(id));
  boxListAddress = boxListOf(item);
  bonedMesh = changetype<Mesh>(item.mesh);
  hitBoxCount = boxListAddress != 0 ? boxList(boxListAddress).count : countHitBoxes(bonedMesh);
  objectOriginX = localX; objectOriginY = localY; objectOriginZ = localZ;
  objectDirectionX = localDirectionX; objectDirectionY = localDirectionY; objectDirectionZ = localDirectionZ;
}

/** Transforms the ray to the space of a box, in which that is the cube. Returns false if there is no such box. */
export function toHitBox(i: u32): bool {
  if (i >= hitBoxCount) return false;
  hitBox = boxListAddress != 0 ? boxInList(boxListAddress, i) : hitBoxAt(bonedMesh, i);
  const m = hitBox.inverse();
  // Relative to the box's position first, as in toLocal.
  const x = objectOriginX - hitBox.tx, y = objectOriginY - hitBox.ty, z = objectOriginZ - hitBox.tz;
  localX = m.xx * x + m.yx * y + m.zx * z;
  localY = m.xy * x + m.yy * y + m.zy * z;
  localZ = m.xz * x + m.yz * y + m.zz * z;
  localDirectionX = m.xx * objectDirectionX + m.yx * objectDirectionY + m.zx * objectDirectionZ;
  localDirectionY = m.xy * objectDirectionX + m.yy * objectDirectionY + m.zy * objectDirectionZ;
  localDirectionZ = m.xz * objectDirectionX + m.yz * objectDirectionY + m.zz * objectDirectionZ;
  return true;
}

export let objectNormalX: f64 = 0, objectNormalY: f64 = 0, objectNormalZ: f64 = 0;

/** Transforms a normal of the cube to the object's space, by the inverse transpose; leaves that of other solids unchanged. */
// @ts-ignore: decorator
@inline
export function toObjectNormal(x: f64, y: f64, z: f64): void {
  const m = hitBox.inverse();
  objectNormalX = isBoxed ? m.xx * x + m.xy * y + m.xz * z : x;
  objectNormalY = isBoxed ? m.yx * x + m.yy * y + m.yz * z : y;
  objectNormalZ = isBoxed ? m.zx * x + m.zy * y + m.zz * z : z;
}
