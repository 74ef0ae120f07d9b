// What a mesh has besides its tree, as others ask for it, and how it is kept up when vertices move.
//
// It is made with the tree and comes with it. After a refit it is of the vertices as they were:
// - The connected parts and who is whose neighbour stay in use; they are wrong only where positions that were one have
//   come apart or the other way round.
//   So it is in a pose, which shares both.
// - Whether the mesh is convex, and its hull, are not known: it counts as not convex, which is right of any mesh, if
//   dearer.
// A mesh of few triangles has it made anew at once, when it is next asked for. A larger one asks for it (`wantedMesh`),
// and whoever runs the core derives it in steps between other things; nobody waits.

import { IS_INTERRUPTIBLE } from '../../checkpoint';
import { keepUpInCore } from '../../host';
import { capacityOf, release, reserve } from '../../memory';
import { isDeformable } from '../tree/deform-layout';
import { Mesh, derivedPlace } from '../tree/layout';
import { cornersOf } from './adjacency';
import { beginDerivation, stepDerivation } from './derivation';
import { Derivation, freeDerivation, meshOf } from './derivation-state';
import { Derived, PART_BYTES, derivedOf, hullAt, partsAt } from './derived-layout';
import { Hull } from './hull-layout';

// Mesh.derivedState.
export const FRESH: u32 = 0;
/** It is of the vertices as they were before they moved. */
const STALE: u32 = 1;
/** STALE, and it was asked for. */
const WANTED: u32 = 2;
/** STALE, and it was taken from the list of wanted meshes: it is under way, or there was no memory for it. */
const TAKEN: u32 = 3;
/** The mesh is the pose of another (skin/pose.ts), and what was derived is the other's. */
export const POSED: u32 = 4;
/**
 * It is of the vertices as they were before they moved, and stays so: bones or targets can move the mesh, and its poses
 * share this.
 */
const SHARED: u32 = 5;

/** Up to so many triangles take about a millisecond: they are not worth a wait. */
export const FEW_TRIANGLES: u32 = 4096;

// --- what it says ---

/** Tells whether the mesh is known to be the surface of a convex solid; all its faces may be turned inside out. */
export function isConvex(mesh: Mesh): bool {
  keepUp(mesh);
  return mesh.derivedState == FRESH && derivedOf(mesh).isConvex != 0;
}

/** Answers the hull of a mesh that is known to be convex. */
// @ts-ignore: decorator
@inline
export function hullOf(mesh: Mesh): Hull {
  return changetype<Hull>(hullAt(mesh, derivedOf(mesh)));
}

export function partCount(mesh: Mesh): u32 {
  keepUp(mesh);
  return derivedOf(mesh).partCount;
}

/** Answers the address of a corner of a part, in tree space: its x, and 16 and 32 bytes on y and z. */
export function partCorner(mesh: Mesh, index: u32): usize {
  return cornersOf(mesh, load<u32>(partsAt(mesh, derivedOf(mesh)) + <usize>index * PART_BYTES));
}

// --- keeping it up ---

/** The derivation that `keepUp` makes; only set while it runs, or after memory has run out. */
let unfinished: usize = 0;

/**
 * Derives anew what is not of the vertices as they are, or asks for it. The core does so for both modules: it has the one list of
 * wanted meshes, and the other module need not have the code. Throws OUT_OF_MEMORY.
 */
export function keepUp(mesh: Mesh): void {
  if (mesh.derivedState == FRESH || mesh.derivedState >= POSED) return;
  if (mesh.keptCount > FEW_TRIANGLES && mesh.derivedState != STALE) return;
  if (IS_INTERRUPTIBLE) keepUpInCore(changetype<usize>(mesh));
  else if (mesh.keptCount > FEW_TRIANGLES) want(mesh);
  else deriveAtOnce(mesh);
}

function deriveAtOnce(mesh: Mesh): void {
  if (unfinished != 0) freeDerivation(changetype<Derivation>(unfinished));
  unfinished = 0;
  const d = beginDerivation(mesh);
  unfinished = changetype<usize>(d);
  stepDerivation(d, Infinity);
  unfinished = 0;
  installDerived(d);
}

/** Gives the mesh what was derived of it, and frees the derivation. */
export function installDerived(d: Derivation): void {
  const mesh = meshOf(d);
  const result = changetype<Derived>(d.result);
  const place = derivedPlace(mesh);
  releaseDerived(mesh);
  const treeBytes = place - changetype<usize>(mesh);
  mesh.bytes = <u32>treeBytes + result.bytes;
  if (<usize>mesh.bytes <= capacityOf(changetype<usize>(mesh))) {
    memory.copy(place, changetype<usize>(result), result.bytes);
    mesh.derived = <u32>treeBytes;
  } else {
    mesh.derived = <u32>(changetype<usize>(result) - changetype<usize>(mesh));
    d.result = 0;
  }
  unwant(mesh);
  mesh.derivedState = FRESH;
  freeDerivation(d);
}

/** Marks a mesh whose vertices moved. */
export function markStale(mesh: Mesh): void {
  unwant(mesh);
  mesh.derivedState = isDeformable(mesh) ? SHARED : STALE;
}

/** Frees what belongs to a mesh besides its own memory; the mesh is of no more use then. */
export function releaseDerived(mesh: Mesh): void {
  if (!hasOwnPlace(mesh)) release(changetype<usize>(derivedOf(mesh)));
}

/** Tells whether what was derived lies behind the tree, in the mesh's own memory. */
export function hasOwnPlace(mesh: Mesh): bool {
  return changetype<usize>(derivedOf(mesh)) == derivedPlace(mesh);
}

// Meshes that are WANTED, u32 each.
let wanted: usize = 0;
let wantedCount: u32 = 0;

/** Puts a mesh on the list of wanted ones. Throws OUT_OF_MEMORY. */
function want(mesh: Mesh): void {
  wanted = reserve(wanted, <usize>wantedCount << 2, <u64>(wantedCount + 1) << 2);
  store<u32>(wanted + (<usize>(wantedCount++) << 2), <u32>changetype<usize>(mesh));
  mesh.derivedState = WANTED;
}

/** Takes a mesh off the list of wanted ones, also one that is freed. */
export function unwant(mesh: Mesh): void {
  if (mesh.derivedState != WANTED) return;
  for (let i: u32 = 0; i < wantedCount; i++) {
    const at = wanted + (<usize>i << 2);
    if (load<u32>(at) != <u32>changetype<usize>(mesh)) continue;
    memory.copy(at, at + 4, <usize>(wantedCount - i - 1) << 2);
    wantedCount--;
    break;
  }
  mesh.derivedState = TAKEN;
}

/** Answers how many meshes are wanted. */
export function countWanted(): u32 {
  return wantedCount;
}

/** Takes the mesh that was asked for first off the list, to derive it. Answers 0 without any. */
export function takeWanted(): usize {
  if (wantedCount == 0) return 0;
  const mesh = changetype<Mesh>(<usize>load<u32>(wanted));
  unwant(mesh);
  return changetype<usize>(mesh);
}
