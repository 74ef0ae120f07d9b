// A thick ray against a tree of points or lines. Four affine functions of a point define what is hit: its offset from the
// ray in two directions, a and b, the maximum offset r, and its parameter t along the ray. A point is hit if a² + b² ≤ r².
// With a constant r that is a cylinder, in the metric of the world or of the mesh; with an r that grows along the ray it is
// everything that is drawn within some pixels of a place on the screen.
//
// Boxes are inflated according to r over their extent and tested against the ray itself, four at a time in float32 with a
// bound on rounding; points and lines are filtered by a and b in float32; float64 decides.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE,
} from '../../../shared/layout';
import { newHit } from '../hits';
import { clip, intervalStart, interval, intervalEnd, reciprocals, roundUp } from '../math/interval';
import { lane0, lane1, lane2 } from '../math/lanes';
import { keyOf, sortedKeys, pendingKeys } from '../mesh/query/entry-keys';
import { ALL, ANY, NEAREST } from '../mesh/query/ray';
import { countLeaf, countNode, countTriangle } from '../mesh/tree/counters';
import { LEAF, NODE_BYTES, Node, childOf, linkOf, maskOf, treeScale } from '../mesh/tree/layout';
import {
  LINE_BLOCK_BYTES, LINE_END, LINE_ELEMENT, LINE_Y, LINE_Z, NO_ELEMENT, POINT_BLOCK_BYTES, POINT_ELEMENT, POINT_Y, POINT_Z,
  PointLine, meshOf,
} from './layout';

/** A thick ray in mesh space. The fields named after one of the four functions are its gradient. */
@unmanaged
export class ThickRay {
  /** A point of the ray, where a, b and t are 0. */
  x: f64; y: f64; z: f64;
  /** The direction; t grows by 1 along it, a and b remain 0. */
  directionX: f64; directionY: f64; directionZ: f64;
  aX: f64; aY: f64; aZ: f64;
  bX: f64; bY: f64; bZ: f64;
  rX: f64; rY: f64; rZ: f64;
  tX: f64; tY: f64; tZ: f64;
  /** r at the point. */
  radius: f64;
  /** The ray is from `tStart` to `tEnd`, and hits beyond `tLimit` are not needed. */
  tStart: f64; tEnd: f64; tLimit: f64;
  /** Length of a unit of t in the unit of a and b. */
  unitLength: f64;
  /**
   * Whether the ray has a round cap at its beginning, so that the distance of points before that includes the way to it.
   * Else it is cut off.
   */
  hasRoundCap: bool;
  /**
   * Whether r is that of a place on the screen: then the part of a line that is drawn counts, from the ray's beginning to
   * its end. Else three's rules hold: a point is hit closer than r, a line no farther than r, and at its closest point.
   */
  isScreenSpace: bool;
}

// The last hit.
export let hitElement: i32 = -1;
/** The root of a² + b², plus the squared distance before the beginning of the ray. */
export let hitDistanceToRay: f64 = 0;
/** The element's closest point to the ray, in mesh space. */
export let hitX: f64 = 0, hitY: f64 = 0, hitZ: f64 = 0;

// The four functions in tree space.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0, aw: f64 = 0;
let bx: f64 = 0, by: f64 = 0, bz: f64 = 0, bw: f64 = 0;
let rx: f64 = 0, ry: f64 = 0, rz: f64 = 0, rw: f64 = 0;
let tx: f64 = 0, ty: f64 = 0, tz: f64 = 0, tw: f64 = 0;
let tStart: f64 = 0;
let unitLength: f64 = 1;
let hasRoundCap: bool = false;
let isScreenSpace: bool = false;
let tEnd: f64 = 0;

/**
 * Bounds of the rounding error of a function in float32, relative to its terms, and of slabs, relative to their
 * coordinates: 2⁻¹⁹.
 */
const ROUNDING: f64 = 1.9073486328125e-6;
/** If terms are larger than this in tree space, float32 cannot decide, and everything is left to float64. */
const MAX_F32_TERM: f64 = 1e9;

/** The stack of children, as in mesh/query/ray.ts. */
const PARENTS_OFFSET: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS_OFFSET, 16);

/**
 * Finds the nearest element that the ray hits and returns its t, or Infinity; of two at the same t, the one with the lower
 * index. ANY returns the first that is found. ALL returns Infinity: every hit becomes a record in hits.ts, with what is
 * known of it here, its point in mesh space, and the address of its element instead of an object. Throws OUT_OF_MEMORY with ALL.
 */
export function castThickRay(mesh: PointLine, ray: ThickRay, mode: u32): f64 {
  const scale = treeScale(meshOf(mesh)), inverseScale = 1.0 / scale;
  const x = (ray.x - mesh.offsetX) * scale, y = (ray.y - mesh.offsetY) * scale, z = (ray.z - mesh.offsetZ) * scale;
  const toX = ray.directionX * scale, toY = ray.directionY * scale, toZ = ray.directionZ * scale;
  ax = ray.aX * inverseScale; ay = ray.aY * inverseScale; az = ray.aZ * inverseScale; aw = -(ax * x + ay * y + az * z);
  bx = ray.bX * inverseScale; by = ray.bY * inverseScale; bz = ray.bZ * inverseScale; bw = -(bx * x + by * y + bz * z);
  tx = ray.tX * inverseScale; ty = ray.tY * inverseScale; tz = ray.tZ * inverseScale; tw = -(tx * x + ty * y + tz * z);
  rx = ray.rX * inverseScale; ry = ray.rY * inverseScale; rz = ray.rZ * inverseScale;
  rw = ray.radius - (rx * x + ry * y + rz * z);
  tStart = ray.tStart;
  unitLength = ray.unitLength;
  hasRoundCap = ray.hasRoundCap;
  isScreenSpace = ray.isScreenSpace;
  tEnd = ray.tEnd;
  hitElement = -1;

  // Maximum offset from the ray along each axis, per unit of r: from the directions in which only a or only b grows by 1.
  const crossX = by * tz - bz * ty, crossY = bz * tx - bx * tz, crossZ = bx * ty - by * tx;
  const reciprocal = 1.0 / (ax * crossX + ay * crossY + az * crossZ);
  const vX = (ty * az - tz * ay) * reciprocal, vY = (tz * ax - tx * az) * reciprocal, vZ = (tx * ay - ty * ax) * reciprocal;
  const uX = crossX * reciprocal, uY = crossY * reciprocal, uZ = crossZ * reciprocal;
  const extentX = sqrt(uX * uX + vX * vX), extentY = sqrt(uY * uY + vY * vY), extentZ = sqrt(uZ * uZ + vZ * vZ);

  // The part of the ray near the mesh.
  const minX = (mesh.minX - mesh.offsetX) * scale, maxX = (mesh.maxX - mesh.offsetX) * scale;
  const minY = (mesh.minY - mesh.offsetY) * scale, maxY = (mesh.maxY - mesh.offsetY) * scale;
  const minZ = (mesh.minZ - mesh.offsetZ) * scale, maxZ = (mesh.maxZ - mesh.offsetZ) * scale;
  const maxRadius = rw + f64.max(rx * minX, rx * maxX) + f64.max(ry * minY, ry * maxY) + f64.max(rz * minZ, rz * maxZ);
  if (!(maxRadius >= 0)) return Infinity;
  const slack = (2.0 + abs(x) + abs(y) + abs(z)) * 3.552713678800501e-15; // 2^-48
  const paddingX = maxRadius * extentX * 1.000001 + slack, paddingY = maxRadius * extentY * 1.000001 + slack;
  const paddingZ = maxRadius * extentZ * 1.000001 + slack;
  let part = interval(hasRoundCap ? ray.tStart - (maxRadius * 1.000001) / ray.unitLength : ray.tStart, ray.tLimit);
  part = clip(part, x, toX, minX - paddingX, maxX + paddingX);
  part = clip(part, y, toY, minY - paddingY, maxY + paddingY);
  part = clip(part, z, toZ, minZ - paddingZ, maxZ + paddingZ);
  const from = intervalStart(part);
  if (!(from <= intervalEnd(part))) return Infinity;

  const length = sqrt(toX * toX + toY * toY + toZ * toZ), inverseLength = 1.0 / length;
  const px = x + from * toX, py = y + from * toY, pz = z + from * toZ;
  const far = max(max(max(abs(px), abs(py)), abs(pz)), max(max(paddingX, paddingY), paddingZ));
  // In float32, a, b and r are divided by the larger gradient of a and b, so that these are about 1.
  const steepest = sqrt(f64.max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz));
  const inverseSteepest = 1.0 / steepest;
  const lateral = (abs(aw) + abs(bw)) * inverseSteepest;
  const needsF64 = !(far < MAX_F32_TERM && lateral < MAX_F32_TERM && maxRadius * inverseSteepest < MAX_F32_TERM &&
    (abs(rx) + abs(ry) + abs(rz)) * inverseSteepest < MAX_F32_TERM);
  const positionError = <f32>(far * ROUNDING);
  let limit = needsF64 ? <f32>Infinity : roundUp((intervalEnd(part) - from) * length);
  let maxKey = keyOf(limit);
  let end = ray.tLimit;
  let best: f64 = Infinity;

  const point = f32x4(<f32>px, <f32>py, <f32>pz, 0);
  const unitDirection = f32x4(<f32>(toX * inverseLength), <f32>(toY * inverseLength), <f32>(toZ * inverseLength), 1);
  const inverse = reciprocals(unitDirection), absInverse = f32x4.abs(inverse);
  const signs = i32x4.bitmask(inverse);
  const minIndices = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1), toMaxIndices = i32x4.splat(4);
  const nearX = v128.or(minIndices, i32x4.splat((signs & 1) << 2)), farX = v128.xor(nearX, toMaxIndices);
  const nearY = v128.or(minIndices, i32x4.splat((signs & 2) << 1)), farY = v128.xor(nearY, toMaxIndices);
  const nearZ = v128.or(minIndices, i32x4.splat(signs & 4)), farZ = v128.xor(nearZ, toMaxIndices);
  // How much earlier a box is entered than its bounds, per unit of r, and for rounding.
  const entryPerRadius = f32x4.mul(
    f32x4(<f32>(extentX * steepest * 1.00001), <f32>(extentY * steepest * 1.00001), <f32>(extentZ * steepest * 1.00001), 0),
    absInverse,
  );
  const entryPerRadiusX = lane0(entryPerRadius), entryPerRadiusY = lane1(entryPerRadius), entryPerRadiusZ = lane2(entryPerRadius);
  const entryError = f32x4.mul(f32x4.splat(positionError), absInverse);
  const entryErrorX = lane0(entryError), entryErrorY = lane1(entryError), entryErrorZ = lane2(entryError);
  // r, and its maximum over a box: at the bounds on the side to which it grows.
  const isCone = rx != 0 || ry != 0 || rz != 0;
  const r0 = <f32>(rx * inverseSteepest), r1 = <f32>(ry * inverseSteepest), r2 = <f32>(rz * inverseSteepest);
  const radiusX = f32x4.splat(r0), radiusY = f32x4.splat(r1), radiusZ = f32x4.splat(r2);
  const radiusW = f32x4.splat(<f32>(rw * inverseSteepest));
  const growsX = v128.or(minIndices, i32x4.splat(r0 > 0 ? 4 : 0)), growsY = v128.or(minIndices, i32x4.splat(r1 > 0 ? 4 : 0));
  const growsZ = v128.or(minIndices, i32x4.splat(r2 > 0 ? 4 : 0));
  const a0 = f32x4.splat(<f32>(ax * inverseSteepest)), a1 = f32x4.splat(<f32>(ay * inverseSteepest)),
    a2 = f32x4.splat(<f32>(az * inverseSteepest));
  const b0 = f32x4.splat(<f32>(bx * inverseSteepest)), b1 = f32x4.splat(<f32>(by * inverseSteepest)),
    b2 = f32x4.splat(<f32>(bz * inverseSteepest));
  const a3 = f32x4.splat(<f32>(aw * inverseSteepest)), b3 = f32x4.splat(<f32>(bw * inverseSteepest));
  const tilt = (abs(rx) + abs(ry) + abs(rz)) * 2.0 + abs(rw);
  const radiusError = f32x4.splat(<f32>((lateral + 8.0 + tilt * inverseSteepest) * ROUNDING));
  // t as a length in tree space from where the ray enters.
  const t0 = f32x4.splat(<f32>(tx * length)), t1 = f32x4.splat(<f32>(ty * length)), t2 = f32x4.splat(<f32>(tz * length));
  const start = (tw - from) * length;
  const t3 = f32x4.splat(<f32>start);
  const tError = <f32>((abs(start) + 2.0 * (abs(tx) + abs(ty) + abs(tz)) * length) * ROUNDING);

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
      let boxRadius = radiusW;
      if (isCone) {
        boxRadius = f32x4.add(boxRadius, f32x4.mul(radiusX, boundsAt(i8x16.swizzle(qx, growsX), lane0(origin), lane0(step))));
        boxRadius = f32x4.add(boxRadius, f32x4.mul(radiusY, boundsAt(i8x16.swizzle(qy, growsY), lane1(origin), lane1(step))));
        boxRadius = f32x4.add(boxRadius, f32x4.mul(radiusZ, boundsAt(i8x16.swizzle(qz, growsZ), lane2(origin), lane2(step))));
      }
      boxRadius = f32x4.add(f32x4.pmax(boxRadius, f32x4.splat(0)), radiusError);
      const inflationX = f32x4.add(f32x4.mul(boxRadius, entryPerRadiusX), entryErrorX);
      const inflationY = f32x4.add(f32x4.mul(boxRadius, entryPerRadiusY), entryErrorY);
      const inflationZ = f32x4.add(f32x4.mul(boxRadius, entryPerRadiusZ), entryErrorZ);
      const baseX = lane0(base), baseY = lane1(base), baseZ = lane2(base);
      const slopeX = lane0(slope), slopeY = lane1(slope), slopeZ = lane2(slope);
      let near = f32x4.pmax(
        f32x4.pmax(
          f32x4.sub(boundsAt(i8x16.swizzle(qx, nearX), baseX, slopeX), inflationX),
          f32x4.sub(boundsAt(i8x16.swizzle(qy, nearY), baseY, slopeY), inflationY),
        ),
        f32x4.sub(boundsAt(i8x16.swizzle(qz, nearZ), baseZ, slopeZ), inflationZ),
      );
      let far = f32x4.pmin(
        f32x4.pmin(
          f32x4.add(boundsAt(i8x16.swizzle(qx, farX), baseX, slopeX), inflationX),
          f32x4.add(boundsAt(i8x16.swizzle(qy, farY), baseY, slopeY), inflationY),
        ),
        f32x4.add(boundsAt(i8x16.swizzle(qz, farZ), baseZ, slopeZ), inflationZ),
      );
      near = needsF64 ? f32x4.splat(0) : f32x4.pmax(f32x4.splat(0), near); // in this order -0 becomes 0
      far = f32x4.pmin(far, f32x4.splat(limit));
      const hitBits: u32 = needsF64 ? 15 : <u32>i32x4.bitmask(f32x4.le(near, far));
      const bits = hitBits & maskOf(children);
      if (bits != 0) {
        const keys = sortedKeys(near, bits);
        const pendingCount: usize = popcnt(bits) - 1;
        v128.store(top, pendingKeys(keys, pendingCount));
        v128.store(top, i32x4.splat(child), PARENTS_OFFSET);
        top += pendingCount << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const maxT = f32x4.splat(limit + tError);
      const block = blocks + <usize>(child & ~LEAF) * (isPoints ? POINT_BLOCK_BYTES : LINE_BLOCK_BYTES);
      const stop = isPoints ? block + POINT_Y : block + LINE_Y;
      for (let group = block; group < stop; group += 16) {
        let bits: u32;
        if (isPoints) {
          const qx = v128.load(group), qy = v128.load(group, POINT_Y), qz = v128.load(group, POINT_Z);
          const a = evaluate(a0, a1, a2, a3, qx, qy, qz), b = evaluate(b0, b1, b2, b3, qx, qy, qz);
          const r = f32x4.add(isCone ? evaluate(radiusX, radiusY, radiusZ, radiusW, qx, qy, qz) : radiusW, radiusError);
          const isNear = f32x4.le(f32x4.add(f32x4.mul(a, a), f32x4.mul(b, b)), f32x4.mul(r, r));
          bits = <u32>i32x4.bitmask(v128.and(isNear, f32x4.le(evaluate(t0, t1, t2, t3, qx, qy, qz), maxT)));
        } else {
          const qx = v128.load(group), qy = v128.load(group, LINE_Y), qz = v128.load(group, LINE_Z);
          const sx = v128.load(group, LINE_END), sy = v128.load(group, LINE_END + LINE_Y),
            sz = v128.load(group, LINE_END + LINE_Z);
          const a = evaluate(a0, a1, a2, a3, qx, qy, qz), b = evaluate(b0, b1, b2, b3, qx, qy, qz);
          const c = f32x4.sub(evaluate(a0, a1, a2, a3, sx, sy, sz), a), d = f32x4.sub(evaluate(b0, b1, b2, b3, sx, sy, sz), b);
          // Where the line passes the ray in the plane of a and b.
          const lengthSquared = f32x4.pmax(f32x4.splat(1e-30), f32x4.add(f32x4.mul(c, c), f32x4.mul(d, d)));
          const foot = f32x4.neg(f32x4.div(f32x4.add(f32x4.mul(a, c), f32x4.mul(b, d)), lengthSquared));
          const s = f32x4.pmin(f32x4.pmax(foot, f32x4.splat(0)), f32x4.splat(1));
          const e = f32x4.add(a, f32x4.mul(s, c)), f = f32x4.add(b, f32x4.mul(s, d));
          let r = radiusW;
          if (isCone) {
            r = f32x4.pmax(
              evaluate(radiusX, radiusY, radiusZ, radiusW, qx, qy, qz), evaluate(radiusX, radiusY, radiusZ, radiusW, sx, sy, sz),
            );
          }
          r = f32x4.add(f32x4.pmax(r, f32x4.splat(0)), radiusError);
          bits = <u32>i32x4.bitmask(f32x4.le(f32x4.add(f32x4.mul(e, e), f32x4.mul(f, f)), f32x4.mul(r, r)));
        }
        if (needsF64) bits = 15;
        for (; bits != 0; bits &= bits - 1) {
          const lane = group + (<usize>ctz(bits) << 2);
          const elementIndex = load<u32>(lane + (isPoints ? POINT_ELEMENT : LINE_ELEMENT));
          if (elementIndex == NO_ELEMENT) continue;
          countTriangle();
          const t = isPoints ? intersectPoint(lane, end) : isScreenSpace ? intersectDrawnLine(lane, 0, 1, end)
            : intersectLine(lane, end);
          if (t == Infinity) continue;
          if (mode == NEAREST && t == end && hitElement >= 0 && <u32>hitElement < elementIndex) continue;
          hitElement = elementIndex;
          hitDistanceToRay = foundDistanceToRay;
          locateFound(mesh, inverseScale);
          if (mode == ANY) return t;
          if (mode == ALL) {
            addHit(lane, t);
            continue;
          }
          best = t;
          end = t;
          if (needsF64) continue;
          limit = min(limit, roundUp((t - from) * length));
          maxKey = keyOf(limit);
        }
      }
    }
    let key: u32;
    do {
      if (top == stack) return best;
      top -= 4;
      key = load<u32>(top);
    } while (key > maxKey);
    const parent = changetype<Node>(nodes + load<u32>(top, PARENTS_OFFSET) * <u32>NODE_BYTES);
    child = childOf(parent, key & 3);
  }
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

// --- what is hit, in float64 ---

/** The closest point of the last tested element, in tree space, and its distance. */
let foundX: f64 = 0, foundY: f64 = 0, foundZ: f64 = 0;
let foundDistanceToRay: f64 = 0;

/** Tests a point. Returns t, or Infinity if there is no hit up to `end`. */
function intersectPoint(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, POINT_Y), z = <f64>load<f32>(lane, POINT_Z);
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, r = rx * x + ry * y + rz * z + rw;
  let t = tx * x + ty * y + tz * z + tw;
  let distanceSquared = a * a + b * b;
  if (hasRoundCap && t < tStart) {
    distanceSquared += (t - tStart) * unitLength * ((t - tStart) * unitLength);
    t = tStart;
  }
  if (!(r > 0 && (isScreenSpace ? distanceSquared <= r * r : distanceSquared < r * r) && t >= tStart && t <= end))
    return Infinity;
  foundX = x;
  foundY = y;
  foundZ = z;
  foundDistanceToRay = sqrt(distanceSquared);
  return t;
}

/** Squared sine that is no more than the rounding error of 0. */
const PARALLEL: f64 = 2.220446049250313e-16; // 2^-52

/**
 * Tests a line at its closest point to the ray; if it is parallel to the ray, at its end farther along, as three's
 * Ray.distanceSqToSegment does. Returns as `intersectPoint`.
 */
function intersectLine(lane: usize, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw, t0 = tx * x + ty * y + tz * z + tw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez, rise = tx * ex + ty * ey + tz * ez;
  const acrossSquared = c * c + d * d, along = rise * unitLength;
  let s: f64 = rise > 0 ? 1 : 0;
  if (acrossSquared > PARALLEL * (acrossSquared + along * along)) s = f64.min(f64.max(-(a * c + b * d) / acrossSquared, 0), 1);
  let t = t0 + s * rise;
  let before: f64 = 0;
  if (hasRoundCap && t < tStart) {
    // The closest point to the beginning of the ray.
    const height = (t0 - tStart) * unitLength;
    const lengthSquared = acrossSquared + along * along;
    if (lengthSquared > 0) s = f64.min(f64.max(-(a * c + b * d + height * along) / lengthSquared, 0), 1);
    t = t0 + s * rise;
    before = f64.min(t - tStart, 0) * unitLength;
    t = f64.max(t, tStart);
  }
  const u = a + s * c, v = b + s * d;
  const distanceSquared = u * u + v * v + before * before;
  if (!(distanceSquared <= rw * rw && t >= tStart && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  foundDistanceToRay = sqrt(distanceSquared);
  return t;
}

/**
 * A line that is drawn no longer than a millionth of r is drawn as a point, up to rounding: its squared length per squared r.
 * It is hit at its end nearer to the eye, which hides the other one.
 */
const POINT_SQUARE: f64 = 9.094947017729282e-13; // 2^-40

/** Square of the distance from the place on the screen to the last drawn line that was hit, per squared r. */
export let screenSquare: f64 = 0;

/**
 * Tests the drawn part of a line between two fractions of its length, at the point that is drawn closest to the place on the
 * screen. Returns as `intersectPoint`.
 */
function intersectDrawnLine(lane: usize, from: f64, to: f64, end: f64): f64 {
  const x = <f64>load<f32>(lane), y = <f64>load<f32>(lane, LINE_Y), z = <f64>load<f32>(lane, LINE_Z);
  const ex = <f64>load<f32>(lane, LINE_END) - x, ey = <f64>load<f32>(lane, LINE_END + LINE_Y) - y;
  const ez = <f64>load<f32>(lane, LINE_END + LINE_Z) - z;
  const t0 = tx * x + ty * y + tz * z + tw, rise = tx * ex + ty * ey + tz * ez;
  const r0 = rx * x + ry * y + rz * z + rw, growth = rx * ex + ry * ey + rz * ez;
  // The part between the ray's beginning and its end, and in front of the eye.
  clipStart = from;
  clipEnd = to;
  clipToPositive(t0 - tStart, rise);
  clipToPositive(tEnd - t0, -rise);
  clipToPositive(r0, growth);
  if (!(clipStart <= clipEnd)) return Infinity;
  const a = ax * x + ay * y + az * z + aw, b = bx * x + by * y + bz * z + bw;
  const c = ax * ex + ay * ey + az * ez, d = bx * ex + by * ey + bz * ez;
  // r is 0 only where the line crosses the eye's plane.
  const minRadius = f64.max(r0, r0 + growth) * 1e-12;
  const p = f64.max(r0 + clipStart * growth, minRadius), q = f64.max(r0 + clipEnd * growth, minRadius);
  if (!(minRadius > 0)) return Infinity;
  const u = (a + clipStart * c) / p, v = (b + clipStart * d) / p;
  const du = (a + clipEnd * c) / q - u, dv = (b + clipEnd * d) / q - v;
  const lengthSquared = du * du + dv * dv;
  let closest: f64 = rise < 0 ? 1 : 0;
  if (lengthSquared > POINT_SQUARE) closest = f64.min(f64.max(-(u * du + v * dv) / lengthSquared, 0), 1);
  const m = u + closest * du, n = v + closest * dv;
  // Back from the screen, with the perspective correction.
  const s = clipStart + (clipEnd - clipStart) * ((closest * p) / (closest * p + (1.0 - closest) * q));
  const t = f64.min(f64.max(t0 + s * rise, tStart), tEnd);
  screenSquare = m * m + n * n;
  if (!(screenSquare <= 1 && t <= end)) return Infinity;
  foundX = x + s * ex;
  foundY = y + s * ey;
  foundZ = z + s * ez;
  return t;
}

let clipStart: f64 = 0, clipEnd: f64 = 0;

/** Clips a part of a line to where a function is not negative: `value` at its start, plus `slope` at its end. */
function clipToPositive(value: f64, slope: f64): void {
  if (slope == 0) {
    if (value < 0) clipEnd = -1;
  } else if (slope > 0) clipStart = f64.max(clipStart, -value / slope);
  else clipEnd = f64.min(clipEnd, -value / slope);
}

/** Takes over the found point, in mesh space. */
function locateFound(mesh: PointLine, inverseScale: f64): void {
  hitX = foundX * inverseScale + mesh.offsetX;
  hitY = foundY * inverseScale + mesh.offsetY;
  hitZ = foundZ * inverseScale + mesh.offsetZ;
}

/** Finds an end of a line of the last mesh as `hitX` and so on: the second one if `end` is LINE_END, the first one if it is 0. */
export function locateEnd(mesh: PointLine, lane: usize, end: usize): void {
  foundX = load<f32>(lane + end);
  foundY = load<f32>(lane + end, LINE_Y);
  foundZ = load<f32>(lane + end, LINE_Z);
  locateFound(mesh, 1.0 / treeScale(meshOf(mesh)));
}

/** Tests a part of a line again that the last ray has hit, between two fractions of its length. Returns t or Infinity. */
export function hitPart(mesh: PointLine, lane: usize, from: f64, to: f64): f64 {
  const t = intersectDrawnLine(lane, from, to, Infinity);
  locateFound(mesh, 1.0 / treeScale(meshOf(mesh)));
  return t;
}

/** Adds a record of the last hit. */
function addHit(lane: usize, t: f64): void {
  const hit = newHit();
  store<u32>(hit, <u32>lane, HIT_OBJECT);
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<i32>(hit, hitElement, HIT_ELEMENT);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, hitDistanceToRay, HIT_DISTANCE_TO_RAY);
  store<f64>(hit, hitX, HIT_POINT);
  store<f64>(hit, hitY, HIT_POINT + 8);
  store<f64>(hit, hitZ, HIT_POINT + 16);
  memory.fill(hit + HIT_BARYCENTRIC, 0, 24);
  hitElement = -1; // or of two at the end of the ray one would stand for both
}
