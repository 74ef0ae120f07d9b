// Rejects triangles that a primitive does not overlap, four at a time, in float32 SIMD, in the solid's space, where it
// is the cube [-1, 1]³, the unit ball or a capsule of radius 1 about the z axis. Tests bounds and planes, each with a
// rounding margin, so that touching triangles always pass, and so do those whose values overflow. Triangles that pass
// are tested in float64.

import { Affine } from '../../math/affine';
import { minus, plus, times } from '../../math/lanes';
import {
  coordinateError, boundingSize, dot, max3, min3, mapBlock, mappedVolumeError, setBlockMap,
} from '../../mesh/query/mapped-block';
import { Block } from '../../mesh/tree/layout';
import { VECTOR_BYTES } from '../../sizes';

/** Corners a, b, c of the four triangles in the solid's space, each as x, y, z of four lanes. */
const corners: usize = memory.data(9 * VECTOR_BYTES, 16);
let half: f32 = 0;
let isCube: bool = false;

/** The rounding error of float32 in squared distances, relative to them. */
const SQUARED_DISTANCE_ROUNDING: f32 = 1.52587890625e-5; // 2^-16

/** Sets the map from tree space to the solid's. A negative half denotes the cube. */
export function setPrefilter(m: Affine, halfSegment: f64): void {
  setBlockMap(m);
  isCube = halfSegment < 0;
  half = <f32>max(halfSegment, 0.0);
}

/** Returns the distances of intervals from the one from -halfExtent to halfExtent; 0 if they overlap it. */
// @ts-ignore: decorator
@inline
function distanceFromInterval(lower: v128, upper: v128, halfExtent: f32): v128 {
  return f32x4.pmax(minus(f32x4.pmax(lower, f32x4.neg(upper)), f32x4.splat(halfExtent + coordinateError)), f32x4.splat(0));
}

/** Returns which of a block's triangles the solid may overlap, a bit each. */
export function mayOverlap(block: Block): u32 {
  mapBlock(corners, block);
  const ax = v128.load(corners), ay = v128.load(corners, 16), az = v128.load(corners, 32);
  const bx = v128.load(corners, 48), by = v128.load(corners, 64), bz = v128.load(corners, 80);
  const cx = v128.load(corners, 96), cy = v128.load(corners, 112), cz = v128.load(corners, 128);
  const minX = min3(ax, bx, cx), maxX = max3(ax, bx, cx);
  const minY = min3(ay, by, cy), maxY = max3(ay, by, cy);
  const minZ = min3(az, bz, cz), maxZ = max3(az, bz, cz);
  const halfExtent: f32 = isCube ? 1 : 0;
  const dx = distanceFromInterval(minX, maxX, halfExtent), dy = distanceFromInterval(minY, maxY, halfExtent),
    dz = distanceFromInterval(minZ, maxZ, isCube ? 1 : half);
  const distanceSquared = dot(dx, dy, dz, dx, dy, dz);
  const apartMask = f32x4.gt(distanceSquared, f32x4.splat(isCube ? 0 : <f32>1.0 + SQUARED_DISTANCE_ROUNDING));
  if (i32x4.all_true(apartMask)) return 0;

  const ex = minus(bx, ax), ey = minus(by, ay), ez = minus(bz, az);
  const fx = minus(cx, ax), fy = minus(cy, ay), fz = minus(cz, az);
  const nx = minus(times(ey, fz), times(ez, fy));
  const ny = minus(times(ez, fx), times(ex, fz));
  const nz = minus(times(ex, fy), times(ey, fx));
  const height = f32x4.abs(dot(nx, ny, nz, ax, ay, az));
  const extent = isCube
    ? plus(plus(f32x4.abs(nx), f32x4.abs(ny)), f32x4.abs(nz))
    : plus(f32x4.sqrt(dot(nx, ny, nz, nx, ny, nz)), times(f32x4.abs(nz), f32x4.splat(half)));
  const size = boundingSize(plus(max3(minus(maxX, minX), minus(maxY, minY), minus(maxZ, minZ)), f32x4.splat(coordinateError)));
  const maxCoordinate = plus(max3(f32x4.abs(ax), f32x4.abs(ay), f32x4.abs(az)), f32x4.splat(<f32>2.0 + half));
  const beyondMask = f32x4.gt(height, plus(extent, mappedVolumeError(size, maxCoordinate)));
  return ~<u32>i32x4.bitmask(v128.or(apartMask, beyondMask)) & 15;
}
