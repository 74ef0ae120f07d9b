// Which of four triangles a solid may meet, in float32, in the space in which it is the cube [-1, 1]³, the unit ball
// or a capsule of radius 1 about the z axis: by their bounds and their planes, each with a bound on its rounding, so
// that what touches always passes. What passes is decided in float64.

import { Affine } from '../../math/affine';
import { minus, plus, times } from '../../math/lanes';
import { Block } from '../../mesh/tree/layout';

/** The map, each entry in all lanes: xx, xy, xz, yx … as in Affine. */
const map: usize = memory.data(12 * 16, 16);
/** What a mapped coordinate may be off by. */
let blur: f32 = 0;
let half: f32 = 0;
let isCube: bool = false;

/** What float32 may add to a signed volume, relative to the cube of the sizes that it is made of: 2^-17. */
const ROUNDING: f32 = 7.62939453125e-6;
/** The same of the squares of distances. */
const ROUNDING_SQUARE: f32 = 1.52587890625e-5; // 2^-16

/** Sets the map from tree space, where coordinates are below 2. A negative half is that of no capsule but the cube. */
export function setQuick(m: Affine, segment: f64): void {
  for (let i: usize = 0; i < 12; i++) {
    v128.store(map + (i << 4), f32x4.splat(<f32>load<f64>(changetype<usize>(m) + (i << 3))));
  }
  const x = 2.0 * (abs(m.xx) + abs(m.yx) + abs(m.zx)) + abs(m.tx);
  const y = 2.0 * (abs(m.xy) + abs(m.yy) + abs(m.zy)) + abs(m.ty);
  const z = 2.0 * (abs(m.xz) + abs(m.yz) + abs(m.zz)) + abs(m.tz);
  blur = <f32>(max(max(x, y), z) * 4.76837158203125e-7); // 2^-21: three products, three sums, and the map's own rounding
  isCube = segment < 0;
  half = <f32>max(segment, 0.0);
}

// @ts-ignore: decorator
@inline
function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return plus(plus(times(ax, bx), times(ay, by)), times(az, bz));
}

// @ts-ignore: decorator
@inline
function mapped(x: v128, y: v128, z: v128, row: usize): v128 {
  return plus(
    dot(v128.load(map + row), v128.load(map + row, 48), v128.load(map + row, 96), x, y, z), v128.load(map + row, 144),
  );
}

// @ts-ignore: decorator
@inline
function least(a: v128, b: v128, c: v128): v128 { return f32x4.pmin(f32x4.pmin(a, b), c); }
// @ts-ignore: decorator
@inline
function greatest(a: v128, b: v128, c: v128): v128 { return f32x4.pmax(f32x4.pmax(a, b), c); }
/** How far intervals are from one about 0. */
// @ts-ignore: decorator
@inline
function outside(low: v128, high: v128, reach: f32): v128 {
  return f32x4.pmax(minus(f32x4.pmax(low, f32x4.neg(high)), f32x4.splat(reach + blur)), f32x4.splat(0));
}

/** A bit each. */
export function mayBeMet(block: Block): u32 {
  const at = changetype<usize>(block);
  let x = v128.load(at), y = v128.load(at, 16), z = v128.load(at, 32);
  const ax = mapped(x, y, z, 0), ay = mapped(x, y, z, 16), az = mapped(x, y, z, 32);
  x = v128.load(at, 48); y = v128.load(at, 64); z = v128.load(at, 80);
  const bx = mapped(x, y, z, 0), by = mapped(x, y, z, 16), bz = mapped(x, y, z, 32);
  x = v128.load(at, 96); y = v128.load(at, 112); z = v128.load(at, 128);
  const cx = mapped(x, y, z, 0), cy = mapped(x, y, z, 16), cz = mapped(x, y, z, 32);
  const lowX = least(ax, bx, cx), highX = greatest(ax, bx, cx);
  const lowY = least(ay, by, cy), highY = greatest(ay, by, cy);
  const lowZ = least(az, bz, cz), highZ = greatest(az, bz, cz);
  const reach: f32 = isCube ? 1 : 0;
  const dx = outside(lowX, highX, reach), dy = outside(lowY, highY, reach), dz = outside(lowZ, highZ, isCube ? 1 : half);
  const gap = dot(dx, dy, dz, dx, dy, dz);
  let mask = f32x4.le(gap, f32x4.splat(isCube ? 0 : <f32>1.0 + ROUNDING_SQUARE));
  if (!v128.any_true(mask)) return 0;

  const ex = minus(bx, ax), ey = minus(by, ay), ez = minus(bz, az);
  const fx = minus(cx, ax), fy = minus(cy, ay), fz = minus(cz, az);
  const nx = minus(times(ey, fz), times(ez, fy));
  const ny = minus(times(ez, fx), times(ex, fz));
  const nz = minus(times(ex, fy), times(ey, fx));
  const height = f32x4.abs(dot(nx, ny, nz, ax, ay, az));
  const across = isCube
    ? plus(plus(f32x4.abs(nx), f32x4.abs(ny)), f32x4.abs(nz))
    : plus(f32x4.sqrt(dot(nx, ny, nz, nx, ny, nz)), times(f32x4.abs(nz), f32x4.splat(half)));
  const size = plus(greatest(minus(highX, lowX), minus(highY, lowY), minus(highZ, lowZ)), f32x4.splat(blur));
  const far = plus(greatest(f32x4.abs(ax), f32x4.abs(ay), f32x4.abs(az)), f32x4.splat(<f32>2.0 + half));
  const error = times(size, plus(
    times(f32x4.splat(blur), plus(times(size, f32x4.splat(6)), times(far, f32x4.splat(24)))),
    times(times(size, far), f32x4.splat(ROUNDING)),
  ));
  mask = v128.and(mask, f32x4.le(height, plus(across, error)));
  return i32x4.bitmask(mask);
}
