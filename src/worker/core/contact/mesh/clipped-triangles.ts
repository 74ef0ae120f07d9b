// The triangles of two meshes that a contact is made of, in contact space: the world about a place near the contact, in
// float64. Side 0 is the mesh of the object of the lower id, side 1 the other one.

import { Affine, copy, determinant } from '../../math/affine';
import { reserve } from '../../memory';
import { adjacencyOf, cornersOf, facing } from '../../mesh/topology/adjacency';
import { Mesh, placeTree } from '../../mesh/tree/layout';

/** A triangle of one side: one that triangles of the other cut, or one of a pocket. */
@unmanaged
export class Part {
  slot: u32;
  /** First of its cuts, NO_CUT at the end and in pockets. */
  firstCut: u32;
  /** Of the last region that asked for it. */
  stamp: u32;
  /** Of a pocket: any cut of the curve about it. */
  cut: u32;
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** Unit, out of what the mesh encloses; only of what is cut. */
  nx: f64; ny: f64; nz: f64;
}

export const PART_BYTES: usize = 112;
export const NO_CUT: u32 = 0xffffffff;
/** Where corners are in a part: nine f64. */
export const PART_CORNERS: usize = 16;

/** What is known of one mesh while a contact is looked at. */
@unmanaged
export class Side {
  mesh: u32;
  adjacency: u32;
  parts: usize;
  count: u32;
  /** By slot: a part's index plus one, or 0. */
  known: usize;
  pad: u32;
  /** As adjacency.ts has it. */
  facing: f64;
  /** What turns a normal out: facing, and the matrix where that mirrors. */
  sign: f64;
  /** Tree space to contact space. */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  /** Middle of the mesh's bounds in contact space. */
  middleX: f64; middleY: f64; middleZ: f64;
}

const SIDE_BYTES: usize = 160;
const sides: usize = memory.data(2 * 160, 16);
const placed = changetype<Affine>(memory.data(96, 16));

// @ts-ignore: decorator
@inline
export function sideAt(index: u32): Side {
  return changetype<Side>(sides + index * <u32>SIDE_BYTES);
}

// @ts-ignore: decorator
@inline
export function partAt(side: Side, index: u32): Part {
  return changetype<Part>(side.parts + index * <u32>PART_BYTES);
}

/** Takes a mesh under its matrix to the world less a place. Throws OUT_OF_MEMORY. */
export function beginSide(index: u32, mesh: Mesh, m: Affine, x: f64, y: f64, z: f64): void {
  const side = sideAt(index);
  forgetParts(side);
  side.mesh = <u32>changetype<usize>(mesh);
  side.adjacency = <u32>adjacencyOf(mesh);
  const slots = mesh.blockCount << 2;
  if (slots > slotsKnown(index)) {
    side.known = reserve(side.known, 0, <u64>slots << 2);
    memory.fill(side.known, 0, <usize>slots << 2);
    setSlotsKnown(index, slots);
  }
  copy(placed, m);
  placed.tx -= x;
  placed.ty -= y;
  placed.tz -= z;
  placeTree(treeOf(side), mesh, placed);
  side.facing = facing(side.adjacency);
  const mirrored: f64 = determinant(m) < 0 ? -1 : 1;
  side.sign = side.facing == 0 ? mirrored : side.facing * mirrored;
  const mx = 0.5 * (mesh.lowX + mesh.highX), my = 0.5 * (mesh.lowY + mesh.highY), mz = 0.5 * (mesh.lowZ + mesh.highZ);
  side.middleX = placed.xx * mx + placed.yx * my + placed.zx * mz + placed.tx;
  side.middleY = placed.xy * mx + placed.yy * my + placed.zy * mz + placed.ty;
  side.middleZ = placed.xz * mx + placed.yz * my + placed.zz * mz + placed.tz;
}

// Slots for which `known` has room, all 0 between contacts.
let slots0: u32 = 0;
let slots1: u32 = 0;
function slotsKnown(index: u32): u32 { return index == 0 ? slots0 : slots1; }
function setSlotsKnown(index: u32, slots: u32): void {
  if (index == 0) slots0 = slots;
  else slots1 = slots;
}

// @ts-ignore: decorator
@inline
export function treeOf(side: Side): Affine {
  return changetype<Affine>(changetype<usize>(side) + offsetof<Side>('xx'));
}

/** Also where the last contact ended in an error. */
export function forgetParts(side: Side): void {
  for (let i: u32 = 0; i < side.count; i++) store<u32>(side.known + (<usize>partAt(side, i).slot << 2), 0);
  side.count = 0;
}

/** A part's index plus one, or 0 for a triangle that is none yet. */
// @ts-ignore: decorator
@inline
export function knownAt(side: Side, slot: u32): u32 {
  return load<u32>(side.known + (<usize>slot << 2));
}

/** Makes a triangle a part, without its normal; answers its index. Throws OUT_OF_MEMORY. */
export function addPart(side: Side, slot: u32): u32 {
  const index = side.count;
  side.parts = reserve(side.parts, <usize>index * PART_BYTES, (<u64>index + 1) * PART_BYTES);
  side.count = index + 1;
  const part = partAt(side, index);
  part.slot = slot;
  part.firstCut = NO_CUT;
  part.stamp = 0;
  part.cut = NO_CUT;
  placeCorners(changetype<usize>(part) + PART_CORNERS, side, slot);
  store<u32>(side.known + (<usize>slot << 2), index + 1);
  return index;
}

/** Those in pockets need none. */
export function setNormal(side: Side, part: Part): void {
  const ex = part.bx - part.ax, ey = part.by - part.ay, ez = part.bz - part.az;
  const fx = part.cx - part.ax, fy = part.cy - part.ay, fz = part.cz - part.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const norm = side.sign / sqrt(nx * nx + ny * ny + nz * nz);
  part.nx = nx * norm;
  part.ny = ny * norm;
  part.nz = nz * norm;
}

/** A triangle's corners in contact space: nine f64. */
function placeCorners(to: usize, side: Side, slot: u32): void {
  const m = treeOf(side), at = changetype<usize>(m);
  const from = cornersOf(changetype<Mesh>(side.mesh), slot);
  // x and y of what the matrix makes of each coordinate, as one vector.
  const ofX = v128.load(at), ofY = v128.load(at, 24), ofZ = v128.load(at, 48), origin = v128.load(at, 72);
  for (let k: usize = 0; k < 3; k++) {
    const x = <f64>load<f32>(from + k * 48), y = <f64>load<f32>(from + k * 48, 16), z = <f64>load<f32>(from + k * 48, 32);
    const along = f64x2.add(f64x2.mul(ofX, f64x2.splat(x)), f64x2.mul(ofY, f64x2.splat(y)));
    v128.store(to + k * 24, f64x2.add(f64x2.add(along, f64x2.mul(ofZ, f64x2.splat(z))), origin));
    store<f64>(to + k * 24, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
  }
}
