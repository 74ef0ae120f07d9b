// Checks baked data in steps: a mesh of triangles with what was derived of it, or one of points or lines. Tells damage by
// the checksum, and looks at everything that a traversal follows besides.

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

/** Stands for a check that is not done. */
export const MESH_UNDECIDED: u32 = 255;

const PHASE_HEADER: u32 = 0;
const PHASE_SUM: u32 = 1;
const PHASE_DERIVED: u32 = 2;
const PHASE_RANGES: u32 = 3;

/** What is done between two looks at the clock takes a tenth of a millisecond, or less. */
const STEP_BYTES: u32 = 1 << 17;

/**
 * Begins to check the `bytes` bytes at `address`, which need not be there yet. The caller must release the check. Throws
 * OUT_OF_MEMORY.
 */
export function beginCheck(address: usize, bytes: u32): usize {
  return changetype<usize>(beginMeshCheck(address, bytes));
}

/**
 * Works until the clock shows `until`, or on what there is of the bytes, of which the first `available` are. What was just
 * copied is summed up and looked at while the processor has it near.
 * Returns MESH_UNDECIDED when there is more to do, MESH_OK where the bytes are a mesh that everything stays inside of and
 * comes to an end, else what is wrong.
 */
export function stepCheck(address: usize, until: f64, available: u32): u32 {
  const check = changetype<MeshCheck>(address);
  do {
    if (isWaiting(check, available)) return MESH_UNDECIDED;
    const fault = step(check, available);
    if (fault != MESH_OK) return fault;
    if (check.phase == PHASE_RANGES && areRangesDone(check)) return MESH_OK;
  } while (until == Infinity || now() < until);
  return MESH_UNDECIDED;
}

/** Returns whether nothing can be done before more bytes are there. */
function isWaiting(check: MeshCheck, available: u32): bool {
  if (available >= check.bytes) return false;
  if (available < <u32>MESH_HEADER_BYTES) return true;
  if (check.phase == PHASE_SUM) return sumOf(check).at + ROUND_BYTES > check.mesh + available;
  // What deforms a mesh is examined with its header.
  return !isPointLine(check.mesh) && meshOf(check).deformBytes != 0;
}

function step(check: MeshCheck, available: u32): u32 {
  const phase = check.phase;
  if (phase == PHASE_RANGES) return areRangesDone(check) ? MESH_OK : checkRange(check, STEP_BYTES);
  if (phase == PHASE_SUM) return sumSome(check, available);
  check.phase = phase + 1;
  if (phase == PHASE_DERIVED) return isPointLine(check.mesh) ? MESH_OK : checkDerived(check);
  const isPoints = isPointLine(check.mesh), fault = isPoints ? checkPointLineHeader(check) : checkTreeHeader(check);
  if (fault != MESH_OK) return fault;
  check.fault = isPoints ? checkPointLineNumbers(check) : checkTreeNumbers(check);
  beginSum(check);
  return MESH_OK;
}

/**
 * Sums up what there is of the next bytes, and looks at what they are. Damage is told as such: what it made of numbers is told
 * when the sum is right.
 */
function sumSome(check: MeshCheck, available: u32): u32 {
  const mesh = meshOf(check), sum = sumOf(check);
  const isAll = sumUp(sum, min(STEP_BYTES, check.mesh + available - sum.at)) && available >= check.bytes;
  if (isAll && endChecksum(sum, mesh) != mesh.checksum) return MESH_CORRUPT;
  if (check.fault == MESH_OK) {
    const end = <usize>(isAll ? sum.end : sum.at);
    check.fault = isPointLine(check.mesh) ? checkPointLineBefore(check, end) : checkTreeBefore(check, end);
  }
  if (!isAll) return MESH_OK;
  check.phase = PHASE_DERIVED;
  return check.fault;
}
