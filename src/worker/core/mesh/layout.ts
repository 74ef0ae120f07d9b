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
  cost: f64;
  builtCost: f64;
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

/** Four triangles; lanes without one repeat another's corner a, with triangle -1. */
@unmanaged
export class Block {
  ax: v128; ay: v128; az: v128;
  bx: v128; by: v128; bz: v128;
  cx: v128; cy: v128; cz: v128;
  triangle0: i32; triangle1: i32; triangle2: i32; triangle3: i32;
}

export const BLOCK_BYTES: usize = 160;

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

/** 2^exponent: mesh space to tree space. */
export function treeScale(mesh: Mesh): f64 {
  return reinterpret<f64>(<u64>(1023 + mesh.exponent) << 52);
}
