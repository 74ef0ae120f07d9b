// Tests a triangle against four triangles in float32: which of them it may intersect. Uses three of the tests by which
// Möller rejects triangles ("A Fast Triangle-Triangle Intersection Test", 1997), bounds and the planes of both, each
// with a rounding margin, so that touching triangles always pass, and so do those whose values overflow. Triangles that
// pass are tested in float64.

import { minus, plus, times } from '../../math/lanes';
import { Block } from '../tree/layout';
import {
  MIN_SIZE, VOLUME_ROUNDING, coordinateError, boundingSize, dot, max3, min3, mapBlock, mappedVolumeError,
} from './mapped-block';
import { VECTOR_BYTES } from '../../sizes';

// The four triangles in the space of the single one: corners a, b, c as x, y, z of four lanes, 16 bytes each.
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
let minX: v128 = i32x4.splat(0), minY: v128 = i32x4.splat(0), minZ: v128 = i32x4.splat(0);
let maxX: v128 = i32x4.splat(0), maxY: v128 = i32x4.splat(0), maxZ: v128 = i32x4.splat(0);
let normalX: v128 = i32x4.splat(0), normalY: v128 = i32x4.splat(0), normalZ: v128 = i32x4.splat(0);
/** Heights of their planes along the normals. */
let planes: v128 = i32x4.splat(0);
/** The largest difference of two corners in one coordinate, which bounds the rounding. */
let size: v128 = i32x4.splat(0);

/** Sets the four triangles to those of a block, which `setBlockMap` maps to the space of the single triangle. */
export function setMappedBlock(block: Block): void {
  mapBlock(corners, block);
  const ax = v128.load(corners), ay = v128.load(corners, 16), az = v128.load(corners, 32);
  const bx = v128.load(corners, 48), by = v128.load(corners, 64), bz = v128.load(corners, 80);
  const cx = v128.load(corners, 96), cy = v128.load(corners, 112), cz = v128.load(corners, 128);
  const padding = f32x4.splat(coordinateError);
  minX = minus(min3(ax, bx, cx), padding); maxX = plus(max3(ax, bx, cx), padding);
  minY = minus(min3(ay, by, cy), padding); maxY = plus(max3(ay, by, cy), padding);
  minZ = minus(min3(az, bz, cz), padding); maxZ = plus(max3(az, bz, cz), padding);
  size = boundingSize(max3(minus(maxX, minX), minus(maxY, minY), minus(maxZ, minZ)));
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
export function overlappingBounds(block: Block): u32 {
  const at = changetype<usize>(block);
  const px = v128.load(at), py = v128.load(at, 16), pz = v128.load(at, 32);
  const qx = v128.load(at, 48), qy = v128.load(at, 64), qz = v128.load(at, 80);
  const rx = v128.load(at, 96), ry = v128.load(at, 112), rz = v128.load(at, 128);
  const otherMinX = min3(px, qx, rx), otherMinY = min3(py, qy, ry), otherMinZ = min3(pz, qz, rz);
  const otherMaxX = max3(px, qx, rx), otherMaxY = max3(py, qy, ry), otherMaxZ = max3(pz, qz, rz);
  v128.store(others, otherMinX); v128.store(others, otherMaxX, 16);
  v128.store(others, otherMinY, 32); v128.store(others, otherMaxY, 48);
  v128.store(others, otherMinZ, 64); v128.store(others, otherMaxZ, 80);
  const width = max3(minus(otherMaxX, otherMinX), minus(otherMaxY, otherMinY), minus(otherMaxZ, otherMinZ));
  v128.store(others + WIDTH, f32x4.pmax(width, f32x4.splat(MIN_SIZE)));
  let bits: u32 = 0;
  for (let lane: u32 = 0; lane < 4; lane++) {
    const triangleBounds = others + (<usize>lane << 2);
    const apart = v128.or(
      v128.or(
        v128.or(f32x4.gt(v128.load32_splat(triangleBounds), maxX), f32x4.gt(minX, v128.load32_splat(triangleBounds, 16))),
        f32x4.gt(v128.load32_splat(triangleBounds, 32), maxY),
      ),
      v128.or(
        v128.or(f32x4.gt(minY, v128.load32_splat(triangleBounds, 48)), f32x4.gt(v128.load32_splat(triangleBounds, 64), maxZ)),
        f32x4.gt(minZ, v128.load32_splat(triangleBounds, 80)),
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
 * Returns which of the first four triangles, whose bounds overlap those of triangle `lane` of the block of `overlappingBounds`,
 * may intersect it, a bit each. Heights of corners are compared with those of planes, since that is less work than
 * heights relative to a corner. Coordinates are within TREE_EXTENT and `maxDistance` of 0, so the additional error of products
 * and sums is 42 · 2 · 2⁻²⁴ of the squared size, which is less than VOLUME_ROUNDING, and the part that grows with
 * `maxDistance` is covered by its share.
 */
export function mayIntersect(block: Block, lane: u32): u32 {
  const at = changetype<usize>(block) + (<usize>lane << 2), other = others + (<usize>lane << 2);
  const extent = v128.load32_splat(other + WIDTH);
  // Since the bounds overlap, no coordinate of a corner of one differs from that of the other by more than this.
  const maxDistance = plus(size, extent);

  // The four against the plane of the single triangle.
  const nx = v128.load32_splat(other + NORMALS), ny = v128.load32_splat(other + NORMALS, 16);
  const nz = v128.load32_splat(other + NORMALS, 32);
  let a = dot(nx, ny, nz, v128.load(corners), v128.load(corners, 16), v128.load(corners, 32));
  let b = dot(nx, ny, nz, v128.load(corners, 48), v128.load(corners, 64), v128.load(corners, 80));
  let c = dot(nx, ny, nz, v128.load(corners, 96), v128.load(corners, 112), v128.load(corners, 128));
  const rounding = f32x4.splat(VOLUME_ROUNDING);
  const error = times(
    times(extent, extent), plus(f32x4.splat(<f32>6.0 * coordinateError + VOLUME_ROUNDING), times(maxDistance, rounding)),
  );
  const apart = isBeyond(a, b, c, v128.load32_splat(other + PLANES), error);

  // The single triangle against the planes of the four.
  a = dotAt(at);
  b = dotAt(at + 48);
  c = dotAt(at + 96);
  const mappedError = plus(mappedVolumeError(size, maxDistance), times(times(size, size), rounding));
  return ~<u32>i32x4.bitmask(v128.or(apart, isBeyond(a, b, c, planes, mappedError))) & 15;
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
  return v128.or(f32x4.gt(min3(a, b, c), plus(plane, error)), f32x4.lt(max3(a, b, c), minus(plane, error)));
}
