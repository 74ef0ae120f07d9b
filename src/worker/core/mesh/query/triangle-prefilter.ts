// Tests a triangle against four triangles in float32: which of them it may intersect. Uses three of the tests by which
// Möller rejects triangles ("A Fast Triangle-Triangle Intersection Test", 1997), bounds and the planes of both, each
// with a rounding margin, so that touching triangles always pass, and so do those whose values overflow. Triangles that
// pass are tested in float64.

import { minus, plus, times } from '../../math/lanes';
import { Block } from '../tree/layout';
import {
  LEAST_SIZE, VOLUME_ROUNDING, blur, boundingSize, dot, greatest, least, mapBlock, mappedVolumeError,
} from './mapped-block';
import { VECTOR_BYTES } from '../../sizes';

// The four triangles in the space of the single one: corners a, b, c as x, y, z of four lanes, 16 bytes each.
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);
let normalX: v128 = i32x4.splat(0), normalY: v128 = i32x4.splat(0), normalZ: v128 = i32x4.splat(0);
/** Heights of their planes along the normals. */
let planes: v128 = i32x4.splat(0);
/** The largest difference of two corners in one coordinate, which bounds the rounding. */
let size: v128 = i32x4.splat(0);

/** Sets the four triangles to those of a block, which `setBlockMap` maps to the space of the single triangle. */
export function setFour(block: Block): void {
  mapBlock(corners, block);
  const ax = v128.load(corners), ay = v128.load(corners, 16), az = v128.load(corners, 32);
  const bx = v128.load(corners, 48), by = v128.load(corners, 64), bz = v128.load(corners, 80);
  const cx = v128.load(corners, 96), cy = v128.load(corners, 112), cz = v128.load(corners, 128);
  const around = f32x4.splat(blur);
  lowX = minus(least(ax, bx, cx), around); highX = plus(greatest(ax, bx, cx), around);
  lowY = minus(least(ay, by, cy), around); highY = plus(greatest(ay, by, cy), around);
  lowZ = minus(least(az, bz, cz), around); highZ = plus(greatest(az, bz, cz), around);
  size = boundingSize(greatest(minus(highX, lowX), minus(highY, lowY), minus(highZ, lowZ)));
  const ex = minus(bx, ax), ey = minus(by, ay), ez = minus(bz, az);
  const fx = minus(cx, ax), fy = minus(cy, ay), fz = minus(cz, az);
  normalX = minus(times(ey, fz), times(ez, fy));
  normalY = minus(times(ez, fx), times(ex, fz));
  normalZ = minus(times(ex, fy), times(ey, fx));
  planes = dot(normalX, normalY, normalZ, ax, ay, az);
}

/**
 * Data of the four triangles that are compared with these, a lane each: low and high bounds, normals, heights of the
 * planes along these, and the greatest width.
 */
const others: usize = memory.data(11 * VECTOR_BYTES, 16);
const NORMALS: usize = 6 * 16;
const PLANES: usize = 9 * 16;
const WIDTH: usize = 10 * 16;

/**
 * Sets the four triangles of another block, which are not mapped. Returns which of them have bounds that overlap those
 * of which of the first four: bit 4 i + j for triangle i of this block and j of the other.
 */
export function boundsMeet(block: Block): u32 {
  const at = changetype<usize>(block);
  const px = v128.load(at), py = v128.load(at, 16), pz = v128.load(at, 32);
  const qx = v128.load(at, 48), qy = v128.load(at, 64), qz = v128.load(at, 80);
  const rx = v128.load(at, 96), ry = v128.load(at, 112), rz = v128.load(at, 128);
  const leastX = least(px, qx, rx), leastY = least(py, qy, ry), leastZ = least(pz, qz, rz);
  const greatestX = greatest(px, qx, rx), greatestY = greatest(py, qy, ry), greatestZ = greatest(pz, qz, rz);
  v128.store(others, leastX); v128.store(others, greatestX, 16);
  v128.store(others, leastY, 32); v128.store(others, greatestY, 48);
  v128.store(others, leastZ, 64); v128.store(others, greatestZ, 80);
  const width = greatest(minus(greatestX, leastX), minus(greatestY, leastY), minus(greatestZ, leastZ));
  v128.store(others + WIDTH, f32x4.pmax(width, f32x4.splat(LEAST_SIZE)));
  let bits: u32 = 0;
  for (let lane: u32 = 0; lane < 4; lane++) {
    const own = others + (<usize>lane << 2);
    const apart = v128.or(
      v128.or(
        v128.or(f32x4.gt(v128.load32_splat(own), highX), f32x4.gt(lowX, v128.load32_splat(own, 16))),
        f32x4.gt(v128.load32_splat(own, 32), highY),
      ),
      v128.or(
        v128.or(f32x4.gt(lowY, v128.load32_splat(own, 48)), f32x4.gt(v128.load32_splat(own, 64), highZ)),
        f32x4.gt(lowZ, v128.load32_splat(own, 80)),
      ),
    );
    bits |= (~<u32>i32x4.bitmask(apart) & 15) << (lane << 2);
  }
  if (bits == 0) return 0;
  const ex = minus(qx, px), ey = minus(qy, py), ez = minus(qz, pz);
  const fx = minus(rx, px), fy = minus(ry, py), fz = minus(rz, pz);
  const nx = minus(times(ey, fz), times(ez, fy)), ny = minus(times(ez, fx), times(ex, fz));
  const nz = minus(times(ex, fy), times(ey, fx));
  v128.store(others + NORMALS, nx);
  v128.store(others + NORMALS, ny, 16);
  v128.store(others + NORMALS, nz, 32);
  v128.store(others + PLANES, dot(nx, ny, nz, px, py, pz));
  return bits;
}

/**
 * Returns which of the first four triangles, whose bounds overlap those of triangle `lane` of the block of `boundsMeet`,
 * may intersect it, a bit each. Heights of corners are compared with those of planes, since that is less work than
 * heights relative to a corner. Coordinates are within TREE_EXTENT and `reach` of 0, so the additional error of products
 * and sums is 42 · 2 · 2⁻²⁴ of the squared size, which is less than VOLUME_ROUNDING, and the part that grows with
 * `reach` is covered by its share.
 */
export function mayMeet(block: Block, lane: u32): u32 {
  const at = changetype<usize>(block) + (<usize>lane << 2), other = others + (<usize>lane << 2);
  const extent = v128.load32_splat(other + WIDTH);
  // Since the bounds overlap, no coordinate of a corner of one differs from that of the other by more than this.
  const reach = plus(size, extent);

  // The four against the plane of the single triangle.
  const nx = v128.load32_splat(other + NORMALS), ny = v128.load32_splat(other + NORMALS, 16);
  const nz = v128.load32_splat(other + NORMALS, 32);
  let a = dot(nx, ny, nz, v128.load(corners), v128.load(corners, 16), v128.load(corners, 32));
  let b = dot(nx, ny, nz, v128.load(corners, 48), v128.load(corners, 64), v128.load(corners, 80));
  let c = dot(nx, ny, nz, v128.load(corners, 96), v128.load(corners, 112), v128.load(corners, 128));
  const rounding = f32x4.splat(VOLUME_ROUNDING);
  const error = times(
    times(extent, extent), plus(f32x4.splat(<f32>6.0 * blur + VOLUME_ROUNDING), times(reach, rounding)),
  );
  const apart = isBeyond(a, b, c, v128.load32_splat(other + PLANES), error);

  // The single triangle against the planes of the four.
  a = dotAt(at);
  b = dotAt(at + 48);
  c = dotAt(at + 96);
  const errorToo = plus(mappedVolumeError(size, reach), times(times(size, size), rounding));
  return ~<u32>i32x4.bitmask(v128.or(apart, isBeyond(a, b, c, planes, errorToo))) & 15;
}

/** Returns the heights of a corner along the normals of the four. */
// @ts-ignore: decorator
@inline
function dotAt(at: usize): v128 {
  return dot(
    normalX, normalY, normalZ, v128.load32_splat(at), v128.load32_splat(at, 16), v128.load32_splat(at, 32),
  );
}

/**
 * Returns the lanes in which three heights are certainly on one side of a plane; none if the error is infinite or NaN.
 */
// @ts-ignore: decorator
@inline
function isBeyond(a: v128, b: v128, c: v128, plane: v128, error: v128): v128 {
  return v128.or(f32x4.gt(least(a, b, c), plus(plane, error)), f32x4.lt(greatest(a, b, c), minus(plane, error)));
}
