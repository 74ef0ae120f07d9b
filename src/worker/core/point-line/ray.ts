// A thick ray against a tree of points or lines. Four affine functions of a point define what is hit: its offset from the
// ray in two directions, a and b, the maximum offset r, and its parameter t along the ray. A point is hit if a² + b² ≤ r².
// With a constant r that is a cylinder, in the metric of the world or of the mesh; with an r that grows along the ray it is
// everything that is drawn within some pixels of a place on the screen.
//
// Boxes are inflated according to r over their extent and tested against the ray itself, four at a time in float32 with a
// bound on rounding; points and lines are filtered by a and b in float32; float64 decides.

import { HIT_BARYCENTRIC, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_POINT, HIT_TRIANGLE } from '../../../shared/layout';
import { newHit } from '../hits';
import { clip, enter, interval, leave, reciprocals, upward } from '../math/interval';
import { lane0, lane1, lane2 } from '../math/lanes';
import { keyOf, sortedKeys, waitingKeys } from '../mesh/query/entry-keys';
import { ALL, ANY, NEAREST } from '../mesh/query/ray';
import { countLeaf, countNode, countTriangle } from '../mesh/tree/counters';
import { LEAF, NODE_BYTES, Node, childOf, linkOf, maskOf, treeScale } from '../mesh/tree/layout';
import {
  LINE_BLOCK_BYTES, LINE_END, LINE_NUMBER, LINE_Y, LINE_Z, NO_ELEMENT, POINT_BLOCK_BYTES, POINT_NUMBER, POINT_Y, POINT_Z, PointLine, meshOf,
} from './layout';

/** A thick ray in mesh space. The fields named after one of the four functions are its gradient. */
@unmanaged
export class ThickRay {
  /** A point of the ray, where a, b and t are 0. */
  x: f64; y: f64; z: f64;
  /** The direction; t grows by 1 along it, a and b remain 0. */
  alongX: f64; alongY: f64; alongZ: f64;
  aX: f64; aY: f64; aZ: f64;
  bX: f64; bY: f64; bZ: f64;
  rX: f64; rY: f64; rZ: f64;
  tX: f64; tY: f64; tZ: f64;
  /** r at the point. */
  reach: f64;
  /** The ray is from `from` to `last`, and hits beyond `to` are not needed. */
  from: f64; last: f64; to: f64;
  /** Length of a unit of t in the unit of a and b. */
  metric: f64;
  /**
   * Whether the ray has a round cap at its beginning, so that the distance of points before that includes the way to it.
   * Else it is cut off.
   */
  round: bool;
  /**
   * Whether r is that of a place on the screen: then the part of a line that is drawn counts, from the ray's beginning to
   * its end. Else three's rules hold: a point is hit closer than r, a line no farther than r, and at its closest point.
   */
  drawn: bool;
}

// The last hit.
export let hitElement: i32 = -1;
/** The root of a² + b², plus the squared distance before the beginning of the ray. */
export let hitReach: f64 = 0;
/** The element's closest point to the ray, in mesh space. */
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;

// The four functions in tree space.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0, aw: f64 = 0;
let bx: f64 = 0, by: f64 = 0, bz: f64 = 0, bw: f64 = 0;
let rx: f64 = 0, ry: f64 = 0, rz: f64 = 0, rw: f64 = 0;
let tx: f64 = 0, ty: f64 = 0, tz: f64 = 0, tw: f64 = 0;
let begin: f64 = 0;
let metric: f64 = 1;
let round: bool = false;
let isDrawn: bool = false;
let last: f64 = 0;

/**
 * Bounds of the rounding error of a function in float32, relative to its terms, and of slabs, relative to their
 * coordinates: 2⁻¹⁹.
 */
const ROUNDING: f64 = 1.9073486328125e-6;
/** If terms are larger than this in tree space, float32 cannot decide, and everything is left to float64. */
const ROUGH: f64 = 1e9;

/** The stack of children, as in mesh/query/ray.ts. */
const PARENTS: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS, 16);

/**
 * Finds the nearest element that the ray hits and returns its t, or Infinity; of two at the same t, the one with the lower
 * number. ANY returns the first that is found. ALL returns Infinity: every hit becomes a record in hits.ts, with what is
 * known of it here, its point in mesh space. Throws OUT_OF_MEMORY with ALL.
 */
export function castThickRay(mesh: PointLine, ray: ThickRay, mode: u32): f64 {
  const scale = treeScale(meshOf(mesh)), shrink = 1.0 / scale;
  const x = (ray.x - mesh.offsetX) * scale, y = (ray.y - mesh.offsetY) * scale, z = (ray.z - mesh.offsetZ) * scale;
  const toX = ray.alongX * scale, toY = ray.alongY * scale, toZ = ray.alongZ * scale;
  ax = ray.aX * shrink; ay = ray.aY * shrink; az = ray.aZ * shrink; aw = -(ax * x + ay * y + az * z);
  bx = ray.bX * shrink; by = ray.bY * shrink; bz = ray.bZ * shrink; bw = -(bx * x + by * y + bz * z);
  tx = ray.tX * shrink; ty = ray.tY * shrink; tz = ray.tZ * shrink; tw = -(tx * x + ty * y + tz * z);
  rx = ray.rX * shrink; ry = ray.rY * shrink; rz = ray.rZ * shrink; rw = ray.reach - (rx * x + ry * y + rz * z);
  begin = ray.from;
  metric = ray.metric;
  round = ray.round;
  isDrawn = ray.drawn;
  last = ray.last;
  hitElement = -1;

  // Maximum offset from the ray along each axis, per unit of r: from the directions in which only a or only b grows by 1.
  const crossX = by * tz - bz * ty, crossY = bz * tx - bx * tz, crossZ = bx * ty - by * tx;
  const over = 1.0 / (ax * crossX + ay * crossY + az * crossZ);
  const vX = (ty * az - tz * ay) * over, vY = (tz * ax - tx * az) * over, vZ = (tx * ay - ty * ax) * over;
  const uX = crossX * over, uY = crossY * over, uZ = crossZ * over;
  const grownX = sqrt(uX * uX + vX * vX), grownY = sqrt(uY * uY + vY * vY), grownZ = sqrt(uZ * uZ + vZ * vZ);

  // The part of the ray near the mesh.
  const lowX = (mesh.lowX - mesh.offsetX) * scale, highX = (mesh.highX - mesh.offsetX) * scale;
  const lowY = (mesh.lowY - mesh.offsetY) * scale, highY = (mesh.highY - mesh.offsetY) * scale;
  const lowZ = (mesh.lowZ - mesh.offsetZ) * scale, highZ = (mesh.highZ - mesh.offsetZ) * scale;
  const most = rw + f64.max(rx * lowX, rx * highX) + f64.max(ry * lowY, ry * highY) + f64.max(rz * lowZ, rz * highZ);
  if (!(most >= 0)) return Infinity;
  const slack = (2.0 + abs(x) + abs(y) + abs(z)) * 3.552713678800501e-15; // 2^-48
  const growX = most * grownX * 1.000001 + slack, growY = most * grownY * 1.000001 + slack;
  const growZ = most * grownZ * 1.000001 + slack;
  let part = interval(round ? ray.from - (most * 1.000001) / ray.metric : ray.from, ray.to);
  part = clip(part, x, toX, lowX - growX, highX + growX);
  part = clip(part, y, toY, lowY - growY, highY + growY);
  part = clip(part, z, toZ, lowZ - growZ, highZ + growZ);
  const from = enter(part);
  if (!(from <= leave(part))) return Infinity;

  const length = sqrt(toX * toX + toY * toY + toZ * toZ), unit = 1.0 / length;
  const px = x + from * toX, py = y + from * toY, pz = z + from * toZ;
  const far = max(max(max(abs(px), abs(py)), abs(pz)), max(max(growX, growY), growZ));
  // In float32, a, b and r are divided by the larger gradient of a and b, so that these are about 1.
  const steepest = sqrt(f64.max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz));
  const shrunk = 1.0 / steepest;
  const lateral = (abs(aw) + abs(bw)) * shrunk;
  const isRough = !(far < ROUGH && lateral < ROUGH && most * shrunk < ROUGH && (abs(rx) + abs(ry) + abs(rz)) * shrunk < ROUGH);
  const extra = <f32>(far * ROUNDING);
  let limit = isRough ? <f32>Infinity : upward((leave(part) - from) * length);
  let farthest = keyOf(limit);
  let end = ray.to;
  let best: f64 = Infinity;

  const point = f32x4(<f32>px, <f32>py, <f32>pz, 0);
  const along = f32x4(<f32>(toX * unit), <f32>(toY * unit), <f32>(toZ * unit), 1);
  const inverse = reciprocals(along), steep = f32x4.abs(inverse);
  const signs = i32x4.bitmask(inverse);
  const low = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1), toHigh = i32x4.splat(4);
  const nearX = v128.or(low, i32x4.splat((signs & 1) << 2)), farX = v128.xor(nearX, toHigh);
  const nearY = v128.or(low, i32x4.splat((signs & 2) << 1)), farY = v128.xor(nearY, toHigh);
  const nearZ = v128.or(low, i32x4.splat(signs & 4)), farZ = v128.xor(nearZ, toHigh);
  // How much earlier a box is entered than its bounds, per unit of r, and for rounding.
  const sooner = f32x4.mul(
    f32x4(<f32>(grownX * steepest * 1.00001), <f32>(grownY * steepest * 1.00001), <f32>(grownZ * steepest * 1.00001), 0),
    steep,
  );
  const soonerX = lane0(sooner), soonerY = lane1(sooner), soonerZ = lane2(sooner);
  const doubt = f32x4.mul(f32x4.splat(extra), steep);
  const doubtX = lane0(doubt), doubtY = lane1(doubt), doubtZ = lane2(doubt);
  // r, and its maximum over a box: at the bounds on the side to which it grows.
  const isCone = rx != 0 || ry != 0 || rz != 0;
  const r0 = <f32>(rx * shrunk), r1 = <f32>(ry * shrunk), r2 = <f32>(rz * shrunk);
  const reachX = f32x4.splat(r0), reachY = f32x4.splat(r1), reachZ = f32x4.splat(r2);
  const reachW = f32x4.splat(<f32>(rw * shrunk));
  const growsX = v128.or(low, i32x4.splat(r0 > 0 ? 4 : 0)), growsY = v128.or(low, i32x4.splat(r1 > 0 ? 4 : 0));
  const growsZ = v128.or(low, i32x4.splat(r2 > 0 ? 4 : 0));
  const a0 = f32x4.splat(<f32>(ax * shrunk)), a1 = f32x4.splat(<f32>(ay * shrunk)), a2 = f32x4.splat(<f32>(az * shrunk));
  const b0 = f32x4.splat(<f32>(bx * shrunk)), b1 = f32x4.splat(<f32>(by * shrunk)), b2 = f32x4.splat(<f32>(bz * shrunk));
  const a3 = f32x4.splat(<f32>(aw * shrunk)), b3 = f32x4.splat(<f32>(bw * shrunk));
  const tilt = (abs(rx) + abs(ry) + abs(rz)) * 2.0 + abs(rw);
  const blur = f32x4.splat(<f32>((lateral + 8.0 + tilt * shrunk) * ROUNDING));
  // t as a length in tree space from where the ray enters.
  const t0 = f32x4.splat(<f32>(tx * length)), t1 = f32x4.splat(<f32>(ty * length)), t2 = f32x4.splat(<f32>(tz * length));
  const start = (tw - from) * length;
  const t3 = f32x4.splat(<f32>start);
  const late = <f32>((abs(start) + 2.0 * (abs(tx) + abs(ty) + abs(tz)) * length) * ROUNDING);

  const nodes = changetype<usize>(mesh) + mesh.nodes;
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  const isPoints = mesh.size == 1;
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const origin = v128.load(address, offsetof<Node>('originX'));
      const step = v128.load(address, offsetof<Node>('scaleX'));
      const qx = v128.load64_zero(address), qy = v128.load64_zero(address, 8), qz = v128.load64_zero(address, 16);
      const base = f32x4.mul(f32x4.sub(origin, point), inverse), slope = f32x4.mul(step, inverse);
      let reach = reachW;
      if (isCone) {
        reach = f32x4.add(reach, f32x4.mul(reachX, at(i8x16.swizzle(qx, growsX), lane0(origin), lane0(step))));
        reach = f32x4.add(reach, f32x4.mul(reachY, at(i8x16.swizzle(qy, growsY), lane1(origin), lane1(step))));
        reach = f32x4.add(reach, f32x4.mul(reachZ, at(i8x16.swizzle(qz, growsZ), lane2(origin), lane2(step))));
      }
      reach = f32x4.add(f32x4.pmax(reach, f32x4.splat(0)), blur);
      const byX = f32x4.add(f32x4.mul(reach, soonerX), doubtX);
      const byY = f32x4.add(f32x4.mul(reach, soonerY), doubtY);
      const byZ = f32x4.add(f32x4.mul(reach, soonerZ), doubtZ);
      const baseX = lane0(base), baseY = lane1(base), baseZ = lane2(base);
      const slopeX = lane0(slope), slopeY = lane1(slope), slopeZ = lane2(slope);
      let near = f32x4.pmax(
        f32x4.pmax(
          f32x4.sub(at(i8x16.swizzle(qx, nearX), baseX, slopeX), byX),
          f32x4.sub(at(i8x16.swizzle(qy, nearY), baseY, slopeY), byY),
        ),
        f32x4.sub(at(i8x16.swizzle(qz, nearZ), baseZ, slopeZ), byZ),
      );
      let far = f32x4.pmin(
        f32x4.pmin(
          f32x4.add(at(i8x16.swizzle(qx, farX), baseX, slopeX), byX),
          f32x4.add(at(i8x16.swizzle(qy, farY), baseY, slopeY), byY),
        ),
        f32x4.add(at(i8x16.swizzle(qz, farZ), baseZ, slopeZ), byZ),
      );
      near = isRough ? f32x4.splat(0) : f32x4.pmax(f32x4.splat(0), near); // in this order -0 becomes 0
      far = f32x4.pmin(far, f32x4.splat(limit));
      const hit: u32 = isRough ? 15 : <u32>i32x4.bitmask(f32x4.le(near, far));
      const bits = hit & maskOf(children);
      if (bits != 0) {
        const keys = sortedKeys(near, bits);
        const waiting: usize = popcnt(bits) - 1;
        v128.store(top, waitingKeys(keys, waiting));
        v128.store(top, i32x4.splat(child), PARENTS);
        top += waiting << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const most = f32x4.splat(limit + late);
      const block = blocks + <usize>(child & ~LEAF) * (isPoints ? POINT_BLOCK_BYTES : LINE_BLOCK_BYTES);
      const stop = isPoints ? block + POINT_Y : block + LINE_Y;
      for (let four = block; four < stop; four += 16) {
        let bits: u32;
        if (isPoints) {
          const qx = v128.load(four), qy = v128.load(four, POINT_Y), qz = v128.load(four, POINT_Z);
          const a = sum(a0, a1, a2, a3, qx, qy, qz), b = sum(b0, b1, b2, b3, qx, qy, qz);
          const r = f32x4.add(isCone ? sum(reachX, reachY, reachZ, reachW, qx, qy, qz) : reachW, blur);
          const isNear = f32x4.le(f32x4.add(f32x4.mul(a, a), f32x4.mul(b, b)), f32x4.mul(r, r));
          bits = <u32>i32x4.bitmask(v128.and(isNear, f32x4.le(sum(t0, t1, t2, t3, qx, qy, qz), most)));
        } else {
          const qx = v128.load(four), qy = v128.load(four, LINE_Y), qz = v128.load(four, LINE_Z);
          const sx = v128.load(four, LINE_END), sy = v128.load(four, LINE_END + LINE_Y), sz = v128.load(four, LINE_END + LINE_Z);
          const a = sum(a0, a1, a2, a3, qx, qy, qz), b = sum(b0, b1, b2, b3, qx, qy, qz);
          const c = f32x4.sub(sum(a0, a1, a2, a3, sx, sy, sz), a), d = f32x4.sub(sum(b0, b1, b2, b3, sx, sy, sz), b);
          // Where the line passes the ray in the plane of a and b.
          const square = f32x4.pmax(f32x4.splat(1e-30), f32x4.add(f32x4.mul(c, c), f32x4.mul(d, d)));
          const foot = f32x4.neg(f32x4.div(f32x4.add(f32x4.mul(a, c), f32x4.mul(b, d)), square));
          const s = f32x4.pmin(f32x4.pmax(foot, f32x4.splat(0)), f32x4.splat(1));
          const e = f32x4.add(a, f32x4.mul(s, c)), f = f32x4.add(b, f32x4.mul(s, d));
          let r = reachW;
          if (isCone) {
            r = f32x4.pmax(
              sum(reachX, reachY, reachZ, reachW, qx, qy, qz), sum(reachX, reachY, reachZ, reachW, sx, sy, sz),
            );
          }
          r = f32x4.add(f32x4.pmax(r, f32x4.splat(0)), blur);
          bits = <u32>i32x4.bitmask(f32x4.le(f32x4.add(f32x4.mul(e, e), f32x4.mul(f, f)), f32x4.mul(r, r)));
        }
        if (isRough) bits = 15;
        for (; bits != 0; bits &= bits - 1) {
          const lane = four + (<usize>ctz(bits) << 2);
          const number = load<u32>(lane + (isPoints ? POINT_NUMBER : LINE_NUMBER));
          if (number == NO_ELEMENT) continue;
          countTriangle();
          const t = isPoints ? meetPoint(lane, end) : isDrawn ? meetDrawnLine(lane, end) : meetLine(lane, end);
          if (t == Infinity) continue;
          if (mode == NEAREST && t == end && hitElement >= 0 && <u32>hitElement < number) continue;
          hitElement = number;
          hitReach = foundReach;
          hitX = foundX * shrink + mesh.offsetX;
          hitY = foundY * shrink + mesh.offsetY;
          hitZ = foundZ * shrink + mesh.offsetZ;
          if (mode == ANY) return t;
          if (mode == ALL) {
            addHit(t);
            continue;
          }
          best = t;
          end = t;
          if (isRough) continue;
          limit = min(limit, upward((t - from) * length));
          farthest = keyOf(limit);
        }
      }
    }
    let key: u32;
    do {
      if (top == stack) return best;
      top -= 4;
      key = load<u32>(top);
    } while (key > farthest);
    const parent = changetype<Node>(nodes + load<u32>(top, PARENTS) * <u32>NODE_BYTES);
    child = childOf(parent, key & 3);
  }
}

// @ts-ignore: decorator
@inline
function at(q: v128, start: v128, step: v128): v128 {
  return f32x4.add(start, f32x4.mul(f32x4.convert_i32x4_s(q), step));
}

/** Evaluates a function at four points. */
// @ts-ignore: decorator
@inline
function sum(x: v128, y: v128, z: v128, w: v128, px: v128, py: v128, pz: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, px), f32x4.mul(y, py)), f32x4.add(f32x4.mul(z, pz), w));
}

// --- what is hit, in float64 ---

/** The closest point of the last tested element, in tree space, and its distance. */
let foundX: f64 = 0, foundY: f64 = 0, foundZ: f64 = 0;
let foundReach: f64 = 0;

/** Tests a point. Returns t, or Infinity if there is no hit up to `end`. */
function meetPoint(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, POINT_Y), z = <f64>load<f32>(lane, POINT_Z);
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, r = rx * x + ry * y + rz * z + rw;
  let t = tx * x + ty * y + tz * z + tw;
  let square = a * a + b * b;
  if (round && t < begin) {
    square += (t - begin) * metric * ((t - begin) * metric);
    t = begin;
  }
  if (!(r > 0 && (isDrawn ? square <= r * r : square < r * r) && t >= begin && t <= end)) return Infinity;
  foundX = x;
  foundY = y;
  foundZ = z;
  foundReach = sqrt(square);
  return t;
}

/** Squared sine that is no more than the rounding error of 0. */
const PARALLEL: f64 = 2.220446049250313e-16; // 2^-52

/**
 * Tests a line at its closest point to the ray; if it is parallel to the ray, at its end farther along, as three's
 * Ray.distanceSqToSegment does. Returns as `meetPoint`.
 */
function meetLine(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, t0 = tx * x + ty * y + tz * z + tw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez, rise = tx * ex + ty * ey + tz * ez;
  const across = c * c + d * d, along = rise * metric;
  let s: f64 = rise > 0 ? 1 : 0;
  if (across > PARALLEL * (across + along * along)) s = f64.min(f64.max(-(a * c + b * d) / across, 0), 1);
  let t = t0 + s * rise;
  let before: f64 = 0;
  if (round && t < begin) {
    // The closest point to the beginning of the ray.
    const height = (t0 - begin) * metric;
    const whole = across + along * along;
    if (whole > 0) s = f64.min(f64.max(-(a * c + b * d + height * along) / whole, 0), 1);
    t = t0 + s * rise;
    before = f64.min(t - begin, 0) * metric;
    t = f64.max(t, begin);
  }
  const u = a + s * c, v = b + s * d;
  const square = u * u + v * v + before * before;
  if (!(square <= rw * rw && t >= begin && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  foundReach = sqrt(square);
  return t;
}

/**
 * Tests the drawn part of a line, at the point that is drawn closest to the place on the screen. Returns as `meetPoint`.
 */
function meetDrawnLine(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const t0 = tx * x + ty * y + tz * z + tw, rise = tx * ex + ty * ey + tz * ez;
  const r0 = rx * x + ry * y + rz * z + rw, growth = rx * ex + ry * ey + rz * ez;
  // The part between the ray's beginning and its end, and in front of the eye.
  first = 0;
  final = 1;
  keep(t0 - begin, rise);
  keep(last - t0, -rise);
  keep(r0, growth);
  if (!(first <= final)) return Infinity;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez;
  // r is 0 only where the line crosses the eye's plane.
  const least = f64.max(r0, r0 + growth) * 1e-12;
  const p = f64.max(r0 + first * growth, least), q = f64.max(r0 + final * growth, least);
  if (!(least > 0)) return Infinity;
  const u = (a + first * c) / p, v = (b + first * d) / p;
  const du = (a + final * c) / q - u, dv = (b + final * d) / q - v;
  const square = du * du + dv * dv;
  let place: f64 = rise < 0 ? 1 : 0;
  if (square > 0) place = f64.min(f64.max(-(u * du + v * dv) / square, 0), 1);
  const m = u + place * du, n = v + place * dv;
  // Back from the screen, with the perspective correction.
  const s = first + (final - first) * ((place * p) / (place * p + (1.0 - place) * q));
  const t = f64.min(f64.max(t0 + s * rise, begin), last);
  if (!(m * m + n * n <= 1 && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  return t;
}

let first: f64 = 0, final: f64 = 0;

/** Clips a part of a line to where a function is not negative: `value` at its start, plus `slope` at its end. */
function keep(value: f64, slope: f64): void {
  if (slope == 0) {
    if (value < 0) final = -1;
  } else if (slope > 0) first = f64.max(first, -value / slope);
  else final = f64.min(final, -value / slope);
}

/** Adds a record of the last hit. */
function addHit(t: f64): void {
  const hit = newHit();
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<i32>(hit, hitElement, HIT_ELEMENT);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, hitReach, HIT_DISTANCE_TO_RAY);
  store<f64>(hit, hitX, HIT_POINT);
  store<f64>(hit, hitY, HIT_POINT + 8);
  store<f64>(hit, hitZ, HIT_POINT + 16);
  memory.fill(hit + HIT_BARYCENTRIC, 0, 24);
  hitElement = -1; // or of two at the end of the ray one would stand for both
}
