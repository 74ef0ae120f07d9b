// Fits the boxes of a tree of points or lines, bottom-up. None is rotated: finding rotations takes most of the time of a
// build of triangles.

import { halfArea } from '../mesh/build/binned-sah';
import {
  BOX_PADDING, IDENTITY_QUATERNION, LEAF, NODE_BYTES, Node, childCount, childOf, treeScale,
} from '../mesh/tree/layout';
import { storeBoxes } from '../mesh/tree/store-boxes';
import { LINE_END, LINE_Y, POINT_Y, PointLine, blockBytes, meshOf } from './layout';
import { VECTOR_BYTES } from '../sizes';

/** The bounds of a node's descendants, while a tree is fitted. */
@unmanaged
class Bounds {
  min: v128;
  max: v128;
}

export const BOUNDS_BYTES: usize = offsetof<Bounds>();

const childMins: usize = memory.data(4 * VECTOR_BYTES, 16); // of four children
const childMaxes: usize = memory.data(4 * VECTOR_BYTES, 16);

/**
 * Fits node `index`, whose inner children are already fitted. `bounds` has BOUNDS_BYTES per node; `extent` is the largest
 * coordinate in tree space. Returns half the area of the boxes, with THICKNESS.
 */
export function fitNode(nodes: usize, index: u32, blocks: usize, size: u32, bounds: usize, extent: f32): f64 {
  const node = changetype<Node>(nodes + index * <u32>NODE_BYTES);
  node.quaternion = IDENTITY_QUATERNION;
  const count = childCount(node);
  const nodeBounds = changetype<Bounds>(bounds + index * <u32>BOUNDS_BYTES);
  let nodeMin = f32x4.splat(Infinity), nodeMax = f32x4.splat(-Infinity);
  let areas: f64 = 0;
  const thickness = f32x4.splat(extent * <f32>THICKNESS);
  for (let i: u32 = 0; i < count; i++) {
    const child = childOf(node, i);
    const to: usize = <usize>i << 4;
    if (child & LEAF) {
      boundBlock(blocks + <usize>(child & ~LEAF) * blockBytes(size), size, childMins + to, childMaxes + to);
    } else {
      const childBounds = changetype<Bounds>(bounds + child * <u32>BOUNDS_BYTES);
      v128.store(childMins + to, childBounds.min);
      v128.store(childMaxes + to, childBounds.max);
    }
    const childMin = v128.load(childMins + to), childMax = v128.load(childMaxes + to);
    nodeMin = f32x4.pmin(nodeMin, childMin);
    nodeMax = f32x4.pmax(nodeMax, childMax);
    areas += <f64>halfArea(childMin, f32x4.add(childMax, thickness));
  }
  nodeBounds.min = nodeMin;
  nodeBounds.max = nodeMax;
  storeBoxes(node, childMins, childMaxes, extent * BOX_PADDING);
  return areas;
}

/** Bounds all lanes of a block: lanes without an element have the coordinates of the first one. */
function boundBlock(block: usize, size: u32, minOut: usize, maxOut: usize): void {
  for (let axis: usize = 0; axis < 3; axis++) {
    let lanesMin: v128, lanesMax: v128;
    if (size == 1) {
      const at = block + axis * POINT_Y;
      const a = v128.load(at), b = v128.load(at, 16), c = v128.load(at, 32), d = v128.load(at, 48);
      lanesMin = f32x4.pmin(f32x4.pmin(a, b), f32x4.pmin(c, d));
      lanesMax = f32x4.pmax(f32x4.pmax(a, b), f32x4.pmax(c, d));
    } else {
      const at = block + axis * LINE_Y;
      const a = v128.load(at), b = v128.load(at, 16), c = v128.load(at, LINE_END), d = v128.load(at, LINE_END + 16);
      lanesMin = f32x4.pmin(f32x4.pmin(a, b), f32x4.pmin(c, d));
      lanesMax = f32x4.pmax(f32x4.pmax(a, b), f32x4.pmax(c, d));
    }
    lanesMin = f32x4.pmin(lanesMin, v128.shuffle<f32>(lanesMin, lanesMin, 2, 3, 0, 1));
    lanesMax = f32x4.pmax(lanesMax, v128.shuffle<f32>(lanesMax, lanesMax, 2, 3, 0, 1));
    lanesMin = f32x4.pmin(lanesMin, v128.shuffle<f32>(lanesMin, lanesMin, 1, 0, 3, 2));
    lanesMax = f32x4.pmax(lanesMax, v128.shuffle<f32>(lanesMax, lanesMax, 1, 0, 3, 2));
    store<f32>(minOut + (axis << 2), f32x4.extract_lane(lanesMin, 0));
    store<f32>(maxOut + (axis << 2), f32x4.extract_lane(lanesMax, 0));
  }
  store<f32>(minOut, 0, 12);
  store<f32>(maxOut, 0, 12);
}

/**
 * Thickness of rays in cost comparisons, relative to the largest coordinate: it gives boxes an area even if points lie in a
 * plane or on a line.
 */
const THICKNESS: f64 = 0.00390625; // 2^-8

/**
 * Returns the cost of a thick ray through a mesh's bounds, in nodes and blocks that it visits, as mesh/tree/cost.ts does
 * for triangles. `areas` is the sum of what `fitNode` returned for all nodes; the mesh has its bounds and its exponent.
 */
export function costOf(mesh: PointLine, areas: f64, extent: f64): f64 {
  const scale = treeScale(meshOf(mesh)), thickness = extent * THICKNESS;
  const x = (mesh.maxX - mesh.minX) * scale + thickness, y = (mesh.maxY - mesh.minY) * scale + thickness;
  const z = (mesh.maxZ - mesh.minZ) * scale + thickness;
  return 1.0 + areas / (x * y + y * z + z * x);
}
