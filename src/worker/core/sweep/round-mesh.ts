// Sweeps a sphere or capsule straight against the triangles of a mesh. A motion along one direction is best viewed along it: in
// the frame (u, v, w) whose last axis is the way and whose first contains the rest of the capsule's axis, a triangle is missed if
// its projection is beside that of the capsule. It is not hit before its plane is, nor before the front of the capsule, at the
// lateral distance of the triangle, has reached its nearest corner; and it is hit when one of its corners is, if not before.
// These tests run on four triangles at a time in float32, with bounds on rounding, during the tree traversal. The remaining
// triangles are then decided in float64, the soonest first, by the distance of the capsule's axis (round-triangle.ts), from the
// earliest possible time of the hit. In a sweep that hits the dragon, these are 3 triangles, and 46 when each triangle was tested
// individually.
//
// If the capsule intersects triangles at the start, only those matter that are as close to its axis as the closest.

import { Support } from '../contact/convex/support';
import { Affine } from '../math/affine';
import { firstX, firstY, firstZ, setBasis } from '../math/basis';
import { upward } from '../math/interval';
import { minus, plus, times, transpose } from '../math/lanes';
import {
  blur, boundingSize, dot, greatest, least, mapBlock, mappedVolumeError, setBlockMap,
} from '../mesh/query/mapped-block';
import { Block } from '../mesh/tree/layout';
import { areAllSides, best, meetDepth } from './meeting';
import { wayLength, wayX, wayY, wayZ } from './motion';
import { IN_AT_START, MET, setOwnFrame, sweepTriangle } from './round-triangle';
import { entryTime, narrowSweep } from './swept-tree';
import { VECTOR_BYTES } from '../sizes';

let body: Support = changetype<Support>(0);
let tree: Affine = changetype<Affine>(0);
let isReady: bool = false;

/** Sets the sphere or capsule, and the map from the mesh's tree space to the world about the common origin. */
export function beginRound(round: Support, map: Affine): void {
  body = round;
  tree = map;
  isReady = false;
}

/** Tests the triangles of a block whose bits are set. Returns the time from which on hits are ignored. */
export function visitRound(block: usize, bits: u32): f64 {
  if (!isReady) prepare();
  if (candidateCount > MOST_CANDIDATES - 4) decide();
  for (let waiting = mayMeet(block) & bits; waiting != 0; waiting &= waiting - 1) {
    const lane = <usize>ctz(waiting) << 2;
    const candidate = candidates + candidateCount++ * CANDIDATE_BYTES;
    for (let i: usize = 0; i < 9; i++) store<f32>(candidate + (i << 2), load<f32>(corners + (i << 4) + lane));
    store<f32>(candidate, load<f32>(lowers + lane), LOWER);
    store<f32>(candidate, load<f32>(nearests + lane), NEAREST);
    store<u32>(candidate, <u32>(block + lane), PLACE);
  }
  if (limit == 0) narrowSweep(<f64>width);
  return wayLength > 0 ? min(best, entryTime + <f64>limit / wayLength) : best;
}

// --- the triangles that wait ---

// Each candidate has its corners in the frame of the way, lower bounds of how far the capsule moves until they meet and of the
// distance from its axis at the start, if that is needed, and its address in the mesh.
const MOST_CANDIDATES: usize = 64;
const CANDIDATE_BYTES: usize = 48;
const LOWER: usize = 36;
const NEAREST: usize = 40;
const PLACE: usize = 44;
const candidates: usize = memory.data(<i32>MOST_CANDIDATES * <i32>CANDIDATE_BYTES, 16);
let candidateCount: usize = 0;

/**
 * Decides the waiting candidates, the soonest first, or at the start the closest. Must be called after all blocks were visited.
 */
export function decide(): void {
  while (candidateCount > 0) {
    if (candidateCount > 1) refineAll();
    let soonest: usize = 0;
    for (let i: usize = 1; i < candidateCount; i++) if (isSooner(i, soonest)) soonest = i;
    if (candidateCount == 0) return;
    const candidate = candidates + soonest * CANDIDATE_BYTES;
    const place = <usize>load<u32>(candidate, PLACE), lower = load<f32>(candidate, LOWER);
    const matters = lower <= limit && !(load<f32>(candidate, NEAREST) > width);
    copyCandidate(candidate, candidates + --candidateCount * CANDIDATE_BYTES);
    if (matters) meet(place, lower);
  }
}

/** Sweeps against a triangle, which is not hit before the capsule has moved by `lower` from where it enters the mesh's bounds. */
function meet(at: usize, lower: f32): void {
  const outcome = sweepTriangle(at, entryTime + (lower > 0 ? <f64>lower / wayLength : 0));
  if (outcome == MET) limit = min(limit, upward(max((best - entryTime) * wayLength, 0.0)));
  if (outcome != IN_AT_START || !(meetDepth > 0)) return;
  limit = 0;
  narrow(body.radius - meetDepth);
}

// @ts-ignore: decorator
@inline
function copyCandidate(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  v128.store(to, v128.load(from, 32), 32);
}

// @ts-ignore: decorator
@inline
function isSooner(i: usize, j: usize): bool {
  const a = candidates + i * CANDIDATE_BYTES, b = candidates + j * CANDIDATE_BYTES;
  const lowerA = load<f32>(a, LOWER), lowerB = load<f32>(b, LOWER);
  return lowerA < lowerB || (lowerA == lowerB && load<f32>(a, NEAREST) < load<f32>(b, NEAREST));
}

/** The twelve numbers of four candidates, four lanes each. */
const four: usize = memory.data(12 * VECTOR_BYTES, 16);

/** Tightens the bounds of all candidates, and drops those that do not matter. */
function refineAll(): void {
  let left: usize = 0;
  for (let i: usize = 0; i < candidateCount; i += 4) {
    const from = candidates + i * CANDIDATE_BYTES;
    for (let k: usize = 0; k < 48; k += 16) {
      transpose(
        four + (k << 2), v128.load(from + k), v128.load(from + k, 48), v128.load(from + k, 96), v128.load(from + k, 144),
      );
    }
    refine(<i32>(candidateCount - i));
    const end = min(i + 4, candidateCount);
    for (let j = i; j < end; j++) {
      const lower = load<f32>(lowers + ((j & 3) << 2)), nearest = load<f32>(nearests + ((j & 3) << 2));
      if (lower > limit || nearest > width) continue;
      const to = candidates + left++ * CANDIDATE_BYTES;
      copyCandidate(to, candidates + j * CANDIDATE_BYTES);
      store<f32>(to, lower, LOWER);
      store<f32>(to, nearest, NEAREST);
    }
  }
  candidateCount = left;
}

/**
 * Tightens the bounds of the first `count` of `four`: the capsule, placed at the limit, is closest to the edges of a triangle
 * along some direction. Whatever that direction is, the two are apart as long as they are apart along it.
 */
function refine(count: i32): void {
  const au = v128.load(four), av = v128.load(four, 16), aw = v128.load(four, 32);
  const bu = v128.load(four, 48), bv = v128.load(four, 64), bw = v128.load(four, 80);
  const cu = v128.load(four, 96), cv = v128.load(four, 112), cw = v128.load(four, 128);
  const at = f32x4.splat(limit), across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong), zero = f32x4.splat(0);
  const pw = minus(aw, at), qw = minus(bw, at), rw = minus(cw, at);
  nearestSquare = f32x4.splat(Infinity);
  offerEdge(au, av, pw, minus(bu, au), minus(bv, av), minus(bw, aw));
  offerEdge(bu, bv, qw, minus(cu, bu), minus(cv, bv), minus(cw, bw));
  offerEdge(cu, cv, rw, minus(au, cu), minus(av, cv), minus(aw, cw));
  const nu = toNearestU, nv = toNearestV, nw = toNearestW;
  const sum = plus(plus(f32x4.abs(nu), f32x4.abs(nv)), f32x4.abs(nw));
  const far = plus(
    greatest(
      greatest(f32x4.abs(au), f32x4.abs(bu), f32x4.abs(cu)), greatest(f32x4.abs(av), f32x4.abs(bv), f32x4.abs(cv)),
      greatest(f32x4.abs(pw), f32x4.abs(qw), f32x4.abs(rw)),
    ),
    f32x4.splat(width + halfAcross + abs(halfAlong)),
  );
  const error = times(sum, plus(f32x4.splat(2 * blur), times(plus(far, at), f32x4.splat(ROUNDING))));
  const axis = f32x4.abs(plus(times(nu, across), times(nw, along)));
  const apart = minus(
    minus(least(dot(nu, nv, nw, au, av, pw), dot(nu, nv, nw, bu, bv, qw), dot(nu, nv, nw, cu, cv, rw)), axis), error,
  );
  const length = f32x4.sqrt(dot(nu, nv, nw, nu, nv, nw));
  const gap = minus(apart, times(times(length, f32x4.splat(width)), f32x4.splat(1 + ROUNDING)));
  const way = plus(at, f32x4.div(gap, nw));
  const rounded = minus(way, times(plus(f32x4.abs(way), at), f32x4.splat(ROUNDING)));
  const old = v128.load(four, 144), oldNearest = v128.load(four, 160);
  v128.store(lowers, f32x4.pmax(old, v128.and(rounded, f32x4.gt(nw, zero))));
  if (limit > 0) {
    v128.store(nearests, oldNearest);
    return;
  }
  v128.store(nearests, f32x4.pmax(oldNearest, times(f32x4.div(apart, length), f32x4.splat(1 - 4 * ROUNDING))));
  if (!isAnySide) return;
  const isOne = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
  narrow(<f64>leastLane(f32x4.sqrt(v128.bitselect(nearestSquare, f32x4.splat(Infinity), isOne))));
}

let nearestSquare: v128 = i32x4.splat(0);
let toNearestU: v128 = i32x4.splat(0), toNearestV: v128 = i32x4.splat(0), toNearestW: v128 = i32x4.splat(0);

/** Keeps the shortest vector from the axis to edges from p, if it is the shortest so far (Ericson, 2005, 5.1.9). */
function offerEdge(pu: v128, pv: v128, pw: v128, eu: v128, ev: v128, ew: v128): void {
  const across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong), zero = f32x4.splat(0), one = f32x4.splat(1);
  const ee = dot(eu, ev, ew, eu, ev, ew), de = plus(times(across, eu), times(along, ew));
  const dp = plus(times(across, pu), times(along, pw)), ep = dot(eu, ev, ew, pu, pv, pw);
  const per = f32x4.splat(perSquare);
  // Per unit of the axis' square, so that an axis of length 0 counts as a point.
  const det = minus(ee, times(times(de, de), per));
  const free = f32x4.div(times(minus(times(dp, ee), times(de, ep)), per), det);
  let s = f32x4.pmax(f32x4.neg(one), f32x4.pmin(one, free));
  const t = f32x4.pmax(zero, f32x4.pmin(one, f32x4.div(minus(times(de, s), ep), ee)));
  s = f32x4.pmax(f32x4.neg(one), f32x4.pmin(one, times(plus(times(de, t), dp), per)));
  const u = minus(plus(pu, times(t, eu)), times(s, across)), v = plus(pv, times(t, ev));
  const w = minus(plus(pw, times(t, ew)), times(s, along));
  const square = dot(u, v, w, u, v, w);
  const isNearer = f32x4.lt(square, nearestSquare);
  nearestSquare = v128.bitselect(square, nearestSquare, isNearer);
  toNearestU = v128.bitselect(u, toNearestU, isNearer);
  toNearestV = v128.bitselect(v, toNearestV, isNearer);
  toNearestW = v128.bitselect(w, toNearestW, isNearer);
}

/** Sets what is the same for all triangles; only few sweeps reach any. */
function prepare(): void {
  isReady = true;
  setOwnFrame(body, tree);
  setWayFrame();
  width = Infinity;
  narrow(body.radius);
  inner = <f32>(body.radius * (1.0 - 4.0 * <f64>ROUNDING));
  isAnySide = areAllSides();
  const axisSquare = halfAcross * halfAcross + halfAlong * halfAlong;
  perSquare = axisSquare > 0 ? 1 / axisSquare : 0;
  limit = upward(max((best - entryTime) * wayLength, 0.0));
}

// --- four triangles, float32 ---

const wayFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Half of the axis along u and along w. */
let halfAcross: f32 = 0, halfAlong: f32 = 0;
/** One over the square of half of the axis, or 0 if it has no length. */
let perSquare: f32 = 0;
/** Maximum distance from the axis at which a triangle matters, rounded up. And the radius, rounded down. */
let width: f32 = 0;
let inner: f32 = 0;
/** Whether every triangle that is hit counts, so that later ones can be skipped. */
let isAnySide: bool = false;
/** How far along the way hits matter, from where the mesh's bounds begin. */
let limit: f32 = 0;

/** An axis whose angle to the way has a smaller sine than this counts as parallel to it; its rest is added to the width. */
const ALONG: f64 = 1e-6;
/** Relative error bound for a few sums and products of float32: 2⁻²⁰. */
const ROUNDING: f32 = 9.5367431640625e-7;
/** The width that is added if the axis counts as parallel to the way. */
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

/** Restricts the candidates to triangles within a radius of the axis. */
function narrow(radius: f64): void {
  width = min(width, <f32>((max(radius, 0.0) + rest) * (1.0 + 4.0 * <f64>ROUNDING)) + 2 * blur);
}

/**
 * Corners a, b, c of the four triangles as u, v, w of four lanes; and a lower bound of how far the capsule moves before it hits
 * each.
 */
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
const lowers: usize = memory.data(VECTOR_BYTES, 16);
const nearests: usize = memory.data(VECTOR_BYTES, 16);

/** Finds which of a block's triangles the capsule may hit before the limit, a bit each, and writes `lowers`. */
function mayMeet(block: usize): u32 {
  mapBlock(corners, changetype<Block>(block));
  const au = v128.load(corners), av = v128.load(corners, 16), aw = v128.load(corners, 32);
  const bu = v128.load(corners, 48), bv = v128.load(corners, 64), bw = v128.load(corners, 80);
  const cu = v128.load(corners, 96), cv = v128.load(corners, 112), cw = v128.load(corners, 128);
  const lowU = least(au, bu, cu), highU = greatest(au, bu, cu);
  const lowV = least(av, bv, cv), highV = greatest(av, bv, cv);
  const lowW = least(aw, bw, cw), highW = greatest(aw, bw, cw);
  const zero = f32x4.splat(0), off = f32x4.splat(blur), radius = f32x4.splat(width), across = f32x4.splat(halfAcross);

  // Lower bounds of the lateral distance of a triangle: by its bounds, and by its edges.
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

  // The front and the back of the capsule at this lateral distance, along the way.
  const squared = minus(times(times(radius, radius), f32x4.splat(1 + ROUNDING)), times(times(aside, aside), f32x4.splat(1 - 2 * ROUNDING)));
  const length = f32x4.splat(abs(halfAlong));
  const front = plus(plus(times(f32x4.sqrt(f32x4.pmax(zero, squared)), f32x4.splat(1 + ROUNDING)), length), off);
  let lower = f32x4.pmax(zero, minus(lowW, front));
  passed = v128.or(passed, f32x4.lt(plus(highW, front), zero));

  // The triangle's plane.
  const abW = minus(bw, aw), acW = minus(cw, aw);
  const nu = minus(times(abV, acW), times(abW, acV));
  const nv = minus(times(abW, acU), times(abU, acW));
  const nw = minus(times(abU, acV), times(abV, acU));
  const height = dot(nu, nv, nw, au, av, aw);
  const size = boundingSize(plus(f32x4.pmax(size2, minus(highW, lowW)), off));
  const far = plus(greatest(far2, highW, f32x4.neg(lowW)), plus(plus(across, length), radius));
  const axis = f32x4.abs(plus(times(nu, across), times(nw, f32x4.splat(halfAlong))));
  const normal = f32x4.sqrt(dot(nu, nv, nw, nu, nv, nw)), error = mappedVolumeError(size, far);
  const reach = plus(plus(axis, times(radius, normal)), error);
  const gap = minus(f32x4.abs(height), reach);
  const normalError = times(size, plus(f32x4.splat(8 * blur), times(size, f32x4.splat(ROUNDING))));
  const closing = plus(v128.xor(nw, v128.and(height, f32x4.splat(-0.0))), normalError);
  const isBefore = f32x4.gt(gap, zero), isNearing = f32x4.gt(closing, zero);
  passed = v128.or(passed, v128.andnot(isBefore, isNearing));
  const toPlane = times(f32x4.div(gap, closing), f32x4.splat(1 - 2 * ROUNDING));
  lower = f32x4.pmax(lower, v128.and(toPlane, v128.and(isBefore, isNearing)));
  v128.store(lowers, lower);
  passed = v128.or(passed, f32x4.gt(lower, f32x4.splat(limit)));
  if (i32x4.all_true(passed)) return 0;

  // When the corners are hit, if all triangles count.
  if (isAnySide && limit > 0) {
    const upper = least(upperOf(au, av, aw), upperOf(bu, bv, bw), upperOf(cu, cv, cw));
    const soonest = leastLane(v128.bitselect(f32x4.splat(Infinity), upper, f32x4.gt(aside, radius)));
    if (soonest < limit) {
      limit = soonest > 0 ? soonest : 0;
      passed = v128.or(passed, f32x4.gt(lower, f32x4.splat(limit)));
    }
  }
  v128.store(nearests, zero);
  if (limit > 0) return ~<u32>i32x4.bitmask(passed) & 15;

  // The distance from the axis at the start.
  const beyond = f32x4.pmax(zero, minus(minus(f32x4.pmax(lowW, f32x4.neg(highW)), length), off));
  const toBounds = f32x4.sqrt(plus(times(aside, aside), times(beyond, beyond)));
  const toPlaneNow = f32x4.div(minus(minus(f32x4.abs(height), axis), error), plus(normal, normalError));
  const nearest = times(f32x4.pmax(toBounds, toPlaneNow), f32x4.splat(1 - 4 * ROUNDING));
  v128.store(nearests, nearest);
  if (isAnySide) {
    narrow(<f64>leastLane(least(distanceOf(au, av, aw), distanceOf(bu, bv, bw), distanceOf(cu, cv, cw))));
  }
  passed = v128.or(passed, f32x4.gt(nearest, f32x4.splat(width)));
  return ~<u32>i32x4.bitmask(passed) & 15;
}

/**
 * Returns a lower bound of the triangles' distance from the segment along u, perpendicular to the edges from p whose opposite
 * corner is q; NaN or a negative number if it is not known.
 */
function asideOf(eu: v128, ev: v128, pu: v128, pv: v128, qu: v128, qv: v128, half: v128, rounding: v128): v128 {
  const p = minus(times(eu, pv), times(ev, pu)), q = minus(times(eu, qv), times(ev, qu));
  const outside = f32x4.pmax(f32x4.pmin(p, q), f32x4.neg(f32x4.pmax(p, q)));
  const length = plus(f32x4.sqrt(plus(times(eu, eu), times(ev, ev))), f32x4.splat(3 * blur));
  return f32x4.div(minus(minus(outside, times(half, f32x4.abs(ev))), rounding), length);
}

/**
 * Returns an upper bound of how far the capsule moves before it hits points: as far as the point of its axis beside them moves.
 * Infinity if they are missed, or behind it at the start.
 */
function upperOf(pu: v128, pv: v128, pw: v128): v128 {
  const off = f32x4.splat(blur), radius = f32x4.splat(inner);
  const onAxis = f32x4.pmax(f32x4.splat(-halfAcross), f32x4.pmin(pu, f32x4.splat(halfAcross)));
  const axisW = halfAcross > 0 ? times(onAxis, f32x4.splat(halfAlong / halfAcross)) : f32x4.splat(abs(halfAlong));
  const du = plus(f32x4.abs(minus(pu, onAxis)), off), dv = plus(f32x4.abs(pv), off);
  const squared = minus(times(radius, radius), times(plus(times(du, du), times(dv, dv)), f32x4.splat(1 + ROUNDING)));
  const doubt = plus(times(f32x4.splat(abs(halfAlong)), f32x4.splat(ROUNDING)), off);
  const depth = minus(times(f32x4.sqrt(f32x4.pmax(f32x4.splat(0), squared)), f32x4.splat(1 - ROUNDING)), doubt);
  const upper = minus(pw, plus(axisW, depth));
  const isMet = v128.and(
    f32x4.gt(depth, f32x4.splat(0)),
    v128.or(f32x4.ge(upper, f32x4.splat(0)), f32x4.gt(pw, minus(axisW, depth))),
  );
  return v128.bitselect(upper, f32x4.splat(Infinity), isMet);
}

/** Returns the distance of points from the axis at the start, up to rounding. */
function distanceOf(pu: v128, pv: v128, pw: v128): v128 {
  const across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong);
  const t = times(plus(times(pu, across), times(pw, along)), f32x4.splat(perSquare));
  const part = f32x4.pmax(f32x4.splat(-1), f32x4.pmin(t, f32x4.splat(1)));
  const du = minus(pu, times(part, across)), dw = minus(pw, times(part, along));
  return f32x4.sqrt(dot(du, pv, dw, du, pv, dw));
}

// @ts-ignore: decorator
@inline
function leastLane(v: v128): f32 {
  const w = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1));
}
