// Checks the invariants of a tree of points or lines, for tests.

import { LEAF, childCount, childOf, maxBounds, minBounds, nodeAt } from '../mesh/tree/layout';
import { MESH_BOX_TOO_SMALL, MESH_TRIANGLE_LOST } from '../mesh/tree/tree-invariants';
import { MESH_BAD_LINK, MESH_OK } from '../mesh/tree/mesh-check';
import { allocate, release } from '../memory';
import { LINE_END, LINE_Y, NO_ELEMENT, POINT_Y, PointLine, blockOf, elementsPerBlock, meshOf, elementIn } from './layout';
import { VECTOR_BYTES } from '../sizes';

/** Checks that every kept element is in exactly one leaf, and that every box contains its descendants. Slow. */
export function checkPointLineTree(mesh: PointLine): u32 {
  const seen = allocate(<u64>mesh.elementCount);
  memory.fill(seen, 0, mesh.elementCount);
  const result = checkNodes(mesh, seen);
  release(seen);
  return result;
}

function checkNodes(mesh: PointLine, seen: usize): u32 {
  let elementCount: u32 = 0;
  for (let index: u32 = 0; index < mesh.nodeCount; index++) {
    const node = nodeAt(meshOf(mesh), index);
    for (let i: u32 = 0; i < childCount(node); i++) {
      const child = childOf(node, i);
      for (let axis: usize = 0; axis < 3; axis++) {
        v128.store(lanes, minBounds(node, axis));
        v128.store(lanes, maxBounds(node, axis), 16);
        const at = lanes + (<usize>i << 2);
        if (!contains(mesh, child, axis, load<f32>(at), load<f32>(at, 16))) return MESH_BOX_TOO_SMALL;
      }
      if (!(child & LEAF)) continue;
      for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
        const e = elementIn(blockOf(mesh, child), lane, mesh.size);
        if (e == NO_ELEMENT) continue;
        if (e >= mesh.elementCount || load<u8>(seen + e) != 0) return MESH_BAD_LINK;
        store<u8>(seen + e, 1);
        elementCount++;
      }
    }
  }
  return elementCount == mesh.keptCount ? MESH_OK : MESH_TRIANGLE_LOST;
}

const lanes: usize = memory.data(2 * VECTOR_BYTES, 16);

/** Returns whether all coordinates below `child` along an axis are between `minValue` and `maxValue`. */
function contains(mesh: PointLine, child: u32, axis: usize, minValue: f32, maxValue: f32): bool {
  if (!(child & LEAF)) {
    const node = nodeAt(meshOf(mesh), child);
    for (let i: u32 = 0; i < childCount(node); i++) if (!contains(mesh, childOf(node, i), axis, minValue, maxValue)) return false;
    return true;
  }
  const block = blockOf(mesh, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
    const at = block + (<usize>lane << 2) + axis * (mesh.size == 1 ? POINT_Y : LINE_Y);
    if (!(load<f32>(at) >= minValue && load<f32>(at) <= maxValue)) return false;
    if (mesh.size == 2 && !(load<f32>(at + LINE_END) >= minValue && load<f32>(at + LINE_END) <= maxValue)) return false;
  }
  return true;
}
