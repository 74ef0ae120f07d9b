// Lists the boxes of an object's tree, level by level, in world frames in float64: what a box holds lies in it whatever the
// object's place. Level 0 is the object's own oriented bounds, the boxes of the root's children are level 1. A mesh that is
// posed is listed as its vertices are moved. Other shapes have level 0 alone.
//
// Words of a box: its level, the number of its parent among the boxes or NO_PARENT, its first element and their count,
// which is 0 where the box is no leaf.

import {
  INSPECTED_MESH_BLOCKS, INSPECTED_MESH_BYTES, INSPECTED_MESH_DEPTH, INSPECTED_MESH_ELEMENTS, INSPECTED_MESH_END,
  INSPECTED_MESH_NODES, INSPECTED_MESH_POSE_BYTES, INSPECTED_MESH_TOPOLOGY, SHAPE_MESH,
} from '../../../../shared/layout';
import { AFFINE_BYTES, Affine, copy, multiply } from '../../math/affine';
import { ROTATION_BYTES, Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import { allocate, capacityOf, release } from '../../memory';
import {
  LEAF, Mesh, Node, blockAt, childCount, childOf, firstNode, highBounds, innerCount, isRotated, lowBounds, nodeAt, placeTree,
  triangleOf,
} from '../../mesh/tree/layout';
import { NO_ELEMENT, blockOf, elementsABlock, isPointLine, numberIn, pointLineOf } from '../../point-line/layout';
import { worldOf } from '../../shape/item';
import { settle } from '../../skin/deform';
import { baseOf, isPosed, poseOf } from '../../skin/pose';
import { isAlive, itemAt, orientedBounds, slotOf } from '../objects';
import { addBox, addElement, boxCount, clearBoxes, elementCount } from './inspected-boxes';

/** The parent of a box whose parent is not listed. */
const NO_PARENT: u32 = 0xffffffff;
/** What `inspectTree` answers. */
const NO_OBJECT: u32 = 0;
const ALL: u32 = 1;
const CUT: u32 = 2;

const place = changetype<Affine>(memory.data(<i32>AFFINE_BYTES, 16));
const box = changetype<Affine>(memory.data(<i32>AFFINE_BYTES, 16));
const rotation = changetype<Rotation>(memory.data(<i32>ROTATION_BYTES, 16));
/** The bounds of four children: low x, y, z, then high x, y, z. */
const bounds: usize = memory.data(96, 16);
const numbers: usize = memory.data(INSPECTED_MESH_END, 16);

/** Answers the address of the numbers of the mesh inspected last: INSPECTED_MESH_*. */
export function inspectedMesh(): usize {
  return numbers;
}

/**
 * Lists the boxes of an object's tree from one level to another, both included, at most so many. Answers NO_OBJECT where
 * it is not alive, CUT where there are more. Throws OUT_OF_MEMORY.
 */
export function inspectTree(id: u32, from: u32, to: u32, most: u32): u32 {
  clearBoxes();
  memory.fill(numbers, 0, INSPECTED_MESH_END);
  if (!isAlive(id)) return NO_OBJECT;
  const slot = slotOf(id);
  const item = itemAt(slot);
  const hasTree = item.mesh != 0;
  if (from == 0) {
    if (most == 0) return hasTree ? describe(changetype<Mesh>(<usize>item.mesh), CUT) : CUT;
    copy(addBox(0, NO_PARENT, 0, 0), orientedBounds(slot));
  }
  if (!hasTree) return ALL;
  const mesh = changetype<Mesh>(<usize>item.mesh);
  if (item.shape == SHAPE_MESH) settle(mesh);
  placeTree(place, mesh, worldOf(item));
  return describe(mesh, to == 0 ? ALL : listLevels(mesh, from, to, most));
}

function describe(mesh: Mesh, answer: u32): u32 {
  const isOfTriangles = !isPointLine(changetype<usize>(mesh));
  const base = isOfTriangles ? baseOf(mesh) : mesh;
  store<u32>(numbers, mesh.nodeCount, INSPECTED_MESH_NODES);
  store<u32>(numbers, mesh.blockCount, INSPECTED_MESH_BLOCKS);
  store<u32>(numbers, depthOf(mesh), INSPECTED_MESH_DEPTH);
  store<u32>(numbers, mesh.keptCount, INSPECTED_MESH_ELEMENTS);
  store<u32>(numbers, base.bytes, INSPECTED_MESH_BYTES);
  store<u32>(numbers, isOfTriangles ? 3 : pointLineOf(mesh).size, INSPECTED_MESH_TOPOLOGY);
  if (isOfTriangles && isPosed(mesh)) {
    const pose = poseOf(mesh);
    const bytes = capacityOf(changetype<usize>(mesh)) + heldBy(pose.tree) + heldBy(pose.dipoles);
    store<u32>(numbers, <u32>bytes, INSPECTED_MESH_POSE_BYTES);
  }
  return answer;
}

function heldBy(address: u32): usize {
  return address == 0 ? 0 : capacityOf(address);
}

/** Answers the level of the deepest boxes. Links lead to later nodes only, so one pass over them is enough. */
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

/** Lists levels from the first one on; nodes wait with the box that they are in, eight bytes each. */
function listLevels(mesh: Mesh, from: u32, to: u32, most: u32): u32 {
  const waiting = allocate(<u64>mesh.nodeCount << 3);
  store<u32>(waiting, 0);
  store<u32>(waiting, from == 0 ? 0 : NO_PARENT, 4);
  let first: u32 = 0, end: u32 = 1;
  for (let level: u32 = 1; level <= to && first < end; level++) {
    const levelEnd = end;
    for (; first < levelEnd; first++) {
      const entry = waiting + (<usize>first << 3);
      const node = nodeAt(mesh, load<u32>(entry));
      const parent = load<u32>(entry, 4);
      if (level >= from) loadNode(node);
      const count = childCount(node);
      for (let i: u32 = 0; i < count; i++) {
        const child = childOf(node, i);
        let number = NO_PARENT;
        if (level >= from) {
          if (boxCount == most) {
            release(waiting);
            return CUT;
          }
          number = boxCount;
          addChild(mesh, child, i, level, parent);
        }
        if (child & LEAF || level == to) continue;
        const next = waiting + (<usize>end << 3);
        store<u32>(next, child);
        store<u32>(next, number, 4);
        end++;
      }
    }
  }
  release(waiting);
  return ALL;
}

/** Decodes what the boxes of a node's children share, and their bounds. */
function loadNode(node: Node): void {
  if (isRotated(node)) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  else setIdentityRotation(rotation);
  for (let axis: usize = 0; axis < 3; axis++) {
    v128.store(bounds + (axis << 4), lowBounds(node, axis));
    v128.store(bounds + (axis << 4), highBounds(node, axis), 48);
  }
}

function addChild(mesh: Mesh, child: u32, i: u32, level: u32, parent: u32): void {
  const lane = bounds + (<usize>i << 2);
  const lowX = <f64>load<f32>(lane), lowY = <f64>load<f32>(lane, 16), lowZ = <f64>load<f32>(lane, 32);
  const highX = <f64>load<f32>(lane, 48), highY = <f64>load<f32>(lane, 64), highZ = <f64>load<f32>(lane, 80);
  const x = 0.5 * (highX - lowX), y = 0.5 * (highY - lowY), z = 0.5 * (highZ - lowZ);
  const cx = 0.5 * (lowX + highX), cy = 0.5 * (lowY + highY), cz = 0.5 * (lowZ + highZ);
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
  multiply(addBox(level, parent, first, elementCount - first), place, box);
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
  const ofPointLine = pointLineOf(mesh);
  const block = blockOf(ofPointLine, child);
  for (let lane: u32 = 0; lane < elementsABlock(ofPointLine.size); lane++) {
    const element = numberIn(block, lane, ofPointLine.size);
    if (element != NO_ELEMENT) addElement(element);
  }
}
