// Decides whether a sphere or capsule certainly misses the oriented bounds of an object, in float32.

import { Support } from '../../contact/convex/support';
import { Proxy } from '../../shape/proxy';
import { translationX, translationY, translationZ } from '../../sweep/motion';

/** Half of its axis, its motion, and its radius. */
let halfAxisX: v128 = i32x4.splat(0), halfAxisY: v128 = i32x4.splat(0), halfAxisZ: v128 = i32x4.splat(0);
let motionLanesX: v128 = i32x4.splat(0), motionLanesY: v128 = i32x4.splat(0), motionLanesZ: v128 = i32x4.splat(0);
let radius: f32 = 0;
/** The sum of the absolute coordinates of the motion and of the axis, and the radius. */
let terms: f32 = 0;

/** Sets a sphere or capsule that does not rotate, and its motion. */
export function setRoundShape(round: Support): void {
  const hasAxis = round.edgeCount != 0;
  const x = hasAxis ? round.edge0X : 0, y = hasAxis ? round.edge0Y : 0, z = hasAxis ? round.edge0Z : 0;
  halfAxisX = f32x4.splat(<f32>x); halfAxisY = f32x4.splat(<f32>y); halfAxisZ = f32x4.splat(<f32>z);
  motionLanesX = f32x4.splat(<f32>translationX); motionLanesY = f32x4.splat(<f32>translationY);
  motionLanesZ = f32x4.splat(<f32>translationZ);
  radius = <f32>round.radius;
  terms = <f32>(abs(translationX) + abs(translationY) + abs(translationZ) + abs(x) + abs(y) + abs(z) + round.radius);
}

/** Far more than the rounding error in float32, relative to the inputs: 2⁻¹⁸. */
const SLACK: f32 = 3.814697265625e-6;
/** The cube that represents a box, and a margin. */
const CUBE_SIZE: f32 = 1.00001;

/**
 * Returns whether the shape certainly misses the oriented bounds of an object until a time. In the space in which the bounds are
 * a cube, the path of the shape's centre is a segment, and the cube is enlarged by the shape's extent along each of its axes. A
 * separating axis is one of these axes, or the cross product of one of them and the motion (Ericson, "Real-Time Collision
 * Detection", 2005, 5.3.3).
 */
// @ts-ignore: decorator
@inline
export function missesBounds(proxy: Proxy, fromX: f64, fromY: f64, fromZ: f64, endTime: f64): bool {
  const at = changetype<usize>(proxy);
  // The columns of the map to that space; the last lane is ignored.
  const x = v128.load(at), y = v128.load(at, 12), z = v128.load(at, 24);
  const halfTime = <f32>(0.5 * endTime);
  const dx = <f32>(fromX - proxy.x), dy = <f32>(fromY - proxy.y), dz = <f32>(fromZ - proxy.z);
  const halfMotion = f32x4.mul(transformed(x, y, z, motionLanesX, motionLanesY, motionLanesZ), f32x4.splat(halfTime));
  const center = f32x4.add(transformed(x, y, z, f32x4.splat(dx), f32x4.splat(dy), f32x4.splat(dz)), halfMotion);
  const axis = f32x4.abs(transformed(x, y, z, halfAxisX, halfAxisY, halfAxisZ));
  const rowLengths = f32x4.sqrt(transformed(x, y, z, x, y, z));
  const inflation = radius + SLACK * (abs(dx) + abs(dy) + abs(dz) + terms);
  const halfExtent = f32x4.add(f32x4.add(f32x4.splat(CUBE_SIZE), axis), f32x4.mul(rowLengths, f32x4.splat(inflation)));
  const absHalfMotion = f32x4.abs(halfMotion);
  const isSeparated = f32x4.gt(f32x4.abs(center), f32x4.add(halfExtent, absHalfMotion));
  const cross = f32x4.sub(f32x4.mul(yzx(center), zxy(halfMotion)), f32x4.mul(zxy(center), yzx(halfMotion)));
  const crossExtent = f32x4.add(f32x4.mul(yzx(halfExtent), zxy(absHalfMotion)), f32x4.mul(zxy(halfExtent), yzx(absHalfMotion)));
  return (i32x4.bitmask(v128.or(isSeparated, f32x4.gt(f32x4.abs(cross), crossExtent))) & 7) != 0;
}

/** The components y, z, x and z, x, y. */
// @ts-ignore: decorator
@inline
function yzx(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 1, 2, 0, 3);
}
// @ts-ignore: decorator
@inline
function zxy(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 2, 0, 1, 3);
}

// @ts-ignore: decorator
@inline
function transformed(x: v128, y: v128, z: v128, u: v128, v: v128, w: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, u), f32x4.mul(y, v)), f32x4.mul(z, w));
}
