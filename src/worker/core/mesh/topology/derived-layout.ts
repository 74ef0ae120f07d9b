// The derived data of a mesh, in one piece of memory: which triangles share an edge, one triangle of each connected
// part, and the hull of a convex mesh. Sections follow the header, each at a multiple of 16; their offsets follow from
// the counts. Triangles are given by slots: four times the block's index plus the lane.

import { HULL_BYTES, hullSectionBytes } from './hull-layout';
import { Mesh } from '../tree/layout';

/** The header. */
@unmanaged
export class Derived {
  /** The size of the whole piece. */
  bytes: u32;
  /** 1 for the surface of a convex solid, which has a hull. */
  isConvex: u32;
  /** How many neighbours are too many slots away for 16 bits. */
  farCount: u32;
  partCount: u32;
  /** The number of clusters of the hull; 0 without a hull. */
  clusterCount: u32;
  pad0: u32; pad1: u32; pad2: u32;
}

export const DERIVED_BYTES: usize = offsetof<Derived>();

/** The bytes of a slot's neighbours, three i16: the difference of the slots; 0 if there is no neighbour. */
export const NEIGHBOURS_BYTES: usize = 6;
/** Denotes a neighbour that is too many slots away, which is in a list instead. */
export const FAR_NEIGHBOUR: i16 = -32768;
/**
 * The bytes of an element of that list, which is sorted by the first word: four times the slot plus the edge, and the
 * neighbour's slot.
 */
export const FAR_NEIGHBOUR_BYTES: usize = 8;
/** The bytes of a part: a slot. */
export const PART_BYTES: usize = 4;

// @ts-ignore: decorator
@inline
function align16(bytes: u64): u64 {
  return (bytes + 15) & ~15;
}

// @ts-ignore: decorator
@inline
export function derivedOf(mesh: Mesh): Derived {
  return changetype<Derived>(changetype<usize>(mesh) + mesh.derived);
}

/** Returns the bytes of a piece with these counts. */
export function derivedBytes(mesh: Mesh, farCount: u32, partCount: u32, clusterCount: u32): u64 {
  const sections =
    DERIVED_BYTES + align16(<u64>mesh.blockCount * 4 * NEIGHBOURS_BYTES) + align16(<u64>farCount * FAR_NEIGHBOUR_BYTES) +
    align16(<u64>partCount * PART_BYTES);
  return clusterCount == 0 ? sections : sections + HULL_BYTES + hullSectionBytes(clusterCount, mesh.keptCount);
}

// @ts-ignore: decorator
@inline
export function neighboursAt(derived: Derived): usize {
  return changetype<usize>(derived) + DERIVED_BYTES;
}

// @ts-ignore: decorator
@inline
export function farNeighboursAt(mesh: Mesh, derived: Derived): usize {
  return neighboursAt(derived) + <usize>align16(<u64>mesh.blockCount * 4 * NEIGHBOURS_BYTES);
}

// @ts-ignore: decorator
@inline
export function partsAt(mesh: Mesh, derived: Derived): usize {
  return farNeighboursAt(mesh, derived) + <usize>align16(<u64>derived.farCount * FAR_NEIGHBOUR_BYTES);
}

// @ts-ignore: decorator
@inline
export function hullAt(mesh: Mesh, derived: Derived): usize {
  return partsAt(mesh, derived) + <usize>align16(<u64>derived.partCount * PART_BYTES);
}
