// Finds the triangles of a mesh that a convex body may hit on its path, nearest first: casts the ray of the body's centre
// against the boxes of the tree, each inflated by the body's extent along its axes (the slab test of a Minkowski sum: Ericson,
// "Real-Time Collision Detection", 2005, 5.5.7). Four boxes at a time in float32, conservative; the caller decides the
// triangles, in float64.

import { checkpoint } from '../checkpoint';
import { Support } from '../contact/convex/support';
import { Affine, invert } from '../math/affine';
import { clip, intervalStart, interval, intervalEnd, reciprocals, roundUp } from '../math/interval';
import { lane0, lane1, lane2, lane3, rotate, twiceOverNormSquared, yzx, zxy } from '../math/lanes';
import { spectralNorm } from '../math/spectral-norm';
import { keyOf, sortedEntries, pendingKeys } from '../mesh/query/entry-keys';
import { boundsAt, entered } from '../mesh/query/mesh-ray';
import { countLeaf, countNode } from '../mesh/tree/counters';
import {
  BLOCK_BYTES, Block, LEAF, Mesh, NODE_BYTES, Node, childOf, filledLanes, isRotated, linkOf, composeTreeMap, treeScale,
} from '../mesh/tree/layout';
import { VECTOR_BYTES } from '../sizes';

/** Gets the address of a block, and a bit for each of its candidate triangles. Returns the time until which others matter. */
export type Visitor = (block: usize, bits: u32) => f64;

const toWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The bytes of each half of the stack (mesh/tree/layout.ts, MAX_DEPTH): keys, and parents. */
const PARENTS_OFFSET: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS_OFFSET, 16);

/** Padding of a body's extent for rounding in float32, relative to the largest coordinate: 2⁻¹⁸. */
const PADDING: f64 = 3.814697265625e-6;

// The body in tree space. Its edges: a vector of four f32 each.
let edgeCount: u32 = 0;
const edges: usize = memory.data(3 * VECTOR_BYTES, 16);
/** The extent of its edges along the axes, and that of its ball, with padding. */
let edgeExtentX: f64 = 0, edgeExtentY: f64 = 0, edgeExtentZ: f64 = 0;
let ballExtent: f32 = 0;
let ballStretch: f64 = 0, ballPadding: f64 = 0;

// Its way within the bounds of the mesh: the position and the time at which it enters them, its unit direction, its length and
// its speed.
let startPoint: v128 = i32x4.splat(0);
let direction: v128 = i32x4.splat(0);
export let entryTime: f64 = 0;
let pathLength: f64 = 0;
let speed: f64 = 0;

/** Sets a smaller radius of the body's ball from now on. */
export function reduceBall(radius: f64): void {
  ballExtent = <f32>(radius * ballStretch + ballPadding);
}

/** Sets the mesh whose triangles are searched; `m` maps mesh space to the world about the common origin. */
export function setSweptMesh(mesh: Mesh, m: Affine): void {
  composeTreeMap(toWorld, mesh, m);
  invert(toTree, toWorld);
}

/**
 * Visits the triangles that a body may hit while its centre moves from one position to another between two times. The body is
 * inflated by `inflation`; hits after `timeLimit`, which visits may reduce, are ignored.
 */
export function sweepTree(
  mesh: Mesh, body: Support, radius: f64, inflation: f64, x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64,
  fromTime: f64, toTime: f64, timeLimit: f64, visit: Visitor,
): f64 {
  if (!enterBounds(mesh, body, radius + inflation, x, y, z, dx, dy, dz, fromTime, toTime)) return timeLimit;
  return timeLimit > entryTime || !(entryTime > 0) ? descend(mesh, timeLimit, visit) : timeLimit;
}

/**
 * Transforms the body and its motion to tree space, and clips it to the part near the mesh. Returns false if there is none.
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
  transformEdges(body);
  const stretch = radius > 0 ? spectralNorm(m) : 0;
  const ballRadius = radius * stretch;
  const hx = edgeExtentX + ballRadius, hy = edgeExtentY + ballRadius, hz = edgeExtentZ + ballRadius;
  const slack = (2.0 + abs(px) + abs(py) + abs(pz) + hx + hy + hz) * 3.552713678800501e-15; // 2^-48
  const treeScaleFactor = treeScale(mesh);
  let part = interval(0, 1);
  const minX = (mesh.minX - mesh.offsetX) * treeScaleFactor, maxX = (mesh.maxX - mesh.offsetX) * treeScaleFactor;
  const minY = (mesh.minY - mesh.offsetY) * treeScaleFactor, maxY = (mesh.maxY - mesh.offsetY) * treeScaleFactor;
  const minZ = (mesh.minZ - mesh.offsetZ) * treeScaleFactor, maxZ = (mesh.maxZ - mesh.offsetZ) * treeScaleFactor;
  part = clip(part, px, vx, minX - hx - slack, maxX + hx + slack);
  part = clip(part, py, vy, minY - hy - slack, maxY + hy + slack);
  part = clip(part, pz, vz, minZ - hz - slack, maxZ + hz + slack);
  const entry = intervalStart(part);
  if (!(entry <= intervalEnd(part))) return false;
  // Float32 only gets small numbers.
  const length = sqrt(vx * vx + vy * vy + vz * vz);
  const scale = length > 0 ? 1.0 / length : 0;
  const fx = px + entry * vx, fy = py + entry * vy, fz = pz + entry * vz;
  pathLength = (intervalEnd(part) - entry) * length;
  ballStretch = stretch;
  ballPadding = (max(max(abs(fx), abs(fy)), abs(fz)) + max(max(hx, hy), hz) + pathLength + 4.0) * PADDING;
  ballExtent = <f32>(ballRadius + ballPadding);
  startPoint = f32x4(<f32>fx, <f32>fy, <f32>fz, 0);
  direction = f32x4(<f32>(vx * scale), <f32>(vy * scale), <f32>(vz * scale), 1);
  entryTime = fromTime + entry * (toTime - fromTime);
  speed = length / (toTime - fromTime);
  return true;
}

/** Transforms the edges of a body to tree space. */
function transformEdges(body: Support): void {
  const m = toTree;
  let hx: f64 = 0, hy: f64 = 0, hz: f64 = 0;
  edgeCount = body.edgeCount;
  for (let i: usize = 0; i < edgeCount; i++) {
    const at = changetype<usize>(body) + i * 24 + offsetof<Support>('edge0X');
    const ex = load<f64>(at), ey = load<f64>(at, 8), ez = load<f64>(at, 16);
    const u = m.xx * ex + m.yx * ey + m.zx * ez, v = m.xy * ex + m.yy * ey + m.zy * ez;
    const w = m.xz * ex + m.yz * ey + m.zz * ez;
    hx += abs(u); hy += abs(v); hz += abs(w);
    v128.store(edges + (i << 4), f32x4(<f32>u, <f32>v, <f32>w, 0));
  }
  edgeExtentX = hx; edgeExtentY = hy; edgeExtentZ = hz;
}

/** Traverses the tree, nearest box first. */
function descend(mesh: Mesh, timeLimit: f64, visit: Visitor): f64 {
  const point = startPoint, unitDirection = direction, inverse = reciprocals(unitDirection);
  const nodes = changetype<usize>(mesh) + mesh.nodes, blocks = changetype<usize>(mesh) + mesh.blocks;
  let latestTime = timeLimit;
  let limit = limitOf(latestTime);
  let maxKey = keyOf(limit);
  let extent = bodyExtent();
  let stackTop = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      checkpoint(WORK_PER_NODE);
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const entries = entriesOf(address, children, point, unitDirection, inverse, extent, limit);
      const missed = i32x4.bitmask(entries);
      if (missed != 15) {
        const keys = sortedEntries(entries);
        const pendingCount: usize = 3 - popcnt(missed);
        v128.store(stackTop, pendingKeys(keys, pendingCount));
        v128.store(stackTop, i32x4.splat(child), PARENTS_OFFSET);
        stackTop += pendingCount << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const block = blocks + (child & ~LEAF) * <u32>BLOCK_BYTES;
      const bits = trianglesHit(block, point, inverse, extent, limit);
      if (bits != 0) {
        latestTime = min(latestTime, visit(block, bits));
        limit = limitOf(latestTime);
        maxKey = keyOf(limit);
        extent = bodyExtent();
      }
    }
    let key: u32;
    do {
      if (stackTop == stack) return latestTime;
      stackTop -= 4;
      key = load<u32>(stackTop);
    } while (key > maxKey);
    child = childOf(changetype<Node>(nodes + load<u32>(stackTop, PARENTS_OFFSET) * <u32>NODE_BYTES), key & 3);
  }
}

/** Returns how far along its motion the body is at a time, at most where it leaves the bounds. */
// @ts-ignore: decorator
@inline
function limitOf(time: f64): f32 {
  return roundUp(min(pathLength, max((time - entryTime) * speed, 0)));
}

/** Returns the body's extent along the axes of tree space. */
// @ts-ignore: decorator
@inline
function bodyExtent(): v128 {
  return f32x4.add(f32x4(<f32>edgeExtentX, <f32>edgeExtentY, <f32>edgeExtentZ, 0), f32x4.splat(ballExtent));
}

/**
 * Finds where the body reaches each of the boxes of a node: distances from `point`, with all bits set if it misses a box,
 * reaches it beyond the limit, or the box does not exist.
 */
// @ts-ignore: decorator
@inline
function entriesOf(
  address: usize, children: u32, point: v128, along: v128, inverse: v128, extent: v128, limit: f32,
): v128 {
  let inverseDirection = inverse, localPoint = point, localExtent = extent;
  if (isRotated(changetype<Node>(address))) {
    const q = f32x4.convert_i32x4_s(v128.load16x4_s(address, offsetof<Node>('quaternion')));
    const w = lane3(q), qYzx = yzx(q), qZxy = zxy(q), twice = twiceOverNormSquared(q);
    inverseDirection = reciprocals(rotate(along, qYzx, qZxy, w, twice));
    localPoint = rotate(point, qYzx, qZxy, w, twice);
    localExtent = f32x4.splat(ballExtent);
    if (edgeCount > 0) localExtent = f32x4.add(localExtent, f32x4.abs(rotate(v128.load(edges), qYzx, qZxy, w, twice)));
    if (edgeCount > 1) {
      localExtent = f32x4.add(localExtent, f32x4.abs(rotate(v128.load(edges, 16), qYzx, qZxy, w, twice)));
      localExtent = f32x4.add(localExtent, f32x4.abs(rotate(v128.load(edges, 32), qYzx, qZxy, w, twice)));
    }
  }
  const origin = v128.load(address, offsetof<Node>('originX'));
  const step = f32x4.mul(v128.load(address, offsetof<Node>('scaleX')), inverseDirection);
  const toMin = f32x4.mul(f32x4.sub(f32x4.sub(origin, localExtent), localPoint), inverseDirection);
  const toMax = f32x4.mul(f32x4.sub(f32x4.add(origin, localExtent), localPoint), inverseDirection);
  const qx = v128.load8x8_u(address), qy = v128.load8x8_u(address, 8), qz = v128.load8x8_u(address, 16);
  const ax = boundsAt(i32x4.extend_low_i16x8_u(qx), lane0(toMin), lane0(step));
  const bx = boundsAt(i32x4.extend_high_i16x8_u(qx), lane0(toMax), lane0(step));
  const ay = boundsAt(i32x4.extend_low_i16x8_u(qy), lane1(toMin), lane1(step));
  const by = boundsAt(i32x4.extend_high_i16x8_u(qy), lane1(toMax), lane1(step));
  const az = boundsAt(i32x4.extend_low_i16x8_u(qz), lane2(toMin), lane2(step));
  const bz = boundsAt(i32x4.extend_high_i16x8_u(qz), lane2(toMax), lane2(step));
  const near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz));
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  return entered(near, far, children, f32x4.splat(limit));
}

/** Marks the triangles of a block whose bounds the body hits, a bit each. */
// @ts-ignore: decorator
@inline
function trianglesHit(block: usize, point: v128, inverse: v128, extent: v128, limit: f32): u32 {
  const from = f32x4.add(point, extent), to = f32x4.sub(point, extent);
  const ax = f32x4.mul(f32x4.sub(minOfCorners(block), lane0(from)), lane0(inverse));
  const bx = f32x4.mul(f32x4.sub(maxOfCorners(block), lane0(to)), lane0(inverse));
  const ay = f32x4.mul(f32x4.sub(minOfCorners(block + 16), lane1(from)), lane1(inverse));
  const by = f32x4.mul(f32x4.sub(maxOfCorners(block + 16), lane1(to)), lane1(inverse));
  const az = f32x4.mul(f32x4.sub(minOfCorners(block + 32), lane2(from)), lane2(inverse));
  const bz = f32x4.mul(f32x4.sub(maxOfCorners(block + 32), lane2(to)), lane2(inverse));
  const near = f32x4.pmax(f32x4.pmax(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmax(f32x4.pmin(az, bz), f32x4.splat(0)));
  const far = f32x4.pmin(f32x4.pmin(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz));
  return <u32>i32x4.bitmask(f32x4.le(near, f32x4.pmin(far, f32x4.splat(limit)))) & filledLanes(changetype<Block>(block));
}

/** The work of a node with its triangles (checkpoint.ts). */
const WORK_PER_NODE: i32 = 16;

// @ts-ignore: decorator
@inline
function minOfCorners(at: usize): v128 {
  return f32x4.pmin(f32x4.pmin(v128.load(at), v128.load(at, 48)), v128.load(at, 96));
}

// @ts-ignore: decorator
@inline
function maxOfCorners(at: usize): v128 {
  return f32x4.pmax(f32x4.pmax(v128.load(at), v128.load(at, 48)), v128.load(at, 96));
}
