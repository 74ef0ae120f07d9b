// The contact feature of a body: the part near the plane in which it touches another body, as the convex hull of its
// vertices no deeper than a given depth, in the plane perpendicular to the contact's normal.

import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ } from '../../math/basis';
import { plus, times } from '../../math/lanes';
import { reserve } from '../../memory';
import {
  CLUSTER_BYTES, CLUSTER_CORNERS, BOUNDS_GROUP_BYTES, Hull, boundsIn, cornersIn,
} from '../../mesh/topology/hull-layout';
import { Support, ballX, ballY, ballZ, edgeX, edgeY, edgeZ, setBallSupport } from './support';
import { MAX_CORNERS, Polygon, addCorner, cross } from './polygon';
import { VECTOR_BYTES } from '../../sizes';

/**
 * The squared cosine of the angle up to which a box's face counts as flat against the contact's plane: 0.9°. Where two
 * boxes lie flat on each other, the least translation that separates them may be that of two edges, due to a slight
 * tilt; their contact is then that of the two faces, not the single point in which the edges cross, on which a stack of
 * boxes would wobble. Normal and depth remain those of the least translation. (Jolt takes the faces that face the
 * direction most, whatever axis that is; Bullet and Box2D prefer face axes, which makes the depth up to 5 % more than
 * the least.)
 */
export const FLAT_COSINE_SQUARED: f64 = 0.99975;

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
    if (!(along * along >= FLAT_COSINE_SQUARED * (nx * nx + ny * ny + nz * nz))) continue;
    flatDrop = 2 * (abs(px * x + py * y + pz * z) + abs(qx * x + qy * y + qz * z));
    return i;
  }
  return 3;
}

/** Coordinates of the body's vertices in the plane perpendicular to the normal, two f64 each. */
let points: usize = 0;
let count: u32 = 0;

/**
 * Sets a polygon to the convex hull of all vertices of a body whose height along the unit direction (x, y, z) is at
 * least `minHeight`, in the basis that math/basis.ts has set up for it. Throws OUT_OF_MEMORY.
 */
export function setFeature(out: Polygon, body: Support, x: f64, y: f64, z: f64, minHeight: f64): void {
  count = 0;
  if (body.mesh != 0) addMeshPoints(body, x, y, z, minHeight);
  else {
    let fromX = body.x, fromY = body.y, fromZ = body.z;
    if (body.hasBall) {
      setBallSupport(body, x, y, z);
      fromX += ballX; fromY += ballY; fromZ += ballZ;
    }
    for (let mask: u32 = 0; mask < <u32>1 << body.edgeCount; mask++) {
      let vx = fromX, vy = fromY, vz = fromZ;
      for (let i: u32 = 0; i < body.edgeCount; i++) {
        const sign: f64 = mask & (1 << i) ? 1 : -1;
        vx += sign * edgeX(body, i); vy += sign * edgeY(body, i); vz += sign * edgeZ(body, i);
      }
      if (vx * x + vy * y + vz * z >= minHeight) addPoint(vx, vy, vz);
    }
  }
  setHull(out);
}

function addPoint(x: f64, y: f64, z: f64): void {
  points = reserve(points, <usize>count << 4, <u64>(count + 1) << 4);
  const at = points + (<usize>count << 4);
  store<f64>(at, x * tangentX + y * tangentY + z * tangentZ);
  store<f64>(at, x * bitangentX + y * bitangentY + z * bitangentZ, 8);
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
function addMeshPoints(b: Support, x: f64, y: f64, z: f64, minHeight: f64): void {
  const hull = changetype<Hull>(<usize>b.hull);
  const dx = b.xx * x + b.xy * y + b.xz * z, dy = b.yx * x + b.yy * y + b.yz * z, dz = b.zx * x + b.zy * y + b.zz * z;
  const threshold = minHeight - (b.x * x + b.y * y + b.z * z);
  // Divided by the largest magnitude, so that nothing overflows.
  const scale = 1.0 / max(max(abs(dx), abs(dy)), abs(dz));
  const ux = f32x4.splat(<f32>(dx * scale)), uy = f32x4.splat(<f32>(dy * scale)), uz = f32x4.splat(<f32>(dz * scale));
  const sizeX = f32x4.abs(ux), sizeY = f32x4.abs(uy), sizeZ = f32x4.abs(uz);
  const bound = f32x4.splat(<f32>(threshold * scale - (abs(dx) + abs(dy) + abs(dz) + abs(threshold)) * scale * ROUNDING));
  // Maps tree space to the coordinates in the plane.
  const tangentU = b.xx * tangentX + b.xy * tangentY + b.xz * tangentZ;
  const bitangentU = b.xx * bitangentX + b.xy * bitangentY + b.xz * bitangentZ;
  const tangentV = b.yx * tangentX + b.yy * tangentY + b.yz * tangentZ;
  const bitangentV = b.yx * bitangentX + b.yy * bitangentY + b.yz * bitangentZ;
  const tangentW = b.zx * tangentX + b.zy * tangentY + b.zz * tangentZ;
  const bitangentW = b.zx * bitangentX + b.zy * bitangentY + b.zz * bitangentZ;
  const tangentOffset = b.x * tangentX + b.y * tangentY + b.z * tangentZ,
    bitangentOffset = b.x * bitangentX + b.y * bitangentY + b.z * bitangentZ;
  // The corners are stored behind the bounds.
  let corners = cornersIn(hull);
  const end = corners;
  for (let boundsGroup = boundsIn(hull); boundsGroup < end; boundsGroup += BOUNDS_GROUP_BYTES, corners += 4 * CLUSTER_BYTES) {
    const center = plus(plus(times(v128.load(boundsGroup), ux), times(v128.load(boundsGroup, 16), uy)),
      times(v128.load(boundsGroup, 32), uz));
    const half = plus(
      plus(times(v128.load(boundsGroup, 48), sizeX), times(v128.load(boundsGroup, 64), sizeY)),
      times(v128.load(boundsGroup, 80), sizeZ),
    );
    let clusters = <u32>i32x4.bitmask(f32x4.ge(plus(center, half), bound));
    for (; clusters != 0; clusters &= clusters - 1) {
      const cluster = corners + <usize>ctz(clusters) * CLUSTER_BYTES;
      points = reserve(points, <usize>count << 4, <u64>(count + CLUSTER_CORNERS) << 4);
      let to = points + (<usize>count << 4);
      for (let at = cluster; at < cluster + CLUSTER_BYTES; at += 48) {
        const height = plus(plus(times(v128.load(at), ux), times(v128.load(at, 16), uy)), times(v128.load(at, 32), uz));
        let bits = <u32>i32x4.bitmask(f32x4.ge(height, bound));
        for (; bits != 0; bits &= bits - 1) {
          const corner = at + (<usize>ctz(bits) << 2);
          const u = <f64>load<f32>(corner), v = <f64>load<f32>(corner, 16), w = <f64>load<f32>(corner, 32);
          if (u * dx + v * dy + w * dz < threshold) continue;
          store<f64>(to, u * tangentU + v * tangentV + w * tangentW + tangentOffset);
          store<f64>(to, u * bitangentU + v * bitangentV + w * bitangentW + bitangentOffset, 8);
          to += 16;
        }
      }
      count = <u32>(to - points) >> 4;
    }
  }
}

// --- convex hull (Andrew, "Another efficient algorithm for convex hulls in two dimensions", 1979) ---

let chain: usize = 0; // indices of points, u32 each

// @ts-ignore: decorator
@inline
function pointX(i: u32): f64 { return load<f64>(points + (<usize>i << 4)); }
// @ts-ignore: decorator
@inline
function pointY(i: u32): f64 { return load<f64>(points + (<usize>i << 4), 8); }
// @ts-ignore: decorator
@inline
function chainAt(i: u32): u32 { return load<u32>(chain + (<usize>i << 2)); }

function setHull(out: Polygon): void {
  out.count = 0;
  if (count == 0) return;
  if (count > MAX_CORNERS) keepExtremePoints();
  sortPoints();
  chain = reserve(chain, 0, <u64>count * 8 + 16);
  let length: u32 = 0;
  for (let i: u32 = 0; i < count; i++) length = extendChain(length, 0, i);
  const lower = length;
  for (let i = count - 1; i-- > 0; ) length = extendChain(length, lower - 1, i);
  if (length > 1) length--; // the first point is there twice
  for (let i: u32 = 0; i < length; i++) addCorner(out, pointX(chainAt(i)), pointY(chainAt(i)));
}

const farthest: usize = memory.data(4 * VECTOR_BYTES, 16); // u32 each
const thinned: usize = memory.data(16 * VECTOR_BYTES, 16); // same layout as `points`

/**
 * Keeps at most MAX_CORNERS points, the farthest ones in as many directions: their hull is within that of all points.
 */
function keepExtremePoints(): void {
  const cosine0 = f32x4(1, 0.9238795, 0.70710678, 0.38268343), cosine1 = f32x4(0, -0.38268343, -0.70710678, -0.9238795);
  const sine0 = f32x4(0, 0.38268343, 0.70710678, 0.9238795), sine1 = f32x4(1, 0.9238795, 0.70710678, 0.38268343);
  const x = pointX(0), y = pointY(0);
  let min0 = f32x4.splat(0), min1 = min0, max0 = min0, max1 = min0;
  let minIndex0 = i32x4.splat(0), minIndex1 = minIndex0, maxIndex0 = minIndex0, maxIndex1 = minIndex0;
  for (let i: u32 = 1; i < count; i++) {
    const u = f32x4.splat(<f32>(pointX(i) - x)), v = f32x4.splat(<f32>(pointY(i) - y)), index = i32x4.splat(i);
    const projection0 = plus(times(u, cosine0), times(v, sine0)), projection1 = plus(times(u, cosine1), times(v, sine1));
    minIndex0 = v128.bitselect(index, minIndex0, f32x4.lt(projection0, min0));
    minIndex1 = v128.bitselect(index, minIndex1, f32x4.lt(projection1, min1));
    maxIndex0 = v128.bitselect(index, maxIndex0, f32x4.gt(projection0, max0));
    maxIndex1 = v128.bitselect(index, maxIndex1, f32x4.gt(projection1, max1));
    min0 = f32x4.pmin(min0, projection0); min1 = f32x4.pmin(min1, projection1);
    max0 = f32x4.pmax(max0, projection0); max1 = f32x4.pmax(max1, projection1);
  }
  v128.store(farthest, maxIndex0); v128.store(farthest, maxIndex1, 16);
  v128.store(farthest, minIndex0, 32); v128.store(farthest, minIndex1, 48);
  for (let i: usize = 0; i < 16; i++) {
    v128.store(thinned + (i << 4), v128.load(points + (<usize>load<u32>(farthest + (i << 2)) << 4)));
  }
  count = MAX_CORNERS;
  memory.copy(points, thinned, 256);
}

/**
 * Appends point i to the chain, after removing the points behind `base` at which the chain would not turn left. Returns
 * the chain's new length.
 */
function extendChain(chainLength: u32, base: u32, i: u32): u32 {
  let length = chainLength;
  const x = pointX(i), y = pointY(i);
  while (length > base + 1) {
    const p = chainAt(length - 2), q = chainAt(length - 1);
    if (cross(pointX(q) - pointX(p), pointY(q) - pointY(p), x - pointX(p), y - pointY(p)) > 0) break;
    length--;
  }
  if (length > base && length != 0) {
    const q = chainAt(length - 1);
    if (pointX(q) == x && pointY(q) == y) return length;
  }
  store<u32>(chain + (<usize>length << 2), i);
  return length + 1;
}

/** Sorts the points by x, then by y (Shell, "A high-speed sorting procedure", 1959). */
function sortPoints(): void {
  for (let gap = max<u32>(count >> 1, 1); gap > 0; gap >>= 1) {
    for (let i = gap; i < count; i++) {
      const x = pointX(i), y = pointY(i);
      let j = i;
      while (j >= gap && (pointX(j - gap) > x || (pointX(j - gap) == x && pointY(j - gap) > y))) {
        v128.store(points + (<usize>j << 4), v128.load(points + (<usize>(j - gap) << 4)));
        j -= gap;
      }
      store<f64>(points + (<usize>j << 4), x);
      store<f64>(points + (<usize>j << 4), y, 8);
    }
  }
}
