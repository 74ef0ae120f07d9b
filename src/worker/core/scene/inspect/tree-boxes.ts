// Lists the boxes of an object's tree, level by level, in world frames in float64: a box contains its elements wherever the
// object is. Level 0 is the object's own oriented bounds, level 1 the boxes of the root's children. A posed mesh is listed with
// its moved vertices. Other shapes have level 0 only. A listing may be suspended and resumed: the mesh must stay, the object
// need not.
//
// Words of a box: its level, the index of its parent among the boxes or NO_PARENT, its first element and their count, which is
// 0 if the box is not a leaf.

import {
  INSPECTED_MESH_BLOCKS, INSPECTED_MESH_BYTES, INSPECTED_MESH_DEPTH, INSPECTED_MESH_ELEMENTS, INSPECTED_MESH_END,
  INSPECTED_MESH_NODES, INSPECTED_MESH_POSE_BYTES, INSPECTED_MESH_TOPOLOGY, SHAPE_MESH,
} from '../../../../shared/layout';
import { now } from '../../host';
import { AFFINE_BYTES, Affine, copy, multiply, setIdentity } from '../../math/affine';
import { ROTATION_BYTES, Rotation } from '../../math/quaternion';
import { allocate, capacityOf, release } from '../../memory';
import {
  LEAF, Mesh, Node, blockAt, childCount, childOf, firstNode, maxBounds, innerCount, minBounds, nodeAt, composeTreeMap,
  rotationOfNode, triangleOf,
} from '../../mesh/tree/layout';
import { NO_ELEMENT, blockOf, elementsPerBlock, isPointLine, elementIn, pointLineOf } from '../../point-line/layout';
import { worldOf } from '../../shape/item';
import { refitPose } from '../../skin/deform';
import { baseOf, isPosed, poseOf } from '../../skin/pose';
import { isAlive, itemAt, orientedBounds, slotOf } from '../objects';
import { addBox, addElement, boxCount, clearBoxes, elementCount, freeInspected, reserveBoxes } from './inspected-boxes';
import { VECTOR_BYTES } from '../../sizes';

/** The parent of a box whose parent is not listed. */
const NO_PARENT: u32 = 0xffffffff;
/** Return values of `stepTreeListing`. */
const UNFINISHED: u32 = 0;
const COMPLETE: u32 = 1;
const TRUNCATED: u32 = 2;
/** How many nodes are listed between two readings of the clock. */
const NODES_PER_READING: u32 = 64;

const treeToWorld = changetype<Affine>(memory.data(<i32>AFFINE_BYTES, 16));
const box = changetype<Affine>(memory.data(<i32>AFFINE_BYTES, 16));
const rotation = changetype<Rotation>(memory.data(<i32>ROTATION_BYTES, 16));
/** The bounds of four children: min x, y, z, then max x, y, z. */
const bounds: usize = memory.data(6 * VECTOR_BYTES, 16);
const meshFigures: usize = memory.data(INSPECTED_MESH_END, 16);

/** Returns the address of the figures of the mesh inspected last: INSPECTED_MESH_*. */
export function inspectedMesh(): usize {
  return meshFigures;
}

/** The tree that is being listed; 0 if there is none, or all its boxes are listed. */
let listedMesh: usize = 0;
let firstLevel: u32 = 0;
let lastLevel: u32 = 0;
let maxBoxes: u32 = 0;
let maySuspend: bool = true;
/** Queue of nodes, each with the index of the box that contains it, eight bytes each. */
let queue: usize = 0;
let queueNext: u32 = 0;
let levelEnd: u32 = 0;
let queueEnd: u32 = 0;
let level: u32 = 0;
/** The result of `stepTreeListing` when the tree has no more boxes. */
let result: u32 = COMPLETE;

/**
 * Begins to list the boxes of an object's tree from one level to another, both included, at most `maxCount`. Returns false if the
 * object is not alive. `stepTreeListing` must follow, and `endInspection`. Throws OUT_OF_MEMORY.
 */
export function beginTreeListing(id: u32, fromLevel: u32, toLevel: u32, maxCount: u32): bool {
  clear();
  if (!isAlive(id)) return false;
  const slot = slotOf(id);
  const item = itemAt(slot);
  if (fromLevel == 0) copy(addBox(0, NO_PARENT, 0, 0), orientedBounds(slot));
  if (item.mesh == 0) return true;
  const mesh = changetype<Mesh>(<usize>item.mesh);
  // The next frame moves the vertices of a pose.
  maySuspend = isPointLine(changetype<usize>(mesh)) || !isPosed(mesh);
  if (item.shape == SHAPE_MESH) refitPose(mesh);
  beginListing(mesh, worldOf(item), fromLevel, toLevel, maxCount);
  return true;
}

/** Does the same for the tree of a mesh at rest in its own space, from level 1 on. Throws OUT_OF_MEMORY. */
export function beginMeshListing(mesh: usize, toLevel: u32, maxCount: u32): void {
  clear();
  maySuspend = true;
  setIdentity(box);
  beginListing(changetype<Mesh>(mesh), box, 1, toLevel, maxCount);
}

function clear(): void {
  clearBoxes();
  memory.fill(meshFigures, 0, INSPECTED_MESH_END);
  listedMesh = 0;
  result = COMPLETE;
}

function beginListing(mesh: Mesh, world: Affine, fromLevel: u32, toLevel: u32, maxCount: u32): void {
  composeTreeMap(treeToWorld, mesh, world);
  writeMeshFigures(mesh);
  if (toLevel == 0) return;
  reserveBoxes(min<u64>(maxCount, <u64>mesh.nodeCount * 4 + 1), mesh.keptCount);
  release(queue);
  queue = 0; // in case the next allocation throws
  queue = allocate(<u64>mesh.nodeCount << 3);
  store<u32>(queue, 0);
  store<u32>(queue, fromLevel == 0 ? 0 : NO_PARENT, 4);
  firstLevel = fromLevel;
  lastLevel = toLevel;
  maxBoxes = maxCount;
  queueNext = 0;
  levelEnd = queueEnd = 1;
  level = 1;
  listedMesh = changetype<usize>(mesh);
}

/** Continues until a time of the clock. Returns UNFINISHED, COMPLETE, or TRUNCATED if there are more. Throws OUT_OF_MEMORY. */
export function stepTreeListing(deadline: f64): u32 {
  while (listedMesh != 0) {
    for (let i: u32 = 0; i < NODES_PER_READING && listedMesh != 0; i++) {
      if (queueNext == levelEnd) {
        levelEnd = queueEnd;
        level++;
      }
      if (queueNext == levelEnd || level > lastLevel) listedMesh = 0;
      else if (!listNode(changetype<Mesh>(listedMesh))) {
        result = TRUNCATED;
        listedMesh = 0;
      }
    }
    if (listedMesh != 0 && maySuspend && now() >= deadline) return UNFINISHED;
  }
  return result;
}

/** Frees the memory, so that callers that do not inspect pay nothing. */
export function endInspection(): void {
  freeInspected();
  release(queue);
  queue = listedMesh = 0;
}

function writeMeshFigures(mesh: Mesh): void {
  const hasTriangles = !isPointLine(changetype<usize>(mesh));
  const base = hasTriangles ? baseOf(mesh) : mesh;
  store<u32>(meshFigures, mesh.nodeCount, INSPECTED_MESH_NODES);
  store<u32>(meshFigures, mesh.blockCount, INSPECTED_MESH_BLOCKS);
  store<u32>(meshFigures, depthOf(mesh), INSPECTED_MESH_DEPTH);
  store<u32>(meshFigures, mesh.keptCount, INSPECTED_MESH_ELEMENTS);
  store<u32>(meshFigures, base.bytes, INSPECTED_MESH_BYTES);
  store<u32>(meshFigures, hasTriangles ? 3 : pointLineOf(mesh).size, INSPECTED_MESH_TOPOLOGY);
  if (hasTriangles && isPosed(mesh)) {
    const pose = poseOf(mesh);
    const bytes = capacityOf(changetype<usize>(mesh)) + allocatedBytes(pose.tree) + allocatedBytes(pose.dipoles);
    store<u32>(meshFigures, <u32>bytes, INSPECTED_MESH_POSE_BYTES);
  }
}

function allocatedBytes(address: u32): usize {
  return address == 0 ? 0 : capacityOf(address);
}

/** Returns the level of the deepest boxes. Links lead to later nodes only, so one pass over the nodes is enough. */
function depthOf(mesh: Mesh): u32 {
  const levels = allocate(mesh.nodeCount);
  store<u8>(levels, 1);
  let deepest: u32 = 1;
  for (let index: u32 = 0; index < mesh.nodeCount; index++) {
    const node = nodeAt(mesh, index);
    const level = <u32>load<u8>(levels + index);
    deepest = max(deepest, level);
    const first = firstNode(node), end = first + innerCount(node);
    for (let child = first; child < end; child++) store<u8>(levels + child, <u8>(level + 1));
  }
  release(levels);
  return deepest;
}

/** Lists the boxes of the next node's children. Returns whether there was room for them. */
function listNode(mesh: Mesh): bool {
  const entry = queue + (<usize>queueNext << 3);
  queueNext++;
  const node = nodeAt(mesh, load<u32>(entry));
  const parent = load<u32>(entry, 4);
  const isListed = level >= firstLevel;
  if (isListed) loadNode(node);
  const count = childCount(node);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    let boxIndex = NO_PARENT;
    if (isListed) {
      if (boxCount == maxBoxes) return false;
      boxIndex = boxCount;
      addChild(mesh, child, i, level, parent);
    }
    if (child & LEAF || level == lastLevel) continue;
    const next = queue + (<usize>queueEnd << 3);
    queueEnd++;
    store<u32>(next, child);
    store<u32>(next, boxIndex, 4);
  }
  return true;
}

/** Decodes the common rotation of a node's children, and their bounds. */
function loadNode(node: Node): void {
  rotationOfNode(rotation, node);
  for (let axis: usize = 0; axis < 3; axis++) {
    v128.store(bounds + (axis << 4), minBounds(node, axis));
    v128.store(bounds + (axis << 4), maxBounds(node, axis), 48);
  }
}

function addChild(mesh: Mesh, child: u32, i: u32, level: u32, parent: u32): void {
  const lane = bounds + (<usize>i << 2);
  const minX = <f64>load<f32>(lane), minY = <f64>load<f32>(lane, 16), minZ = <f64>load<f32>(lane, 32);
  const maxX = <f64>load<f32>(lane, 48), maxY = <f64>load<f32>(lane, 64), maxZ = <f64>load<f32>(lane, 80);
  const x = 0.5 * (maxX - minX), y = 0.5 * (maxY - minY), z = 0.5 * (maxZ - minZ);
  const cx = 0.5 * (minX + maxX), cy = 0.5 * (minY + maxY), cz = 0.5 * (minZ + maxZ);
  // The rows of the rotation are the node's axes in tree space.
  const r = rotation;
  box.xx = <f64>r.xx * x; box.xy = <f64>r.xy * x; box.xz = <f64>r.xz * x;
  box.yx = <f64>r.yx * y; box.yy = <f64>r.yy * y; box.yz = <f64>r.yz * y;
  box.zx = <f64>r.zx * z; box.zy = <f64>r.zy * z; box.zz = <f64>r.zz * z;
  box.tx = <f64>r.xx * cx + <f64>r.yx * cy + <f64>r.zx * cz;
  box.ty = <f64>r.xy * cx + <f64>r.yy * cy + <f64>r.zy * cz;
  box.tz = <f64>r.xz * cx + <f64>r.yz * cy + <f64>r.zz * cz;
  const first = elementCount;
  if (child & LEAF) addElements(mesh, child);
  multiply(addBox(level, parent, first, elementCount - first), treeToWorld, box);
}

function addElements(mesh: Mesh, child: u32): void {
  if (!isPointLine(changetype<usize>(mesh))) {
    const block = blockAt(mesh, child);
    for (let lane = 0; lane < 4; lane++) {
      const triangle = triangleOf(block, lane);
      if (triangle >= 0) addElement(<u32>triangle);
    }
    return;
  }
  const pointLine = pointLineOf(mesh);
  const block = blockOf(pointLine, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(pointLine.size); lane++) {
    const element = elementIn(block, lane, pointLine.size);
    if (element != NO_ELEMENT) addElement(element);
  }
}
