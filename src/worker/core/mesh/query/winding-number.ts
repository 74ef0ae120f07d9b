// How often a mesh winds around a point: the sum of its triangles' signed solid angles over 4π (Jacobson, Kavan and
// Sorkine-Hornung, "Robust Inside-Outside Segmentation using Generalized Winding Numbers", 2013). What is far away is
// summed by the node, as a dipole and its first moments (Barill, Dickson, Schmidt, Levin and Jacobson, "Fast Winding
// Numbers for Soups and Clouds", 2018).

import { nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import { Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import { Triangle } from '../../math/triangles';
import { allocate } from '../../memory';
import {
  Block, LEAF, MAX_DEPTH, Mesh, Node, blockAt, childCount, childOf, highBounds, isRotated, lowBounds, nodeAt, treeScale,
  triangleOf,
} from '../tree/layout';

/** What stands for all triangles below a node, in tree space. */
@unmanaged
class Dipole {
  x: f32; y: f32; z: f32; // middle of the areas
  radius: f32; // of what lies around it
  normalX: f32; normalY: f32; normalZ: f32; // sum of the areas' vectors
  area: f32;
  // Sum of offsets from the middle ⊗ areas' vectors, made symmetric.
  xx: f32; yy: f32; zz: f32;
  xy: f32; xz: f32; yz: f32;
}

const DIPOLE_BYTES: usize = 64;

const rotation = changetype<Rotation>(memory.data(36, 16));
const triangle = changetype<Triangle>(memory.data(72, 16));

// @ts-ignore: decorator
@inline
function dipoleAt(table: usize, index: u32): Dipole {
  return changetype<Dipole>(table + <usize>index * DIPOLE_BYTES);
}

/** Throws OUT_OF_MEMORY; the mesh is as it was then. */
function dipolesOf(mesh: Mesh): usize {
  if (mesh.winding != 0) return mesh.winding;
  const table = allocate(<u64>mesh.nodeCount * DIPOLE_BYTES);
  // Children come after their parents.
  for (let index = mesh.nodeCount; index-- > 0; ) sumNode(mesh, table, index);
  mesh.winding = <u32>table;
  return table;
}

// --- the table ---

// Sums over a node's parts.
let area: f64 = 0;
let sumX: f64 = 0, sumY: f64 = 0, sumZ: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let momentXx: f64 = 0, momentYy: f64 = 0, momentZz: f64 = 0, momentXy: f64 = 0, momentXz: f64 = 0, momentYz: f64 = 0;

function sumNode(mesh: Mesh, table: usize, index: u32): void {
  const node = nodeAt(mesh, index);
  area = sumX = sumY = sumZ = normalX = normalY = normalZ = 0;
  momentXx = momentYy = momentZz = momentXy = momentXz = momentYz = 0;
  for (let i: u32 = 0, count = childCount(node); i < count; i++) {
    const child = childOf(node, i);
    if (child & LEAF) addBlock(blockAt(mesh, child));
    else addDipole(dipoleAt(table, child));
  }
  const dipole = dipoleAt(table, index);
  const x = area > 0 ? sumX / area : 0, y = area > 0 ? sumY / area : 0, z = area > 0 ? sumZ / area : 0;
  dipole.x = <f32>x;
  dipole.y = <f32>y;
  dipole.z = <f32>z;
  dipole.area = <f32>area;
  dipole.normalX = <f32>normalX;
  dipole.normalY = <f32>normalY;
  dipole.normalZ = <f32>normalZ;
  // From the origin to the middle.
  dipole.xx = <f32>(momentXx - x * normalX);
  dipole.yy = <f32>(momentYy - y * normalY);
  dipole.zz = <f32>(momentZz - z * normalZ);
  dipole.xy = <f32>(momentXy - 0.5 * (x * normalY + y * normalX));
  dipole.xz = <f32>(momentXz - 0.5 * (x * normalZ + z * normalX));
  dipole.yz = <f32>(momentYz - 0.5 * (y * normalZ + z * normalY));
  dipole.radius = radiusAbout(node, <f32>x, <f32>y, <f32>z);
}

// @ts-ignore: decorator
@inline
function addPart(size: f64, x: f64, y: f64, z: f64, nx: f64, ny: f64, nz: f64): void {
  area += size;
  sumX += size * x;
  sumY += size * y;
  sumZ += size * z;
  normalX += nx;
  normalY += ny;
  normalZ += nz;
  momentXx += x * nx;
  momentYy += y * ny;
  momentZz += z * nz;
  momentXy += 0.5 * (x * ny + y * nx);
  momentXz += 0.5 * (x * nz + z * nx);
  momentYz += 0.5 * (y * nz + z * ny);
}

function addBlock(block: Block): void {
  for (let lane = 0; lane < 4; lane++) {
    if (triangleOf(block, lane) < 0) continue;
    loadTriangle(block, lane, 0, 0, 0);
    const ex = triangle.bx - triangle.ax, ey = triangle.by - triangle.ay, ez = triangle.bz - triangle.az;
    const fx = triangle.cx - triangle.ax, fy = triangle.cy - triangle.ay, fz = triangle.cz - triangle.az;
    const nx = 0.5 * (ey * fz - ez * fy), ny = 0.5 * (ez * fx - ex * fz), nz = 0.5 * (ex * fy - ey * fx);
    addPart(
      sqrt(nx * nx + ny * ny + nz * nz), triangle.ax + (ex + fx) / 3, triangle.ay + (ey + fy) / 3,
      triangle.az + (ez + fz) / 3, nx, ny, nz,
    );
  }
}

function addDipole(d: Dipole): void {
  addPart(<f64>d.area, <f64>d.x, <f64>d.y, <f64>d.z, <f64>d.normalX, <f64>d.normalY, <f64>d.normalZ);
  momentXx += <f64>d.xx;
  momentYy += <f64>d.yy;
  momentZz += <f64>d.zz;
  momentXy += <f64>d.xy;
  momentXz += <f64>d.xz;
  momentYz += <f64>d.yz;
}

/** To the farthest corner of the node's boxes. */
function radiusAbout(node: Node, x: f32, y: f32, z: f32): f32 {
  if (isRotated(node)) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  else setIdentityRotation(rotation);
  const ex = farthest(lowBounds(node, 0), highBounds(node, 0), rotation.xx * x + rotation.xy * y + rotation.xz * z);
  const ey = farthest(lowBounds(node, 1), highBounds(node, 1), rotation.yx * x + rotation.yy * y + rotation.yz * z);
  const ez = farthest(lowBounds(node, 2), highBounds(node, 2), rotation.zx * x + rotation.zy * y + rotation.zz * z);
  const squares = f32x4.add(f32x4.add(f32x4.mul(ex, ex), f32x4.mul(ey, ey)), f32x4.mul(ez, ez));
  const count = childCount(node);
  let square = f32x4.extract_lane(squares, 0);
  if (count > 1) square = max(square, f32x4.extract_lane(squares, 1));
  if (count > 2) square = max(square, f32x4.extract_lane(squares, 2));
  if (count > 3) square = max(square, f32x4.extract_lane(squares, 3));
  return sqrt(square);
}

// @ts-ignore: decorator
@inline
function farthest(low: v128, high: v128, value: f32): v128 {
  return f32x4.pmax(f32x4.abs(f32x4.sub(low, f32x4.splat(value))), f32x4.abs(f32x4.sub(high, f32x4.splat(value))));
}

function loadTriangle(block: Block, lane: i32, x: f64, y: f64, z: f64): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  const t = triangle;
  t.ax = <f64>load<f32>(at) - x; t.ay = <f64>load<f32>(at, 16) - y; t.az = <f64>load<f32>(at, 32) - z;
  t.bx = <f64>load<f32>(at, 48) - x; t.by = <f64>load<f32>(at, 64) - y; t.bz = <f64>load<f32>(at, 80) - z;
  t.cx = <f64>load<f32>(at, 96) - x; t.cy = <f64>load<f32>(at, 112) - y; t.cz = <f64>load<f32>(at, 128) - z;
}

// --- the sum ---

const stack: usize = memory.data(4 * (3 * <i32>MAX_DEPTH + 4), 16);

// The product of complex numbers whose arguments are half the triangles' solid angles, and how often it went around.
let real: f64 = 1, imaginary: f64 = 0, turns: f64 = 0;

// A triangle that the point is on, of several the widest: its corners, and the point's foot on it, about the point.
const touched = changetype<Triangle>(memory.data(72, 16));
let touchedWidth: f64 = 0;
let footX: f64 = 0, footY: f64 = 0, footZ: f64 = 0;

/** A node counts as one dipole from so many of its radii away; Infinity sums all triangles. */
function windingNumber(mesh: Mesh, table: usize, x: f64, y: f64, z: f64, beta: f64, near: f64): f64 {
  let far: f64 = 0;
  real = 1;
  imaginary = 0;
  turns = 0;
  touchedWidth = 0;
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const index = load<u32>(top);
    const d = dipoleAt(table, index);
    const dx = <f64>d.x - x, dy = <f64>d.y - y, dz = <f64>d.z - z;
    const square = dx * dx + dy * dy + dz * dz;
    const reach = beta * <f64>d.radius;
    if (square > reach * reach) {
      const inverse = 1.0 / square;
      const trace = <f64>d.xx + <f64>d.yy + <f64>d.zz;
      const bent =
        dx * (<f64>d.xx * dx + 2.0 * (<f64>d.xy * dy + <f64>d.xz * dz)) + dy * (<f64>d.yy * dy + 2.0 * <f64>d.yz * dz) +
        dz * dz * <f64>d.zz;
      const dipole = <f64>d.normalX * dx + <f64>d.normalY * dy + <f64>d.normalZ * dz;
      far += (dipole + trace - 3.0 * bent * inverse) * inverse * sqrt(inverse);
      continue;
    }
    const node = nodeAt(mesh, index);
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      const child = childOf(node, i);
      if (child & LEAF) addAngles(blockAt(mesh, child), x, y, z, near);
      else {
        store<u32>(top, child);
        top += 4;
      }
    }
  }
  return far / (4.0 * Math.PI) + turns + Math.atan2(imaginary, real) / (2.0 * Math.PI);
}

/** Van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983. */
function addAngles(block: Block, x: f64, y: f64, z: f64, near: f64): void {
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
    const rest =
      a * b * c + (ax * bx + ay * by + az * bz) * c + (bx * cx + by * cy + bz * cz) * a +
      (cx * ax + cy * ay + cz * az) * b;
    const mayTouch = abs(volume) <= near * (a * b + b * c + c * a);
    if (mayTouch && nearestOfTriangle(triangle, near * near) <= near * near) touch();
    multiply(rest, volume);
  }
}

// @ts-ignore: decorator
@inline
function multiply(x: f64, y: f64): void {
  const size = abs(x) + abs(y);
  if (size == 0) return;
  const p = x / size, q = y / size;
  const r = real * p - imaginary * q, i = real * q + imaginary * p;
  // Two arguments of one sign whose sum has the other one went past half a turn.
  if ((imaginary < 0) == (q < 0) && (i < 0) != (q < 0)) turns += q < 0 ? -1.0 : 1.0;
  const norm = 1.0 / (abs(r) + abs(i));
  real = r * norm;
  imaginary = i * norm;
}

// --- inside or not ---

function touch(): void {
  const ex = triangle.bx - triangle.ax, ey = triangle.by - triangle.ay, ez = triangle.bz - triangle.az;
  const fx = triangle.cx - triangle.ax, fy = triangle.cy - triangle.ay, fz = triangle.cz - triangle.az;
  const gx = fx - ex, gy = fy - ey, gz = fz - ez;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const longest = max(max(ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz), gx * gx + gy * gy + gz * gz);
  const width = sqrt((nx * nx + ny * ny + nz * nz) / longest);
  if (!(width > touchedWidth)) return;
  touchedWidth = width;
  memory.copy(changetype<usize>(touched), changetype<usize>(triangle), 72);
  footX = nearestX;
  footY = nearestY;
  footZ = nearestZ;
}

/** Of the winding number; the margin of its rounding parts an open, flat sheet, which has no more, from what is full. */
const HALF: f64 = 0.500001;

/**
 * Whether the mesh winds around a point more than half a time, in either sense: `m` is in mesh space. One that is no
 * farther than `uncertain` (in mesh space too) from a triangle is in the mesh if a place beside the triangle is.
 */
export function windsAround(mesh: Mesh, px: f64, py: f64, pz: f64, uncertain: f64): bool {
  const scale = treeScale(mesh);
  const x = (px - mesh.offsetX) * scale, y = (py - mesh.offsetY) * scale, z = (pz - mesh.offsetZ) * scale;
  const near = uncertain * scale + 1.7763568394002505e-15; // 2^-49 of tree space
  if (
    px < mesh.lowX - uncertain || px > mesh.highX + uncertain || py < mesh.lowY - uncertain ||
    py > mesh.highY + uncertain || pz < mesh.lowZ - uncertain || pz > mesh.highZ + uncertain
  ) return false;
  const table = dipolesOf(mesh);
  const quick = windingNumber(mesh, table, x, y, z, 2, near);
  if (touchedWidth == 0) return isFull(mesh, table, x, y, z, quick);
  // Off the edges, towards the middle of the triangle, and from there a hair to each side.
  const ex = touched.bx - touched.ax, ey = touched.by - touched.ay, ez = touched.bz - touched.az;
  const fx = touched.cx - touched.ax, fy = touched.cy - touched.ay, fz = touched.cz - touched.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const hair = (touchedWidth * 1.52587890625e-5) / sqrt(nx * nx + ny * ny + nz * nz); // 2^-16
  const ox = x + footX + ((touched.ax + touched.bx + touched.cx) / 3 - footX) * 0.0625;
  const oy = y + footY + ((touched.ay + touched.by + touched.cy) / 3 - footY) * 0.0625;
  const oz = z + footZ + ((touched.az + touched.bz + touched.cz) / 3 - footZ) * 0.0625;
  return isFullAt(mesh, table, ox + hair * nx, oy + hair * ny, oz + hair * nz) ||
    isFullAt(mesh, table, ox - hair * nx, oy - hair * ny, oz - hair * nz);
}

function isFullAt(mesh: Mesh, table: usize, x: f64, y: f64, z: f64): bool {
  return isFull(mesh, table, x, y, z, windingNumber(mesh, table, x, y, z, 2, -1));
}

/**
 * Where the quick sum is not clear, a finer one, and all triangles where that is not either. Of closed meshes of all
 * kinds (14,000 points, near the surface above all) the first was off by 0.055 at most, the second by 0.009.
 */
function isFull(mesh: Mesh, table: usize, x: f64, y: f64, z: f64, quick: f64): bool {
  let number = abs(quick);
  if (abs(number - 0.5) < 0.2) number = abs(windingNumber(mesh, table, x, y, z, 5, -1));
  if (abs(number - 0.5) < 0.05) number = abs(windingNumber(mesh, table, x, y, z, Infinity, -1));
  return number > HALF;
}
