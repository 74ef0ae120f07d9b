import * as layout from '../../src/shared/layout.js';
import { type BakedMesh, NODE_BLOCKS, NODE_CHILDREN, NODE_MAX, NODE_MIN, NODE_ORIGIN, NODE_SCALE } from './baked.js';

const NODE_BYTES = 64;
const LINK_BITS = 0xe0000000;
const FLOAT = 0x40000000;
const EMPTY_SLOT = -1;

/**
 * Returns by a slow method whether the tree of a baked mesh, its blocks, indices and dipoles are valid, given that the header and
 * the derived data are.
 */
export function isTreeValid(mesh: BakedMesh): boolean {
  return areLinksValid(mesh) && areBlocksValid(mesh) && areIndicesValid(mesh) && areDipolesValid(mesh);
}

/** Renumbers nodes and blocks, depth first from the last child to the first, and compares. */
function areLinksValid(mesh: BakedMesh): boolean {
  let [nodes, blocks] = [1, 0];
  const checkNode = (node: number, depth: number): boolean => {
    const { count, inner, firstNode, firstBlock } = mesh.links(node);
    if (!isNodeValid(mesh, node) || firstNode !== nodes || firstBlock !== blocks) return false;
    nodes += inner;
    blocks += count - inner;
    if (nodes > mesh.nodeCount || (inner > 0 && depth === 64)) return false;
    for (let child = firstNode + inner - 1; child >= firstNode; child--) if (!checkNode(child, depth + 1)) return false;
    return true;
  };
  return checkNode(0, 0) && nodes === mesh.nodeCount && blocks === mesh.blockCount;
}

function isNodeValid(mesh: BakedMesh, node: number): boolean {
  const at = mesh.nodeAt(node);
  const { count, inner } = mesh.links(node);
  for (const offset of [NODE_CHILDREN, NODE_BLOCKS]) {
    if ((mesh.word(at + offset) & LINK_BITS) >>> 0 !== FLOAT) return false;
  }
  for (let axis = 0; axis < 3; axis++) {
    const scale = mesh.view.getFloat32(at + NODE_SCALE + 4 * axis, true);
    if (!(Math.abs(mesh.view.getFloat32(at + NODE_ORIGIN + 4 * axis, true)) <= 16 && scale >= 0 && scale <= 1))
      return false;
    for (let child = 0; child < count; child++) {
      if (mesh.view.getUint8(at + NODE_MIN[axis] + child) > mesh.view.getUint8(at + NODE_MAX[axis] + child))
        return false;
    }
  }
  return inner <= count && (mesh.word(at + 24) | mesh.word(at + 28)) !== 0;
}

function areBlocksValid(mesh: BakedMesh): boolean {
  const triangles = mesh.word(layout.MESH_TRIANGLE_COUNT);
  let [keptCount, usedCount] = [0, 0];
  for (let block = 0; block < mesh.blockCount; block++) {
    const at = mesh.blockAt(block);
    for (let k = 0; k < layout.BLOCK_TRIANGLES; k += 4) {
      if (!(Math.abs(mesh.view.getFloat32(at + k, true)) <= 2)) return false;
    }
    for (let lane = 0; lane < 4; lane++) {
      const triangle = mesh.view.getInt32(mesh.triangleAt(block, lane), true);
      if (triangle >= 0) keptCount++;
      if (triangle !== EMPTY_SLOT) usedCount++;
      const mayBeEmpty = triangle === EMPTY_SLOT && lane > 0;
      if (!mayBeEmpty && (triangle & 0x7fffffff) >= triangles) return false;
    }
  }
  return keptCount === mesh.word(layout.MESH_KEPT_COUNT) && usedCount <= triangles;
}

function areIndicesValid(mesh: BakedMesh): boolean {
  const vertices = mesh.word(layout.MESH_VERTEX_COUNT);
  if (mesh.word(layout.MESH_INDEXED) === 0) return true;
  for (let at = mesh.word(layout.MESH_INDICES); at <= mesh.lastIndexAt; at += 4)
    if (mesh.word(at) >= vertices) return false;
  return true;
}

function areDipolesValid(mesh: BakedMesh): boolean {
  const start = mesh.word(layout.MESH_DIPOLES);
  for (let at = start; at < start + NODE_BYTES * mesh.nodeCount; at += 4) {
    if (!Number.isFinite(mesh.view.getFloat32(at, true))) return false;
  }
  return true;
}
