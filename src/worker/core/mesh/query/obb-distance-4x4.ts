// Lower bounds of the distances of a node's four boxes from another's four, four at a time: the maximum of the distance
// of B's boxes from A's in A's frame, that of A's from B's in B's frame, and the gap along one direction that the caller
// chooses, since the nearest points so far suggest where the gap is. All of them are float32 and never too great.
//
// The gap along a direction is a sum of the reaches of both sides, so its cost is four lanes for each side and nothing
// for each pair. It is measured from a distance that is subtracted in float64 beforehand, so that far objects keep the
// precision of their size.
//
// Lengths are in the unit of obb-sat-4x4.ts, that of the larger tree. If a map is not a similarity, lengths in A's frame
// are shortened by the least factor of that map.

import { Affine } from '../../math/affine';
import { lane0, lane1, lane2, lane3, minus, plus, times } from '../../math/lanes';
import { Rotation } from '../../math/quaternion';
import { Node, childCount, childMask, maxBounds, minBounds, rotationOfNode } from '../tree/layout';
import { Relation, setRelation } from './obb-sat-4x4';
import { VECTOR_BYTES } from '../../sizes';

const relation = changetype<Relation>(memory.data(<i32>offsetof<Relation>(), 16));
const rotationA = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const rotationB = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));

/** Lower bounds of the distances of the sixteen pairs, f32: entry 4 i + j for child i of A and j of B. */
export const gaps: usize = memory.data(4 * VECTOR_BYTES, 16);
// A's four boxes, a lane each: centres and half extents along A's axes, the same along B's, and the reach along the
// direction.
const boxesA: usize = memory.data(13 * VECTOR_BYTES, 16);
const EXTENT: usize = 3 * 16;
const IN_B: usize = 6 * 16;
const EXTENT_IN_B: usize = 9 * 16;
const PROJECTION: usize = 12 * 16;

/**
 * The rounding error of a box's position, relative to the lengths from which it is computed: two rotations and the map,
 * below 2⁻¹⁸.
 */
const ROUNDING: f64 = 4e-6;
/** Gaps are clamped to this, so that their squares are finite. */
const MAX_GAP: f32 = 1e15;
/** The bound of the distance of a tree's box from tree space's origin, in tree space. */
const TREE_RADIUS: f64 = 4;

/**
 * Whether boxes are compared in frames: in neither if they are too far away, in A's only if the map is not a similarity,
 * otherwise in both.
 */
let comparedFrames: u32 = 0;
const NEITHER: u32 = 0;
const FROM_A: u32 = 1;
const FROM_BOTH: u32 = 2;

/** The length of the unit in A's tree space, and in B's. */
export let unit: f64 = 1;
let unitB: f64 = 1;
/** The length of B's unit in A's space, if the map between them is a similarity. */
let growth: f32 = 1;
let inverseGrowth: f32 = 1;
/**
 * The least factor by which the map from A's tree space to the metric space stretches a length, relative to the
 * greatest.
 */
let shortening: f32 = 1;
/** The rounding error of a box's position in A's frame. */
let positionError: f32 = 0;

/**
 * Sets the position of B: `m` maps its tree space to A's. `isSimilar`: the map stretches all directions alike. `minStretch`
 * is the least factor by which the map from A's tree space to the metric space stretches a length, divided by the
 * greatest; `isFar` omits the comparisons in the frames, which rounding would make useless.
 */
export function setBoxes(m: Affine, isSimilar: bool, minStretch: f64, isFar: bool): void {
  setRelation(relation, m);
  const ofA = 2.0 * <f64>f32x4.extract_lane(relation.halfA, 0), ofB = 2.0 * <f64>f32x4.extract_lane(relation.halfB, 0);
  unit = 1.0 / ofA;
  unitB = 1.0 / ofB;
  comparedFrames = isFar ? NEITHER : isSimilar ? FROM_BOTH : FROM_A;
  const columns = rmsColumnLength(m) * ofA / ofB;
  growth = <f32>columns;
  inverseGrowth = <f32>(1.0 / columns);
  shortening = <f32>(minStretch * (1.0 - ROUNDING));
  const originDistance = max(max(abs(m.tx), abs(m.ty)), abs(m.tz)) * ofA;
  positionError = <f32>min(ROUNDING * (TREE_RADIUS * (3.0 * columns * ofB + ofA) + originDistance), 1e30);
}

/** Returns the root mean square of the lengths of a map's columns: the length of each if it is a similarity. */
function rmsColumnLength(m: Affine): f64 {
  const x = max(max(abs(m.xx), abs(m.xy)), abs(m.xz)), y = max(max(abs(m.yx), abs(m.yy)), abs(m.yz));
  const z = max(max(abs(m.zx), abs(m.zy)), abs(m.zz)), maxEntry = max(max(x, y), z), reciprocal = 1.0 / maxEntry;
  let sum: f64 = 0;
  for (let i: usize = 0; i < 9; i++) {
    const entry = load<f64>(changetype<usize>(m) + (i << 3)) * reciprocal;
    sum += entry * entry;
  }
  return maxEntry * sqrt(sum / 3.0);
}

// The direction in both trees' axes, divided by the metric's unit; the distance of the trees' origins along it; minus
// the rounding error.
let directionAX: f32 = 0, directionAY: f32 = 0, directionAZ: f32 = 0;
let directionBX: f32 = 0, directionBY: f32 = 0, directionBZ: f32 = 0;
let originGap: f32 = 0;

/**
 * Sets the direction along which gaps are measured, a unit vector of the metric space, to which `a` and `b` map the
 * trees. `baseDistance` is the distance from which gaps are measured, `inverseUnit` the reciprocal of the unit there.
 */
export function setDirection(x: f64, y: f64, z: f64, a: Affine, b: Affine, baseDistance: f64, inverseUnit: f64): void {
  const ax = (a.xx * x + a.xy * y + a.xz * z) * inverseUnit, bx = (b.xx * x + b.xy * y + b.xz * z) * inverseUnit;
  const ay = (a.yx * x + a.yy * y + a.yz * z) * inverseUnit, by = (b.yx * x + b.yy * y + b.yz * z) * inverseUnit;
  const az = (a.zx * x + a.zy * y + a.zz * z) * inverseUnit, bz = (b.zx * x + b.zy * y + b.zz * z) * inverseUnit;
  directionAX = <f32>ax; directionAY = <f32>ay; directionAZ = <f32>az;
  directionBX = <f32>bx; directionBY = <f32>by; directionBZ = <f32>bz;
  const dx = b.tx - a.tx, dy = b.ty - a.ty, dz = b.tz - a.tz;
  const gap = (dx * x + dy * y + dz * z - baseDistance) * inverseUnit;
  const sums = abs(ax) + abs(ay) + abs(az) + abs(bx) + abs(by) + abs(bz);
  const rounding = ROUNDING * (TREE_RADIUS * sums + abs(gap)) +
    (abs(dx) + abs(dy) + abs(dz) + baseDistance) * inverseUnit * 1e-15;
  originGap = <f32>max(min(gap - rounding, 1e30), -1e30);
}

/** Returns the greatest reach along the direction of the corners of four triangles of A, or the least of those of B. */
// @ts-ignore: decorator
@inline
export function projectBlock(block: usize, isOfA: bool): v128 {
  const x = f32x4.splat(isOfA ? directionAX : directionBX), y = f32x4.splat(isOfA ? directionAY : directionBY),
    z = f32x4.splat(isOfA ? directionAZ : directionBZ);
  const p = sum(times(v128.load(block), x), times(v128.load(block, 16), y), times(v128.load(block, 32), z));
  const q = sum(times(v128.load(block, 48), x), times(v128.load(block, 64), y), times(v128.load(block, 80), z));
  const r = sum(times(v128.load(block, 96), x), times(v128.load(block, 112), y), times(v128.load(block, 128), z));
  return isOfA ? f32x4.pmax(f32x4.pmax(p, q), r) : plus(f32x4.pmin(f32x4.pmin(p, q), r), f32x4.splat(originGap));
}

// @ts-ignore: decorator
@inline
function sum(a: v128, b: v128, c: v128): v128 { return f32x4.add(f32x4.add(a, b), c); }
// @ts-ignore: decorator
@inline
function box(address: usize): v128 { return v128.load32_splat(address); }
// @ts-ignore: decorator
@inline
function combine(x: v128, y: v128, z: v128, a: f32, b: f32, c: f32): v128 {
  return sum(times(x, f32x4.splat(a)), times(y, f32x4.splat(b)), times(z, f32x4.splat(c)));
}
/** Returns the square of a gap, reduced by the rounding error. */
// @ts-ignore: decorator
@inline
function gapSquared(distance: v128, radius: v128): v128 {
  const gap = f32x4.pmin(f32x4.pmax(f32x4.splat(0), minus(f32x4.abs(distance), radius)), f32x4.splat(MAX_GAP));
  return times(gap, gap);
}

/**
 * Returns which boxes of `a` may be no farther than `bound` from which of `b`, among those in the masks: bit 4 i + j for
 * child i of a and j of b, and sets `gaps`. NaN counts as near.
 */
export function obbDistance4x4(a: Node, b: Node, maskA: u32, maskB: u32, bound: f32): u32 {
  rotationOfNode(rotationA, a);
  rotationOfNode(rotationB, b);
  const ra = rotationA, rb = rotationB;

  const halfA = relation.halfA, halfB = relation.halfB;
  let minBound = minBounds(a, 0), maxBound = maxBounds(a, 0);
  const ax = times(plus(minBound, maxBound), halfA), hx = times(minus(maxBound, minBound), halfA);
  minBound = minBounds(a, 1); maxBound = maxBounds(a, 1);
  const ay = times(plus(minBound, maxBound), halfA), hy = times(minus(maxBound, minBound), halfA);
  minBound = minBounds(a, 2); maxBound = maxBounds(a, 2);
  const az = times(plus(minBound, maxBound), halfA), hz = times(minus(maxBound, minBound), halfA);
  minBound = minBounds(b, 0); maxBound = maxBounds(b, 0);
  const bx = times(plus(minBound, maxBound), halfB), ux = times(minus(maxBound, minBound), halfB);
  minBound = minBounds(b, 1); maxBound = maxBounds(b, 1);
  const by = times(plus(minBound, maxBound), halfB), uy = times(minus(maxBound, minBound), halfB);
  minBound = minBounds(b, 2); maxBound = maxBounds(b, 2);
  const bz = times(plus(minBound, maxBound), halfB), uz = times(minus(maxBound, minBound), halfB);

  // Along the direction: the greatest reach of A, and the least of B.
  let inUnit = <f32>unit;
  let nx = (ra.xx * directionAX + ra.xy * directionAY + ra.xz * directionAZ) * inUnit;
  let ny = (ra.yx * directionAX + ra.yy * directionAY + ra.yz * directionAZ) * inUnit;
  let nz = (ra.zx * directionAX + ra.zy * directionAY + ra.zz * directionAZ) * inUnit;
  v128.store(boxesA + PROJECTION, plus(combine(ax, ay, az, nx, ny, nz), combine(hx, hy, hz, abs(nx), abs(ny), abs(nz))));
  inUnit = <f32>unitB;
  nx = (rb.xx * directionBX + rb.xy * directionBY + rb.xz * directionBZ) * inUnit;
  ny = (rb.yx * directionBX + rb.yy * directionBY + rb.yz * directionBZ) * inUnit;
  nz = (rb.zx * directionBX + rb.zy * directionBY + rb.zz * directionBZ) * inUnit;
  const nearestOfB = plus(
    minus(combine(bx, by, bz, nx, ny, nz), combine(ux, uy, uz, abs(nx), abs(ny), abs(nz))), f32x4.splat(originGap),
  );
  const limit = f32x4.splat(bound);
  const childrenOfB = maskB & childMask(b), count = childCount(a);
  let bits: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (!(maskA & (1 << i))) continue;
    const gap = minus(nearestOfB, box(boxesA + PROJECTION + (<usize>i << 2)));
    v128.store(gaps + (<usize>i << 4), gap);
    bits |= (childrenOfB & ~<u32>i32x4.bitmask(f32x4.gt(gap, limit))) << (i << 2);
  }
  if (bits == 0 || comparedFrames == NEITHER) return bits;

  // G maps frame B to frame A: G = rotation of a · m · rotation of bᵀ.
  const px = sum(times(f32x4.splat(ra.xx), relation.x), times(f32x4.splat(ra.xy), relation.y), times(f32x4.splat(ra.xz), relation.z));
  const py = sum(times(f32x4.splat(ra.yx), relation.x), times(f32x4.splat(ra.yy), relation.y), times(f32x4.splat(ra.yz), relation.z));
  const pz = sum(times(f32x4.splat(ra.zx), relation.x), times(f32x4.splat(ra.zy), relation.y), times(f32x4.splat(ra.zz), relation.z));
  const x = f32x4(rb.xx, rb.yx, rb.zx, 0), y = f32x4(rb.xy, rb.yy, rb.zy, 0), z = f32x4(rb.xz, rb.yz, rb.zz, 0);
  const g0 = sum(times(lane0(px), x), times(lane1(px), y), times(lane2(px), z));
  const g1 = sum(times(lane0(py), x), times(lane1(py), y), times(lane2(py), z));
  const g2 = sum(times(lane0(pz), x), times(lane1(pz), y), times(lane2(pz), z));
  const g00 = lane0(g0), g01 = lane1(g0), g02 = lane2(g0);
  const g10 = lane0(g1), g11 = lane1(g1), g12 = lane2(g1);
  const g20 = lane0(g2), g21 = lane1(g2), g22 = lane2(g2);
  const n00 = f32x4.abs(g00), n01 = f32x4.abs(g01), n02 = f32x4.abs(g02);
  const n10 = f32x4.abs(g10), n11 = f32x4.abs(g11), n12 = f32x4.abs(g12);
  const n20 = f32x4.abs(g20), n21 = f32x4.abs(g21), n22 = f32x4.abs(g22);
  const slack = f32x4.splat(positionError);
  const ex = plus(sum(times(g00, bx), times(g01, by), times(g02, bz)), lane3(px));
  const ey = plus(sum(times(g10, bx), times(g11, by), times(g12, bz)), lane3(py));
  const ez = plus(sum(times(g20, bx), times(g21, by), times(g22, bz)), lane3(pz));
  const rx = plus(sum(times(n00, ux), times(n01, uy), times(n02, uz)), slack);
  const ry = plus(sum(times(n10, ux), times(n11, uy), times(n12, uz)), slack);
  const rz = plus(sum(times(n20, ux), times(n21, uy), times(n22, uz)), slack);
  v128.store(boxesA, ax);
  v128.store(boxesA, ay, 16);
  v128.store(boxesA, az, 32);
  v128.store(boxesA + EXTENT, hx);
  v128.store(boxesA + EXTENT, hy, 16);
  v128.store(boxesA + EXTENT, hz, 32);
  const shorter = f32x4.splat(shortening);
  let nearBits: u32 = 0;
  for (let i: u32 = 0; i < 4; i++) {
    const row = (bits >> (i << 2)) & 15;
    if (row == 0) continue;
    const at = boxesA + (<usize>i << 2), to = gaps + (<usize>i << 4);
    const distanceSquared = sum(
      gapSquared(minus(ex, box(at)), plus(rx, box(at + 48))),
      gapSquared(minus(ey, box(at + 16)), plus(ry, box(at + 64))),
      gapSquared(minus(ez, box(at + 32)), plus(rz, box(at + 80))),
    );
    const gap = f32x4.pmax(v128.load(to), times(f32x4.sqrt(distanceSquared), shorter));
    v128.store(to, gap);
    nearBits |= (row & ~<u32>i32x4.bitmask(f32x4.gt(gap, limit))) << (i << 2);
  }
  if (nearBits == 0 || comparedFrames != FROM_BOTH) return nearBits;

  // In frame B, in the same unit: G divided by its growth is a rotation, whose inverse is its transpose.
  const inverse = f32x4.splat(inverseGrowth), grown = f32x4.splat(growth);
  const fx = times(inverse, sum(times(g00, ex), times(g10, ey), times(g20, ez)));
  const fy = times(inverse, sum(times(g01, ex), times(g11, ey), times(g21, ez)));
  const fz = times(inverse, sum(times(g02, ex), times(g12, ey), times(g22, ez)));
  const qx = plus(times(grown, ux), slack), qy = plus(times(grown, uy), slack), qz = plus(times(grown, uz), slack);
  v128.store(boxesA + IN_B, times(inverse, sum(times(g00, ax), times(g10, ay), times(g20, az))));
  v128.store(boxesA + IN_B, times(inverse, sum(times(g01, ax), times(g11, ay), times(g21, az))), 16);
  v128.store(boxesA + IN_B, times(inverse, sum(times(g02, ax), times(g12, ay), times(g22, az))), 32);
  v128.store(boxesA + EXTENT_IN_B, times(inverse, sum(times(n00, hx), times(n10, hy), times(n20, hz))));
  v128.store(boxesA + EXTENT_IN_B, times(inverse, sum(times(n01, hx), times(n11, hy), times(n21, hz))), 16);
  v128.store(boxesA + EXTENT_IN_B, times(inverse, sum(times(n02, hx), times(n12, hy), times(n22, hz))), 32);
  bits = nearBits;
  for (let i: u32 = 0; i < 4; i++) {
    const row = (bits >> (i << 2)) & 15;
    if (row == 0) continue;
    const at = boxesA + (<usize>i << 2), to = gaps + (<usize>i << 4);
    const distanceSquared = sum(
      gapSquared(minus(fx, box(at + 96)), plus(qx, box(at + 144))),
      gapSquared(minus(fy, box(at + 112)), plus(qy, box(at + 160))),
      gapSquared(minus(fz, box(at + 128)), plus(qz, box(at + 176))),
    );
    const gap = f32x4.pmax(v128.load(to), times(f32x4.sqrt(distanceSquared), shorter));
    v128.store(to, gap);
    nearBits &= ~(<u32>i32x4.bitmask(f32x4.gt(gap, limit)) << (i << 2));
  }
  return nearBits;
}
