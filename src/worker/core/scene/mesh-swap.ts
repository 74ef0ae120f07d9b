// Updates the objects whose mesh has become another, or has moved vertices. Those that are posed keep their pose.

import { isDeformable } from '../mesh/tree/deform-layout';
import { Mesh } from '../mesh/tree/layout';
import { isPointLine } from '../point-line/layout';
import { Item } from '../shape/item';
import { baseOf, fitsPose, freeRooms, isPosed, repose, reserveRepose, retire } from '../skin/pose';
import { TAGS_AT_ONCE, idAt, itemAt, mayHaveMesh, noteMesh, slotCount } from './objects';
import { touch } from './scene';

/**
 * Makes room for `swapMesh`, which throws nothing then; `isRead` where somebody was left in the midst of poses. Throws
 * OUT_OF_MEMORY.
 */
export function reserveSwap(from: Mesh, to: Mesh, isRead: bool): void {
  freeRooms();
  if (!hasPoses(from) || (from == to && !isRead)) return;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) != 0 && isPoseOf(itemAt(slot), from) && fitsPose(meshOf(itemAt(slot)), to)) reserveRepose(to);
  }
}

/**
 * Gives all objects of a mesh the bounds of `to`, which takes its place; it may be the same, changed. Objects that have other
 * meshes are passed over: to look at each of 100,000 took 3.6 ms.
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
      noteMesh(slot, item.mesh);
    } else if (isPosable && isPoseOf(item, from)) item.mesh = <u32>changetype<usize>(posedAs(meshOf(item), to, isRead));
    else continue;
    touch(slot);
  }
  freeRooms();
}

function posedAs(posed: Mesh, to: Mesh, isRead: bool): Mesh {
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
