// The axes that may part two oriented boxes, by number: across a face of the first, of the second from 3 on, and from 6 on across
// edge i of the first and j of the second, 6 + 3 i + j. An axis is a cross product of two edges as it is, so that it turns with
// the boxes, oblique ones, too. Boxes are maps from the cube [-1, 1]³: columns are half of their edges. float64.

import { Affine } from './affine';

/** The axis that was set last, and how long the two edges that it crosses are, multiplied: of a face, its own length. */
export let axisX: f64 = 0, axisY: f64 = 0, axisZ: f64 = 0;
export let axisProduct: f64 = 0;

/** How far the second one's middle is from the first's along it, and how far both reach; both times the axis' length. */
export let alongAxis: f64 = 0;
export let reachAlong: f64 = 0;

/** The sine of the angle below which two edges count as parallel, squared. */
const PARALLEL_SQUARE: f64 = 1e-12;

/** Sets an axis by its number, and projects the two on it. */
export function setBoxAxis(which: i32, a: Affine, b: Affine): void {
  const p = changetype<usize>(a), q = changetype<usize>(b);
  if (which >= 6) {
    const i = (which - 6) / 3;
    cross(p + 24 * <usize>i, q + 24 * <usize>(which - 6 - 3 * i));
    axisProduct = sqrt(edges);
  } else {
    const faces = which < 3 ? p : q, i = which < 3 ? which : which - 3;
    cross(faces + after(i), faces + after(i + 1));
    axisProduct = sqrt(square);
  }
  projectBoxes(a, b);
}

/** Projects two boxes on the axis that was set last. */
export function projectBoxes(a: Affine, b: Affine): void {
  alongAxis = axisX * (b.tx - a.tx) + axisY * (b.ty - a.ty) + axisZ * (b.tz - a.tz);
  reachAlong = reachOf(a) + reachOf(b);
}

/** The number of the axis that was found last, and how far the two are apart along it. */
export let widestAxis: i32 = -1;
export let widestGap: f64 = 0;

/** Finds the axis along which two boxes are farthest apart. Answers false where that is no more than a length. */
export function findWidestAxis(a: Affine, b: Affine, least: f64): bool {
  widestGap = least;
  widestAxis = -1;
  const p = changetype<usize>(a), q = changetype<usize>(b);
  for (let i = 0; i < 3; i++) {
    cross(p + after(i), p + after(i + 1));
    offer(i, a, b);
    cross(q + after(i), q + after(i + 1));
    offer(3 + i, a, b);
    for (let j = 0; j < 3; j++) {
      cross(p + 24 * <usize>i, q + 24 * <usize>j);
      offer(6 + 3 * i + j, a, b);
    }
  }
  return widestAxis >= 0;
}

function offer(which: i32, a: Affine, b: Affine): void {
  if (!(square > PARALLEL_SQUARE * edges)) return;
  projectBoxes(a, b);
  const gap = abs(alongAxis) - reachAlong;
  if (!(gap > 0 && gap * gap > widestGap * widestGap * square)) return;
  widestGap = gap / sqrt(square);
  widestAxis = which;
}

/** Answers where the edge after the i-th is, in bytes. */
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
 * Bounds the second derivative of a height along an axis that turns with two boxes, for each unit of `axisProduct`: of n · d, where
 * n is the axis and d leads from a point of the first to one of the second, that is n'' · d + 2 n' · d' + n · d''. Time is 0 … 1, so
 * speeds are lengths of ways. `far` bounds d, `speed` d', and `bending` d''; the boxes turn by two angles.
 */
export function bendAlong(which: i32, angleA: f64, angleB: f64, far: f64, speed: f64, bending: f64): f64 {
  const rate = (which < 3 || which >= 6 ? angleA : 0) + (which >= 3 ? angleB : 0);
  return rate * rate * far + 2.0 * rate * speed + bending;
}
