// Where two meshes cut each other: the segments of all pairs of triangles that do, found in float64 with a margin for
// its rounding. Whether the meshes meet at all is not decided here.

import { Affine } from '../math/affine';
import { Triangle } from '../math/triangles';
import { reserve } from '../memory';
import { mayMeet, setFilter, setFour } from '../mesh/filter';
import { Block, LEAF, Mesh, blockAt, childOf, filledLanes, nodeAt, placeTree, treeScale } from '../mesh/layout';
import { Relation, overlapping } from '../mesh/overlap';
import { nearestOfTriangles, nearestX, nearestY, nearestZ } from './nearest';
import { Side, addPart, knownAt, partAt, sideAt, treeOf } from './parts';

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
  px: f64; py: f64; pz: f64;
  qx: f64; qy: f64; qz: f64;
}

export const CUT_BYTES: usize = 72;
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

const map = changetype<Affine>(memory.data(96, 16)); // tree B to tree A
const relation = changetype<Relation>(memory.data(48, 16));
const triangleA = changetype<Triangle>(memory.data(72, 16));
const trianglesB: usize = memory.data(4 * 72, 16);
/** What a mapped coordinate may be off by. */
let blur: f64 = 0;

@unmanaged
class Work {
  a: u32;
  maskA: u32;
  b: u32;
  maskB: u32;
}

const WORK_BYTES: usize = 16;
let stack: usize = 0;

function push(top: usize, a: u32, maskA: u32, b: u32, maskB: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + WORK_BYTES);
  const work = changetype<Work>(stack + used);
  work.a = a;
  work.maskA = maskA;
  work.b = b;
  work.maskB = maskB;
  return stack + used + WORK_BYTES;
}

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
  setMap(a, b, m);
  cutCount = 0;
  touching = -1;
  descend(a, b);
  if (cutCount != 0) return;
  touching = blur * blur * 64;
  nearest = Infinity;
  descend(a, b);
  if (cutCount != 0 || nearest == Infinity) return;
  touching = nearest;
  descend(a, b);
}

function descend(a: Mesh, b: Mesh): void {
  hasAllCuts = true;
  let top = push(stack, 0, 15, 0, 15);
  while (top != stack) {
    top -= WORK_BYTES;
    const work = changetype<Work>(top);
    const indexA = work.a, maskA = work.maskA, indexB = work.b, maskB = work.maskB;
    const nodeA = nodeAt(a, indexA), nodeB = nodeAt(b, indexB);
    let bits = overlapping(relation, nodeA, nodeB, maskA, maskB);
    while (bits != 0) {
      const bit = ctz(bits);
      bits &= bits - 1;
      const i = bit >> 2, j = bit & 3;
      const childA = childOf(nodeA, i), childB = childOf(nodeB, j);
      if (childA & LEAF) {
        if (childB & LEAF) cutBlocks(blockAt(a, childA), childA & ~LEAF, blockAt(b, childB), childB & ~LEAF);
        else top = push(top, indexA, 1 << i, childB, 15);
      } else if (childB & LEAF) top = push(top, childA, 15, indexB, 1 << j);
      else top = push(top, childA, 15, childB, 15);
    }
    if (cutCount > MOST_CUTS) {
      hasAllCuts = false;
      return;
    }
  }
}

/** map = tree A ∘ m ∘ tree B⁻¹. */
function setMap(a: Mesh, b: Mesh, m: Affine): void {
  placeTree(map, b, m);
  const scale = treeScale(a);
  for (let at = changetype<usize>(map), end = at + 72; at < end; at += 8) store<f64>(at, load<f64>(at) * scale);
  map.tx = (map.tx - a.offsetX) * scale;
  map.ty = (map.ty - a.offsetY) * scale;
  map.tz = (map.tz - a.offsetZ) * scale;
  relation.x = f32x4(<f32>map.xx, <f32>map.yx, <f32>map.zx, <f32>map.tx);
  relation.y = f32x4(<f32>map.xy, <f32>map.yy, <f32>map.zy, <f32>map.ty);
  relation.z = f32x4(<f32>map.xz, <f32>map.yz, <f32>map.zz, <f32>map.tz);
  setFilter(map);
  const x = 2.0 * (abs(map.xx) + abs(map.yx) + abs(map.zx)) + abs(map.tx);
  const y = 2.0 * (abs(map.xy) + abs(map.yy) + abs(map.zy)) + abs(map.ty);
  const z = 2.0 * (abs(map.xz) + abs(map.yz) + abs(map.zz)) + abs(map.tz);
  blur = (2.0 + max(max(x, y), z)) * 8.881784197001252e-16; // 2^-50
}

function cutBlocks(a: Block, indexA: u32, b: Block, indexB: u32): void {
  setFour(b);
  const filled = filledLanes(b);
  let mapped: u32 = 0; // lanes of trianglesB that are there
  for (let lanes = filledLanes(a); lanes != 0; lanes &= lanes - 1) {
    const lane = ctz(lanes);
    let bits = mayMeet(a, lane) & filled;
    if (bits == 0) continue;
    copyTriangle(triangleA, a, lane);
    do {
      const other = ctz(bits);
      bits &= bits - 1;
      const q = changetype<Triangle>(trianglesB + <usize>other * 72);
      if (!(mapped & (1 << other))) mapTriangle(q, b, other);
      mapped |= 1 << other;
      const isCut = touching < 0 ? cutTriangles(triangleA, q) : touch(triangleA, q);
      if (isCut) addCut((indexA << 2) + lane, (indexB << 2) + other);
    } while (bits != 0);
  }
}

function copyTriangle(out: Triangle, block: Block, lane: u32): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  for (let k: usize = 0; k < 9; k++) store<f64>(changetype<usize>(out) + (k << 3), <f64>load<f32>(at + (k << 4)));
}

function mapTriangle(out: Triangle, block: Block, lane: u32): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  for (let k: usize = 0; k < 3; k++) {
    const from = at + k * 48;
    const to = changetype<usize>(out) + k * 24;
    const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
    store<f64>(to, map.xx * x + map.yx * y + map.zx * z + map.tx);
    store<f64>(to, map.xy * x + map.yy * y + map.zy * z + map.ty, 8);
    store<f64>(to, map.xz * x + map.yz * y + map.zz * z + map.tz, 16);
  }
}

// --- two triangles ---

// The ends of the segment that two triangles share, along the cross product of their normals.
let fromX: f64 = 0, fromY: f64 = 0, fromZ: f64 = 0;
let toX: f64 = 0, toY: f64 = 0, toZ: f64 = 0;

// Where the line that both planes share enters and leaves a triangle: places along it, then the points.
let enter: f64 = 0, leave: f64 = 0;
let enterX: f64 = 0, enterY: f64 = 0, enterZ: f64 = 0;
let leaveX: f64 = 0, leaveY: f64 = 0, leaveZ: f64 = 0;

/**
 * Möller, "A Fast Triangle-Triangle Intersection Test", 1997, with points instead of places alone. Touching counts, and
 * what rounding may make of it; coplanar triangles have no segment.
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
  span(p, pa, pb, pc, dx, dy, dz);
  fromX = enterX; fromY = enterY; fromZ = enterZ;
  toX = leaveX; toY = leaveY; toZ = leaveZ;
  const first = enter, last = leave;
  span(q, qa, qb, qc, dx, dy, dz);
  if (max(first, enter) > min(last, leave) + near) return false;
  if (enter > first) {
    fromX = enterX; fromY = enterY; fromZ = enterZ;
  }
  if (leave < last) {
    toX = leaveX; toY = leaveY; toZ = leaveZ;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function snap(distance: f64, tolerance: f64): f64 {
  return abs(distance) <= tolerance ? 0.0 : distance;
}

/** Of a triangle whose corners are on both sides of a plane, or on it. */
function span(t: Triangle, a: f64, b: f64, c: f64, dx: f64, dy: f64, dz: f64): void {
  enter = Infinity;
  leave = -Infinity;
  if (a == 0) reach(t.ax, t.ay, t.az, dx, dy, dz);
  if (b == 0) reach(t.bx, t.by, t.bz, dx, dy, dz);
  if (c == 0) reach(t.cx, t.cy, t.cz, dx, dy, dz);
  if ((a < 0 && b > 0) || (a > 0 && b < 0)) {
    const s = a / (a - b);
    reach(t.ax + s * (t.bx - t.ax), t.ay + s * (t.by - t.ay), t.az + s * (t.bz - t.az), dx, dy, dz);
  }
  if ((b < 0 && c > 0) || (b > 0 && c < 0)) {
    const s = b / (b - c);
    reach(t.bx + s * (t.cx - t.bx), t.by + s * (t.cy - t.by), t.bz + s * (t.cz - t.bz), dx, dy, dz);
  }
  if ((c < 0 && a > 0) || (c > 0 && a < 0)) {
    const s = c / (c - a);
    reach(t.cx + s * (t.ax - t.cx), t.cy + s * (t.ay - t.cy), t.cz + s * (t.az - t.cz), dx, dy, dz);
  }
}

// @ts-ignore: decorator
@inline
function reach(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): void {
  const at = dx * x + dy * y + dz * z;
  if (at < enter) {
    enter = at;
    enterX = x; enterY = y; enterZ = z;
  }
  if (at > leave) {
    leave = at;
    leaveX = x; leaveY = y; leaveZ = z;
  }
}

/** Whether two triangles are near enough; where they are nearest is where the segment begins and ends. */
function touch(p: Triangle, q: Triangle): bool {
  const square = nearestOfTriangles(p, q);
  nearest = min(nearest, square);
  fromX = toX = nearestX;
  fromY = toY = nearestY;
  fromZ = toZ = nearestZ;
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
}

// @ts-ignore: decorator
@inline
function partOf(side: Side, slot: u32): u32 {
  const known = knownAt(side, slot);
  return known == 0 ? addPart(side, slot) : known - 1;
}
