// Access to the derived data of a mesh, and its update after vertices have moved.
//
// The data is computed with the tree and stored with it. After a refit it describes the vertices as they were:
// - The connected parts and the neighbours remain in use; they are only wrong where equal positions have come apart or
//   others have become equal. The same applies to a pose, which shares both.
// - Whether the mesh is convex, and its hull, are unknown: it counts as not convex, which is right for any mesh, if
//   slower.
// For a mesh of few triangles the data is recomputed at once, on its next use. A larger mesh is put on a list
// (`wantedMeshes`), and the owner of the core derives it in steps between other work; nobody waits.

import { IS_INTERRUPTIBLE } from '../../checkpoint';
import { keepUpInCore } from '../../host';
import { capacityOf, release, reserve } from '../../memory';
import { isDeformable } from '../tree/deform-layout';
import { Mesh, derivedAddress } from '../tree/layout';
import { cornersOf } from './adjacency';
import { beginDerivation, stepDerivation } from './derivation';
import { Derivation, freeDerivation, meshOf } from './derivation-state';
import { Derived, PART_BYTES, derivedOf, hullAt, partsAt } from './derived-layout';
import { Hull } from './hull-layout';

// Mesh.derivedState.
export const FRESH: u32 = 0;
/** The data describes the vertices as they were before they moved. */
const STALE: u32 = 1;
/** STALE, and a new derivation was requested. */
const WANTED: u32 = 2;
/**
 * STALE, and taken from the list of wanted meshes: the derivation is in progress, or there was not enough memory for it.
 */
const TAKEN: u32 = 3;
/** The mesh is a pose of another one (skin/pose.ts), and shares its derived data. */
export const POSED: u32 = 4;
/**
 * The data describes the vertices as they were before they moved, and stays so: bones or targets can move the mesh, and
 * its poses share this data.
 */
const SHARED: u32 = 5;

/** Up to this many triangles take about a millisecond, which is not worth a delay. */
const FEW_TRIANGLES: u32 = 4096;

// --- access ---

/** Returns whether the mesh is known to be the surface of a convex solid; all its faces may be inside out. */
export function isConvex(mesh: Mesh): bool {
  keepUp(mesh);
  return mesh.derivedState == FRESH && derivedOf(mesh).isConvex != 0;
}

/** Returns the hull of a mesh that is known to be convex. */
// @ts-ignore: decorator
@inline
export function hullOf(mesh: Mesh): Hull {
  return changetype<Hull>(hullAt(mesh, derivedOf(mesh)));
}

export function partCount(mesh: Mesh): u32 {
  keepUp(mesh);
  return mesh.keptCount == 0 ? 0 : derivedOf(mesh).partCount;
}

/** Returns the address of a corner of a part, in tree space: its x; y and z are 16 and 32 bytes further. */
export function partCorner(mesh: Mesh, index: u32): usize {
  return cornersOf(mesh, load<u32>(partsAt(mesh, derivedOf(mesh)) + <usize>index * PART_BYTES));
}

// --- update ---

/** The derivation that `keepUp` runs; only set while it runs, or after memory has run out. */
let unfinished: usize = 0;

/**
 * Recomputes the derived data if it is stale, or requests it. The core does so for both modules: it has the only list of
 * wanted meshes, and the other module does not need the code. Throws OUT_OF_MEMORY.
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

/** Installs the result of a derivation in its mesh, and frees the derivation. */
export function installDerived(d: Derivation): void {
  const mesh = meshOf(d);
  const result = changetype<Derived>(d.result);
  const address = derivedAddress(mesh);
  releaseDerived(mesh);
  const treeBytes = address - changetype<usize>(mesh);
  mesh.bytes = <u32>treeBytes + result.bytes;
  if (<usize>mesh.bytes <= capacityOf(changetype<usize>(mesh))) {
    memory.copy(address, changetype<usize>(result), result.bytes);
    mesh.derived = <u32>treeBytes;
  } else {
    mesh.derived = <u32>(changetype<usize>(result) - changetype<usize>(mesh));
    d.result = 0;
  }
  unwant(mesh);
  mesh.derivedState = FRESH;
  freeDerivation(d);
}

/** Marks the derived data of a mesh as stale, after its vertices moved. */
export function markStale(mesh: Mesh): void {
  unwant(mesh);
  mesh.derivedState = isDeformable(mesh) ? SHARED : STALE;
}

/** Frees what a mesh owns outside of its own memory; the mesh is unusable then. */
export function releaseDerived(mesh: Mesh): void {
  if (!isDerivedInMesh(mesh)) release(changetype<usize>(derivedOf(mesh)));
}

/** Returns whether the derived data lies behind the tree, in the mesh's own memory. */
export function isDerivedInMesh(mesh: Mesh): bool {
  return changetype<usize>(derivedOf(mesh)) == derivedAddress(mesh);
}

// Meshes that are WANTED, u32 each.
let wantedMeshes: usize = 0;
let wantedCount: u32 = 0;

/** Puts a mesh on the list of wanted ones. Throws OUT_OF_MEMORY. */
function want(mesh: Mesh): void {
  wantedMeshes = reserve(wantedMeshes, <usize>wantedCount << 2, <u64>(wantedCount + 1) << 2);
  store<u32>(wantedMeshes + (<usize>(wantedCount++) << 2), <u32>changetype<usize>(mesh));
  mesh.derivedState = WANTED;
}

/** Takes a mesh off the list of wanted ones; also called for a mesh that is freed. */
export function unwant(mesh: Mesh): void {
  if (mesh.derivedState != WANTED) return;
  for (let i: u32 = 0; i < wantedCount; i++) {
    const at = wantedMeshes + (<usize>i << 2);
    if (load<u32>(at) != <u32>changetype<usize>(mesh)) continue;
    memory.copy(at, at + 4, <usize>(wantedCount - i - 1) << 2);
    wantedCount--;
    break;
  }
  mesh.derivedState = TAKEN;
}

/** Returns how many meshes are wanted. */
export function countWanted(): u32 {
  return wantedCount;
}

/** Takes the mesh that was requested first off the list, to derive it. Returns 0 if there is none. */
export function takeWanted(): usize {
  if (wantedCount == 0) return 0;
  const mesh = changetype<Mesh>(<usize>load<u32>(wantedMeshes));
  unwant(mesh);
  return changetype<usize>(mesh);
}
