// Occluder data of meshes, by the meshes' addresses: a hash table with open addressing. The data of a mesh are kept until the
// mesh is forgotten.

import { mix } from '../math/hash';
import { allocate, release } from '../memory';
import { Mesh } from '../mesh/tree/layout';

/** The data of a mesh. */
@unmanaged
export class OccluderEntry {
  mesh: u32; // 0 if the entry is free
  /** The address of the OccluderShape; 0 if the mesh has too many triangles. */
  shape: u32;
  /** Whether there is a box inside: UNKNOWN, NO_BOX or HAS_BOX. */
  boxState: u32;
  hasShape: u32;
  /** The address of the InnerBox. */
  innerBox: usize;
  /** The address of the Relief (relief.ts); 0 if it was not requested yet. */
  relief: usize;
}

export const UNKNOWN: u32 = 0;
export const NO_BOX: u32 = 1;
export const HAS_BOX: u32 = 2;
const ENTRY_BYTES: usize = 32;
/** Tombstone: a removed entry that probing must pass. */
const TOMBSTONE: u32 = 1;

let entries: usize = 0;
let capacity: u32 = 0;
let usedCount: u32 = 0; // including tombstones

// @ts-ignore: decorator
@inline
function entryAt(i: u32): OccluderEntry {
  return changetype<OccluderEntry>(entries + i * <u32>ENTRY_BYTES);
}

function bucketOf(mesh: u32): u32 {
  return <u32>(mix(mesh) >> 32) & (capacity - 1);
}

export function findOccluder(mesh: u32): OccluderEntry | null {
  if (capacity == 0) return null;
  for (let i = bucketOf(mesh); true; i = (i + 1) & (capacity - 1)) {
    const entry = entryAt(i);
    if (entry.mesh == mesh) return entry;
    if (entry.mesh == 0) break;
  }
  return null;
}

/** Returns the data of a mesh, which are empty at first. Throws OUT_OF_MEMORY. */
export function findOrAddOccluder(mesh: u32): OccluderEntry {
  const existing = findOccluder(mesh);
  if (existing !== null) return existing;
  if ((usedCount + 1) * 2 > capacity) grow();
  let i = bucketOf(mesh);
  while (entryAt(i).mesh != 0) i = (i + 1) & (capacity - 1);
  const entry = entryAt(i);
  memory.fill(changetype<usize>(entry), 0, ENTRY_BYTES);
  entry.mesh = mesh;
  usedCount++;
  return entry;
}

function grow(): void {
  const oldEntries = entries, count = capacity;
  let liveCount: u32 = 0;
  for (let i: u32 = 0; i < count; i++) if (entryAt(i).mesh > TOMBSTONE) liveCount++;
  let newCapacity: u32 = 64;
  while (newCapacity < liveCount * 4) newCapacity <<= 1;
  const newEntries = allocate(newCapacity * <u32>ENTRY_BYTES);
  memory.fill(newEntries, 0, newCapacity * <u32>ENTRY_BYTES);
  entries = newEntries;
  capacity = newCapacity;
  usedCount = liveCount;
  for (let i: u32 = 0; i < count; i++) {
    const entry = changetype<OccluderEntry>(oldEntries + i * <u32>ENTRY_BYTES);
    if (entry.mesh <= TOMBSTONE) continue;
    let to = bucketOf(entry.mesh);
    while (entryAt(to).mesh != 0) to = (to + 1) & (capacity - 1);
    memory.copy(changetype<usize>(entryAt(to)), changetype<usize>(entry), ENTRY_BYTES);
  }
  release(oldEntries);
}

/** Removes the data of a mesh that changes or is removed. */
export function forgetOccluder(mesh: Mesh): void {
  const entry = findOccluder(<u32>changetype<usize>(mesh));
  if (entry === null) return;
  release(entry.shape);
  release(entry.innerBox);
  release(entry.relief);
  entry.mesh = TOMBSTONE;
}

