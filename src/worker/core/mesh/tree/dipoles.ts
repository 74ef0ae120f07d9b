// What stands for all triangles below a node from far away: the dipole of their areas' vectors and its first moments
// (Barill, Dickson, Schmidt, Levin and Jacobson, "Fast Winding Numbers for Soups and Clouds", 2018). On the way of
// summing them up every triangle is looked at once, so the mesh's radius and facing come of the same pass. Sums are
// float64, what is kept is float32; all but the radius is in tree space. Radii are conservative but for rounding.

import { Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import {
  Block, DIPOLE_BYTES, LEAF, Mesh, Node, blockAt, childCount, childOf, filledLanes, highBounds, isRotated, lowBounds, nodeAt,
  treeScale,
} from './layout';

/** What stands for all triangles below a node. */
@unmanaged
export class Dipole {
  x: f32; y: f32; z: f32; // middle of the areas
  radius: f32; // of what lies around it
  normalX: f32; normalY: f32; normalZ: f32; // sum of the areas' vectors
  area: f32;
  // Sum of offsets from the middle ⊗ areas' vectors, made symmetric.
  xx: f32; yy: f32; zz: f32;
  xy: f32; xz: f32; yz: f32;
  pad0: f32; pad1: f32;
}

// @ts-ignore: decorator
@inline
export function dipoleAt(mesh: Mesh, index: u32): Dipole {
  return changetype<Dipole>(changetype<usize>(mesh) + mesh.dipoles + <usize>index * DIPOLE_BYTES);
}

/** The sums over all triangles so far; they begin as 0. */
@unmanaged
export class SurfaceSums {
  /** Twice the sum of the areas' vectors. */
  normalX: f64; normalY: f64; normalZ: f64;
  /** Twice the sum of the areas. */
  area: f64;
  /** Six times the volume that is enclosed. */
  volume: f64;
  /** The greatest distance from the middle of the bounds, squared. */
  square: f64;
}

export const SURFACE_SUMS_BYTES: usize = offsetof<SurfaceSums>();

/** Sums up nodes from `end` - 1 down to `start`. Children come after their parents, so the last nodes must go first. */
export function sumNodes(mesh: Mesh, sums: SurfaceSums, start: u32, end: u32): void {
  const scale = treeScale(mesh);
  middleX = (0.5 * (mesh.lowX + mesh.highX) - mesh.offsetX) * scale;
  middleY = (0.5 * (mesh.lowY + mesh.highY) - mesh.offsetY) * scale;
  middleZ = (0.5 * (mesh.lowZ + mesh.highZ) - mesh.offsetZ) * scale;
  // Volumes are about a corner of the mesh, so that no digits are lost to a place far away.
  const first = changetype<usize>(blockAt(mesh, 0));
  cornerX = <f64>load<f32>(first); cornerY = <f64>load<f32>(first, 16); cornerZ = <f64>load<f32>(first, 32);
  for (let index = end; index-- > start; ) sumNode(mesh, sums, index);
}

/**
 * The areas' vectors of what is closed sum up to nothing, and a flat hole leaves the vector of its own area. Up to this
 * part of the whole area, a surface with holes still has an inside; a hemisphere, of which it is a half, has none.
 */
const HOLES: f64 = 0.05;

/** Sets what the sums over all nodes say of the mesh: its radius and its facing. */
export function takeSums(mesh: Mesh, sums: SurfaceSums): void {
  const x = sums.normalX, y = sums.normalY, z = sums.normalZ;
  const encloses = sqrt(x * x + y * y + z * z) <= HOLES * sums.area && sums.volume != 0;
  mesh.facing = encloses ? (sums.volume > 0 ? 1 : -1) : 0;
  mesh.radius = sqrt(sums.square) / treeScale(mesh);
}

let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
let cornerX: f64 = 0, cornerY: f64 = 0, cornerZ: f64 = 0;

// Sums over one node's children.
let area: f64 = 0;
let sumX: f64 = 0, sumY: f64 = 0, sumZ: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let momentXx: f64 = 0, momentYy: f64 = 0, momentZz: f64 = 0, momentXy: f64 = 0, momentXz: f64 = 0, momentYz: f64 = 0;

function sumNode(mesh: Mesh, sums: SurfaceSums, index: u32): void {
  const node = nodeAt(mesh, index);
  area = sumX = sumY = sumZ = normalX = normalY = normalZ = 0;
  momentXx = momentYy = momentZz = momentXy = momentXz = momentYz = 0;
  for (let i: u32 = 0, count = childCount(node); i < count; i++) {
    const child = childOf(node, i);
    if (child & LEAF) addBlock(blockAt(mesh, child), sums);
    else addDipole(dipoleAt(mesh, child));
  }
  const dipole = dipoleAt(mesh, index);
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
  dipole.pad0 = dipole.pad1 = 0;
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

function addBlock(block: Block, sums: SurfaceSums): void {
  for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
    const at = changetype<usize>(block) + (<usize>ctz(lanes) << 2);
    const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
    const bx = <f64>load<f32>(at, 48), by = <f64>load<f32>(at, 64), bz = <f64>load<f32>(at, 80);
    const cx = <f64>load<f32>(at, 96), cy = <f64>load<f32>(at, 112), cz = <f64>load<f32>(at, 128);
    const ex = bx - ax, ey = by - ay, ez = bz - az;
    const fx = cx - ax, fy = cy - ay, fz = cz - az;
    const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
    const size = sqrt(nx * nx + ny * ny + nz * nz);
    addPart(0.5 * size, ax + (ex + fx) / 3, ay + (ey + fy) / 3, az + (ez + fz) / 3, 0.5 * nx, 0.5 * ny, 0.5 * nz);
    sums.normalX += nx;
    sums.normalY += ny;
    sums.normalZ += nz;
    sums.area += size;
    sums.volume += nx * (ax - cornerX) + ny * (ay - cornerY) + nz * (az - cornerZ);
    sums.square = max(sums.square, max(max(squareTo(ax, ay, az), squareTo(bx, by, bz)), squareTo(cx, cy, cz)));
  }
}

// @ts-ignore: decorator
@inline
function squareTo(x: f64, y: f64, z: f64): f64 {
  const dx = x - middleX, dy = y - middleY, dz = z - middleZ;
  return dx * dx + dy * dy + dz * dz;
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

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));

/** Answers the distance from (x, y, z) to the farthest corner of the node's boxes. */
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
