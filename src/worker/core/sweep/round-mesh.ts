// Sweeps a sphere or capsule straight at the triangles of a mesh. What moves along one direction is best seen along it: in
// the frame (u, v, w) whose last axis is the way and whose first has the rest of the capsule's axis, a triangle is passed by
// if its projection is beside that of the capsule, and is not met before its plane is, nor before the front of the capsule,
// as far aside as the triangle is, has come to its nearest corner. That is asked of four triangles at a time in float32,
// with a bound on its rounding; it leaves some 3 of 46 triangles near a dragon's surface. These are decided in float64, the
// soonest first, by the distance of the capsule's axis (character/capsule-cast.ts) from where they are looked at first.
//
// Where the capsule is in triangles at the start, only those matter that are nearer to its axis than the nearest so far.

import {
  advance, awayX, awayY, awayZ, heightOver, measure, setCastCapsule, touchX as capsuleX, touchY as capsuleY, touchZ as capsuleZ,
} from '../character/capsule-cast';
import { Obstacle, TRIANGLE, boundTriangle } from '../character/obstacles';
import { Support } from '../contact/convex/support';
import { Affine } from '../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { upward } from '../math/interval';
import { leastOf, minus, plus, times } from '../math/lanes';
import {
  blur, boundingSize, dot, greatest, least, mapBlock, mappedVolumeError, setBlockMap,
} from '../mesh/query/mapped-block';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { Block } from '../mesh/tree/layout';
import { best, isSwapped, meetDepth, setTouch, take } from './meeting';
import { wayLength, wayX, wayY, wayZ } from './motion';
import { entryTime, narrowSweep } from './swept-tree';

/** Balls are in each other from this part of their radius on. */
const TOUCHING: f64 = 1e-9;

let body: Support = changetype<Support>(0);
let tree: Affine = changetype<Affine>(0);
let isReady: bool = false;

/** Takes the sphere or capsule, and the map from the mesh's tree space to the world about the common place. */
export function beginRound(round: Support, map: Affine): void {
  body = round;
  tree = map;
  isReady = false;
}

/** Looks at those triangles of a block that a bit is set for. Answers from when on nothing matters. */
export function visitRound(block: usize, bits: u32): f64 {
  if (!isReady) prepare();
  setLimit();
  for (let waiting = mayMeet(block) & bits; waiting != 0;) {
    const lane = leastOf(lowers, waiting);
    waiting &= ~(1 << lane);
    const lower = load<f32>(lowers + (<usize>lane << 2));
    if (lower > limit) break;
    meet(block + (<usize>lane << 2), lower);
  }
  return best;
}

/** Sets what is the same for all triangles; few sweeps come to any. */
function prepare(): void {
  isReady = true;
  setOwnFrame();
  setWayFrame();
  setWidth(body.radius);
}

// --- four triangles, float32 ---

const wayFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Half of the axis along u and along w. */
let halfAcross: f32 = 0, halfAlong: f32 = 0;
/** How near to the axis a triangle must be. */
let width: f32 = 0;
/** How far along the way it matters what is met, from where the mesh begins. */
let limit: f32 = 0;

/** An axis that is nearer to the way than this, as a sine, counts as along it, and its rest as width. */
const ALONG: f64 = 1e-6;
/** What rounding may add to a few sums and products of float32, relative to them: 2⁻²⁰. */
const ROUNDING: f32 = 9.5367431640625e-7;
/** The width that is added where the axis counts as along the way. */
let rest: f64 = 0;

function setWayFrame(): void {
  const b = body;
  const hasAxis = b.edges != 0;
  const ex = hasAxis ? b.edge0X : 0, ey = hasAxis ? b.edge0Y : 0, ez = hasAxis ? b.edge0Z : 0;
  const by = wayLength > 0 ? 1.0 / wayLength : 0;
  const wx = wayX * by, wy = wayY * by, wz = wayLength > 0 ? wayZ * by : 1;
  const along = ex * wx + ey * wy + ez * wz;
  let ux = ex - along * wx, uy = ey - along * wy, uz = ez - along * wz;
  const across = sqrt(ux * ux + uy * uy + uz * uz), half = sqrt(ex * ex + ey * ey + ez * ez);
  rest = 0;
  if (across > ALONG * half) {
    ux /= across; uy /= across; uz /= across;
    halfAcross = <f32>across;
  } else {
    setBasis(wx, wy, wz);
    ux = firstX; uy = firstY; uz = firstZ;
    halfAcross = 0;
    rest = across;
  }
  halfAlong = <f32>along;
  const vx = wy * uz - wz * uy, vy = wz * ux - wx * uz, vz = wx * uy - wy * ux;
  const px = b.x + entryTime * wayX, py = b.y + entryTime * wayY, pz = b.z + entryTime * wayZ;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(tree) + column, to = changetype<usize>(wayFrame) + column;
    const isPlace = column == 72;
    const x = load<f64>(from) - (isPlace ? px : 0), y = load<f64>(from, 8) - (isPlace ? py : 0);
    const z = load<f64>(from, 16) - (isPlace ? pz : 0);
    store<f64>(to, ux * x + uy * y + uz * z);
    store<f64>(to, vx * x + vy * y + vz * z, 8);
    store<f64>(to, wx * x + wy * y + wz * z, 16);
  }
  setBlockMap(wayFrame);
}

function setWidth(radius: f64): void {
  width = <f32>((max(radius, 0.0) + rest) * (1.0 + 4.0 * <f64>ROUNDING)) + blur;
}

// @ts-ignore: decorator
@inline
function setLimit(): void {
  limit = upward(max((best - entryTime) * wayLength, 0.0));
}

/** Corners a, b, c of the four triangles as u, v, w of four lanes; and how far the capsule goes at least before it meets each. */
const corners: usize = memory.data(9 * 16, 16);
const lowers: usize = memory.data(16, 16);

/** Finds which of a block's triangles the capsule may meet before the limit, a bit each, and writes `lowers`. */
function mayMeet(block: usize): u32 {
  mapBlock(corners, changetype<Block>(block));
  const au = v128.load(corners), av = v128.load(corners, 16), aw = v128.load(corners, 32);
  const bu = v128.load(corners, 48), bv = v128.load(corners, 64), bw = v128.load(corners, 80);
  const cu = v128.load(corners, 96), cv = v128.load(corners, 112), cw = v128.load(corners, 128);
  const lowU = least(au, bu, cu), highU = greatest(au, bu, cu);
  const lowV = least(av, bv, cv), highV = greatest(av, bv, cv);
  const lowW = least(aw, bw, cw), highW = greatest(aw, bw, cw);
  const zero = f32x4.splat(0), off = f32x4.splat(blur), radius = f32x4.splat(width), across = f32x4.splat(halfAcross);

  // How far aside a triangle is at least: by its bounds, and by its edges.
  const size2 = f32x4.pmax(minus(highU, lowU), minus(highV, lowV));
  const far2 = greatest(f32x4.pmax(highU, f32x4.neg(lowU)), highV, f32x4.neg(lowV));
  const rounding = plus(
    times(f32x4.splat(4 * blur), plus(plus(far2, size2), across)),
    times(times(size2, plus(far2, across)), f32x4.splat(ROUNDING)),
  );
  let aside = f32x4.pmax(zero, minus(minus(f32x4.pmax(lowU, f32x4.neg(highU)), across), off));
  aside = f32x4.pmax(aside, minus(f32x4.pmax(lowV, f32x4.neg(highV)), off));
  const abU = minus(bu, au), abV = minus(bv, av), acU = minus(cu, au), acV = minus(cv, av);
  aside = f32x4.pmax(aside, asideOf(abU, abV, au, av, cu, cv, across, rounding));
  aside = f32x4.pmax(aside, asideOf(acU, acV, au, av, bu, bv, across, rounding));
  aside = f32x4.pmax(aside, asideOf(minus(cu, bu), minus(cv, bv), bu, bv, au, av, across, rounding));
  let passed = f32x4.gt(aside, radius);
  if (i32x4.all_true(passed)) return 0;

  // The front and the back of the capsule at least so far aside, along the way.
  const squared = minus(times(times(radius, radius), f32x4.splat(1 + ROUNDING)), times(times(aside, aside), f32x4.splat(1 - 2 * ROUNDING)));
  const length = f32x4.splat(abs(halfAlong));
  const front = plus(plus(times(f32x4.sqrt(f32x4.pmax(zero, squared)), f32x4.splat(1 + ROUNDING)), length), off);
  let lower = f32x4.pmax(zero, minus(lowW, front));
  passed = v128.or(passed, f32x4.lt(plus(highW, front), zero));

  // The plane.
  const abW = minus(bw, aw), acW = minus(cw, aw);
  const nu = minus(times(abV, acW), times(abW, acV));
  const nv = minus(times(abW, acU), times(abU, acW));
  const nw = minus(times(abU, acV), times(abV, acU));
  const height = dot(nu, nv, nw, au, av, aw);
  const size = boundingSize(plus(f32x4.pmax(size2, minus(highW, lowW)), off));
  const far = plus(greatest(far2, highW, f32x4.neg(lowW)), plus(plus(across, length), radius));
  const axis = f32x4.abs(plus(times(nu, across), times(nw, f32x4.splat(halfAlong))));
  const reach = plus(plus(axis, times(radius, f32x4.sqrt(dot(nu, nv, nw, nu, nv, nw)))), mappedVolumeError(size, far));
  const gap = minus(f32x4.abs(height), reach);
  const closing = plus(
    v128.xor(nw, v128.and(height, f32x4.splat(-0.0))),
    times(size, plus(f32x4.splat(8 * blur), times(size, f32x4.splat(ROUNDING)))),
  );
  const isBefore = f32x4.gt(gap, zero), isNearing = f32x4.gt(closing, zero);
  passed = v128.or(passed, v128.andnot(isBefore, isNearing));
  const toPlane = times(f32x4.div(gap, closing), f32x4.splat(1 - 2 * ROUNDING));
  lower = f32x4.pmax(lower, v128.and(toPlane, v128.and(isBefore, isNearing)));
  v128.store(lowers, lower);
  passed = v128.or(passed, f32x4.gt(lower, f32x4.splat(limit)));
  return ~<u32>i32x4.bitmask(passed) & 15;
}

/**
 * Answers how far the triangles are at least from the segment along u, across the edges from p of which the opposite
 * corner is q; NaN or any number below 0 where that is not known.
 */
// @ts-ignore: decorator
@inline
function asideOf(eu: v128, ev: v128, pu: v128, pv: v128, qu: v128, qv: v128, half: v128, rounding: v128): v128 {
  const p = minus(times(eu, pv), times(ev, pu)), q = minus(times(eu, qv), times(ev, qu));
  const outside = f32x4.pmax(f32x4.pmin(p, q), f32x4.neg(f32x4.pmax(p, q)));
  const length = plus(f32x4.sqrt(plus(times(eu, eu), times(ev, ev))), f32x4.splat(3 * blur));
  return f32x4.div(minus(minus(outside, times(half, f32x4.abs(ev))), rounding), length);
}

// --- one triangle, float64 ---

// The capsule's own axes in the world: the last one is its axis.
let axisXx: f64 = 0, axisXy: f64 = 0, axisXz: f64 = 0;
let axisYx: f64 = 0, axisYy: f64 = 0, axisYz: f64 = 0;
let axisZx: f64 = 0, axisZy: f64 = 0, axisZz: f64 = 1;
let half: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;
const ownFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const obstacle = changetype<Obstacle>(memory.data(<i32>offsetof<Obstacle>(), 16));

function setOwnFrame(): void {
  const b = body;
  half = b.edges != 0 ? sqrt(b.edge0X * b.edge0X + b.edge0Y * b.edge0Y + b.edge0Z * b.edge0Z) : 0;
  if (half > 0) {
    axisZx = b.edge0X / half; axisZy = b.edge0Y / half; axisZz = b.edge0Z / half;
    setBasis(axisZx, axisZy, axisZz);
    axisXx = firstX; axisXy = firstY; axisXz = firstZ;
    axisYx = secondX; axisYy = secondY; axisYz = secondZ;
  } else {
    axisXx = axisYy = axisZz = 1;
    axisXy = axisXz = axisYx = axisYz = axisZx = axisZy = 0;
  }
  const m = ownFrame;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(tree) + column, to = changetype<usize>(m) + column;
    const isPlace = column == 72;
    const x = load<f64>(from) - (isPlace ? b.x : 0), y = load<f64>(from, 8) - (isPlace ? b.y : 0);
    const z = load<f64>(from, 16) - (isPlace ? b.z : 0);
    store<f64>(to, axisXx * x + axisXy * y + axisXz * z);
    store<f64>(to, axisYx * x + axisYy * y + axisYz * z, 8);
    store<f64>(to, axisZx * x + axisZy * y + axisZz * z, 16);
  }
  alongX = axisXx * wayX + axisXy * wayY + axisXz * wayZ;
  alongY = axisYx * wayX + axisYy * wayY + axisYz * wayZ;
  alongZ = axisZx * wayX + axisZy * wayY + axisZz * wayZ;
  setCastCapsule(half, b.radius);
  obstacle.kind = TRIANGLE;
  obstacle.isOneSided = 0;
}

/** Sweeps at a triangle, which is not met before the capsule has gone so far from where the mesh begins. */
function meet(at: usize, lower: f32): void {
  mapTriangle(changetype<usize>(obstacle), at, ownFrame);
  const o = obstacle, radius = body.radius;
  boundTriangle(o);
  o.isMeasured = 0;
  const from = entryTime + (lower > 0 ? <f64>lower / wayLength : 0);
  if (!(from > 0)) {
    const distance = measure(o, 0, 0, 0);
    if (distance < radius * (1.0 - TOUCHING)) {
      takeStart(distance, at);
      return;
    }
  }
  if (best == 0 && meetDepth > 0) return;
  const time = advance(o, 0, 0, 0, alongX, alongY, alongZ, wayLength, from, best == 1 ? 1 : best * (1.0 + 1e-15));
  if (!(time < 1)) return;
  takeMeeting(time, 0, at);
  setLimit();
}

/** Takes a triangle that the capsule is in at the start. */
function takeStart(distance: f64, at: usize): void {
  const o = obstacle, radius = body.radius;
  if (distance > 0) takeMeeting(0, radius - distance, at);
  else {
    // Its axis goes through the triangle: it leaves by the nearer of its ends.
    const height = heightOver(o, 0, 0, 0), reach = half * abs(o.normalZ);
    const side: f64 = height < 0 ? -1 : 1;
    take(
      0, radius + reach - abs(height), side * worldX(o.normalX, o.normalY, o.normalZ),
      side * worldY(o.normalX, o.normalY, o.normalZ), side * worldZ(o.normalX, o.normalY, o.normalZ), at,
    );
  }
  setLimit();
  if (!(meetDepth > 0)) return;
  setWidth(radius - meetDepth);
  narrowSweep(max(radius - meetDepth, 0.0));
}

function takeMeeting(time: f64, depth: f64, at: usize): void {
  if (!take(time, depth, worldX(awayX, awayY, awayZ), worldY(awayX, awayY, awayZ), worldZ(awayX, awayY, awayZ), at)) return;
  // Places are along the way of what moves; where that is the object, the shape's triangle is what goes to meet it.
  const shift = isSwapped ? -time : 0;
  setTouch(
    body.x + worldX(capsuleX, capsuleY, capsuleZ) + shift * wayX, body.y + worldY(capsuleX, capsuleY, capsuleZ) + shift * wayY,
    body.z + worldZ(capsuleX, capsuleY, capsuleZ) + shift * wayZ,
  );
}

// @ts-ignore: decorator
@inline
function worldX(x: f64, y: f64, z: f64): f64 { return axisXx * x + axisYx * y + axisZx * z; }
// @ts-ignore: decorator
@inline
function worldY(x: f64, y: f64, z: f64): f64 { return axisXy * x + axisYy * y + axisZy * z; }
// @ts-ignore: decorator
@inline
function worldZ(x: f64, y: f64, z: f64): f64 { return axisXz * x + axisYz * y + axisZz * z; }
