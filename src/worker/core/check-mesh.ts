// Checks baked data in steps: a mesh of triangles with what was derived of it, or one of points or lines. Tells damage by
// the checksum, and looks at everything that a traversal follows besides.

import { MESH_HEADER_BYTES } from '../../shared/layout';
import { now } from './host';
import { ROUND_BYTES, endChecksum, sumUp } from './mesh/tree/checksum';
import {
  MESH_CORRUPT, MESH_OK, MeshCheck, areLinksDone, areRangesDone, beginMeshCheck, beginSum, checkLinks, checkRange, meshOf, sumOf,
} from './mesh/tree/mesh-check';
import { blocksBefore, checkTreeBlocks, checkTreeHeader, checkTreeNumbers } from './mesh/tree/validate-baked';
import { checkDerived } from './mesh/topology/validate-derived';
import { isPointLine } from './point-line/layout';
import {
  checkPointLineBlocks, checkPointLineHeader, checkPointLineNodes, checkPointLineNumbers,
} from './point-line/validate';

/** Stands for a check that is not done. */
export const MESH_UNDECIDED: u32 = 255;

const PHASE_HEADER: u32 = 0;
const PHASE_SUM: u32 = 1;
const PHASE_NUMBERS: u32 = 2;
const PHASE_LINKS: u32 = 3;
const PHASE_BLOCKS: u32 = 4;
const PHASE_DERIVED: u32 = 5;
const PHASE_RANGES: u32 = 6;

// What is done between two looks at the clock takes a tenth of a millisecond, or less.
const STEP_BYTES: u32 = 1 << 18;
const STEP_NODES: u32 = 2048;
const STEP_BLOCKS: u32 = 1024;

/**
 * Begins to check the `bytes` bytes at `address`, which need not be there yet. The caller must release the check. Throws
 * OUT_OF_MEMORY.
 */
export function beginCheck(address: usize, bytes: u32): usize {
  return changetype<usize>(beginMeshCheck(address, bytes));
}

/**
 * Works until the clock shows `until`, or on what there is of the bytes, of which the first `available` are. What was just
 * copied is summed up while the processor has it near: 71 MB take 23 ms of processor time with the copy, and 26 otherwise.
 * Answers MESH_UNDECIDED when there is more to do, MESH_OK where the bytes are a mesh that everything stays inside of and
 * comes to an end, else what is wrong.
 */
export function stepCheck(address: usize, until: f64, available: u32): u32 {
  const check = changetype<MeshCheck>(address);
  do {
    if (isWaiting(check, available)) return MESH_UNDECIDED;
    const isPoints = check.bytes >= 4 && isPointLine(check.mesh);
    const fault = isPoints ? stepPointLine(check, available) : stepTree(check, available);
    if (fault != MESH_OK) return fault;
    if (check.phase == PHASE_RANGES && areRangesDone(check)) return MESH_OK;
  } while (until == Infinity || now() < until);
  return MESH_UNDECIDED;
}

/** Tells whether nothing can be done before more bytes are there. */
function isWaiting(check: MeshCheck, available: u32): bool {
  if (available >= check.bytes) return false;
  if (available < <u32>MESH_HEADER_BYTES || isPointLine(check.mesh)) return true;
  // What deforms a mesh is looked at with its header.
  if (meshOf(check).deformBytes != 0) return true;
  return check.cursor != 0 && sumOf(check).at + ROUND_BYTES > check.mesh + available;
}

function stepTree(check: MeshCheck, available: u32): u32 {
  const phase = check.phase;
  if (phase == PHASE_HEADER) return endPhase(check, checkTreeHeader(check));
  if (phase == PHASE_NUMBERS) return endPhase(check, checkTreeNumbers(check));
  if (phase == PHASE_DERIVED) return endPhase(check, checkDerived(check));
  if (phase == PHASE_SUM) {
    const fault = stepCommon(check, available);
    if (fault != MESH_OK) return fault;
    // Damage is to be told as such: what it made of numbers is told when the sum is right.
    if (check.fault == MESH_OK) checkBlocks(check, blocksBefore(meshOf(check), sumOf(check).at));
    return check.phase == PHASE_SUM ? MESH_OK : check.fault;
  }
  if (phase != PHASE_BLOCKS) return stepCommon(check, available);
  checkBlocks(check, meshOf(check).blockCount);
  return check.fault == MESH_OK ? endPhase(check, MESH_OK) : check.fault;
}

/** Checks the blocks that are not checked yet, up to one. */
function checkBlocks(check: MeshCheck, end: u32): void {
  check.fault = checkTreeBlocks(check, check.nextChecked, end);
  check.nextChecked = end;
}

function stepPointLine(check: MeshCheck, available: u32): u32 {
  const phase = check.phase;
  if (phase == PHASE_HEADER) return endPhase(check, checkPointLineHeader(check));
  if (phase == PHASE_NUMBERS) return endPhase(check, checkPointLineNumbers(check));
  const start = check.cursor;
  // Nothing is derived; what is left to check are rotations, of which there are none.
  if (phase == PHASE_DERIVED) {
    const count = meshOf(check).nodeCount, end = min(start + STEP_NODES, count);
    return goOn(check, end, count, checkPointLineNodes(check, start, end));
  }
  if (phase != PHASE_BLOCKS) return stepCommon(check, available);
  const count = meshOf(check).blockCount, end = min(start + STEP_BLOCKS, count);
  return goOn(check, end, count, checkPointLineBlocks(check, start, end));
}

function stepCommon(check: MeshCheck, available: u32): u32 {
  const mesh = meshOf(check);
  if (check.phase == PHASE_SUM) {
    const sum = sumOf(check);
    if (check.cursor == 0) beginSum(check);
    check.cursor = 1;
    if (!sumUp(sum, min(STEP_BYTES, check.mesh + available - sum.at)) || available < check.bytes) return MESH_OK;
    return endPhase(check, endChecksum(sum, mesh) == mesh.checksum ? MESH_OK : MESH_CORRUPT);
  }
  if (check.phase == PHASE_LINKS) {
    const fault = checkLinks(check, STEP_NODES);
    return areLinksDone(check) ? endPhase(check, fault) : fault;
  }
  return areRangesDone(check) ? MESH_OK : checkRange(check, STEP_BYTES);
}

/** Goes on at `end`, or with the next phase where that is all there is. */
function goOn(check: MeshCheck, end: u32, count: u32, fault: u32): u32 {
  if (end == count) return endPhase(check, fault);
  check.cursor = end;
  return fault;
}

function endPhase(check: MeshCheck, fault: u32): u32 {
  check.phase++;
  check.cursor = 0;
  return fault;
}
