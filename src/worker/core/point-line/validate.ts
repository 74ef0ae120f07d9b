// Validates a buffer as a mesh of points or lines that can be trusted, as mesh/tree/validate-baked.ts does for triangles: the
// checksum detects damage, and no forged buffer makes a traversal read out of bounds or run forever.

import { MESH_HEADER_BYTES, POINT_LINE_MAGIC_VALUE, POINT_LINE_VERSION_VALUE } from '../../../shared/layout';
import { MAX_EXPONENT, MIN_EXPONENT, NODE_BYTES, TREE_EXTENT } from '../mesh/tree/layout';
import {
  MESH_BAD_INDEX, MESH_BAD_NUMBER, MESH_FOREIGN, MESH_INCONSISTENT, MESH_OK, MESH_OTHER_VERSION, MESH_TRUNCATED, MeshCheck,
  RANGE_WORDS, addNumbers, blocksBefore, checkLinksBefore, checkRangesBefore, meshOf as checkedMesh,
} from '../mesh/tree/mesh-check';
import { SPACE_BYTES, Space, chooseOffset, largestCoordinate } from '../mesh/tree/tree-space';
import {
  LINE_ELEMENT, NO_ELEMENT, POINT_ELEMENT, PointLine, blockBytes, blockOf, blocksFor, elementsPerBlock, exponentOf, pointLineOf,
} from './layout';

/** Checks the header: that all bytes are there, and that counts and sizes agree. */
export function checkPointLineHeader(check: MeshCheck): u32 {
  const bytes = check.bytes;
  if (bytes < <u32>MESH_HEADER_BYTES) return MESH_TRUNCATED;
  const mesh = pointLineOf(checkedMesh(check));
  if (mesh.magic != POINT_LINE_MAGIC_VALUE) return MESH_FOREIGN;
  if (mesh.version != POINT_LINE_VERSION_VALUE) return MESH_OTHER_VERSION;
  if (mesh.bytes != bytes) return MESH_TRUNCATED;
  return isConsistent(mesh) ? MESH_OK : MESH_INCONSISTENT;
}

/** Checks the numbers of the header, and schedules checks of the indices, and of the nodes for having no rotation. */
export function checkPointLineNumbers(check: MeshCheck): u32 {
  const mesh = pointLineOf(checkedMesh(check));
  if (!isSpaceValid(mesh) || !isCostValid(mesh.cost) || !isCostValid(mesh.builtCost)) return MESH_BAD_NUMBER;
  if (!(mesh.radius > 0 && mesh.radius < MAX_RADIUS)) return MESH_BAD_NUMBER;
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

/** More than the diagonal of the largest bounds in float32. */
const MAX_RADIUS: f64 = 1e39;

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
    (mesh.indexed != 0 || mesh.vertexCount == <u64>mesh.elementCount * size) && isRestEmpty(mesh)
  );
}

function isRestEmpty(mesh: PointLine): bool {
  for (let at: usize = offsetof<PointLine>('size') + 4; at < <usize>MESH_HEADER_BYTES; at += 4) {
    if (load<u32>(changetype<usize>(mesh) + at) != 0) return false;
  }
  return true;
}

const expectedSpace = changetype<Space>(memory.data(<i32>offsetof<Space>(), 16));

/** Returns whether the bounds are ones that float32 positions can have, and tree space is the one that belongs to them. */
function isSpaceValid(mesh: PointLine): bool {
  const space = changetype<usize>(mesh) + offsetof<PointLine>('offsetX');
  memory.copy(changetype<usize>(expectedSpace), space, SPACE_BYTES);
  chooseOffset(expectedSpace);
  return (
    isRangeValid(mesh.minX, mesh.maxX) && isRangeValid(mesh.minY, mesh.maxY) && isRangeValid(mesh.minZ, mesh.maxZ) &&
    memory.compare(changetype<usize>(expectedSpace), space, SPACE_BYTES) == 0 &&
    mesh.exponent == exponentOf(largestCoordinate(expectedSpace)) &&
    mesh.exponent >= MIN_EXPONENT && mesh.exponent <= MAX_EXPONENT
  );
}

// Each comparison is false for NaN, here and below.
function isRangeValid(minimum: f64, maximum: f64): bool {
  return minimum >= <f64>-f32.MAX_VALUE && minimum <= maximum && maximum <= <f64>f32.MAX_VALUE;
}

function isCostValid(cost: f64): bool {
  return cost >= 1 && cost < Infinity;
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
