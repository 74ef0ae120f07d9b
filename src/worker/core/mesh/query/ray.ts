// Ray against OBB tree. Four boxes at once in float32, with boxes padded for the rounding of it; four triangles
// at once in float32 as a filter that lets through all that may be hit; then the hit itself in float64. Triangle
// test: Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", 2013. Its edge functions change nothing
// but their sign when an edge is walked the other way, so no ray slips between two triangles.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_NORMAL, HIT_TRIANGLE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { newHit } from '../../hits';
import { clip, enter, interval, leave, reciprocals, upward } from '../../math/interval';
import { cross, lane0, lane1, lane2, lane3, yzx, zxy } from '../../math/lanes';
import {
  BLOCK_BYTES, Block, LEAF, Mesh, NODE_BYTES, Node, childOf, isRotated, linkOf, maskOf, treeScale, triangleOf,
} from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { sidesOfFace } from './face-sides';

// What a ray is asked for.
export const NEAREST: u32 = 0;
export const ANY: u32 = 1;
export const ALL: u32 = 2;

// The last hit. A tree answers with these rather than with a copy, as it is asked far more often than it hits.
export let hitTriangle: i32 = -1;
export let hitU: f64 = 0;
export let hitV: f64 = 0;
export let hitW: f64 = 0;
/** The normal of the hit triangle, in mesh space and not unit. */
export let hitNormalX: f64 = 0;
export let hitNormalY: f64 = 0;
export let hitNormalZ: f64 = 0;

// The ray in tree space, and its shear: the direction's largest axis becomes z, of length one.
let originX: f64 = 0;
let originY: f64 = 0;
let originZ: f64 = 0;
let directionX: f64 = 0;
let directionY: f64 = 0;
let directionZ: f64 = 0;
let shearX: f64 = 0;
let shearY: f64 = 0;
let inverseZ: f64 = 0;
let axisX: usize = 0; // bytes from a block's x to the coordinate that plays the part
let axisY: usize = 0;
let axisZ: usize = 0;
/** The sides that all triangles can be hit from: SIDE_*, 0 where each has its own. */
let allowed: u32 = 0;
/** The sides that each triangle can be hit from (face-sides.ts), and from which those can of which it says nothing. */
let faceSides: usize = 0;
let otherSides: u32 = 0;

/** The error of an edge function relative to extent · the largest sheared coordinate; see BOX_PADDING for the terms. */
const EDGE_ERROR: f32 = 7.62939453125e-6; // 2^-17

/** The children that wait: the distance at which each is entered with its number in the last bits, and its parent. */
const PARENTS: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS, 16);
/** For each set of hit children, a bit each: all bits set in the lanes of the others. */
const misses: usize = memory.data<u32>([
  ~0, ~0, ~0, ~0, 0, ~0, ~0, ~0, ~0, 0, ~0, ~0, 0, 0, ~0, ~0,
  ~0, ~0, 0, ~0, 0, ~0, 0, ~0, ~0, 0, 0, ~0, 0, 0, 0, ~0,
  ~0, ~0, ~0, 0, 0, ~0, ~0, 0, ~0, 0, ~0, 0, 0, 0, ~0, 0,
  ~0, ~0, 0, 0, 0, ~0, 0, 0, ~0, 0, 0, 0, 0, 0, 0, 0,
], 16);
/**
 * For each number of children that wait, the indices of an i8x16.swizzle: the last of them first and the first left
 * out.
 */
const reversals: usize = memory.data<u8>([
  0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3,
  8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3,
  12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3,
], 16);

/**
 * Finds the nearest hit with tMin ≤ t ≤ tMax and answers its t, or Infinity. The ray is in mesh space and its direction
 * of any length: t is in units of it. `sides` is SIDE_*, but for triangles of which `list` (face-sides.ts, or 0) says
 * something else. ANY answers the first hit that is found. ALL answers Infinity:
 * every hit becomes a record in hits.ts, with all that is known of it here.
 */
export function castRay(
  mesh: Mesh,
  ox: f64, oy: f64, oz: f64,
  dx: f64, dy: f64, dz: f64,
  tMin: f64, tMax: f64,
  sides: u32, list: usize, mode: u32,
): f64 {
  const scale = treeScale(mesh);
  const fromX = (ox - mesh.offsetX) * scale, fromY = (oy - mesh.offsetY) * scale, fromZ = (oz - mesh.offsetZ) * scale;
  const toX = dx * scale, toY = dy * scale, toZ = dz * scale;

  // To the part of the ray near the mesh, so that float32 sees small numbers only.
  const slack = (2.0 + abs(fromX) + abs(fromY) + abs(fromZ)) * 3.552713678800501e-15; // 2^-48
  let part = interval(tMin, tMax);
  const lowX = (mesh.lowX - mesh.offsetX) * scale - slack, highX = (mesh.highX - mesh.offsetX) * scale + slack;
  part = clip(part, fromX, toX, lowX, highX);
  const lowY = (mesh.lowY - mesh.offsetY) * scale - slack, highY = (mesh.highY - mesh.offsetY) * scale + slack;
  part = clip(part, fromY, toY, lowY, highY);
  const lowZ = (mesh.lowZ - mesh.offsetZ) * scale - slack, highZ = (mesh.highZ - mesh.offsetZ) * scale + slack;
  part = clip(part, fromZ, toZ, lowZ, highZ);
  const from = enter(part);
  if (!(from <= leave(part))) return Infinity;
  const length = sqrt(toX * toX + toY * toY + toZ * toZ);
  const unit = 1.0 / length;
  const ux = <f32>(toX * unit), uy = <f32>(toY * unit), uz = <f32>(toZ * unit);
  const px = <f32>(fromX + from * toX);
  const py = <f32>(fromY + from * toY);
  const pz = <f32>(fromZ + from * toZ);
  let limit = upward((leave(part) - from) * length);
  let farthest = keyOf(limit);
  let best: f64 = Infinity;
  let end = tMax;

  originX = fromX; originY = fromY; originZ = fromZ;
  directionX = toX; directionY = toY; directionZ = toZ;
  allowed = list != 0 ? 0 : sides;
  faceSides = list;
  otherSides = sides;
  hitTriangle = -1;
  const absX = abs(toX), absY = abs(toY), absZ = abs(toZ);
  let kx: usize, ky: usize, kz: usize, qx: f32, qy: f32, qz: f32;
  if (absX >= absY && absX >= absZ) {
    kz = 0; kx = 16; ky = 32;
    inverseZ = 1.0 / toX; shearX = toY * inverseZ; shearY = toZ * inverseZ;
    qx = py; qy = pz; qz = px;
  } else if (absY >= absZ) {
    kz = 16; kx = 32; ky = 0;
    inverseZ = 1.0 / toY; shearX = toZ * inverseZ; shearY = toX * inverseZ;
    qx = pz; qy = px; qz = py;
  } else {
    kz = 32; kx = 0; ky = 16;
    inverseZ = 1.0 / toZ; shearX = toX * inverseZ; shearY = toY * inverseZ;
    qx = px; qy = py; qz = pz;
  }
  axisX = kx; axisY = ky; axisZ = kz;
  const sx = f32x4.splat(<f32>shearX), sy = f32x4.splat(<f32>shearY);
  const bx = f32x4.splat(qx), by = f32x4.splat(qy), bz = f32x4.splat(qz);
  const edgeError = f32x4.splat(EDGE_ERROR);

  // Cross products want both as vectors, and with their parts moved on.
  const point = f32x4(px, py, pz, 0);
  const pointYzx = yzx(point), pointZxy = zxy(point);
  const along = f32x4(ux, uy, uz, 1);
  const alongYzx = yzx(along), alongZxy = zxy(along);
  // For nodes without a rotation; the direction's sign tells which bounds are met first, and so which of a node's bytes
  // become the near ones (i8x16.swizzle makes the rest 0).
  const inverse = reciprocals(along);
  const signs = i32x4.bitmask(inverse);
  const low = i8x16(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1), toHigh = i32x4.splat(4);
  const nearX = v128.or(low, i32x4.splat((signs & 1) << 2)), farX = v128.xor(nearX, toHigh);
  const nearY = v128.or(low, i32x4.splat((signs & 2) << 1)), farY = v128.xor(nearY, toHigh);
  const nearZ = v128.or(low, i32x4.splat(signs & 4)), farZ = v128.xor(nearZ, toHigh);

  const nodes = changetype<usize>(mesh) + mesh.nodes;
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const origin = v128.load(address, offsetof<Node>('originX'));
      const scale = v128.load(address, offsetof<Node>('scaleX'));
      let near: v128;
      let far: v128;
      // A bound is met at (origin + scale · q - point) / along = start + step · q.
      if (!isRotated(node)) {
        const start = f32x4.mul(f32x4.sub(origin, point), inverse);
        const step = f32x4.mul(scale, inverse);
        const startX = lane0(start), startY = lane1(start), startZ = lane2(start);
        const stepX = lane0(step), stepY = lane1(step), stepZ = lane2(step);
        const qx = v128.load64_zero(address), qy = v128.load64_zero(address, 8), qz = v128.load64_zero(address, 16);
        near = f32x4.pmax(
          f32x4.pmax(at(i8x16.swizzle(qx, nearX), startX, stepX), at(i8x16.swizzle(qy, nearY), startY, stepY)),
          at(i8x16.swizzle(qz, nearZ), startZ, stepZ),
        );
        far = f32x4.pmin(
          f32x4.pmin(at(i8x16.swizzle(qx, farX), startX, stepX), at(i8x16.swizzle(qy, farY), startY, stepY)),
          at(i8x16.swizzle(qz, farZ), startZ, stepZ),
        );
      } else {
        // The node's matrix (math/quaternion.ts) as v + 2 / |q|² · q × (q × v + w v), for both ends of the ray.
        const q = f32x4.convert_i32x4_s(v128.load16x4_s(address, offsetof<Node>('quaternion')));
        const squares = f32x4.mul(q, q), pairs = f32x4.add(squares, v128.shuffle<f32>(squares, squares, 1, 0, 3, 2));
        const twice = f32x4.div(f32x4.splat(2), f32x4.add(pairs, v128.shuffle<f32>(pairs, pairs, 2, 3, 0, 1)));
        const w = lane3(q), qYzx = yzx(q), qZxy = zxy(q);
        const a = f32x4.add(cross(qYzx, qZxy, alongYzx, alongZxy), f32x4.mul(w, along));
        const b = f32x4.add(cross(qYzx, qZxy, pointYzx, pointZxy), f32x4.mul(w, point));
        const turned = f32x4.add(along, f32x4.mul(twice, cross(qYzx, qZxy, yzx(a), zxy(a))));
        const moved = f32x4.add(point, f32x4.mul(twice, cross(qYzx, qZxy, yzx(b), zxy(b))));
        const inverse = reciprocals(turned);
        const start = f32x4.mul(f32x4.sub(origin, moved), inverse);
        const step = f32x4.mul(scale, inverse);
        const startX = lane0(start), startY = lane1(start), startZ = lane2(start);
        const stepX = lane0(step), stepY = lane1(step), stepZ = lane2(step);
        const qx = v128.load8x8_u(address), qy = v128.load8x8_u(address, 8), qz = v128.load8x8_u(address, 16);
        const ax = at(i32x4.extend_low_i16x8_u(qx), startX, stepX);
        const bx = at(i32x4.extend_high_i16x8_u(qx), startX, stepX);
        const ay = at(i32x4.extend_low_i16x8_u(qy), startY, stepY);
        const by = at(i32x4.extend_high_i16x8_u(qy), startY, stepY);
        const az = at(i32x4.extend_low_i16x8_u(qz), startZ, stepZ);
        const bz = at(i32x4.extend_high_i16x8_u(qz), startZ, stepZ);
        near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz));
        far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
      }
      near = f32x4.pmax(f32x4.splat(0), near); // in this order -0 becomes 0
      far = f32x4.pmin(far, f32x4.splat(limit));
      const bits = <u32>i32x4.bitmask(f32x4.le(near, far)) & maskOf(children);
      if (bits != 0) {
        const keys = sortedKeys(near, bits);
        // All but the nearest wait, the farthest lowest; what is written above the top is overwritten later.
        const waiting: usize = popcnt(bits) - 1;
        v128.store(top, waitingKeys(keys, waiting));
        v128.store(top, i32x4.splat(child), PARENTS);
        top += waiting << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const block = blocks + (child & ~LEAF) * <u32>BLOCK_BYTES;
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
      const error = f32x4.mul(largest, edgeError);
      const least = f32x4.pmin(f32x4.pmin(u, v), w);
      const greatest = f32x4.pmax(f32x4.pmax(u, v), w);
      let bits = i32x4.bitmask(v128.or(f32x4.ge(least, f32x4.neg(error)), f32x4.le(greatest, error)));
      while (bits != 0) {
        const lane = ctz(bits);
        bits &= bits - 1;
        if (triangleOf(changetype<Block>(block), lane) < 0) continue;
        countTriangle();
        const t = meet(block, lane, tMin, end);
        if (t == Infinity) continue;
        if (mode != NEAREST) {
          if (mode == ANY) return t;
          addHit(t);
          continue;
        }
        best = t;
        end = t;
        limit = min(limit, upward((t - from) * length));
        farthest = keyOf(limit);
      }
    }
    let key: u32;
    do {
      if (top == stack) return best;
      top -= 4;
      key = load<u32>(top);
    } while (key > farthest);
    const parent = changetype<Node>(nodes + load<u32>(top, PARENTS) * <u32>NODE_BYTES);
    child = childOf(parent, key & 3);
  }
}

/**
 * Answers the keys of the children that are hit, a bit each, the nearest first: distances as integers, which sort alike as
 * none is negative, with the child's number in their last bits. All bits are set in what follows.
 */
// @ts-ignore: decorator
@inline
export function sortedKeys(near: v128, bits: u32): v128 {
  let keys = v128.or(v128.and(near, i32x4.splat(~3)), i32x4(0, 1, 2, 3));
  keys = v128.or(keys, v128.load(misses + (<usize>bits << 4)));
  // A sorting network instead of branches that nobody can foresee: children 0 1, 2 3; 0 2, 1 3; 1 2.
  let other = v128.shuffle<i32>(keys, keys, 1, 0, 3, 2);
  keys = v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 5, 2, 7);
  other = v128.shuffle<i32>(keys, keys, 2, 3, 0, 1);
  keys = v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 1, 6, 7);
  other = v128.shuffle<i32>(keys, keys, 0, 2, 1, 3);
  return v128.shuffle<i32>(i32x4.min_u(keys, other), i32x4.max_u(keys, other), 0, 1, 6, 7);
}

/** Answers sorted keys without the first, the last of so many that wait in front. */
// @ts-ignore: decorator
@inline
export function waitingKeys(keys: v128, waiting: usize): v128 {
  return i8x16.swizzle(keys, v128.load(reversals + (waiting << 4)));
}

/** Answers the greatest key that a box can have that is entered by a distance. */
// @ts-ignore: decorator
@inline
export function keyOf(distance: f32): u32 {
  return reinterpret<u32>(distance) | 3;
}

// @ts-ignore: decorator
@inline
function at(q: v128, start: v128, step: v128): v128 {
  return f32x4.add(start, f32x4.mul(f32x4.convert_i32x4_s(q), step));
}

/**
 * Tests a triangle exactly. Answers t, or Infinity where there is no hit in [tMin, end]. Of two at the same t the lower
 * index wins.
 */
function meet(block: usize, lane: i32, tMin: f64, end: f64): f64 {
  const at = block + (<usize>lane << 2);
  const px = axisX == 0 ? originX : axisX == 16 ? originY : originZ;
  const py = axisY == 0 ? originX : axisY == 16 ? originY : originZ;
  const pz = axisZ == 0 ? originX : axisZ == 16 ? originY : originZ;
  const az = <f64>load<f32>(at + axisZ) - pz;
  const bz = <f64>load<f32>(at + axisZ, 48) - pz;
  const cz = <f64>load<f32>(at + axisZ, 96) - pz;
  const ax = <f64>load<f32>(at + axisX) - px - shearX * az;
  const ay = <f64>load<f32>(at + axisY) - py - shearY * az;
  const bx = <f64>load<f32>(at + axisX, 48) - px - shearX * bz;
  const by = <f64>load<f32>(at + axisY, 48) - py - shearY * bz;
  const cx = <f64>load<f32>(at + axisX, 96) - px - shearX * cz;
  const cy = <f64>load<f32>(at + axisY, 96) - py - shearY * cz;
  const u = cx * by - cy * bx;
  const v = ax * cy - ay * cx;
  const w = bx * ay - by * ax;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return Infinity;
  const det = u + v + w;
  if (det == 0) return Infinity; // the ray lies in the triangle's plane
  const inverse = 1.0 / det;
  const t = (u * az + v * bz + w * cz) * inverse * inverseZ;
  const triangle = triangleOf(changetype<Block>(block), lane);
  if (!(t >= tMin && t <= end)) return Infinity;
  if (t == end && hitTriangle >= 0 && hitTriangle < triangle) return Infinity;

  const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - x, ey = <f64>load<f32>(at, 64) - y, ez = <f64>load<f32>(at, 80) - z;
  const fx = <f64>load<f32>(at, 96) - x, fy = <f64>load<f32>(at, 112) - y, fz = <f64>load<f32>(at, 128) - z;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const facing = nx * directionX + ny * directionY + nz * directionZ;
  const side: u32 = facing < 0 ? SIDE_FRONT : SIDE_BACK;
  if (!(allowed & side)) {
    if (faceSides == 0 || !(sidesOfFace(faceSides, triangle, otherSides) & side)) return Infinity;
  }
  hitTriangle = triangle;
  hitU = u * inverse;
  hitV = v * inverse;
  hitW = w * inverse;
  hitNormalX = nx;
  hitNormalY = ny;
  hitNormalZ = nz;
  return t;
}

/** Adds the last hit as a record, whose normal is in mesh space. */
function addHit(t: f64): void {
  const hit = newHit();
  store<i32>(hit, hitTriangle, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, hitNormalX, HIT_NORMAL);
  store<f64>(hit, hitNormalY, HIT_NORMAL + 8);
  store<f64>(hit, hitNormalZ, HIT_NORMAL + 16);
  store<f64>(hit, hitU, HIT_BARYCENTRIC);
  store<f64>(hit, hitV, HIT_BARYCENTRIC + 8);
  store<f64>(hit, hitW, HIT_BARYCENTRIC + 16);
  hitTriangle = -1; // or of two at the end of the ray one would stand for both
}
