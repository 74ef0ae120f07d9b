// Moves the vertices of a mesh in steps: of a copy, so that readers of the mesh see it unchanged until the copy replaces
// it; or of a mesh that nobody reads.

import { now } from './host';
import { allocate, release } from './memory';
import { DeformBuild, beginRefitDeform, stepDeform } from './mesh/build/bake-deform';
import { markStale } from './mesh/topology/derived';
import { derivedOf } from './mesh/topology/derived-layout';
import { endPacking, packStep } from './mesh/topology/pack';
import { isDeformable } from './mesh/tree/deform-layout';
import { Mesh, derivedAddress, treeScale } from './mesh/tree/layout';
import { REFIT_BYTES, REFIT_OK, Refit, beginRefit, culprit, isRefitDone, stepRefit } from './mesh/tree/refit';
import { isPointLine, pointLineOf } from './point-line/layout';
import {
  POINT_LINE_REFIT_BYTES, PointLineRefit, beginPointLineRefit, culprit as pointLineCulprit, isPointLineRefitDone,
  stepPointLineRefit,
} from './point-line/refit';

/** Marks an update that is not finished. */
export const REFIT_UNDECIDED: u32 = 255;

const PHASE_COPY: u32 = 0;
const PHASE_REFIT: u32 = 1;
const PHASE_DEFORM: u32 = 2;
const PHASE_DONE: u32 = 3;

/**
 * Bytes that are copied between two readings of the clock: a tenth of a millisecond, or half a millisecond if the memory is
 * new.
 */
const STEP_BYTES: usize = 1 << 20;

/** An update under way. The refit follows. */
@unmanaged
class MeshUpdate {
  from: u32;
  /** The copy; `from` itself if there is none. */
  to: u32;
  positions: u32;
  scratch: u32;
  phase: u32;
  /** How many bytes are copied. */
  copied: u32;
  /** The derived data when the copy began, and their state. */
  derived: u32;
  derivedBytes: u32;
  derivedState: u32;
  culprit: u32;
  scaleBefore: f64;
}

const REFIT_AT: usize = (offsetof<MeshUpdate>() + 15) & ~15;

/** Returns the size of an update in bytes, a multiple of 16. */
export function updateBytes(): usize {
  return (REFIT_AT + max(REFIT_BYTES, POINT_LINE_REFIT_BYTES) + 15) & ~15;
}

/**
 * Begins to move the vertices of a mesh, or of a copy of it, to `positions`, f32 xyz each. `update` has `updateBytes`
 * bytes, and `scratch` has `refitScratch`. Throws OUT_OF_MEMORY.
 */
export function beginUpdate(update: usize, mesh: usize, positions: usize, scratch: usize, isCopied: bool): void {
  const u = changetype<MeshUpdate>(update);
  memory.fill(update, 0, offsetof<MeshUpdate>());
  u.from = u.to = <u32>mesh;
  u.positions = <u32>positions;
  u.scratch = <u32>scratch;
  if (isCopied) beginCopy(u);
  else beginRefitting(u);
}

/**
 * Works until time `deadline`. Returns REFIT_UNDECIDED if there is more to do, REFIT_OK if the update is done, or the fault
 * that ends it, in which case the mesh is unchanged. Throws OUT_OF_MEMORY.
 */
export function stepUpdate(update: usize, deadline: f64): u32 {
  const u = changetype<MeshUpdate>(update);
  do {
    const fault = runStep(u);
    if (fault != REFIT_OK) return fault;
    if (u.phase == PHASE_DONE) return REFIT_OK;
  } while (deadline == Infinity || now() < deadline);
  return REFIT_UNDECIDED;
}

/** Returns the mesh whose vertices are moved: the copy, if any. */
export function updatedMesh(update: usize): usize {
  return changetype<MeshUpdate>(update).to;
}

/** Returns the vertex that is not finite, if that is the fault. */
export function updateCulprit(update: usize): u32 {
  return changetype<MeshUpdate>(update).culprit;
}

/** Frees the copy of an update that is abandoned. */
export function dropUpdate(update: usize): void {
  const u = changetype<MeshUpdate>(update);
  if (u.to != u.from) release(u.to);
  u.to = u.from;
}

function runStep(u: MeshUpdate): u32 {
  if (u.phase == PHASE_COPY) {
    copyStep(u);
    return REFIT_OK;
  }
  if (u.phase == PHASE_DEFORM) {
    if (stepDeform(deformBuildOf(u), meshOf(u))) endRefitting(u);
    return REFIT_OK;
  }
  const fault = isPointLine(u.to) ? stepPointLineRefit(pointLineRefitOf(u)) : stepRefit(refitOf(u));
  if (fault != REFIT_OK) {
    u.culprit = isPointLine(u.to) ? pointLineCulprit : culprit;
    return fault;
  }
  if (isPointLine(u.to)) {
    if (isPointLineRefitDone(pointLineRefitOf(u))) u.phase = PHASE_DONE;
  } else if (isRefitDone(refitOf(u))) {
    if (isDeformable(meshOf(u))) {
      u.phase = PHASE_DEFORM;
      beginRefitDeform(meshOf(u), u.positions, u.scaleBefore, u.scratch);
    } else {
      endRefitting(u);
    }
  }
  return REFIT_OK;
}

// @ts-ignore: decorator
@inline
function meshOf(u: MeshUpdate): Mesh {
  return changetype<Mesh>(<usize>u.to);
}

// @ts-ignore: decorator
@inline
function refitOf(u: MeshUpdate): Refit {
  return changetype<Refit>(changetype<usize>(u) + REFIT_AT);
}

// @ts-ignore: decorator
@inline
function pointLineRefitOf(u: MeshUpdate): PointLineRefit {
  return changetype<PointLineRefit>(changetype<usize>(u) + REFIT_AT);
}

// @ts-ignore: decorator
@inline
function deformBuildOf(u: MeshUpdate): DeformBuild {
  return changetype<DeformBuild>(<usize>u.scratch);
}

function beginRefitting(u: MeshUpdate): void {
  u.phase = PHASE_REFIT;
  if (isPointLine(u.to)) {
    beginPointLineRefit(pointLineRefitOf(u), pointLineOf(meshOf(u)), u.positions, u.scratch);
    return;
  }
  u.scaleBefore = treeScale(meshOf(u));
  beginRefit(refitOf(u), meshOf(u), u.positions, u.scratch);
}

function endRefitting(u: MeshUpdate): void {
  markStale(meshOf(u));
  u.phase = PHASE_DONE;
}

// --- the copy ---

/** Allocates the copy: the tree, followed by the derived data. */
function beginCopy(u: MeshUpdate): void {
  dropUpdate(changetype<usize>(u));
  const from = changetype<Mesh>(<usize>u.from);
  const isDerived = !isPointLine(u.from);
  u.derived = isDerived ? <u32>changetype<usize>(derivedOf(from)) : 0;
  u.derivedBytes = isDerived ? derivedOf(from).bytes : 0;
  u.derivedState = from.derivedState;
  u.copied = 0;
  u.to = <u32>allocate(<u64>treeBytesOf(u) + u.derivedBytes);
}

function treeBytesOf(u: MeshUpdate): usize {
  const from = changetype<Mesh>(<usize>u.from);
  return isPointLine(u.from) ? <usize>from.bytes : derivedAddress(from) - <usize>u.from;
}

function copyStep(u: MeshUpdate): void {
  // The derived data are replaced if they were derived again meanwhile.
  if (hasChanged(u)) beginCopy(u);
  const treeBytes = treeBytesOf(u), totalBytes = treeBytes + u.derivedBytes, at = <usize>u.copied;
  u.copied = <u32>packStep(u.to, u.from, treeBytes, u.derived, totalBytes, at, STEP_BYTES);
  if (<usize>u.copied < totalBytes) return;
  if (!isPointLine(u.from)) endPacking(meshOf(u), treeBytes, totalBytes);
  beginRefitting(u);
}

function hasChanged(u: MeshUpdate): bool {
  if (isPointLine(u.from)) return false;
  const from = changetype<Mesh>(<usize>u.from), derived = derivedOf(from);
  return (
    <u32>changetype<usize>(derived) != u.derived || derived.bytes != u.derivedBytes ||
    from.derivedState != u.derivedState
  );
}
