// Validates baked data in steps: a mesh of triangles with the data derived from it, or a mesh of points or lines. Detects
// damage by the checksum, and also checks everything that a traversal follows.

import { MESH_HEADER_BYTES } from '../../shared/layout';
import { now } from './host';
import { ROUND_BYTES, endChecksum, sumUp } from './mesh/tree/checksum';
import {
  MESH_CORRUPT, MESH_OK, MeshCheck, areRangesDone, beginMeshCheck, beginSum, checkRange, meshOf, sumOf,
} from './mesh/tree/mesh-check';
import { checkTreeBefore, checkTreeHeader, checkTreeNumbers } from './mesh/tree/validate-baked';
import { checkDerived } from './mesh/topology/validate-derived';
import { isPointLine } from './point-line/layout';
import { checkPointLineBefore, checkPointLineHeader, checkPointLineNumbers } from './point-line/validate';

/** Marks a check that is not finished. */
export const MESH_UNDECIDED: u32 = 255;

const PHASE_HEADER: u32 = 0;
const PHASE_SUM: u32 = 1;
const PHASE_DERIVED: u32 = 2;
const PHASE_RANGES: u32 = 3;

/** The work between two readings of the clock takes a tenth of a millisecond, or less. */
const STEP_BYTES: u32 = 1 << 17;

/**
 * Begins to check `bytes` bytes at `address`, which need not have arrived yet. The caller must release the check. Throws
 * OUT_OF_MEMORY.
 */
export function beginCheck(address: usize, bytes: u32): usize {
  return changetype<usize>(beginMeshCheck(address, bytes));
}

/**
 * Works until time `deadline`, or on the bytes that have arrived: the first `available` ones. Bytes that were just copied are
 * summed up and validated while they are in the processor's cache. Returns MESH_UNDECIDED if there is more to do, MESH_OK if
 * the bytes are a mesh in which every traversal stays in bounds and terminates, else the fault.
 */
export function stepCheck(address: usize, deadline: f64, available: u32): u32 {
  const check = changetype<MeshCheck>(address);
  do {
    if (isWaiting(check, available)) return MESH_UNDECIDED;
    const fault = step(check, available);
    if (fault != MESH_OK) return fault;
    if (check.phase == PHASE_RANGES && areRangesDone(check)) return MESH_OK;
  } while (deadline == Infinity || now() < deadline);
  return MESH_UNDECIDED;
}

/** Returns whether nothing can be done before more bytes arrive. */
function isWaiting(check: MeshCheck, available: u32): bool {
  if (available >= check.bytes) return false;
  if (available < <u32>MESH_HEADER_BYTES) return true;
  if (check.phase == PHASE_SUM) return sumOf(check).at + ROUND_BYTES > check.mesh + available;
  // The skin and morph targets of a mesh are validated with its header.
  return !isPointLine(check.mesh) && meshOf(check).deformBytes != 0;
}

function step(check: MeshCheck, available: u32): u32 {
  const phase = check.phase;
  if (phase == PHASE_RANGES) return areRangesDone(check) ? MESH_OK : checkRange(check, STEP_BYTES);
  if (phase == PHASE_SUM) return sumStep(check, available);
  check.phase = phase + 1;
  if (phase == PHASE_DERIVED) return isPointLine(check.mesh) ? MESH_OK : checkDerived(check);
  const isPoints = isPointLine(check.mesh), fault = isPoints ? checkPointLineHeader(check) : checkTreeHeader(check);
  if (fault != MESH_OK) return fault;
  check.fault = isPoints ? checkPointLineNumbers(check) : checkTreeNumbers(check);
  beginSum(check);
  return MESH_OK;
}

/**
 * Adds the next available bytes to the checksum, and validates their contents. Damage is reported as such: faults in the
 * numbers are reported only if the checksum is right.
 */
function sumStep(check: MeshCheck, available: u32): u32 {
  const mesh = meshOf(check), sum = sumOf(check);
  const isComplete = sumUp(sum, min(STEP_BYTES, check.mesh + available - sum.at)) && available >= check.bytes;
  if (isComplete && endChecksum(sum, mesh) != mesh.checksum) return MESH_CORRUPT;
  if (check.fault == MESH_OK) {
    const end = <usize>(isComplete ? sum.end : sum.at);
    check.fault = isPointLine(check.mesh) ? checkPointLineBefore(check, end) : checkTreeBefore(check, end);
  }
  if (!isComplete) return MESH_OK;
  check.phase = PHASE_DERIVED;
  return check.fault;
}
