// The triangles of two meshes that take part in a contact. Clipped triangles intersect triangles of the other mesh;
// their corners and normals are stored. Interior triangles lie entirely inside the other mesh; only their slots are
// stored (four times the block's index, plus the lane). Contact space is world space relative to a point near the
// contact, in float64. Side 0 is the mesh of the object with the lower id, side 1 the other one.

import { Affine, copy, determinant } from '../../math/affine';
import { reserve } from '../../memory';
import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh, composeTreeMap } from '../../mesh/tree/layout';

@unmanaged
export class ClippedTriangle {
  slot: u32;
  /** The first of its segments, NO_SEGMENT if none; the others are linked by `nextA` or `nextB`. */
  firstSegment: u32;
  /** One more than the last region that listed this triangle. */
  listedRegion: u32;
  /**
   * A segment of the curve around the pocket that took in this triangle because `isInside` could not decide; otherwise
   * NO_SEGMENT.
   */
  pocketSegment: u32;
  /** The corners in contact space. */
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** The unit normal, pointing out of the mesh's volume; 0 if the corners are collinear. */
  nx: f64; ny: f64; nz: f64;
}

const CLIPPED_BYTES: usize = offsetof<ClippedTriangle>();
export const NO_SEGMENT: u32 = 0xffffffff;

/** The data of one mesh during the computation of a contact. */
@unmanaged
export class Side {
  mesh: u32;
  /** The clipped triangles: ClippedTriangle each. */
  clipped: u32;
  clippedCount: u32;
  /** The slots of the interior triangles, u32 each. They are found after all clipped triangles. */
  interior: u32;
  interiorCount: u32;
  interiorCapacity: u32;
  /** The pockets that contain the interior triangles: Pocket each (pockets.ts). */
  pockets: u32;
  pocketCount: u32;
  /**
   * For each slot, u32: 0 if its triangle is neither clipped nor interior; for a clipped triangle one more than its
   * index; for an interior one clippedCount plus one more than its index.
   */
  slotEntries: u32;
  /** Which way the mesh faces, as in Mesh. */
  facing: f64;
  /** The sign that makes a normal point outwards: `facing`, negated if the matrix mirrors. */
  sign: f64;
  /** The map from tree space to contact space. */
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  /** The centre of the mesh's bounds in contact space. */
  centerX: f64; centerY: f64; centerZ: f64;
}

const sides: usize = memory.data(2 * <i32>offsetof<Side>(), 16);
const placedTransform = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// @ts-ignore: decorator
@inline
export function sideAt(index: u32): Side {
  return changetype<Side>(sides + index * <u32>offsetof<Side>());
}

// @ts-ignore: decorator
@inline
export function clippedAt(side: Side, index: u32): ClippedTriangle {
  return changetype<ClippedTriangle>(<usize>side.clipped + index * <u32>CLIPPED_BYTES);
}

/** Returns the address of the slot of an interior triangle. */
// @ts-ignore: decorator
@inline
export function interiorAt(side: Side, index: u32): usize {
  return <usize>side.interior + (<usize>index << 2);
}

/**
 * Sets a side's mesh, whose matrix to the world is `m`, with (x, y, z) as the origin of contact space. Throws
 * OUT_OF_MEMORY.
 */
export function beginSide(index: u32, mesh: Mesh, m: Affine, x: f64, y: f64, z: f64): void {
  const side = sideAt(index);
  clearTriangles(side);
  side.mesh = <u32>changetype<usize>(mesh);
  const slots = mesh.blockCount << 2;
  if (slots > slotCapacity(index)) {
    side.slotEntries = <u32>reserve(side.slotEntries, 0, <u64>slots << 2);
    memory.fill(side.slotEntries, 0, <usize>slots << 2);
    setSlotCapacity(index, slots);
  }
  copy(placedTransform, m);
  placedTransform.tx -= x;
  placedTransform.ty -= y;
  placedTransform.tz -= z;
  composeTreeMap(treeTransformOf(side), mesh, placedTransform);
  side.facing = <f64>mesh.facing;
  const mirrorSign: f64 = determinant(m) < 0 ? -1 : 1;
  side.sign = side.facing == 0 ? mirrorSign : side.facing * mirrorSign;
  const mx = 0.5 * (mesh.minX + mesh.maxX), my = 0.5 * (mesh.minY + mesh.maxY), mz = 0.5 * (mesh.minZ + mesh.maxZ);
  side.centerX = placedTransform.xx * mx + placedTransform.yx * my + placedTransform.zx * mz + placedTransform.tx;
  side.centerY = placedTransform.xy * mx + placedTransform.yy * my + placedTransform.zy * mz + placedTransform.ty;
  side.centerZ = placedTransform.xz * mx + placedTransform.yz * my + placedTransform.zz * mz + placedTransform.tz;
}

// The numbers of slots for which `slotEntries` has room; all its entries are 0 between contacts.
let slotCapacity0: u32 = 0;
let slotCapacity1: u32 = 0;
function slotCapacity(index: u32): u32 { return index == 0 ? slotCapacity0 : slotCapacity1; }
function setSlotCapacity(index: u32, slots: u32): void {
  if (index == 0) slotCapacity0 = slots;
  else slotCapacity1 = slots;
}

// @ts-ignore: decorator
@inline
export function treeTransformOf(side: Side): Affine {
  return changetype<Affine>(changetype<usize>(side) + offsetof<Side>('xx'));
}

/**
 * Clears the triangles of the last contact. The next contact also starts with this, since the last one may have ended in
 * an error.
 */
export function clearTriangles(side: Side): void {
  for (let i: u32 = 0; i < side.clippedCount; i++) setSlotEntry(side, clippedAt(side, i).slot, 0);
  for (let i: u32 = 0; i < side.interiorCount; i++) setSlotEntry(side, load<u32>(interiorAt(side, i)), 0);
  side.clippedCount = 0;
  side.interiorCount = 0;
}

/** Returns a slot's entry of `slotEntries`. */
// @ts-ignore: decorator
@inline
export function slotEntryAt(side: Side, slot: u32): u32 {
  return load<u32>(<usize>side.slotEntries + (<usize>slot << 2));
}

/** Sets a slot's entry of `slotEntries`. */
// @ts-ignore: decorator
@inline
export function setSlotEntry(side: Side, slot: u32, entry: u32): void {
  store<u32>(<usize>side.slotEntries + (<usize>slot << 2), entry);
}

/** Adds a triangle to the clipped ones, if it is not yet one of them. Returns its index. Throws OUT_OF_MEMORY. */
// @ts-ignore: decorator
@inline
export function ensureClipped(side: Side, slot: u32): u32 {
  const entry = slotEntryAt(side, slot);
  return entry != 0 ? entry - 1 : addClipped(side, slot);
}

function addClipped(side: Side, slot: u32): u32 {
  const index = side.clippedCount;
  side.clipped = <u32>reserve(side.clipped, <usize>index * CLIPPED_BYTES, (<u64>index + 1) * CLIPPED_BYTES);
  side.clippedCount = index + 1;
  const triangle = clippedAt(side, index);
  triangle.slot = slot;
  triangle.firstSegment = NO_SEGMENT;
  triangle.listedRegion = 0;
  triangle.pocketSegment = NO_SEGMENT;
  const corners = changetype<usize>(triangle) + offsetof<ClippedTriangle>('ax');
  for (let k: u32 = 0; k < 3; k++) writeCorner(corners + k * 24, side, slot, k);
  setNormal(side, triangle);
  setSlotEntry(side, slot, index + 1);
  return index;
}

function setNormal(side: Side, t: ClippedTriangle): void {
  const ex = t.bx - t.ax, ey = t.by - t.ay, ez = t.bz - t.az;
  const fx = t.cx - t.ax, fy = t.cy - t.ay, fz = t.cz - t.az;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  // A sliver may have no area, and so no normal, in contact space.
  const length = sqrt(nx * nx + ny * ny + nz * nz);
  const scale = length > 0 ? side.sign / length : 0.0;
  t.nx = nx * scale;
  t.ny = ny * scale;
  t.nz = nz * scale;
}

/** Makes room for three more interior triangles: the neighbours of a triangle. Throws OUT_OF_MEMORY. */
// @ts-ignore: decorator
@inline
export function reserveInterior(side: Side): void {
  if (side.interiorCount + 3 > side.interiorCapacity) growInterior(side);
}

/** Initial capacity for interior triangles: the pockets of a shallow contact. */
const MIN_INTERIOR_CAPACITY: u32 = 256;

function growInterior(side: Side): void {
  const capacity = max(2 * side.interiorCapacity, MIN_INTERIOR_CAPACITY);
  side.interior = <u32>reserve(side.interior, <usize>side.interiorCount << 2, <u64>capacity << 2);
  side.interiorCapacity = capacity;
}

/** Adds a triangle that is not known yet to the interior ones. There must be room for it. */
// @ts-ignore: decorator
@inline
export function addInterior(side: Side, slot: u32): void {
  const index = side.interiorCount++;
  store<u32>(interiorAt(side, index), slot);
  setSlotEntry(side, slot, side.clippedCount + index + 1);
}

/** Writes corner 0, 1 or 2 of a triangle in contact space: three f64. */
// @ts-ignore: decorator
@inline
export function writeCorner(to: usize, side: Side, slot: u32, corner: u32): void {
  const m = treeTransformOf(side), at = changetype<usize>(m);
  const from = cornersOf(changetype<Mesh>(<usize>side.mesh), slot) + <usize>corner * 48;
  const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
  // The x and y components that the matrix yields for each coordinate, as one vector.
  const xyOfPoint = f64x2.add(f64x2.mul(v128.load(at), f64x2.splat(x)), f64x2.mul(v128.load(at, 24), f64x2.splat(y)));
  v128.store(to, f64x2.add(f64x2.add(xyOfPoint, f64x2.mul(v128.load(at, 48), f64x2.splat(z))), v128.load(at, 72)));
  store<f64>(to, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}
