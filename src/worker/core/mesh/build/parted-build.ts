// A tree that two builders make. Both sort the triangles and cut the same ranges from the root on; the second part
// begins where about half of the triangles come before it. The first builder makes what comes before that point, the
// second what comes after it, whose nodes and blocks are contiguous in the whole tree. So the tree is the same to the
// byte as that of one builder. The first one joins them, fits the few nodes above both and does the rest. Until the
// second part comes, it continues alone: so it never waits, and a second builder that dies does no harm to the mesh.

import { allocate, capacityOf, release, reserve } from '../../memory';
import { beginDerivation, joinDerived } from '../topology/derivation';
import { Derivation } from '../topology/derivation-state';
import { SURFACE_SUMS_BYTES } from '../tree/dipoles';
import { BLOCK_BYTES, DIPOLE_BYTES, Mesh, NODE_BYTES, Node } from '../tree/layout';
import { MESH_HEADER_BYTES } from '../../../../shared/layout';
import { SPACE_BYTES } from '../tree/tree-space';
import {
  CUT, FIRST, FITTED, JOINED, NOT_CUT, PHASE_DERIVE, PHASE_DONE, PHASE_FIT, PHASE_SPLIT, SECOND, WHOLE, Build, freeRanges,
  freeTreeScratch, spaceOf,
} from './build-state';
import { PRIMITIVE_BYTES, emptyMax, emptyMin, primitiveAt } from './binned-sah';
import { EXTREMES_BYTES } from './extreme-points';
import { SUBTREE_BYTES, Subtree } from './node-boxes';

/**
 * The first builder's share of the triangles. With it, the second part of the full dragon is ready a little before the
 * first is fitted; with a half, the first builder continued alone for 50 to 100 ms of 1,000 on a busy machine.
 */
const FIRST_SHARE: f64 = 0.56;
/** Ranges of less than this fraction of all triangles are not cut by both builders. */
const SHARED_RANGE_DIVISOR: u32 = 32;
/** The value of Build.topRanges if the next range is not within one of the first part. */
export const ANY_RANGES: u32 = 0xffffffff;
/** The bytes of the vertices of a block's triangles. */
export const CORNERS_BYTES: usize = 48;

// --- splitting ---

/**
 * Returns whether the next `count` triangles reach from the first part far enough into the second for both to cut them.
 */
// @ts-ignore: decorator
@inline
export function isShared(build: Build, count: u32): bool {
  return build.placedCount + count > firstPartSize(build) && count > build.keptCount / SHARED_RANGE_DIVISOR;
}

/** Returns whether the second part begins here. */
// @ts-ignore: decorator
@inline
export function isAtCut(build: Build): bool {
  return build.placedCount >= firstPartSize(build);
}

// @ts-ignore: decorator
@inline
function firstPartSize(build: Build): u32 {
  return <u32>(<f64>build.keptCount * FIRST_SHARE);
}

/** Lists a node that is above both parts, or one of the first nodes of the second part. */
export function addLateNode(build: Build, node: u32): void {
  const used = <usize>(build.lateCount++) << 2;
  build.lateNodes = reserve(build.lateNodes, used, <u64>used + 4);
  store<u32>(build.lateNodes + used, node);
}

// @ts-ignore: decorator
@inline
function lateNode(build: Build, i: u32): u32 {
  return load<u32>(build.lateNodes + (<usize>i << 2));
}

// @ts-ignore: decorator
@inline
function subtreeOf(build: Build, node: u32): Subtree {
  return changetype<Subtree>(build.subtrees + node * <u32>SUBTREE_BYTES);
}

/**
 * Ends the first part, whose nodes are fitted next, or begins the second: the nodes of the `pendingCount` pending ranges are
 * its first ones.
 */
export function cutHere(build: Build, pendingCount: u32): void {
  build.cut = CUT;
  build.pathCount = build.lateCount - pendingCount;
  if (build.part == SECOND) {
    build.cutNodes = build.nodeCount = pendingCount;
    build.blockCount = 0;
    build.nodes = reserve(build.nodes, 0, <u64>pendingCount * NODE_BYTES);
    return;
  }
  build.cutNodes = build.nodeCount;
  build.cutBlocks = build.blockCount;
  build.cutPlaced = build.placedCount;
  // Room for the expected number of all nodes: memory is only touched where it is used.
  reserveFitting(build, max(build.nodeCount, <u32>(capacityOf(build.nodes) / NODE_BYTES)));
  memory.fill(build.subtrees, 0, <usize>build.cutNodes * SUBTREE_BYTES);
  for (let i: u32 = 0; i < build.lateCount; i++) subtreeOf(build, lateNode(build, i)).isLate = 1;
  build.phase = PHASE_FIT;
  build.cursor = build.cutNodes;
}

/** Begins to fit nodes after all ranges are split. */
export function beginFitting(build: Build): void {
  freeRanges(build);
  if (build.cut == NOT_CUT) {
    // There was no cut, since the mesh is too small or its triangles are too much alike to be divided: the second
    // builder has nothing to do.
    if (build.part == SECOND) {
      build.phase = PHASE_DONE;
      return;
    }
    build.part = WHOLE;
  }
  reserveFitting(build, build.nodeCount);
  build.phase = PHASE_FIT;
  build.cursor = build.nodeCount;
}

function reserveFitting(build: Build, nodes: u32): void {
  const used: usize = build.cut == FITTED ? <usize>build.cutNodes : 0;
  build.subtrees = reserve(build.subtrees, used * SUBTREE_BYTES, <u64>nodes * SUBTREE_BYTES);
  build.extremes = reserve(build.extremes, used * EXTREMES_BYTES, <u64>nodes * EXTREMES_BYTES);
}

/** Stores the bounds of triangles of the first part: the second builder derives only what lies outside of these. */
export function addFirstPartBox(build: Build, primitives: usize, start: u32, end: u32): void {
  const used = <usize>(build.firstPartBoxCount++) * PRIMITIVE_BYTES;
  build.firstPartBoxes = reserve(build.firstPartBoxes, used, <u64>used + PRIMITIVE_BYTES);
  let boxMin = emptyMin(), boxMax = emptyMax();
  for (let i = start; i < end; i++) {
    const p = primitiveAt(primitives, i);
    boxMin = f32x4.pmin(boxMin, p.min);
    boxMax = f32x4.pmax(boxMax, p.max);
  }
  v128.store(build.firstPartBoxes + used, boxMin);
  v128.store(build.firstPartBoxes + used, boxMax, 16);
}

// --- fitting ---

/** Returns whether a node is to be fitted now. */
// @ts-ignore: decorator
@inline
export function isFittedNow(build: Build, node: u32): bool {
  if (build.part != FIRST) return true;
  if (build.cut == CUT) return !subtreeOf(build, node).isLate;
  return node >= build.cutNodes || subtreeOf(build, node).isLate != 0;
}

/** Continues after the nodes of the first part are fitted: alone, until the second part comes. */
export function continueAlone(build: Build): void {
  build.cut = FITTED;
  build.phase = PHASE_SPLIT;
}

/** Adds up the costs of the nodes that were not summed up in the second part. */
export function sumCosts(build: Build): void {
  const from = build.part == SECOND ? build.cutNodes : 0;
  for (let i = build.cut == JOINED ? build.cutNodes : build.nodeCount; i > from; ) build.areas += subtreeOf(build, --i).cost;
}

// --- the second part as one piece of memory ---
// It is a mesh without a root. In its header, `indices` is the offset of the corners, `derived` that of the data that
// its first nodes pass to their parents, followed by their extreme points and the sums over all triangles. The number of
// these nodes is `triangleCount`.

/** Packs the second part into one piece of memory, to be summed up. Throws OUT_OF_MEMORY. */
export function assembleSecond(build: Build): void {
  const nodeBytes = build.nodeCount * <u32>NODE_BYTES, blockBytes = build.blockCount * <u32>BLOCK_BYTES;
  const cornerBytes: u32 = build.corners == 0 ? 0 : build.blockCount * <u32>CORNERS_BYTES;
  const firstNodeCount = build.cutNodes, subtreeBytes = firstNodeCount * <u32>SUBTREE_BYTES,
    extremeBytes = firstNodeCount * <u32>EXTREMES_BYTES;
  const bytes =
    <u64>MESH_HEADER_BYTES + nodeBytes + blockBytes + cornerBytes + <u64>build.nodeCount * DIPOLE_BYTES + subtreeBytes +
    extremeBytes + SURFACE_SUMS_BYTES;
  const address = allocate(bytes), mesh = changetype<Mesh>(address);
  memory.fill(address, 0, MESH_HEADER_BYTES);
  mesh.bytes = <u32>bytes;
  mesh.nodeCount = build.nodeCount;
  mesh.blockCount = build.blockCount;
  mesh.triangleCount = firstNodeCount;
  mesh.keptCount = build.blockCount << 2;
  mesh.vertexCount = build.vertexCount;
  mesh.indexed = build.indices == 0 ? 0 : 1;
  mesh.nodes = MESH_HEADER_BYTES;
  mesh.blocks = mesh.nodes + nodeBytes;
  mesh.indices = mesh.blocks + blockBytes;
  mesh.dipoles = mesh.indices + cornerBytes;
  mesh.derived = mesh.dipoles + build.nodeCount * <u32>DIPOLE_BYTES;
  mesh.exponent = build.exponent;
  mesh.cost = build.areas;
  memory.copy(address + offsetof<Mesh>('offsetX'), changetype<usize>(spaceOf(build)), SPACE_BYTES);
  memory.copy(address + mesh.nodes, build.nodes, nodeBytes);
  memory.copy(address + mesh.blocks, build.blocks, blockBytes);
  memory.copy(address + mesh.indices, build.corners, cornerBytes);
  memory.copy(address + mesh.derived, build.subtrees, subtreeBytes);
  memory.copy(address + mesh.derived + subtreeBytes, build.extremes, extremeBytes);
  build.mesh = address;
  freeTreeScratch(build);
}

// @ts-ignore: decorator
@inline
function secondOf(build: Build): Mesh {
  return changetype<Mesh>(build.second);
}

// @ts-ignore: decorator
@inline
function derivationOf(build: Build): Derivation {
  return changetype<Derivation>(build.derivation);
}

/**
 * Returns whether the second part, or its derived data, can be joined now: earlier it must wait, later it is of no use.
 */
export function mayJoin(build: Build): bool {
  return build.phase == PHASE_DERIVE ? derivationOf(build).isAtCut != 0 : build.cut == FITTED && build.phase <= <u32>PHASE_FIT;
}

/**
 * Joins the second part, which the build frees, in place of what was made of it alone; or its derived data. Throws
 * OUT_OF_MEMORY; the build then continues without it.
 */
export function joinSecond(build: Build, address: usize): void {
  if (build.phase == PHASE_DERIVE) joinDerived(derivationOf(build), address);
  else joinTree(build, address);
}

/** Begins to derive what is possible for a second part, which must not move meanwhile. */
export function deriveSecond(build: Build, address: usize): void {
  const d = beginDerivation(changetype<Mesh>(address));
  d.isPart = 1;
  d.corners = build.corners;
  d.areIndices = build.corners != 0 ? 1 : 0;
  d.firstPartBoxes = build.firstPartBoxes;
  d.firstPartBoxCount = build.firstPartBoxCount;
  build.corners = build.firstPartBoxes = 0;
  build.derivation = changetype<usize>(d);
  build.phase = PHASE_DERIVE;
}

function joinTree(build: Build, address: usize): void {
  const second = changetype<Mesh>(address);
  const firstNodeCount = second.triangleCount, addedNodes = second.nodeCount - firstNodeCount,
    nodeCount = build.cutNodes + addedNodes;
  const blockCount = build.cutBlocks + second.blockCount;
  const nodeShift = build.cutNodes - firstNodeCount, blockShift = build.cutBlocks;
  const firstNodeBytes = build.cutNodes * <u32>NODE_BYTES, firstBlockBytes = build.cutBlocks * <u32>BLOCK_BYTES;
  const firstCornerBytes = build.cutBlocks * <u32>CORNERS_BYTES;
  build.nodes = reserve(build.nodes, firstNodeBytes, <u64>nodeCount * NODE_BYTES);
  build.blocks = reserve(build.blocks, firstBlockBytes, <u64>blockCount * BLOCK_BYTES);
  if (build.corners != 0) build.corners = reserve(build.corners, firstCornerBytes, <u64>blockCount * CORNERS_BYTES);
  build.second = address;
  freeRanges(build);
  build.nodeCount = nodeCount;
  build.blockCount = blockCount;
  build.placedCount = build.keptCount;
  build.areas = second.cost;
  const from = address + second.nodes;
  for (let i: u32 = 0; i < second.nodeCount; i++) {
    const node = changetype<Node>(from + i * <u32>NODE_BYTES);
    node.children += nodeShift;
    node.blocks += blockShift;
  }
  memory.copy(build.nodes + firstNodeBytes, from + firstNodeCount * <u32>NODE_BYTES, addedNodes * <u32>NODE_BYTES);
  memory.copy(build.blocks + firstBlockBytes, address + second.blocks, second.blockCount * <u32>BLOCK_BYTES);
  if (build.corners != 0) {
    memory.copy(build.corners + firstCornerBytes, address + second.indices, second.blockCount * <u32>CORNERS_BYTES);
  }
  const subtrees = address + second.derived, extremes = subtrees + firstNodeCount * <u32>SUBTREE_BYTES;
  for (let i: u32 = 0; i < firstNodeCount; i++) {
    const node = lateNode(build, build.pathCount + i), to = subtreeOf(build, node);
    memory.copy(build.nodes + node * <u32>NODE_BYTES, from + i * <u32>NODE_BYTES, NODE_BYTES);
    memory.copy(changetype<usize>(to), subtrees + i * <u32>SUBTREE_BYTES, SUBTREE_BYTES);
    memory.copy(build.extremes + node * <u32>EXTREMES_BYTES, extremes + i * <u32>EXTREMES_BYTES, EXTREMES_BYTES);
    to.firstBlock += blockShift;
    to.endBlock += blockShift;
    to.isLate = 0;
  }
  build.cut = JOINED;
  build.phase = PHASE_FIT;
  build.cursor = build.cutNodes;
}

/** Takes over the sums of the second part. */
export function joinSums(build: Build): void {
  const mesh = changetype<Mesh>(build.mesh), second = secondOf(build), firstNodeCount = second.triangleCount;
  const skippedBytes = firstNodeCount * <u32>DIPOLE_BYTES, totalBytes = second.nodeCount * <u32>DIPOLE_BYTES;
  memory.copy(
    build.mesh + mesh.dipoles + build.cutNodes * <u32>DIPOLE_BYTES, build.second + second.dipoles + skippedBytes,
    totalBytes - skippedBytes,
  );
  memory.copy(build.sums, sumsOf(second), SURFACE_SUMS_BYTES);
  release(build.second);
  build.second = 0;
}

/** Returns the address of the second part's sums over all triangles. */
export function sumsOf(second: Mesh): usize {
  return changetype<usize>(second) + second.bytes - SURFACE_SUMS_BYTES;
}
