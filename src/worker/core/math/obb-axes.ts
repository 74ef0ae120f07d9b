// The candidate separating axes of two oriented boxes, by number: perpendicular to a face of the first, of the second from 3 on,
// and from 6 on to edge i of the first and j of the second, 6 + 3 i + j. An axis is the cross product of two edges without
// normalisation, so it turns with the boxes, even skewed ones. Boxes are maps from the cube [-1, 1]³: columns are half of their
// edges. float64.

import { Affine } from './affine';
import { swapped } from './predicates';

/**
 * The axis that was set last, and the product of the lengths of the two edges that it crosses; for a face, the axis' own length.
 */
export let axisX: f64 = 0, axisY: f64 = 0, axisZ: f64 = 0;
export let axisProduct: f64 = 0;

/**
 * Distance of the second box's centre from the first's along the axis, and the sum of both extents; both times the axis' length.
 */
export let alongAxis: f64 = 0;
export let reachAlong: f64 = 0;

/** Squared sine of the angle below which two edges count as parallel. */
const PARALLEL_SQUARE: f64 = 1e-12;

/** Sets an axis by its number, and projects the two boxes on it. */
export function setBoxAxis(which: i32, a: Affine, b: Affine): void {
  setAxis(which, changetype<usize>(a), changetype<usize>(b));
  projectBoxes(a, b);
}

/** Sets an axis by its number and the addresses of the edges of both boxes, nine contiguous float64 each. */
export function setAxis(which: i32, p: usize, q: usize): void {
  if (which >= 6) {
    const i = (which - 6) / 3;
    cross(p + 24 * <usize>i, q + 24 * <usize>(which - 6 - 3 * i));
    axisProduct = sqrt(edges);
  } else {
    const faces = which < 3 ? p : q, i = which < 3 ? which : which - 3;
    cross(faces + after(i), faces + after(i + 1));
    axisProduct = sqrt(square);
  }
}

/** Projects two boxes on the axis that was set last. */
function projectBoxes(a: Affine, b: Affine): void {
  alongAxis = axisX * (b.tx - a.tx) + axisY * (b.ty - a.ty) + axisZ * (b.tz - a.tz);
  reachAlong = reachOf(a) + reachOf(b);
}

/** The number of the axis that was found last, and the gap along it. */
export let widestAxis: i32 = -1;
export let widestGap: f64 = 0;

/** The edges of both boxes, a lane each: nine vectors of two float64. */
const both: usize = memory.data(9 * 16, 16);
/** Extent of edge k of the other box along face i's axis of each, a lane each, 3 i + k. */
const across: usize = memory.data(9 * 16, 16);

/**
 * Finds the axis along which the gap between two boxes is largest. Returns false if it is no more than a length. The face axes of
 * both boxes are processed together, a lane each. The extent of an edge along a cross product of two others is the same for all
 * that form the same triple product (Gottschalk, "Collision Queries using Oriented Bounding Boxes", 2000).
 */
export function findWidestAxis(a: Affine, b: Affine, least: f64): bool {
  widestGap = least;
  widestAxis = -1;
  const p = changetype<usize>(a), q = changetype<usize>(b);
  const x = b.tx - a.tx, y = b.ty - a.ty, z = b.tz - a.tz;
  for (let i: usize = 0; i < 72; i += 8) v128.store(both + (i << 1), v128.load64_lane(q + i, v128.load64_zero(p + i), 1));
  for (let i: usize = 0; i < 3; i++) {
    const e = both + (after(<i32>i) << 1), f = both + (after(<i32>i + 1) << 1), own = both + i * 48, row = across + i * 48;
    const ex = v128.load(e), ey = v128.load(e, 16), ez = v128.load(e, 32);
    const fx = v128.load(f), fy = v128.load(f, 16), fz = v128.load(f, 32);
    const nx = f64x2.sub(f64x2.mul(ey, fz), f64x2.mul(ez, fy)), ny = f64x2.sub(f64x2.mul(ez, fx), f64x2.mul(ex, fz));
    const nz = f64x2.sub(f64x2.mul(ex, fy), f64x2.mul(ey, fx));
    // The other box's edges are in the other lane.
    const mx = swapped(nx), my = swapped(ny), mz = swapped(nz);
    const r0 = swapped(heights(both, mx, my, mz)), r1 = swapped(heights(both + 48, mx, my, mz)), r2 = swapped(heights(both + 96, mx, my, mz));
    v128.store(row, r0);
    v128.store(row, r1, 16);
    v128.store(row, r2, 32);
    const reach = f64x2.add(f64x2.add(r0, r1), f64x2.add(r2, heights(own, nx, ny, nz)));
    const gaps = f64x2.sub(f64x2.abs(sumOfThree(nx, f64x2.splat(x), ny, f64x2.splat(y), nz, f64x2.splat(z))), reach);
    if (i64x2.bitmask(f64x2.gt(gaps, f64x2.splat(0))) == 0) continue;
    const squares = sumOfThree(nx, nx, ny, ny, nz, nz);
    const lengths = f64x2.mul(sumOfThree(ex, ex, ey, ey, ez, ez), sumOfThree(fx, fx, fy, fy, fz, fz));
    offer(<i32>i, f64x2.extract_lane(gaps, 0), f64x2.extract_lane(squares, 0), f64x2.extract_lane(lengths, 0));
    offer(<i32>i + 3, f64x2.extract_lane(gaps, 1), f64x2.extract_lane(squares, 1), f64x2.extract_lane(lengths, 1));
  }
  for (let i = 0; i < 3; i++) {
    const e = p + <usize>i * 24;
    const ex = load<f64>(e), ey = load<f64>(e, 8), ez = load<f64>(e, 16);
    const cx = y * ez - z * ey, cy = z * ex - x * ez, cz = x * ey - y * ex;
    // Extents of edge i along the axes of the faces of the first box that contain it, and along those of the second.
    const u = across + (after(i) << 1), v = across + (after(i + 1) << 1), w = across + 8 + (<usize>i << 4);
    for (let j = 0; j < 3; j++) {
      const f = q + <usize>j * 24, column = <usize>j << 4;
      const gap =
        abs(cx * load<f64>(f) + cy * load<f64>(f, 8) + cz * load<f64>(f, 16)) -
        (load<f64>(u + column) + load<f64>(v + column) + load<f64>(w + (after(j) << 1)) + load<f64>(w + (after(j + 1) << 1)));
      if (!(gap > 0)) continue;
      cross(e, f);
      offer(6 + 3 * i + j, gap, square, edges);
    }
  }
  return widestAxis >= 0;
}

/** Keeps an axis if the gap along it is larger; `length` and `crossed` are squared. */
// @ts-ignore: decorator
@inline
function offer(which: i32, gap: f64, length: f64, crossed: f64): void {
  if (gap > 0 && gap * gap > widestGap * widestGap * length && length > PARALLEL_SQUARE * crossed) {
    widestGap = gap / sqrt(length);
    widestAxis = which;
  }
}

/** Returns the extent of an edge of each box along an axis of each. */
// @ts-ignore: decorator
@inline
function heights(edge: usize, x: v128, y: v128, z: v128): v128 {
  return f64x2.abs(sumOfThree(v128.load(edge), x, v128.load(edge, 16), y, v128.load(edge, 32), z));
}

/** Computes a · b + c · d + e · f. */
// @ts-ignore: decorator
@inline
export function sumOfThree(a: v128, b: v128, c: v128, d: v128, e: v128, f: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(a, b), f64x2.mul(c, d)), f64x2.mul(e, f));
}

/** Returns the byte offset of the edge after the i-th. */
// @ts-ignore: decorator
@inline
function after(i: i32): usize {
  return i < 2 ? 24 * <usize>(i + 1) : 24 * <usize>(i - 2);
}

let square: f64 = 0;
let edges: f64 = 0;

/** Crosses two edges. */
function cross(e: usize, f: usize): void {
  const ex = load<f64>(e), ey = load<f64>(e, 8), ez = load<f64>(e, 16);
  const fx = load<f64>(f), fy = load<f64>(f, 8), fz = load<f64>(f, 16);
  const x = ey * fz - ez * fy, y = ez * fx - ex * fz, z = ex * fy - ey * fx;
  square = x * x + y * y + z * z;
  edges = (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz);
  axisX = x; axisY = y; axisZ = z;
}

// @ts-ignore: decorator
@inline
function reachOf(a: Affine): f64 {
  return (
    abs(a.xx * axisX + a.xy * axisY + a.xz * axisZ) + abs(a.yx * axisX + a.yy * axisY + a.yz * axisZ) +
    abs(a.zx * axisX + a.zy * axisY + a.zz * axisZ)
  );
}

/**
 * Bounds the second derivative of a height along an axis that turns with two boxes, per unit of `axisProduct`: of n · d, where n
 * is the axis and d leads from a point of the first to one of the second: n'' · d + 2 n' · d' + n · d''. Time is 0 … 1, so speeds
 * are lengths. `far` bounds d, `speed` d', and `bending` d''; the boxes turn by two angles.
 */
export function bendAlong(which: i32, angleA: f64, angleB: f64, far: f64, speed: f64, bending: f64): f64 {
  const rate = (which < 3 || which >= 6 ? angleA : 0) + (which >= 3 ? angleB : 0);
  return rate * rate * far + 2.0 * rate * speed + bending;
}
