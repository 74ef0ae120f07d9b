// Whether two oriented boxes are surely apart: at one time by more than a length, and on the way from one time to another.

import { Affine } from './affine';

/** What rounding may make of a comparison, relative to what goes into it. */
const ROUNDING: f64 = 1e-14;

/**
 * Tells whether two boxes are surely farther from each other than a length: by the axes across their faces, and by the line
 * of their middles.
 */
export function areBeyond(a: Affine, b: Affine, length: f64): bool {
  endA = startA = a;
  endB = startB = b;
  padding = length;
  setWays();
  return isPartedByFaces(a) || isPartedByFaces(b) || isParted(endX, endY, endZ);
}

/**
 * Tells whether two boxes are surely apart on their ways between two places of each, by more than a length: an axis parts
 * them at both ends, on one side. What turns in between is no farther than its sagitta from the chord of each of its points,
 * so the length is the sum of both at least. Axes: those across faces, and across two edges, at the end.
 */
export function arePartedOnWay(fromA: Affine, a: Affine, fromB: Affine, b: Affine, length: f64): bool {
  startA = fromA;
  startB = fromB;
  endA = a;
  endB = b;
  padding = length;
  setWays();
  if (isParted(endX, endY, endZ) || isPartedByFaces(a) || isPartedByFaces(b)) return true;
  for (let i: usize = 0; i < 72; i += 24) {
    const p = changetype<usize>(a) + i, x = load<f64>(p), y = load<f64>(p, 8), z = load<f64>(p, 16);
    for (let j: usize = 0; j < 72; j += 24) {
      const q = changetype<usize>(b) + j, u = load<f64>(q), v = load<f64>(q, 8), w = load<f64>(q, 16);
      if (isParted(y * w - z * v, z * u - x * w, x * v - y * u)) return true;
    }
  }
  return false;
}

/**
 * Tells whether two boxes, which `arePartedOnWay` could not part, are apart all the way by a face that turns with its box. A
 * point of the other box has a height over that which differs from its chord by an eighth of its second derivative at most;
 * `bend` bounds that for faces of the first box, and `otherBend` for those of the second.
 */
export function arePartedByTurningFaces(bend: f64, otherBend: f64): bool {
  return (
    isPartedByTurningFaces(startA, endA, startB, endB, 0.125 * bend) ||
    isPartedByTurningFaces(startB, endB, startA, endA, 0.125 * otherBend)
  );
}

function isPartedByTurningFaces(fromA: Affine, a: Affine, fromB: Affine, b: Affine, most: f64): bool {
  const p = changetype<usize>(a), q = changetype<usize>(fromA);
  for (let i: usize = 0; i < 72; i += 24) {
    // The axis is an edge, which turns with its box whether that is oblique or not.
    const x = load<f64>(p + i), y = load<f64>(p + i, 8), z = load<f64>(p + i, 16);
    const u = load<f64>(q + i), v = load<f64>(q + i, 8), w = load<f64>(q + i, 16);
    const at = endX * x + endY * y + endZ * z, before = startX * u + startY * v + startZ * w;
    const side: f64 = at < 0 ? -1 : 1;
    const length = sqrt(x * x + y * y + z * z), old = sqrt(u * u + v * v + w * w);
    const gap = (abs(at) - reachOf(a, x, y, z) - reachOf(b, x, y, z)) / length;
    if (!(gap > most)) continue;
    const gapBefore = (side * before - reachOf(fromA, u, v, w) - reachOf(fromB, u, v, w)) / old;
    const rounding = ROUNDING * ((abs(at) + abs(before)) / min(length, old));
    if (min(gap, gapBefore) - most > rounding) return true;
  }
  return false;
}

let startA: Affine = changetype<Affine>(0), endA: Affine = changetype<Affine>(0);
let startB: Affine = changetype<Affine>(0), endB: Affine = changetype<Affine>(0);
let padding: f64 = 0;
/** From the first box's middle to the second's, at both ends. */
let startX: f64 = 0, startY: f64 = 0, startZ: f64 = 0;
let endX: f64 = 0, endY: f64 = 0, endZ: f64 = 0;

function setWays(): void {
  startX = startB.tx - startA.tx; startY = startB.ty - startA.ty; startZ = startB.tz - startA.tz;
  endX = endB.tx - endA.tx; endY = endB.ty - endA.ty; endZ = endB.tz - endA.tz;
}

function isPartedByFaces(a: Affine): bool {
  return (
    isParted(a.yy * a.zz - a.yz * a.zy, a.yz * a.zx - a.yx * a.zz, a.yx * a.zy - a.yy * a.zx) ||
    isParted(a.zy * a.xz - a.zz * a.xy, a.zz * a.xx - a.zx * a.xz, a.zx * a.xy - a.zy * a.xx) ||
    isParted(a.xy * a.yz - a.xz * a.yy, a.xz * a.yx - a.xx * a.yz, a.xx * a.yy - a.xy * a.yx)
  );
}

/** Tests one axis, of any length. */
// @ts-ignore: decorator
@inline
function isParted(x: f64, y: f64, z: f64): bool {
  const at = endX * x + endY * y + endZ * z;
  const reach = reachOf(endA, x, y, z) + reachOf(endB, x, y, z);
  const far = abs(at);
  if (!(far - reach > ROUNDING * (far + reach))) return false;
  return isFar(x, y, z, at, far - reach);
}

function isFar(x: f64, y: f64, z: f64, at: f64, gap: f64): bool {
  const length = padding * sqrt(x * x + y * y + z * z);
  const before = (startX * x + startY * y + startZ * z) * (at < 0 ? -1.0 : 1.0);
  const reach = reachOf(startA, x, y, z) + reachOf(startB, x, y, z);
  const least = min(gap, before - reach);
  return least - length > ROUNDING * (abs(at) + abs(before) + reach + length);
}

// @ts-ignore: decorator
@inline
function reachOf(a: Affine, x: f64, y: f64, z: f64): f64 {
  return abs(a.xx * x + a.xy * y + a.xz * z) + abs(a.yx * x + a.yy * y + a.yz * z) + abs(a.zx * x + a.zy * y + a.zz * z);
}
