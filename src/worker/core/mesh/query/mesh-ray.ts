// A ray in the tree space of a mesh, and its tests there: against the boxes of a node, four at once in float32, which
// are padded for its rounding; against four triangles at once in float32, as a conservative filter; then against a
// single triangle in float64. Triangle test: Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", 2013.
// Reversing an edge only changes the sign of its edge function, so no ray slips through between two triangles.

import { SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT } from '../../../../shared/layout';
import { clipInlined, intervalStart, interval, intervalEnd, reciprocals, roundUp } from '../../math/interval';
import { lane0, lane1, lane2, lane3, rotate, twiceOverNormSquared, yzx, zxy } from '../../math/lanes';
import { Block, Mesh, Node, treeScale, triangleOf } from '../tree/layout';
import { sidesOfFace } from './face-sides';

/** A ray in tree space. Its first cache line has everything that node tests need. */
@unmanaged
export class MeshRay {
  /** The point where it enters the mesh's bounds, in float32; and its length from there. */
  pointX: f32; pointY: f32; pointZ: f32;
  limit: f32;
  /** The reciprocals of its unit direction. */
  inverse: v128;
  /** Its unit direction, followed by 1. */
  unitDirection: v128;
  /** The address of the swizzle indices that move a node's near bounds to the lanes (`swizzles`). */
  nearSwizzle: u32;
  /** The state of a traversal. */
  top: u32;
  child: u32;
  index: u32;

  /** Its shear and origin in float32, with permuted axes x, y and z: z is the largest component of the direction. */
  baseX: f32; baseY: f32; baseZ: f32;
  slopeX: f32; slopeY: f32;
  /** The byte offset from a block's x to the coordinate of each permuted axis. */
  axisX: u32; axisY: u32; axisZ: u32;

  /** The original origin and direction, in float64. */
  originX: f64; originY: f64; originZ: f64;
  directionX: f64; directionY: f64; directionZ: f64;
  /** The reciprocals of the direction. */
  inverseX: f64; inverseY: f64; inverseZ: f64;
  tMin: f64;
  /** Hits beyond this are ignored: the ray's end, or its nearest hit so far. */
  end: f64;
  /** The t at which it enters the bounds, and the length of its direction. */
  tEntry: f64;
  length: f64;
  shearX: f64; shearY: f64;
  /** The triangle that was hit, -1 if none, and its barycentric coordinates. */
  hitU: f64; hitV: f64; hitW: f64;
  hitTriangle: i32;
  spare: u32;
}

export const MESH_RAY_BYTES: usize = offsetof<MeshRay>();

/** The error of an edge function, relative to extent · the largest sheared coordinate; see BOX_PADDING for the terms. */
const EDGE_ERROR: f32 = 7.62939453125e-6; // 2^-17

/**
 * For each combination of signs of a direction's x, y and z: the indices of an i8x16.swizzle that moves the bytes of a
 * node's near bounds to the lanes, with zeros in the other bytes.
 */
const SWIZZLE_BYTES: usize = 48;
const swizzles: usize = memory.data(8 * <i32>SWIZZLE_BYTES, 16);
for (let signs: u32 = 0; signs < 8; signs++) {
  const minIndices = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1);
  for (let axis: u32 = 0; axis < 3; axis++) {
    const at = swizzles + signs * <u32>SWIZZLE_BYTES + (axis << 4);
    v128.store(at, v128.or(minIndices, i32x4.splat(((signs >> axis) & 1) << 2)));
  }
}

/** The permutations of the three axes, by which one is the largest: z, x or y. */
const axisPermutations: usize = memory.data<u32>([0, 16, 32, 0, 16, 32, 0, 0, 32, 0, 16, 0], 16);

// The sides from which all triangles can be hit: SIDE_*, 0 if they differ; then the list of these (face-sides.ts), and
// the sides of triangles that are not in it.
let allowedSides: u32 = 0;
let faceSides: usize = 0;
let otherSides: u32 = 0;

/**
 * Sets the sides from which triangles can be hit from now on: SIDE_*, except for triangles with other sides in the list.
 */
export function setSides(sides: u32, list: usize): void {
  allowedSides = list != 0 ? 0 : sides;
  faceSides = list;
  otherSides = sides;
}

/**
 * Sets up a ray in mesh space, with a direction of any length, for hits with tMin ≤ t ≤ tMax. Returns false if it misses
 * the mesh's bounds.
 */
// @ts-ignore: decorator
@inline
export function setUpRay(
  ray: MeshRay, mesh: Mesh, ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, tMin: f64, tMax: f64,
): bool {
  const scale = treeScale(mesh);
  const fromX = (ox - mesh.offsetX) * scale, fromY = (oy - mesh.offsetY) * scale, fromZ = (oz - mesh.offsetZ) * scale;
  const toX = dx * scale, toY = dy * scale, toZ = dz * scale;

  // Clips the ray to the part near the mesh, so that float32 only handles small numbers.
  const slack = (2.0 + abs(fromX) + abs(fromY) + abs(fromZ)) * 3.552713678800501e-15; // 2^-48
  let span = interval(tMin, tMax);
  const minX = (mesh.minX - mesh.offsetX) * scale - slack, maxX = (mesh.maxX - mesh.offsetX) * scale + slack;
  span = clipInlined(span, fromX, toX, minX, maxX);
  const minY = (mesh.minY - mesh.offsetY) * scale - slack, maxY = (mesh.maxY - mesh.offsetY) * scale + slack;
  span = clipInlined(span, fromY, toY, minY, maxY);
  const minZ = (mesh.minZ - mesh.offsetZ) * scale - slack, maxZ = (mesh.maxZ - mesh.offsetZ) * scale + slack;
  span = clipInlined(span, fromZ, toZ, minZ, maxZ);
  const from = intervalStart(span);
  if (!(from <= intervalEnd(span))) return false;
  const length = sqrt(toX * toX + toY * toY + toZ * toZ);
  const inverseLength = 1.0 / length;
  const px = <f32>(fromX + from * toX), py = <f32>(fromY + from * toY), pz = <f32>(fromZ + from * toZ);
  ray.pointX = px;
  ray.pointY = py;
  ray.pointZ = pz;
  ray.limit = roundUp((intervalEnd(span) - from) * length);
  ray.originX = fromX; ray.originY = fromY; ray.originZ = fromZ;
  ray.directionX = toX; ray.directionY = toY; ray.directionZ = toZ;
  ray.inverseX = 1.0 / toX; ray.inverseY = 1.0 / toY; ray.inverseZ = 1.0 / toZ;
  ray.tMin = tMin;
  ray.end = tMax;
  ray.tEntry = from;
  ray.length = length;
  finishRay(ray, f32x4(<f32>(toX * inverseLength), <f32>(toY * inverseLength), <f32>(toZ * inverseLength), 1));
  return true;
}

/** Sets the values that follow from the unit direction and the other fields. */
// @ts-ignore: decorator
@inline
export function finishRay(ray: MeshRay, unitDirection: v128): void {
  const inverse = reciprocals(unitDirection);
  ray.unitDirection = unitDirection;
  ray.inverse = inverse;
  ray.nearSwizzle = <u32>swizzles + (i32x4.bitmask(inverse) & 7) * <u32>SWIZZLE_BYTES;
  // Rotates the axes so that the largest one becomes z; branchless, since the axis is unpredictable.
  const absX = abs(ray.directionX), absY = abs(ray.directionY), absZ = abs(ray.directionZ);
  const isX = <u32>(absX >= absY) & <u32>(absX >= absZ), isY = ~isX & <u32>(absY >= absZ);
  const axes = axisPermutations + ((isX << 4) | (isY << 5));
  const kx: usize = load<u32>(axes), ky: usize = load<u32>(axes, 4), kz: usize = load<u32>(axes, 8);
  ray.axisX = <u32>kx;
  ray.axisY = <u32>ky;
  ray.axisZ = <u32>kz;
  const rayAddress = changetype<usize>(ray), to = rayAddress + offsetof<MeshRay>('directionX');
  const inverseZ = load<f64>(rayAddress + (kz >> 1), offsetof<MeshRay>('inverseX'));
  const shearX = load<f64>(to + (kx >> 1)) * inverseZ, shearY = load<f64>(to + (ky >> 1)) * inverseZ;
  ray.shearX = shearX;
  ray.shearY = shearY;
  ray.slopeX = <f32>shearX;
  ray.slopeY = <f32>shearY;
  ray.baseX = load<f32>(rayAddress + (kx >> 2));
  ray.baseY = load<f32>(rayAddress + (ky >> 2));
  ray.baseZ = load<f32>(rayAddress + (kz >> 2));
  ray.hitTriangle = -1;
}

/**
 * Returns the distances from `point` at which a ray enters each of the boxes of a node without a rotation, with all bits
 * set if it misses a box, enters it beyond its limit, or the box is missing.
 */
// @ts-ignore: decorator
@inline
export function entriesOf(
  address: usize, children: u32, point: v128, inverse: v128, nearX: v128, nearY: v128, nearZ: v128, limit: v128,
): v128 {
  const toMaxIndices = i32x4.splat(4);
  // The ray reaches a bound at (origin + scale · q - point) / along = start + step · q.
  const start = f32x4.mul(f32x4.sub(v128.load(address, offsetof<Node>('originX')), point), inverse);
  const step = f32x4.mul(v128.load(address, offsetof<Node>('scaleX')), inverse);
  const startX = lane0(start), startY = lane1(start), startZ = lane2(start);
  const stepX = lane0(step), stepY = lane1(step), stepZ = lane2(step);
  const qx = v128.load64_zero(address), qy = v128.load64_zero(address, 8), qz = v128.load64_zero(address, 16);
  const near = f32x4.pmax(
    f32x4.pmax(boundsAt(i8x16.swizzle(qx, nearX), startX, stepX), boundsAt(i8x16.swizzle(qy, nearY), startY, stepY)),
    boundsAt(i8x16.swizzle(qz, nearZ), startZ, stepZ),
  );
  const far = f32x4.pmin(
    f32x4.pmin(
      boundsAt(i8x16.swizzle(qx, v128.xor(nearX, toMaxIndices)), startX, stepX),
      boundsAt(i8x16.swizzle(qy, v128.xor(nearY, toMaxIndices)), startY, stepY),
    ),
    boundsAt(i8x16.swizzle(qz, v128.xor(nearZ, toMaxIndices)), startZ, stepZ),
  );
  return entered(near, far, children, limit);
}

/** Returns the same for a node whose boxes are rotated. */
// @ts-ignore: decorator
@inline
export function rotatedEntriesOf(address: usize, children: u32, point: v128, unitDirection: v128, limit: v128): v128 {
  const q = f32x4.convert_i32x4_s(v128.load16x4_s(address, offsetof<Node>('quaternion')));
  const w = lane3(q), qYzx = yzx(q), qZxy = zxy(q), twice = twiceOverNormSquared(q);
  const inverse = reciprocals(rotate(unitDirection, qYzx, qZxy, w, twice));
  const rotatedPoint = rotate(point, qYzx, qZxy, w, twice);
  const start = f32x4.mul(f32x4.sub(v128.load(address, offsetof<Node>('originX')), rotatedPoint), inverse);
  const step = f32x4.mul(v128.load(address, offsetof<Node>('scaleX')), inverse);
  const startX = lane0(start), startY = lane1(start), startZ = lane2(start);
  const stepX = lane0(step), stepY = lane1(step), stepZ = lane2(step);
  const qx = v128.load8x8_u(address), qy = v128.load8x8_u(address, 8), qz = v128.load8x8_u(address, 16);
  const ax = boundsAt(i32x4.extend_low_i16x8_u(qx), startX, stepX);
  const bx = boundsAt(i32x4.extend_high_i16x8_u(qx), startX, stepX);
  const ay = boundsAt(i32x4.extend_low_i16x8_u(qy), startY, stepY);
  const by = boundsAt(i32x4.extend_high_i16x8_u(qy), startY, stepY);
  const az = boundsAt(i32x4.extend_low_i16x8_u(qz), startZ, stepZ);
  const bz = boundsAt(i32x4.extend_high_i16x8_u(qz), startZ, stepZ);
  const near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz));
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  return entered(near, far, children, limit);
}

/** Returns the distances at which a ray reaches bounds, given their quantised coordinates `q`. */
// @ts-ignore: decorator
@inline
export function boundsAt(q: v128, start: v128, step: v128): v128 {
  return f32x4.add(start, f32x4.mul(f32x4.convert_i32x4_s(q), step));
}

/**
 * Returns the distances at which boxes are entered. Boxes that are missed, or entered beyond the limit, have all bits
 * set.
 */
// @ts-ignore: decorator
@inline
export function entered(near: v128, far: v128, children: u32, limit: v128): v128 {
  const first = f32x4.pmax(f32x4.splat(0), near); // in this order -0 becomes 0
  const exists = i32x4.le_u(i32x4(0, 1, 2, 3), i32x4.splat((children >> 24) & 3));
  const isHit = v128.and(f32x4.le(first, f32x4.pmin(far, limit)), exists);
  return v128.or(first, v128.not(isHit));
}

/** Returns which triangles of a block a ray may hit, a bit each. */
// @ts-ignore: decorator
@inline
export function mayHit(block: usize, ray: MeshRay): u32 {
  const kx: usize = ray.axisX, ky: usize = ray.axisY, kz: usize = ray.axisZ;
  const rayAddress = changetype<usize>(ray);
  const bx = v128.load32_splat(rayAddress, offsetof<MeshRay>('baseX'));
  const by = v128.load32_splat(rayAddress, offsetof<MeshRay>('baseY'));
  const bz = v128.load32_splat(rayAddress, offsetof<MeshRay>('baseZ'));
  const sx = v128.load32_splat(rayAddress, offsetof<MeshRay>('slopeX'));
  const sy = v128.load32_splat(rayAddress, offsetof<MeshRay>('slopeY'));
  const az = f32x4.sub(v128.load(block + kz), bz);
  const cz = f32x4.sub(v128.load(block + kz, 48), bz);
  const ez = f32x4.sub(v128.load(block + kz, 96), bz);
  const ax = f32x4.sub(f32x4.sub(v128.load(block + kx), bx), f32x4.mul(sx, az));
  const ay = f32x4.sub(f32x4.sub(v128.load(block + ky), by), f32x4.mul(sy, az));
  const cx = f32x4.sub(f32x4.sub(v128.load(block + kx, 48), bx), f32x4.mul(sx, cz));
  const cy = f32x4.sub(f32x4.sub(v128.load(block + ky, 48), by), f32x4.mul(sy, cz));
  const ex = f32x4.sub(f32x4.sub(v128.load(block + kx, 96), bx), f32x4.mul(sx, ez));
  const ey = f32x4.sub(f32x4.sub(v128.load(block + ky, 96), by), f32x4.mul(sy, ez));
  const u = f32x4.sub(f32x4.mul(ex, cy), f32x4.mul(ey, cx));
  const v = f32x4.sub(f32x4.mul(ax, ey), f32x4.mul(ay, ex));
  const w = f32x4.sub(f32x4.mul(cx, ay), f32x4.mul(cy, ax));
  const largest = f32x4.pmax(
    f32x4.pmax(f32x4.pmax(f32x4.abs(ax), f32x4.abs(ay)), f32x4.pmax(f32x4.abs(cx), f32x4.abs(cy))),
    f32x4.pmax(f32x4.abs(ex), f32x4.abs(ey)),
  );
  const error = f32x4.mul(largest, f32x4.splat(EDGE_ERROR));
  const minEdge = f32x4.pmin(f32x4.pmin(u, v), w);
  const maxEdge = f32x4.pmax(f32x4.pmax(u, v), w);
  return i32x4.bitmask(v128.or(f32x4.ge(minEdge, f32x4.neg(error)), f32x4.le(maxEdge, error)));
}

/** The normal of the last triangle that was hit, in mesh space and not normalised. */
export let hitNormalX: f64 = 0;
export let hitNormalY: f64 = 0;
export let hitNormalZ: f64 = 0;

/**
 * Tests a triangle exactly. Returns t, or Infinity if there is no hit in [tMin, end]; otherwise stores the triangle and
 * its barycentric coordinates in the ray. Of two hits at the same t, the lower index wins.
 */
export function intersectTriangle(ray: MeshRay, block: usize, lane: i32): f64 {
  const at = block + (<usize>lane << 2);
  const kx: usize = ray.axisX, ky: usize = ray.axisY, kz: usize = ray.axisZ;
  const origin = changetype<usize>(ray) + offsetof<MeshRay>('originX');
  const px = load<f64>(origin + (kx >> 1)), py = load<f64>(origin + (ky >> 1)), pz = load<f64>(origin + (kz >> 1));
  const shearX = ray.shearX, shearY = ray.shearY;
  const az = <f64>load<f32>(at + kz) - pz;
  const bz = <f64>load<f32>(at + kz, 48) - pz;
  const cz = <f64>load<f32>(at + kz, 96) - pz;
  const ax = <f64>load<f32>(at + kx) - px - shearX * az;
  const ay = <f64>load<f32>(at + ky) - py - shearY * az;
  const bx = <f64>load<f32>(at + kx, 48) - px - shearX * bz;
  const by = <f64>load<f32>(at + ky, 48) - py - shearY * bz;
  const cx = <f64>load<f32>(at + kx, 96) - px - shearX * cz;
  const cy = <f64>load<f32>(at + ky, 96) - py - shearY * cz;
  const u = cx * by - cy * bx;
  const v = ax * cy - ay * cx;
  const w = bx * ay - by * ax;
  const isBelow = <u32>(u < 0) | <u32>(v < 0) | <u32>(w < 0), isAbove = <u32>(u > 0) | <u32>(v > 0) | <u32>(w > 0);
  if (isBelow & isAbove) return Infinity;
  const det = u + v + w;
  if (det == 0) return Infinity; // the ray lies in the triangle's plane
  const inverse = 1.0 / det;
  const t = (u * az + v * bz + w * cz) * inverse * load<f64>(changetype<usize>(ray) + (kz >> 1), offsetof<MeshRay>('inverseX'));
  const triangle = triangleOf(changetype<Block>(block), lane);
  const end = ray.end;
  if (!(t >= ray.tMin && t <= end)) return Infinity;
  if (t == end && ray.hitTriangle >= 0 && ray.hitTriangle < triangle) return Infinity;
  if (allowedSides != SIDE_DOUBLE) {
    findNormal(block, lane);
    const facing = hitNormalX * ray.directionX + hitNormalY * ray.directionY + hitNormalZ * ray.directionZ;
    const side: u32 = facing < 0 ? SIDE_FRONT : SIDE_BACK;
    if (!(allowedSides & side)) {
      if (faceSides == 0 || !(sidesOfFace(faceSides, triangle, otherSides) & side)) return Infinity;
    }
  }
  ray.hitTriangle = triangle;
  ray.hitU = u * inverse;
  ray.hitV = v * inverse;
  ray.hitW = w * inverse;
  return t;
}

/** Computes the normal of a triangle, into hitNormal*. */
// @ts-ignore: decorator
@inline
export function findNormal(block: usize, lane: i32): void {
  const at = block + (<usize>lane << 2);
  const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - x, ey = <f64>load<f32>(at, 64) - y, ez = <f64>load<f32>(at, 80) - z;
  const fx = <f64>load<f32>(at, 96) - x, fy = <f64>load<f32>(at, 112) - y, fz = <f64>load<f32>(at, 128) - z;
  hitNormalX = ey * fz - ez * fy;
  hitNormalY = ez * fx - ex * fz;
  hitNormalZ = ex * fy - ey * fx;
}
