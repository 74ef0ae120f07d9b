// What a baked mesh consists of. Its coordinates are tree space: mesh space moved and scaled by a power of two
// so that its extent is about 1. Both are exact in float32, so a tree has no scale of its own and no offset
// that eats its digits.

/** The header; its fields' offsets are those of src/shared/layout.ts. */
@unmanaged
export class Mesh {
  magic: u32;
  version: u32;
  bytes: u32;
  checksum: u32;
  nodeCount: u32;
  blockCount: u32;
  triangleCount: u32;
  keptCount: u32;
  vertexCount: u32;
  indexed: u32;
  nodes: u32;
  blocks: u32;
  indices: u32;
  exponent: i32;
  offsetX: f64; offsetY: f64; offsetZ: f64;
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
}

/** Four children and the rotation that their boxes share; one v128 holds one bound of all four. */
@unmanaged
export class Node {
  lowX: v128; lowY: v128; lowZ: v128;
  highX: v128; highY: v128; highZ: v128;
  child0: u32; child1: u32; child2: u32; child3: u32;
  quaternion: u64; // four i16
  rotated: u32; // 0: the identity, and nobody need rotate
  covered: u32; // which of the children exist, a bit each
}

export const NODE_BYTES: usize = 128;

/** A child that is a block of triangles; its low bits are the block's index. */
export const LEAF: u32 = 0x80000000;

/** Where there is no child. It reads as the first block, which does no harm to whoever looks into it. */
export const NO_CHILD: u32 = LEAF;

/**
 * No node is deeper; the root is at 0. The builder halves ranges from depth 48 on, so that even 2³² triangles end
 * before this. A ray's stack holds three children of each node above and four of the last: 3 · 64 + 4 at most.
 */
export const MAX_DEPTH: u32 = 64;

/** Four triangles; lanes without one repeat another's corner a, with triangle -1. */
@unmanaged
export class Block {
  ax: v128; ay: v128; az: v128;
  bx: v128; by: v128; bz: v128;
  cx: v128; cy: v128; cz: v128;
  triangle0: i32; triangle1: i32; triangle2: i32; triangle3: i32;
}

export const BLOCK_BYTES: usize = 160;

/** Tree space has coordinates below this, as its largest one is in [1, 2). */
export const TREE_EXTENT: f32 = 2;
/** Of the scale that takes the largest of a mesh's float32 coordinates there, from 2¹²⁷ down to the least one, 2⁻¹⁴⁹. */
export const LEAST_EXPONENT: i32 = -127;
export const GREATEST_EXPONENT: i32 = 149;

/**
 * How much boxes are grown, relative to the largest coordinate in the tree: covers float32 rounding of a
 * rotated ray (origin 2⁻²⁴, rotation 5 · 2⁻²⁴, direction 4 · 2⁻²⁴ over a length of 3.5, slabs 3 · 2⁻²³ over the
 * same) and of the boxes themselves, about 2⁻¹⁹ together.
 */
export const BOX_PADDING: f32 = 3.814697265625e-6; // 2^-18

// @ts-ignore: decorator
@inline
export function nodeAt(mesh: Mesh, index: u32): Node {
  return changetype<Node>(changetype<usize>(mesh) + mesh.nodes + index * <u32>NODE_BYTES);
}

// @ts-ignore: decorator
@inline
export function blockAt(mesh: Mesh, child: u32): Block {
  return changetype<Block>(changetype<usize>(mesh) + mesh.blocks + (child & ~LEAF) * <u32>BLOCK_BYTES);
}

// @ts-ignore: decorator
@inline
export function childOf(node: Node, i: i32): u32 {
  return load<u32>(changetype<usize>(node) + (<usize>i << 2), offsetof<Node>('child0'));
}

// @ts-ignore: decorator
@inline
export function triangleOf(block: Block, lane: i32): i32 {
  return load<i32>(changetype<usize>(block) + (<usize>lane << 2), offsetof<Block>('triangle0'));
}

/** The triangles of all lanes. */
// @ts-ignore: decorator
@inline
export function trianglesOf(block: Block): v128 {
  return v128.load(changetype<usize>(block), offsetof<Block>('triangle0'));
}

/** Whether the bounds of all children there are are finite, and none is inside out. */
// @ts-ignore: decorator
@inline
export function boundsAreOrdered(node: Node): bool {
  const x = areOrdered(node.lowX, node.highX), y = areOrdered(node.lowY, node.highY), z = areOrdered(node.lowZ, node.highZ);
  return (i32x4.bitmask(v128.and(v128.and(x, y), z)) & node.covered) == node.covered;
}

// @ts-ignore: decorator
@inline
function areOrdered(low: v128, high: v128): v128 {
  const infinity = f32x4.splat(Infinity);
  return v128.and(v128.and(f32x4.lt(f32x4.neg(low), infinity), f32x4.lt(high, infinity)), f32x4.le(low, high));
}

/** Whether no corner has a coordinate larger than `extent`, or NaN. */
// @ts-ignore: decorator
@inline
export function coordinatesAreWithin(block: Block, extent: f32): bool {
  let within = i32x4.splat(-1);
  for (let at: usize = 0; at < 144; at += 16) {
    within = v128.and(within, f32x4.le(f32x4.abs(v128.load(changetype<usize>(block) + at)), f32x4.splat(extent)));
  }
  return i32x4.all_true(within);
}

/** 2^exponent: mesh space to tree space. */
export function treeScale(mesh: Mesh): f64 {
  return reinterpret<f64>(<u64>(1023 + mesh.exponent) << 52);
}
