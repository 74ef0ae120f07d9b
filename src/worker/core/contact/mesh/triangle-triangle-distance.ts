// Where two triangles are nearest to one another: a corner of one over the other, or two edges.

import * as closest from '../../math/closest';
import { Triangle } from '../../math/triangles';

/** The point of the first triangle that is nearest to the second. */
export let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;

let best: f64 = 0;
const moved = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** Answers the squared distance of two triangles that do not intersect, and sets the nearest point. */
export function nearestOfTriangles(p: Triangle, q: Triangle): f64 {
  best = Infinity;
  const p0 = changetype<usize>(p), q0 = changetype<usize>(q);
  for (let i: usize = 0; i < 72; i += 24) {
    cornerTo(p0 + i, q0, false);
    cornerTo(q0 + i, p0, true);
    for (let j: usize = 0; j < 72; j += 24) {
      edges(p0 + i, p0 + (i == 48 ? 0 : i + 24), q0 + j, q0 + (j == 48 ? 0 : j + 24));
    }
  }
  return best;
}

function cornerTo(corner: usize, t: usize, isOfSecond: bool): void {
  const x = load<f64>(corner), y = load<f64>(corner, 8), z = load<f64>(corner, 16);
  for (let to = changetype<usize>(moved), end = to + 72; to < end; to += 24, t += 24) {
    store<f64>(to, load<f64>(t) - x);
    store<f64>(to, load<f64>(t, 8) - y, 8);
    store<f64>(to, load<f64>(t, 16) - z, 16);
  }
  const square = closest.nearestOfTriangle(moved, best);
  if (!(square < best)) return;
  best = square;
  nearestX = isOfSecond ? x + closest.nearestX : x;
  nearestY = isOfSecond ? y + closest.nearestY : y;
  nearestZ = isOfSecond ? z + closest.nearestZ : z;
}

/**
 * Compares two edges where both are nearest to each other between their ends (Ericson, Real-Time Collision Detection,
 * 2005, 5.1.9).
 */
function edges(a: usize, b: usize, c: usize, d: usize): void {
  const ax = load<f64>(a), ay = load<f64>(a, 8), az = load<f64>(a, 16);
  const cx = load<f64>(c), cy = load<f64>(c, 8), cz = load<f64>(c, 16);
  const ex = load<f64>(b) - ax, ey = load<f64>(b, 8) - ay, ez = load<f64>(b, 16) - az;
  const fx = load<f64>(d) - cx, fy = load<f64>(d, 8) - cy, fz = load<f64>(d, 16) - cz;
  const wx = ax - cx, wy = ay - cy, wz = az - cz;
  const ee = ex * ex + ey * ey + ez * ez, ff = fx * fx + fy * fy + fz * fz, ef = ex * fx + ey * fy + ez * fz;
  const ew = ex * wx + ey * wy + ez * wz, fw = fx * wx + fy * wy + fz * wz;
  const area = ee * ff - ef * ef;
  const s = (ef * fw - ew * ff) / area, t = (ee * fw - ew * ef) / area;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return;
  const dx = wx + s * ex - t * fx, dy = wy + s * ey - t * fy, dz = wz + s * ez - t * fz;
  const square = dx * dx + dy * dy + dz * dz;
  if (!(square < best)) return;
  best = square;
  nearestX = ax + s * ex;
  nearestY = ay + s * ey;
  nearestZ = az + s * ez;
}
