// Contact of two boxes that are known to overlap, for scenes full of them: float32 SIMD finds the axis and clips the
// faces, float64 computes the depth along that axis. If float32 is not accurate enough, the caller must take the general
// path (convex-convex.ts): for rotating unit boxes that is one contact in 700.

import { CONTACT_NORMAL, CONTACT_POINT_BYTES } from '../../../../shared/layout';
import { Form, inverseColumn } from '../../math/obb-sat-f32';
import { plus, times, transpose, yzx, zxy } from '../../math/lanes';
import { Proxy } from '../../shape/proxy';
import { FLAT } from '../convex/contact-feature';
import { ROW_BYTES, clipFaces, takeCorners } from './face-clip-x4';
import { addPoint, addWritten, pointCount, points, reservePoints } from '../manifold/contact';
import { beginReduction, offerPlace, reduceToFour, reducedCount, reducedIndex } from '../manifold/manifold-reduction';
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
const boxes: usize = memory.data(VECTOR_BYTES, 16);
const others: usize = memory.data(VECTOR_BYTES, 16);
/** The normals, pointing out of the boxes with the reference face, in rows of four lanes. */
const outward: usize = memory.data(3 * VECTOR_BYTES, 16);
/** The normal from a to b, and the depth, of each pair: four f64. */
const WAY_BYTES: i32 = 32;
const ways: usize = memory.data(4 * WAY_BYTES, 16);

/** Clips the faces of the four pairs in the lists above, for `addFaceContact`. */
export function clipFourFaces(): void {
  for (let lane: usize = 0; lane < 16; lane += 4) {
    const a = load<u32>(faceFirsts + lane), b = load<u32>(faceSeconds + lane), axis = load<u32>(faceAxes + lane);
    const isOfB = <u32>(axis >= 3), swap = (a ^ b) & -isOfB;
    const box = changetype<Proxy>(<usize>(a ^ swap)), i = <usize>(axis - 3 * isOfB);
    store<u32>(boxes + lane, a ^ swap);
    store<u32>(others + lane, b ^ swap);
    setNormal(changetype<Proxy>(<usize>a), changetype<Proxy>(<usize>b), edge(box, i == 2 ? 0 : i + 1), edge(box, i == 0 ? 2 : i - 1));
    const way = ways + (lane >> 2) * WAY_BYTES;
    store<f64>(way, normalX);
    store<f64>(way, normalY, 8);
    store<f64>(way, normalZ, 16);
    store<f64>(way, depth, 24);
    const side = <f32>1 - <f32>(isOfB << 1);
    store<f32>(outward + lane, side * <f32>normalX);
    store<f32>(outward + lane, side * <f32>normalY, 16);
    store<f32>(outward + lane, side * <f32>normalZ, 32);
  }
  clipFaces(boxes, others, v128.load(outward), v128.load(outward, 16), v128.load(outward, 32));
}

/** Adds the contact points of one of the four pairs. Returns false, and adds none, if float32 is not accurate enough. */
export function addFaceContact(lane: usize): bool {
  const way = ways + lane * WAY_BYTES, at = lane << 2;
  normalX = load<f64>(way); normalY = load<f64>(way, 8); normalZ = load<f64>(way, 16); depth = load<f64>(way, 24);
  const isOfB = load<u32>(faceAxes + at) >= 3;
  const box = changetype<Proxy>(<usize>load<u32>(boxes + at)), other = changetype<Proxy>(<usize>load<u32>(others + at));
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
  const ofA = flattest(a.form()), faceOfA = flattestFace;
  if (!(ofA >= <f32>FLAT)) return edgesMeet(a, b, i, j);
  const ofB = flattest(b.form());
  if (!(ofB >= <f32>FLAT)) return edgesMeet(a, b, i, j);
  return ofA >= ofB ? faceMeets(a, b, faceOfA, 1) : faceMeets(b, a, flattestFace, -1);
}

let flattestFace: usize = 0;

/**
 * Sets `flattestFace` to the axis of a box whose faces are at the smallest angle to the contact's plane. Returns the
 * squared cosine of that angle.
 */
function flattest(box: Form): f32 {
  const turns = turnsOf(box, turnedTo(box, f32x4.splat(<f32>normalX), f32x4.splat(<f32>normalY), f32x4.splat(<f32>normalZ)));
  flattestFace = leastLane(f32x4.neg(turns));
  return f32x4.extract_lane(f32x4.pmax(f32x4.pmax(turns, yzx(turns)), zxy(turns)), 0);
}

/** Computes the dot products of a unit vector with the rows of a box's inverse, which are its face normals. */
// @ts-ignore: decorator
@inline
function turnedTo(box: Form, nx: v128, ny: v128, nz: v128): v128 {
  return plus(plus(times(inverseColumn(box, 0), nx), times(inverseColumn(box, 1), ny)), times(inverseColumn(box, 2), nz));
}

/**
 * Computes the squared cosines of the angles between a vector and a box's face normals, from the results of `turnedTo`.
 */
// @ts-ignore: decorator
@inline
function turnsOf(box: Form, turned: v128): v128 {
  const x = inverseColumn(box, 0), y = inverseColumn(box, 1), z = inverseColumn(box, 2);
  return f32x4.div(times(turned, turned), plus(plus(times(x, x), times(y, y)), times(z, z)));
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
  const middle = (b.x - a.x) * x + (b.y - a.y) * y + (b.z - a.z) * z;
  const over = 1.0 / sqrt(x * x + y * y + z * z);
  depth = over * (
    abs(a.xx * x + a.xy * y + a.xz * z) + abs(a.yx * x + a.yy * y + a.yz * z) + abs(a.zx * x + a.zy * y + a.zz * z) +
    abs(b.xx * x + b.xy * y + b.xz * z) + abs(b.yx * x + b.yy * y + b.yz * z) + abs(b.zx * x + b.zy * y + b.zz * z) -
    abs(middle)
  );
  const scale = over * signOf(middle);
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
function edgesMeet(a: Proxy, b: Proxy, i: usize, j: usize): bool {
  const p = edge(a, i), q = edge(b, j);
  const ux = load<f64>(p), uy = load<f64>(p, 8), uz = load<f64>(p, 16);
  const vx = load<f64>(q), vy = load<f64>(q, 8), vz = load<f64>(q, 16);
  // From a's centre to the midpoints of the two edges.
  setEdgeMiddle(a, i, 1);
  const ax = middleX, ay = middleY, az = middleZ;
  setEdgeMiddle(b, j, -1);
  const bx = middleX + (b.x - a.x), by = middleY + (b.y - a.y), bz = middleZ + (b.z - a.z);
  const wx = bx - ax, wy = by - ay, wz = bz - az;
  const uu = ux * ux + uy * uy + uz * uz, uv = ux * vx + uy * vy + uz * vz, vv = vx * vx + vy * vy + vz * vz;
  const uw = ux * wx + uy * wy + uz * wz, vw = vx * wx + vy * wy + vz * wz;
  const over = 1.0 / (uu * vv - uv * uv);
  const s = (uw * vv - vw * uv) * over, t = (uw * uv - vw * uu) * over;
  const x = 0.5 * (ax + bx + s * ux + t * vx), y = 0.5 * (ay + by + s * uy + t * vy), z = 0.5 * (az + bz + s * uz + t * vz);
  if (!holds(a.form(), x, y, z)) return false;
  if (!holds(b.form(), x - (b.x - a.x), y - (b.y - a.y), z - (b.z - a.z))) return false;
  addPoint(a.x + x, a.y + y, a.z + z, normalX, normalY, normalZ, depth);
  return true;
}

let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

/**
 * Sets the midpoint of the edge along axis `i` that is farthest from the box's centre along the normal, or against it.
 */
function setEdgeMiddle(box: Proxy, i: usize, side: f64): void {
  const p = edge(box, i == 2 ? 0 : i + 1), q = edge(box, i == 0 ? 2 : i - 1);
  const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
  const qx = load<f64>(q), qy = load<f64>(q, 8), qz = load<f64>(q, 16);
  const s = side * signOf(px * normalX + py * normalY + pz * normalZ);
  const t = side * signOf(qx * normalX + qy * normalY + qz * normalZ);
  middleX = s * px + t * qx; middleY = s * py + t * qy; middleZ = s * pz + t * qz;
}

const ALMOST: f32 = 1.00001;

/** Returns whether a point, relative to a box's centre, is in the box. */
// @ts-ignore: decorator
@inline
function holds(box: Form, x: f64, y: f64, z: f64): bool {
  const own = plus(
    plus(times(inverseColumn(box, 0), f32x4.splat(<f32>x)), times(inverseColumn(box, 1), f32x4.splat(<f32>y))),
    times(inverseColumn(box, 2), f32x4.splat(<f32>z)),
  );
  return (i32x4.bitmask(f32x4.gt(f32x4.abs(own), f32x4.splat(ALMOST))) & 7) == 0;
}

// --- a reference face and the face that lies on it ---

let count: u32 = 0;
/**
 * The most that can be reduced. No polygon has more than ten corners, except that rounding may duplicate corners of
 * coplanar faces.
 */
const MOST_CORNERS: u32 = 16;

/**
 * Clips the face of the other box that faces most against the normal, to the reference box with face `i`, and adds up to
 * four points of it, each midway between the two faces if both boxes contain that point. Returns false if nothing
 * remains. `side`: 1 if the normal points out of the reference box, -1 if it points into it.
 */
function faceMeets(box: Proxy, other: Proxy, i: usize, side: f64): bool {
  v128.store(boxes, i32x4.splat(<i32>changetype<usize>(box)));
  v128.store(others, i32x4.splat(<i32>changetype<usize>(other)));
  clipFaces(
    boxes, others, f32x4.splat(<f32>(side * normalX)), f32x4.splat(<f32>(side * normalY)), f32x4.splat(<f32>(side * normalZ)),
  );
  return addPolygon(0, box, other, i, side);
}

/** Adds up to four corners of a lane's polygon. Returns false if it has none, or more than can be reduced. */
function addPolygon(lane: usize, box: Proxy, other: Proxy, i: usize, side: f64): bool {
  count = takeCorners(lane, rows);
  if (count - 1 >= MOST_CORNERS) return false;
  if (count > 4) leaveFour(i);
  addCorners(box, other, i, side);
  return true;
}

/** The corners in rows of ROW_BYTES: x, y and z. */
const rows: usize = memory.data(3 * <i32>ROW_BYTES, 16);

/**
 * Adds the corners, four at once, each moved halfway up to the plane of face `i` of the box; if that point is outside of
 * the other box, the corner itself, which is on the other box's face.
 */
function addCorners(map: Proxy, other: Proxy, i: usize, side: f64): void {
  const edgeI = edge(map, i);
  const outward = <f32>signOf(
    side * (load<f64>(edgeI) * normalX + load<f64>(edgeI, 8) * normalY + load<f64>(edgeI, 16) * normalZ),
  );
  const row = rows + i * ROW_BYTES, heights = v128.load(row);
  v128.store(row, times(f32x4.splat(0.5), plus(heights, f32x4.splat(outward))));
  setPlaces(map);
  const outside = misses(other.form(), other.x - map.x, other.y - map.y, other.z - map.z);
  if (i32x4.bitmask(outside) & ((1 << count) - 1)) {
    v128.store(row, v128.bitselect(heights, v128.load(row), outside));
    setPlaces(map);
  }

  const nx = <f32>normalX;
  const behind = f32x4(nx, <f32>normalY, <f32>normalZ, <f32>depth);
  reservePoints(pointCount + 4);
  // A point is its position, followed by normal and depth: see layout.ts, CONTACT_*.
  const to = points + <usize>pointCount * CONTACT_POINT_BYTES;
  transpose(
    quads, atPlace(map.x, lowX, highX), atPlace(map.y, lowY, highY), atPlace(map.z, lowZ, highZ), f32x4.splat(nx),
  );
  v128.store(to, v128.load(quads));
  v128.store(to, behind, CONTACT_NORMAL);
  v128.store(to, v128.load(quads, 16), CONTACT_POINT_BYTES);
  v128.store(to, behind, CONTACT_POINT_BYTES + CONTACT_NORMAL);
  v128.store(to, v128.load(quads, 32), 2 * CONTACT_POINT_BYTES);
  v128.store(to, behind, 2 * CONTACT_POINT_BYTES + CONTACT_NORMAL);
  v128.store(to, v128.load(quads, 48), 3 * CONTACT_POINT_BYTES);
  v128.store(to, behind, 3 * CONTACT_POINT_BYTES + CONTACT_NORMAL);
  addWritten(count);
}

/** Four vectors, each the x, y, z of a position and one more number. */
const quads: usize = memory.data(4 * VECTOR_BYTES, 16);

// The corners in world axes, relative to the box's centre: the first two, and the others.
let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);

function setPlaces(m: Proxy): void {
  let u = v128.load(rows), v = v128.load(rows, ROW_BYTES), w = v128.load(rows, 2 * ROW_BYTES);
  let p = f64x2.promote_low_f32x4(u), q = f64x2.promote_low_f32x4(v), r = f64x2.promote_low_f32x4(w);
  lowX = image(m.xx, m.yx, m.zx, p, q, r);
  lowY = image(m.xy, m.yy, m.zy, p, q, r);
  lowZ = image(m.xz, m.yz, m.zz, p, q, r);
  u = v128.shuffle<f64>(u, u, 1, 1); v = v128.shuffle<f64>(v, v, 1, 1); w = v128.shuffle<f64>(w, w, 1, 1);
  p = f64x2.promote_low_f32x4(u); q = f64x2.promote_low_f32x4(v); r = f64x2.promote_low_f32x4(w);
  highX = image(m.xx, m.yx, m.zx, p, q, r);
  highY = image(m.xy, m.yy, m.zy, p, q, r);
  highZ = image(m.xz, m.yz, m.zz, p, q, r);
}

// @ts-ignore: decorator
@inline
function image(x: f64, y: f64, z: f64, p: v128, q: v128, r: v128): v128 {
  return f64x2.add(
    f64x2.add(f64x2.mul(f64x2.splat(x), p), f64x2.mul(f64x2.splat(y), q)), f64x2.mul(f64x2.splat(z), r),
  );
}

/** Adds `at` to two pairs of f64 and returns the sums as four f32. */
// @ts-ignore: decorator
@inline
function atPlace(at: f64, low: v128, high: v128): v128 {
  return v128.shuffle<f64>(
    f32x4.demote_f64x2_zero(f64x2.add(f64x2.splat(at), low)), f32x4.demote_f64x2_zero(f64x2.add(f64x2.splat(at), high)),
    0, 2,
  );
}

/** Returns a mask, by lane, of the corners that are not in a box whose centre is at (x, y, z). */
// @ts-ignore: decorator
@inline
function misses(box: Form, x: f64, y: f64, z: f64): v128 {
  const u = atPlace(-x, lowX, highX), v = atPlace(-y, lowY, highY), w = atPlace(-z, lowZ, highZ);
  return v128.or(v128.or(missesAxis(box, 0, u, v, w), missesAxis(box, 4, u, v, w)), missesAxis(box, 8, u, v, w));
}

// @ts-ignore: decorator
@inline
function missesAxis(box: Form, offset: usize, u: v128, v: v128, w: v128): v128 {
  const at = changetype<usize>(box) + offset;
  const own = plus(
    plus(times(v128.load32_splat(at), u), times(v128.load32_splat(at, 12), v)), times(v128.load32_splat(at, 24), w),
  );
  return f32x4.gt(f32x4.abs(own), f32x4.splat(ALMOST));
}

/** Returns which of the first three lanes is the least. Branchless, since the result is unpredictable. */
// @ts-ignore: decorator
@inline
function leastLane(v: v128): usize {
  const least = f32x4.pmin(f32x4.pmin(v, yzx(v)), zxy(v));
  return <usize>ctz(i32x4.bitmask(f32x4.eq(v, least)) | 4);
}

/** Reduces the corners, of which there are at most 16, to four. */
function leaveFour(i: usize): void {
  const u = rows + (i == 2 ? 0 : i + 1) * ROW_BYTES, v = rows + (i == 0 ? 2 : i - 1) * ROW_BYTES;
  beginReduction();
  for (let at: usize = 0, end = <usize>count << 2; at < end; at += 4) {
    offerPlace(<f64>load<f32>(u + at), <f64>load<f32>(v + at));
  }
  reduceToFour(0);
  count = reducedCount;
  keepChosen(rows);
  keepChosen(rows + ROW_BYTES);
  keepChosen(rows + 2 * ROW_BYTES);
}

/** Moves the chosen corners of a row to its beginning. */
function keepChosen(row: usize): void {
  let chosen = v128.load32_zero(row + (<usize>reducedIndex(0) << 2));
  chosen = v128.load32_lane(row + (<usize>reducedIndex(1) << 2), chosen, 1);
  chosen = v128.load32_lane(row + (<usize>reducedIndex(2) << 2), chosen, 2);
  v128.store(row, v128.load32_lane(row + (<usize>reducedIndex(3) << 2), chosen, 3));
}
