// Sweeps a sphere or capsule straight against the triangles of a mesh. A motion along one direction is best viewed along it: in
// the frame (u, v, w) whose last axis is the motion and whose first has the rest of the capsule's axis, a triangle is missed if
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
import { tangentX, tangentY, tangentZ, setBasis } from '../math/basis';
import { roundUp } from '../math/interval';
import { minus, plus, times, transpose } from '../math/lanes';
import {
  coordinateError, boundingSize, dot, max3, min3, mapBlock, mappedVolumeError, setBlockMap,
} from '../mesh/query/mapped-block';
import { Block, trianglesOf } from '../mesh/tree/layout';
import { areAllSides, contactTime, contactDepth } from './meeting';
import { translationLength, translationX, translationY, translationZ } from './motion';
import { INTERSECTS_AT_START, HIT, setCapsuleFrame, sweepTriangle } from './round-triangle';
import { entryTime, reduceBall } from './swept-tree';
import { VECTOR_BYTES } from '../sizes';

let roundBody: Support = changetype<Support>(0);
let treeToWorld: Affine = changetype<Affine>(0);
let isReady: bool = false;

/** Sets the sphere or capsule, and the map from the mesh's tree space to the world about the common origin. */
export function beginRound(round: Support, map: Affine): void {
  roundBody = round;
  treeToWorld = map;
  isReady = false;
}

/** Tests the triangles of a block whose bits are set. Returns the time from which on hits are ignored. */
export function visitRound(block: usize, bits: u32): f64 {
  if (!isReady) prepareFrames();
  if (candidateCount > MAX_CANDIDATES - 4) sweepCandidates();
  for (let remainingLanes = mayHit(block) & bits; remainingLanes != 0; remainingLanes &= remainingLanes - 1) {
    const lane = <usize>ctz(remainingLanes) << 2;
    const candidateAddress = candidates + candidateCount++ * CANDIDATE_BYTES;
    for (let i: usize = 0; i < 9; i++) store<f32>(candidateAddress + (i << 2), load<f32>(corners + (i << 4) + lane));
    store<f32>(candidateAddress, load<f32>(lowerBounds + lane), LOWER_BOUND);
    store<f32>(candidateAddress, load<f32>(minDistances + lane), MIN_DISTANCE);
    store<u32>(candidateAddress, <u32>(block + lane), TRIANGLE_ADDRESS);
  }
  if (limit == 0) reduceBall(<f64>maxDistance);
  return translationLength > 0 ? min(contactTime, entryTime + <f64>limit / translationLength) : contactTime;
}

// --- candidates ---

// Each candidate has its corners in the frame of the motion, lower bounds of how far the capsule moves until they meet and of the
// distance from its axis at the start, if that is needed, and its address in the mesh.
const MAX_CANDIDATES: usize = 64;
const CANDIDATE_BYTES: usize = 48;
const LOWER_BOUND: usize = 36;
const MIN_DISTANCE: usize = 40;
const TRIANGLE_ADDRESS: usize = 44;
const candidates: usize = memory.data(<i32>MAX_CANDIDATES * <i32>CANDIDATE_BYTES, 16);
let candidateCount: usize = 0;

/**
 * Decides the waiting candidates, the soonest first, or at the start the closest. Must be called after all blocks were visited.
 */
export function sweepCandidates(): void {
  while (candidateCount > 0) {
    if (candidateCount > 1) refineCandidates();
    let soonestIndex: usize = 0;
    for (let i: usize = 1; i < candidateCount; i++) if (isCloser(i, soonestIndex)) soonestIndex = i;
    if (candidateCount == 0) return;
    const candidateAddress = candidates + soonestIndex * CANDIDATE_BYTES;
    const triangleAddress = <usize>load<u32>(candidateAddress, TRIANGLE_ADDRESS),
      lower = load<f32>(candidateAddress, LOWER_BOUND);
    const isRelevant = lower <= limit && !(load<f32>(candidateAddress, MIN_DISTANCE) > maxDistance);
    copyCandidate(candidateAddress, candidates + --candidateCount * CANDIDATE_BYTES);
    if (isRelevant) sweepCandidate(triangleAddress, lower);
  }
}

/** Sweeps against a triangle, which is not hit before the capsule has moved by `lower` from where it enters the mesh's bounds. */
function sweepCandidate(at: usize, lower: f32): void {
  const outcome = sweepTriangle(at, entryTime + (lower > 0 ? <f64>lower / translationLength : 0));
  if (outcome == HIT) limit = min(limit, roundUp(max((contactTime - entryTime) * translationLength, 0.0)));
  if (outcome != INTERSECTS_AT_START || !(contactDepth > 0)) return;
  limit = 0;
  reduceMaxDistance(roundBody.radius - contactDepth);
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
function isCloser(i: usize, j: usize): bool {
  const a = candidates + i * CANDIDATE_BYTES, b = candidates + j * CANDIDATE_BYTES;
  const lowerA = load<f32>(a, LOWER_BOUND), lowerB = load<f32>(b, LOWER_BOUND);
  return lowerA < lowerB || (lowerA == lowerB && load<f32>(a, MIN_DISTANCE) < load<f32>(b, MIN_DISTANCE));
}

/** The twelve numbers of four candidates, four lanes each. */
const candidateRows: usize = memory.data(12 * VECTOR_BYTES, 16);

/** Tightens the bounds of all candidates, and drops those that do not matter. */
function refineCandidates(): void {
  let keptCount: usize = 0;
  for (let i: usize = 0; i < candidateCount; i += 4) {
    const from = candidates + i * CANDIDATE_BYTES;
    for (let k: usize = 0; k < 48; k += 16) {
      transpose(
        candidateRows + (k << 2), v128.load(from + k), v128.load(from + k, 48), v128.load(from + k, 96), v128.load(from + k, 144),
      );
    }
    refineBounds(<i32>(candidateCount - i));
    const end = min(i + 4, candidateCount);
    for (let j = i; j < end; j++) {
      const lower = load<f32>(lowerBounds + ((j & 3) << 2)), minDistance = load<f32>(minDistances + ((j & 3) << 2));
      if (lower > limit || minDistance > maxDistance) continue;
      const to = candidates + keptCount++ * CANDIDATE_BYTES;
      copyCandidate(to, candidates + j * CANDIDATE_BYTES);
      store<f32>(to, lower, LOWER_BOUND);
      store<f32>(to, minDistance, MIN_DISTANCE);
    }
  }
  candidateCount = keptCount;
}

/**
 * Tightens the bounds of the first `count` of `candidateRows`: the capsule, placed at the limit, is closest to the edges of a
 * triangle along some direction. Whatever that direction is, the two are apart as long as they are apart along it.
 */
function refineBounds(count: i32): void {
  const au = v128.load(candidateRows), av = v128.load(candidateRows, 16), aw = v128.load(candidateRows, 32);
  const bu = v128.load(candidateRows, 48), bv = v128.load(candidateRows, 64), bw = v128.load(candidateRows, 80);
  const cu = v128.load(candidateRows, 96), cv = v128.load(candidateRows, 112), cw = v128.load(candidateRows, 128);
  const moved = f32x4.splat(limit), across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong), zero = f32x4.splat(0);
  const pw = minus(aw, moved), qw = minus(bw, moved), rw = minus(cw, moved);
  minDistanceSquared = f32x4.splat(Infinity);
  offerEdge(au, av, pw, minus(bu, au), minus(bv, av), minus(bw, aw));
  offerEdge(bu, bv, qw, minus(cu, bu), minus(cv, bv), minus(cw, bw));
  offerEdge(cu, cv, rw, minus(au, cu), minus(av, cv), minus(aw, cw));
  const nu = toNearestU, nv = toNearestV, nw = toNearestW;
  const sum = plus(plus(f32x4.abs(nu), f32x4.abs(nv)), f32x4.abs(nw));
  const far = plus(
    max3(
      max3(f32x4.abs(au), f32x4.abs(bu), f32x4.abs(cu)), max3(f32x4.abs(av), f32x4.abs(bv), f32x4.abs(cv)),
      max3(f32x4.abs(pw), f32x4.abs(qw), f32x4.abs(rw)),
    ),
    f32x4.splat(maxDistance + halfAcross + abs(halfAlong)),
  );
  const error = times(sum, plus(f32x4.splat(2 * coordinateError), times(plus(far, moved), f32x4.splat(ROUNDING))));
  const axis = f32x4.abs(plus(times(nu, across), times(nw, along)));
  const apart = minus(
    minus(min3(dot(nu, nv, nw, au, av, pw), dot(nu, nv, nw, bu, bv, qw), dot(nu, nv, nw, cu, cv, rw)), axis), error,
  );
  const length = f32x4.sqrt(dot(nu, nv, nw, nu, nv, nw));
  const gap = minus(apart, times(times(length, f32x4.splat(maxDistance)), f32x4.splat(1 + ROUNDING)));
  const distance = plus(moved, f32x4.div(gap, nw));
  const rounded = minus(distance, times(plus(f32x4.abs(distance), moved), f32x4.splat(ROUNDING)));
  const oldLower = v128.load(candidateRows, 144), oldMinDistance = v128.load(candidateRows, 160);
  v128.store(lowerBounds, f32x4.pmax(oldLower, v128.and(rounded, f32x4.gt(nw, zero))));
  if (limit > 0) {
    v128.store(minDistances, oldMinDistance);
    return;
  }
  v128.store(minDistances, f32x4.pmax(oldMinDistance, times(f32x4.div(apart, length), f32x4.splat(1 - 4 * ROUNDING))));
  if (!areSidesIgnored) return;
  const isCandidate = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
  reduceMaxDistance(<f64>minLane(f32x4.sqrt(v128.bitselect(minDistanceSquared, f32x4.splat(Infinity), isCandidate))));
}

let minDistanceSquared: v128 = i32x4.splat(0);
let toNearestU: v128 = i32x4.splat(0), toNearestV: v128 = i32x4.splat(0), toNearestW: v128 = i32x4.splat(0);

/** Keeps the shortest vector from the axis to edges from p, if it is the shortest so far (Ericson, 2005, 5.1.9). */
function offerEdge(pu: v128, pv: v128, pw: v128, eu: v128, ev: v128, ew: v128): void {
  const across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong), zero = f32x4.splat(0), one = f32x4.splat(1);
  const ee = dot(eu, ev, ew, eu, ev, ew), de = plus(times(across, eu), times(along, ew));
  const dp = plus(times(across, pu), times(along, pw)), ep = dot(eu, ev, ew, pu, pv, pw);
  const inverseSquared = f32x4.splat(inverseAxisSquared);
  // Per unit of the axis' square, so that an axis of length 0 counts as a point.
  const det = minus(ee, times(times(de, de), inverseSquared));
  const unclamped = f32x4.div(times(minus(times(dp, ee), times(de, ep)), inverseSquared), det);
  let s = f32x4.pmax(f32x4.neg(one), f32x4.pmin(one, unclamped));
  const t = f32x4.pmax(zero, f32x4.pmin(one, f32x4.div(minus(times(de, s), ep), ee)));
  s = f32x4.pmax(f32x4.neg(one), f32x4.pmin(one, times(plus(times(de, t), dp), inverseSquared)));
  const u = minus(plus(pu, times(t, eu)), times(s, across)), v = plus(pv, times(t, ev));
  const w = minus(plus(pw, times(t, ew)), times(s, along));
  const distanceSquared = dot(u, v, w, u, v, w);
  const isNearer = f32x4.lt(distanceSquared, minDistanceSquared);
  minDistanceSquared = v128.bitselect(distanceSquared, minDistanceSquared, isNearer);
  toNearestU = v128.bitselect(u, toNearestU, isNearer);
  toNearestV = v128.bitselect(v, toNearestV, isNearer);
  toNearestW = v128.bitselect(w, toNearestW, isNearer);
}

/** Sets what is the same for all triangles; only few sweeps reach any. */
function prepareFrames(): void {
  isReady = true;
  setCapsuleFrame(roundBody, treeToWorld);
  setMotionFrame();
  maxDistance = Infinity;
  reduceMaxDistance(roundBody.radius);
  innerRadius = <f32>(roundBody.radius * (1.0 - 4.0 * <f64>ROUNDING));
  areSidesIgnored = areAllSides();
  const halfAxisSquared = halfAcross * halfAcross + halfAlong * halfAlong;
  inverseAxisSquared = halfAxisSquared > 0 ? 1 / halfAxisSquared : 0;
  limit = roundUp(max((contactTime - entryTime) * translationLength, 0.0));
}

// --- four triangles, float32 ---

const motionFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Half of the axis along u and along w. */
let halfAcross: f32 = 0, halfAlong: f32 = 0;
/** One over the square of half of the axis, or 0 if it has no length. */
let inverseAxisSquared: f32 = 0;
/** Maximum distance from the axis at which a triangle matters, rounded up. And the radius, rounded down. */
let maxDistance: f32 = 0;
let innerRadius: f32 = 0;
/** Whether every triangle that is hit counts, so that later ones can be skipped. */
let areSidesIgnored: bool = false;
/** How far along the motion hits matter, from where the mesh's bounds begin. */
let limit: f32 = 0;

/** An axis whose angle to the motion has a smaller sine than this counts as parallel to it; its rest is added to the width. */
const PARALLEL_SINE: f64 = 1e-6;
/** Relative error bound for a few sums and products of float32: 2⁻²⁰. */
const ROUNDING: f32 = 9.5367431640625e-7;
/** The width that is added if the axis counts as parallel to the motion. */
let parallelRest: f64 = 0;

function setMotionFrame(): void {
  const b = roundBody;
  const hasAxis = b.edgeCount != 0;
  const ex = hasAxis ? b.edge0X : 0, ey = hasAxis ? b.edge0Y : 0, ez = hasAxis ? b.edge0Z : 0;
  const scale = translationLength > 0 ? 1.0 / translationLength : 0;
  const wx = translationX * scale, wy = translationY * scale, wz = translationLength > 0 ? translationZ * scale : 1;
  const along = ex * wx + ey * wy + ez * wz;
  let ux = ex - along * wx, uy = ey - along * wy, uz = ez - along * wz;
  const across = sqrt(ux * ux + uy * uy + uz * uz), half = sqrt(ex * ex + ey * ey + ez * ez);
  parallelRest = 0;
  if (across > PARALLEL_SINE * half) {
    ux /= across; uy /= across; uz /= across;
    halfAcross = <f32>across;
  } else {
    setBasis(wx, wy, wz);
    ux = tangentX; uy = tangentY; uz = tangentZ;
    halfAcross = 0;
    parallelRest = across;
  }
  halfAlong = <f32>along;
  const vx = wy * uz - wz * uy, vy = wz * ux - wx * uz, vz = wx * uy - wy * ux;
  const px = b.x + entryTime * translationX, py = b.y + entryTime * translationY, pz = b.z + entryTime * translationZ;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(treeToWorld) + column, to = changetype<usize>(motionFrame) + column;
    const isTranslation = column == 72;
    const x = load<f64>(from) - (isTranslation ? px : 0), y = load<f64>(from, 8) - (isTranslation ? py : 0);
    const z = load<f64>(from, 16) - (isTranslation ? pz : 0);
    store<f64>(to, ux * x + uy * y + uz * z);
    store<f64>(to, vx * x + vy * y + vz * z, 8);
    store<f64>(to, wx * x + wy * y + wz * z, 16);
  }
  setBlockMap(motionFrame);
}

/** Restricts the candidates to triangles within a radius of the axis. */
function reduceMaxDistance(radius: f64): void {
  maxDistance = min(maxDistance, <f32>((max(radius, 0.0) + parallelRest) * (1.0 + 4.0 * <f64>ROUNDING)) + 2 * coordinateError);
}

/**
 * Corners a, b, c of the four triangles as u, v, w of four lanes; and a lower bound of how far the capsule moves before it hits
 * each.
 */
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
const lowerBounds: usize = memory.data(VECTOR_BYTES, 16);
const minDistances: usize = memory.data(VECTOR_BYTES, 16);

/** Finds which of a block's triangles the capsule may hit before the limit, a bit each, and writes `lowerBounds`. */
function mayHit(block: usize): u32 {
  mapBlock(corners, changetype<Block>(block));
  const au = v128.load(corners), av = v128.load(corners, 16), aw = v128.load(corners, 32);
  const bu = v128.load(corners, 48), bv = v128.load(corners, 64), bw = v128.load(corners, 80);
  const cu = v128.load(corners, 96), cv = v128.load(corners, 112), cw = v128.load(corners, 128);
  const minU = min3(au, bu, cu), maxU = max3(au, bu, cu);
  const minV = min3(av, bv, cv), maxV = max3(av, bv, cv);
  const minW = min3(aw, bw, cw), maxW = max3(aw, bw, cw);
  const zero = f32x4.splat(0), margin = f32x4.splat(coordinateError), radius = f32x4.splat(maxDistance),
    across = f32x4.splat(halfAcross);

  // Lower bounds of the lateral distance of a triangle: by its bounds, and by its edges.
  const size2 = f32x4.pmax(minus(maxU, minU), minus(maxV, minV));
  const far2 = max3(f32x4.pmax(maxU, f32x4.neg(minU)), maxV, f32x4.neg(minV));
  const rounding = plus(
    times(f32x4.splat(4 * coordinateError), plus(plus(far2, size2), across)),
    times(times(size2, plus(far2, across)), f32x4.splat(ROUNDING)),
  );
  let lateralDistance = f32x4.pmax(zero, minus(minus(f32x4.pmax(minU, f32x4.neg(maxU)), across), margin));
  lateralDistance = f32x4.pmax(lateralDistance, minus(f32x4.pmax(minV, f32x4.neg(maxV)), margin));
  const abU = minus(bu, au), abV = minus(bv, av), acU = minus(cu, au), acV = minus(cv, av);
  lateralDistance = f32x4.pmax(lateralDistance, lateralDistanceFrom(abU, abV, au, av, cu, cv, across, rounding));
  lateralDistance = f32x4.pmax(lateralDistance, lateralDistanceFrom(acU, acV, au, av, bu, bv, across, rounding));
  lateralDistance = f32x4.pmax(lateralDistance, lateralDistanceFrom(minus(cu, bu), minus(cv, bv), bu, bv, au, av, across,
    rounding));
  // A lane without a triangle, or with one that lost its area, has a point that nothing hits.
  let missedMask = v128.or(f32x4.gt(lateralDistance, radius), i32x4.shr_s(trianglesOf(changetype<Block>(block)), 31));
  if (i32x4.all_true(missedMask)) return 0;

  // The front and the back of the capsule at this lateral distance, along the motion.
  const halfChordSquared = minus(times(times(radius, radius), f32x4.splat(1 + ROUNDING)),
    times(times(lateralDistance, lateralDistance), f32x4.splat(1 - 2 * ROUNDING)));
  const length = f32x4.splat(abs(halfAlong));
  const front = plus(plus(times(f32x4.sqrt(f32x4.pmax(zero, halfChordSquared)), f32x4.splat(1 + ROUNDING)), length), margin);
  let lower = f32x4.pmax(zero, minus(minW, front));
  missedMask = v128.or(missedMask, f32x4.lt(plus(maxW, front), zero));

  // The triangle's plane.
  const abW = minus(bw, aw), acW = minus(cw, aw);
  const nu = minus(times(abV, acW), times(abW, acV));
  const nv = minus(times(abW, acU), times(abU, acW));
  const nw = minus(times(abU, acV), times(abV, acU));
  const height = dot(nu, nv, nw, au, av, aw);
  const size = boundingSize(plus(f32x4.pmax(size2, minus(maxW, minW)), margin));
  const far = plus(max3(far2, maxW, f32x4.neg(minW)), plus(plus(across, length), radius));
  const axis = f32x4.abs(plus(times(nu, across), times(nw, f32x4.splat(halfAlong))));
  const normal = f32x4.sqrt(dot(nu, nv, nw, nu, nv, nw)), volumeError = mappedVolumeError(size, far);
  const extent = plus(plus(axis, times(radius, normal)), volumeError);
  const gap = minus(f32x4.abs(height), extent);
  const normalError = times(size, plus(f32x4.splat(8 * coordinateError), times(size, f32x4.splat(ROUNDING))));
  const closing = plus(v128.xor(nw, v128.and(height, f32x4.splat(-0.0))), normalError);
  const isBefore = f32x4.gt(gap, zero), isApproaching = f32x4.gt(closing, zero);
  missedMask = v128.or(missedMask, v128.andnot(isBefore, isApproaching));
  const toPlane = times(f32x4.div(gap, closing), f32x4.splat(1 - 2 * ROUNDING));
  lower = f32x4.pmax(lower, v128.and(toPlane, v128.and(isBefore, isApproaching)));
  v128.store(lowerBounds, lower);
  missedMask = v128.or(missedMask, f32x4.gt(lower, f32x4.splat(limit)));
  if (i32x4.all_true(missedMask)) return 0;

  // When the corners are hit, if all triangles count.
  if (areSidesIgnored && limit > 0) {
    const upper = min3(upperBoundOf(au, av, aw), upperBoundOf(bu, bv, bw), upperBoundOf(cu, cv, cw));
    const soonestHit = minLane(v128.bitselect(f32x4.splat(Infinity), upper, missedMask));
    if (soonestHit < limit) {
      limit = soonestHit > 0 ? soonestHit : 0;
      missedMask = v128.or(missedMask, f32x4.gt(lower, f32x4.splat(limit)));
    }
  }
  v128.store(minDistances, zero);
  if (limit > 0) return ~<u32>i32x4.bitmask(missedMask) & 15;

  // The distance from the axis at the start.
  const beyond = f32x4.pmax(zero, minus(minus(f32x4.pmax(minW, f32x4.neg(maxW)), length), margin));
  const distanceToBounds = f32x4.sqrt(plus(times(lateralDistance, lateralDistance), times(beyond, beyond)));
  const distanceToPlane = f32x4.div(minus(minus(f32x4.abs(height), axis), volumeError), plus(normal, normalError));
  const minDistance = times(f32x4.pmax(distanceToBounds, distanceToPlane), f32x4.splat(1 - 4 * ROUNDING));
  v128.store(minDistances, minDistance);
  if (areSidesIgnored) {
    const distances = min3(distanceFromAxis(au, av, aw), distanceFromAxis(bu, bv, bw), distanceFromAxis(cu, cv, cw));
    reduceMaxDistance(<f64>minLane(v128.bitselect(f32x4.splat(Infinity), distances, missedMask)));
  }
  missedMask = v128.or(missedMask, f32x4.gt(minDistance, f32x4.splat(maxDistance)));
  return ~<u32>i32x4.bitmask(missedMask) & 15;
}

/**
 * Returns a lower bound of the triangles' distance from the segment along u, perpendicular to the edges from p whose opposite
 * corner is q; NaN or a negative number if it is not known.
 */
function lateralDistanceFrom(eu: v128, ev: v128, pu: v128, pv: v128, qu: v128, qv: v128, half: v128, rounding: v128): v128 {
  const p = minus(times(eu, pv), times(ev, pu)), q = minus(times(eu, qv), times(ev, qu));
  const outside = f32x4.pmax(f32x4.pmin(p, q), f32x4.neg(f32x4.pmax(p, q)));
  const length = plus(f32x4.sqrt(plus(times(eu, eu), times(ev, ev))), f32x4.splat(3 * coordinateError));
  return f32x4.div(minus(minus(outside, times(half, f32x4.abs(ev))), rounding), length);
}

/**
 * Returns an upper bound of how far the capsule moves before it hits points: as far as the point of its axis beside them moves.
 * Infinity if they are missed, or behind it at the start.
 */
function upperBoundOf(pu: v128, pv: v128, pw: v128): v128 {
  const margin = f32x4.splat(coordinateError), radius = f32x4.splat(innerRadius);
  const onAxis = f32x4.pmax(f32x4.splat(-halfAcross), f32x4.pmin(pu, f32x4.splat(halfAcross)));
  const axisW = halfAcross > 0 ? times(onAxis, f32x4.splat(halfAlong / halfAcross)) : f32x4.splat(abs(halfAlong));
  const du = plus(f32x4.abs(minus(pu, onAxis)), margin), dv = plus(f32x4.abs(pv), margin);
  const halfChordSquared = minus(times(radius, radius), times(plus(times(du, du), times(dv, dv)), f32x4.splat(1 + ROUNDING)));
  const halfError = plus(times(f32x4.splat(abs(halfAlong)), f32x4.splat(ROUNDING)), margin);
  const depth = minus(times(f32x4.sqrt(f32x4.pmax(f32x4.splat(0), halfChordSquared)), f32x4.splat(1 - ROUNDING)), halfError);
  const upper = minus(pw, plus(axisW, depth));
  const isHit = v128.and(
    f32x4.gt(depth, f32x4.splat(0)),
    v128.or(f32x4.ge(upper, f32x4.splat(0)), f32x4.gt(pw, minus(axisW, depth))),
  );
  return v128.bitselect(upper, f32x4.splat(Infinity), isHit);
}

/** Returns the distance of points from the axis at the start, up to rounding. */
function distanceFromAxis(pu: v128, pv: v128, pw: v128): v128 {
  const across = f32x4.splat(halfAcross), along = f32x4.splat(halfAlong);
  const t = times(plus(times(pu, across), times(pw, along)), f32x4.splat(inverseAxisSquared));
  const parameter = f32x4.pmax(f32x4.splat(-1), f32x4.pmin(t, f32x4.splat(1)));
  const du = minus(pu, times(parameter, across)), dw = minus(pw, times(parameter, along));
  return f32x4.sqrt(dot(du, pv, dw, du, pv, dw));
}

// @ts-ignore: decorator
@inline
function minLane(v: v128): f32 {
  const w = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1));
}
