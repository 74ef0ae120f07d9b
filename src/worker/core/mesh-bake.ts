// Bakes a mesh in steps, so that the caller can do other things in between: derives the data that are not up to date
// with its vertices, packs the tree and the derived data into one piece, and computes its checksum.

import { now } from './host';
import { allocate, release } from './memory';
import { beginDerivation, stepDerivation } from './mesh/topology/derivation';
import { Derivation, freeDerivation, resultOf } from './mesh/topology/derivation-state';
import { FRESH, isDerivedInMesh } from './mesh/topology/derived';
import { Derived, derivedOf } from './mesh/topology/derived-layout';
import { endPacking, packStep } from './mesh/topology/pack';
import { CHECKSUM_BYTES, Checksum, beginChecksum, endChecksum, sumUp } from './mesh/tree/checksum';
import { Mesh, derivedAddress } from './mesh/tree/layout';
import { isPointLine } from './point-line/layout';

const PHASE_COPY: u32 = 0;
const PHASE_DERIVE: u32 = 1;
const PHASE_PACK: u32 = 2;
const PHASE_SUM: u32 = 3;
const PHASE_DONE: u32 = 4;

/**
 * Bytes that are copied between two readings of the clock: a tenth of a millisecond, or half a millisecond if the
 * memory is new.
 */
const COPY_BYTES: usize = 1 << 20;
/** Bytes that are summed up between two readings: a tenth of a millisecond, or less. */
const SUM_BYTES: u32 = 1 << 18;

/** A bake under way. The checksum so far follows. */
@unmanaged
class MeshBake {
  mesh: u32;
  /** A copy of its tree to derive from; 0 if all derived data are up to date. */
  tree: u32;
  /** Derivation; 0 if none. */
  derivation: u32;
  /** The baked data in one piece: the mesh itself if it is in one piece. */
  baked: u32;
  phase: u32;
  /** How many bytes the phase has copied or summed up. */
  cursor: u32;
}

const SUM_AT: usize = (offsetof<MeshBake>() + 15) & ~15;

/**
 * Returns whether all data derived from a mesh are up to date with its vertices; meshes of points and lines have none.
 */
export function isFresh(address: usize): bool {
  return isPointLine(address) || changetype<Mesh>(address).derivedState == FRESH;
}

/** Begins to bake a mesh, which must not change as long as `readsMesh` returns true. Throws OUT_OF_MEMORY. */
export function beginBake(address: usize): usize {
  const bake = changetype<MeshBake>(allocate(SUM_AT + CHECKSUM_BYTES));
  const mesh = changetype<Mesh>(address);
  memory.fill(changetype<usize>(bake), 0, SUM_AT);
  bake.mesh = <u32>address;
  const isOnePiece = isPointLine(address) || (isFresh(address) && isDerivedInMesh(mesh));
  if (isOnePiece) bake.baked = <u32>address;
  bake.phase = isOnePiece ? PHASE_SUM : isFresh(address) ? PHASE_PACK : PHASE_COPY;
  return changetype<usize>(bake);
}

/** Works until time `deadline`. Returns the fraction done. Throws OUT_OF_MEMORY. */
export function stepBake(address: usize, deadline: f64): f64 {
  const bake = changetype<MeshBake>(address);
  while (bake.phase != PHASE_DONE) {
    runStep(bake, deadline);
    if (deadline != Infinity && now() >= deadline) break;
  }
  return <f64>bake.phase / <f64>PHASE_DONE;
}

/** Returns the baked mesh, once the bake is done. */
export function bakedMesh(address: usize): usize {
  return changetype<MeshBake>(address).baked;
}

/** Returns whether the bake still reads the mesh itself, and not only copies of it. */
export function readsMesh(address: usize): bool {
  const bake = changetype<MeshBake>(address);
  return bake.baked == bake.mesh || bake.phase == PHASE_COPY || (bake.phase == PHASE_PACK && bake.tree == 0);
}

export function freeBake(address: usize): void {
  const bake = changetype<MeshBake>(address);
  freeDerived(bake);
  if (bake.baked != bake.mesh) release(bake.baked);
  release(address);
}

function freeDerived(bake: MeshBake): void {
  if (bake.derivation != 0) freeDerivation(changetype<Derivation>(<usize>bake.derivation));
  release(bake.tree);
  bake.derivation = bake.tree = 0;
}

function runStep(bake: MeshBake, deadline: f64): void {
  if (bake.phase == PHASE_COPY) copyStep(bake);
  else if (bake.phase == PHASE_DERIVE) deriveStep(bake, deadline);
  else if (bake.phase == PHASE_PACK) pack(bake);
  else sumStep(bake);
}

function nextPhase(bake: MeshBake): void {
  bake.phase++;
  bake.cursor = 0;
}

/** Copies the tree, so that others may move the mesh's vertices from then on. */
function copyStep(bake: MeshBake): void {
  const mesh = changetype<Mesh>(<usize>bake.mesh), bytes = derivedAddress(mesh) - <usize>bake.mesh;
  if (bake.tree == 0) bake.tree = <u32>allocate(bytes);
  const at = <usize>bake.cursor, end = min(at + COPY_BYTES, bytes);
  memory.copy(<usize>bake.tree + at, <usize>bake.mesh + at, end - at);
  bake.cursor = <u32>end;
  if (end < bytes) return;
  const tree = changetype<Mesh>(<usize>bake.tree);
  tree.derivedState = FRESH;
  bake.derivation = <u32>changetype<usize>(beginDerivation(tree));
  nextPhase(bake);
}

function deriveStep(bake: MeshBake, deadline: f64): void {
  if (stepDerivation(changetype<Derivation>(<usize>bake.derivation), deadline) == 1) nextPhase(bake);
}

// @ts-ignore: decorator
@inline
function derivedIn(bake: MeshBake): Derived {
  return bake.derivation == 0
    ? derivedOf(changetype<Mesh>(<usize>bake.mesh))
    : resultOf(changetype<Derivation>(<usize>bake.derivation));
}

function pack(bake: MeshBake): void {
  const mesh = changetype<Mesh>(<usize>(bake.tree == 0 ? bake.mesh : bake.tree));
  const derived = derivedIn(bake);
  const treeBytes = derivedAddress(mesh) - changetype<usize>(mesh), totalBytes = treeBytes + derived.bytes;
  if (bake.baked == 0) bake.baked = <u32>allocate(<u64>treeBytes + derived.bytes);
  const from = changetype<usize>(mesh);
  bake.cursor = <u32>packStep(bake.baked, from, treeBytes, changetype<usize>(derived), totalBytes, bake.cursor, COPY_BYTES);
  if (<usize>bake.cursor < totalBytes) return;
  endPacking(changetype<Mesh>(<usize>bake.baked), treeBytes, totalBytes);
  freeDerived(bake);
  nextPhase(bake);
}

function sumStep(bake: MeshBake): void {
  const mesh = changetype<Mesh>(<usize>bake.baked), sum = changetype<Checksum>(changetype<usize>(bake) + SUM_AT);
  if (bake.cursor == 0) beginChecksum(sum, mesh);
  bake.cursor = 1;
  if (!sumUp(sum, SUM_BYTES)) return;
  mesh.checksum = endChecksum(sum, mesh);
  nextPhase(bake);
}
