// Approximates all triangles below a node from far away: by the dipole of their area vectors and its first moments
// (Barill, Dickson, Schmidt, Levin and Jacobson, "Fast Winding Numbers for Soups and Clouds", 2018). Since summing them
// up visits every triangle once, the same pass computes the mesh's radius and facing. Sums are float64, stored values
// are float32; all but the mesh's radius is in tree space. Radii are conservative except for rounding.

import { Rotation } from '../../math/quaternion';
import {
  Block, DIPOLE_BYTES, LEAF, Mesh, Node, blockAt, childCount, childOf, maxBounds, minBounds, nodeAt, rotationOfNode, treeScale,
  trianglesOf,
} from './layout';

/** The approximation of all triangles below a node. */
@unmanaged
export class Dipole {
  x: f32; y: f32; z: f32; // centre of the areas
  radius: f32; // of everything around it
  normalX: f32; normalY: f32; normalZ: f32; // sum of the area vectors
  area: f32;
  // Sum of offsets from the centre ⊗ area vectors, symmetrised.
  xx: f32; yy: f32; zz: f32;
  xy: f32; xz: f32; yz: f32;
  pad0: f32; pad1: f32;
}

// @ts-ignore: decorator
@inline
export function dipoleAt(mesh: Mesh, index: u32): Dipole {
  return changetype<Dipole>(changetype<usize>(mesh) + mesh.dipoles + <usize>index * DIPOLE_BYTES);
}

/** The sums over all triangles so far; initially 0. */
@unmanaged
export class SurfaceSums {
  /** Twice the sum of the area vectors. */
  normalX: f64; normalY: f64; normalZ: f64;
  /** Twice the sum of the areas. */
  area: f64;
  /** Six times the enclosed volume. */
  volume: f64;
  /** The greatest distance from the centre of the bounds, squared. */
  radiusSquared: f64;
}

export const SURFACE_SUMS_BYTES: usize = offsetof<SurfaceSums>();

/**
 * Sums up nodes from `end` - 1 down to `start`. Children have higher indices than their parents, so the last nodes must
 * be first.
 */
export function sumNodes(mesh: Mesh, sums: SurfaceSums, start: u32, end: u32): void {
  const scale = treeScale(mesh);
  centerX = (0.5 * (mesh.minX + mesh.maxX) - mesh.offsetX) * scale;
  centerY = (0.5 * (mesh.minY + mesh.maxY) - mesh.offsetY) * scale;
  centerZ = (0.5 * (mesh.minZ + mesh.maxZ) - mesh.offsetZ) * scale;
  // Volumes are relative to a corner of the mesh, so that no precision is lost if it is far from the origin: a corner of
  // the last block, which is in the second part of a parted build.
  const last = changetype<usize>(blockAt(mesh, mesh.blockCount - 1));
  cornerX = <f64>load<f32>(last); cornerY = <f64>load<f32>(last, 16); cornerZ = <f64>load<f32>(last, 32);
  for (let index = end; index-- > start; ) sumNode(mesh, sums, index);
}

/**
 * The area vectors of a closed surface sum up to 0, and a flat hole leaves the vector of its own area. A surface whose
 * holes are no more than this fraction of the whole area still has an inside; a hemisphere, with a fraction of a half,
 * has none.
 */
const MAX_HOLE_FRACTION: f64 = 0.05;

/** Derives the mesh's radius and facing from the sums over all nodes. */
export function applySums(mesh: Mesh, sums: SurfaceSums): void {
  const x = sums.normalX, y = sums.normalY, z = sums.normalZ;
  const encloses = sqrt(x * x + y * y + z * z) <= MAX_HOLE_FRACTION * sums.area && sums.volume != 0;
  mesh.facing = encloses ? (sums.volume > 0 ? 1 : -1) : 0;
  mesh.radius = sqrt(sums.radiusSquared) / treeScale(mesh);
}

let centerX: f64 = 0, centerY: f64 = 0, centerZ: f64 = 0;
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
  // Relative to the centre instead of the origin.
  dipole.xx = <f32>(momentXx - x * normalX);
  dipole.yy = <f32>(momentYy - y * normalY);
  dipole.zz = <f32>(momentZz - z * normalZ);
  dipole.xy = <f32>(momentXy - 0.5 * (x * normalY + y * normalX));
  dipole.xz = <f32>(momentXz - 0.5 * (x * normalZ + z * normalX));
  dipole.yz = <f32>(momentYz - 0.5 * (y * normalZ + z * normalY));
  dipole.radius = radiusAbout(node, <f32>x, <f32>y, <f32>z);
  dipole.pad0 = dipole.pad1 = 0;
}

/** Adds the triangles of a block, two at a time. Lanes without a triangle have no area. */
function addBlock(block: Block, sums: SurfaceSums): void {
  const filled = i32x4.gt_s(trianglesOf(block), i32x4.splat(-1));
  const half = f64x2.splat(0.5), third = f64x2.splat(1.0 / 3.0);
  let areas = f64x2.splat(0), distanceSquared = areas, volume = areas;
  let x = areas, y = areas, z = areas, nx = areas, ny = areas, nz = areas;
  let xx = areas, yy = areas, zz = areas, xy = areas, xz = areas, yz = areas;
  for (let lane: usize = 0; lane < 16; lane += 8) {
    const at = changetype<usize>(block) + lane;
    const ax = twoAt(at), ay = twoAt(at + 16), az = twoAt(at + 32);
    const bx = twoAt(at + 48), by = twoAt(at + 64), bz = twoAt(at + 80);
    const cx = twoAt(at + 96), cy = twoAt(at + 112), cz = twoAt(at + 128);
    const ex = f64x2.sub(bx, ax), ey = f64x2.sub(by, ay), ez = f64x2.sub(bz, az);
    const fx = f64x2.sub(cx, ax), fy = f64x2.sub(cy, ay), fz = f64x2.sub(cz, az);
    const ux = f64x2.sub(f64x2.mul(ey, fz), f64x2.mul(ez, fy)), uy = f64x2.sub(f64x2.mul(ez, fx), f64x2.mul(ex, fz));
    const uz = f64x2.sub(f64x2.mul(ex, fy), f64x2.mul(ey, fx));
    const triangleAreas = f64x2.mul(half, f64x2.sqrt(sumOfSquares(ux, uy, uz)));
    const vx = f64x2.mul(half, ux), vy = f64x2.mul(half, uy), vz = f64x2.mul(half, uz);
    const px = f64x2.add(ax, f64x2.mul(third, f64x2.add(ex, fx))), py = f64x2.add(ay, f64x2.mul(third, f64x2.add(ey, fy)));
    const pz = f64x2.add(az, f64x2.mul(third, f64x2.add(ez, fz)));
    areas = f64x2.add(areas, triangleAreas);
    x = f64x2.add(x, f64x2.mul(triangleAreas, px));
    y = f64x2.add(y, f64x2.mul(triangleAreas, py));
    z = f64x2.add(z, f64x2.mul(triangleAreas, pz));
    nx = f64x2.add(nx, vx);
    ny = f64x2.add(ny, vy);
    nz = f64x2.add(nz, vz);
    xx = f64x2.add(xx, f64x2.mul(px, vx));
    yy = f64x2.add(yy, f64x2.mul(py, vy));
    zz = f64x2.add(zz, f64x2.mul(pz, vz));
    xy = f64x2.add(xy, f64x2.add(f64x2.mul(px, vy), f64x2.mul(py, vx)));
    xz = f64x2.add(xz, f64x2.add(f64x2.mul(px, vz), f64x2.mul(pz, vx)));
    yz = f64x2.add(yz, f64x2.add(f64x2.mul(py, vz), f64x2.mul(pz, vy)));
    const along = f64x2.add(
      f64x2.mul(ux, f64x2.sub(ax, f64x2.splat(cornerX))), f64x2.mul(uy, f64x2.sub(ay, f64x2.splat(cornerY))),
    );
    volume = f64x2.add(volume, f64x2.add(along, f64x2.mul(uz, f64x2.sub(az, f64x2.splat(cornerZ)))));
    const isFilled = lane == 0 ? v128.shuffle<i32>(filled, filled, 0, 0, 1, 1) : v128.shuffle<i32>(filled, filled, 2, 2, 3, 3);
    const farthestSquared = f64x2.pmax(f64x2.pmax(distanceSquaredTo(ax, ay, az), distanceSquaredTo(bx, by, bz)),
      distanceSquaredTo(cx, cy, cz));
    distanceSquared = f64x2.pmax(distanceSquared, v128.and(farthestSquared, isFilled));
  }
  area += sumOfLanes(areas);
  sumX += sumOfLanes(x); sumY += sumOfLanes(y); sumZ += sumOfLanes(z);
  const blockNormalX = sumOfLanes(nx), blockNormalY = sumOfLanes(ny), blockNormalZ = sumOfLanes(nz);
  normalX += blockNormalX; normalY += blockNormalY; normalZ += blockNormalZ;
  momentXx += sumOfLanes(xx); momentYy += sumOfLanes(yy); momentZz += sumOfLanes(zz);
  momentXy += 0.5 * sumOfLanes(xy); momentXz += 0.5 * sumOfLanes(xz); momentYz += 0.5 * sumOfLanes(yz);
  sums.normalX += 2.0 * blockNormalX;
  sums.normalY += 2.0 * blockNormalY;
  sums.normalZ += 2.0 * blockNormalZ;
  sums.area += 2.0 * sumOfLanes(areas);
  sums.volume += sumOfLanes(volume);
  sums.radiusSquared = max(sums.radiusSquared, max(f64x2.extract_lane(distanceSquared, 0),
    f64x2.extract_lane(distanceSquared, 1)));
}

/** Reads two f32. */
// @ts-ignore: decorator
@inline
function twoAt(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

// @ts-ignore: decorator
@inline
function sumOfLanes(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

// @ts-ignore: decorator
@inline
function sumOfSquares(x: v128, y: v128, z: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(x, x), f64x2.mul(y, y)), f64x2.mul(z, z));
}

// @ts-ignore: decorator
@inline
function distanceSquaredTo(x: v128, y: v128, z: v128): v128 {
  return sumOfSquares(
    f64x2.sub(x, f64x2.splat(centerX)), f64x2.sub(y, f64x2.splat(centerY)), f64x2.sub(z, f64x2.splat(centerZ)),
  );
}

function addDipole(d: Dipole): void {
  const dipoleArea = <f64>d.area, x = <f64>d.x, y = <f64>d.y, z = <f64>d.z;
  const nx = <f64>d.normalX, ny = <f64>d.normalY, nz = <f64>d.normalZ;
  area += dipoleArea;
  sumX += dipoleArea * x;
  sumY += dipoleArea * y;
  sumZ += dipoleArea * z;
  normalX += nx;
  normalY += ny;
  normalZ += nz;
  momentXx += x * nx + <f64>d.xx;
  momentYy += y * ny + <f64>d.yy;
  momentZz += z * nz + <f64>d.zz;
  momentXy += 0.5 * (x * ny + y * nx) + <f64>d.xy;
  momentXz += 0.5 * (x * nz + z * nx) + <f64>d.xz;
  momentYz += 0.5 * (y * nz + z * ny) + <f64>d.yz;
}

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));

/** Returns the distance from (x, y, z) to the farthest corner of the node's boxes. */
function radiusAbout(node: Node, x: f32, y: f32, z: f32): f32 {
  rotationOfNode(rotation, node);
  const ex = maxDistance(minBounds(node, 0), maxBounds(node, 0), rotation.xx * x + rotation.xy * y + rotation.xz * z);
  const ey = maxDistance(minBounds(node, 1), maxBounds(node, 1), rotation.yx * x + rotation.yy * y + rotation.yz * z);
  const ez = maxDistance(minBounds(node, 2), maxBounds(node, 2), rotation.zx * x + rotation.zy * y + rotation.zz * z);
  const distancesSquared = f32x4.add(f32x4.add(f32x4.mul(ex, ex), f32x4.mul(ey, ey)), f32x4.mul(ez, ez));
  const count = childCount(node);
  let distanceSquared = f32x4.extract_lane(distancesSquared, 0);
  if (count > 1) distanceSquared = max(distanceSquared, f32x4.extract_lane(distancesSquared, 1));
  if (count > 2) distanceSquared = max(distanceSquared, f32x4.extract_lane(distancesSquared, 2));
  if (count > 3) distanceSquared = max(distanceSquared, f32x4.extract_lane(distancesSquared, 3));
  return sqrt(distanceSquared);
}

// @ts-ignore: decorator
@inline
function maxDistance(boxMin: v128, boxMax: v128, value: f32): v128 {
  return f32x4.pmax(f32x4.abs(f32x4.sub(boxMin, f32x4.splat(value))), f32x4.abs(f32x4.sub(boxMax, f32x4.splat(value))));
}
