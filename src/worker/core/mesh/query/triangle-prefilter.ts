// Triangle against four triangles in float32: which of them may meet it. Three of the tests by which Möller sorts
// triangles out ("A Fast Triangle-Triangle Intersection Test", 1997), bounds and the planes of both, each with a bound
// on its rounding, so that touching ones always pass. What passes is decided in float64.

import { Affine } from '../../math/affine';
import { minus, plus, times } from '../../math/lanes';
import { Block } from '../tree/layout';

// The four triangles in the space of the one: corners a, b, c as x, y, z of four lanes, 16 bytes each.
const corners: usize = memory.data(9 * 16, 16);
let lowX: v128 = i32x4.splat(0), lowY: v128 = i32x4.splat(0), lowZ: v128 = i32x4.splat(0);
let highX: v128 = i32x4.splat(0), highY: v128 = i32x4.splat(0), highZ: v128 = i32x4.splat(0);
let normalX: v128 = i32x4.splat(0), normalY: v128 = i32x4.splat(0), normalZ: v128 = i32x4.splat(0);
/** Largest difference of two corners in one coordinate. */
let size: v128 = i32x4.splat(0);

/** The map, each entry in all lanes: xx, xy, xz, yx … as in Affine. */
const map: usize = memory.data(12 * 16, 16);
/** What a mapped coordinate may be off by. */
let blur: f32 = 0;

/** What float32 may add to a signed volume, relative to the cube of the sizes that it is made of: 2^-17. */
const ROUNDING: f32 = 7.62939453125e-6;

/** Sets the map that brings the four to the space of the one. Their own coordinates are below 2. */
export function setFilter(m: Affine): void {
  for (let i: usize = 0; i < 12; i++) {
    v128.store(map + (i << 4), f32x4.splat(<f32>load<f64>(changetype<usize>(m) + (i << 3))));
  }
  const x = 2.0 * (abs(m.xx) + abs(m.yx) + abs(m.zx)) + abs(m.tx);
  const y = 2.0 * (abs(m.xy) + abs(m.yy) + abs(m.zy)) + abs(m.ty);
  const z = 2.0 * (abs(m.xz) + abs(m.yz) + abs(m.zz)) + abs(m.tz);
  blur = <f32>(max(max(x, y), z) * 4.76837158203125e-7); // 2^-21: three products, three sums, and the map's own rounding
}

// @ts-ignore: decorator
@inline
function least(a: v128, b: v128, c: v128): v128 { return f32x4.pmin(f32x4.pmin(a, b), c); }
// @ts-ignore: decorator
@inline
function greatest(a: v128, b: v128, c: v128): v128 { return f32x4.pmax(f32x4.pmax(a, b), c); }
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

/** Takes the four triangles of a block. */
export function setFour(block: Block): void {
  const at = changetype<usize>(block);
  for (let k: usize = 0; k < 144; k += 48) {
    const x = v128.load(at + k), y = v128.load(at + k, 16), z = v128.load(at + k, 32);
    v128.store(corners + k, mapped(x, y, z, 0));
    v128.store(corners + k, mapped(x, y, z, 16), 16);
    v128.store(corners + k, mapped(x, y, z, 32), 32);
  }
  const ax = v128.load(corners), ay = v128.load(corners, 16), az = v128.load(corners, 32);
  const bx = v128.load(corners, 48), by = v128.load(corners, 64), bz = v128.load(corners, 80);
  const cx = v128.load(corners, 96), cy = v128.load(corners, 112), cz = v128.load(corners, 128);
  const around = f32x4.splat(blur);
  lowX = minus(least(ax, bx, cx), around); highX = plus(greatest(ax, bx, cx), around);
  lowY = minus(least(ay, by, cy), around); highY = plus(greatest(ay, by, cy), around);
  lowZ = minus(least(az, bz, cz), around); highZ = plus(greatest(az, bz, cz), around);
  size = greatest(minus(highX, lowX), minus(highY, lowY), minus(highZ, lowZ));
  const ex = minus(bx, ax), ey = minus(by, ay), ez = minus(bz, az);
  const fx = minus(cx, ax), fy = minus(cy, ay), fz = minus(cz, az);
  normalX = minus(times(ey, fz), times(ez, fy));
  normalY = minus(times(ez, fx), times(ex, fz));
  normalZ = minus(times(ex, fy), times(ey, fx));
}

/** Which of the four may meet triangle `lane` of a block, a bit each. */
export function mayMeet(block: Block, lane: u32): u32 {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  const px = v128.load32_splat(at), py = v128.load32_splat(at, 16), pz = v128.load32_splat(at, 32);
  const qx = v128.load32_splat(at, 48), qy = v128.load32_splat(at, 64), qz = v128.load32_splat(at, 80);
  const rx = v128.load32_splat(at, 96), ry = v128.load32_splat(at, 112), rz = v128.load32_splat(at, 128);
  const leastX = least(px, qx, rx), leastY = least(py, qy, ry), leastZ = least(pz, qz, rz);
  const greatestX = greatest(px, qx, rx), greatestY = greatest(py, qy, ry), greatestZ = greatest(pz, qz, rz);
  let mask = v128.and(
    v128.and(v128.and(f32x4.le(leastX, highX), f32x4.le(lowX, greatestX)), f32x4.le(leastY, highY)),
    v128.and(v128.and(f32x4.le(lowY, greatestY), f32x4.le(leastZ, highZ)), f32x4.le(lowZ, greatestZ)),
  );
  if (!v128.any_true(mask)) return 0;

  const extent = greatest(minus(greatestX, leastX), minus(greatestY, leastY), minus(greatestZ, leastZ));
  // As bounds overlap, no corner of one is farther than this from one of the other, in a coordinate.
  const reach = plus(size, extent);
  const ax = v128.load(corners), ay = v128.load(corners, 16), az = v128.load(corners, 32);
  const bx = v128.load(corners, 48), by = v128.load(corners, 64), bz = v128.load(corners, 80);
  const cx = v128.load(corners, 96), cy = v128.load(corners, 112), cz = v128.load(corners, 128);

  // The four against the plane of the one.
  const ex = minus(qx, px), ey = minus(qy, py), ez = minus(qz, pz);
  const fx = minus(rx, px), fy = minus(ry, py), fz = minus(rz, pz);
  const nx = minus(times(ey, fz), times(ez, fy));
  const ny = minus(times(ez, fx), times(ex, fz));
  const nz = minus(times(ex, fy), times(ey, fx));
  let a = dot(nx, ny, nz, minus(ax, px), minus(ay, py), minus(az, pz));
  let b = dot(nx, ny, nz, minus(bx, px), minus(by, py), minus(bz, pz));
  let c = dot(nx, ny, nz, minus(cx, px), minus(cy, py), minus(cz, pz));
  let error = times(times(extent, extent), plus(f32x4.splat(<f32>6.0 * blur), times(reach, f32x4.splat(ROUNDING))));
  mask = v128.and(mask, v128.and(f32x4.le(least(a, b, c), error), f32x4.ge(greatest(a, b, c), f32x4.neg(error))));
  if (!v128.any_true(mask)) return 0;

  // The one against the planes of the four.
  a = dot(normalX, normalY, normalZ, minus(px, ax), minus(py, ay), minus(pz, az));
  b = dot(normalX, normalY, normalZ, minus(qx, ax), minus(qy, ay), minus(qz, az));
  c = dot(normalX, normalY, normalZ, minus(rx, ax), minus(ry, ay), minus(rz, az));
  error = times(size, plus(
    times(f32x4.splat(blur), plus(times(size, f32x4.splat(6)), times(reach, f32x4.splat(24)))),
    times(times(size, reach), f32x4.splat(ROUNDING)),
  ));
  mask = v128.and(mask, v128.and(f32x4.le(least(a, b, c), error), f32x4.ge(greatest(a, b, c), f32x4.neg(error))));
  return i32x4.bitmask(mask);
}
