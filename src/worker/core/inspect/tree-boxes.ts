// Lists the oriented boxes of an object's tree, level by level, as they stand in the world: those of a posed mesh in its
// pose. What is no mesh has the one box of its bounds.

import { BOX_INNER, BOX_LEAF, PRECISION_MESH, SHAPE_MESH, SHAPE_POINT_LINE } from '../../../shared/layout';
import { Affine, multiply, setIdentity } from '../math/affine';
import { Rotation, rotationAt, setIdentityRotation } from '../math/quaternion';
import { reserve } from '../memory';
import {
  LEAF, Mesh, Node, blockAt, childCount, childOf, filledLanes, highBounds, isRotated, lowBounds, nodeAt, treeScale,
} from '../mesh/tree/layout';
import { NO_ELEMENT, PointLine, blockOf, elementsABlock, numberIn } from '../point-line/layout';
import { isAlive, orientedBounds, placedShapeAt, slotOf } from '../scene/objects';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import { addBox, boxCount } from './box-list';

const shape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const toMesh = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const placed = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The nodes of a level, one behind the other: u32 each. */
let nodes: usize = 0;

function push(count: u32, node: u32): u32 {
  nodes = reserve(nodes, count << 2, <u64>(count + 1) << 2);
  store<u32>(nodes + (<usize>count << 2), node);
  return count + 1;
}

/**
 * Adds the boxes of an object's tree from level `first` to `last`: level 0 is the bounds of all, level 1 the children of
 * the root, and so on. Answers how many boxes there are then; an object that is gone has none. Throws OUT_OF_MEMORY.
 */
export function addTreeBoxes(id: u32, first: u32, last: u32): u32 {
  if (!isAlive(id)) return boxCount;
  const slot = slotOf(id);
  placedShapeAt(shape, slot, PRECISION_MESH);
  const isMesh = shape.shape == SHAPE_MESH, isPointLine = shape.shape == SHAPE_POINT_LINE;
  if (first == 0 && !addBox(orientedBounds(slot), id, 0, 0, isMesh || isPointLine ? BOX_INNER : BOX_LEAF)) return boxCount;
  if (!isMesh && !isPointLine) return boxCount;
  const mesh = changetype<Mesh>(<usize>shape.mesh);
  setIdentity(toMesh);
  toMesh.xx = toMesh.yy = toMesh.zz = 1.0 / treeScale(mesh);
  toMesh.tx = mesh.offsetX; toMesh.ty = mesh.offsetY; toMesh.tz = mesh.offsetZ;
  multiply(toWorld, mapOf(shape), toMesh);
  let begin: u32 = 0, end = push(0, 0);
  for (let level: u32 = 1; level <= last && begin != end; level++) {
    const next = end;
    let count = end;
    for (let i = begin; i < next; i++) {
      const node = nodeAt(mesh, load<u32>(nodes + (<usize>i << 2)));
      if (level >= first && !addChildren(mesh, node, id, level, isPointLine)) return boxCount;
      for (let k: u32 = 0; k < childCount(node); k++) {
        const child = childOf(node, k);
        if (!(child & LEAF)) count = push(count, child);
      }
    }
    begin = next;
    end = count;
  }
  return boxCount;
}

function addChildren(mesh: Mesh, node: Node, id: u32, level: u32, isPointLine: bool): bool {
  if (isRotated(node)) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  else setIdentityRotation(rotation);
  for (let k: u32 = 0; k < childCount(node); k++) {
    const child = childOf(node, k);
    setBox(node, k);
    multiply(placed, toWorld, box);
    const isLeaf = (child & LEAF) != 0;
    const count: u32 = !isLeaf ? 0 : isPointLine ? elementsIn(mesh, child) : popcnt(filledLanes(blockAt(mesh, child)));
    if (!addBox(placed, id, level, count, isLeaf ? BOX_LEAF : BOX_INNER)) return false;
  }
  return true;
}

/** Sets the map from the cube to a child's box in tree space: the rows of the rotation are the box's axes there. */
function setBox(node: Node, child: u32): void {
  const lowX = lane(lowBounds(node, 0), child), highX = lane(highBounds(node, 0), child);
  const lowY = lane(lowBounds(node, 1), child), highY = lane(highBounds(node, 1), child);
  const lowZ = lane(lowBounds(node, 2), child), highZ = lane(highBounds(node, 2), child);
  const hx = 0.5 * (highX - lowX), hy = 0.5 * (highY - lowY), hz = 0.5 * (highZ - lowZ);
  const cx = 0.5 * (lowX + highX), cy = 0.5 * (lowY + highY), cz = 0.5 * (lowZ + highZ);
  const xx = <f64>rotation.xx, xy = <f64>rotation.xy, xz = <f64>rotation.xz;
  const yx = <f64>rotation.yx, yy = <f64>rotation.yy, yz = <f64>rotation.yz;
  const zx = <f64>rotation.zx, zy = <f64>rotation.zy, zz = <f64>rotation.zz;
  box.xx = hx * xx; box.xy = hx * xy; box.xz = hx * xz;
  box.yx = hy * yx; box.yy = hy * yy; box.yz = hy * yz;
  box.zx = hz * zx; box.zy = hz * zy; box.zz = hz * zz;
  box.tx = cx * xx + cy * yx + cz * zx;
  box.ty = cx * xy + cy * yy + cz * zy;
  box.tz = cx * xz + cy * yz + cz * zz;
}

const lanes: usize = memory.data(16, 16);

function lane(values: v128, i: u32): f64 {
  v128.store(lanes, values);
  return <f64>load<f32>(lanes + (<usize>i << 2));
}

/** Counts the points or lines of a leaf. */
function elementsIn(mesh: Mesh, child: u32): u32 {
  const pointLine = changetype<PointLine>(changetype<usize>(mesh));
  const block = blockOf(pointLine, child);
  let count: u32 = 0;
  for (let i: u32 = 0; i < elementsABlock(pointLine.size); i++) {
    if (numberIn(block, i, pointLine.size) != NO_ELEMENT) count++;
  }
  return count;
}
