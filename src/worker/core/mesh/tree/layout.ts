// The layout of a baked mesh. Its coordinates are in tree space: mesh space, translated and scaled by a power of two so
// that its extent is about 1. Both are exact in float32, so a tree has no scale of its own and no offset that costs
// precision.

import { MESH_HEADER_BYTES } from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { Rotation, rotationAt, setIdentityRotation } from '../../math/quaternion';
import { scaleFor } from './tree-space';

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
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  cost: f64;
  builtCost: f64;
  /** The distance of the farthest vertex from the centre of the bounds, in mesh space. */
  radius: f64;
  /** The offset of the nodes' dipoles (dipoles.ts). */
  dipoles: u32;
  /** 1 if the mesh was closed when it was built. */
  closed: u32;
  /** 1 if the faces point out of the enclosed volume, -1 if they point into it, 0 if they enclose none. */
  facing: i32;
  /**
   * The offset of the derived data (topology/derived-layout.ts); modulo 2³², since it may be at any address outside of
   * the mesh.
   */
  derived: u32;
  /** FRESH in a baked mesh (topology/derived.ts). */
  derivedState: u32;
  /** The bytes of the data for deformation (deform-layout.ts); 0 if the mesh cannot be deformed. */
  deformBytes: u32;
  pad0: u64; pad1: u64;
  // The open edges, 0 for a closed mesh: how many there are, and one of them.
  /** The weld distance that would close it; 0 if none is known. */
  closingWeld: f64;
  openEdges: u32;
  openTriangle: u32;
  /** The number of the edge in its triangle: 0 from corner a to b, 1, or 2. */
  openEdge: u32;
  openFromX: f32; openFromY: f32; openFromZ: f32;
  openToX: f32; openToY: f32; openToZ: f32;
}

/**
 * Up to four children, and the rotation shared by their boxes: one cache line. A bound is origin + scale · q with q in 0
 * … 255, rounded outwards; eight bytes per axis, four low bounds and four high ones (as in Ylitie, Karras and Laine,
 * "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs", 2017).
 */
@unmanaged
export class Node {
  boundsX: u64;
  boundsY: u64;
  boundsZ: u64;
  quaternion: u64; // four i16
  originX: f32; originY: f32; originZ: f32;
  /**
   * FLOAT, the number of children that are nodes, the number of all children minus one, and the first node's index: the
   * nodes come first.
   */
  children: u32;
  scaleX: f32; scaleY: f32; scaleZ: f32;
  /** FLOAT, and the first block's index. */
  blocks: u32;
}

export const NODE_BYTES: usize = offsetof<Node>();

/** Makes a link word a normal float: it is loaded into the fourth lane of vectors, where a denormal would be slow. */
export const FLOAT: u32 = 0x40000000;
const INNER_SHIFT: u32 = 26;
const COUNT_SHIFT: u32 = 24;
const INDEX_MASK: u32 = 0xffffff;
const BLOCK_MASK: u32 = 0x1fffffff;
/** The bits of a link word besides FLOAT; with any of them the float is a normal one. */
const LINK_MASK: u32 = 0x1fffffff;
/** A child that is a block of triangles; the low bits are the block's index. */
export const LEAF: u32 = 0x80000000;
/** The most nodes: more than fit into a memory of 4 GB with their blocks. */
export const MAX_NODES: u32 = INDEX_MASK;

/** The quaternion of a node without a rotation. */
export const IDENTITY_QUATERNION: u64 = 0x7fff000000000000;

// @ts-ignore: decorator
@inline
export function isRotated(node: Node): bool {
  return node.quaternion != IDENTITY_QUATERNION;
}

/** Sets the rotation from the tree's axes to the frame of a node's boxes. */
export function rotationOfNode(out: Rotation, node: Node): void {
  if (isRotated(node)) rotationAt(out, changetype<usize>(node) + offsetof<Node>('quaternion'));
  else setIdentityRotation(out);
}

export function setChildren(node: Node, inner: u32, count: u32, nodesFrom: u32, blocksFrom: u32): void {
  node.children = FLOAT | (inner << INNER_SHIFT) | ((count - 1) << COUNT_SHIFT) | nodesFrom;
  node.blocks = FLOAT | blocksFrom;
}

/** Makes a node with one box: [-1, 1]³, slightly enlarged. */
export function setUnitNode(node: Node): void {
  setChildren(node, 0, 1, 0, 0);
  node.quaternion = IDENTITY_QUATERNION;
  node.boundsX = node.boundsY = node.boundsZ = 0xff00000000;
  node.originX = node.originY = node.originZ = -1.00001;
  node.scaleX = node.scaleY = node.scaleZ = 2.00002 / 255;
}

// @ts-ignore: decorator
@inline
export function childCount(node: Node): u32 {
  return ((node.children >> COUNT_SHIFT) & 3) + 1;
}

// @ts-ignore: decorator
@inline
export function innerCount(node: Node): u32 {
  return (node.children >> INNER_SHIFT) & 7;
}

/** Returns the index of a node's first inner child; the others follow it. */
// @ts-ignore: decorator
@inline
export function firstNode(node: Node): u32 {
  return node.children & INDEX_MASK;
}

/** Returns the index of a node's first leaf; the others follow it. */
// @ts-ignore: decorator
@inline
export function firstBlock(node: Node): u32 {
  return node.blocks & BLOCK_MASK;
}

/** Returns a child: a node's index, or LEAF and a block's. */
// @ts-ignore: decorator
@inline
export function childOf(node: Node, i: u32): u32 {
  return linkOf(node.children, node.blocks, i);
}

/** Returns a child, like `childOf`, from the node's two link words. */
// @ts-ignore: decorator
@inline
export function linkOf(children: u32, blocks: u32, i: u32): u32 {
  const inner = (children >> INNER_SHIFT) & 7;
  return i < inner ? (children & INDEX_MASK) + i : (LEAF | (blocks & BLOCK_MASK)) + i - inner;
}

/** Returns a mask of the existing children, a bit each. */
// @ts-ignore: decorator
@inline
export function childMask(node: Node): u32 {
  return maskOf(node.children);
}

// @ts-ignore: decorator
@inline
export function maskOf(children: u32): u32 {
  return (2 << ((children >> COUNT_SHIFT) & 3)) - 1;
}

// @ts-ignore: decorator
@inline
function decode(steps: v128, node: Node, axis: usize): v128 {
  const at = changetype<usize>(node) + (axis << 2);
  return f32x4.add(
    f32x4.mul(steps, v128.load32_splat(at, offsetof<Node>('scaleX'))), v128.load32_splat(at, offsetof<Node>('originX')),
  );
}

/**
 * Returns the low bounds of four boxes along axis 0, 1 or 2, in steps of the node's scale from its origin. They are
 * below 256, so they are converted as signed: x64 takes one instruction for that, and eight for unsigned.
 */
// @ts-ignore: decorator
@inline
export function minSteps(node: Node, axis: usize): v128 {
  return f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(v128.load8x8_u(changetype<usize>(node) + (axis << 3))));
}

// @ts-ignore: decorator
@inline
export function maxSteps(node: Node, axis: usize): v128 {
  return f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(v128.load8x8_u(changetype<usize>(node) + (axis << 3))));
}

/** Decodes the low bounds of four boxes along axis 0, 1 or 2; those of missing children are undefined. */
// @ts-ignore: decorator
@inline
export function minBounds(node: Node, axis: usize): v128 {
  return decode(minSteps(node, axis), node, axis);
}

// @ts-ignore: decorator
@inline
export function maxBounds(node: Node, axis: usize): v128 {
  return decode(maxSteps(node, axis), node, axis);
}

/**
 * The greatest depth of a node; the root is at 0. The builder halves ranges from depth 48 on, so that even 2³² triangles
 * end before this depth. When a ray reaches a node at depth d, at most three children of each of its d ancestors are on
 * the stack, and a vector of four keys is written behind them: 3 · 64 + 4 = 196 of the stack's 256 (ray.ts). 84 would be
 * the most.
 */
export const MAX_DEPTH: u32 = 64;

/** The most children on the stack of a depth-first traversal: three of each depth, and the last node's four. */
export const MAX_STACK_ENTRIES: i32 = 3 * <i32>MAX_DEPTH + 4;

/** Four triangles; an empty lane repeats another triangle's corner a, with triangle -1. */
@unmanaged
export class Block {
  ax: v128; ay: v128; az: v128;
  bx: v128; by: v128; bz: v128;
  cx: v128; cy: v128; cz: v128;
  triangle0: i32; triangle1: i32; triangle2: i32; triangle3: i32;
}

export const BLOCK_BYTES: usize = offsetof<Block>();

/** The bound of coordinates in tree space, since the largest one is in [1, 2). */
export const TREE_EXTENT: f32 = 2;
/**
 * The exponents of the scale from mesh space to tree space: for a largest float32 coordinate from 2¹²⁷ down to the
 * smallest one, 2⁻¹⁴⁹.
 */
export const MIN_EXPONENT: i32 = -127;
export const MAX_EXPONENT: i32 = 149;

/**
 * By how much boxes are enlarged, relative to the largest coordinate in the tree. It covers the float32 rounding of a
 * rotated ray (origin 2⁻²⁴, rotation 5 · 2⁻²⁴, direction 4 · 2⁻²⁴ over a length of 3.5) and of the slabs (7 · 2⁻²⁴ over
 * the same length), together less than 2⁻¹⁸.
 */
export const BOX_PADDING: f32 = 7.62939453125e-6; // 2^-17

/** The bytes of a node's dipole (dipoles.ts). */
export const DIPOLE_BYTES: usize = 64;

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
export function triangleOf(block: Block, lane: i32): i32 {
  return load<i32>(changetype<usize>(block) + (<usize>lane << 2), offsetof<Block>('triangle0'));
}

/** Returns a mask of the lanes that have a triangle, a bit each. */
// @ts-ignore: decorator
@inline
export function filledLanes(block: Block): u32 {
  return ~<u32>i32x4.bitmask(trianglesOf(block)) & 15;
}

/**
 * Returns whether a node is valid, except for the targets of its links: origin and steps are finite, no box is inverted,
 * the counts agree. A quaternion may have any length but 0, since every use divides by its square (math/quaternion.ts).
 */
// @ts-ignore: decorator
@inline
export function isSound(node: Node): bool {
  const at = changetype<usize>(node), children = node.children;
  const origin = v128.load(at, offsetof<Node>('originX')), scale = v128.load(at, offsetof<Node>('scaleX'));
  // The fourth lanes are link words. Each comparison is false for NaN.
  const areSmall = v128.and(f32x4.ge(scale, f32x4.splat(0)), f32x4.le(scale, f32x4.splat(1)));
  const areNear = f32x4.le(f32x4.abs(origin), f32x4.splat(16));
  const xy = v128.load(at), z = v128.load(at, 16);
  const ordered = i8x16.bitmask(i8x16.le_u(v128.shuffle<i32>(xy, z, 0, 2, 4, 4), v128.shuffle<i32>(xy, z, 1, 3, 5, 5)));
  return (
    (i32x4.bitmask(v128.and(areSmall, areNear)) & 7) == 7 &&
    (((children ^ FLOAT) | (node.blocks ^ FLOAT)) & ~LINK_MASK) == 0 && innerCount(node) <= childCount(node) &&
    node.quaternion != 0 && (maskOf(children) & ~(ordered & (ordered >> 4) & (ordered >> 8))) == 0
  );
}

/** Returns the triangle indices of all lanes. */
// @ts-ignore: decorator
@inline
export function trianglesOf(block: Block): v128 {
  return v128.load(changetype<usize>(block), offsetof<Block>('triangle0'));
}

/** Returns the offset of a mesh's dipoles: after nodes, blocks and indices, at a multiple of 16. */
export function dipolesOffset(nodeCount: u32, blockCount: u32, indexed: u32, triangleCount: u32): u64 {
  const indices = <u64>MESH_HEADER_BYTES + <u64>nodeCount * NODE_BYTES + <u64>blockCount * BLOCK_BYTES;
  return (indices + (indexed ? <u64>triangleCount * 12 : 0) + 15) & ~15;
}

/** Returns the address of the data for deformation, in the mesh's own memory: after the dipoles. */
export function deformAddress(mesh: Mesh): usize {
  return changetype<usize>(mesh) + mesh.dipoles + <usize>mesh.nodeCount * DIPOLE_BYTES;
}

/** Returns the address of the derived data in the mesh's own memory: after everything else. */
export function derivedAddress(mesh: Mesh): usize {
  return deformAddress(mesh) + mesh.deformBytes;
}

/** Returns the scale from mesh space to tree space: 2^exponent. */
export function treeScale(mesh: Mesh): f64 {
  return scaleFor(mesh.exponent);
}

/** Sets the map from tree space to the target space of `m`, which maps mesh space. */
export function composeTreeMap(out: Affine, mesh: Mesh, m: Affine): void {
  const inverseScale = 1.0 / treeScale(mesh);
  const x = mesh.offsetX, y = mesh.offsetY, z = mesh.offsetZ;
  out.xx = m.xx * inverseScale; out.xy = m.xy * inverseScale; out.xz = m.xz * inverseScale;
  out.yx = m.yx * inverseScale; out.yy = m.yy * inverseScale; out.yz = m.yz * inverseScale;
  out.zx = m.zx * inverseScale; out.zy = m.zy * inverseScale; out.zz = m.zz * inverseScale;
  out.tx = m.xx * x + m.yx * y + m.zx * z + m.tx;
  out.ty = m.xy * x + m.yy * y + m.zy * z + m.ty;
  out.tz = m.xz * x + m.yz * y + m.zz * z + m.tz;
}
