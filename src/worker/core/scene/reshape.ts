// Objects whose mesh has become another.

import { Mesh } from '../mesh/layout';
import { idAt, itemAt, setMeshBounds, slotCount, updateBounds } from './objects';
import { moved, touch } from './scene';
import { slotIn } from './slot-set';

/** Notes that the objects of a mesh move. Running out of memory here, all is as it was; `reshape` needs none. */
export function touchUsers(mesh: Mesh): void {
  const address = <u32>changetype<usize>(mesh);
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) != 0 && itemAt(slot).mesh == address) touch(slot);
  }
}

/** Gives the touched objects of a mesh the bounds of `to`, which takes its place; it may be the same, changed. */
export function reshape(from: Mesh, to: Mesh): void {
  for (let i: u32 = 0; i < moved.count; i++) {
    const slot = slotIn(moved, i);
    const item = itemAt(slot);
    if (idAt(slot) == 0 || item.mesh != <u32>changetype<usize>(from)) continue;
    item.mesh = <u32>changetype<usize>(to);
    setMeshBounds(item);
    updateBounds(slot);
  }
}
