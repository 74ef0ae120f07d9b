// Validates a buffer as a mesh of triangles that can be trusted. Its checksum detects damage. Everything that a
// traversal follows is checked as well, since a checksum can be forged: no buffer can cause reads elsewhere or an
// endless loop.

import {
  MESH_CLOSING_WELD, MESH_DEFORM_BYTES, MESH_DERIVED_STATE, MESH_HEADER_BYTES, MESH_MAGIC_VALUE, MESH_OPEN_TO, MESH_VERSION_VALUE,
} from '../../../../shared/layout';
import { dipoleAt } from './dipoles';
import {
  BLOCK_BYTES, Block, DIPOLE_BYTES, Mesh, NODE_BYTES, TREE_EXTENT, blockAt, dipolesOffset, trianglesOf,
} from './layout';
import {
  MESH_BAD_INDEX, MESH_BAD_NUMBER, MESH_INCONSISTENT, MESH_OK, MeshCheck, RANGE_WORDS, addFloats, addNumbers, areHeaderNumbersValid,
  blocksBefore, checkKind, checkLinksBefore, checkRangesBefore, isZero, meshOf,
} from './mesh-check';
import { checkDeform, isDeformConsistent } from './validate-deform';

/**
 * Checks the header: that all bytes exist, and that counts and sizes agree. Does not check the derived data
 * (topology/validate-derived.ts), except that it begins within the bytes.
 */
export function checkTreeHeader(check: MeshCheck): u32 {
  const fault = checkKind(check, MESH_MAGIC_VALUE, MESH_VERSION_VALUE);
  if (fault != MESH_OK) return fault;
  const mesh = meshOf(check);
  return isConsistent(mesh) && !hasState(mesh) && isOpenDataValid(mesh) && isDeformConsistent(mesh)
    ? MESH_OK
    : MESH_INCONSISTENT;
}

/** Checks the numbers of the header, and adds ranges for those after nodes and blocks. */
export function checkTreeNumbers(check: MeshCheck): u32 {
  const mesh = meshOf(check);
  if (!areHeaderNumbersValid(mesh, false)) return MESH_BAD_NUMBER;
  if (mesh.indexed) {
    const indices = changetype<usize>(mesh) + mesh.indices;
    addNumbers(check, RANGE_WORDS, indices, indices + <usize>mesh.triangleCount * 12, mesh.vertexCount);
  }
  const dipoles = changetype<usize>(dipoleAt(mesh, 0)), end = changetype<usize>(dipoleAt(mesh, mesh.nodeCount));
  addFloats(check, dipoles, end, f32.MAX_VALUE);
  return checkDeform(check, mesh) ? MESH_OK : MESH_BAD_NUMBER;
}

/** Returns whether counts and sizes agree. */
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

/** Returns whether the mesh has state that only exists inside a core, or anything in unused fields. */
function hasState(mesh: Mesh): bool {
  return !isZero(mesh, MESH_DERIVED_STATE, MESH_DEFORM_BYTES) || !isZero(mesh, MESH_DEFORM_BYTES + 4, MESH_CLOSING_WELD) ||
    !isZero(mesh, MESH_OPEN_TO + 12, MESH_HEADER_BYTES);
}

/** The minimum size of the derived data, in bytes. */
const DERIVED_HEADER_BYTES: u64 = 32;

/** Returns whether the mesh's data about open edges agrees with whether it is closed. */
function isOpenDataValid(mesh: Mesh): bool {
  if (mesh.closed) return mesh.openEdges == 0 && mesh.closingWeld == 0;
  return (
    mesh.openEdges > 0 && mesh.openTriangle < mesh.triangleCount && mesh.openEdge < 3 &&
    mesh.closingWeld >= 0 && mesh.closingWeld < Infinity
  );
}

/** Checks those links, blocks and ranges that lie before `end`, a multiple of 16, unless they were checked before. */
export function checkTreeBefore(check: MeshCheck, end: usize): u32 {
  const mesh = meshOf(check);
  let fault = checkLinksBefore(check, end);
  if (fault == MESH_OK) fault = checkBlocks(check, blocksBefore(mesh, changetype<usize>(blockAt(mesh, 0)), BLOCK_BYTES, end));
  return fault == MESH_OK ? checkRangesBefore(check, end) : fault;
}

/** Checks the blocks that have not been checked yet, up to `end`, and counts their triangles. */
function checkBlocks(check: MeshCheck, end: u32): u32 {
  const mesh = meshOf(check);
  const from = blockAt(mesh, check.nextUncheckedBlock), to = blockAt(mesh, end);
  check.nextUncheckedBlock = end;
  if (!areBlocksValid(check, changetype<usize>(from), changetype<usize>(to), i32x4.splat(mesh.triangleCount)))
    return MESH_BAD_NUMBER;
  if (end < mesh.blockCount) return MESH_OK;
  // The total is limited, too, since a refit may give an area to each of the triangles that currently have none.
  return check.keptCount == mesh.keptCount && check.filledCount <= mesh.triangleCount ? MESH_OK : MESH_BAD_INDEX;
}

/**
 * Returns whether all coordinates and triangle numbers of blocks are possible. Results are gathered in lanes and tested
 * once at the end, which takes 0.9 ms instead of 2.4 for 39 MB in the cache. Compared as integers, the bits of NaN
 * exceed those of any number.
 */
function areBlocksValid(check: MeshCheck, from: usize, to: usize, triangleCount: v128): bool {
  const noTriangle = i32x4.splat(-1), magnitude = i32x4.splat(i32.MAX_VALUE), behindFirst = i32x4(0, -1, -1, -1);
  let largest = i32x4.splat(0), invalid = largest, keptCounts = largest, filledCounts = largest;
  for (let at = from; at < to; at += BLOCK_BYTES) {
    for (let k: usize = 0; k < offsetof<Block>('triangle0'); k += 16) {
      largest = i32x4.max_u(largest, v128.and(v128.load(at + k), magnitude));
    }
    // The sign bit is set in empty lanes, which the first lane must not be, since refits use its corner for them, and
    // for triangles that currently have no area (refit.ts).
    const triangles = trianglesOf(changetype<Block>(at)), isNone = i32x4.eq(triangles, noTriangle);
    const isOutOfRange = i32x4.ge_u(v128.and(triangles, magnitude), triangleCount);
    invalid = v128.or(invalid, v128.andnot(isOutOfRange, v128.and(isNone, behindFirst)));
    keptCounts = i32x4.add(keptCounts, i32x4.ge_s(triangles, i32x4.splat(0)));
    filledCounts = i32x4.add(filledCounts, v128.not(isNone));
  }
  check.keptCount -= sumOf4(keptCounts);
  check.filledCount -= sumOf4(filledCounts);
  return !v128.any_true(invalid) && i32x4.all_true(i32x4.le_u(largest, i32x4.splat(reinterpret<i32>(TREE_EXTENT))));
}

// @ts-ignore: decorator
@inline
function sumOf4(lanes: v128): u32 {
  return i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1) + i32x4.extract_lane(lanes, 2) + i32x4.extract_lane(lanes, 3);
}
