// Decides whether a sphere or capsule certainly misses the oriented bounds of an object, in float32.

import { Support } from '../../contact/convex/support';
import { Proxy } from '../../shape/proxy';
import { wayX, wayY, wayZ } from '../../sweep/motion';

/** Half of its axis, its way, and its radius. */
let axisX: v128 = i32x4.splat(0), axisY: v128 = i32x4.splat(0), axisZ: v128 = i32x4.splat(0);
let alongX: v128 = i32x4.splat(0), alongY: v128 = i32x4.splat(0), alongZ: v128 = i32x4.splat(0);
let radius: f32 = 0;
/** The sum of the absolute coordinates of the way and of the axis, and the radius. */
let terms: f32 = 0;

/** Sets a sphere or capsule that does not turn, and its way. */
export function setRound(body: Support): void {
  const hasAxis = body.edges != 0;
  const x = hasAxis ? body.edge0X : 0, y = hasAxis ? body.edge0Y : 0, z = hasAxis ? body.edge0Z : 0;
  axisX = f32x4.splat(<f32>x); axisY = f32x4.splat(<f32>y); axisZ = f32x4.splat(<f32>z);
  alongX = f32x4.splat(<f32>wayX); alongY = f32x4.splat(<f32>wayY); alongZ = f32x4.splat(<f32>wayZ);
  radius = <f32>body.radius;
  terms = <f32>(abs(wayX) + abs(wayY) + abs(wayZ) + abs(x) + abs(y) + abs(z) + body.radius);
}

/** Far more than the rounding error in float32, relative to the inputs: 2⁻¹⁸. */
const SLACK: f32 = 3.814697265625e-6;
/** The cube that represents a box, and a margin. */
const CUBE_SIZE: f32 = 1.00001;

/**
 * Returns whether the shape certainly misses the oriented bounds of an object until a time. In the space in which the bounds are
 * a cube, the way of the shape's centre is a segment, and the cube is enlarged by the shape's extent along each of its axes. A
 * separating axis is one of these axes, or the cross product of one of them and the way (Ericson, "Real-Time Collision
 * Detection", 2005, 5.3.3).
 */
// @ts-ignore: decorator
@inline
export function passesBy(proxy: Proxy, fromX: f64, fromY: f64, fromZ: f64, until: f64): bool {
  const at = changetype<usize>(proxy);
  // The columns of the map to that space; the last lane is ignored.
  const x = v128.load(at), y = v128.load(at, 12), z = v128.load(at, 24);
  const half = <f32>(0.5 * until);
  const dx = <f32>(fromX - proxy.x), dy = <f32>(fromY - proxy.y), dz = <f32>(fromZ - proxy.z);
  const rate = f32x4.mul(mapped(x, y, z, alongX, alongY, alongZ), f32x4.splat(half));
  const middle = f32x4.add(mapped(x, y, z, f32x4.splat(dx), f32x4.splat(dy), f32x4.splat(dz)), rate);
  const axis = f32x4.abs(mapped(x, y, z, axisX, axisY, axisZ));
  const rows = f32x4.sqrt(mapped(x, y, z, x, y, z));
  const more = radius + SLACK * (abs(dx) + abs(dy) + abs(dz) + terms);
  const reach = f32x4.add(f32x4.add(f32x4.splat(CUBE_SIZE), axis), f32x4.mul(rows, f32x4.splat(more)));
  const far = f32x4.abs(rate);
  const beyond = f32x4.gt(f32x4.abs(middle), f32x4.add(reach, far));
  const cross = f32x4.sub(f32x4.mul(next(middle), after(rate)), f32x4.mul(after(middle), next(rate)));
  const both = f32x4.add(f32x4.mul(next(reach), after(far)), f32x4.mul(after(reach), next(far)));
  return (i32x4.bitmask(v128.or(beyond, f32x4.gt(f32x4.abs(cross), both))) & 7) != 0;
}

/** The components y, z, x and z, x, y. */
// @ts-ignore: decorator
@inline
function next(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 1, 2, 0, 3);
}
// @ts-ignore: decorator
@inline
function after(v: v128): v128 {
  return v128.shuffle<f32>(v, v, 2, 0, 1, 3);
}

// @ts-ignore: decorator
@inline
function mapped(x: v128, y: v128, z: v128, u: v128, v: v128, w: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, u), f32x4.mul(y, v)), f32x4.mul(z, w));
}
