// The snapping features of a mesh, as src/worker/snap/core-features.ts writes them into memory (features.ts there explains each
// array), and the elements of the mesh itself, which are in the blocks of its tree. Mesh space.

import { POINT_LINE_MAGIC_VALUE, POINT_LINE_SIZE } from '../../../../shared/layout';
import { Mesh } from '../../mesh/tree/layout';

/** The addresses of the arrays, and the counts of their entries. */
@unmanaged
export class FeatureTable {
  /** The vertices of an element: 3 of triangles, 2 of lines, 1 of points. */
  size: u32;
  edgeCount: u32;
  itemCount: u32;
  /** The number of levels of the tree; the leaves are the first level. */
  levelCount: u32;
  middles: u32;
  circles: u32;
  points: u32;
  boxes: u32;
  order: u32;
  corners: u32;
  edges: u32;
  runs: u32;
  runEnds: u32;
  middleEdges: u32;
  faceStarts: u32;
  faces: u32;
  circleEnds: u32;
  circleStarts: u32;
  circleEdges: u32;
  flags: u32;
  // Followed by, u32 each: the first node of each level, then the number of nodes.
}

/** Children of a node, and items of a leaf: box-tree.ts. */
export const NODE_WIDTH: u32 = 8;
export const BOX_BYTES: usize = 24;

// @ts-ignore: decorator
@inline
export function wordAt(array: u32, i: u32): u32 {
  return load<u32>(<usize>array + (<usize>i << 2));
}

// @ts-ignore: decorator
@inline
export function levelAt(f: FeatureTable, level: u32): u32 {
  return load<u32>(changetype<usize>(f) + offsetof<FeatureTable>() + (<usize>level << 2));
}

/** The corner that was read last. */
export let cornerX: f64 = 0;
export let cornerY: f64 = 0;
export let cornerZ: f64 = 0;

/** The corners of the triangles of a cube, three bits each (x, y, z upwards), as in src/worker/snap/cube.ts. */
const CUBE: usize = memory.data<u8>([
  0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6,
]);

/** Reads a corner of the element in a slot of a mesh, in its pose; of the cube [-1, 1]³ if `mesh` is 0. */
export function readCorner(mesh: u32, slot: u32, corner: u32): void {
  if (mesh == 0) {
    const bits = load<u8>(CUBE + 3 * slot + corner);
    cornerX = bits & 1 ? 1 : -1;
    cornerY = bits & 2 ? 1 : -1;
    cornerZ = bits & 4 ? 1 : -1;
    return;
  }
  const m = changetype<Mesh>(<usize>mesh);
  const size = sizeOf(m), stride = <usize>lanesOf(size) << 2, at = laneAt(m, size, slot) + 3 * corner * stride;
  const scale = reinterpret<f64>(<u64>(1023 - m.exponent) << 52);
  cornerX = <f64>load<f32>(at) * scale + m.offsetX;
  cornerY = <f64>load<f32>(at + stride) * scale + m.offsetY;
  cornerZ = <f64>load<f32>(at + 2 * stride) * scale + m.offsetZ;
}

/** Reads a vertex of the features in the space of the shape; with `isMoved` in the pose of the mesh. */
export function readVertex(f: FeatureTable, mesh: u32, isMoved: u32, i: u32): void {
  if (isMoved) {
    const corner = wordAt(f.corners, i);
    readCorner(mesh, corner / f.size, corner % f.size);
    return;
  }
  const at = <usize>f.points + 12 * <usize>i;
  cornerX = <f64>load<f32>(at);
  cornerY = <f64>load<f32>(at, 4);
  cornerZ = <f64>load<f32>(at, 8);
}

/** Returns the index of the element in a slot, in the order of the given mesh. */
export function elementOf(mesh: u32, slot: u32): i32 {
  const m = changetype<Mesh>(<usize>mesh), size = sizeOf(m);
  return load<i32>(laneAt(m, size, slot) + ((3 * size * lanesOf(size)) << 2));
}

/** Returns how many vertices an element has; meshes of points or lines store it in their own header. */
function sizeOf(mesh: Mesh): u32 {
  return mesh.magic == POINT_LINE_MAGIC_VALUE ? load<u32>(changetype<usize>(mesh), POINT_LINE_SIZE) : 3;
}

/** Elements per block: tree/layout.ts, point-line/layout.ts. */
// @ts-ignore: decorator
@inline
function lanesOf(size: u32): u32 {
  return size == 3 ? 4 : 16 >> (size - 1);
}

/** Returns the address of a lane of a block; a block of triangles has 40 words, of lines 56, of points 64. */
function laneAt(mesh: Mesh, size: u32, slot: u32): usize {
  const lanes = lanesOf(size), words: u32 = size == 3 ? 40 : 72 - 8 * size;
  return changetype<usize>(mesh) + mesh.blocks + ((slot / lanes * words + slot % lanes) << 2);
}
