// Where two meshes cut each other: the segments of all pairs of triangles that do, found in float64 with a margin for
// its rounding. Whether the meshes meet at all is not decided here.

import { Affine } from '../../math/affine';
import { Triangle, apexOf } from '../../math/triangles';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { descend, map, setTrees } from '../../mesh/query/tree-tree';
import { nearestOfTriangles, nearestX, nearestY, nearestZ } from './triangle-triangle-distance';
import { Side, addPart, knownAt, partAt, setNormal, sideAt, treeOf } from './clipped-triangles';

/** Part a of side 0 and b of side 1, and the segment that both have: from p to q along a's normal × b's. */
@unmanaged
export class Cut {
  a: u32;
  b: u32;
  /** The next cut of the same part. */
  nextA: u32;
  nextB: u32;
  /** Union-find over the cuts (regions.ts). */
  parent: u32;
  region: u32;
  /** The edges that p and q are on: 0 to 2 of a, 3 to 5 of b, or ANY_EDGE. */
  edgeP: u32;
  edgeQ: u32;
  px: f64; py: f64; pz: f64;
  qx: f64; qy: f64; qz: f64;
}

export const CUT_BYTES: usize = 80;
/** Where a curve may go on beyond several edges: a corner, or two edges that cross. */
export const ANY_EDGE: u32 = 6;
/** More than this are not looked for: the meshes lie on one another then. */
const MOST_CUTS: u32 = 1 << 16;

export let cuts: usize = 0;
export let cutCount: u32 = 0;
export let hasAllCuts: bool = true;

// @ts-ignore: decorator
@inline
export function cutAt(index: u32): Cut {
  return changetype<Cut>(cuts + index * <u32>CUT_BYTES);
}

/** What a mapped coordinate may be off by. */
let blur: f64 = 0;

/** How near two triangles may be to count as touching, a square in tree A; negative where cuts are looked for. */
let touching: f64 = -1;
/** Whether what was found are no cuts but places where triangles touch. */
export function isTouch(): bool {
  return touching >= 0;
}
/** The least such square that there is. */
let nearest: f64 = Infinity;

/**
 * Finds the cuts of both sides; `m` maps b's mesh space to a's. Where there are none, as all that meets lies in one
 * plane or is a matter of rounding, the places where triangles are nearest. Throws OUT_OF_MEMORY.
 */
export function findCuts(a: Mesh, b: Mesh, m: Affine): void {
  setTrees(a, b, m);
  setBlur();
  cutCount = 0;
  touching = -1;
  hasAllCuts = !descend(a, b, addIfCut);
  if (cutCount != 0) return;
  touching = blur * blur * 64;
  nearest = Infinity;
  hasAllCuts = !descend(a, b, addIfTouching);
  if (cutCount != 0 || nearest == Infinity) return;
  touching = nearest;
  hasAllCuts = !descend(a, b, addIfTouching);
}

function setBlur(): void {
  const x = 2.0 * (abs(map.xx) + abs(map.yx) + abs(map.zx)) + abs(map.tx);
  const y = 2.0 * (abs(map.xy) + abs(map.yy) + abs(map.zy)) + abs(map.ty);
  const z = 2.0 * (abs(map.xz) + abs(map.yz) + abs(map.zz)) + abs(map.tz);
  blur = (2.0 + max(max(x, y), z)) * 8.881784197001252e-16; // 2^-50
}

/** True where there are too many. */
function addIfCut(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (cutTriangles(p, q)) addCut(slotA, slotB);
  return cutCount > MOST_CUTS;
}

function addIfTouching(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (touch(p, q)) addCut(slotA, slotB);
  return cutCount > MOST_CUTS;
}

// --- two triangles ---

// The ends of the segment that two triangles share, along the cross product of their normals.
let fromX: f64 = 0, fromY: f64 = 0, fromZ: f64 = 0;
let toX: f64 = 0, toY: f64 = 0, toZ: f64 = 0;

/** The edges that the ends are on: 0 to 2 of the first triangle, 3 to 5 of the second one, or ANY_EDGE. */
let fromEdge: u32 = ANY_EDGE, toEdge: u32 = ANY_EDGE;

/** Where the line that both planes share enters and leaves a triangle: by way of two edges from one corner. */
@unmanaged
class Span {
  /** Along the line. */
  enter: f64; leave: f64;
  /** As a share of the edge, from the apex. */
  enterShare: f64; leaveShare: f64;
  /** Corners, as addresses. */
  apex: usize; enterTo: usize; leaveTo: usize;
  /** ANY_EDGE where a corner is on the other's plane. */
  enterEdge: u32; leaveEdge: u32;
}

const ofP = changetype<Span>(memory.data(56, 16));
const ofQ = changetype<Span>(memory.data(56, 16));

/**
 * Möller, "A Fast Triangle-Triangle Intersection Test", 1997, with points besides places along the line. Touching
 * counts, and what rounding may make of it; coplanar triangles have no segment.
 */
function cutTriangles(p: Triangle, q: Triangle): bool {
  const ux = q.bx - q.ax, uy = q.by - q.ay, uz = q.bz - q.az;
  const vx = q.cx - q.ax, vy = q.cy - q.ay, vz = q.cz - q.az;
  const mx = uy * vz - uz * vy, my = uz * vx - ux * vz, mz = ux * vy - uy * vx;
  const tolQ = blur * (abs(mx) + abs(my) + abs(mz));
  const pa = snap(mx * (p.ax - q.ax) + my * (p.ay - q.ay) + mz * (p.az - q.az), tolQ);
  const pb = snap(mx * (p.bx - q.ax) + my * (p.by - q.ay) + mz * (p.bz - q.az), tolQ);
  const pc = snap(mx * (p.cx - q.ax) + my * (p.cy - q.ay) + mz * (p.cz - q.az), tolQ);
  if ((pa > 0 && pb > 0 && pc > 0) || (pa < 0 && pb < 0 && pc < 0) || (pa == 0 && pb == 0 && pc == 0)) return false;
  const ex = p.bx - p.ax, ey = p.by - p.ay, ez = p.bz - p.az;
  const fx = p.cx - p.ax, fy = p.cy - p.ay, fz = p.cz - p.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const tolP = blur * (abs(nx) + abs(ny) + abs(nz));
  const qa = snap(nx * (q.ax - p.ax) + ny * (q.ay - p.ay) + nz * (q.az - p.az), tolP);
  const qb = snap(nx * (q.bx - p.ax) + ny * (q.by - p.ay) + nz * (q.bz - p.az), tolP);
  const qc = snap(nx * (q.cx - p.ax) + ny * (q.cy - p.ay) + nz * (q.cz - p.az), tolP);
  if ((qa > 0 && qb > 0 && qc > 0) || (qa < 0 && qb < 0 && qc < 0) || (qa == 0 && qb == 0 && qc == 0)) return false;
  const dx = ny * mz - nz * my, dy = nz * mx - nx * mz, dz = nx * my - ny * mx;
  const near = 16.0 * blur * (abs(dx) + abs(dy) + abs(dz));
  setSpan(ofP, p, pa, pb, pc, dx, dy, dz, 0);
  setSpan(ofQ, q, qa, qb, qc, dx, dy, dz, 3);
  if (max(ofP.enter, ofQ.enter) > min(ofP.leave, ofQ.leave) + near) return false;
  const from = ofQ.enter > ofP.enter ? ofQ : ofP, to = ofQ.leave < ofP.leave ? ofQ : ofP;
  let u = from.apex, v = from.enterTo, share = from.enterShare;
  fromX = load<f64>(u) + share * (load<f64>(v) - load<f64>(u));
  fromY = load<f64>(u, 8) + share * (load<f64>(v, 8) - load<f64>(u, 8));
  fromZ = load<f64>(u, 16) + share * (load<f64>(v, 16) - load<f64>(u, 16));
  u = to.apex;
  v = to.leaveTo;
  share = to.leaveShare;
  toX = load<f64>(u) + share * (load<f64>(v) - load<f64>(u));
  toY = load<f64>(u, 8) + share * (load<f64>(v, 8) - load<f64>(u, 8));
  toZ = load<f64>(u, 16) + share * (load<f64>(v, 16) - load<f64>(u, 16));
  // Where edges cross each other, the curve may go on beyond any of them.
  fromEdge = abs(ofQ.enter - ofP.enter) > near ? from.enterEdge : ANY_EDGE;
  toEdge = abs(ofQ.leave - ofP.leave) > near ? to.leaveEdge : ANY_EDGE;
  return true;
}

// @ts-ignore: decorator
@inline
function snap(distance: f64, tolerance: f64): f64 {
  return abs(distance) <= tolerance ? 0.0 : distance;
}

/** Of a triangle with corners on both sides of a plane, or some on it, at these distances; its first edge's number. */
// @ts-ignore: decorator
@inline
function setSpan(out: Span, t: Triangle, a: f64, b: f64, c: f64, dx: f64, dy: f64, dz: f64, edge: u32): void {
  const i = apexOf(a, b, c);
  const corners = changetype<usize>(t);
  const apex = corners + i * 24, next = corners + (i == 2 ? 0 : i * 24 + 24), last = corners + (i == 0 ? 48 : i * 24 - 24);
  const own = i == 0 ? a : i == 1 ? b : c, ofNext = i == 0 ? b : i == 1 ? c : a, ofLast = i == 0 ? c : i == 1 ? a : b;
  const nextShare = own / (own - ofNext), lastShare = own / (own - ofLast);
  const at = dx * load<f64>(apex) + dy * load<f64>(apex, 8) + dz * load<f64>(apex, 16);
  const atNext = dx * load<f64>(next) + dy * load<f64>(next, 8) + dz * load<f64>(next, 16);
  const atLast = dx * load<f64>(last) + dy * load<f64>(last, 8) + dz * load<f64>(last, 16);
  const toNext = at + nextShare * (atNext - at), toLast = at + lastShare * (atLast - at);
  const nextEdge = own == 0 || ofNext == 0 ? ANY_EDGE : edge + <u32>i;
  const lastEdge = own == 0 || ofLast == 0 ? ANY_EDGE : edge + (i == 0 ? 2 : <u32>i - 1);
  const isTurned = toNext > toLast;
  out.apex = apex;
  out.enter = isTurned ? toLast : toNext;
  out.leave = isTurned ? toNext : toLast;
  out.enterShare = isTurned ? lastShare : nextShare;
  out.leaveShare = isTurned ? nextShare : lastShare;
  out.enterTo = isTurned ? last : next;
  out.leaveTo = isTurned ? next : last;
  out.enterEdge = isTurned ? lastEdge : nextEdge;
  out.leaveEdge = isTurned ? nextEdge : lastEdge;
}

/** Whether two triangles are near enough; where they are nearest is where the segment begins and ends. */
function touch(p: Triangle, q: Triangle): bool {
  const square = nearestOfTriangles(p, q);
  nearest = min(nearest, square);
  fromX = toX = nearestX;
  fromY = toY = nearestY;
  fromZ = toZ = nearestZ;
  fromEdge = toEdge = ANY_EDGE;
  return square <= touching;
}

// --- what is kept ---

function addCut(slotA: u32, slotB: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const a = partOf(sideA, slotA), b = partOf(sideB, slotB);
  cuts = reserve(cuts, <usize>cutCount * CUT_BYTES, (<u64>cutCount + 1) * CUT_BYTES);
  const index = cutCount++;
  const cut = cutAt(index);
  const partA = partAt(sideA, a), partB = partAt(sideB, b);
  cut.a = a;
  cut.b = b;
  cut.nextA = partA.firstCut;
  cut.nextB = partB.firstCut;
  partA.firstCut = index;
  partB.firstCut = index;
  cut.parent = index;
  cut.edgeP = fromEdge;
  cut.edgeQ = toEdge;
  const m = treeOf(sideA);
  cut.px = m.xx * fromX + m.yx * fromY + m.zx * fromZ + m.tx;
  cut.py = m.xy * fromX + m.yy * fromY + m.zy * fromZ + m.ty;
  cut.pz = m.xz * fromX + m.yz * fromY + m.zz * fromZ + m.tz;
  cut.qx = m.xx * toX + m.yx * toY + m.zx * toZ + m.tx;
  cut.qy = m.xy * toX + m.yy * toY + m.zy * toZ + m.ty;
  cut.qz = m.xz * toX + m.yz * toY + m.zz * toZ + m.tz;
  // The same sense along the normals in contact space, which the sides turn out.
  const dx = partA.ny * partB.nz - partA.nz * partB.ny, dy = partA.nz * partB.nx - partA.nx * partB.nz;
  const dz = partA.nx * partB.ny - partA.ny * partB.nx;
  if (dx * (cut.qx - cut.px) + dy * (cut.qy - cut.py) + dz * (cut.qz - cut.pz) >= 0) return;
  let other = cut.px; cut.px = cut.qx; cut.qx = other;
  other = cut.py; cut.py = cut.qy; cut.qy = other;
  other = cut.pz; cut.pz = cut.qz; cut.qz = other;
  cut.edgeP = toEdge;
  cut.edgeQ = fromEdge;
}

// @ts-ignore: decorator
@inline
function partOf(side: Side, slot: u32): u32 {
  const known = knownAt(side, slot);
  if (known != 0) return known - 1;
  const index = addPart(side, slot);
  setNormal(side, partAt(side, index));
  return index;
}
