// Contact of two boxes that are known to overlap, for scenes full of them: float32 SIMD finds the axis and clips the
// faces, float64 computes the depth along that axis. If float32 is not accurate enough, the caller must take the general
// path (convex-convex.ts): for rotating unit boxes that is one contact in 700.

import { CONTACT_NORMAL, CONTACT_POINT_BYTES } from '../../../../shared/layout';
import { Form, inverseColumn } from '../../math/obb-sat-f32';
import { plus, times, transpose, yzx, zxy } from '../../math/lanes';
import { Proxy } from '../../shape/proxy';
import { FLAT_COSINE_SQUARED } from '../convex/contact-feature';
import { ROW_BYTES, clipFaces, writeCorners } from './face-clip-x4';
import { addPoint, countWrittenPoints, pointCount, points, reservePoints } from '../manifold/contact';
import { beginReduction, offerPlanePoint, reduceToFour, reducedCount, reducedIndex } from '../manifold/manifold-reduction';
import { VECTOR_BYTES } from '../../sizes';

/**
 * Contacts no deeper than this fraction of a box's size are left to float64: an axis that float32 chooses is at most
 * 1e-6 of a size worse than the best, which is a thousandth of any greater depth.
 */
const SHALLOW: f64 = 1e-3;

// The unit normal from a to b, and the depth.
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let depth: f64 = 0;

/**
 * Adds the contact points of two boxes along their best axis (sat-x4.ts). Returns false, and adds none, if float32 is
 * not accurate enough.
 */
export function boxBoxContact(a: Proxy, b: Proxy, axis: i32): bool {
  if (axis < 0) return false;
  return axis < 6 ? faceContact(a, b, axis) : edgeContact(a, b, axis);
}

/**
 * Adds the contact points if the axis is the normal of a face. Returns false, and adds none, if float32 is not accurate
 * enough.
 */
function faceContact(a: Proxy, b: Proxy, axis: i32): bool {
  v128.store(faceFirsts, i32x4.splat(<i32>changetype<usize>(a)));
  v128.store(faceSeconds, i32x4.splat(<i32>changetype<usize>(b)));
  v128.store(faceAxes, i32x4.splat(axis));
  clipFourFaces();
  return addFaceContact(0);
}

// Four pairs whose axes are face normals: the addresses of their boxes, a and b, and the axes, u32 each.
export const faceFirsts: usize = memory.data(VECTOR_BYTES, 16);
export const faceSeconds: usize = memory.data(VECTOR_BYTES, 16);
export const faceAxes: usize = memory.data(VECTOR_BYTES, 16);
/** The boxes with the reference face, and the other boxes, whose faces are clipped. */
const referenceBoxes: usize = memory.data(VECTOR_BYTES, 16);
const incidentBoxes: usize = memory.data(VECTOR_BYTES, 16);
/** The normals, pointing out of the boxes with the reference face, in rows of four lanes. */
const outwardSign: usize = memory.data(3 * VECTOR_BYTES, 16);
/** The normal from a to b, and the depth, of each pair: four f64. */
const NORMAL_BYTES: i32 = 32;
const normals: usize = memory.data(4 * NORMAL_BYTES, 16);

/** Clips the faces of the four pairs in the lists above, for `addFaceContact`. */
export function clipFourFaces(): void {
  for (let lane: usize = 0; lane < 16; lane += 4) {
    const a = load<u32>(faceFirsts + lane), b = load<u32>(faceSeconds + lane), axis = load<u32>(faceAxes + lane);
    const isOfB = <u32>(axis >= 3), swap = (a ^ b) & -isOfB;
    const box = changetype<Proxy>(<usize>(a ^ swap)), i = <usize>(axis - 3 * isOfB);
    store<u32>(referenceBoxes + lane, a ^ swap);
    store<u32>(incidentBoxes + lane, b ^ swap);
    setNormal(changetype<Proxy>(<usize>a), changetype<Proxy>(<usize>b), edge(box, i == 2 ? 0 : i + 1), edge(box, i == 0 ? 2 : i - 1));
    const normal = normals + (lane >> 2) * NORMAL_BYTES;
    store<f64>(normal, normalX);
    store<f64>(normal, normalY, 8);
    store<f64>(normal, normalZ, 16);
    store<f64>(normal, depth, 24);
    const side = <f32>1 - <f32>(isOfB << 1);
    store<f32>(outwardSign + lane, side * <f32>normalX);
    store<f32>(outwardSign + lane, side * <f32>normalY, 16);
    store<f32>(outwardSign + lane, side * <f32>normalZ, 32);
  }
  clipFaces(referenceBoxes, incidentBoxes, v128.load(outwardSign), v128.load(outwardSign, 16), v128.load(outwardSign, 32));
}

/** Adds the contact points of one of the four pairs. Returns false, and adds none, if float32 is not accurate enough. */
export function addFaceContact(lane: usize): bool {
  const normal = normals + lane * NORMAL_BYTES, at = lane << 2;
  normalX = load<f64>(normal); normalY = load<f64>(normal, 8); normalZ = load<f64>(normal, 16); depth = load<f64>(normal, 24);
  const isOfB = load<u32>(faceAxes + at) >= 3;
  const box = changetype<Proxy>(<usize>load<u32>(referenceBoxes + at)),
    other = changetype<Proxy>(<usize>load<u32>(incidentBoxes + at));
  const i = <usize>(load<u32>(faceAxes + at) - (isOfB ? 3 : 0));
  return isDeep(changetype<Proxy>(<usize>load<u32>(faceFirsts + at))) && addPolygon(lane, box, other, i, isOfB ? -1 : 1);
}

/**
 * Adds the contact points if the axis is the cross product of two edges: the point where the edges are nearest to each
 * other, or, if a face of each box lies flat against the other, points of these two faces. Returns false, and adds none,
 * if float32 is not accurate enough.
 */
export function edgeContact(a: Proxy, b: Proxy, axis: i32): bool {
  const i = <usize>(axis - 6) % 3, j = <usize>(axis - 6) / 3;
  setNormal(a, b, edge(a, i), edge(b, j));
  if (!isDeep(a)) return false;
  const ofA = findFlattestFace(a.form()), faceOfA = flattestFace;
  if (!(ofA >= <f32>FLAT_COSINE_SQUARED)) return addEdgePoint(a, b, i, j);
  const ofB = findFlattestFace(b.form());
  if (!(ofB >= <f32>FLAT_COSINE_SQUARED)) return addEdgePoint(a, b, i, j);
  return ofA >= ofB ? addFaceManifold(a, b, faceOfA, 1) : addFaceManifold(b, a, flattestFace, -1);
}

let flattestFace: usize = 0;

/**
 * Sets `flattestFace` to the axis of a box whose faces are at the smallest angle to the contact's plane. Returns the
 * squared cosine of that angle.
 */
function findFlattestFace(box: Form): f32 {
  const cosinesSquared = squaredCosines(box, dotFaceNormals(box, f32x4.splat(<f32>normalX), f32x4.splat(<f32>normalY),
    f32x4.splat(<f32>normalZ)));
  flattestFace = minLaneIndex(f32x4.neg(cosinesSquared));
  return f32x4.extract_lane(f32x4.pmax(f32x4.pmax(cosinesSquared, yzx(cosinesSquared)), zxy(cosinesSquared)), 0);
}

/** Computes the dot products of a unit vector with the rows of a box's inverse, which are its face normals. */
// @ts-ignore: decorator
@inline
function dotFaceNormals(box: Form, nx: v128, ny: v128, nz: v128): v128 {
  return plus(plus(times(inverseColumn(box, 0), nx), times(inverseColumn(box, 1), ny)), times(inverseColumn(box, 2), nz));
}

/**
 * Computes the squared cosines of the angles between a vector and a box's face normals, from the results of `dotFaceNormals`.
 */
// @ts-ignore: decorator
@inline
function squaredCosines(box: Form, dots: v128): v128 {
  const x = inverseColumn(box, 0), y = inverseColumn(box, 1), z = inverseColumn(box, 2);
  return f32x4.div(times(dots, dots), plus(plus(times(x, x), times(y, y)), times(z, z)));
}

// @ts-ignore: decorator
@inline
function edge(box: Proxy, i: usize): usize {
  return changetype<usize>(box) + offsetof<Proxy>('xx') + i * 24;
}

/** Returns whether the depth is more than SHALLOW of a box's size. Branchless. */
// @ts-ignore: decorator
@inline
function isDeep(m: Proxy): bool {
  return <bool>(
    i32(depth > SHALLOW * (abs(m.xx) + abs(m.xy) + abs(m.xz))) &
    i32(depth > SHALLOW * (abs(m.yx) + abs(m.yy) + abs(m.yz))) &
    i32(depth > SHALLOW * (abs(m.zx) + abs(m.zy) + abs(m.zz)))
  );
}

/** Sets the normal to the unit cross product of two edges, oriented from a to b, and the depth along it. */
function setNormal(a: Proxy, b: Proxy, p: usize, q: usize): void {
  const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
  const qx = load<f64>(q), qy = load<f64>(q, 8), qz = load<f64>(q, 16);
  let x = py * qz - pz * qy, y = pz * qx - px * qz, z = px * qy - py * qx;
  const centerDistance = (b.x - a.x) * x + (b.y - a.y) * y + (b.z - a.z) * z;
  const inverseLength = 1.0 / sqrt(x * x + y * y + z * z);
  depth = inverseLength * (
    abs(a.xx * x + a.xy * y + a.xz * z) + abs(a.yx * x + a.yy * y + a.yz * z) + abs(a.zx * x + a.zy * y + a.zz * z) +
    abs(b.xx * x + b.xy * y + b.xz * z) + abs(b.yx * x + b.yy * y + b.yz * z) + abs(b.zx * x + b.zy * y + b.zz * z) -
    abs(centerDistance)
  );
  const scale = inverseLength * signOf(centerDistance);
  normalX = x * scale; normalY = y * scale; normalZ = z * scale;
}

/** Returns 1 or -1, for zero 1. Branchless, since the sign is unpredictable. */
// @ts-ignore: decorator
@inline
function signOf(x: f64): f64 {
  return copysign<f64>(1, x + 0);
}

// --- two edges ---

/** Adds the midpoint between the nearest points of the two edges. Returns false if it is not in both boxes. */
function addEdgePoint(a: Proxy, b: Proxy, i: usize, j: usize): bool {
  const p = edge(a, i), q = edge(b, j);
  const ux = load<f64>(p), uy = load<f64>(p, 8), uz = load<f64>(p, 16);
  const vx = load<f64>(q), vy = load<f64>(q, 8), vz = load<f64>(q, 16);
  // From a's centre to the midpoints of the two edges.
  setEdgeMidpoint(a, i, 1);
  const ax = midpointX, ay = midpointY, az = midpointZ;
  setEdgeMidpoint(b, j, -1);
  const bx = midpointX + (b.x - a.x), by = midpointY + (b.y - a.y), bz = midpointZ + (b.z - a.z);
  const wx = bx - ax, wy = by - ay, wz = bz - az;
  const uu = ux * ux + uy * uy + uz * uz, uv = ux * vx + uy * vy + uz * vz, vv = vx * vx + vy * vy + vz * vz;
  const uw = ux * wx + uy * wy + uz * wz, vw = vx * wx + vy * wy + vz * wz;
  const reciprocal = 1.0 / (uu * vv - uv * uv);
  const s = (uw * vv - vw * uv) * reciprocal, t = (uw * uv - vw * uu) * reciprocal;
  const x = 0.5 * (ax + bx + s * ux + t * vx), y = 0.5 * (ay + by + s * uy + t * vy), z = 0.5 * (az + bz + s * uz + t * vz);
  if (!containsPoint(a.form(), x, y, z)) return false;
  if (!containsPoint(b.form(), x - (b.x - a.x), y - (b.y - a.y), z - (b.z - a.z))) return false;
  addPoint(a.x + x, a.y + y, a.z + z, normalX, normalY, normalZ, depth);
  return true;
}

let midpointX: f64 = 0, midpointY: f64 = 0, midpointZ: f64 = 0;

/**
 * Sets the midpoint of the edge along axis `i` that is farthest from the box's centre along the normal, or against it.
 */
function setEdgeMidpoint(box: Proxy, i: usize, side: f64): void {
  const p = edge(box, i == 2 ? 0 : i + 1), q = edge(box, i == 0 ? 2 : i - 1);
  const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
  const qx = load<f64>(q), qy = load<f64>(q, 8), qz = load<f64>(q, 16);
  const s = side * signOf(px * normalX + py * normalY + pz * normalZ);
  const t = side * signOf(qx * normalX + qy * normalY + qz * normalZ);
  midpointX = s * px + t * qx; midpointY = s * py + t * qy; midpointZ = s * pz + t * qz;
}

const CUBE_LIMIT: f32 = 1.00001;

/** Returns whether a point, relative to a box's centre, is in the box. */
// @ts-ignore: decorator
@inline
function containsPoint(box: Form, x: f64, y: f64, z: f64): bool {
  const local = plus(
    plus(times(inverseColumn(box, 0), f32x4.splat(<f32>x)), times(inverseColumn(box, 1), f32x4.splat(<f32>y))),
    times(inverseColumn(box, 2), f32x4.splat(<f32>z)),
  );
  return (i32x4.bitmask(f32x4.gt(f32x4.abs(local), f32x4.splat(CUBE_LIMIT))) & 7) == 0;
}

// --- a reference face and the face that lies on it ---

let count: u32 = 0;
/**
 * The most that can be reduced. No polygon has more than ten corners, except that rounding may duplicate corners of
 * coplanar faces.
 */
const MAX_CORNERS: u32 = 16;

/**
 * Clips the face of the other box that faces most against the normal, to the reference box with face `i`, and adds up to
 * four points of it, each midway between the two faces if both boxes contain that point. Returns false if nothing
 * remains. `side`: 1 if the normal points out of the reference box, -1 if it points into it.
 */
function addFaceManifold(box: Proxy, other: Proxy, i: usize, side: f64): bool {
  v128.store(referenceBoxes, i32x4.splat(<i32>changetype<usize>(box)));
  v128.store(incidentBoxes, i32x4.splat(<i32>changetype<usize>(other)));
  clipFaces(
    referenceBoxes, incidentBoxes, f32x4.splat(<f32>(side * normalX)), f32x4.splat(<f32>(side * normalY)),
    f32x4.splat(<f32>(side * normalZ)),
  );
  return addPolygon(0, box, other, i, side);
}

/** Adds up to four corners of a lane's polygon. Returns false if it has none, or more than can be reduced. */
function addPolygon(lane: usize, box: Proxy, other: Proxy, i: usize, side: f64): bool {
  count = writeCorners(lane, rows);
  if (count - 1 >= MAX_CORNERS) return false;
  if (count > 4) reduceCorners(i);
  addCorners(box, other, i, side);
  return true;
}

/** The corners in rows of ROW_BYTES: x, y and z. */
const rows: usize = memory.data(3 * <i32>ROW_BYTES, 16);

/**
 * Adds the corners, four at once, each moved halfway up to the plane of face `i` of the box; if that point is outside of
 * the other box, the corner itself, which is on the other box's face.
 */
function addCorners(box: Proxy, other: Proxy, i: usize, side: f64): void {
  const edgeI = edge(box, i);
  const outwardSign = <f32>signOf(
    side * (load<f64>(edgeI) * normalX + load<f64>(edgeI, 8) * normalY + load<f64>(edgeI, 16) * normalZ),
  );
  const row = rows + i * ROW_BYTES, heights = v128.load(row);
  v128.store(row, times(f32x4.splat(0.5), plus(heights, f32x4.splat(outwardSign))));
  setPositions(box);
  const outside = outsideMask(other.form(), other.x - box.x, other.y - box.y, other.z - box.z);
  if (i32x4.bitmask(outside) & ((1 << count) - 1)) {
    v128.store(row, v128.bitselect(heights, v128.load(row), outside));
    setPositions(box);
  }

  const nx = <f32>normalX;
  const normalAndDepth = f32x4(nx, <f32>normalY, <f32>normalZ, <f32>depth);
  reservePoints(pointCount + 4);
  // A point is its position, followed by normal and depth: see layout.ts, CONTACT_*.
  const to = points + <usize>pointCount * CONTACT_POINT_BYTES;
  transpose(
    positions, translate(box.x, pair0X, pair1X), translate(box.y, pair0Y, pair1Y), translate(box.z, pair0Z, pair1Z),
    f32x4.splat(nx),
  );
  v128.store(to, v128.load(positions));
  v128.store(to, normalAndDepth, CONTACT_NORMAL);
  v128.store(to, v128.load(positions, 16), CONTACT_POINT_BYTES);
  v128.store(to, normalAndDepth, CONTACT_POINT_BYTES + CONTACT_NORMAL);
  v128.store(to, v128.load(positions, 32), 2 * CONTACT_POINT_BYTES);
  v128.store(to, normalAndDepth, 2 * CONTACT_POINT_BYTES + CONTACT_NORMAL);
  v128.store(to, v128.load(positions, 48), 3 * CONTACT_POINT_BYTES);
  v128.store(to, normalAndDepth, 3 * CONTACT_POINT_BYTES + CONTACT_NORMAL);
  countWrittenPoints(count);
}

/** Four vectors, each the x, y, z of a position and one more number. */
const positions: usize = memory.data(4 * VECTOR_BYTES, 16);

// The corners in world axes, relative to the box's centre: the first two, and the others.
let pair0X: v128 = i32x4.splat(0), pair0Y: v128 = i32x4.splat(0), pair0Z: v128 = i32x4.splat(0);
let pair1X: v128 = i32x4.splat(0), pair1Y: v128 = i32x4.splat(0), pair1Z: v128 = i32x4.splat(0);

function setPositions(m: Proxy): void {
  let u = v128.load(rows), v = v128.load(rows, ROW_BYTES), w = v128.load(rows, 2 * ROW_BYTES);
  let p = f64x2.promote_low_f32x4(u), q = f64x2.promote_low_f32x4(v), r = f64x2.promote_low_f32x4(w);
  pair0X = image(m.xx, m.yx, m.zx, p, q, r);
  pair0Y = image(m.xy, m.yy, m.zy, p, q, r);
  pair0Z = image(m.xz, m.yz, m.zz, p, q, r);
  u = v128.shuffle<f64>(u, u, 1, 1); v = v128.shuffle<f64>(v, v, 1, 1); w = v128.shuffle<f64>(w, w, 1, 1);
  p = f64x2.promote_low_f32x4(u); q = f64x2.promote_low_f32x4(v); r = f64x2.promote_low_f32x4(w);
  pair1X = image(m.xx, m.yx, m.zx, p, q, r);
  pair1Y = image(m.xy, m.yy, m.zy, p, q, r);
  pair1Z = image(m.xz, m.yz, m.zz, p, q, r);
}

// @ts-ignore: decorator
@inline
function image(x: f64, y: f64, z: f64, p: v128, q: v128, r: v128): v128 {
  return f64x2.add(
    f64x2.add(f64x2.mul(f64x2.splat(x), p), f64x2.mul(f64x2.splat(y), q)), f64x2.mul(f64x2.splat(z), r),
  );
}

/** Adds `offset` to two pairs of f64 and returns the sums as four f32. */
// @ts-ignore: decorator
@inline
function translate(offset: f64, pair0: v128, pair1: v128): v128 {
  return v128.shuffle<f64>(
    f32x4.demote_f64x2_zero(f64x2.add(f64x2.splat(offset), pair0)),
    f32x4.demote_f64x2_zero(f64x2.add(f64x2.splat(offset), pair1)),
    0, 2,
  );
}

/** Returns a mask, by lane, of the corners that are not in a box whose centre is at (x, y, z). */
// @ts-ignore: decorator
@inline
function outsideMask(box: Form, x: f64, y: f64, z: f64): v128 {
  const u = translate(-x, pair0X, pair1X), v = translate(-y, pair0Y, pair1Y), w = translate(-z, pair0Z, pair1Z);
  return v128.or(v128.or(outsideAxisMask(box, 0, u, v, w), outsideAxisMask(box, 4, u, v, w)), outsideAxisMask(box, 8, u, v, w));
}

// @ts-ignore: decorator
@inline
function outsideAxisMask(box: Form, offset: usize, u: v128, v: v128, w: v128): v128 {
  const at = changetype<usize>(box) + offset;
  const local = plus(
    plus(times(v128.load32_splat(at), u), times(v128.load32_splat(at, 12), v)), times(v128.load32_splat(at, 24), w),
  );
  return f32x4.gt(f32x4.abs(local), f32x4.splat(CUBE_LIMIT));
}

/** Returns which of the first three lanes is the least. Branchless, since the result is unpredictable. */
// @ts-ignore: decorator
@inline
function minLaneIndex(v: v128): usize {
  const minimum = f32x4.pmin(f32x4.pmin(v, yzx(v)), zxy(v));
  return <usize>ctz(i32x4.bitmask(f32x4.eq(v, minimum)) | 4);
}

/** Reduces the corners, of which there are at most 16, to four. */
function reduceCorners(i: usize): void {
  const u = rows + (i == 2 ? 0 : i + 1) * ROW_BYTES, v = rows + (i == 0 ? 2 : i - 1) * ROW_BYTES;
  beginReduction();
  for (let at: usize = 0, end = <usize>count << 2; at < end; at += 4) {
    offerPlanePoint(<f64>load<f32>(u + at), <f64>load<f32>(v + at));
  }
  reduceToFour(0);
  count = reducedCount;
  compactRow(rows);
  compactRow(rows + ROW_BYTES);
  compactRow(rows + 2 * ROW_BYTES);
}

/** Moves the chosen corners of a row to its beginning. */
function compactRow(row: usize): void {
  let chosen = v128.load32_zero(row + (<usize>reducedIndex(0) << 2));
  chosen = v128.load32_lane(row + (<usize>reducedIndex(1) << 2), chosen, 1);
  chosen = v128.load32_lane(row + (<usize>reducedIndex(2) << 2), chosen, 2);
  v128.store(row, v128.load32_lane(row + (<usize>reducedIndex(3) << 2), chosen, 3));
}
