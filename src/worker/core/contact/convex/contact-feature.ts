// The contact feature of a body: the part near the plane in which it touches another body, as the convex hull of its
// vertices no deeper than a given depth, in the plane perpendicular to the contact's normal.

import { firstX, firstY, firstZ, secondX, secondY, secondZ } from '../../math/basis';
import { plus, times } from '../../math/lanes';
import { reserve } from '../../memory';
import {
  CLUSTER_BYTES, CLUSTER_CORNERS, FOUR_BOUNDS_BYTES, Hull, boundsIn, cornersIn,
} from '../../mesh/topology/hull-layout';
import { Support, ballX, ballY, ballZ, edgeX, edgeY, edgeZ, setOnBall } from './support';
import { MOST_CORNERS, Polygon, addCorner, cross } from './polygon';
import { VECTOR_BYTES } from '../../sizes';

/**
 * The squared cosine of the angle up to which a box's face counts as flat against the contact's plane: 0.9°. Where two
 * boxes lie flat on each other, the least translation that separates them may be that of two edges, due to a slight
 * tilt; their contact is then that of the two faces, not the single point in which the edges cross, on which a stack of
 * boxes would wobble. Normal and depth remain those of the least translation. (Jolt takes the faces that face the
 * direction most, whatever axis that is; Bullet and Box2D prefer face axes, which makes the depth up to 5 % more than
 * the least.)
 */
export const FLAT: f64 = 0.99975;

/** Height of the highest corner of the face that `findFlatFace` found above its lowest corner. */
export let flatDrop: f64 = 0;

/**
 * Finds the face of a box that lies flat against the plane perpendicular to the unit direction (x, y, z). Returns the
 * index of the box's edge vector that leads from its centre to the face, or to the opposite face, and 3 if no face is
 * flat.
 */
export function findFlatFace(box: Support, x: f64, y: f64, z: f64): u32 {
  for (let i: u32 = 0; i < 3; i++) {
    const j: u32 = i == 2 ? 0 : i + 1, k: u32 = i == 0 ? 2 : i - 1;
    const px = edgeX(box, j), py = edgeY(box, j), pz = edgeZ(box, j);
    const qx = edgeX(box, k), qy = edgeY(box, k), qz = edgeZ(box, k);
    const nx = py * qz - pz * qy, ny = pz * qx - px * qz, nz = px * qy - py * qx;
    const along = nx * x + ny * y + nz * z;
    if (!(along * along >= FLAT * (nx * nx + ny * ny + nz * nz))) continue;
    flatDrop = 2 * (abs(px * x + py * y + pz * z) + abs(qx * x + qy * y + qz * z));
    return i;
  }
  return 3;
}

/** Coordinates of the body's vertices in the plane perpendicular to the normal, two f64 each. */
let list: usize = 0;
let count: u32 = 0;

/**
 * Sets a polygon to the convex hull of all vertices of a body whose height along the unit direction (x, y, z) is at
 * least `least`, in the basis that math/basis.ts has set up for it. Throws OUT_OF_MEMORY.
 */
export function setFeature(out: Polygon, body: Support, x: f64, y: f64, z: f64, least: f64): void {
  count = 0;
  if (body.mesh != 0) listMesh(body, x, y, z, least);
  else {
    let fromX = body.x, fromY = body.y, fromZ = body.z;
    if (body.hasBall) {
      setOnBall(body, x, y, z);
      fromX += ballX; fromY += ballY; fromZ += ballZ;
    }
    for (let mask: u32 = 0; mask < <u32>1 << body.edges; mask++) {
      let vx = fromX, vy = fromY, vz = fromZ;
      for (let i: u32 = 0; i < body.edges; i++) {
        const sign: f64 = mask & (1 << i) ? 1 : -1;
        vx += sign * edgeX(body, i); vy += sign * edgeY(body, i); vz += sign * edgeZ(body, i);
      }
      if (vx * x + vy * y + vz * z >= least) listPlace(vx, vy, vz);
    }
  }
  setHull(out);
}

function listPlace(x: f64, y: f64, z: f64): void {
  list = reserve(list, <usize>count << 4, <u64>(count + 1) << 4);
  const at = list + (<usize>count << 4);
  store<f64>(at, x * firstX + y * firstY + z * firstZ);
  store<f64>(at, x * secondX + y * secondY + z * secondZ, 8);
  count++;
}

/**
 * Bound of float32's rounding error of a height, relative to the sum of the direction's magnitudes: tree space reaches
 * to 2.
 */
const ROUNDING: f64 = 9.5367431640625e-7; // 2^-20

/**
 * Lists the vertices of a mesh's hull that are high enough: tests clusters first, then four corners at a time in float32
 * with a margin for rounding, and decides in float64.
 */
function listMesh(b: Support, x: f64, y: f64, z: f64, least: f64): void {
  const hull = changetype<Hull>(<usize>b.hull);
  const dx = b.xx * x + b.xy * y + b.xz * z, dy = b.yx * x + b.yy * y + b.yz * z, dz = b.zx * x + b.zy * y + b.zz * z;
  const from = least - (b.x * x + b.y * y + b.z * z);
  // Divided by the largest magnitude, so that nothing overflows.
  const over = 1.0 / max(max(abs(dx), abs(dy)), abs(dz));
  const ux = f32x4.splat(<f32>(dx * over)), uy = f32x4.splat(<f32>(dy * over)), uz = f32x4.splat(<f32>(dz * over));
  const sizeX = f32x4.abs(ux), sizeY = f32x4.abs(uy), sizeZ = f32x4.abs(uz);
  const bound = f32x4.splat(<f32>(from * over - (abs(dx) + abs(dy) + abs(dz) + abs(from)) * over * ROUNDING));
  // Maps tree space to the coordinates in the plane.
  const firstU = b.xx * firstX + b.xy * firstY + b.xz * firstZ;
  const secondU = b.xx * secondX + b.xy * secondY + b.xz * secondZ;
  const firstV = b.yx * firstX + b.yy * firstY + b.yz * firstZ;
  const secondV = b.yx * secondX + b.yy * secondY + b.yz * secondZ;
  const firstW = b.zx * firstX + b.zy * firstY + b.zz * firstZ;
  const secondW = b.zx * secondX + b.zy * secondY + b.zz * secondZ;
  const firstAt = b.x * firstX + b.y * firstY + b.z * firstZ, secondAt = b.x * secondX + b.y * secondY + b.z * secondZ;
  // The corners are stored behind the bounds.
  let corners = cornersIn(hull);
  const end = corners;
  for (let four = boundsIn(hull); four < end; four += FOUR_BOUNDS_BYTES, corners += 4 * CLUSTER_BYTES) {
    const middle = plus(plus(times(v128.load(four), ux), times(v128.load(four, 16), uy)), times(v128.load(four, 32), uz));
    const half = plus(
      plus(times(v128.load(four, 48), sizeX), times(v128.load(four, 64), sizeY)), times(v128.load(four, 80), sizeZ),
    );
    let clusters = <u32>i32x4.bitmask(f32x4.ge(plus(middle, half), bound));
    for (; clusters != 0; clusters &= clusters - 1) {
      const cluster = corners + <usize>ctz(clusters) * CLUSTER_BYTES;
      list = reserve(list, <usize>count << 4, <u64>(count + CLUSTER_CORNERS) << 4);
      let to = list + (<usize>count << 4);
      for (let at = cluster; at < cluster + CLUSTER_BYTES; at += 48) {
        const height = plus(plus(times(v128.load(at), ux), times(v128.load(at, 16), uy)), times(v128.load(at, 32), uz));
        let bits = <u32>i32x4.bitmask(f32x4.ge(height, bound));
        for (; bits != 0; bits &= bits - 1) {
          const corner = at + (<usize>ctz(bits) << 2);
          const u = <f64>load<f32>(corner), v = <f64>load<f32>(corner, 16), w = <f64>load<f32>(corner, 32);
          if (u * dx + v * dy + w * dz < from) continue;
          store<f64>(to, u * firstU + v * firstV + w * firstW + firstAt);
          store<f64>(to, u * secondU + v * secondV + w * secondW + secondAt, 8);
          to += 16;
        }
      }
      count = <u32>(to - list) >> 4;
    }
  }
}

// --- convex hull (Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979) ---

let chain: usize = 0; // indices of points, u32 each

// @ts-ignore: decorator
@inline
function placeX(i: u32): f64 { return load<f64>(list + (<usize>i << 4)); }
// @ts-ignore: decorator
@inline
function placeY(i: u32): f64 { return load<f64>(list + (<usize>i << 4), 8); }
// @ts-ignore: decorator
@inline
function chainAt(i: u32): u32 { return load<u32>(chain + (<usize>i << 2)); }

function setHull(out: Polygon): void {
  out.count = 0;
  if (count == 0) return;
  if (count > MOST_CORNERS) thinOut();
  sortPlaces();
  chain = reserve(chain, 0, <u64>count * 8 + 16);
  let length: u32 = 0;
  for (let i: u32 = 0; i < count; i++) length = extend(length, 0, i);
  const lower = length;
  for (let i = count - 1; i-- > 0; ) length = extend(length, lower - 1, i);
  if (length > 1) length--; // the first point is there twice
  for (let i: u32 = 0; i < length; i++) addCorner(out, placeX(chainAt(i)), placeY(chainAt(i)));
}

const farthest: usize = memory.data(4 * VECTOR_BYTES, 16); // u32 each
const thin: usize = memory.data(16 * VECTOR_BYTES, 16); // same layout as `list`

/**
 * Keeps at most MOST_CORNERS points, the farthest ones in as many directions: their hull is within that of all points.
 */
function thinOut(): void {
  const cosine0 = f32x4(1, 0.9238795, 0.70710678, 0.38268343), cosine1 = f32x4(0, -0.38268343, -0.70710678, -0.9238795);
  const sine0 = f32x4(0, 0.38268343, 0.70710678, 0.9238795), sine1 = f32x4(1, 0.9238795, 0.70710678, 0.38268343);
  const x = placeX(0), y = placeY(0);
  let low0 = f32x4.splat(0), low1 = low0, high0 = low0, high1 = low0;
  let lowest0 = i32x4.splat(0), lowest1 = lowest0, highest0 = lowest0, highest1 = lowest0;
  for (let i: u32 = 1; i < count; i++) {
    const u = f32x4.splat(<f32>(placeX(i) - x)), v = f32x4.splat(<f32>(placeY(i) - y)), index = i32x4.splat(i);
    const along0 = plus(times(u, cosine0), times(v, sine0)), along1 = plus(times(u, cosine1), times(v, sine1));
    lowest0 = v128.bitselect(index, lowest0, f32x4.lt(along0, low0));
    lowest1 = v128.bitselect(index, lowest1, f32x4.lt(along1, low1));
    highest0 = v128.bitselect(index, highest0, f32x4.gt(along0, high0));
    highest1 = v128.bitselect(index, highest1, f32x4.gt(along1, high1));
    low0 = f32x4.pmin(low0, along0); low1 = f32x4.pmin(low1, along1);
    high0 = f32x4.pmax(high0, along0); high1 = f32x4.pmax(high1, along1);
  }
  v128.store(farthest, highest0); v128.store(farthest, highest1, 16);
  v128.store(farthest, lowest0, 32); v128.store(farthest, lowest1, 48);
  for (let i: usize = 0; i < 16; i++) {
    v128.store(thin + (i << 4), v128.load(list + (<usize>load<u32>(farthest + (i << 2)) << 4)));
  }
  count = MOST_CORNERS;
  memory.copy(list, thin, 256);
}

/**
 * Appends point i to the chain, after removing the points behind `base` at which the chain would not turn left. Returns
 * the chain's new length.
 */
function extend(chainLength: u32, base: u32, i: u32): u32 {
  let length = chainLength;
  const x = placeX(i), y = placeY(i);
  while (length > base + 1) {
    const p = chainAt(length - 2), q = chainAt(length - 1);
    if (cross(placeX(q) - placeX(p), placeY(q) - placeY(p), x - placeX(p), y - placeY(p)) > 0) break;
    length--;
  }
  if (length > base && length != 0) {
    const q = chainAt(length - 1);
    if (placeX(q) == x && placeY(q) == y) return length;
  }
  store<u32>(chain + (<usize>length << 2), i);
  return length + 1;
}

/** Sorts the points by x, then by y (Shell, "A high-speed sorting procedure", 1959). */
function sortPlaces(): void {
  for (let gap = max<u32>(count >> 1, 1); gap > 0; gap >>= 1) {
    for (let i = gap; i < count; i++) {
      const x = placeX(i), y = placeY(i);
      let j = i;
      while (j >= gap && (placeX(j - gap) > x || (placeX(j - gap) == x && placeY(j - gap) > y))) {
        v128.store(list + (<usize>j << 4), v128.load(list + (<usize>(j - gap) << 4)));
        j -= gap;
      }
      store<f64>(list + (<usize>j << 4), x);
      store<f64>(list + (<usize>j << 4), y, 8);
    }
  }
}
