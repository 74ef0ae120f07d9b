// Updates the objects whose mesh was replaced, or whose vertices have moved. Posed objects keep their pose.

import { isDeformable } from '../mesh/tree/deform-layout';
import { Mesh } from '../mesh/tree/layout';
import { isPointLine } from '../point-line/layout';
import { Item } from '../shape/item';
import { baseOf, fitsPose, freeReservations, isPosed, repose, reserveRepose, retire } from '../skin/pose';
import { TAGS_AT_ONCE, idAt, itemAt, mayHaveMesh, setMeshTag, slotCount } from './objects';
import { refreshBounds } from './scene';

/**
 * Makes room for `swapMesh`, which then throws nothing. `isRead`: whether an unfinished computation still reads poses. Throws
 * OUT_OF_MEMORY.
 */
export function reserveSwap(from: Mesh, to: Mesh, isRead: bool): void {
  freeReservations();
  if (!hasPoses(from) || (from == to && !isRead)) return;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) != 0 && isPoseOf(itemAt(slot), from) && fitsPose(meshOf(itemAt(slot)), to)) reserveRepose(to);
  }
}

/**
 * Updates all objects of a mesh, and their bounds, to `to`, which replaces it; it may be the same mesh, changed. Objects with
 * other meshes are skipped by their tags: visiting each of 100,000 took 3.6 ms.
 */
export function swapMesh(from: Mesh, to: Mesh, isRead: bool = false): void {
  const isPosable = hasPoses(from), address = <u32>changetype<usize>(from);
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if ((slot & (TAGS_AT_ONCE - 1)) == 0 && !isPosable && !mayHaveMesh(slot, address)) {
      slot += TAGS_AT_ONCE - 1;
      continue;
    }
    if (idAt(slot) == 0) continue;
    const item = itemAt(slot);
    if (item.mesh == address) {
      item.mesh = <u32>changetype<usize>(to);
      setMeshTag(slot, item.mesh);
    } else if (isPosable && isPoseOf(item, from)) item.mesh = <u32>changetype<usize>(convertPose(meshOf(item), to, isRead));
    else continue;
    refreshBounds(slot);
  }
  freeReservations();
}

function convertPose(posed: Mesh, to: Mesh, isRead: bool): Mesh {
  if (fitsPose(posed, to)) return repose(posed, to, isRead);
  retire(posed);
  return to;
}

// @ts-ignore: decorator
@inline
function hasPoses(mesh: Mesh): bool {
  return !isPointLine(changetype<usize>(mesh)) && isDeformable(mesh);
}

// @ts-ignore: decorator
@inline
function meshOf(item: Item): Mesh {
  return changetype<Mesh>(<usize>item.mesh);
}

function isPoseOf(item: Item, base: Mesh): bool {
  return item.mesh != 0 && isPosed(meshOf(item)) && baseOf(meshOf(item)) == base;
}
