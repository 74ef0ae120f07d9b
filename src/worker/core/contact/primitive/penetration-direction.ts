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
const toWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const fromWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
// Dot products of the rows of the inverse, which give the length in the world of a plane's normal; and the world
// distance per unit along each axis.
const worldPerUnit: usize = memory.data(3 * F64_BYTES, 16);
let xx: f64 = 0, yy: f64 = 0, zz: f64 = 0, xy: f64 = 0, xz: f64 = 0, yz: f64 = 0;

/** The direction in world space. */
export let worldDirectionX: f64 = 0, worldDirectionY: f64 = 0, worldDirectionZ: f64 = 0;
/** The same direction in the solid's space, as a unit vector. */
let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
/**
 * The normal, in the solid's space, of the planes that are perpendicular to the direction in the world; scaled so that
 * its dot product with the direction is 1.
 */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
/** How far the solid reaches along that normal. */
let extent: f64 = 0;
/** The length in the solid's space of a vector of length 1 in the world along the direction. */
export let localPerWorld: f64 = 0;

export function setSolid(solid: PlacedShape, halfSegment: f64): void {
  half = halfSegment;
  copy(toWorld, mapOf(solid));
  invert(fromWorld, toWorld);
  xx = fromWorld.xx * fromWorld.xx + fromWorld.yx * fromWorld.yx + fromWorld.zx * fromWorld.zx;
  yy = fromWorld.xy * fromWorld.xy + fromWorld.yy * fromWorld.yy + fromWorld.zy * fromWorld.zy;
  zz = fromWorld.xz * fromWorld.xz + fromWorld.yz * fromWorld.yz + fromWorld.zz * fromWorld.zz;
  xy = fromWorld.xx * fromWorld.xy + fromWorld.yx * fromWorld.yy + fromWorld.zx * fromWorld.zy;
  xz = fromWorld.xx * fromWorld.xz + fromWorld.yx * fromWorld.yz + fromWorld.zx * fromWorld.zz;
  yz = fromWorld.xy * fromWorld.xz + fromWorld.yy * fromWorld.yz + fromWorld.zy * fromWorld.zz;
  store<f64>(worldPerUnit, 1.0 / sqrt(xx));
  store<f64>(worldPerUnit, 1.0 / sqrt(yy), 8);
  store<f64>(worldPerUnit, 1.0 / sqrt(zz), 16);
}

/**
 * Sets the direction to the normal of a plane in the solid's space. The normal's length does not matter, but must not be
 * 0.
 */
export function setDirection(x: f64, y: f64, z: f64): void {
  const u = fromWorld.xx * x + fromWorld.xy * y + fromWorld.xz * z;
  const v = fromWorld.yx * x + fromWorld.yy * y + fromWorld.yz * z;
  const w = fromWorld.zx * x + fromWorld.zy * y + fromWorld.zz * z;
  const length = sqrt(u * u + v * v + w * w);
  // Rounded to the float32 that is returned to the user, so that the depth belongs to exactly this direction.
  worldDirectionX = <f64>(<f32>(u / length));
  worldDirectionY = <f64>(<f32>(v / length));
  worldDirectionZ = <f64>(<f32>(w / length));
  const dx = fromWorld.xx * worldDirectionX + fromWorld.yx * worldDirectionY + fromWorld.zx * worldDirectionZ;
  const dy = fromWorld.xy * worldDirectionX + fromWorld.yy * worldDirectionY + fromWorld.zy * worldDirectionZ;
  const dz = fromWorld.xz * worldDirectionX + fromWorld.yz * worldDirectionY + fromWorld.zz * worldDirectionZ;
  localPerWorld = sqrt(dx * dx + dy * dy + dz * dz);
  localX = dx / localPerWorld;
  localY = dy / localPerWorld;
  localZ = dz / localPerWorld;
  const nx = toWorld.xx * worldDirectionX + toWorld.xy * worldDirectionY + toWorld.xz * worldDirectionZ;
  const ny = toWorld.yx * worldDirectionX + toWorld.yy * worldDirectionY + toWorld.yz * worldDirectionZ;
  const nz = toWorld.zx * worldDirectionX + toWorld.zy * worldDirectionY + toWorld.zz * worldDirectionZ;
  const scale = 1.0 / (nx * localX + ny * localY + nz * localZ);
  normalX = nx * scale;
  normalY = ny * scale;
  normalZ = nz * scale;
  extent = half == CUBE
    ? abs(normalX) + abs(normalY) + abs(normalZ)
    : sqrt(normalX * normalX + normalY * normalY + normalZ * normalZ) + half * abs(normalZ);
}

/** Returns an upper bound of `exitDistance` that is cheap to compute. */
// @ts-ignore: decorator
@inline
export function exitBound(t: Triangle): f64 {
  return extent - min(
    min(normalX * t.ax + normalY * t.ay + normalZ * t.az, normalX * t.bx + normalY * t.by + normalZ * t.bz),
    normalX * t.cx + normalY * t.cy + normalZ * t.cz,
  );
}

/** Returns the solid's extent along the direction. */
export function fullExtent(): f64 {
  return 2.0 * extent;
}

/** Returns how far a triangle must move along the direction to leave the solid, in the solid's unit of length. */
export function exitDistance(t: Triangle): f64 {
  return max(half == CUBE ? boxExitDistance(t, localX, localY, localZ)
    : capsuleExitDistance(half, t, localX, localY, localZ), 0.0);
}

/** Returns the distance in the world of planes that are 1 apart along axis 0, 1 or 2 of the solid's space. */
// @ts-ignore: decorator
@inline
export function worldPerUnitAlong(axis: usize): f64 {
  return load<f64>(worldPerUnit + (axis << 3));
}

/** Returns the squared length in the world of the normal of a plane in the solid's space. */
// @ts-ignore: decorator
@inline
export function normalLengthSquared(x: f64, y: f64, z: f64): f64 {
  return worldNormalDot(x, y, z, x, y, z);
}

/** Returns the dot product in the world of the normals of two planes in the solid's space. */
// @ts-ignore: decorator
@inline
export function worldNormalDot(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): f64 {
  return (
    ax * (xx * bx + xy * by + xz * bz) + ay * (xy * bx + yy * by + yz * bz) + az * (xz * bx + yz * by + zz * bz)
  );
}

/**
 * Returns component 0, 1 or 2 of a vector in the solid's space whose dot product with a point there is the point's
 * coordinate along a direction of the world.
 */
export function worldDirectionComponent(u: f64, v: f64, w: f64, component: usize): f64 {
  const column = changetype<usize>(toWorld) + component * 24;
  return load<f64>(column) * u + load<f64>(column, 8) * v + load<f64>(column, 16) * w;
}

/** Returns world coordinate 0, 1 or 2 of a point in the solid's space. */
export function worldCoordinate(x: f64, y: f64, z: f64, coordinate: usize): f64 {
  const row = changetype<usize>(toWorld) + (coordinate << 3);
  return load<f64>(row) * x + load<f64>(row, 24) * y + load<f64>(row, 48) * z + load<f64>(row, 72);
}
