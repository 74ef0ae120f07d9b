// The middle of a mesh's corners, which is in its hull.

import { Mesh, blockAt, triangleOf } from './tree/layout';

/** In tree space. */
export let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

export function setMiddle(mesh: Mesh): void {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  let count: f64 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      for (let at = changetype<usize>(block) + (<usize>lane << 2), end = at + 144; at < end; at += 48) {
        x += <f64>load<f32>(at);
        y += <f64>load<f32>(at, 16);
        z += <f64>load<f32>(at, 32);
      }
      count += 3;
    }
  }
  middleX = x / count;
  middleY = y / count;
  middleZ = z / count;
}
