// Which boxes, points and lines a thick ray (thick-ray.ts) may hit, four at a time in float32. Boxes are inflated according
// to r over their extent and tested against the ray itself, with a bound on rounding; points and lines are filtered by a and
// b. element-hit.ts decides in float64.

import { reciprocals, roundUp } from '../math/interval';
import { lane0, lane1, lane2 } from '../math/lanes';
import { keyOf } from '../mesh/query/entry-keys';
import { Node } from '../mesh/tree/layout';
import { LINE_END, LINE_Y, LINE_Z, POINT_Y, POINT_Z } from './layout';
import {
  ax, ay, az, aw, bx, by, bz, bw, rx, ry, rz, rw, tx, ty, tz, tw, directionX, directionY, directionZ, entryT, entryX, entryY,
  entryZ, exitT, extentX, extentY, extentZ, maxRadius, paddingX, paddingY, paddingZ,
} from './thick-ray';

/**
 * Bounds of the rounding error of a function in float32, relative to its terms, and of slabs, relative to their
 * coordinates: 2⁻¹⁹.
 */
const ROUNDING: f64 = 1.9073486328125e-6;
/** If terms are larger than this in tree space, float32 cannot decide, and everything is left to float64. */
const MAX_F32_TERM: f64 = 1e9;

/** Whether nothing is filtered. */
let needsF64: bool = false;
/** Distance in tree space from the ray's entry beyond which nothing is needed, and its key (entry-keys.ts). */
let limit: f32 = 0;
export let maxKey: u32 = 0;
/** Length in tree space of a unit of t. */
let length: f64 = 1;

// The functions at all lanes. a, b and r are divided by the larger gradient of a and b, so that these are about 1; t is a
// length in tree space from the ray's entry.
let a0: v128 = i32x4.splat(0), a1: v128 = i32x4.splat(0), a2: v128 = i32x4.splat(0), a3: v128 = i32x4.splat(0);
let b0: v128 = i32x4.splat(0), b1: v128 = i32x4.splat(0), b2: v128 = i32x4.splat(0), b3: v128 = i32x4.splat(0);
let r0: v128 = i32x4.splat(0), r1: v128 = i32x4.splat(0), r2: v128 = i32x4.splat(0), r3: v128 = i32x4.splat(0);
let t0: v128 = i32x4.splat(0), t1: v128 = i32x4.splat(0), t2: v128 = i32x4.splat(0), t3: v128 = i32x4.splat(0);
let radiusError: v128 = i32x4.splat(0);
let tError: f32 = 0;
/** Whether r is not the same everywhere. */
let isCone: bool = false;

// Indices for i8x16.swizzle into the eight bytes of the bounds of a node's boxes along an axis.
/** Those of the bounds that the ray passes first, and last. */
let nearX: v128 = i32x4.splat(0), nearY: v128 = i32x4.splat(0), nearZ: v128 = i32x4.splat(0);
let farX: v128 = i32x4.splat(0), farY: v128 = i32x4.splat(0), farZ: v128 = i32x4.splat(0);
/** Those of the bounds on the side to which r grows, where it is largest. */
let growsX: v128 = i32x4.splat(0), growsY: v128 = i32x4.splat(0), growsZ: v128 = i32x4.splat(0);
/** The ray's entry, and reciprocals of its direction. */
let entry: v128 = i32x4.splat(0);
let inverse: v128 = i32x4.splat(0);
/** How much earlier a box is entered than its bounds along each axis, per unit of r, and for rounding. */
let entryPerRadius: v128 = i32x4.splat(0);
let entryError: v128 = i32x4.splat(0);

/** Sets the filter up for the ray that was mapped last. */
export function setUpFilter(): void {
  length = sqrt(directionX * directionX + directionY * directionY + directionZ * directionZ);
  const steepest = sqrt(f64.max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz));
  const inverseSteepest = 1.0 / steepest;
  const far = max(max(max(abs(entryX), abs(entryY)), abs(entryZ)), max(max(paddingX, paddingY), paddingZ));
  const lateral = (abs(aw) + abs(bw)) * inverseSteepest;
  needsF64 = !(far < MAX_F32_TERM && lateral < MAX_F32_TERM && maxRadius * inverseSteepest < MAX_F32_TERM &&
    (abs(rx) + abs(ry) + abs(rz)) * inverseSteepest < MAX_F32_TERM);
  limit = needsF64 ? <f32>Infinity : roundUp((exitT - entryT) * length);
  maxKey = keyOf(limit);
  setUpBoxes(steepest, <f32>(far * ROUNDING));

  a0 = f32x4.splat(<f32>(ax * inverseSteepest));
  a1 = f32x4.splat(<f32>(ay * inverseSteepest));
  a2 = f32x4.splat(<f32>(az * inverseSteepest));
  a3 = f32x4.splat(<f32>(aw * inverseSteepest));
  b0 = f32x4.splat(<f32>(bx * inverseSteepest));
  b1 = f32x4.splat(<f32>(by * inverseSteepest));
  b2 = f32x4.splat(<f32>(bz * inverseSteepest));
  b3 = f32x4.splat(<f32>(bw * inverseSteepest));
  r0 = f32x4.splat(<f32>(rx * inverseSteepest));
  r1 = f32x4.splat(<f32>(ry * inverseSteepest));
  r2 = f32x4.splat(<f32>(rz * inverseSteepest));
  r3 = f32x4.splat(<f32>(rw * inverseSteepest));
  const tilt = (abs(rx) + abs(ry) + abs(rz)) * 2.0 + abs(rw);
  radiusError = f32x4.splat(<f32>((lateral + 8.0 + tilt * inverseSteepest) * ROUNDING));
  t0 = f32x4.splat(<f32>(tx * length));
  t1 = f32x4.splat(<f32>(ty * length));
  t2 = f32x4.splat(<f32>(tz * length));
  const start = (tw - entryT) * length;
  t3 = f32x4.splat(<f32>start);
  tError = <f32>((abs(start) + 2.0 * (abs(tx) + abs(ty) + abs(tz)) * length) * ROUNDING);
}

function setUpBoxes(steepest: f64, positionError: f32): void {
  const inverseLength = 1.0 / length;
  entry = f32x4(<f32>entryX, <f32>entryY, <f32>entryZ, 0);
  inverse = reciprocals(
    f32x4(<f32>(directionX * inverseLength), <f32>(directionY * inverseLength), <f32>(directionZ * inverseLength), 1),
  );
  const absInverse = f32x4.abs(inverse);
  const signs = i32x4.bitmask(inverse);
  const minIndices = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1), toMaxIndices = i32x4.splat(4);
  nearX = v128.or(minIndices, i32x4.splat((signs & 1) << 2));
  nearY = v128.or(minIndices, i32x4.splat((signs & 2) << 1));
  nearZ = v128.or(minIndices, i32x4.splat(signs & 4));
  farX = v128.xor(nearX, toMaxIndices);
  farY = v128.xor(nearY, toMaxIndices);
  farZ = v128.xor(nearZ, toMaxIndices);
  isCone = rx != 0 || ry != 0 || rz != 0;
  growsX = v128.or(minIndices, i32x4.splat(rx > 0 ? 4 : 0));
  growsY = v128.or(minIndices, i32x4.splat(ry > 0 ? 4 : 0));
  growsZ = v128.or(minIndices, i32x4.splat(rz > 0 ? 4 : 0));
  entryPerRadius = f32x4.mul(
    f32x4(<f32>(extentX * steepest * 1.00001), <f32>(extentY * steepest * 1.00001), <f32>(extentZ * steepest * 1.00001), 0),
    absInverse,
  );
  entryError = f32x4.mul(f32x4.splat(positionError), absInverse);
}

/** Leaves out what is beyond a hit at t from now on. */
export function limitTo(t: f64): void {
  if (needsF64) return;
  limit = min(limit, roundUp((t - entryT) * length));
  maxKey = keyOf(limit);
}

/** The distances at which the ray enters the boxes of the last tested node. */
export let entries: v128 = i32x4.splat(0);

/** Returns which of a node's four boxes the ray may hit, a bit each, and sets `entries`. */
// @ts-ignore: decorator
@inline
export function enteredBoxes(node: usize): u32 {
  const origin = v128.load(node, offsetof<Node>('originX'));
  const step = v128.load(node, offsetof<Node>('scaleX'));
  const qx = v128.load64_zero(node), qy = v128.load64_zero(node, 8), qz = v128.load64_zero(node, 16);
  let radius = r3;
  if (isCone) {
    radius = f32x4.add(radius, f32x4.mul(r0, boundsAt(i8x16.swizzle(qx, growsX), lane0(origin), lane0(step))));
    radius = f32x4.add(radius, f32x4.mul(r1, boundsAt(i8x16.swizzle(qy, growsY), lane1(origin), lane1(step))));
    radius = f32x4.add(radius, f32x4.mul(r2, boundsAt(i8x16.swizzle(qz, growsZ), lane2(origin), lane2(step))));
  }
  radius = f32x4.add(f32x4.pmax(radius, f32x4.splat(0)), radiusError);
  const inflationX = f32x4.add(f32x4.mul(radius, lane0(entryPerRadius)), lane0(entryError));
  const inflationY = f32x4.add(f32x4.mul(radius, lane1(entryPerRadius)), lane1(entryError));
  const inflationZ = f32x4.add(f32x4.mul(radius, lane2(entryPerRadius)), lane2(entryError));
  const base = f32x4.mul(f32x4.sub(origin, entry), inverse), slope = f32x4.mul(step, inverse);
  const baseX = lane0(base), baseY = lane1(base), baseZ = lane2(base);
  const slopeX = lane0(slope), slopeY = lane1(slope), slopeZ = lane2(slope);
  const near = f32x4.pmax(
    f32x4.pmax(
      f32x4.sub(boundsAt(i8x16.swizzle(qx, nearX), baseX, slopeX), inflationX),
      f32x4.sub(boundsAt(i8x16.swizzle(qy, nearY), baseY, slopeY), inflationY),
    ),
    f32x4.sub(boundsAt(i8x16.swizzle(qz, nearZ), baseZ, slopeZ), inflationZ),
  );
  const far = f32x4.pmin(
    f32x4.pmin(
      f32x4.add(boundsAt(i8x16.swizzle(qx, farX), baseX, slopeX), inflationX),
      f32x4.add(boundsAt(i8x16.swizzle(qy, farY), baseY, slopeY), inflationY),
    ),
    f32x4.add(boundsAt(i8x16.swizzle(qz, farZ), baseZ, slopeZ), inflationZ),
  );
  if (needsF64) {
    entries = f32x4.splat(0);
    return 15;
  }
  entries = f32x4.pmax(f32x4.splat(0), near); // in this order -0 becomes 0
  return <u32>i32x4.bitmask(f32x4.le(entries, f32x4.pmin(far, f32x4.splat(limit))));
}

/** Returns which of four points the ray may hit, a bit each. */
// @ts-ignore: decorator
@inline
export function nearbyPoints(group: usize): u32 {
  if (needsF64) return 15;
  const x = v128.load(group), y = v128.load(group, POINT_Y), z = v128.load(group, POINT_Z);
  const a = evaluate(a0, a1, a2, a3, x, y, z), b = evaluate(b0, b1, b2, b3, x, y, z);
  const r = f32x4.add(isCone ? evaluate(r0, r1, r2, r3, x, y, z) : r3, radiusError);
  const isNear = f32x4.le(f32x4.add(f32x4.mul(a, a), f32x4.mul(b, b)), f32x4.mul(r, r));
  return <u32>i32x4.bitmask(v128.and(isNear, f32x4.le(evaluate(t0, t1, t2, t3, x, y, z), f32x4.splat(limit + tError))));
}

/** Returns which of four lines the ray may hit, a bit each. */
// @ts-ignore: decorator
@inline
export function nearbyLines(group: usize): u32 {
  if (needsF64) return 15;
  const x = v128.load(group), y = v128.load(group, LINE_Y), z = v128.load(group, LINE_Z);
  const endX = v128.load(group, LINE_END), endY = v128.load(group, LINE_END + LINE_Y),
    endZ = v128.load(group, LINE_END + LINE_Z);
  const a = evaluate(a0, a1, a2, a3, x, y, z), b = evaluate(b0, b1, b2, b3, x, y, z);
  const c = f32x4.sub(evaluate(a0, a1, a2, a3, endX, endY, endZ), a);
  const d = f32x4.sub(evaluate(b0, b1, b2, b3, endX, endY, endZ), b);
  // Where the line passes the ray in the plane of a and b.
  const lengthSquared = f32x4.pmax(f32x4.splat(1e-30), f32x4.add(f32x4.mul(c, c), f32x4.mul(d, d)));
  const foot = f32x4.neg(f32x4.div(f32x4.add(f32x4.mul(a, c), f32x4.mul(b, d)), lengthSquared));
  const s = f32x4.pmin(f32x4.pmax(foot, f32x4.splat(0)), f32x4.splat(1));
  const e = f32x4.add(a, f32x4.mul(s, c)), f = f32x4.add(b, f32x4.mul(s, d));
  let r = r3;
  if (isCone) r = f32x4.pmax(evaluate(r0, r1, r2, r3, x, y, z), evaluate(r0, r1, r2, r3, endX, endY, endZ));
  r = f32x4.add(f32x4.pmax(r, f32x4.splat(0)), radiusError);
  return <u32>i32x4.bitmask(f32x4.le(f32x4.add(f32x4.mul(e, e), f32x4.mul(f, f)), f32x4.mul(r, r)));
}

// @ts-ignore: decorator
@inline
function boundsAt(q: v128, start: v128, step: v128): v128 {
  return f32x4.add(start, f32x4.mul(f32x4.convert_i32x4_s(q), step));
}

/** Evaluates a function at four points. */
// @ts-ignore: decorator
@inline
function evaluate(x: v128, y: v128, z: v128, w: v128, px: v128, py: v128, pz: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, px), f32x4.mul(y, py)), f32x4.add(f32x4.mul(z, pz), w));
}
