// Checks what came with a baked mesh besides its tree: no data make those who ask for it read elsewhere, and every
// number is finite. Whether it is true of the triangles is not asked; that is what the checksum is for.

import { MESH_BAD_INDEX, MESH_BAD_NUMBER, MESH_INCONSISTENT, MESH_OK, checkTreeData } from '../tree/validate-baked';
import { Mesh, TREE_EXTENT } from '../tree/layout';
import {
  Derived, FAR_BYTES, NEIGHBOURS_BYTES, PART_BYTES, derivedBytes, derivedOf, farAt, hullAt, neighboursAt, partsAt,
} from './derived-layout';
import { NOWHERE } from './hull';
import { Hull, boundsIn, cornersIn, fourPlanesFor, planesIn } from './hull-layout';

/**
 * Checks the `bytes` bytes at `address`. Answers MESH_OK where they are a mesh that everything stays inside of and
 * comes to an end.
 */
export function checkMesh(address: usize, bytes: u32): u32 {
  const tree = checkTreeData(address, bytes);
  return tree == MESH_OK ? checkDerived(changetype<Mesh>(address)) : tree;
}

function checkDerived(mesh: Mesh): u32 {
  const derived = derivedOf(mesh);
  const slots = <u64>mesh.blockCount * 4;
  // Together, that there is no more of anything than could be is what keeps sizes from wrapping around.
  if (
    derived.isConvex != <u32>(derived.clusterCount != 0) || derived.farCount > slots * 3 || derived.partCount == 0 ||
    derived.partCount > slots || (derived.clusterCount & 3) != 0 || derived.clusterCount > slots * 3 + 4 ||
    (derived.pad0 | derived.pad1 | derived.pad2) != 0
  ) return MESH_INCONSISTENT;
  const size = derivedBytes(mesh, derived.farCount, derived.partCount, derived.clusterCount);
  if (size != derived.bytes || mesh.derived + size != mesh.bytes) return MESH_INCONSISTENT;
  if (!areNeighbours(mesh, derived) || !areSlots(mesh, derived)) return MESH_BAD_INDEX;
  return derived.isConvex == 0 ? MESH_OK : checkHull(mesh, derived);
}

/** The number of slots within which 16 bits may lead out of the mesh, from either end. */
const REACH: u32 = 32768;

/** Tells whether all neighbours are slots. In the middle of a large mesh 16 bits cannot lead out of it. */
function areNeighbours(mesh: Mesh, derived: Derived): bool {
  const slots = mesh.blockCount << 2;
  const near = min(slots, REACH);
  if (!areWithin(derived, 0, near, slots) || !areWithin(derived, slots - near, slots, slots)) return false;
  const far = farAt(mesh, derived);
  for (let at = far, end = far + <usize>derived.farCount * FAR_BYTES; at < end; at += FAR_BYTES) {
    if (load<u32>(at) >= slots << 2 || load<u32>(at, 4) >= slots) return false;
  }
  return true;
}

/**
 * Tells whether all neighbours of slots from `start` to `end` are slots. What stands for a far neighbour leads nowhere
 * by itself, so it may say anything.
 */
function areWithin(derived: Derived, start: u32, end: u32, slots: u32): bool {
  const neighbours = neighboursAt(derived);
  for (let slot = start; slot < end; slot++) {
    const at = neighbours + <usize>slot * NEIGHBOURS_BYTES;
    for (let edge: usize = 0; edge < 6; edge += 2) {
      const delta = <i32>load<i16>(at + edge);
      if (delta != -32768 && <u32>(<i32>slot + delta) >= slots) return false;
    }
  }
  return true;
}

function areSlots(mesh: Mesh, derived: Derived): bool {
  const parts = partsAt(mesh, derived);
  for (let at = parts, end = parts + <usize>derived.partCount * PART_BYTES; at < end; at += PART_BYTES) {
    if (load<u32>(at) >= mesh.blockCount << 2) return false;
  }
  return true;
}

/**
 * The most that a number of a plane may be: normals are unit but for rounding, and heights are no more than tree space
 * is wide.
 */
const MOST_OF_A_PLANE: f32 = 4;

function checkHull(mesh: Mesh, derived: Derived): u32 {
  const hull = changetype<Hull>(hullAt(mesh, derived));
  if (
    hull.clusterCount != derived.clusterCount || hull.fourPlanesCount != fourPlanesFor(mesh.keptCount) ||
    hull.isWhole > 1 || hull.pad != 0
  ) return MESH_INCONSISTENT;
  const end = changetype<usize>(derived) + derived.bytes;
  return areBelow(boundsIn(hull), cornersIn(hull), NOWHERE) && areBelow(cornersIn(hull), planesIn(hull), TREE_EXTENT) &&
    areBelow(planesIn(hull), end, MOST_OF_A_PLANE) ? MESH_OK : MESH_BAD_NUMBER;
}

/** Tells whether no number's magnitude is more than `most`; false for NaN. The range consists of whole vectors. */
function areBelow(start: usize, end: usize, most: f32): bool {
  let below = i32x4.splat(-1);
  for (let at = start; at < end; at += 16) {
    below = v128.and(below, f32x4.le(f32x4.abs(v128.load(at)), f32x4.splat(most)));
  }
  return i32x4.all_true(below);
}
