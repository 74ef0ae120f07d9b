// The candidate separating axes of two oriented boxes, by number: perpendicular to a face of the first, of the second from 3 on,
// and from 6 on to edge i of the first and j of the second, 6 + 3 i + j. An axis is the cross product of two edges without
// normalisation, so it turns with the boxes, even skewed ones. Boxes are maps from the cube [-1, 1]³: columns are half of their
// edges. float64.

import { Affine } from './affine';
import { swapLanes } from './predicates';

/**
 * The axis that was set last, and the product of the lengths of the two edges that it crosses; for a face, the axis' own length.
 */
export let axisX: f64 = 0, axisY: f64 = 0, axisZ: f64 = 0;
export let axisProduct: f64 = 0;

/**
 * Distance of the second box's centre from the first's along the axis, and the sum of both extents; both times the axis' length.
 */
export let centerDistance: f64 = 0;
export let radiusSum: f64 = 0;

/** Squared sine of the angle below which two edges count as parallel. */
const MIN_SINE_SQUARED: f64 = 1e-12;

/** Sets an axis by its number, and projects the two boxes on it. */
export function setBoxAxis(axis: i32, a: Affine, b: Affine): void {
  setAxis(axis, changetype<usize>(a), changetype<usize>(b));
  projectBoxes(a, b);
}

/** Sets an axis by its number and the addresses of the edges of both boxes, nine contiguous float64 each. */
export function setAxis(axis: i32, p: usize, q: usize): void {
  if (axis >= 6) {
    const i = (axis - 6) / 3;
    crossEdges(p + 24 * <usize>i, q + 24 * <usize>(axis - 6 - 3 * i));
    axisProduct = sqrt(edgeProductSquared);
  } else {
    const faces = axis < 3 ? p : q, i = axis < 3 ? axis : axis - 3;
    crossEdges(faces + nextEdgeOffset(i), faces + nextEdgeOffset(i + 1));
    axisProduct = sqrt(axisLengthSquared);
  }
}

/** Projects two boxes on the axis that was set last. */
function projectBoxes(a: Affine, b: Affine): void {
  centerDistance = axisX * (b.tx - a.tx) + axisY * (b.ty - a.ty) + axisZ * (b.tz - a.tz);
  radiusSum = projectedRadius(a) + projectedRadius(b);
}

/** The number of the axis that was found last, and the gap along it. */
export let widestAxis: i32 = -1;
export let widestGap: f64 = 0;

/** The edges of both boxes, a lane each: nine vectors of two float64. */
const edgePairs: usize = memory.data(9 * 16, 16);
/** Extent of edge k of the other box along face i's axis of each, a lane each, 3 i + k. */
const edgeExtents: usize = memory.data(9 * 16, 16);

/**
 * Finds the axis along which the gap between two boxes is largest. Returns false if it is no more than a length. The face axes of
 * both boxes are processed together, a lane each. The extent of an edge along a cross product of two others is the same for all
 * that form the same triple product (Gottschalk, "Collision Queries using Oriented Bounding Boxes", 2000).
 */
export function findWidestAxis(a: Affine, b: Affine, minGap: f64): bool {
  widestGap = minGap;
  widestAxis = -1;
  const p = changetype<usize>(a), q = changetype<usize>(b);
  const x = b.tx - a.tx, y = b.ty - a.ty, z = b.tz - a.tz;
  for (let i: usize = 0; i < 72; i += 8) v128.store(edgePairs + (i << 1), v128.load64_lane(q + i, v128.load64_zero(p + i), 1));
  for (let i: usize = 0; i < 3; i++) {
    const e = edgePairs + (nextEdgeOffset(<i32>i) << 1), f = edgePairs + (nextEdgeOffset(<i32>i + 1) << 1),
      faceEdge = edgePairs + i * 48, row = edgeExtents + i * 48;
    const ex = v128.load(e), ey = v128.load(e, 16), ez = v128.load(e, 32);
    const fx = v128.load(f), fy = v128.load(f, 16), fz = v128.load(f, 32);
    const nx = f64x2.sub(f64x2.mul(ey, fz), f64x2.mul(ez, fy)), ny = f64x2.sub(f64x2.mul(ez, fx), f64x2.mul(ex, fz));
    const nz = f64x2.sub(f64x2.mul(ex, fy), f64x2.mul(ey, fx));
    // The other box's edges are in the other lane.
    const mx = swapLanes(nx), my = swapLanes(ny), mz = swapLanes(nz);
    const r0 = swapLanes(edgeExtent(edgePairs, mx, my, mz)), r1 = swapLanes(edgeExtent(edgePairs + 48, mx, my, mz)),
      r2 = swapLanes(edgeExtent(edgePairs + 96, mx, my, mz));
    v128.store(row, r0);
    v128.store(row, r1, 16);
    v128.store(row, r2, 32);
    const radiusSums = f64x2.add(f64x2.add(r0, r1), f64x2.add(r2, edgeExtent(faceEdge, nx, ny, nz)));
    const gaps = f64x2.sub(f64x2.abs(sumOfThree(nx, f64x2.splat(x), ny, f64x2.splat(y), nz, f64x2.splat(z))), radiusSums);
    if (i64x2.bitmask(f64x2.gt(gaps, f64x2.splat(0))) == 0) continue;
    const lengthsSquared = sumOfThree(nx, nx, ny, ny, nz, nz);
    const edgeProductsSquared = f64x2.mul(sumOfThree(ex, ex, ey, ey, ez, ez), sumOfThree(fx, fx, fy, fy, fz, fz));
    offerAxis(<i32>i, f64x2.extract_lane(gaps, 0), f64x2.extract_lane(lengthsSquared, 0),
      f64x2.extract_lane(edgeProductsSquared, 0));
    offerAxis(<i32>i + 3, f64x2.extract_lane(gaps, 1), f64x2.extract_lane(lengthsSquared, 1),
      f64x2.extract_lane(edgeProductsSquared, 1));
  }
  for (let i = 0; i < 3; i++) {
    const e = p + <usize>i * 24;
    const ex = load<f64>(e), ey = load<f64>(e, 8), ez = load<f64>(e, 16);
    const cx = y * ez - z * ey, cy = z * ex - x * ez, cz = x * ey - y * ex;
    // Extents of edge i along the axes of the faces of the first box that contain it, and along those of the second.
    const u = edgeExtents + (nextEdgeOffset(i) << 1), v = edgeExtents + (nextEdgeOffset(i + 1) << 1),
      w = edgeExtents + 8 + (<usize>i << 4);
    for (let j = 0; j < 3; j++) {
      const f = q + <usize>j * 24, column = <usize>j << 4;
      const gap =
        abs(cx * load<f64>(f) + cy * load<f64>(f, 8) + cz * load<f64>(f, 16)) -
        (load<f64>(u + column) + load<f64>(v + column) + load<f64>(w + (nextEdgeOffset(j) << 1)) +
          load<f64>(w + (nextEdgeOffset(j + 1) << 1)));
      if (!(gap > 0)) continue;
      crossEdges(e, f);
      offerAxis(6 + 3 * i + j, gap, axisLengthSquared, edgeProductSquared);
    }
  }
  return widestAxis >= 0;
}

/** Keeps an axis if the gap along it is larger; `lengthSquared` and `edgeProductSquared` are squared. */
// @ts-ignore: decorator
@inline
function offerAxis(axis: i32, gap: f64, lengthSquared: f64, edgeProductSquared: f64): void {
  if (gap > 0 && gap * gap > widestGap * widestGap * lengthSquared && lengthSquared > MIN_SINE_SQUARED * edgeProductSquared) {
    widestGap = gap / sqrt(lengthSquared);
    widestAxis = axis;
  }
}

/** Returns the extent of an edge of each box along an axis of each. */
// @ts-ignore: decorator
@inline
function edgeExtent(edge: usize, x: v128, y: v128, z: v128): v128 {
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
function nextEdgeOffset(i: i32): usize {
  return i < 2 ? 24 * <usize>(i + 1) : 24 * <usize>(i - 2);
}

let axisLengthSquared: f64 = 0;
let edgeProductSquared: f64 = 0;

/** Crosses two edges. */
function crossEdges(e: usize, f: usize): void {
  const ex = load<f64>(e), ey = load<f64>(e, 8), ez = load<f64>(e, 16);
  const fx = load<f64>(f), fy = load<f64>(f, 8), fz = load<f64>(f, 16);
  const x = ey * fz - ez * fy, y = ez * fx - ex * fz, z = ex * fy - ey * fx;
  axisLengthSquared = x * x + y * y + z * z;
  edgeProductSquared = (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz);
  axisX = x; axisY = y; axisZ = z;
}

// @ts-ignore: decorator
@inline
function projectedRadius(a: Affine): f64 {
  return (
    abs(a.xx * axisX + a.xy * axisY + a.xz * axisZ) + abs(a.yx * axisX + a.yy * axisY + a.yz * axisZ) +
    abs(a.zx * axisX + a.zy * axisY + a.zz * axisZ)
  );
}

/**
 * Bounds the second derivative of a height along an axis that turns with two boxes, per unit of `axisProduct`: of n · d, where n
 * is the axis and d leads from a point of the first to one of the second: n'' · d + 2 n' · d' + n · d''. Time is 0 … 1, so speeds
 * are lengths. `maxDistance` bounds d, `maxSpeed` d', and `maxAcceleration` d''; the boxes turn by two angles.
 */
export function boundSecondDerivative(axis: i32, angleA: f64, angleB: f64, maxDistance: f64, maxSpeed: f64,
  maxAcceleration: f64): f64 {
  const angularSpeed = (axis < 3 || axis >= 6 ? angleA : 0) + (axis >= 3 ? angleB : 0);
  return angularSpeed * angularSpeed * maxDistance + 2.0 * angularSpeed * maxSpeed + maxAcceleration;
}
