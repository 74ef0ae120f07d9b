// The ray in the space of an object's representation: its shape, a box or sphere around it, or one of its boxes.

import {
  PRECISION_MESH, PRECISION_OBB, PRECISION_SPHERE, SHAPE_BOX, SHAPE_MESH, SHAPE_SPHERE,
} from '../../../../shared/layout';
import { Affine, copy, invert, setIdentity } from '../../math/affine';
import { coordinateAt } from '../../math/two-term';
import { Mesh } from '../../mesh/tree/layout';
import { Proxy, boundsOf } from '../../shape/proxy';
import { changes, itemAt, placedShapeAt, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { boxList, listedBox } from '../../shape/box-list';
import { boxListOf, worldOf } from '../../shape/item';
import { HitBox, countHitBoxes, hasBones, hitBoxAt } from '../../skin/hit-boxes';
import { radiusOf } from '../index/bounding-spheres';
import { precision } from './filter';
import {
  originX, originY, originZ, directionX, directionY, directionZ, directionLowX, directionLowY, directionLowZ, FAR,
  TOO_FAR, findDirectionLow,
} from './ray-line';

// The representation of an object, with the object, precision and state that it was prepared for: rays come in large numbers,
// and often at the same object.
export const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
export const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
let preparedId: u32 = 0;
let preparedFor: u32 = 0;
let preparedAt: u32 = 0;
/** The centre of the object's bounds, and the distance from there beyond which the ray's origin is far away. */
let centreX: f64 = 0, centreY: f64 = 0, centreZ: f64 = 0;
let farDistance: f64 = 0;
/** Whether boxes represent the object, given ones or those of its bones; then the prepared space is the object's own. */
export let isBoxed: bool = false;

// @ts-ignore: decorator
@inline
export function isPrepared(id: u32): bool {
  return id == preparedId && precision == preparedFor && changes == preparedAt;
}

export function prepare(proxy: Proxy, tree: Tree, position: u32): void {
  const map = mapOf(solid);
  centreX = proxy.x;
  centreY = proxy.y;
  centreZ = proxy.z;
  const x = abs(proxy.xx) + abs(proxy.xy) + abs(proxy.xz);
  const y = abs(proxy.yx) + abs(proxy.yy) + abs(proxy.yz);
  const z = abs(proxy.zx) + abs(proxy.zy) + abs(proxy.zz);
  // Vector lanes find the largest, since nobody can predict which it is, and scalar max compiles to branches.
  const largest = f64x2.pmax(f64x2.pmax(f64x2.splat(x), f64x2.splat(y)), f64x2.splat(z));
  farDistance = FAR * f64x2.extract_lane(largest, 0);
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
  remember(proxy.id);
}

export function remember(id: u32): void {
  isBoxed = false;
  invert(inverse, mapOf(solid));
  preparedId = id;
  preparedFor = precision;
  preparedAt = changes;
}

/** Prepares an object for its boxes. Returns false if none were given and no bones move it. */
export function prepareBoxes(id: u32): bool {
  const item = itemAt(slotOf(id));
  if (boxListOf(item) == 0 && !hasBones(changetype<Mesh>(item.mesh))) return false;
  solid.shape = <u16>SHAPE_BOX;
  solid.half = 0;
  copy(mapOf(solid), worldOf(item));
  remember(id);
  isBoxed = true;
  return true;
}

// The ray in the solid's space; its direction is not unit there, so that t stays a length in the world.
export let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
export let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;
/**
 * The start of the local ray, as a parameter of the ray and as a point in the world: it differs from the ray's origin if that is
 * far away.
 */
export let nearT: f64 = 0;
export let nearX: f64 = 0, nearY: f64 = 0, nearZ: f64 = 0;

// @ts-ignore: decorator
@inline
export function toLocal(): void {
  // Relative to the object's position first: far from the origin that is where the digits are.
  let x = originX - solid.tx, y = originY - solid.ty, z = originZ - solid.tz;
  nearT = 0;
  nearX = originX;
  nearY = originY;
  nearZ = originZ;
  const wayX = originX - centreX, wayY = originY - centreY, wayZ = originZ - centreZ;
  const away = abs(wayX) + abs(wayY) + abs(wayZ);
  if (away > farDistance && away < TOO_FAR) {
    findDirectionLow();
    nearT = -(wayX * directionX + wayY * directionY + wayZ * directionZ);
    x = coordinateAt(originX, solid.tx, nearT, directionX, directionLowX);
    y = coordinateAt(originY, solid.ty, nearT, directionY, directionLowY);
    z = coordinateAt(originZ, solid.tz, nearT, directionZ, directionLowZ);
    nearX = solid.tx + x;
    nearY = solid.ty + y;
    nearZ = solid.tz + z;
  }
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  alongX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  alongY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  alongZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

// The boxes of the object that is cast at, and the ray in its space.
/** The list of the given boxes; 0 if they are those of the bones of `boned`. */
let given: usize = 0;
let boned: Mesh = changetype<Mesh>(0);
export let hitBoxCount: u32 = 0;
export let hitBox: HitBox = changetype<HitBox>(0);
let ownFromX: f64 = 0, ownFromY: f64 = 0, ownFromZ: f64 = 0;
let ownAlongX: f64 = 0, ownAlongY: f64 = 0, ownAlongZ: f64 = 0;

export function beginHitBoxes(id: u32): void {
  const item = itemAt(slotOf(id));
  given = boxListOf(item);
  boned = changetype<Mesh>(item.mesh);
  hitBoxCount = given != 0 ? boxList(given).count : countHitBoxes(boned);
  ownFromX = localX; ownFromY = localY; ownFromZ = localZ;
  ownAlongX = alongX; ownAlongY = alongY; ownAlongZ = alongZ;
}

/** Transforms the ray to the space of a box, in which that is the cube. Returns false if there is no such box. */
export function toHitBox(i: u32): bool {
  if (i >= hitBoxCount) return false;
  hitBox = given != 0 ? listedBox(given, i) : hitBoxAt(boned, i);
  const m = hitBox.inverse();
  // Relative to the box's position first, as in toLocal.
  const x = ownFromX - hitBox.tx, y = ownFromY - hitBox.ty, z = ownFromZ - hitBox.tz;
  localX = m.xx * x + m.yx * y + m.zx * z;
  localY = m.xy * x + m.yy * y + m.zy * z;
  localZ = m.xz * x + m.yz * y + m.zz * z;
  alongX = m.xx * ownAlongX + m.yx * ownAlongY + m.zx * ownAlongZ;
  alongY = m.xy * ownAlongX + m.yy * ownAlongY + m.zy * ownAlongZ;
  alongZ = m.xz * ownAlongX + m.yz * ownAlongY + m.zz * ownAlongZ;
  return true;
}

export let ownNormalX: f64 = 0, ownNormalY: f64 = 0, ownNormalZ: f64 = 0;

/** Transforms a normal of the cube to the object's space, by the inverse transpose; leaves that of other solids unchanged. */
// @ts-ignore: decorator
@inline
export function toOwnNormal(x: f64, y: f64, z: f64): void {
  const m = hitBox.inverse();
  ownNormalX = isBoxed ? m.xx * x + m.xy * y + m.xz * z : x;
  ownNormalY = isBoxed ? m.yx * x + m.yy * y + m.yz * z : y;
  ownNormalZ = isBoxed ? m.zx * x + m.zy * y + m.zz * z : z;
}
