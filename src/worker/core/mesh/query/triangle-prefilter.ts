// Triangle against four triangles in float32: which of them may meet it. Three of the tests by which Möller sorts
// triangles out ("A Fast Triangle-Triangle Intersection Test", 1997), bounds and the planes of both, each with a bound
// on its rounding, so that touching ones always pass, and so does what overflows. What passes is decided in float64.

import { minus, plus, times } from '../../math/lanes';
import { Block } from '../tree/layout';
import {
  LEAST_SIZE, VOLUME_ROUNDING, blur, boundingSize, dot, greatest, least, mapBlock, mappedVolumeError,
} from './mapped-block';
import { VECTOR_BYTES } from '../../sizes';

// The four triangles in the space of the one: corners a, b, c as x, y, z of four lanes, 16 bytes each.
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);
let normalX: v128 = i32x4.splat(0), normalY: v128 = i32x4.splat(0), normalZ: v128 = i32x4.splat(0);
/** How high their planes are along the normals. */
let planes: v128 = i32x4.splat(0);
/** The largest difference of two corners in one coordinate, which bounds the rounding. */
let size: v128 = i32x4.splat(0);

/** Takes the four triangles of a block, which `setBlockMap` maps to the space of the single triangle. */
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
 * What four triangles that are compared with these have, a lane each: bounds, low and high ones, normals, how high their
 * planes are along these, and the greatest width.
 */
const others: usize = memory.data(11 * VECTOR_BYTES, 16);
const NORMALS: usize = 6 * 16;
const PLANES: usize = 9 * 16;
const WIDTH: usize = 10 * 16;

/**
 * Takes the four triangles of another block, which stay where they are. Finds which of them have bounds that overlap
 * those of which of the first four: bit 4 i + j for triangle i of this block and j of the other.
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
 * Finds which of the first four triangles, whose bounds overlap those of triangle `lane` of the block of `boundsMeet`, may
 * meet it, a bit each. Heights of corners are compared with those of planes, as that is less work than heights over a corner:
 * coordinates are within TREE_EXTENT and `reach` of 0, so products and sums are off by 42 · 2 · 2⁻²⁴ of the square of the size
 * more, which is less than VOLUME_ROUNDING, and what grows with `reach` is within its share.
 */
export function mayMeet(block: Block, lane: u32): u32 {
  const at = changetype<usize>(block) + (<usize>lane << 2), other = others + (<usize>lane << 2);
  const extent = v128.load32_splat(other + WIDTH);
  // As bounds overlap, no corner of one is farther than this from one of the other, in a coordinate.
  const reach = plus(size, extent);

  // The four against the plane of the one.
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

  // The one against the planes of the four.
  a = dotAt(at);
  b = dotAt(at + 48);
  c = dotAt(at + 96);
  const errorToo = plus(mappedVolumeError(size, reach), times(times(size, size), rounding));
  return ~<u32>i32x4.bitmask(v128.or(apart, isBeyond(a, b, c, planes, errorToo))) & 15;
}

/** Answers how high a corner is along the normals of the four. */
// @ts-ignore: decorator
@inline
function dotAt(at: usize): v128 {
  return dot(
    normalX, normalY, normalZ, v128.load32_splat(at), v128.load32_splat(at, 16), v128.load32_splat(at, 32),
  );
}

/** Tells in which lanes three heights are surely on one side of a plane's; in none where the error is infinite or NaN. */
// @ts-ignore: decorator
@inline
function isBeyond(a: v128, b: v128, c: v128, plane: v128, error: v128): v128 {
  return v128.or(f32x4.gt(least(a, b, c), plus(plane, error)), f32x4.lt(greatest(a, b, c), minus(plane, error)));
}
