// Whether a point is inside a mesh: whether the mesh winds around it. For a closed mesh, the winding number is counted
// exactly along a ray (ray-parity.ts). For an open one, it is the sum of its triangles' signed solid angles over 4π, in
// float64 (Jacobson, Kavan and Sorkine-Hornung, "Robust Inside-Outside Segmentation using Generalized Winding Numbers",
// 2013), and a point is inside if the number is more than a half. Far nodes are summed by their dipoles and first
// moments (tree/dipoles.ts), together with a bound of the error. All lengths are in tree space.

import { Affine, setIdentity } from '../../math/affine';
import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import { Rotation } from '../../math/quaternion';
import { Triangle } from '../../math/triangles';
import { dipoleAt } from '../tree/dipoles';
import {
  Block, LEAF, MAX_STACK_ENTRIES, Mesh, Node, blockAt, childCount, childMask, childOf, maxBounds, minBounds, nodeAt,
  rotationOfNode, treeScale, triangleOf,
} from '../tree/layout';
import { isInsideClosedMesh } from './ray-parity';
import { WORD_BYTES } from '../../sizes';

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

function loadTriangle(block: Block, lane: i32, x: f64, y: f64, z: f64): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  const t = triangle;
  t.ax = <f64>load<f32>(at) - x; t.ay = <f64>load<f32>(at, 16) - y; t.az = <f64>load<f32>(at, 32) - z;
  t.bx = <f64>load<f32>(at, 48) - x; t.by = <f64>load<f32>(at, 64) - y; t.bz = <f64>load<f32>(at, 80) - z;
  t.cx = <f64>load<f32>(at, 96) - x; t.cy = <f64>load<f32>(at, 112) - y; t.cz = <f64>load<f32>(at, 128) - z;
}

// --- the sum ---

const stack: usize = memory.data(MAX_STACK_ENTRIES * WORD_BYTES, 16);

// The product of complex numbers whose arguments are half the triangles' solid angles, and how often its argument
// wrapped around.
let real: f64 = 1, imaginary: f64 = 0, turns: f64 = 0;

/** A bound of the error of the sum, in turns. */
let errorBound: f64 = 0;
/**
 * The third derivatives of 1 / r are no more than 3! / r⁴, so the error of a Taylor expansion to the first moments is at
 * most half of that times the squared distance from its centre.
 */
const REMAINDER: f64 = 3;
/** The error from rounding a dipole's numbers to float32, relative to its area divided by its squared distance. */
const DIPOLE_ROUNDING: f64 = 9.5367431640625e-7; // 2^-20

/**
 * Sums up the winding number about a point. A node counts as a dipole from a distance of `beta` times its radius;
 * Infinity sums all triangles. Sets `errorBound`.
 */
function windingNumber(mesh: Mesh, x: f64, y: f64, z: f64, beta: f64): f64 {
  let farSum: f64 = 0, bound: f64 = 0;
  real = 1;
  imaginary = 0;
  turns = 0;
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const index = load<u32>(top);
    const d = dipoleAt(mesh, index);
    const dx = <f64>d.x - x, dy = <f64>d.y - y, dz = <f64>d.z - z;
    const distanceSquared = dx * dx + dy * dy + dz * dz;
    const minDistance = beta * <f64>d.radius;
    if (distanceSquared > minDistance * minDistance) {
      const inverse = 1.0 / distanceSquared;
      const trace = <f64>d.xx + <f64>d.yy + <f64>d.zz;
      const momentTerm =
        dx * (<f64>d.xx * dx + 2.0 * (<f64>d.xy * dy + <f64>d.xz * dz)) + dy * (<f64>d.yy * dy + 2.0 * <f64>d.yz * dz) +
        dz * dz * <f64>d.zz;
      const dipole = <f64>d.normalX * dx + <f64>d.normalY * dy + <f64>d.normalZ * dz;
      farSum += (dipole + trace - 3.0 * momentTerm * inverse) * inverse * sqrt(inverse);
      const gap = sqrt(distanceSquared) - <f64>d.radius, spread = <f64>d.radius / (gap * gap);
      bound += <f64>d.area * (REMAINDER * spread * spread + DIPOLE_ROUNDING * inverse);
      continue;
    }
    const node = nodeAt(mesh, index);
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      const child = childOf(node, i);
      if (child & LEAF) addAngles(blockAt(mesh, child), x, y, z);
      else {
        store<u32>(top, child);
        top += 4;
      }
    }
  }
  errorBound = bound / (4.0 * Math.PI);
  return farSum / (4.0 * Math.PI) + turns + Math.atan2(imaginary, real) / (2.0 * Math.PI);
}

/** Returns the winding number about a point in tree space, to within a tenth if no triangle is near. */
export function windingNumberAt(mesh: Mesh, x: f64, y: f64, z: f64): f64 {
  return windingNumber(mesh, x, y, z, COARSE_BETA);
}

/** Adds the angles of four triangles (Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983). */
function addAngles(block: Block, x: f64, y: f64, z: f64): void {
  for (let lane = 0; lane < 4; lane++) {
    if (triangleOf(block, lane) < 0) continue;
    loadTriangle(block, lane, x, y, z);
    const ax = triangle.ax, ay = triangle.ay, az = triangle.az;
    const bx = triangle.bx, by = triangle.by, bz = triangle.bz;
    const cx = triangle.cx, cy = triangle.cy, cz = triangle.cz;
    const a = sqrt(ax * ax + ay * ay + az * az);
    const b = sqrt(bx * bx + by * by + bz * bz);
    const c = sqrt(cx * cx + cy * cy + cz * cz);
    const volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
    const realPart =
      a * b * c + (ax * bx + ay * by + az * bz) * c + (bx * cx + by * cy + bz * cz) * a +
      (cx * ax + cy * ay + cz * az) * b;
    multiply(realPart, volume);
  }
}

// @ts-ignore: decorator
@inline
function multiply(x: f64, y: f64): void {
  const size = abs(x) + abs(y);
  if (size == 0) return;
  const p = x / size, q = y / size;
  const r = real * p - imaginary * q, i = real * q + imaginary * p;
  // The argument wrapped around if two factors have arguments of one sign and their product has the other.
  if ((imaginary < 0) == (q < 0) && (i < 0) != (q < 0)) turns += q < 0 ? -1.0 : 1.0;
  const scale = 1.0 / (abs(r) + abs(i));
  real = r * scale;
  imaginary = i * scale;
}

// --- on the surface ---

// The widest triangle that the point touches: its corners, and the point of it nearest to the query point, both relative
// to the query point.
const touched = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
/** The width of the touched triangle, 0 if there is none. */
let touchedWidth: f64 = 0;
let footX: f64 = 0, footY: f64 = 0, footZ: f64 = 0;

/** Finds the widest triangle that the point touches, in all boxes that may contain the point by float32. */
function findTouched(mesh: Mesh, x: f64, y: f64, z: f64, touchDistance: f64): void {
  touchedWidth = 0;
  const px = <f32>x, py = <f32>y, pz = <f32>z;
  const maxDistance = f32x4.splat(<f32>(touchDistance * NEAR_ROUNDING) + POINT_ROUNDING);
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const node = nodeAt(mesh, load<u32>(top));
    rotationOfNode(rotation, node);
    const boxDistances = f32x4.pmax(
      f32x4.pmax(
        distanceToInterval(node, 0, rotation.xx * px + rotation.xy * py + rotation.xz * pz),
        distanceToInterval(node, 1, rotation.yx * px + rotation.yy * py + rotation.yz * pz),
      ),
      distanceToInterval(node, 2, rotation.zx * px + rotation.zy * py + rotation.zz * pz),
    );
    for (let bits = <u32>i32x4.bitmask(f32x4.le(boxDistances, maxDistance)) & childMask(node); bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (child & LEAF) touchBlock(blockAt(mesh, child), x, y, z, touchDistance);
      else {
        store<u32>(top, child);
        top += 4;
      }
    }
  }
}

/** The error of rounding a point of tree space, below 2.5, to float32, and rotating it: 2^-20. */
const POINT_ROUNDING: f32 = 9.5367431640625e-7;
/** More than the rounding error of the distance `touchDistance` itself, as a factor. */
const NEAR_ROUNDING: f64 = 1.000001;

/** Returns the distance of a coordinate from four boxes' intervals; negative inside. */
// @ts-ignore: decorator
@inline
function distanceToInterval(node: Node, axis: usize, value: f32): v128 {
  const at = f32x4.splat(value);
  return f32x4.pmax(f32x4.sub(minBounds(node, axis), at), f32x4.sub(at, maxBounds(node, axis)));
}

function touchBlock(block: Block, x: f64, y: f64, z: f64, touchDistance: f64): void {
  for (let lane = 0; lane < 4; lane++) {
    if (triangleOf(block, lane) < 0) continue;
    loadTriangle(block, lane, x, y, z);
    if (nearestOfTriangle(triangle, touchDistance * touchDistance) <= touchDistance * touchDistance) keepIfWider();
  }
}

function keepIfWider(): void {
  const ex = triangle.bx - triangle.ax, ey = triangle.by - triangle.ay, ez = triangle.bz - triangle.az;
  const fx = triangle.cx - triangle.ax, fy = triangle.cy - triangle.ay, fz = triangle.cz - triangle.az;
  const gx = fx - ex, gy = fy - ey, gz = fz - ez;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const longest = max(max(ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz), gx * gx + gy * gy + gz * gz);
  const width = sqrt((nx * nx + ny * ny + nz * nz) / longest);
  if (!(width > touchedWidth)) return;
  touchedWidth = width;
  memory.copy(changetype<usize>(touched), changetype<usize>(triangle), offsetof<Triangle>());
  footX = nearestX;
  footY = nearestY;
  footZ = nearestZ;
}

// --- inside or not ---

/** A half, plus a margin for rounding: an open, flat sheet winds around the points next to it no more than half. */
const HALF: f64 = 0.500001;

/** The spacing of doubles where tree space's coordinates are largest, times a few roundings: 2^-49. */
const TREE_ROUNDING: f64 = 1.7763568394002505e-15;

/**
 * How far the test points next to a touched triangle are moved off its edges, as a fraction of the way to its centroid.
 */
const INWARD_FRACTION: f64 = 0.0625; // 2^-4
/** How far the test points are from its plane, as a fraction of the triangle's width. */
const OFFSET_FRACTION: f64 = 1.52587890625e-5; // 2^-16

/**
 * Returns whether the mesh winds around a point, in either direction; an open mesh must do so more than half a time. The
 * point is in mesh space. A point that is no farther than `tolerance` (also in mesh space) from a triangle is inside if
 * a point next to the triangle, on either side, is. Throws OUT_OF_MEMORY.
 */
export function isInsideByWinding(mesh: Mesh, px: f64, py: f64, pz: f64, tolerance: f64): bool {
  const scale = treeScale(mesh);
  const x = (px - mesh.offsetX) * scale, y = (py - mesh.offsetY) * scale, z = (pz - mesh.offsetZ) * scale;
  const touchDistance = tolerance * scale + TREE_ROUNDING;
  if (
    px < mesh.minX - tolerance || px > mesh.maxX + tolerance || py < mesh.minY - tolerance ||
    py > mesh.maxY + tolerance || pz < mesh.minZ - tolerance || pz > mesh.maxZ + tolerance
  ) return false;
  findTouched(mesh, x, y, z, touchDistance);
  if (touchedWidth == 0) return isEnclosed(mesh, x, y, z);
  // Off the edges, towards the triangle's centroid, and from there slightly to each side.
  const ex = touched.bx - touched.ax, ey = touched.by - touched.ay, ez = touched.bz - touched.az;
  const fx = touched.cx - touched.ax, fy = touched.cy - touched.ay, fz = touched.cz - touched.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const offset = (touchedWidth * OFFSET_FRACTION) / sqrt(nx * nx + ny * ny + nz * nz);
  const ox = x + footX + ((touched.ax + touched.bx + touched.cx) / 3 - footX) * INWARD_FRACTION;
  const oy = y + footY + ((touched.ay + touched.by + touched.cy) / 3 - footY) * INWARD_FRACTION;
  const oz = z + footZ + ((touched.az + touched.bz + touched.cz) / 3 - footZ) * INWARD_FRACTION;
  return isEnclosed(mesh, ox + offset * nx, oy + offset * ny, oz + offset * nz) ||
    isEnclosed(mesh, ox - offset * nx, oy - offset * ny, oz - offset * nz);
}

// Multiples of the radius from which a node counts as a dipole: the error of the sum falls with the fourth power.
const COARSE_BETA: f64 = 2;
const FINE_BETA: f64 = 5;

/**
 * Returns whether the mesh winds around a point in tree space. Refines an open mesh's sum until it differs from a half
 * by more than its error.
 */
function isEnclosed(mesh: Mesh, x: f64, y: f64, z: f64): bool {
  if (mesh.closed) return isInsideClosedMesh(mesh, identity, x, y, z);
  let winding = abs(windingNumber(mesh, x, y, z, COARSE_BETA));
  if (abs(winding - HALF) <= errorBound) winding = abs(windingNumber(mesh, x, y, z, FINE_BETA));
  if (abs(winding - HALF) <= errorBound) winding = abs(windingNumber(mesh, x, y, z, Infinity));
  return winding > HALF;
}

const identity = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
setIdentity(identity);
