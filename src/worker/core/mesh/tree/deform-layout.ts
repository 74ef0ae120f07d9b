// The section of a mesh whose vertices can be moved by bones or morph targets, between the dipoles and the derived data,
// shared by all poses. Coordinates are in the tree space of the mesh at rest; vertices keep their original numbers.

import { Mesh, deformAddress } from './layout';

/** The header. The sections follow, each at a multiple of 16; their offsets follow from the counts. */
@unmanaged
export class Deform {
  vertexCount: u32;
  /** 0 without a skin. */
  boneCount: u32;
  targetCount: u32;
  /** The greatest sum of the magnitudes of a vertex's weights, or slightly more. */
  maxWeightSum: f32;
  // The least and the greatest difference of 1 and the sum of a vertex's weights.
  minWeightDeficit: f32;
  maxWeightDeficit: f32;
  /** 1 if targets were given as positions, which are stored after the shifts as they were given; 0 if they are shifts. */
  areAbsolute: u32;
  pad: u32;
}

export const DEFORM_BYTES: usize = offsetof<Deform>();

/** A vertex: x, y, z and the difference of 1 and the sum of its weights, f32 each. */
export const REST_BYTES: usize = 16;
/** The weights of a vertex: four f32. */
export const WEIGHTS_BYTES: usize = 16;
/** The bones of a vertex: four u16. A bone without a weight is another of the vertex's bones, or 0. */
export const BONES_BYTES: usize = 8;
/** How far a target moves a vertex: three f32. */
export const SHIFT_BYTES: usize = 12;
/** The range of a target's shifts: the least x, y, z, then the greatest, f32 each; then 8 bytes of padding. */
export const RANGE_BYTES: usize = 32;

/**
 * The oriented box around all vertices that a bone moves at all: the map from the cube [-1, 1]³, and whether there are
 * any such vertices. Within it, along the same axes, is the hit box: that of the vertices that no other bone moves more.
 */
@unmanaged
export class BoneBox {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  // The hit box, in the cube's coordinates.
  hitMinX: f64; hitMinY: f64; hitMinZ: f64;
  hitMaxX: f64; hitMaxY: f64; hitMaxZ: f64;
  isUsed: u32;
  /** 1 if there is a hit box. */
  hasHitBox: u32;
  pad0: u32; pad1: u32;
}

export const BONE_BOX_BYTES: usize = offsetof<BoneBox>();

// @ts-ignore: decorator
@inline
function align16(bytes: u64): u64 {
  return (bytes + 15) & ~15;
}

/** Returns the bytes of a section with these counts. */
export function deformBytes(vertexCount: u32, boneCount: u32, targetCount: u32, areAbsolute: u32): u64 {
  const vertices = <u64>vertexCount;
  let bytes: u64 = <u64>DEFORM_BYTES + vertices * REST_BYTES;
  if (boneCount != 0) {
    bytes += vertices * WEIGHTS_BYTES + align16(vertices * BONES_BYTES) + <u64>boneCount * BONE_BOX_BYTES;
  }
  // After the last shift there is room to read four numbers instead of three.
  if (targetCount != 0) {
    bytes += <u64>targetCount * RANGE_BYTES + align16(vertices * SHIFT_BYTES * targetCount + 16);
    if (areAbsolute != 0) bytes += align16(vertices * SHIFT_BYTES * targetCount);
  }
  return bytes;
}

/** Returns whether a mesh can be deformed. */
// @ts-ignore: decorator
@inline
export function isDeformable(mesh: Mesh): bool {
  return mesh.deformBytes != 0;
}

// @ts-ignore: decorator
@inline
export function deformOf(mesh: Mesh): Deform {
  return changetype<Deform>(deformAddress(mesh));
}

// @ts-ignore: decorator
@inline
export function restVertexAt(deform: Deform, vertex: u32): usize {
  return changetype<usize>(deform) + DEFORM_BYTES + <usize>vertex * REST_BYTES;
}

// @ts-ignore: decorator
@inline
export function weightsAt(deform: Deform, vertex: u32): usize {
  return restVertexAt(deform, deform.vertexCount) + <usize>vertex * WEIGHTS_BYTES;
}

// @ts-ignore: decorator
@inline
export function bonesAt(deform: Deform, vertex: u32): usize {
  return weightsAt(deform, deform.vertexCount) + <usize>vertex * BONES_BYTES;
}

// @ts-ignore: decorator
@inline
export function boneBoxAt(deform: Deform, bone: u32): BoneBox {
  const boxes = weightsAt(deform, deform.vertexCount) + <usize>align16(<u64>deform.vertexCount * BONES_BYTES);
  return changetype<BoneBox>(boxes + <usize>bone * BONE_BOX_BYTES);
}

/** Returns the address of a target's range. */
// @ts-ignore: decorator
@inline
export function rangeAt(deform: Deform, target: u32): usize {
  const ranges = deform.boneCount == 0
    ? restVertexAt(deform, deform.vertexCount)
    : changetype<usize>(boneBoxAt(deform, deform.boneCount));
  return ranges + <usize>target * RANGE_BYTES;
}

/** Returns the address of a target's shifts. */
// @ts-ignore: decorator
@inline
export function shiftsAt(deform: Deform, target: u32): usize {
  return rangeAt(deform, deform.targetCount) + <usize>target * deform.vertexCount * SHIFT_BYTES;
}

/**
 * Returns the address of a target's positions, in mesh space, f32 xyz each; only valid if targets were given as
 * positions.
 */
// @ts-ignore: decorator
@inline
export function targetPositionsAt(deform: Deform, target: u32): usize {
  const shiftBytes = <usize>align16(<u64>deform.vertexCount * SHIFT_BYTES * deform.targetCount + 16);
  return shiftsAt(deform, 0) + shiftBytes + <usize>target * deform.vertexCount * SHIFT_BYTES;
}

/** Returns a corner's vertex number. */
// @ts-ignore: decorator
@inline
export function vertexOfCorner(mesh: Mesh, triangle: u32, k: u32): u32 {
  const i = triangle * 3 + k;
  return mesh.indexed ? load<u32>(changetype<usize>(mesh) + mesh.indices + (<usize>i << 2)) : i;
}
