// Where two triangles that meet cut each other. Exact signs decide which edges end the segment, as in the test for
// whether they meet (Guigue and Devillers, "Fast and Robust Triangle-Triangle Overlap Test Using Orientation
// Predicates", 2003); on these edges the ends are found from volumes of which eleven digits are right, so that each
// lies on both triangles, however flat or long these are and however close to one plane.

import { Affine } from './affine';
import { accurateOrient2d, accurateOrient3d, orient2d } from './predicates';
import { PLANES_AGREE, Triangle, a, arrange, b, c, d, e, f, orient } from './triangles';

/** The ends, in the space that `cutTriangles` maps to. */
export let fromX: f64 = 0, fromY: f64 = 0, fromZ: f64 = 0;
export let toX: f64 = 0, toY: f64 = 0, toZ: f64 = 0;

/**
 * Of two triangles that do meet: the segment, a point where they only touch, and the longest extent of what they share
 * where they lie in one plane. `m` maps it to where that is measured.
 */
export function cutTriangles(p: Triangle, q: Triangle, m: Affine): void {
  pointCount = 0;
  if (arrange(p, q) == PLANES_AGREE) {
    shareInPlane(p, q, m);
    return;
  }
  // The later of the two starts, and the earlier of the two ends.
  if (orient(a, c, d, e) <= 0) crossPlane(a, c, q, m);
  else crossPlane(d, e, p, m);
  if (orient(a, b, d, f) <= 0) crossPlane(d, f, p, m);
  else crossPlane(a, b, q, m);
  setEnds(0, 1);
}

// Points of what the triangles share, at most three corners of each and nine crossings of edges.
const points: usize = memory.data(15 * 24, 16);
let pointCount: u32 = 0;

function addPoint(x: f64, y: f64, z: f64, m: Affine): void {
  const at = points + <usize>pointCount * 24;
  pointCount++;
  store<f64>(at, m.xx * x + m.yx * y + m.zx * z + m.tx);
  store<f64>(at, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
  store<f64>(at, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}

function setEnds(from: u32, to: u32): void {
  const first = points + <usize>from * 24, last = points + <usize>to * 24;
  fromX = load<f64>(first);
  fromY = load<f64>(first, 8);
  fromZ = load<f64>(first, 16);
  toX = load<f64>(last);
  toY = load<f64>(last, 8);
  toZ = load<f64>(last, 16);
}

/** Adds the point of an edge, from u to v, on the plane of a triangle. */
function crossPlane(u: usize, v: usize, t: Triangle, m: Affine): void {
  divide(u, v, heightOf(u, t), heightOf(v, t), m);
}

function heightOf(corner: usize, t: Triangle): f64 {
  return accurateOrient3d(
    t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz,
    load<f64>(corner), load<f64>(corner, 8), load<f64>(corner, 16),
  );
}

/** Adds the point of an edge at height 0, from the nearer end, of heights that are not of one sign. */
function divide(u: usize, v: usize, heightU: f64, heightV: f64, m: Affine): void {
  const isNearV = abs(heightV) < abs(heightU);
  const near = isNearV ? v : u, far = isNearV ? u : v;
  const t = isNearV ? heightV / (heightV - heightU) : heightU / (heightU - heightV);
  const x = load<f64>(near), y = load<f64>(near, 8), z = load<f64>(near, 16);
  addPoint(x + t * (load<f64>(far) - x), y + t * (load<f64>(far, 8) - y), z + t * (load<f64>(far, 16) - z), m);
}

// --- in one plane ---

// Where the two coordinates are, in bytes, that leave the plane the largest area.
let u: usize = 0, v: usize = 8;

function shareInPlane(p: Triangle, q: Triangle, m: Affine): void {
  const x = abs(orient2d(p.ay, p.az, p.by, p.bz, p.cy, p.cz));
  const y = abs(orient2d(p.az, p.ax, p.bz, p.bx, p.cz, p.cx));
  const z = abs(orient2d(p.ax, p.ay, p.bx, p.by, p.cx, p.cy));
  u = x >= y && x >= z ? 8 : 0;
  v = z > x && z > y ? 8 : 16;
  addCornersIn(p, q, m);
  addCornersIn(q, p, m);
  for (let i: usize = 0; i < 72; i += 24) {
    for (let j: usize = 0; j < 72; j += 24) {
      addCrossing(
        changetype<usize>(p) + i, changetype<usize>(p) + next(i), changetype<usize>(q) + j, changetype<usize>(q) + next(j), m,
      );
    }
  }
  let first: u32 = 0, last: u32 = 0;
  let greatest: f64 = 0;
  for (let i: u32 = 0; i < pointCount; i++) {
    for (let j = i + 1; j < pointCount; j++) {
      const distance = squaredDistance(i, j);
      if (distance <= greatest) continue;
      greatest = distance;
      first = i;
      last = j;
    }
  }
  setEnds(first, last);
}

// @ts-ignore: decorator
@inline
function next(corner: usize): usize {
  return corner == 48 ? 0 : corner + 24;
}

function squaredDistance(i: u32, j: u32): f64 {
  const one = points + <usize>i * 24, other = points + <usize>j * 24;
  const x = load<f64>(one) - load<f64>(other);
  const y = load<f64>(one, 8) - load<f64>(other, 8);
  const z = load<f64>(one, 16) - load<f64>(other, 16);
  return x * x + y * y + z * z;
}

/** The corners of `t` that are in `o`, its border included. */
function addCornersIn(t: Triangle, o: Triangle, m: Affine): void {
  const first = changetype<usize>(o);
  const turn = turnOf(first, first + 24, first + 48);
  for (let i: usize = 0; i < 72; i += 24) {
    const corner = changetype<usize>(t) + i;
    const one = turnOf(first, first + 24, corner);
    const two = turnOf(first + 24, first + 48, corner);
    const three = turnOf(first + 48, first, corner);
    const isIn = turn > 0 ? one >= 0 && two >= 0 && three >= 0 : one <= 0 && two <= 0 && three <= 0;
    if (isIn) addPoint(load<f64>(corner), load<f64>(corner, 8), load<f64>(corner, 16), m);
  }
}

/** Where two edges cross between their ends. */
function addCrossing(p: usize, q: usize, r: usize, s: usize, m: Affine): void {
  const atR = turnOf(p, q, r), atS = turnOf(p, q, s);
  if (!((atR > 0 && atS < 0) || (atR < 0 && atS > 0))) return;
  const atP = turnOf(r, s, p), atQ = turnOf(r, s, q);
  if ((atP > 0 && atQ < 0) || (atP < 0 && atQ > 0)) divide(p, q, atP, atQ, m);
}

function turnOf(a: usize, b: usize, c: usize): f64 {
  return accurateOrient2d(
    load<f64>(a + u), load<f64>(a + v), load<f64>(b + u), load<f64>(b + v), load<f64>(c + u), load<f64>(c + v),
  );
}
