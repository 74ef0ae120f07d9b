// The depth of two triangles in each other along a direction, and the way in which they push each other apart. Heights are
// linear over the polygon in which both shadows overlap, so the largest difference is at a corner of one triangle or
// where two edges cross. That place also says what touches last: a face, or two edges, and so the normal of the touch.
// All is float64.

import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh } from '../../mesh/tree/layout';
import { Projected, mapOf, sourceAt } from './triangle-projection';

/** The greatest depth of all pairs that were compared. */
export let best: f64 = 0;
/** Where that was: at a corner of what stays (0), of what moves (1), or at an edge of each (2 + 3 · i + j). */
export let bestKind: i32 = -1;
/** Of which two triangles, as they are listed. */
export let best0: u32 = 0, best1: u32 = 0;

/** Forgets what was compared. */
export function beginDepth(): void {
  best = -Infinity;
  bestKind = -1;
}

/** Notes the two triangles that were compared last as those of the greatest depth. */
export function setDeepest(triangle0: u32, triangle1: u32): void {
  best0 = triangle0;
  best1 = triangle1;
}

/** The margin for rounding, relative to the triangles: what is a hair outside counts as inside. */
const HAIR: f64 = 1e-10;
/**
 * The relative size of a determinant below which rounding decides on it: edges are parallel, or a triangle is seen
 * edge-on.
 */
const PARALLEL: f64 = 1e-13;

/**
 * Measures the depth wherever a corner of one triangle is over the other, or where their edges cross: `p` is of what stays,
 * `q` of what moves.
 */
export function compare(p: Projected, q: Projected): void {
  compareCorners(p, q, 0);
  compareCorners(q, p, 1);
  const p0 = changetype<usize>(p), q0 = changetype<usize>(q);
  for (let i: i32 = 0; i < 3; i++) {
    const a = p0 + i * 24, b = p0 + (i == 2 ? 0 : i * 24 + 24);
    compareEdges(a, b, q0, q0 + 24, 2 + 3 * i);
    compareEdges(a, b, q0 + 24, q0 + 48, 3 + 3 * i);
    compareEdges(a, b, q0 + 48, q0, 4 + 3 * i);
  }
}

/** Measures the depth at the corners of p that are over q. */
function compareCorners(p: Projected, q: Projected, kind: i32): void {
  const eu = q.bu - q.au, ev = q.bv - q.av, fu = q.cu - q.au, fv = q.cv - q.av;
  const area = eu * fv - ev * fu;
  const size = abs(eu * fv) + abs(ev * fu);
  if (abs(area) <= PARALLEL * size) return;
  const inverse = 1.0 / area;
  for (let at = changetype<usize>(p), end = at + 72; at < end; at += 24) {
    const u = load<f64>(at) - q.au, v = load<f64>(at, 8) - q.av;
    const s = (u * fv - v * fu) * inverse, t = (eu * v - ev * u) * inverse;
    if (s < -HAIR || t < -HAIR || s + t > 1 + HAIR) continue;
    const height = load<f64>(at, 16) + q.ah + s * (q.bh - q.ah) + t * (q.ch - q.ah);
    if (height > best) {
      best = height;
      bestKind = kind;
    }
  }
}

/** Measures the depth where two edges cross. */
// @ts-ignore: decorator
@inline
function compareEdges(a: usize, b: usize, c: usize, d: usize, kind: i32): void {
  const au = load<f64>(a), av = load<f64>(a, 8), cu = load<f64>(c), cv = load<f64>(c, 8);
  const ru = load<f64>(b) - au, rv = load<f64>(b, 8) - av, su = load<f64>(d) - cu, sv = load<f64>(d, 8) - cv;
  const turn = ru * sv - rv * su;
  const wu = cu - au, wv = cv - av;
  const s = wu * sv - wv * su, t = wu * rv - wv * ru;
  const most = abs(turn) * (1 + HAIR), least = -abs(turn) * HAIR;
  const along = turn < 0 ? -s : s, across = turn < 0 ? -t : t;
  if (along < least || along > most || across < least || across > most) return;
  if (abs(turn) <= PARALLEL * (abs(ru * sv) + abs(rv * su))) return;
  const ah = load<f64>(a, 16), ch = load<f64>(c, 16);
  const height = ah + (s / turn) * (load<f64>(b, 16) - ah) + ch + (t / turn) * (load<f64>(d, 16) - ch);
  if (height > best) {
    best = height;
    bestKind = kind;
  }
}

/** The normal of the last touch, unit, towards what moves. */
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

/**
 * Finds the direction in which the two push each other apart where they touch last, after `depthAlong` along (nx, ny,
 * nz): the normal of a face, or across both edges. Answers false where there is none.
 */
export function findTouch(nx: f64, ny: f64, nz: f64): bool {
  if (bestKind < 0) return false;
  if (bestKind == 0) crossEdges(1, 0, 1, 2);
  else if (bestKind == 1) crossEdges(0, 0, 0, 2);
  else crossEdges(0, (bestKind - 2) / 3, 1, (bestKind - 2) % 3);
  const along = touchX * nx + touchY * ny + touchZ * nz;
  const length = sqrt(touchX * touchX + touchY * touchY + touchZ * touchZ);
  if (!(length > 0) || along == 0) return false;
  const norm = (along < 0 ? -1.0 : 1.0) / length;
  touchX *= norm;
  touchY *= norm;
  touchZ *= norm;
  return true;
}

/** Sets the cross product of two edges: edge i of the triangle of side p that touched last, and edge j of that of q. */
function crossEdges(p: u32, i: i32, q: u32, j: i32): void {
  setEdge(p, i);
  const ex = edgeX, ey = edgeY, ez = edgeZ;
  setEdge(q, j);
  touchX = ey * edgeZ - ez * edgeY;
  touchY = ez * edgeX - ex * edgeZ;
  touchZ = ex * edgeY - ey * edgeX;
}

let edgeX: f64 = 0, edgeY: f64 = 0, edgeZ: f64 = 0;

function setEdge(side: u32, edge: i32): void {
  const source = sourceAt(side), m = mapOf(source);
  const triangle = side == 0 ? best0 : best1;
  const from = <usize>edge, to: usize = edge == 2 ? 0 : from + 1;
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (source.mesh != 0) {
    const at = cornersOf(changetype<Mesh>(<usize>source.mesh), triangle);
    const p = at + from * 48, q = at + to * 48;
    x = <f64>load<f32>(q) - <f64>load<f32>(p);
    y = <f64>load<f32>(q, 16) - <f64>load<f32>(p, 16);
    z = <f64>load<f32>(q, 32) - <f64>load<f32>(p, 32);
  } else {
    const p = <usize>triangle + from * 24, q = <usize>triangle + to * 24;
    x = load<f64>(q) - load<f64>(p);
    y = load<f64>(q, 8) - load<f64>(p, 8);
    z = load<f64>(q, 16) - load<f64>(p, 16);
  }
  edgeX = m.xx * x + m.yx * y + m.zx * z;
  edgeY = m.xy * x + m.yy * y + m.zy * z;
  edgeZ = m.xz * x + m.yz * y + m.zz * z;
}
