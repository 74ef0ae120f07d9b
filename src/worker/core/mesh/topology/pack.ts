// Packs a mesh's tree and its derived data into one relocatable piece of memory, for baking.

import { allocate, capacityOf, release } from '../../memory';
import { Mesh, derivedAddress } from '../tree/layout';
import { Derivation, meshOf, resultOf } from './derivation-state';
import { FRESH } from './derived';
import { Derived, derivedOf } from './derived-layout';

/**
 * Appends a derivation's result to its mesh, of which the caller is the only owner. Returns the mesh: a copy if there is
 * no room behind it. Throws OUT_OF_MEMORY.
 */
export function appendDerived(d: Derivation): usize {
  const mesh = meshOf(d), derived = resultOf(d), address = changetype<usize>(mesh);
  const treeBytes = derivedAddress(mesh) - address;
  if (capacityOf(address) < treeBytes + derived.bytes) {
    const packed = pack(mesh, derived);
    release(address);
    return packed;
  }
  memory.copy(address + treeBytes, changetype<usize>(derived), derived.bytes);
  endPacking(mesh, treeBytes, treeBytes + derived.bytes);
  return address;
}

function pack(mesh: Mesh, derived: Derived): usize {
  const treeBytes = derivedAddress(mesh) - changetype<usize>(mesh);
  const address = allocate(<u64>treeBytes + derived.bytes);
  memory.copy(address, changetype<usize>(mesh), treeBytes);
  memory.copy(address + treeBytes, changetype<usize>(derived), derived.bytes);
  endPacking(changetype<Mesh>(address), treeBytes, treeBytes + derived.bytes);
  return address;
}

/**
 * Copies up to `bytes` more bytes of a tree, followed by its derived data, to one piece of `totalBytes` bytes, of which the
 * first `packedBytes` are already there. Returns how many are there then.
 */
export function packStep(
  to: usize, tree: usize, treeBytes: usize, derived: usize, totalBytes: usize, packedBytes: usize, bytes: usize,
): usize {
  const end = min(packedBytes + bytes, packedBytes < treeBytes ? treeBytes : totalBytes);
  memory.copy(to + packedBytes, packedBytes < treeBytes ? tree + packedBytes : derived + (packedBytes - treeBytes), end -
    packedBytes);
  return end;
}

/** Writes the offset of the derived data to the header of the packed piece. */
export function endPacking(packed: Mesh, treeBytes: usize, totalBytes: usize): void {
  packed.derived = <u32>treeBytes;
  packed.bytes = <u32>totalBytes;
  packed.derivedState = FRESH;
}

/**
 * Returns a copy of a mesh with its derived data, whose vertices can be moved while the original is read. Throws
 * OUT_OF_MEMORY.
 */
export function copyWhole(mesh: Mesh): usize {
  return pack(mesh, derivedOf(mesh));
}
