// Validates the derived data of a baked mesh: no data can cause reads elsewhere, and every number is finite. Whether it
// is right for the triangles is not checked; the checksum protects that.

import {
  MESH_BAD_INDEX, MESH_INCONSISTENT, MESH_OK, MeshCheck, RANGE_PAIRS, RANGE_WORDS, addFloats, addNumbers, meshOf,
} from '../tree/mesh-check';
import { Mesh, TREE_EXTENT } from '../tree/layout';
import {
  Derived, FAR_NEIGHBOUR_BYTES, NEIGHBOURS_BYTES, PART_BYTES, derivedBytes, derivedOf, farNeighboursAt, hullAt, neighboursAt,
  partsAt,
} from './derived-layout';
import { EMPTY_HALF_SIZE } from './hull';
import { Hull, boundsIn, cornersIn, planeGroupsFor, planesIn } from './hull-layout';

/** Checks counts, sizes and neighbours; adds ranges for all other numbers. The tree must be valid. */
export function checkDerived(check: MeshCheck): u32 {
  const mesh = meshOf(check);
  const derived = derivedOf(mesh);
  const slots = <u64>mesh.blockCount * 4;
  // The limits of the counts also prevent the sizes from wrapping around.
  if (
    derived.isConvex != <u32>(derived.clusterCount != 0) || derived.farCount > slots * 3 || derived.partCount == 0 ||
    derived.partCount > slots || (derived.clusterCount & 3) != 0 || derived.clusterCount > slots * 3 + 4 ||
    (derived.pad0 | derived.pad1 | derived.pad2) != 0
  ) return MESH_INCONSISTENT;
  const size = derivedBytes(mesh, derived.farCount, derived.partCount, derived.clusterCount);
  if (size != derived.bytes || mesh.derived + size != mesh.bytes) return MESH_INCONSISTENT;
  if (!areNeighboursValid(mesh, derived)) return MESH_BAD_INDEX;
  const far = farNeighboursAt(mesh, derived), parts = partsAt(mesh, derived);
  addNumbers(check, RANGE_PAIRS, far, far + <usize>derived.farCount * FAR_NEIGHBOUR_BYTES, <u32>slots);
  addNumbers(check, RANGE_WORDS, parts, parts + <usize>derived.partCount * PART_BYTES, <u32>slots);
  return derived.isConvex == 0 ? MESH_OK : checkHull(check, mesh, derived);
}

/** The number of slots at either end of the mesh from which 16 bits may lead out of it. */
const MAX_NEAR_DELTA: u32 = 32768;

/** Returns whether all near neighbours are valid slots. In the middle of a large mesh 16 bits cannot lead out of it. */
function areNeighboursValid(mesh: Mesh, derived: Derived): bool {
  const slots = mesh.blockCount << 2;
  const checkedCount = min(slots, MAX_NEAR_DELTA);
  return areSlotsValid(derived, 0, checkedCount, slots) && areSlotsValid(derived, slots - checkedCount, slots, slots);
}

/**
 * Returns whether all neighbours of slots from `start` to `end` are valid slots. The mark of a far neighbour is not
 * followed, so it may have any offset.
 */
function areSlotsValid(derived: Derived, start: u32, end: u32, slots: u32): bool {
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

/**
 * The greatest magnitude of a plane's numbers: normals are of unit length except for rounding, and heights do not exceed
 * the diagonal of tree space.
 */
const MAX_PLANE_VALUE: f32 = 4;

function checkHull(check: MeshCheck, mesh: Mesh, derived: Derived): u32 {
  const hull = changetype<Hull>(hullAt(mesh, derived));
  if (
    hull.clusterCount != derived.clusterCount || hull.planeGroupCount != planeGroupsFor(mesh.keptCount) ||
    hull.isOneClosedPart > 1 || hull.pad != 0
  ) return MESH_INCONSISTENT;
  addFloats(check, boundsIn(hull), cornersIn(hull), EMPTY_HALF_SIZE);
  addFloats(check, cornersIn(hull), planesIn(hull), TREE_EXTENT);
  addFloats(check, planesIn(hull), changetype<usize>(derived) + derived.bytes, MAX_PLANE_VALUE);
  return MESH_OK;
}
