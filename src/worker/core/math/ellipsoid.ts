// Distances from an ellipsoid: the image of the unit ball under a linear map N. The point of it that is closest to c
// minimises |N u - c| over |u| <= 1, which is a trust-region problem: the singular values of N reduce it to the root of
// one monotone function of one number (Moré and Sorensen, "Computing a Trust Region Step", 1983; for ellipsoids also
// Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid", 2013). The distance from a segment
// or a parallelogram becomes one from a point again, once the directions along it are projected away.

import { Affine, copy, setIdentity } from './affine';
import { orthogonalise } from './jacobi';
import { Triangle } from './triangles';

/** The linear map N, then its result under one-sided Jacobi rotations: orthogonal columns, w = N · v. */
const form = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const formW = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const formV = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
// The same for a projection of it.
const flatW = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const flatV = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The closest point of the ellipsoid, relative to its centre. */
export let surfaceX: f64 = 0;
export let surfaceY: f64 = 0;
export let surfaceZ: f64 = 0;
/** The closest point of the point, segment or parallelogram, relative to the ellipsoid's centre. */
export let footX: f64 = 0;
export let footY: f64 = 0;
export let footZ: f64 = 0;

/** Sets the ellipsoid for the queries that follow; the map's translation does not matter. */
export function setEllipsoid(map: Affine): void {
  copy(form, map);
  copy(formW, map);
  setIdentity(formV);
  orthogonalise(formW, formV);
}

/** Returns component 0, 1 or 2 of the direction of the unit ball that the map takes to axis i of the ellipsoid. */
export function axisOf(i: usize, component: usize): f64 {
  return load<f64>(changetype<usize>(formV) + i * 24 + (component << 3));
}

// The solution in the rotated directions.
let y0: f64 = 0, y1: f64 = 0, y2: f64 = 0;

/**
 * Minimises |w y - c| over |y| <= 1. Returns whether |y| is less than 1 at the minimum. Columns shorter than `minRatio`
 * times the longest count as zero up to rounding.
 */
function solve(w: Affine, cx: f64, cy: f64, cz: f64, minRatio: f64): bool {
  let l0 = w.xx * w.xx + w.xy * w.xy + w.xz * w.xz, g0 = w.xx * cx + w.xy * cy + w.xz * cz;
  let l1 = w.yx * w.yx + w.yy * w.yy + w.yz * w.yz, g1 = w.yx * cx + w.yy * cy + w.yz * cz;
  let l2 = w.zx * w.zx + w.zy * w.zy + w.zz * w.zz, g2 = w.zx * cx + w.zy * cy + w.zz * cz;
  const minLengthSquared = max(max(l0, l1), l2) * minRatio * minRatio;
  if (l0 <= minLengthSquared) { l0 = 1; g0 = 0; }
  if (l1 <= minLengthSquared) { l1 = 1; g1 = 0; }
  if (l2 <= minLengthSquared) { l2 = 1; g2 = 0; }
  y0 = g0 / l0;
  y1 = g1 / l1;
  y2 = g2 / l2;
  if (y0 * y0 + y1 * y1 + y2 * y2 <= 1) return true;
  // The root of |y(mu)| = 1 with y = g / (l + mu): below `lower`, a term would exceed 1; at `upper`,
  // the norm with l = 0 is 1.
  let lower = max(max(max(abs(g0) - l0, abs(g1) - l1), abs(g2) - l2), 0.0);
  let upper = sqrt(g0 * g0 + g1 * g1 + g2 * g2);
  let mu = lower;
  let norm: f64 = 1;
  for (let step = 0; step < 100; step++) {
    const d0 = l0 + mu, d1 = l1 + mu, d2 = l2 + mu;
    y0 = g0 / d0;
    y1 = g1 / d1;
    y2 = g2 / d2;
    const normSquared = y0 * y0 + y1 * y1 + y2 * y2;
    norm = sqrt(normSquared);
    if (abs(norm - 1) <= 2.220446049250313e-16) break;
    if (norm > 1) lower = mu;
    else upper = mu;
    // Newton's step for 1 / |y(mu)|, which is nearly linear.
    let next = mu + (normSquared / (y0 * y0 / d0 + y1 * y1 / d1 + y2 * y2 / d2)) * (norm - 1);
    if (!(next > lower && next < upper)) next = 0.5 * (lower + upper);
    if (next == mu || next == lower || next == upper) break;
    mu = next;
  }
  y0 /= norm;
  y1 /= norm;
  y2 /= norm;
  return false;
}

/** Returns the squared distance of c from the solid ellipsoid about the origin. */
export function ellipsoidToPoint(cx: f64, cy: f64, cz: f64): f64 {
  footX = cx;
  footY = cy;
  footZ = cz;
  if (solve(formW, cx, cy, cz, 0)) {
    surfaceX = cx;
    surfaceY = cy;
    surfaceZ = cz;
    return 0;
  }
  surfaceX = formW.xx * y0 + formW.yx * y1 + formW.zx * y2;
  surfaceY = formW.xy * y0 + formW.yy * y1 + formW.zy * y2;
  surfaceZ = formW.xz * y0 + formW.yz * y1 + formW.zz * y2;
  const dx = surfaceX - cx, dy = surfaceY - cy, dz = surfaceZ - cz;
  return dx * dx + dy * dy + dz * dz;
}

/** Returns the squared distance of the segment from p - a to p + a from the ellipsoid. */
export function ellipsoidToSegment(px: f64, py: f64, pz: f64, ax: f64, ay: f64, az: f64): f64 {
  const length = sqrt(ax * ax + ay * ay + az * az);
  if (length == 0) return ellipsoidToPoint(px, py, pz);
  const x = ax / length, y = ay / length, z = az / length;
  for (let at: usize = 0; at < 72; at += 24) {
    const from = changetype<usize>(form) + at, to = changetype<usize>(flatW) + at;
    const nx = load<f64>(from), ny = load<f64>(from, 8), nz = load<f64>(from, 16);
    const along = nx * x + ny * y + nz * z;
    store<f64>(to, nx - along * x);
    store<f64>(to, ny - along * y, 8);
    store<f64>(to, nz - along * z, 16);
  }
  setIdentity(flatV);
  orthogonalise(flatW, flatV);
  const along = px * x + py * y + pz * z;
  solve(flatW, px - along * x, py - along * y, pz - along * z, 1e-14);
  const u = flatV.xx * y0 + flatV.yx * y1 + flatV.zx * y2;
  const v = flatV.xy * y0 + flatV.yy * y1 + flatV.zy * y2;
  const w = flatV.xz * y0 + flatV.yz * y1 + flatV.zz * y2;
  const sx = form.xx * u + form.yx * v + form.zx * w;
  const sy = form.xy * u + form.yy * v + form.zy * w;
  const sz = form.xz * u + form.yz * v + form.zz * w;
  // The line's closest point; distances grow away from it, so the segment's is its end if the line's is beyond it.
  const t = max(min((sx * x + sy * y + sz * z - along) / length, 1.0), -1.0);
  return ellipsoidToPoint(px + t * ax, py + t * ay, pz + t * az);
}

/** Returns the squared distance from the ellipsoid of the parallelogram of all p + s a + t b with s and t in [-1, 1]. */
export function ellipsoidToParallelogram(
  px: f64, py: f64, pz: f64, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64,
): f64 {
  const nx = ay * bz - az * by, ny = az * bx - ax * bz, nz = ax * by - ay * bx;
  const normalLengthSquared = nx * nx + ny * ny + nz * nz;
  const aa = ax * ax + ay * ay + az * az, bb = bx * bx + by * by + bz * bz;
  if (normalLengthSquared <= aa * bb * 1e-26) {
    // Practically a segment.
    const sign = ax * bx + ay * by + az * bz < 0 ? -1.0 : 1.0;
    return ellipsoidToSegment(px, py, pz, ax + sign * bx, ay + sign * by, az + sign * bz);
  }
  // Along the normal the ellipsoid is a segment: its point there that is closest to the plane.
  const length = sqrt(normalLengthSquared);
  const x = nx / length, y = ny / length, z = nz / length;
  const u = form.xx * x + form.xy * y + form.xz * z;
  const v = form.yx * x + form.yy * y + form.yz * z;
  const w = form.zx * x + form.zy * y + form.zz * z;
  const extent = sqrt(u * u + v * v + w * w);
  const fraction = max(min((px * x + py * y + pz * z) / extent, 1.0), -1.0) / extent;
  const dx = fraction * (form.xx * u + form.yx * v + form.zx * w) - px;
  const dy = fraction * (form.xy * u + form.yy * v + form.zy * w) - py;
  const dz = fraction * (form.xz * u + form.yz * v + form.zz * w) - pz;
  const s = (x * (dy * bz - dz * by) + y * (dz * bx - dx * bz) + z * (dx * by - dy * bx)) / length;
  const t = (x * (ay * dz - az * dy) + y * (az * dx - ax * dz) + z * (ax * dy - ay * dx)) / length;
  if (abs(s) <= 1 && abs(t) <= 1) {
    return ellipsoidToPoint(px + s * ax + t * bx, py + s * ay + t * by, pz + s * az + t * bz);
  }
  // Beyond an edge: as the distance is convex, the closest point is on such an edge.
  let minDistanceSquared = Infinity;
  if (abs(s) > 1) {
    const sign = s < 0 ? -1.0 : 1.0;
    minDistanceSquared = ellipsoidToSegment(px + sign * ax, py + sign * ay, pz + sign * az, bx, by, bz);
  }
  if (abs(t) <= 1) return minDistanceSquared;
  const sx = surfaceX, sy = surfaceY, sz = surfaceZ, fx = footX, fy = footY, fz = footZ;
  const sign = t < 0 ? -1.0 : 1.0;
  const distanceSquared = ellipsoidToSegment(px + sign * bx, py + sign * by, pz + sign * bz, ax, ay, az);
  if (distanceSquared < minDistanceSquared) return distanceSquared;
  surfaceX = sx; surfaceY = sy; surfaceZ = sz;
  footX = fx; footY = fy; footZ = fz;
  return minDistanceSquared;
}

/**
 * Returns the squared distance of a triangle from the ellipsoid. If the foot on its plane is outside of the triangle,
 * the closest point is on an edge, as the distance is convex.
 */
export function ellipsoidToTriangle(t: Triangle): f64 {
  const ex = t.bx - t.ax, ey = t.by - t.ay, ez = t.bz - t.az;
  const fx = t.cx - t.ax, fy = t.cy - t.ay, fz = t.cz - t.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const normalLengthSquared = nx * nx + ny * ny + nz * nz;
  if (normalLengthSquared > (ex * ex + ey * ey + ez * ez) * (fx * fx + fy * fy + fz * fz) * 1e-26) {
    // Along the normal the ellipsoid is a segment: its point there that is closest to the plane.
    const length = sqrt(normalLengthSquared), x = nx / length, y = ny / length, z = nz / length;
    const u = form.xx * x + form.xy * y + form.xz * z;
    const v = form.yx * x + form.yy * y + form.yz * z;
    const w = form.zx * x + form.zy * y + form.zz * z;
    const extent = sqrt(u * u + v * v + w * w);
    const fraction = max(min((t.ax * x + t.ay * y + t.az * z) / extent, 1.0), -1.0) / extent;
    const dx = fraction * (form.xx * u + form.yx * v + form.zx * w) - t.ax;
    const dy = fraction * (form.xy * u + form.yy * v + form.zy * w) - t.ay;
    const dz = fraction * (form.xz * u + form.yz * v + form.zz * w) - t.az;
    const p = (x * (dy * fz - dz * fy) + y * (dz * fx - dx * fz) + z * (dx * fy - dy * fx)) / length;
    const q = (x * (ey * dz - ez * dy) + y * (ez * dx - ex * dz) + z * (ex * dy - ey * dx)) / length;
    if (p >= 0 && q >= 0 && p + q <= 1) {
      return ellipsoidToPoint(t.ax + p * ex + q * fx, t.ay + p * ey + q * fy, t.az + p * ez + q * fz);
    }
  }
  let minDistanceSquared = ellipsoidToEdge(t.ax, t.ay, t.az, t.bx, t.by, t.bz);
  let sx = surfaceX, sy = surfaceY, sz = surfaceZ, px = footX, py = footY, pz = footZ;
  let distanceSquared = ellipsoidToEdge(t.bx, t.by, t.bz, t.cx, t.cy, t.cz);
  if (distanceSquared < minDistanceSquared) {
    minDistanceSquared = distanceSquared;
    sx = surfaceX; sy = surfaceY; sz = surfaceZ; px = footX; py = footY; pz = footZ;
  }
  distanceSquared = ellipsoidToEdge(t.cx, t.cy, t.cz, t.ax, t.ay, t.az);
  if (distanceSquared < minDistanceSquared) return distanceSquared;
  surfaceX = sx; surfaceY = sy; surfaceZ = sz;
  footX = px; footY = py; footZ = pz;
  return minDistanceSquared;
}

function ellipsoidToEdge(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): f64 {
  return ellipsoidToSegment(
    0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz), 0.5 * (bx - ax), 0.5 * (by - ay), 0.5 * (bz - az),
  );
}
