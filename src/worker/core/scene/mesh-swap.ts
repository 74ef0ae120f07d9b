// Updates the objects whose mesh has become another.

import { Mesh } from '../mesh/tree/layout';
import { idAt, itemAt, slotCount } from './objects';
import { touch } from './scene';

/** Gives all objects of a mesh the bounds of `to`, which takes its place; it may be the same, changed. */
export function swapMesh(from: Mesh, to: Mesh): void {
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    const item = itemAt(slot);
    if (idAt(slot) == 0 || item.mesh != <u32>changetype<usize>(from)) continue;
    item.mesh = <u32>changetype<usize>(to);
    touch(slot);
  }
}
