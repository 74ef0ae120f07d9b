// The direction in which a mesh is moved out of a solid: as a unit vector in world space, as a direction in the solid's
// space, and as the normal of planes there. The distance that a triangle must move is the same in both spaces except for
// the unit of length.

import { Affine, copy, invert } from '../../math/affine';
import { Triangle } from '../../math/triangles';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { boxExitDistance } from './directional-depth-box';
import { CUBE } from './overlapping-triangles';
import { capsuleExitDistance } from './directional-depth-capsule';
import { F64_BYTES } from '../../sizes';

/** Half of the solid's segment, or CUBE; below it the solid's map to the world, and its inverse. */
export let half: f64 = 0;
const forth = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const back = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
// Dot products of the rows of the inverse, which give the length in the world of a plane's normal; and the world
// distance per unit along each axis.
const faceUnits: usize = memory.data(3 * F64_BYTES, 16);
let xx: f64 = 0, yy: f64 = 0, zz: f64 = 0, xy: f64 = 0, xz: f64 = 0, yz: f64 = 0;

/** The direction in world space. */
export let worldX: f64 = 0, worldY: f64 = 0, worldZ: f64 = 0;
/** The same direction in the solid's space, as a unit vector. */
let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
/**
 * The normal, in the solid's space, of the planes that are perpendicular to the direction in the world; scaled so that
 * its dot product with the direction is 1.
 */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
/** How far the solid reaches along that normal. */
let reach: f64 = 0;
/** The length in the solid's space of a vector of length 1 in the world along the direction. */
export let unit: f64 = 0;

export function setSolid(solid: PlacedShape, segment: f64): void {
  half = segment;
  copy(forth, mapOf(solid));
  invert(back, forth);
  xx = back.xx * back.xx + back.yx * back.yx + back.zx * back.zx;
  yy = back.xy * back.xy + back.yy * back.yy + back.zy * back.zy;
  zz = back.xz * back.xz + back.yz * back.yz + back.zz * back.zz;
  xy = back.xx * back.xy + back.yx * back.yy + back.zx * back.zy;
  xz = back.xx * back.xz + back.yx * back.yz + back.zx * back.zz;
  yz = back.xy * back.xz + back.yy * back.yz + back.zy * back.zz;
  store<f64>(faceUnits, 1.0 / sqrt(xx));
  store<f64>(faceUnits, 1.0 / sqrt(yy), 8);
  store<f64>(faceUnits, 1.0 / sqrt(zz), 16);
}

/**
 * Sets the direction to the normal of a plane in the solid's space. The normal's length does not matter, but must not be
 * 0.
 */
export function setWay(x: f64, y: f64, z: f64): void {
  const u = back.xx * x + back.xy * y + back.xz * z;
  const v = back.yx * x + back.yy * y + back.yz * z;
  const w = back.zx * x + back.zy * y + back.zz * z;
  const length = sqrt(u * u + v * v + w * w);
  // Rounded to the float32 that is returned to the user, so that the depth belongs to exactly this direction.
  worldX = <f64>(<f32>(u / length));
  worldY = <f64>(<f32>(v / length));
  worldZ = <f64>(<f32>(w / length));
  const dx = back.xx * worldX + back.yx * worldY + back.zx * worldZ;
  const dy = back.xy * worldX + back.yy * worldY + back.zy * worldZ;
  const dz = back.xz * worldX + back.yz * worldY + back.zz * worldZ;
  unit = sqrt(dx * dx + dy * dy + dz * dz);
  wayX = dx / unit;
  wayY = dy / unit;
  wayZ = dz / unit;
  const nx = forth.xx * worldX + forth.xy * worldY + forth.xz * worldZ;
  const ny = forth.yx * worldX + forth.yy * worldY + forth.yz * worldZ;
  const nz = forth.zx * worldX + forth.zy * worldY + forth.zz * worldZ;
  const along = 1.0 / (nx * wayX + ny * wayY + nz * wayZ);
  normalX = nx * along;
  normalY = ny * along;
  normalZ = nz * along;
  reach = half == CUBE
    ? abs(normalX) + abs(normalY) + abs(normalZ)
    : sqrt(normalX * normalX + normalY * normalY + normalZ * normalZ) + half * abs(normalZ);
}

/** Returns an upper bound of `exitDistance` that is cheap to compute. */
// @ts-ignore: decorator
@inline
export function exitBound(t: Triangle): f64 {
  return reach - min(
    min(normalX * t.ax + normalY * t.ay + normalZ * t.az, normalX * t.bx + normalY * t.by + normalZ * t.bz),
    normalX * t.cx + normalY * t.cy + normalZ * t.cz,
  );
}

/** Returns the solid's extent along the direction. */
export function whole(): f64 {
  return 2.0 * reach;
}

/** Returns how far a triangle must move along the direction to leave the solid, in the solid's unit of length. */
export function exitDistance(t: Triangle): f64 {
  return max(half == CUBE ? boxExitDistance(t, wayX, wayY, wayZ) : capsuleExitDistance(half, t, wayX, wayY, wayZ), 0.0);
}

/** Returns the distance in the world of planes that are 1 apart along axis 0, 1 or 2 of the solid's space. */
// @ts-ignore: decorator
@inline
export function faceUnit(axis: usize): f64 {
  return load<f64>(faceUnits + (axis << 3));
}

/** Returns the squared length in the world of the normal of a plane in the solid's space. */
// @ts-ignore: decorator
@inline
export function normalSquare(x: f64, y: f64, z: f64): f64 {
  return normalDot(x, y, z, x, y, z);
}

/** Returns the dot product in the world of the normals of two planes in the solid's space. */
// @ts-ignore: decorator
@inline
export function normalDot(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): f64 {
  return (
    ax * (xx * bx + xy * by + xz * bz) + ay * (xy * bx + yy * by + yz * bz) + az * (xz * bx + yz * by + zz * bz)
  );
}

/**
 * Returns component 0, 1 or 2 of a vector in the solid's space whose dot product with a point there is the point's
 * coordinate along a direction of the world.
 */
export function measureAlong(u: f64, v: f64, w: f64, component: usize): f64 {
  const column = changetype<usize>(forth) + component * 24;
  return load<f64>(column) * u + load<f64>(column, 8) * v + load<f64>(column, 16) * w;
}

/** Returns world coordinate 0, 1 or 2 of a point in the solid's space. */
export function placeOf(x: f64, y: f64, z: f64, coordinate: usize): f64 {
  const row = changetype<usize>(forth) + (coordinate << 3);
  return load<f64>(row) * x + load<f64>(row, 24) * y + load<f64>(row, 48) * z + load<f64>(row, 72);
}
