// Layout of a baked mesh of points or lines: header, nodes, blocks, and the indices as given. The nodes are those of a
// mesh of triangles (mesh/tree/layout.ts), none of them rotated; only the leaves differ. Coordinates are in tree space. A
// mesh whose vertices all coincide is valid, too: its tree space is about that point, and not scaled.

import { POINT_LINE_MAGIC_VALUE } from '../../../shared/layout';
import { allocate } from '../memory';
import { LEAF, Mesh } from '../mesh/tree/layout';
import { exponentFor } from '../mesh/tree/tree-space';

/**
 * The header; its fields' offsets are those of src/shared/layout.ts. Up to the radius they are those of a mesh of
 * triangles, so that code that reads bounds, counts or nodes need not distinguish the two.
 */
@unmanaged
export class PointLine {
  magic: u32;
  version: u32;
  bytes: u32;
  checksum: u32;
  nodeCount: u32;
  blockCount: u32;
  /** Points or lines, as given. */
  elementCount: u32;
  /** How many of them have finite vertices. */
  keptCount: u32;
  vertexCount: u32;
  indexed: u32;
  nodes: u32;
  blocks: u32;
  indices: u32;
  exponent: i32;
  offsetX: f64; offsetY: f64; offsetZ: f64;
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  cost: f64;
  builtCost: f64;
  /** Maximum distance of a vertex from the centre of the bounds, in mesh space. */
  radius: f64;
  /** The vertices per element: 1 for points, 2 for lines. */
  size: u32;
}

/** Returns whether a baked mesh in the core has points or lines instead of triangles. */
// @ts-ignore: decorator
@inline
export function isPointLine(mesh: usize): bool {
  return load<u32>(mesh) == POINT_LINE_MAGIC_VALUE;
}

// @ts-ignore: decorator
@inline
export function pointLineOf(mesh: Mesh): PointLine {
  return changetype<PointLine>(changetype<usize>(mesh));
}

/** Casts a mesh of points or lines for code that reads the common part of headers. */
// @ts-ignore: decorator
@inline
export function meshOf(mesh: PointLine): Mesh {
  return changetype<Mesh>(changetype<usize>(mesh));
}

/** Returns a copy of a mesh, which the caller must release. Throws OUT_OF_MEMORY. */
export function copyPointLine(mesh: PointLine): usize {
  const address = allocate(mesh.bytes);
  memory.copy(address, changetype<usize>(mesh), mesh.bytes);
  return address;
}

/**
 * Points of a block: x of each, y, z, then their indices. Sixteen, so that a block and its share of the nodes take 18
 * bytes per point.
 */
export const POINTS_PER_BLOCK: u32 = 16;
export const POINT_BLOCK_BYTES: usize = 256;
export const POINT_Y: usize = 64;
export const POINT_Z: usize = 128;
export const POINT_ELEMENT: usize = 192;

/** Lines of a block: x, y and z of each one's start, then of its end, then their indices. */
export const LINES_PER_BLOCK: u32 = 8;
export const LINE_BLOCK_BYTES: usize = 224;
export const LINE_Y: usize = 32;
export const LINE_Z: usize = 64;
export const LINE_END: usize = 96;
export const LINE_ELEMENT: usize = 192;

/** The index of a lane without an element; it has the coordinates of the block's first element. */
export const NO_ELEMENT: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline
export function elementsPerBlock(size: u32): u32 {
  return size == 1 ? POINTS_PER_BLOCK : LINES_PER_BLOCK;
}

// @ts-ignore: decorator
@inline
export function blockBytes(size: u32): usize {
  return size == 1 ? POINT_BLOCK_BYTES : LINE_BLOCK_BYTES;
}

/** Returns the address of a block; `child` may have LEAF set. */
// @ts-ignore: decorator
@inline
export function blockOf(mesh: PointLine, child: u32): usize {
  return changetype<usize>(mesh) + mesh.blocks + <usize>(child & ~LEAF) * blockBytes(mesh.size);
}

/** Returns the index of the element in a lane of a block, or NO_ELEMENT. */
// @ts-ignore: decorator
@inline
export function elementIn(block: usize, lane: u32, size: u32): u32 {
  return load<u32>(block + (<usize>lane << 2) + (size == 1 ? POINT_ELEMENT : LINE_ELEMENT));
}

/** Returns vertex k of an element, as an index into the positions. */
// @ts-ignore: decorator
@inline
export function vertexOf(mesh: PointLine, element: u32, k: u32): u32 {
  const i = element * mesh.size + k;
  return mesh.indexed ? load<u32>(changetype<usize>(mesh) + mesh.indices + (<usize>i << 2)) : i;
}

/** Returns the exponent of the scale to tree space: `exponentFor`, but 0 if all vertices coincide. */
export function exponentOf(largest: f64): i32 {
  return largest == 0 ? 0 : exponentFor(largest);
}

/** Returns the number of blocks for `keptCount` elements. */
export function blocksFor(keptCount: u32, size: u32): u32 {
  const blockCapacity = elementsPerBlock(size);
  return (keptCount - 1) / blockCapacity + 1;
}

/** The minimum radius, so that the ball about a mesh of one point can be inverted. */
export const MIN_RADIUS: f64 = 1e-90;

/** Writes a point of tree space to its lane. */
// @ts-ignore: decorator
@inline
export function storePoint(lane: usize, p: v128): void {
  store<f32>(lane, f32x4.extract_lane(p, 0));
  store<f32>(lane, f32x4.extract_lane(p, 1), POINT_Y);
  store<f32>(lane, f32x4.extract_lane(p, 2), POINT_Z);
}

/** Writes a line's two ends in tree space to its lane. */
// @ts-ignore: decorator
@inline
export function storeLine(lane: usize, a: v128, b: v128): void {
  store<f32>(lane, f32x4.extract_lane(a, 0));
  store<f32>(lane, f32x4.extract_lane(a, 1), LINE_Y);
  store<f32>(lane, f32x4.extract_lane(a, 2), LINE_Z);
  store<f32>(lane, f32x4.extract_lane(b, 0), LINE_END);
  store<f32>(lane, f32x4.extract_lane(b, 1), LINE_END + LINE_Y);
  store<f32>(lane, f32x4.extract_lane(b, 2), LINE_END + LINE_Z);
}
