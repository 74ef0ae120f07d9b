// The four triangles of a block in another space, in float32, with a bound of the rounding error: the first step of the
// triangle prefilters (mesh/query/triangle-prefilter.ts, contact/primitive/triangle-prefilter.ts). Both are
// conservative: they pass whatever float32 cannot decide, including infinity and NaN.

import { Affine } from '../../math/affine';
import { minus, plus, times } from '../../math/lanes';
import { Block, TREE_EXTENT } from '../tree/layout';
import { VECTOR_BYTES } from '../../sizes';

/** The map, each entry in all lanes: xx, xy, xz, yx … as in Affine. */
const map: usize = memory.data(12 * VECTOR_BYTES, 16);
/** The largest error of a mapped coordinate. */
export let coordinateError: f32 = 0;

/**
 * The rounding error of the map: three products, three sums, and the map's own rounding, relative to the largest
 * possible coordinate: 2⁻²¹.
 */
const MAP_ROUNDING: f64 = 4.76837158203125e-7;
/** Beyond this, float32 may overflow in the map itself: 2¹²⁰. */
const MAX_MAPPED: f64 = 1.329227995784916e36;

/** The float32 rounding error of a signed volume, relative to the product of its lengths: 2⁻¹⁷. */
export const VOLUME_ROUNDING: f32 = 7.62939453125e-6;
/** The least size of a triangle for bounds of rounding, since products of smaller sizes may underflow: 2⁻²³. */
export const MIN_SIZE: f32 = 1.1920928955078125e-7;
/** Triangles beyond this size count as infinite, since the product of three such lengths may overflow: 2⁴⁰. */
const MAX_SIZE: f32 = 1099511627776.0;

/** Sets the map from tree space, where coordinates are below TREE_EXTENT. */
export function setBlockMap(m: Affine): void {
  for (let i: usize = 0; i < 12; i++) {
    v128.store(map + (i << 4), f32x4.splat(<f32>load<f64>(changetype<usize>(m) + (i << 3))));
  }
  const extent = <f64>TREE_EXTENT;
  const x = extent * (abs(m.xx) + abs(m.yx) + abs(m.zx)) + abs(m.tx);
  const y = extent * (abs(m.xy) + abs(m.yy) + abs(m.zy)) + abs(m.ty);
  const z = extent * (abs(m.xz) + abs(m.yz) + abs(m.zz)) + abs(m.tz);
  const largest = max(max(x, y), z);
  coordinateError = largest < MAX_MAPPED ? <f32>(largest * MAP_ROUNDING) : Infinity;
}

/** Writes the mapped corners a, b, c of the four, each as x, y, z of four lanes: nine vectors. */
// @ts-ignore: decorator
@inline
export function mapBlock(to: usize, block: Block): void {
  const at = changetype<usize>(block);
  for (let k: usize = 0; k < 144; k += 48) {
    const x = v128.load(at + k), y = v128.load(at + k, 16), z = v128.load(at + k, 32);
    v128.store(to + k, mapCoordinate(x, y, z, 0));
    v128.store(to + k, mapCoordinate(x, y, z, 16), 16);
    v128.store(to + k, mapCoordinate(x, y, z, 32), 32);
  }
}

// @ts-ignore: decorator
@inline
function mapCoordinate(x: v128, y: v128, z: v128, row: usize): v128 {
  return plus(
    dot(v128.load(map + row), v128.load(map + row, 48), v128.load(map + row, 96), x, y, z), v128.load(map + row, 144),
  );
}

/** Returns the size of triangles for bounds of rounding: at least MIN_SIZE, and infinite if products may overflow. */
// @ts-ignore: decorator
@inline
export function boundingSize(size: v128): v128 {
  return v128.bitselect(
    f32x4.splat(Infinity), f32x4.pmax(size, f32x4.splat(MIN_SIZE)), f32x4.gt(size, f32x4.splat(MAX_SIZE)),
  );
}

// @ts-ignore: decorator
@inline
export function min3(a: v128, b: v128, c: v128): v128 { return f32x4.pmin(f32x4.pmin(a, b), c); }
// @ts-ignore: decorator
@inline
export function max3(a: v128, b: v128, c: v128): v128 { return f32x4.pmax(f32x4.pmax(a, b), c); }
// @ts-ignore: decorator
@inline
export function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return plus(plus(times(ax, bx), times(ay, by)), times(az, bz));
}

/**
 * Returns the rounding error of the signed volume of a mapped triangle of this size with a point as far away as `distance`:
 * the normal is computed from two differences, the height from one more, and each corner has an error of `coordinateError`.
 */
// @ts-ignore: decorator
@inline
export function mappedVolumeError(size: v128, distance: v128): v128 {
  return times(size, plus(
    times(f32x4.splat(coordinateError), plus(times(size, f32x4.splat(6)), times(distance, f32x4.splat(24)))),
    times(times(size, distance), f32x4.splat(VOLUME_ROUNDING)),
  ));
}
