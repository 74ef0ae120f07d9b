// Puts a mesh's tree and what was derived into one relocatable piece: what is baked.

import { allocate, capacityOf, release } from '../../memory';
import { Mesh, derivedPlace } from '../tree/layout';
import { Derivation, meshOf, resultOf } from './derivation-state';
import { FRESH } from './derived';
import { Derived, derivedOf } from './derived-layout';

/**
 * Puts a derivation's result behind its mesh, which nobody but the caller has. Answers the mesh: a copy where there is no room
 * behind it. Throws OUT_OF_MEMORY.
 */
export function appendDerived(d: Derivation): usize {
  const mesh = meshOf(d), derived = resultOf(d), address = changetype<usize>(mesh);
  const treeBytes = derivedPlace(mesh) - address;
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
  const treeBytes = derivedPlace(mesh) - changetype<usize>(mesh);
  const address = allocate(<u64>treeBytes + derived.bytes);
  memory.copy(address, changetype<usize>(mesh), treeBytes);
  memory.copy(address + treeBytes, changetype<usize>(derived), derived.bytes);
  endPacking(changetype<Mesh>(address), treeBytes, treeBytes + derived.bytes);
  return address;
}

/**
 * Copies up to `bytes` bytes more of a tree, and of what was derived of it behind that, to one piece of `all` bytes, of
 * which the first `at` are there. Answers how many are then.
 */
export function packSome(
  to: usize, tree: usize, treeBytes: usize, derived: usize, all: usize, at: usize, bytes: usize,
): usize {
  const end = min(at + bytes, at < treeBytes ? treeBytes : all);
  memory.copy(to + at, at < treeBytes ? tree + at : derived + (at - treeBytes), end - at);
  return end;
}

/** Writes to the header of one piece where in it is what was derived. */
export function endPacking(packed: Mesh, treeBytes: usize, all: usize): void {
  packed.derived = <u32>treeBytes;
  packed.bytes = <u32>all;
  packed.derivedState = FRESH;
}

/** Answers a copy of a mesh with what was derived, to move its vertices while the other is read. Throws OUT_OF_MEMORY. */
export function copyWhole(mesh: Mesh): usize {
  return pack(mesh, derivedOf(mesh));
}
