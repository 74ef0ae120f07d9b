// Cuts the triangles of a mesh with a plane. A node's four boxes are rejected in float32 if they are certainly on one side, with
// a bound on rounding; the sides of vertices are decided in float64, and each consistently in all of its triangles. Work may be
// suspended between two nodes.

import { now } from '../host';
import { Affine } from '../math/affine';
import { laneCompaction } from '../math/lane-compaction';
import { PLANE_BYTES, Plane, normalise, pullBack, valueAt } from '../math/plane';
import { Rotation, rotationOf } from '../math/quaternion';
import {
  Block, MAX_DEPTH, Mesh, Node, blockAt, childMask, firstBlock, firstNode, maxSteps, innerCount, isRotated, minSteps,
  nodeAt, composeTreeMap,
} from '../mesh/tree/layout';
import { addSegment, beginSegments } from './crossings';
import { VECTOR_BYTES, WORD_BYTES } from '../sizes';

/** The map from tree space to the world, and the plane in tree space: as pulled back, and with a unit normal. */
const treeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treePlane = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const unitPlane = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
/** Whether the map mirrors the mesh, so that segments have the opposite direction. */
let isMirrored: bool = false;
let cutMesh: usize = 0;

/**
 * The stack of nodes, and the batch that is processed together. The next node then does not depend on the result of the last one,
 * so that the processor works on several at once: cutting takes a tenth less. All waiting nodes are processed before a shallower
 * one, so that at most the children of one batch wait at each depth.
 */
const BATCH: u32 = 8;
const STACK: usize = memory.data(4 * BATCH * (MAX_DEPTH + 1) * WORD_BYTES + VECTOR_BYTES, 16);
let top: usize = 0;
const BATCH_NODES: usize = memory.data(BATCH * WORD_BYTES, 16);
/**
 * Lists of what is to be cut: blocks; and the addresses of triangles' first corners, with a bit for each corner that is below the
 * plane. The number of a node's children or a block's triangles that the plane cuts is unpredictable, so that a loop over them
 * would end with a branch misprediction. They are written to lists as vectors instead, and the lists are processed once they are
 * long.
 */
const MAX_BLOCKS: i32 = 128;
const BLOCKS: usize = memory.data(MAX_BLOCKS * WORD_BYTES + VECTOR_BYTES, 16);
const CORNERS: usize = memory.data(4 * MAX_BLOCKS * WORD_BYTES + VECTOR_BYTES, 16);
const BELOW: usize = memory.data(4 * MAX_BLOCKS * WORD_BYTES + VECTOR_BYTES, 16);
let blocksEnd: usize = BLOCKS;

/**
 * Rounding error in float32 of a box's distance from the plane, whose terms sum to less than 12: a rotation that is orthonormal
 * to 2⁻¹⁷, and some fifteen roundings of 2⁻²⁴ of 12, together 2⁻¹⁶. Twice this is used.
 */
const ROUNDING: f32 = 3.0517578125e-5; // 2^-15
/** Nodes between two readings of the clock: some 0.1 ms. */
const NODES_PER_READING: u32 = 512;

/** Begins to cut a mesh that a map places in the world. Throws OUT_OF_MEMORY. */
export function beginMeshSection(mesh: Mesh, map: Affine, plane: Plane): void {
  beginSegments(treePlane, treeToWorld);
  composeTreeMap(treeToWorld, mesh, map);
  pullBack(treePlane, plane, treeToWorld);
  memory.copy(changetype<usize>(unitPlane), changetype<usize>(treePlane), PLANE_BYTES);
  normalise(unitPlane);
  isMirrored =
    treeToWorld.xx * (treeToWorld.yy * treeToWorld.zz - treeToWorld.yz * treeToWorld.zy) -
    treeToWorld.yx * (treeToWorld.xy * treeToWorld.zz - treeToWorld.xz * treeToWorld.zy) +
    treeToWorld.zx * (treeToWorld.xy * treeToWorld.yz - treeToWorld.xz * treeToWorld.yy) < 0;
  cutMesh = changetype<usize>(mesh);
  store<u32>(STACK, 0);
  // Skips a plane that is far away, or for which a map without a volume leaves no normal.
  top = abs(unitPlane.w) < 4 ? STACK + 4 : STACK;
}

/** Continues until time `deadline` of `now`. Returns whether all triangles are cut. Throws OUT_OF_MEMORY. */
export function stepMeshSection(deadline: f64): bool {
  const mesh = changetype<Mesh>(cutMesh);
  for (let count: u32 = 0; top != STACK; ) {
    const batchSize = min(<u32>(top - STACK) >> 2, BATCH);
    top -= <usize>batchSize << 2;
    v128.store(BATCH_NODES, v128.load(top));
    v128.store(BATCH_NODES, v128.load(top, 16), 16);
    for (let i: u32 = 0; i < batchSize; i++) {
      const node = nodeAt(mesh, load<u32>(BATCH_NODES + (<usize>i << 2))), inner = innerCount(node), cutBits = childrenCut(node);
      // The nodes come first.
      top = append(top, firstNode(node), cutBits & ((1 << inner) - 1));
      blocksEnd = append(blocksEnd, firstBlock(node), cutBits >> inner);
    }
    if (blocksEnd > BLOCKS + (MAX_BLOCKS - 4 * BATCH) * WORD_BYTES) cutBlocks(mesh);
    count += batchSize;
    if (count < NODES_PER_READING) continue;
    count = 0;
    if (now() >= deadline) break;
  }
  cutBlocks(mesh);
  return top == STACK;
}

/** Appends those of four consecutive numbers whose bits are set to a list. Returns its new end. */
// @ts-ignore: decorator
@inline
function append(end: usize, first: u32, bits: u32): usize {
  const numbers = i32x4.add(i32x4.splat(first), i32x4(0, 1, 2, 3));
  v128.store(end, i8x16.swizzle(numbers, laneCompaction(bits)));
  return end + (<usize>popcnt(bits) << 2);
}

/** Returns the children whose boxes may cross the plane, a bit each. */
function childrenCut(node: Node): u32 {
  let x = <f32>unitPlane.x, y = <f32>unitPlane.y, z = <f32>unitPlane.z;
  if (isRotated(node)) {
    const r = rotation, u = x, v = y, w = z, q = changetype<usize>(node) + offsetof<Node>('quaternion');
    rotationOf(r, load<i16>(q), load<i16>(q, 2), load<i16>(q, 4), load<i16>(q, 6));
    x = r.xx * u + r.xy * v + r.xz * w;
    y = r.yx * u + r.yy * v + r.yz * w;
    z = r.zx * u + r.zy * v + r.zz * w;
  }
  // The plane's function of the bounds as they are stored: none is decoded.
  const origin = f32x4.splat(x * node.originX + y * node.originY + z * node.originZ + <f32>unitPlane.w);
  const nx = f32x4.splat(x * node.scaleX), ny = f32x4.splat(y * node.scaleY), nz = f32x4.splat(z * node.scaleZ);
  const ax = f32x4.mul(nx, minSteps(node, 0)), bx = f32x4.mul(nx, maxSteps(node, 0));
  const ay = f32x4.mul(ny, minSteps(node, 1)), by = f32x4.mul(ny, maxSteps(node, 1));
  const az = f32x4.mul(nz, minSteps(node, 2)), bz = f32x4.mul(nz, maxSteps(node, 2));
  const maxHeights = f32x4.add(f32x4.add(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.add(f32x4.pmax(az, bz), origin));
  const minHeights = f32x4.add(f32x4.add(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.add(f32x4.pmin(az, bz), origin));
  const crosses = v128.and(f32x4.ge(maxHeights, f32x4.splat(-ROUNDING)), f32x4.le(minHeights, f32x4.splat(ROUNDING)));
  return <u32>i32x4.bitmask(crosses) & childMask(node);
}

/** Distance of a triangle's corners in its block, in bytes; y is a third of that after x. */
const CORNER_BYTES: usize = 48;

/**
 * Table of the two edges that the plane crosses, indexed by the corners below it (a bit each), as four offsets of corners: the
 * edge on which the segment begins, which goes down through the plane, from its upper corner to its lower one; then the edge on
 * which it ends, in the same order. So the space behind the triangle's face is to the left as seen from in front of the plane.
 * Which corner is alone on its side is unpredictable, and V8 compiles `select` to branches: with these, and all heights in
 * float64, cutting took a third longer.
 */
const EDGES: usize = memory.data<u8>([
  0, 0, 0, 0, 96, 0, 48, 0, 0, 48, 96, 48, 96, 0, 96, 48,
  48, 96, 0, 96, 48, 96, 48, 0, 0, 48, 0, 96, 0, 0, 0, 0,
]);

/** Cuts the triangles of all blocks in the list, and clears it. Throws OUT_OF_MEMORY. */
function cutBlocks(mesh: Mesh): void {
  let end = CORNERS;
  for (let at = BLOCKS; at < blocksEnd; at += 4) end = appendCut(end, changetype<usize>(blockAt(mesh, load<u32>(at))));
  blocksEnd = BLOCKS;
  const edgeRotation = isMirrored ? 16 : 0;
  for (let at = CORNERS; at < end; at += 4) {
    const corners = load<usize>(at), edges = rotr(load<u32>(EDGES + (<usize>load<u32>(at, BELOW - CORNERS) << 2)), edgeRotation);
    const a = corners + (edges & 0xff), b = corners + (edges >> 8 & 0xff);
    const c = corners + (edges >> 16 & 0xff), d = corners + (edges >> 24);
    const triangle = load<i32>(corners, offsetof<Block>('triangle0'));
    addSegment(edge(a, b), edgeRest(b), edge(c, d), edgeRest(d), triangle);
  }
}

/**
 * Appends those of four triangles that the plane cuts to the lists. Returns their new end. float32 decides on which side the
 * corners are, four at a time, and float64 if a corner is closer to the plane than the rounding error, which is less than that of
 * boxes. Lanes without a triangle have all corners on one side.
 */
// @ts-ignore: decorator
@inline
function appendCut(end: usize, at: usize): usize {
  const x = f32x4.splat(<f32>unitPlane.x), y = f32x4.splat(<f32>unitPlane.y), z = f32x4.splat(<f32>unitPlane.z),
    w = f32x4.splat(<f32>unitPlane.w);
  const a = heights(at, x, y, z, w), b = heights(at + CORNER_BYTES, x, y, z, w), c = heights(at + 2 * CORNER_BYTES, x, y, z, w);
  let below = v128.or(
    i32x4.shr_u(a, 31), v128.or(v128.and(i32x4.shr_u(b, 30), i32x4.splat(2)), v128.and(i32x4.shr_u(c, 29), i32x4.splat(4))),
  );
  if (!i32x4.all_true(v128.and(v128.and(isCertain(a), isCertain(b)), isCertain(c)))) below = belowExactly(at);
  // One or two corners of three.
  const cutBits = <u32>i32x4.bitmask(i32x4.lt_u(i32x4.sub(below, i32x4.splat(1)), i32x4.splat(6)));
  const compaction = laneCompaction(cutBits), corners = i32x4.add(i32x4.splat(<i32>at), i32x4(0, 4, 8, 12));
  v128.store(end, i8x16.swizzle(corners, compaction));
  v128.store(end, i8x16.swizzle(below, compaction), BELOW - CORNERS);
  return end + (<usize>popcnt(cutBits) << 2);
}

/** Returns which corners of four triangles are below the plane, in float64. */
function belowExactly(at: usize): v128 {
  let below = i32x4.splat(0);
  for (let corner = 0; corner < 3; corner++) {
    const from = at + <usize>corner * CORNER_BYTES;
    below = v128.or(below, i32x4.shl(i32x4(isBelow(from), isBelow(from + 4), isBelow(from + 8), isBelow(from + 12)), corner));
  }
  return below;
}

/** Returns the heights above the plane of one corner of each of four triangles. */
// @ts-ignore: decorator
@inline
function heights(at: usize, x: v128, y: v128, z: v128, w: v128): v128 {
  return f32x4.add(
    f32x4.add(f32x4.mul(x, v128.load(at)), f32x4.mul(y, v128.load(at, 16))),
    f32x4.add(f32x4.mul(z, v128.load(at, 32)), w),
  );
}

/** Returns which of four heights are certainly not 0. */
// @ts-ignore: decorator
@inline
function isCertain(height: v128): v128 {
  return f32x4.gt(f32x4.abs(height), f32x4.splat(ROUNDING));
}

/** Returns 1 for a corner that is below the plane, 0 for others. */
function isBelow(corner: usize): i32 {
  return i32(!(valueAt(treePlane, load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32)) >= 0));
}

/** Returns three coordinates of an edge's upper corner and the first one of its lower corner. -0 becomes 0. */
// @ts-ignore: decorator
@inline
function edge(from: usize, to: usize): v128 {
  return f32x4.add(
    v128.load_lane<f32>(to, v128.load_lane<f32>(from, v128.load_lane<f32>(from, v128.load32_zero(from), 1, 16), 2, 32), 3),
    f32x4.splat(0),
  );
}

/** Returns the other two coordinates of the lower corner. */
// @ts-ignore: decorator
@inline
function edgeRest(to: usize): u64 {
  return i64x2.extract_lane(f32x4.add(v128.load_lane<f32>(to, v128.load32_zero(to, 16), 1, 32), f32x4.splat(0)), 0);
}
