// Finds the triangles of a mesh that a convex body may hit on its way, nearest first: casts the ray of the body's centre
// against the boxes of the tree, each inflated by the body's extent along its axes (the slab test of a Minkowski sum: Ericson,
// "Real-Time Collision Detection", 2005, 5.5.7). Four boxes at a time in float32, conservative; the caller decides the
// triangles, in float64.

import { checkpoint } from '../checkpoint';
import { Support } from '../contact/convex/support';
import { Affine, invert } from '../math/affine';
import { clip, enter, interval, leave, reciprocals, upward } from '../math/interval';
import { lane0, lane1, lane2, lane3, turned, twiceOverSquare, yzx, zxy } from '../math/lanes';
import { spectralNorm } from '../math/spectral-norm';
import { keyOf, sortedEntries, waitingKeys } from '../mesh/query/entry-keys';
import { boundsAt, entered } from '../mesh/query/mesh-ray';
import { countLeaf, countNode } from '../mesh/tree/counters';
import {
  BLOCK_BYTES, Block, LEAF, Mesh, NODE_BYTES, Node, childOf, filledLanes, isRotated, linkOf, placeTree, treeScale,
} from '../mesh/tree/layout';
import { VECTOR_BYTES } from '../sizes';

/** Gets the address of a block, and a bit for each of its candidate triangles. Returns the time until which others matter. */
export type Visitor = (block: usize, bits: u32) => f64;

const toWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The bytes of each half of the stack (mesh/tree/layout.ts, MAX_DEPTH): keys, and parents. */
const PARENTS: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS, 16);

/** Padding of a body's extent for rounding in float32, relative to the largest coordinate: 2⁻¹⁸. */
const PADDING: f64 = 3.814697265625e-6;

// The body in tree space. Its edges: a vector of four f32 each.
let edgeCount: u32 = 0;
const edges: usize = memory.data(3 * VECTOR_BYTES, 16);
/** The extent of its edges along the axes, and that of its ball, with padding. */
let edgesX: f64 = 0, edgesY: f64 = 0, edgesZ: f64 = 0;
let ball: f32 = 0;
let ballStretch: f64 = 0, ballPadding: f64 = 0;

// Its way within the bounds of the mesh: the position and the time at which it enters them, its unit direction, its length and
// its speed.
let here: v128 = i32x4.splat(0);
let direction: v128 = i32x4.splat(0);
export let entryTime: f64 = 0;
let whole: f64 = 0;
let speed: f64 = 0;

/** Sets a smaller radius of the body's ball from now on. */
export function narrowSweep(radius: f64): void {
  ball = <f32>(radius * ballStretch + ballPadding);
}

/** Sets the mesh whose triangles are searched; `m` maps mesh space to the world about the common origin. */
export function setSweptMesh(mesh: Mesh, m: Affine): void {
  placeTree(toWorld, mesh, m);
  invert(toTree, toWorld);
}

/**
 * Visits the triangles that a body may hit while its centre moves from one position to another between two times. The body is
 * inflated by `inflation`; hits after `until`, which visits may reduce, are ignored.
 */
export function sweepTree(
  mesh: Mesh, body: Support, radius: f64, inflation: f64, x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64,
  fromTime: f64, toTime: f64, until: f64, visit: Visitor,
): f64 {
  if (!enterBounds(mesh, body, radius + inflation, x, y, z, dx, dy, dz, fromTime, toTime)) return until;
  return until > entryTime || !(entryTime > 0) ? descend(mesh, until, visit) : until;
}

/**
 * Transforms the body and its way to tree space, and clips the way to its part near the mesh. Returns false if there is none.
 */
function enterBounds(
  mesh: Mesh, body: Support, radius: f64, x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, fromTime: f64, toTime: f64,
): bool {
  const m = toTree;
  const px = m.xx * x + m.yx * y + m.zx * z + m.tx;
  const py = m.xy * x + m.yy * y + m.zy * z + m.ty;
  const pz = m.xz * x + m.yz * y + m.zz * z + m.tz;
  const vx = m.xx * dx + m.yx * dy + m.zx * dz;
  const vy = m.xy * dx + m.yy * dy + m.zy * dz;
  const vz = m.xz * dx + m.yz * dy + m.zz * dz;
  placeEdges(body);
  const stretch = radius > 0 ? spectralNorm(m) : 0;
  const round = radius * stretch;
  const hx = edgesX + round, hy = edgesY + round, hz = edgesZ + round;
  const slack = (2.0 + abs(px) + abs(py) + abs(pz) + hx + hy + hz) * 3.552713678800501e-15; // 2^-48
  const scale = treeScale(mesh);
  let part = interval(0, 1);
  const lowX = (mesh.lowX - mesh.offsetX) * scale, highX = (mesh.highX - mesh.offsetX) * scale;
  const lowY = (mesh.lowY - mesh.offsetY) * scale, highY = (mesh.highY - mesh.offsetY) * scale;
  const lowZ = (mesh.lowZ - mesh.offsetZ) * scale, highZ = (mesh.highZ - mesh.offsetZ) * scale;
  part = clip(part, px, vx, lowX - hx - slack, highX + hx + slack);
  part = clip(part, py, vy, lowY - hy - slack, highY + hy + slack);
  part = clip(part, pz, vz, lowZ - hz - slack, highZ + hz + slack);
  const first = enter(part);
  if (!(first <= leave(part))) return false;
  // Float32 only gets small numbers.
  const length = sqrt(vx * vx + vy * vy + vz * vz);
  const unit = length > 0 ? 1.0 / length : 0;
  const fx = px + first * vx, fy = py + first * vy, fz = pz + first * vz;
  whole = (leave(part) - first) * length;
  ballStretch = stretch;
  ballPadding = (max(max(abs(fx), abs(fy)), abs(fz)) + max(max(hx, hy), hz) + whole + 4.0) * PADDING;
  ball = <f32>(round + ballPadding);
  here = f32x4(<f32>fx, <f32>fy, <f32>fz, 0);
  direction = f32x4(<f32>(vx * unit), <f32>(vy * unit), <f32>(vz * unit), 1);
  entryTime = fromTime + first * (toTime - fromTime);
  speed = length / (toTime - fromTime);
  return true;
}

/** Transforms the edges of a body to tree space. */
function placeEdges(body: Support): void {
  const m = toTree;
  let hx: f64 = 0, hy: f64 = 0, hz: f64 = 0;
  edgeCount = body.edges;
  for (let i: usize = 0; i < edgeCount; i++) {
    const at = changetype<usize>(body) + i * 24 + offsetof<Support>('edge0X');
    const ex = load<f64>(at), ey = load<f64>(at, 8), ez = load<f64>(at, 16);
    const u = m.xx * ex + m.yx * ey + m.zx * ez, v = m.xy * ex + m.yy * ey + m.zy * ez;
    const w = m.xz * ex + m.yz * ey + m.zz * ez;
    hx += abs(u); hy += abs(v); hz += abs(w);
    v128.store(edges + (i << 4), f32x4(<f32>u, <f32>v, <f32>w, 0));
  }
  edgesX = hx; edgesY = hy; edgesZ = hz;
}

/** Traverses the tree, nearest box first. */
function descend(mesh: Mesh, until: f64, visit: Visitor): f64 {
  const point = here, along = direction, inverse = reciprocals(along);
  const nodes = changetype<usize>(mesh) + mesh.nodes, blocks = changetype<usize>(mesh) + mesh.blocks;
  let last = until;
  let limit = limitOf(last);
  let farthest = keyOf(limit);
  let grown = reachOfBody();
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      checkpoint(WORK_OF_NODE);
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const entries = entriesOf(address, children, point, along, inverse, grown, limit);
      const missed = i32x4.bitmask(entries);
      if (missed != 15) {
        const keys = sortedEntries(entries);
        const waiting: usize = 3 - popcnt(missed);
        v128.store(top, waitingKeys(keys, waiting));
        v128.store(top, i32x4.splat(child), PARENTS);
        top += waiting << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const block = blocks + (child & ~LEAF) * <u32>BLOCK_BYTES;
      const bits = trianglesMet(block, point, inverse, grown, limit);
      if (bits != 0) {
        last = min(last, visit(block, bits));
        limit = limitOf(last);
        farthest = keyOf(limit);
        grown = reachOfBody();
      }
    }
    let key: u32;
    do {
      if (top == stack) return last;
      top -= 4;
      key = load<u32>(top);
    } while (key > farthest);
    child = childOf(changetype<Node>(nodes + load<u32>(top, PARENTS) * <u32>NODE_BYTES), key & 3);
  }
}

/** Returns how far along its way the body is at a time, at most where it leaves the bounds. */
// @ts-ignore: decorator
@inline
function limitOf(time: f64): f32 {
  return upward(min(whole, max((time - entryTime) * speed, 0)));
}

/** Returns the body's extent along the axes of tree space. */
// @ts-ignore: decorator
@inline
function reachOfBody(): v128 {
  return f32x4.add(f32x4(<f32>edgesX, <f32>edgesY, <f32>edgesZ, 0), f32x4.splat(ball));
}

/**
 * Finds where the body reaches each of the boxes of a node: distances from `point`, with all bits set if it misses a box,
 * reaches it beyond the limit, or the box does not exist.
 */
// @ts-ignore: decorator
@inline
function entriesOf(
  address: usize, children: u32, point: v128, along: v128, inverse: v128, reach: v128, limit: f32,
): v128 {
  let by = inverse, at = point, grown = reach;
  if (isRotated(changetype<Node>(address))) {
    const q = f32x4.convert_i32x4_s(v128.load16x4_s(address, offsetof<Node>('quaternion')));
    const w = lane3(q), qYzx = yzx(q), qZxy = zxy(q), twice = twiceOverSquare(q);
    by = reciprocals(turned(along, qYzx, qZxy, w, twice));
    at = turned(point, qYzx, qZxy, w, twice);
    grown = f32x4.splat(ball);
    if (edgeCount > 0) grown = f32x4.add(grown, f32x4.abs(turned(v128.load(edges), qYzx, qZxy, w, twice)));
    if (edgeCount > 1) {
      grown = f32x4.add(grown, f32x4.abs(turned(v128.load(edges, 16), qYzx, qZxy, w, twice)));
      grown = f32x4.add(grown, f32x4.abs(turned(v128.load(edges, 32), qYzx, qZxy, w, twice)));
    }
  }
  const origin = v128.load(address, offsetof<Node>('originX'));
  const step = f32x4.mul(v128.load(address, offsetof<Node>('scaleX')), by);
  const fromLow = f32x4.mul(f32x4.sub(f32x4.sub(origin, grown), at), by);
  const fromHigh = f32x4.mul(f32x4.sub(f32x4.add(origin, grown), at), by);
  const qx = v128.load8x8_u(address), qy = v128.load8x8_u(address, 8), qz = v128.load8x8_u(address, 16);
  const ax = boundsAt(i32x4.extend_low_i16x8_u(qx), lane0(fromLow), lane0(step));
  const bx = boundsAt(i32x4.extend_high_i16x8_u(qx), lane0(fromHigh), lane0(step));
  const ay = boundsAt(i32x4.extend_low_i16x8_u(qy), lane1(fromLow), lane1(step));
  const by1 = boundsAt(i32x4.extend_high_i16x8_u(qy), lane1(fromHigh), lane1(step));
  const az = boundsAt(i32x4.extend_low_i16x8_u(qz), lane2(fromLow), lane2(step));
  const bz = boundsAt(i32x4.extend_high_i16x8_u(qz), lane2(fromHigh), lane2(step));
  const near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by1)), f32x4.pmin(az, bz));
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by1)), f32x4.pmax(az, bz));
  return entered(near, far, children, f32x4.splat(limit));
}

/** Marks the triangles of a block whose bounds the body hits, a bit each. */
// @ts-ignore: decorator
@inline
function trianglesMet(block: usize, point: v128, inverse: v128, reach: v128, limit: f32): u32 {
  const from = f32x4.add(point, reach), to = f32x4.sub(point, reach);
  const ax = f32x4.mul(f32x4.sub(least(block), lane0(from)), lane0(inverse));
  const bx = f32x4.mul(f32x4.sub(most(block), lane0(to)), lane0(inverse));
  const ay = f32x4.mul(f32x4.sub(least(block + 16), lane1(from)), lane1(inverse));
  const by = f32x4.mul(f32x4.sub(most(block + 16), lane1(to)), lane1(inverse));
  const az = f32x4.mul(f32x4.sub(least(block + 32), lane2(from)), lane2(inverse));
  const bz = f32x4.mul(f32x4.sub(most(block + 32), lane2(to)), lane2(inverse));
  const near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmax(f32x4.pmin(az, bz), f32x4.splat(0)));
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  return <u32>i32x4.bitmask(f32x4.le(near, f32x4.pmin(far, f32x4.splat(limit)))) & filledLanes(changetype<Block>(block));
}

/** The work of a node with its triangles (checkpoint.ts). */
const WORK_OF_NODE: i32 = 16;

// @ts-ignore: decorator
@inline
function least(at: usize): v128 {
  return f32x4.pmin(f32x4.pmin(v128.load(at), v128.load(at, 48)), v128.load(at, 96));
}

// @ts-ignore: decorator
@inline
function most(at: usize): v128 {
  return f32x4.pmax(f32x4.pmax(v128.load(at), v128.load(at, 48)), v128.load(at, 96));
}
