// Occluder data of meshes, by the meshes' addresses: a hash table with open addressing. The data of a mesh are kept until the
// mesh is forgotten.

import { mix } from '../math/hash';
import { allocate, release } from '../memory';
import { Mesh } from '../mesh/tree/layout';

/** The data of a mesh. */
@unmanaged
export class Entry {
  mesh: u32; // 0 if the entry is free
  /** The address of the OccluderShape; 0 if the mesh has too many triangles. */
  shape: u32;
  /** Whether there is a box inside: UNKNOWN, NO_BOX or HAS_BOX. */
  box: u32;
  hasShape: u32;
  /** The address of the InnerBox. */
  inner: usize;
  /** The address of the Relief (relief.ts); 0 if it was not requested yet. */
  relief: usize;
}

export const UNKNOWN: u32 = 0;
export const NO_BOX: u32 = 1;
export const HAS_BOX: u32 = 2;
const ENTRY_BYTES: usize = 32;
/** Tombstone: a removed entry that probing must pass. */
const GONE: u32 = 1;

let entries: usize = 0;
let capacity: u32 = 0;
let used: u32 = 0; // including tombstones

// @ts-ignore: decorator
@inline
function entryAt(i: u32): Entry {
  return changetype<Entry>(entries + i * <u32>ENTRY_BYTES);
}

function homeOf(mesh: u32): u32 {
  return <u32>(mix(mesh) >> 32) & (capacity - 1);
}

export function find(mesh: u32): Entry | null {
  if (capacity == 0) return null;
  for (let i = homeOf(mesh); true; i = (i + 1) & (capacity - 1)) {
    const entry = entryAt(i);
    if (entry.mesh == mesh) return entry;
    if (entry.mesh == 0) break;
  }
  return null;
}

/** Returns the data of a mesh, which are empty at first. Throws OUT_OF_MEMORY. */
export function findOrAdd(mesh: u32): Entry {
  const known = find(mesh);
  if (known !== null) return known;
  if ((used + 1) * 2 > capacity) grow();
  let i = homeOf(mesh);
  while (entryAt(i).mesh != 0) i = (i + 1) & (capacity - 1);
  const entry = entryAt(i);
  memory.fill(changetype<usize>(entry), 0, ENTRY_BYTES);
  entry.mesh = mesh;
  used++;
  return entry;
}

function grow(): void {
  const before = entries, count = capacity;
  let live: u32 = 0;
  for (let i: u32 = 0; i < count; i++) if (entryAt(i).mesh > GONE) live++;
  let next: u32 = 64;
  while (next < live * 4) next <<= 1;
  const grown = allocate(next * <u32>ENTRY_BYTES);
  memory.fill(grown, 0, next * <u32>ENTRY_BYTES);
  entries = grown;
  capacity = next;
  used = live;
  for (let i: u32 = 0; i < count; i++) {
    const entry = changetype<Entry>(before + i * <u32>ENTRY_BYTES);
    if (entry.mesh <= GONE) continue;
    let to = homeOf(entry.mesh);
    while (entryAt(to).mesh != 0) to = (to + 1) & (capacity - 1);
    memory.copy(changetype<usize>(entryAt(to)), changetype<usize>(entry), ENTRY_BYTES);
  }
  release(before);
}

/** Removes the data of a mesh that changes or is removed. */
export function forgetOccluder(mesh: Mesh): void {
  const entry = find(<u32>changetype<usize>(mesh));
  if (entry === null) return;
  release(entry.shape);
  release(entry.inner);
  release(entry.relief);
  entry.mesh = GONE;
}

