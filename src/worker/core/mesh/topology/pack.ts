// Puts a mesh's tree and what was derived into one relocatable piece: what is baked.

import { allocate } from '../../memory';
import { checksum } from '../tree/checksum';
import { Mesh, derivedPlace } from '../tree/layout';
import { Derivation, meshOf, resultOf } from './derivation-state';
import { FRESH, deriveAtOnce, hasOwnPlace } from './derived';
import { Derived, derivedOf } from './derived-layout';

/** Answers a copy of a derivation's mesh with its result behind it. Throws OUT_OF_MEMORY. */
export function packDerived(d: Derivation): usize {
  return pack(meshOf(d), resultOf(d));
}

function pack(mesh: Mesh, derived: Derived): usize {
  const treeBytes = derivedPlace(mesh) - changetype<usize>(mesh);
  const address = allocate(<u64>treeBytes + derived.bytes);
  memory.copy(address, changetype<usize>(mesh), treeBytes);
  memory.copy(address + treeBytes, changetype<usize>(derived), derived.bytes);
  const packed = changetype<Mesh>(address);
  packed.derived = <u32>treeBytes;
  packed.bytes = <u32>treeBytes + derived.bytes;
  packed.derivedState = FRESH;
  return address;
}

/** Answers a copy of a mesh with what was derived, to move its vertices while the other is read. Throws OUT_OF_MEMORY. */
export function copyWhole(mesh: Mesh): usize {
  return pack(mesh, derivedOf(mesh));
}

/** Answers a copy of a mesh without what was derived, to derive it anew. Throws OUT_OF_MEMORY. */
export function copyTree(mesh: Mesh): usize {
  const bytes = derivedPlace(mesh) - changetype<usize>(mesh);
  const address = allocate(bytes);
  memory.copy(address, changetype<usize>(mesh), bytes);
  changetype<Mesh>(address).derivedState = FRESH;
  return address;
}

/**
 * Answers the mesh as it is baked, `mesh.bytes` long: at the mesh's own address, or at another, which the caller must
 * release. Derives at once what is not of the vertices as they are. Throws OUT_OF_MEMORY.
 */
export function bakedForm(mesh: Mesh): usize {
  if (mesh.derivedState != FRESH) deriveAtOnce(mesh);
  const address = hasOwnPlace(mesh) ? changetype<usize>(mesh) : pack(mesh, derivedOf(mesh));
  changetype<Mesh>(address).checksum = checksum(changetype<Mesh>(address));
  return address;
}
