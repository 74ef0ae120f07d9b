// The segments in which the triangles of two meshes intersect, computed in float64 with a margin for rounding (Möller,
// "A Fast Triangle-Triangle Intersection Test", 1997). Whether the meshes intersect at all is not decided here, but by
// an exact test (math/triangles.ts). Triangles are compared in a's tree space; segments are in contact space
// (clipped-triangles.ts).

import { Affine } from '../../math/affine';
import { loadPair, swapLanes } from '../../math/predicates';
import { Triangle, apexOf, apexOfSigns } from '../../math/triangles';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { descend, mapBToA, setTrees } from '../../mesh/query/tree-tree';
import { nearestOfTriangles, nearestX, nearestY, nearestZ } from '../../math/triangle-triangle-distance';
import { ensureClipped, clippedAt, sideAt, treeTransformOf } from './clipped-triangles';
import { F64_BYTES, VECTOR_BYTES } from '../../sizes';

/** The segment shared by clipped triangles a of side 0 and b of side 1: from p to q along a's normal × b's. */
@unmanaged
export class IntersectionSegment {
  a: u32;
  b: u32;
  /** The next segment of the same triangle, NO_SEGMENT at the end. */
  nextA: u32;
  nextB: u32;
  region: u32;
  /** The edges on which p and q lie: 0 to 2 of a, 3 to 5 of b, or ANY_EDGE. */
  edgeP: u32;
  edgeQ: u32;
  pad: u32;
  px: f64; py: f64; pz: f64;
  qx: f64; qy: f64; qz: f64;
}

const SEGMENT_BYTES: usize = offsetof<IntersectionSegment>();
/** The edge of an end from which the curve may continue across several edges: at a corner, or where two edges cross. */
export const ANY_EDGE: u32 = 6;
/** The search ends after this many segments: the meshes lie on each other then. */
const MAX_SEGMENTS: u32 = 1 << 16;

let segments: usize = 0;
export let segmentCount: u32 = 0;
export let hasAllSegments: bool = true;

// @ts-ignore: decorator
@inline
export function segmentAt(index: u32): IntersectionSegment {
  return changetype<IntersectionSegment>(segments + index * <u32>SEGMENT_BYTES);
}

/** The largest error of a mapped coordinate. */
let rounding: f64 = 0;
/** By how many roundings of the largest product coordinates along a line may differ: 16. */
const LINE_ROUNDINGS: f64 = 16;
/** How many roundings touching triangles may be apart: 8, squared. */
const TOUCHING_ROUNDINGS_SQUARED: f64 = 64;
/**
 * The error of a mapped coordinate, relative to the largest one: that of a sum of four products in float64, with some
 * margin.
 */
const RELATIVE_ROUNDING: f64 = 8.881784197001252e-16; // 2^-50

/**
 * The squared distance in a's tree space up to which two triangles count as touching; negative while intersections are
 * searched.
 */
let touchDistanceSquared: f64 = -1;
/** Returns whether the found segments are mere points where triangles touch. */
export function areTouchPoints(): bool {
  return touchDistanceSquared >= 0;
}
/** The least squared distance of any two compared triangles. */
let minDistanceSquared: f64 = Infinity;

/**
 * Finds the segments in which the meshes of both sides intersect; `m` maps b's mesh space to a's. If there are none,
 * because the meshes meet in coplanar triangles only or by rounding only, finds the points where triangles are nearest.
 * Throws OUT_OF_MEMORY.
 */
export function findSegments(a: Mesh, b: Mesh, m: Affine): void {
  setTrees(a, b, m);
  setRounding();
  segmentCount = 0;
  touchDistanceSquared = -1;
  hasAllSegments = !descend(a, b, addIfIntersecting);
  if (segmentCount != 0) return;
  touchDistanceSquared = rounding * rounding * TOUCHING_ROUNDINGS_SQUARED;
  minDistanceSquared = Infinity;
  hasAllSegments = !descend(a, b, addIfTouching);
  if (segmentCount != 0 || minDistanceSquared == Infinity) return;
  touchDistanceSquared = minDistanceSquared;
  hasAllSegments = !descend(a, b, addIfTouching);
}

function setRounding(): void {
  const x = 2.0 * (abs(mapBToA.xx) + abs(mapBToA.yx) + abs(mapBToA.zx)) + abs(mapBToA.tx);
  const y = 2.0 * (abs(mapBToA.xy) + abs(mapBToA.yy) + abs(mapBToA.zy)) + abs(mapBToA.ty);
  const z = 2.0 * (abs(mapBToA.xz) + abs(mapBToA.yz) + abs(mapBToA.zz)) + abs(mapBToA.tz);
  rounding = (2.0 + max(max(x, y), z)) * RELATIVE_ROUNDING;
}

/** Adds the segment of two triangles if they intersect. Returns true if there are too many segments. */
function addIfIntersecting(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (intersectionSegment(p, q)) addSegment(slotA, slotB);
  return segmentCount > MAX_SEGMENTS;
}

function addIfTouching(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (areTouching(p, q)) addSegment(slotA, slotB);
  return segmentCount > MAX_SEGMENTS;
}

// --- two triangles ---

// The ends of the segment shared by two triangles, ordered along the cross product of their normals.
let fromX: f64 = 0, fromY: f64 = 0, fromZ: f64 = 0;
let toX: f64 = 0, toY: f64 = 0, toZ: f64 = 0;

/** The edges on which the ends lie: 0 to 2 of the first triangle, 3 to 5 of the second one, or ANY_EDGE. */
let fromEdge: u32 = ANY_EDGE, toEdge: u32 = ANY_EDGE;

/**
 * The interval in which a triangle intersects the line that both planes share. The line crosses two edges that begin at
 * one corner, the apex. Each field is a pair of values for the two edges, and `entryIndex` is the index of the edge at which
 * the line enters: such choices are unpredictable branches, so they are made by indexed loads instead. 200 manifolds of
 * two dragons take 188 instead of 198 ms.
 */
@unmanaged
class Span {
  /** The position along the line at which it crosses each edge. */
  along: f64; along1: f64;
  /** The same as fractions of the edges, from the apex. */
  fraction: f64; fraction1: f64;
  /** The addresses of the corners at the other end of the edges. */
  corner: u32; corner1: u32;
  /** The indices of the edges; ANY_EDGE if a corner lies in the other triangle's plane. */
  edge: u32; edge1: u32;
  /** The address of the apex. */
  apex: u32;
  /** 0 or 1. */
  entryIndex: u32;
}

const SPAN_BYTES: usize = offsetof<Span>();
/** The spans of the first and the second triangle. */
const spans: usize = memory.data(2 * <i32>SPAN_BYTES, 16);
/** Heights of the first, second and third corners of both triangles above the other's plane: two f64 each. */
const heights: usize = memory.data(3 * VECTOR_BYTES, 16);
/** The corner that follows each corner. */
const nextCorner: usize = memory.data<u8>([1, 2, 0]);
/** Three f64. */
const CORNER_BYTES: usize = 24;

/**
 * Finds the segment of two triangles from the intervals in which each intersects the line of both planes. Returns
 * whether there is one. Touching counts, including within the rounding margin; coplanar triangles have no segment. The
 * same computations for both triangles share two lanes.
 */
function intersectionSegment(p: Triangle, q: Triangle): bool {
  // Lane 0 has the corners of p and the plane of q, lane 1 the corners of q and the plane of p.
  const first = changetype<usize>(p), second = changetype<usize>(q);
  const ax = loadPair(first, second, 0), ay = loadPair(first, second, 8), az = loadPair(first, second, 16);
  const bx = loadPair(first, second, 24), by = loadPair(first, second, 32), bz = loadPair(first, second, 40);
  const cx = loadPair(first, second, 48), cy = loadPair(first, second, 56), cz = loadPair(first, second, 64);
  const ox = swapLanes(ax), oy = swapLanes(ay), oz = swapLanes(az);
  const ex = f64x2.sub(swapLanes(bx), ox), ey = f64x2.sub(swapLanes(by), oy), ez = f64x2.sub(swapLanes(bz), oz);
  const fx = f64x2.sub(swapLanes(cx), ox), fy = f64x2.sub(swapLanes(cy), oy), fz = f64x2.sub(swapLanes(cz), oz);
  const nx = f64x2.sub(f64x2.mul(ey, fz), f64x2.mul(ez, fy));
  const ny = f64x2.sub(f64x2.mul(ez, fx), f64x2.mul(ex, fz));
  const nz = f64x2.sub(f64x2.mul(ex, fy), f64x2.mul(ey, fx));
  const tolerance = f64x2.mul(f64x2.splat(rounding), absSumOf(nx, ny, nz));
  const a = snapToZero(dot(nx, ny, nz, f64x2.sub(ax, ox), f64x2.sub(ay, oy), f64x2.sub(az, oz)), tolerance);
  const b = snapToZero(dot(nx, ny, nz, f64x2.sub(bx, ox), f64x2.sub(by, oy), f64x2.sub(bz, oz)), tolerance);
  const c = snapToZero(dot(nx, ny, nz, f64x2.sub(cx, ox), f64x2.sub(cy, oy), f64x2.sub(cz, oz)), tolerance);
  const zero = f64x2.splat(0);
  const aboveA = f64x2.gt(a, zero), aboveB = f64x2.gt(b, zero), aboveC = f64x2.gt(c, zero);
  const belowA = f64x2.lt(a, zero), belowB = f64x2.lt(b, zero), belowC = f64x2.lt(c, zero);
  const onA = f64x2.eq(a, zero), onB = f64x2.eq(b, zero), onC = f64x2.eq(c, zero);
  const apartMask = v128.or(v128.and(v128.and(aboveA, aboveB), aboveC), v128.and(v128.and(belowA, belowB), belowC));
  if (v128.any_true(v128.or(apartMask, v128.and(v128.and(onA, onB), onC)))) return false;
  v128.store(heights, a);
  v128.store(heights, b, 16);
  v128.store(heights, c, 32);
  const signsA = i64x2.bitmask(aboveA), signsB = i64x2.bitmask(aboveB), signsC = i64x2.bitmask(aboveC);
  let apexP = apexOfSigns((signsA & 1) | ((signsB & 1) << 1) | ((signsC & 1) << 2));
  let apexQ = apexOfSigns((signsA >> 1) | (signsB & 2) | ((signsC & 2) << 1));
  if (v128.any_true(v128.or(v128.or(onA, onB), onC))) {
    apexP = apexOf(f64x2.extract_lane(a, 0), f64x2.extract_lane(b, 0), f64x2.extract_lane(c, 0));
    apexQ = apexOf(f64x2.extract_lane(a, 1), f64x2.extract_lane(b, 1), f64x2.extract_lane(c, 1));
  }
  // The direction of the line: the normal of p × that of q.
  const yz = f64x2.mul(ny, swapLanes(nz)), zx = f64x2.mul(nz, swapLanes(nx)), xy = f64x2.mul(nx, swapLanes(ny));
  const dx = splatFirst(f64x2.sub(swapLanes(yz), yz)), dy = splatFirst(f64x2.sub(swapLanes(zx), zx));
  const dz = splatFirst(f64x2.sub(swapLanes(xy), xy));
  const lineTolerance = LINE_ROUNDINGS * rounding * f64x2.extract_lane(absSumOf(dx, dy, dz), 0);
  const ofP = spans, ofQ = spans + SPAN_BYTES;
  setSpan(changetype<Span>(ofP), first, heights, apexP, dx, dy, dz, 0);
  setSpan(changetype<Span>(ofQ), second, heights + F64_BYTES, apexQ, dx, dy, dz, 3);
  const entryP = entryPosition(ofP), entryQ = entryPosition(ofQ), exitP = exitPosition(ofP), exitQ = exitPosition(ofQ);
  if (max(entryP, entryQ) > min(exitP, exitQ) + lineTolerance) return false;
  const from = spans + (entryQ > entryP ? SPAN_BYTES : 0), to = spans + (exitQ < exitP ? SPAN_BYTES : 0);
  const entryIndex = changetype<Span>(from).entryIndex, exitIndex = changetype<Span>(to).entryIndex ^ 1;
  let u = <usize>changetype<Span>(from).apex, v = <usize>load<u32>(from + (entryIndex << 2), offsetof<Span>('corner'));
  let fraction = load<f64>(from + (entryIndex << 3), offsetof<Span>('fraction'));
  fromX = load<f64>(u) + fraction * (load<f64>(v) - load<f64>(u));
  fromY = load<f64>(u, 8) + fraction * (load<f64>(v, 8) - load<f64>(u, 8));
  fromZ = load<f64>(u, 16) + fraction * (load<f64>(v, 16) - load<f64>(u, 16));
  u = changetype<Span>(to).apex;
  v = load<u32>(to + (exitIndex << 2), offsetof<Span>('corner'));
  fraction = load<f64>(to + (exitIndex << 3), offsetof<Span>('fraction'));
  toX = load<f64>(u) + fraction * (load<f64>(v) - load<f64>(u));
  toY = load<f64>(u, 8) + fraction * (load<f64>(v, 8) - load<f64>(u, 8));
  toZ = load<f64>(u, 16) + fraction * (load<f64>(v, 16) - load<f64>(u, 16));
  // Where edges cross each other, the curve may continue across any of them.
  fromEdge = abs(entryQ - entryP) > lineTolerance ? load<u32>(from + (entryIndex << 2), offsetof<Span>('edge')) : ANY_EDGE;
  toEdge = abs(exitQ - exitP) > lineTolerance ? load<u32>(to + (exitIndex << 2), offsetof<Span>('edge')) : ANY_EDGE;
  return true;
}

// @ts-ignore: decorator
@inline
function entryPosition(span: usize): f64 {
  return load<f64>(span + (changetype<Span>(span).entryIndex << 3));
}

// @ts-ignore: decorator
@inline
function exitPosition(span: usize): f64 {
  return load<f64>(span + ((changetype<Span>(span).entryIndex ^ 1) << 3));
}

// @ts-ignore: decorator
@inline
function splatFirst(a: v128): v128 { return v128.shuffle<f64>(a, a, 0, 0); }

// @ts-ignore: decorator
@inline
function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(ax, bx), f64x2.mul(ay, by)), f64x2.mul(az, bz));
}

// @ts-ignore: decorator
@inline
function absSumOf(x: v128, y: v128, z: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.abs(x), f64x2.abs(y)), f64x2.abs(z));
}

// @ts-ignore: decorator
@inline
function snapToZero(distance: v128, tolerance: v128): v128 {
  return v128.andnot(distance, f64x2.le(f64x2.abs(distance), tolerance));
}

/**
 * Sets the span of a triangle. `cornerHeights` is the address of the heights of its corners above the other's plane, 16 bytes
 * apart, which are not all on one side; the apex is the corner alone on its side; `edge` is the number of the triangle's
 * first edge.
 */
// @ts-ignore: decorator
@inline
function setSpan(out: Span, corners: usize, cornerHeights: usize, apex: usize, dx: v128, dy: v128, dz: v128, edge: u32): void {
  const next = load<u8>(nextCorner + apex), last = load<u8>(nextCorner + next);
  const p = corners + apex * CORNER_BYTES, q = corners + next * CORNER_BYTES, r = corners + last * CORNER_BYTES;
  const apexAlong = dot(dx, dy, dz, v128.load64_splat(p), v128.load64_splat(p, 8), v128.load64_splat(p, 16));
  const ends = dot(dx, dy, dz, loadPairAt(q, r), loadPairAt(q + 8, r + 8), loadPairAt(q + 16, r + 16));
  const apexHeight = v128.load64_splat(cornerHeights + (apex << 4));
  const otherHeights = loadPairAt(cornerHeights + (<usize>next << 4), cornerHeights + (<usize>last << 4));
  const fraction = f64x2.div(apexHeight, f64x2.sub(apexHeight, otherHeights));
  const along = f64x2.add(apexAlong, f64x2.mul(fraction, f64x2.sub(ends, apexAlong)));
  v128.store(changetype<usize>(out), along);
  v128.store(changetype<usize>(out), fraction, offsetof<Span>('fraction'));
  out.corner = <u32>q;
  out.corner1 = <u32>r;
  const onPlaneMask = i64x2.bitmask(v128.or(f64x2.eq(apexHeight, f64x2.splat(0)), f64x2.eq(otherHeights, f64x2.splat(0))));
  out.edge = onPlaneMask & 1 ? ANY_EDGE : edge + <u32>apex;
  out.edge1 = onPlaneMask & 2 ? ANY_EDGE : edge + <u32>last;
  out.apex = <u32>p;
  out.entryIndex = <u32>(f64x2.extract_lane(along, 0) > f64x2.extract_lane(along, 1));
}

// @ts-ignore: decorator
@inline
function loadPairAt(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}

/** Returns whether two triangles are near enough to touch. Sets both ends of the segment to their nearest point. */
function areTouching(p: Triangle, q: Triangle): bool {
  const distanceSquared = nearestOfTriangles(p, q);
  minDistanceSquared = min(minDistanceSquared, distanceSquared);
  fromX = toX = nearestX;
  fromY = toY = nearestY;
  fromZ = toZ = nearestZ;
  fromEdge = toEdge = ANY_EDGE;
  return distanceSquared <= touchDistanceSquared;
}

// --- storing segments ---

function addSegment(slotA: u32, slotB: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const a = ensureClipped(sideA, slotA), b = ensureClipped(sideB, slotB);
  segments = reserve(segments, <usize>segmentCount * SEGMENT_BYTES, (<u64>segmentCount + 1) * SEGMENT_BYTES);
  const index = segmentCount++;
  const segment = segmentAt(index);
  const clippedA = clippedAt(sideA, a), clippedB = clippedAt(sideB, b);
  segment.a = a;
  segment.b = b;
  segment.nextA = clippedA.firstSegment;
  segment.nextB = clippedB.firstSegment;
  clippedA.firstSegment = index;
  clippedB.firstSegment = index;
  const m = treeTransformOf(sideA);
  const px = m.xx * fromX + m.yx * fromY + m.zx * fromZ + m.tx, qx = m.xx * toX + m.yx * toY + m.zx * toZ + m.tx;
  const py = m.xy * fromX + m.yy * fromY + m.zy * fromZ + m.ty, qy = m.xy * toX + m.yy * toY + m.zy * toZ + m.ty;
  const pz = m.xz * fromX + m.yz * fromY + m.zz * fromZ + m.tz, qz = m.xz * toX + m.yz * toY + m.zz * toZ + m.tz;
  // Oriented by the normals in contact space, which point outwards.
  const dx = clippedA.ny * clippedB.nz - clippedA.nz * clippedB.ny;
  const dy = clippedA.nz * clippedB.nx - clippedA.nx * clippedB.nz;
  const dz = clippedA.nx * clippedB.ny - clippedA.ny * clippedB.nx;
  if (dx * (qx - px) + dy * (qy - py) + dz * (qz - pz) >= 0) setEnds(segment, px, py, pz, fromEdge, qx, qy, qz, toEdge);
  else setEnds(segment, qx, qy, qz, toEdge, px, py, pz, fromEdge);
}

// @ts-ignore: decorator
@inline
function setEnds(
  segment: IntersectionSegment, px: f64, py: f64, pz: f64, edgeP: u32, qx: f64, qy: f64, qz: f64, edgeQ: u32,
): void {
  segment.px = px; segment.py = py; segment.pz = pz;
  segment.qx = qx; segment.qy = qy; segment.qz = qz;
  segment.edgeP = edgeP;
  segment.edgeQ = edgeQ;
}
