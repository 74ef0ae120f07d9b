// Validates a buffer as a mesh that can be trusted. Its checksum tells damage, and everything that a traversal follows
// is looked at besides, as a checksum can be forged: no buffer makes it read elsewhere or run without end.

import {
  MESH_CLOSING_WELD, MESH_DEFORM_BYTES, MESH_DERIVED_STATE, MESH_HEADER_BYTES, MESH_MAGIC_VALUE, MESH_OPEN_TO, MESH_VERSION_VALUE,
} from '../../../../shared/layout';
import { checksum } from './checksum';
import { areDipolesFinite } from './dipoles';
import {
  BLOCK_BYTES, Block, DIPOLE_BYTES, GREATEST_EXPONENT, LEAST_EXPONENT, MAX_DEPTH, Mesh, NODE_BYTES, TREE_EXTENT, blockAt,
  childCount, coordinatesAreWithin, dipolesOffset, filledLanes, firstBlock, firstNode, innerCount, isSound, nodeAt, trianglesOf,
} from './layout';
import { isDeformConsistent, isDeformSound } from './validate-deform';
import { SPACE_BYTES, Space, chooseOffset, exponentFor, largestCoordinate } from './tree-space';

export const MESH_OK = 0;
export const MESH_TRUNCATED = 1;
export const MESH_FOREIGN = 2;
export const MESH_OTHER_VERSION = 3;
export const MESH_INCONSISTENT = 4;
export const MESH_CORRUPT = 5;
export const MESH_BAD_LINK = 6;
export const MESH_TOO_DEEP = 9;
export const MESH_BAD_NUMBER = 10;
export const MESH_BAD_INDEX = 11;

/**
 * Checks the tree in the `bytes` bytes at `address`. Answers MESH_OK where every traversal stays inside of the mesh and
 * comes to an end. Does not look at what was derived (topology/validate-derived.ts), which begins within the bytes.
 */
export function checkTreeData(address: usize, bytes: u32): u32 {
  if (bytes < <u32>MESH_HEADER_BYTES) return MESH_TRUNCATED;
  const mesh = changetype<Mesh>(address);
  if (mesh.magic != MESH_MAGIC_VALUE) return MESH_FOREIGN;
  if (mesh.version != MESH_VERSION_VALUE) return MESH_OTHER_VERSION;
  if (mesh.bytes != bytes) return MESH_TRUNCATED;
  if (!isConsistent(mesh) || hasState(mesh) || !isOpenKnown(mesh) || !isDeformConsistent(mesh)) return MESH_INCONSISTENT;
  if (checksum(mesh) != mesh.checksum) return MESH_CORRUPT;
  if (!isSpace(mesh) || !isCost(mesh.cost) || !isCost(mesh.builtCost) || !isRadius(mesh)) return MESH_BAD_NUMBER;
  const links = checkLinks(mesh);
  if (links != MESH_OK) return links;
  const blocks = checkBlocks(mesh);
  if (blocks != MESH_OK) return blocks;
  const indices = checkIndices(mesh);
  if (indices != MESH_OK) return indices;
  return areDipolesFinite(mesh) && isDeformSound(mesh) ? MESH_OK : MESH_BAD_NUMBER;
}

/** Tells whether counts and sizes agree. */
function isConsistent(mesh: Mesh): bool {
  const nodes = <u64>MESH_HEADER_BYTES;
  const blocks = nodes + <u64>mesh.nodeCount * NODE_BYTES;
  const indices = blocks + <u64>mesh.blockCount * BLOCK_BYTES;
  const dipoles = dipolesOffset(mesh.nodeCount, mesh.blockCount, mesh.indexed, mesh.triangleCount);
  const derived = dipoles + <u64>mesh.nodeCount * DIPOLE_BYTES + mesh.deformBytes;
  return (
    mesh.nodes == nodes && mesh.blocks == blocks && mesh.indices == indices && mesh.dipoles == dipoles &&
    mesh.derived == derived && derived + DERIVED_HEADER_BYTES <= mesh.bytes &&
    mesh.nodeCount > 0 && mesh.blockCount > 0 && mesh.keptCount > 0 && mesh.keptCount <= mesh.triangleCount &&
    mesh.triangleCount <= <u32>i32.MAX_VALUE && mesh.indexed <= 1 && mesh.closed <= 1 &&
    mesh.facing >= -1 && mesh.facing <= 1 &&
    (mesh.indexed != 0 || mesh.vertexCount == <u64>mesh.triangleCount * 3)
  );
}

/** Tells whether the mesh holds what only a mesh in a core knows, or anything where nothing belongs. */
function hasState(mesh: Mesh): bool {
  return !isZero(mesh, MESH_DERIVED_STATE, MESH_DEFORM_BYTES) || !isZero(mesh, MESH_DEFORM_BYTES + 4, MESH_CLOSING_WELD) ||
    !isZero(mesh, MESH_OPEN_TO + 12, MESH_HEADER_BYTES);
}

function isZero(mesh: Mesh, start: usize, end: usize): bool {
  for (let at = start; at < end; at += 4) if (load<u32>(changetype<usize>(mesh) + at) != 0) return false;
  return true;
}

/** The least bytes of what was derived. */
const DERIVED_HEADER_BYTES: u64 = 32;

/** Tells whether what the mesh says of its open edges agrees with whether it is closed. */
function isOpenKnown(mesh: Mesh): bool {
  if (mesh.closed) return mesh.openEdges == 0 && mesh.closingWeld == 0;
  return (
    mesh.openEdges > 0 && mesh.openTriangle < mesh.triangleCount && mesh.openEdge < 3 &&
    mesh.closingWeld >= 0 && mesh.closingWeld < Infinity
  );
}

const expected = changetype<Space>(memory.data(<i32>offsetof<Space>(), 16));

/** Tells whether the bounds are such as float32 positions make them, and tree space is the one that belongs to them. */
function isSpace(mesh: Mesh): bool {
  const space = changetype<usize>(mesh) + offsetof<Mesh>('offsetX');
  memory.copy(changetype<usize>(expected), space, SPACE_BYTES);
  chooseOffset(expected);
  return (
    isRange(mesh.lowX, mesh.highX) && isRange(mesh.lowY, mesh.highY) && isRange(mesh.lowZ, mesh.highZ) &&
    memory.compare(changetype<usize>(expected), space, SPACE_BYTES) == 0 &&
    mesh.exponent == exponentFor(largestCoordinate(expected)) &&
    mesh.exponent >= LEAST_EXPONENT && mesh.exponent <= GREATEST_EXPONENT
  );
}

// Each comparison is false for NaN, here and below.
function isRange(low: f64, high: f64): bool {
  return low >= <f64>-f32.MAX_VALUE && low <= high && high <= <f64>f32.MAX_VALUE;
}

/** More than the diagonal of the largest bounds that float32 has. */
const LARGEST_RADIUS: f64 = 1e39;

function isRadius(mesh: Mesh): bool {
  return mesh.radius > 0 && mesh.radius < LARGEST_RADIUS;
}

/** Tells whether a cost is possible: a ray visits at least the root. */
function isCost(cost: f64): bool {
  return cost >= 1 && cost < Infinity;
}

/** The nodes that wait, with their depths: three of each depth but the root's, and a fourth of the last. */
const stack: usize = memory.data(8 * (3 * <i32>MAX_DEPTH + 1), 16);
let top: usize = 0;
let nextNode: u32 = 0;
let nextBlock: u32 = 0;

/**
 * Checks that nodes and blocks have the numbers that builds give them: a node is taken from a stack, its leaves are the
 * next blocks, its inner children are the next nodes and go on the stack. So everything is linked once, from a node of
 * lower index, and a subtree's blocks lie side by side, without which a refit would look at blocks times nodes.
 */
export function checkLinks(mesh: Mesh): u32 {
  nextNode = 1;
  nextBlock = 0;
  top = stack;
  push(0, 0);
  while (top != stack) {
    const fault = checkNode(mesh);
    if (fault != MESH_OK) return fault;
  }
  return nextNode == mesh.nodeCount && nextBlock == mesh.blockCount ? MESH_OK : MESH_BAD_LINK;
}

// @ts-ignore: decorator
@inline
function push(index: u32, depth: u32): void {
  store<u32>(top, index);
  store<u32>(top, depth, 4);
  top += 8;
}

// A function for each step of a long loop, as engines replace a function by its optimised code when it is called.
function checkNode(mesh: Mesh): u32 {
  top -= 8;
  const node = nodeAt(mesh, load<u32>(top));
  const depth = load<u32>(top, 4);
  if (!isSound(node)) return MESH_BAD_NUMBER;
  if (firstNode(node) != nextNode || firstBlock(node) != nextBlock) return MESH_BAD_LINK;
  const inner = innerCount(node);
  nextNode += inner;
  nextBlock += childCount(node) - inner;
  if (nextNode > mesh.nodeCount) return MESH_BAD_LINK;
  if (inner > 0 && depth == MAX_DEPTH) return MESH_TOO_DEEP;
  for (let index = nextNode - inner; index < nextNode; index++) push(index, depth + 1);
  return MESH_OK;
}

function checkBlocks(mesh: Mesh): u32 {
  let kept: u32 = 0;
  let given: u32 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    if (!checkBlock(block, mesh.triangleCount)) return MESH_BAD_NUMBER;
    kept += popcnt(filledLanes(block));
    given += popcnt(i32x4.bitmask(i32x4.ne(trianglesOf(block), i32x4.splat(-1))));
  }
  // A refit may make all of those that are given kept ones.
  return kept == mesh.keptCount && given <= mesh.triangleCount ? MESH_OK : MESH_BAD_INDEX;
}

function checkBlock(block: Block, triangleCount: u32): bool {
  const triangles = trianglesOf(block);
  // The sign is set where there is none, which the first lane must not say as refits use its corner for such lanes, or
  // where one has no area for the time being (refit.ts).
  const none = v128.and(i32x4.eq(triangles, i32x4.splat(-1)), i32x4(0, -1, -1, -1));
  const number = v128.and(triangles, i32x4.splat(i32.MAX_VALUE));
  const known = v128.or(none, i32x4.lt_u(number, i32x4.splat(triangleCount)));
  return i32x4.all_true(known) && coordinatesAreWithin(block, TREE_EXTENT);
}

function checkIndices(mesh: Mesh): u32 {
  if (!mesh.indexed) return MESH_OK;
  let at = changetype<usize>(mesh) + mesh.indices;
  const end = at + <usize>mesh.triangleCount * 12;
  let greatest = i32x4.splat(0);
  for (; at + 16 <= end; at += 16) greatest = i32x4.max_u(greatest, v128.load(at));
  for (; at < end; at += 4) greatest = i32x4.max_u(greatest, v128.load32_splat(at));
  const beyond = i32x4.ge_u(greatest, i32x4.splat(mesh.vertexCount));
  return v128.any_true(beyond) ? MESH_BAD_INDEX : MESH_OK;
}
