// Ray against OBB tree. Four boxes at once in float32, with boxes padded for the rounding of it; four triangles
// at once in float32 as a filter that lets through all that may be hit; then the hit itself in float64. Triangle
// test: Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection", 2013. Its edge functions change nothing
// but their sign when an edge is walked the other way, so no ray slips between two triangles.

import { SIDE_BACK, SIDE_FRONT } from '../../../shared/layout';
import { TINY, clip, enter, leave, reciprocal, startInterval, upward } from '../math/interval';
import { QUATERNION_STEP } from '../math/quaternion';
import { BLOCK_BYTES, Block, LEAF, Mesh, NODE_BYTES, Node, childOf, treeScale, triangleOf } from './layout';

// The last hit. A tree answers with these rather than with a copy, as it is asked far more often than it hits.
export let hitTriangle: i32 = -1;
export let hitU: f64 = 0;
export let hitV: f64 = 0;
export let hitW: f64 = 0;
/** In mesh space, not unit. */
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
let allowed: u32 = 0;

/** Error of an edge function relative to extent · the largest sheared coordinate; see BOX_PADDING for the terms. */
const EDGE_ERROR: f32 = 7.62939453125e-6; // 2^-17

const stack: usize = memory.data(8 * 1024, 16); // child, and the distance at which its box is entered
const entries: usize = memory.data(16, 16);

/**
 * Nearest hit with tMin ≤ t ≤ tMax, or Infinity. The ray is in mesh space and its direction of any length: t is
 * in units of it. `sides` is SIDE_*. With `any`, the first hit that is found.
 */
export function castRay(
  mesh: Mesh,
  ox: f64, oy: f64, oz: f64,
  dx: f64, dy: f64, dz: f64,
  tMin: f64, tMax: f64,
  sides: u32, any: bool,
): f64 {
  const scale = treeScale(mesh);
  originX = (ox - mesh.offsetX) * scale;
  originY = (oy - mesh.offsetY) * scale;
  originZ = (oz - mesh.offsetZ) * scale;
  directionX = dx * scale;
  directionY = dy * scale;
  directionZ = dz * scale;
  allowed = sides;
  const lowX = (mesh.lowX - mesh.offsetX) * scale, highX = (mesh.highX - mesh.offsetX) * scale;
  const lowY = (mesh.lowY - mesh.offsetY) * scale, highY = (mesh.highY - mesh.offsetY) * scale;
  const lowZ = (mesh.lowZ - mesh.offsetZ) * scale, highZ = (mesh.highZ - mesh.offsetZ) * scale;

  // To the part of the ray near the mesh, so that float32 sees small numbers only.
  startInterval(tMin, tMax);
  const slack = (2.0 + abs(originX) + abs(originY) + abs(originZ)) * 3.552713678800501e-15; // 2^-48
  clip(originX, directionX, lowX - slack, highX + slack);
  clip(originY, directionY, lowY - slack, highY + slack);
  clip(originZ, directionZ, lowZ - slack, highZ + slack);
  if (!(enter <= leave)) return Infinity;
  const from = enter;
  const length = sqrt(directionX * directionX + directionY * directionY + directionZ * directionZ);
  const ux = <f32>(directionX / length), uy = <f32>(directionY / length), uz = <f32>(directionZ / length);
  const px = <f32>(originX + from * directionX);
  const py = <f32>(originY + from * directionY);
  const pz = <f32>(originZ + from * directionZ);
  let limit = upward((leave - from) * length);
  let best: f64 = Infinity;
  let end = tMax;

  const absX = abs(directionX), absY = abs(directionY), absZ = abs(directionZ);
  if (absX >= absY && absX >= absZ) {
    axisZ = 0; axisX = 16; axisY = 32;
    shearX = directionY / directionX; shearY = directionZ / directionX; inverseZ = 1.0 / directionX;
  } else if (absY >= absZ) {
    axisZ = 16; axisX = 32; axisY = 0;
    shearX = directionZ / directionY; shearY = directionX / directionY; inverseZ = 1.0 / directionY;
  } else {
    axisZ = 32; axisX = 0; axisY = 16;
    shearX = directionX / directionZ; shearY = directionY / directionZ; inverseZ = 1.0 / directionZ;
  }
  const kx = axisX, ky = axisY, kz = axisZ;
  const sx = f32x4.splat(<f32>shearX), sy = f32x4.splat(<f32>shearY);
  const bx = f32x4.splat(kx == 0 ? px : kx == 16 ? py : pz);
  const by = f32x4.splat(ky == 0 ? px : ky == 16 ? py : pz);
  const bz = f32x4.splat(kz == 0 ? px : kz == 16 ? py : pz);
  const edgeError = f32x4.splat(EDGE_ERROR);

  // What nodes without a rotation need, made once; the direction's sign tells which bound is met first.
  const ix = reciprocal(ux), iy = reciprocal(uy), iz = reciprocal(uz);
  const nearX: usize = ix < 0 ? 48 : 0, nearY: usize = iy < 0 ? 64 : 16, nearZ: usize = iz < 0 ? 80 : 32;
  const farX: usize = ix < 0 ? 0 : 48, farY: usize = iy < 0 ? 16 : 64, farZ: usize = iz < 0 ? 32 : 80;
  const startX = f32x4.splat(px), startY = f32x4.splat(py), startZ = f32x4.splat(pz);
  const inverseX = f32x4.splat(ix), inverseY = f32x4.splat(iy), inverseZs = f32x4.splat(iz);
  // And what those with one need.
  const point = f32x4(px, py, pz, 0), pointYzx = f32x4(py, pz, px, 0), pointZxy = f32x4(pz, px, py, 0);
  const along = f32x4(ux, uy, uz, 0), alongYzx = f32x4(uy, uz, ux, 0), alongZxy = f32x4(uz, ux, uy, 0);

  const nodes = changetype<usize>(mesh) + mesh.nodes;
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      let near: v128;
      let far: v128;
      if (!node.rotated) {
        near = f32x4.pmax(
          f32x4.pmax(
            f32x4.mul(f32x4.sub(v128.load(address + nearX), startX), inverseX),
            f32x4.mul(f32x4.sub(v128.load(address + nearY), startY), inverseY),
          ),
          f32x4.mul(f32x4.sub(v128.load(address + nearZ), startZ), inverseZs),
        );
        far = f32x4.pmin(
          f32x4.pmin(
            f32x4.mul(f32x4.sub(v128.load(address + farX), startX), inverseX),
            f32x4.mul(f32x4.sub(v128.load(address + farY), startY), inverseY),
          ),
          f32x4.mul(f32x4.sub(v128.load(address + farZ), startZ), inverseZs),
        );
      } else {
        // rotationOf, as v + 2 q × (q × v + w v), for both ends of the ray at once.
        const q = f32x4.mul(f32x4.convert_i32x4_s(v128.load16x4_s(address, offsetof<Node>('quaternion'))), f32x4.splat(QUATERNION_STEP));
        const w = v128.shuffle<f32>(q, q, 3, 3, 3, 3);
        const yzx = v128.shuffle<f32>(q, q, 1, 2, 0, 3), zxy = v128.shuffle<f32>(q, q, 2, 0, 1, 3);
        const yzx2 = f32x4.add(yzx, yzx), zxy2 = f32x4.add(zxy, zxy);
        const a = f32x4.add(f32x4.sub(f32x4.mul(yzx, alongZxy), f32x4.mul(zxy, alongYzx)), f32x4.mul(w, along));
        const u = f32x4.add(along, f32x4.sub(f32x4.mul(yzx2, v128.shuffle<f32>(a, a, 2, 0, 1, 3)), f32x4.mul(zxy2, v128.shuffle<f32>(a, a, 1, 2, 0, 3))));
        const b = f32x4.add(f32x4.sub(f32x4.mul(yzx, pointZxy), f32x4.mul(zxy, pointYzx)), f32x4.mul(w, point));
        const p = f32x4.add(point, f32x4.sub(f32x4.mul(yzx2, v128.shuffle<f32>(b, b, 2, 0, 1, 3)), f32x4.mul(zxy2, v128.shuffle<f32>(b, b, 1, 2, 0, 3))));
        const inverse = f32x4.div(f32x4.splat(1), v128.bitselect(u, f32x4.splat(TINY), f32x4.ge(f32x4.abs(u), f32x4.splat(TINY))));
        const sx = v128.shuffle<f32>(p, p, 0, 0, 0, 0), sy = v128.shuffle<f32>(p, p, 1, 1, 1, 1), sz = v128.shuffle<f32>(p, p, 2, 2, 2, 2);
        const vx = v128.shuffle<f32>(inverse, inverse, 0, 0, 0, 0), vy = v128.shuffle<f32>(inverse, inverse, 1, 1, 1, 1), vz = v128.shuffle<f32>(inverse, inverse, 2, 2, 2, 2);
        const ax = f32x4.mul(f32x4.sub(node.lowX, sx), vx), bx = f32x4.mul(f32x4.sub(node.highX, sx), vx);
        const ay = f32x4.mul(f32x4.sub(node.lowY, sy), vy), by = f32x4.mul(f32x4.sub(node.highY, sy), vy);
        const az = f32x4.mul(f32x4.sub(node.lowZ, sz), vz), bz = f32x4.mul(f32x4.sub(node.highZ, sz), vz);
        near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz));
        far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
      }
      near = f32x4.pmax(near, f32x4.splat(0));
      far = f32x4.pmin(far, f32x4.splat(limit));
      let bits = i32x4.bitmask(f32x4.le(near, far));
      if (bits != 0) {
        // The nearest child next; the others wait, the farthest lowest.
        let nearest = ctz(bits);
        bits &= bits - 1;
        if (bits != 0) {
          v128.store(entries, near);
          let other = ctz(bits);
          bits &= bits - 1;
          let distance = load<f32>(entries + (<usize>nearest << 2));
          let otherDistance = load<f32>(entries + (<usize>other << 2));
          const swap = otherDistance < distance;
          const farther = swap ? nearest : other;
          const fartherDistance = swap ? distance : otherDistance;
          nearest = swap ? other : nearest;
          distance = swap ? otherDistance : distance;
          const base = top;
          store<u32>(top, childOf(node, farther));
          store<f32>(top, fartherDistance, 4);
          top += 8;
          while (bits != 0) {
            other = ctz(bits);
            bits &= bits - 1;
            otherDistance = load<f32>(entries + (<usize>other << 2));
            if (otherDistance < distance) {
              store<u32>(top, childOf(node, nearest));
              store<f32>(top, distance, 4);
              nearest = other;
              distance = otherDistance;
            } else {
              push(base, top, childOf(node, other), otherDistance);
            }
            top += 8;
          }
        }
        child = childOf(node, nearest);
        continue;
      }
    } else {
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
        const t = meet(block, lane, tMin, end);
        if (t == Infinity) continue;
        best = t;
        if (any) return t;
        end = t;
        limit = min(limit, upward((t - from) * length));
      }
    }
    do {
      if (top == stack) return best;
      top -= 8;
      child = load<u32>(top);
    } while (load<f32>(top, 4) > limit);
  }
}

/** Puts a child in its place among those above `base`: the nearest on top. */
// @ts-ignore: decorator
@inline
function push(base: usize, top: usize, child: u32, distance: f32): void {
  let at = top;
  while (at > base && load<f32>(at - 8, 4) < distance) {
    store<u64>(at, load<u64>(at - 8));
    at -= 8;
  }
  store<u32>(at, child);
  store<f32>(at, distance, 4);
}

/** The exact test: t, or Infinity where there is no hit in [tMin, end]. Of two at the same t the lower index wins. */
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
  if (t == end && hitTriangle >= 0 && hitTriangle < triangle && end == lastT) return Infinity;

  const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - x, ey = <f64>load<f32>(at, 64) - y, ez = <f64>load<f32>(at, 80) - z;
  const fx = <f64>load<f32>(at, 96) - x, fy = <f64>load<f32>(at, 112) - y, fz = <f64>load<f32>(at, 128) - z;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const facing = nx * directionX + ny * directionY + nz * directionZ;
  if (!(allowed & (facing < 0 ? SIDE_FRONT : SIDE_BACK))) return Infinity;
  lastT = t;
  hitTriangle = triangle;
  hitU = u * inverse;
  hitV = v * inverse;
  hitW = w * inverse;
  hitNormalX = nx;
  hitNormalY = ny;
  hitNormalZ = nz;
  return t;
}

let lastT: f64 = 0;
