// Checks the invariants of a mesh's tree, for tests.

import { Rotation } from '../../math/quaternion';
import { allocate, release } from '../../memory';
import {
  LEAF, Mesh, Node, blockAt, childCount, childOf, maxBounds, minBounds, nodeAt, rotationOfNode, triangleOf,
} from './layout';
import { MESH_BAD_LINK, MESH_OK } from './mesh-check';
import { VECTOR_BYTES } from '../../sizes';

export const MESH_BOX_TOO_SMALL = 7;
export const MESH_TRIANGLE_LOST = 8;

/**
 * Checks that every node is reached once, every box contains the corners below it, and every kept triangle is in exactly
 * one leaf. Slow.
 */
export function checkTree(mesh: Mesh): u32 {
  const seen = allocate(<u64>mesh.triangleCount + mesh.nodeCount);
  memory.fill(seen, 0, <usize>mesh.triangleCount + mesh.nodeCount);
  const result = checkNodes(mesh, seen, seen + mesh.triangleCount);
  release(seen);
  return result;
}

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));

function checkNodes(mesh: Mesh, triangles: usize, nodes: usize): u32 {
  store<u8>(nodes, 1);
  let triangleCount: u32 = 0;
  for (let index: u32 = 0; index < mesh.nodeCount; index++) {
    const node = nodeAt(mesh, index);
    rotationOfNode(rotation, node);
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      const child = childOf(node, i);
      const reachedCount = child & LEAF ? reachTriangles(mesh, child, triangles) : reachNode(mesh, child, nodes);
      if (reachedCount < 0) return MESH_BAD_LINK;
      triangleCount += reachedCount;
      if (!contains(mesh, node, i, child)) return MESH_BOX_TOO_SMALL;
    }
  }
  for (let index: u32 = 0; index < mesh.nodeCount; index++) if (load<u8>(nodes + index) == 0) return MESH_BAD_LINK;
  return triangleCount == mesh.keptCount ? MESH_OK : MESH_TRIANGLE_LOST;
}

/** Marks a node as reached. Returns 0, or -1 if it does not exist or was reached before. */
function reachNode(mesh: Mesh, child: u32, nodes: usize): i32 {
  if (child >= mesh.nodeCount || load<u8>(nodes + child) != 0) return -1;
  store<u8>(nodes + child, 1);
  return 0;
}

/** Marks the triangles of a leaf as reached. Returns their number, or -1 if one does not exist or was reached before. */
function reachTriangles(mesh: Mesh, child: u32, triangles: usize): i32 {
  if ((child & ~LEAF) >= mesh.blockCount) return -1;
  const block = blockAt(mesh, child);
  let count = 0;
  for (let lane = 0; lane < 4; lane++) {
    const t = triangleOf(block, lane);
    if (t < 0) continue;
    if (<u32>t >= mesh.triangleCount || load<u8>(triangles + t) != 0) return -1;
    store<u8>(triangles + t, 1);
    count++;
  }
  return count;
}

const lanes: usize = memory.data(VECTOR_BYTES, 16);

function boundOfChild(bounds: v128, i: u32): f32 {
  v128.store(lanes, bounds);
  return load<f32>(lanes + (<usize>i << 2));
}

/** Returns whether box i of `node` contains all corners below `child`. */
function contains(mesh: Mesh, node: Node, i: u32, child: u32): bool {
  if (!(child & LEAF)) {
    const childNode = nodeAt(mesh, child);
    const count = childCount(childNode);
    for (let k: u32 = 0; k < count; k++) if (!contains(mesh, node, i, childOf(childNode, k))) return false;
    return true;
  }
  const block = changetype<usize>(blockAt(mesh, child));
  for (let lane: usize = 0; lane < 4; lane++) {
    for (let k: usize = 0; k < 3; k++) {
      const at = block + (lane << 2) + k * 48;
      const px = <f64>load<f32>(at), py = <f64>load<f32>(at, 16), pz = <f64>load<f32>(at, 32);
      const x = rotation.xx * px + rotation.xy * py + rotation.xz * pz;
      const y = rotation.yx * px + rotation.yy * py + rotation.yz * pz;
      const z = rotation.zx * px + rotation.zy * py + rotation.zz * pz;
      if (!(x >= boundOfChild(minBounds(node, 0), i) && x <= boundOfChild(maxBounds(node, 0), i))) return false;
      if (!(y >= boundOfChild(minBounds(node, 1), i) && y <= boundOfChild(maxBounds(node, 1), i))) return false;
      if (!(z >= boundOfChild(minBounds(node, 2), i) && z <= boundOfChild(maxBounds(node, 2), i))) return false;
    }
  }
  return true;
}
