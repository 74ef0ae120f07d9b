// Validates a buffer as a mesh of points or lines that can be trusted, as mesh/tree/validate-baked.ts does for triangles: the
// checksum detects damage, and no forged buffer makes a traversal read out of bounds or run forever.

import { MESH_HEADER_BYTES, POINT_LINE_MAGIC_VALUE, POINT_LINE_SIZE, POINT_LINE_VERSION_VALUE } from '../../../shared/layout';
import { NODE_BYTES, TREE_EXTENT } from '../mesh/tree/layout';
import {
  MESH_BAD_INDEX, MESH_BAD_NUMBER, MESH_INCONSISTENT, MESH_OK, MeshCheck, RANGE_WORDS, addNumbers, areHeaderNumbersValid,
  blocksBefore, checkKind, checkLinksBefore, checkRangesBefore, isZero, meshOf as checkedMesh,
} from '../mesh/tree/mesh-check';
import {
  LINE_ELEMENT, NO_ELEMENT, POINT_ELEMENT, PointLine, blockBytes, blockOf, blocksFor, elementsPerBlock, meshOf, pointLineOf,
} from './layout';

/** Checks the header: that all bytes are there, and that counts and sizes agree. */
export function checkPointLineHeader(check: MeshCheck): u32 {
  const fault = checkKind(check, POINT_LINE_MAGIC_VALUE, POINT_LINE_VERSION_VALUE);
  if (fault != MESH_OK) return fault;
  return isConsistent(pointLineOf(checkedMesh(check))) ? MESH_OK : MESH_INCONSISTENT;
}

/** Checks the numbers of the header, and schedules checks of the indices, and of the nodes for having no rotation. */
export function checkPointLineNumbers(check: MeshCheck): u32 {
  if (!areHeaderNumbersValid(checkedMesh(check), true)) return MESH_BAD_NUMBER;
  const mesh = pointLineOf(checkedMesh(check));
  check.forbidsRotation = 1;
  if (!mesh.indexed) return MESH_OK;
  const indices = changetype<usize>(mesh) + mesh.indices;
  addNumbers(check, RANGE_WORDS, indices, indices + (<usize>mesh.elementCount * mesh.size << 2), mesh.vertexCount);
  return MESH_OK;
}

/** Checks links, blocks and indices before `end`, a multiple of 16; checked ones are not checked again. */
export function checkPointLineBefore(check: MeshCheck, end: usize): u32 {
  const mesh = checkedMesh(check), lines = pointLineOf(mesh);
  let fault = checkLinksBefore(check, end);
  if (fault == MESH_OK) fault = checkBlocks(check, blocksBefore(mesh, blockOf(lines, 0), blockBytes(lines.size), end));
  return fault == MESH_OK ? checkRangesBefore(check, end) : fault;
}

/** Returns whether counts and sizes agree, and unused bytes are 0. */
function isConsistent(mesh: PointLine): bool {
  const size = mesh.size;
  if (size != 1 && size != 2) return false;
  const blocks = <u64>MESH_HEADER_BYTES + <u64>mesh.nodeCount * NODE_BYTES;
  const indices = blocks + <u64>mesh.blockCount * blockBytes(size);
  const bytes = indices + (mesh.indexed ? (<u64>mesh.elementCount * size) << 2 : 0);
  return (
    mesh.nodes == MESH_HEADER_BYTES && mesh.blocks == blocks && mesh.indices == indices && mesh.bytes == bytes &&
    mesh.indexed <= 1 && mesh.keptCount > 0 && mesh.keptCount <= mesh.elementCount &&
    mesh.elementCount <= <u32>i32.MAX_VALUE && mesh.blockCount == blocksFor(mesh.keptCount, size) &&
    (mesh.indexed != 0 || mesh.vertexCount == <u64>mesh.elementCount * size) &&
    isZero(meshOf(mesh), POINT_LINE_SIZE + 4, MESH_HEADER_BYTES)
  );
}

/** Checks the blocks that are not checked yet, up to `end`, and counts their elements. */
function checkBlocks(check: MeshCheck, end: u32): u32 {
  const mesh = pointLineOf(checkedMesh(check));
  let elementCount: u32 = 0;
  const indicesOffset: usize = mesh.size == 1 ? POINT_ELEMENT : LINE_ELEMENT;
  const blockCapacity = elementsPerBlock(mesh.size);
  const none = i32x4.splat(NO_ELEMENT), count = i32x4.splat(mesh.elementCount);
  for (let index = check.nextUncheckedBlock; index < end; index++) {
    const block = blockOf(mesh, index);
    let within = i32x4.splat(-1);
    for (let at = block; at < block + indicesOffset; at += 16) {
      within = v128.and(within, f32x4.le(f32x4.abs(v128.load(at)), f32x4.splat(TREE_EXTENT)));
    }
    if (!i32x4.all_true(within)) return MESH_BAD_NUMBER;
    for (let at = block + indicesOffset; at < block + indicesOffset + (blockCapacity << 2); at += 16) {
      const elementIndices = v128.load(at);
      const isNone = i32x4.eq(elementIndices, none);
      if (!i32x4.all_true(v128.or(isNone, i32x4.lt_u(elementIndices, count)))) return MESH_BAD_INDEX;
      elementCount += 4 - popcnt(i32x4.bitmask(isNone));
    }
    // Refits use the first lane for lanes without an element.
    if (load<u32>(block + indicesOffset) == NO_ELEMENT) return MESH_BAD_INDEX;
  }
  check.nextUncheckedBlock = end;
  check.keptCount += elementCount;
  return end < mesh.blockCount || check.keptCount == mesh.keptCount ? MESH_OK : MESH_BAD_INDEX;
}
