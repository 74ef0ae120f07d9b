// Whether a buffer is a mesh that can be trusted. Its checksum tells damage, and everything that a traversal follows
// is looked at besides, as a checksum can be forged: no buffer makes it read elsewhere or run without end.

import { MESH_HEADER_BYTES, MESH_MAGIC_VALUE, MESH_VERSION_VALUE } from '../../../shared/layout';
import { allocate, release } from '../memory';
import { checksum } from './checksum';
import {
  BLOCK_BYTES, Block, LEAF, LEAST_EXPONENT, MAX_DEPTH, GREATEST_EXPONENT, Mesh, NODE_BYTES, TREE_EXTENT, blockAt,
  childCount, childOf, coordinatesAreWithin, isSound, nodeAt, trianglesOf,
} from './layout';

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

/** MESH_OK when the `bytes` bytes at `address` are a mesh that every traversal stays inside of and comes to an end. */
export function checkMesh(address: usize, bytes: u32): u32 {
  if (bytes < <u32>MESH_HEADER_BYTES) return MESH_TRUNCATED;
  const mesh = changetype<Mesh>(address);
  if (mesh.magic != MESH_MAGIC_VALUE) return MESH_FOREIGN;
  if (mesh.version != MESH_VERSION_VALUE) return MESH_OTHER_VERSION;
  if (mesh.bytes != bytes) return MESH_TRUNCATED;
  if (!isConsistent(mesh)) return MESH_INCONSISTENT;
  if (checksum(mesh) != mesh.checksum) return MESH_CORRUPT;
  if (!isSpace(mesh)) return MESH_BAD_NUMBER;
  const links = checkLinks(mesh);
  if (links != MESH_OK) return links;
  const blocks = checkBlocks(mesh);
  return blocks == MESH_OK ? checkIndices(mesh) : blocks;
}

/** Whether counts and sizes agree. */
function isConsistent(mesh: Mesh): bool {
  const nodes = <u64>MESH_HEADER_BYTES;
  const blocks = nodes + <u64>mesh.nodeCount * NODE_BYTES;
  const indices = blocks + <u64>mesh.blockCount * BLOCK_BYTES;
  const end = indices + (mesh.indexed ? <u64>mesh.triangleCount * 12 : 0);
  return (
    mesh.nodes == nodes && mesh.blocks == blocks && mesh.indices == indices && end == mesh.bytes &&
    mesh.nodeCount > 0 && mesh.blockCount > 0 && mesh.keptCount > 0 && mesh.keptCount <= mesh.triangleCount &&
    mesh.triangleCount <= <u32>i32.MAX_VALUE && mesh.indexed <= 1 &&
    (mesh.indexed != 0 || mesh.vertexCount == <u64>mesh.triangleCount * 3)
  );
}

/** Whether tree space and the bounds are such as float32 positions make them. */
function isSpace(mesh: Mesh): bool {
  return (
    mesh.exponent >= LEAST_EXPONENT && mesh.exponent <= GREATEST_EXPONENT &&
    isAxis(mesh.lowX, mesh.highX, mesh.offsetX) &&
    isAxis(mesh.lowY, mesh.highY, mesh.offsetY) &&
    isAxis(mesh.lowZ, mesh.highZ, mesh.offsetZ)
  );
}

// Each comparison is false for NaN.
function isAxis(low: f64, high: f64, offset: f64): bool {
  return low >= <f64>-f32.MAX_VALUE && low <= high && high <= <f64>f32.MAX_VALUE && abs(offset) <= <f64>f32.MAX_VALUE;
}

/**
 * Every node but the root is linked once, from a node of lower index, every block once: a tree, and one pass over it
 * in the order of the indices, with a byte per node (its depth, from 1) and per block (whether it is linked).
 */
function checkLinks(mesh: Mesh): u32 {
  const bytes = <usize>mesh.nodeCount + mesh.blockCount;
  const depths = allocate(bytes);
  memory.fill(depths, 0, bytes);
  store<u8>(depths, 1);
  linkedBlocks = 0;
  let result: u32 = MESH_OK;
  for (let index: u32 = 0; index < mesh.nodeCount && result == MESH_OK; index++) {
    result = checkNode(mesh, index, depths, depths + mesh.nodeCount);
  }
  release(depths);
  return result == MESH_OK && linkedBlocks != mesh.blockCount ? MESH_BAD_LINK : result;
}

let linkedBlocks: u32 = 0;

// A function for each step of a long loop, as engines replace a function by its optimised code when it is called.
function checkNode(mesh: Mesh, index: u32, depths: usize, linked: usize): u32 {
  const node = nodeAt(mesh, index);
  const depth = load<u8>(depths + index);
  if (depth == 0) return MESH_BAD_LINK;
  if (depth > MAX_DEPTH + 1) return MESH_TOO_DEEP;
  if (!isSound(node)) return MESH_BAD_NUMBER;
  const count = childCount(node);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    if (child & LEAF) {
      const block = child & ~LEAF;
      if (block >= mesh.blockCount || load<u8>(linked + block) != 0) return MESH_BAD_LINK;
      store<u8>(linked + block, 1);
      linkedBlocks++;
    } else {
      if (child <= index || child >= mesh.nodeCount || load<u8>(depths + child) != 0) return MESH_BAD_LINK;
      store<u8>(depths + child, depth + 1);
    }
  }
  return MESH_OK;
}

function checkBlocks(mesh: Mesh): u32 {
  let kept: u32 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, LEAF | index);
    if (!checkBlock(block, mesh.triangleCount)) return MESH_BAD_NUMBER;
    kept += popcnt(i32x4.bitmask(i32x4.ge_s(trianglesOf(block), i32x4.splat(0))));
  }
  return kept == mesh.keptCount ? MESH_OK : MESH_BAD_INDEX;
}

function checkBlock(block: Block, triangleCount: u32): bool {
  const triangles = trianglesOf(block);
  // The sign is set where there is none, or where it has no area for the time being (refit.ts).
  const number = v128.and(triangles, i32x4.splat(i32.MAX_VALUE));
  const known = v128.or(i32x4.eq(triangles, i32x4.splat(-1)), i32x4.lt_u(number, i32x4.splat(triangleCount)));
  return i32x4.all_true(known) && coordinatesAreWithin(block, TREE_EXTENT);
}

function checkIndices(mesh: Mesh): u32 {
  if (!mesh.indexed) return MESH_OK;
  let at = changetype<usize>(mesh) + mesh.indices;
  const end = changetype<usize>(mesh) + mesh.bytes;
  let greatest = i32x4.splat(0);
  for (; at + 16 <= end; at += 16) greatest = i32x4.max_u(greatest, v128.load(at));
  for (; at < end; at += 4) greatest = i32x4.max_u(greatest, v128.load32_splat(at));
  const beyond = i32x4.ge_u(greatest, i32x4.splat(mesh.vertexCount));
  return v128.any_true(beyond) ? MESH_BAD_INDEX : MESH_OK;
}
