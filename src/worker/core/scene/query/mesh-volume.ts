// Tests an OBB tree against a volume that planes and a lasso bound (volume.ts): whether a triangle touches it, or all
// are in it. A node's four boxes are classified in float32 with a bound on the rounding, triangles in float64: a
// triangle is clipped by the planes (math/clip-polygon.ts), and its projection is compared with the lasso.

import { SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT } from '../../../../shared/layout';
import { Affine, invert } from '../../math/affine';
import { addCorner, beginPolygon, cornerCount, cornerX, cornerY, cornerZ, clipByPlane } from '../../math/clip-polygon';
import { PLANE_BYTES, Plane, normalise, pullBack, valueAt } from '../../math/plane';
import { Rotation } from '../../math/quaternion';
import { reserve } from '../../memory';
import {
  Block, LEAF, Mesh, Node, blockAt, childCount, childOf, filledLanes, maxBounds, minBounds, nodeAt, composeTreeMap,
  rotationOfNode, triangleOf,
} from '../../mesh/tree/layout';
import { sidesOfFace } from '../../mesh/query/face-sides';
import {
  RECT_CROSSING, RECT_INSIDE, RECT_OUTSIDE, addScreenPoint, beginScreenPolygon, isInLasso, overlapsLasso, rectState,
} from './lasso';
import { clipW, clipX, clipY, eyeW, eyeX, eyeY, eyeZ } from '../view/projection';
import { CROSSING, INSIDE, LASSO, MAX_PLANES, NONE, PLANES, clipLimits, volumePlane } from './volume';
import { F64_BYTES, VECTOR_BYTES } from '../../sizes';

/**
 * The rounding error in float32 of the distance of a box from a plane of unit normal: coordinates below 3.5, a rotation
 * that is orthonormal to 2⁻¹⁷ of them, and about ten roundings of 2⁻²⁴ of 7.5.
 */
const ROUNDING: f32 = 1.52587890625e-5; // 2^-16

/** The map from tree space to the world, and its inverse. */
const treeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const worldToTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
// In tree space: the planes with unit normals, and x, y and w of clip space.
const planes: usize = memory.data(MAX_PLANES * <i32>PLANE_BYTES, 16);
const treeClipX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const treeClipY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const treeClipW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
let eyeTreeX: f64 = 0, eyeTreeY: f64 = 0, eyeTreeZ: f64 = 0;
/**
 * Whether every triangle counts; else which ones do, by SIDE_*, except for triangles with sides of their own
 * (face-sides.ts).
 */
let countsAll: bool = true;
let countedSides: u32 = SIDE_DOUBLE;
let countedFaceSides: usize = 0;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const childBounds: usize = memory.data(6 * VECTOR_BYTES, 16);

const ENTRY_BYTES: usize = 16;
/** The stack of pending nodes and blocks: u32 each, and the limits that cross it, u64. */
let stack: usize = 0;

// @ts-ignore: decorator
@inline
export function planeAt(i: u32): Plane {
  return changetype<Plane>(planes + i * <u32>PLANE_BYTES);
}

/** Sets the mesh, its map to the world, and which sides of triangles count. Returns which of `limits` cross it. */
export function enterMesh(mesh: Mesh, m: Affine, limits: u64, sides: u32, faceSides: usize): u64 {
  countedSides = sides;
  countedFaceSides = faceSides;
  countsAll = sides == SIDE_DOUBLE && faceSides == 0;
  composeTreeMap(treeToWorld, mesh, m);
  if (!countsAll) {
    invert(worldToTree, treeToWorld);
    const ex = eyeX - treeToWorld.tx * eyeW, ey = eyeY - treeToWorld.ty * eyeW, ez = eyeZ - treeToWorld.tz * eyeW;
    eyeTreeX = worldToTree.xx * ex + worldToTree.yx * ey + worldToTree.zx * ez;
    eyeTreeY = worldToTree.xy * ex + worldToTree.yy * ey + worldToTree.zy * ez;
    eyeTreeZ = worldToTree.xz * ex + worldToTree.yz * ey + worldToTree.zz * ez;
  }
  if (limits & LASSO) {
    pullBack(treeClipX, clipX, treeToWorld);
    pullBack(treeClipY, clipY, treeToWorld);
    pullBack(treeClipW, clipW, treeToWorld);
  }
  let crossed = limits;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const i = <u32>ctz(bits);
    const plane = planeAt(i);
    pullBack(plane, volumePlane(i), treeToWorld);
    normalise(plane);
    // No point of tree space is farther than 3.5 from its origin; float32 need not handle larger numbers.
    if (plane.w >= 4) crossed &= ~(<u64>1 << i);
    if (plane.w <= -4) plane.w = -4;
  }
  return crossed;
}

/**
 * Returns whether any triangle that counts has a point in the volume: one that shows one of `sides` to the eye, or the
 * sides that `faceSides` (face-sides.ts, or 0) gives for it.
 */
export function meshTouches(mesh: Mesh, m: Affine, limits: u64, sides: u32, faceSides: usize): bool {
  return touchesFrom(mesh, enterMesh(mesh, m, limits, sides, faceSides));
}

function touchesFrom(mesh: Mesh, limits: u64): bool {
  if (limits == 0 && countsAll) return true;
  let stackSize = push(0, 0, limits);
  while (stackSize != 0) {
    const top = entryAt(--stackSize);
    const child = load<u32>(top);
    const nodeLimits = load<u64>(top, 8);
    if (child & LEAF) {
      if (blockTouches(blockAt(mesh, child), nodeLimits)) return true;
      continue;
    }
    const node = nodeAt(mesh, child);
    enterNode(node, nodeLimits);
    for (let i: u32 = 0; i < childCount(node); i++) {
      if (!(outsideBits & (1 << i)) && childLimits(i) == 0 && countsAll) return true;
      if (!(outsideBits & (1 << i))) stackSize = push(stackSize, childOf(node, i), childLimits(i));
    }
  }
  return false;
}

/**
 * Returns whether all that is kept of the triangles that count is in the volume: INSIDE, or NONE if nothing is kept.
 */
export function meshEnclosure(mesh: Mesh, m: Affine, limits: u64, sides: u32, faceSides: usize): u32 {
  const crossed = enterMesh(mesh, m, limits, sides, faceSides);
  if (!touchesFrom(mesh, crossed & clipLimits)) return NONE;
  let stackSize = push(0, 0, crossed);
  while (stackSize != 0) {
    const top = entryAt(--stackSize);
    const child = load<u32>(top);
    const nodeLimits = load<u64>(top, 8);
    if ((nodeLimits & ~clipLimits) == 0) continue;
    if (child & LEAF) {
      if (!blockIsEnclosed(blockAt(mesh, child), nodeLimits)) return CROSSING;
      continue;
    }
    const node = nodeAt(mesh, child);
    enterNode(node, nodeLimits);
    for (let i: u32 = 0; i < childCount(node); i++) {
      if (cutAwayBits & (1 << i)) continue;
      // A child outside is a counterexample if its triangles count and are kept.
      const isOutside = (outsideBits & (1 << i)) != 0;
      if (isOutside && countsAll && (childLimits(i) & clipLimits) == 0) return CROSSING;
      stackSize = push(stackSize, childOf(node, i), isOutside ? nodeLimits : childLimits(i));
    }
  }
  return INSIDE;
}

// @ts-ignore: decorator
@inline
export function entryAt(i: u32): usize {
  return stack + i * <u32>ENTRY_BYTES;
}

/** Pushes a child and its limits. Returns the new size of the stack. Throws OUT_OF_MEMORY. */
export function push(stackSize: u32, child: u32, limits: u64): u32 {
  stack = reserve(stack, stackSize * <u32>ENTRY_BYTES, <u64>(stackSize + 1) * ENTRY_BYTES);
  const at = entryAt(stackSize);
  store<u32>(at, child);
  store<u64>(at, limits, 8);
  return stackSize + 1;
}

// --- boxes ---

/** Bit masks: the node's children that are certainly outside, and those of them that clipping planes cut away. */
export let outsideBits: u32 = 0;
export let cutAwayBits: u32 = 0;
/** The limits that may cross each of the other children. */
const crossedLimits: usize = memory.data(4 * F64_BYTES, 16);

// @ts-ignore: decorator
@inline
export function childLimits(i: u32): u64 {
  return load<u64>(crossedLimits + (<usize>i << 3));
}

export function enterNode(node: Node, limits: u64): void {
  outsideBits = 0;
  cutAwayBits = 0;
  for (let i: u32 = 0; i < 4; i++) store<u64>(crossedLimits + (<usize>i << 3), limits & LASSO);
  if (limits == 0) return;
  rotationOfNode(rotation, node);
  const minX = minBounds(node, 0), minY = minBounds(node, 1), minZ = minBounds(node, 2);
  const maxX = maxBounds(node, 0), maxY = maxBounds(node, 1), maxZ = maxBounds(node, 2);
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const bit = <u64>1 << ctz(bits);
    const plane = planeAt(<u32>ctz(bits));
    const x = <f32>plane.x, y = <f32>plane.y, z = <f32>plane.z;
    const nx = f32x4.splat(rotation.xx * x + rotation.xy * y + rotation.xz * z);
    const ny = f32x4.splat(rotation.yx * x + rotation.yy * y + rotation.yz * z);
    const nz = f32x4.splat(rotation.zx * x + rotation.zy * y + rotation.zz * z);
    const ax = f32x4.mul(nx, minX), bx = f32x4.mul(nx, maxX);
    const ay = f32x4.mul(ny, minY), by = f32x4.mul(ny, maxY);
    const az = f32x4.mul(nz, minZ), bz = f32x4.mul(nz, maxZ);
    const w = f32x4.splat(<f32>plane.w);
    const maxDistances = f32x4.add(f32x4.add(f32x4.add(f32x4.pmax(ax, bx), f32x4.pmax(ay, by)), f32x4.pmax(az, bz)), w);
    const minDistances = f32x4.add(f32x4.add(f32x4.add(f32x4.pmin(ax, bx), f32x4.pmin(ay, by)), f32x4.pmin(az, bz)), w);
    const outsidePlane: u32 = i32x4.bitmask(f32x4.lt(maxDistances, f32x4.splat(-ROUNDING)));
    outsideBits |= outsidePlane;
    if (bit & clipLimits) cutAwayBits |= outsidePlane;
    let crossed = i32x4.bitmask(f32x4.lt(minDistances, f32x4.splat(ROUNDING)));
    while (crossed != 0) {
      const at = crossedLimits + (<usize>ctz(crossed) << 3);
      store<u64>(at, load<u64>(at) | bit);
      crossed &= crossed - 1;
    }
  }
  if (!(limits & LASSO)) return;
  v128.store(childBounds, minX);
  v128.store(childBounds, minY, 16);
  v128.store(childBounds, minZ, 32);
  v128.store(childBounds, maxX, 48);
  v128.store(childBounds, maxY, 64);
  v128.store(childBounds, maxZ, 80);
  for (let i: u32 = 0; i < childCount(node); i++) {
    if (outsideBits & (1 << i)) continue;
    const state = projectedState(childBounds + (<usize>i << 2));
    if (state == RECT_OUTSIDE) outsideBits |= 1 << i;
    else if (state == RECT_INSIDE) store<u64>(crossedLimits + (<usize>i << 3), childLimits(i) & ~LASSO);
  }
}

/** Compares the projection of a box in the node's frame with the lasso. Returns RECT_*; RECT_CROSSING if it cannot decide. */
function projectedState(lane: usize): u32 {
  let minX = Infinity, minY = Infinity, maxX = -Infinity, maxY = -Infinity, minW = Infinity;
  for (let corner: usize = 0; corner < 8; corner++) {
    const x = <f64>load<f32>(lane + (corner & 1 ? 48 : 0));
    const y = <f64>load<f32>(lane + (corner & 2 ? 64 : 16));
    const z = <f64>load<f32>(lane + (corner & 4 ? 80 : 32));
    // Back from the node's frame, by the transposed rotation.
    const px = rotation.xx * x + rotation.yx * y + rotation.zx * z;
    const py = rotation.xy * x + rotation.yy * y + rotation.zy * z;
    const pz = rotation.xz * x + rotation.yz * y + rotation.zz * z;
    const w = valueAt(treeClipW, px, py, pz);
    if (!(w > 0)) return RECT_CROSSING;
    minW = min(minW, w);
    const u = valueAt(treeClipX, px, py, pz) / w, v = valueAt(treeClipY, px, py, pz) / w;
    minX = min(minX, u); maxX = max(maxX, u);
    minY = min(minY, v); maxY = max(maxY, v);
  }
  // Corners may be off by the rounding error, as for planes.
  const errorW = gradientLength(treeClipW) * <f64>ROUNDING;
  minW -= errorW;
  if (!(minW > 0)) return RECT_CROSSING;
  const errorX = (gradientLength(treeClipX) * <f64>ROUNDING + max(abs(minX), abs(maxX)) * errorW) / minW;
  const errorY = (gradientLength(treeClipY) * <f64>ROUNDING + max(abs(minY), abs(maxY)) * errorW) / minW;
  return rectState(minX - errorX, minY - errorY, maxX + errorX, maxY + errorY);
}

function gradientLength(f: Plane): f64 {
  return sqrt(f.x * f.x + f.y * f.y + f.z * f.z);
}

// --- triangles ---

// The triangle's corners.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0;
let bx: f64 = 0, by: f64 = 0, bz: f64 = 0;
let cx: f64 = 0, cy: f64 = 0, cz: f64 = 0;

/** Takes a triangle of a block. Returns false if it does not count. */
function loadTriangle(block: Block, lane: u32): bool {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  ax = load<f32>(at); ay = load<f32>(at, 16); az = load<f32>(at, 32);
  bx = load<f32>(at, 48); by = load<f32>(at, 64); bz = load<f32>(at, 80);
  cx = load<f32>(at, 96); cy = load<f32>(at, 112); cz = load<f32>(at, 128);
  const sides = countedFaceSides == 0 ? countedSides : sidesOfFace(countedFaceSides, triangleOf(block, lane), countedSides);
  if (sides == SIDE_DOUBLE) return true;
  const ex = bx - ax, ey = by - ay, ez = bz - az;
  const fx = cx - ax, fy = cy - ay, fz = cz - az;
  // The eye's height above the triangle's plane.
  const facing =
    (ey * fz - ez * fy) * (eyeTreeX - ax * eyeW) +
    (ez * fx - ex * fz) * (eyeTreeY - ay * eyeW) +
    (ex * fy - ey * fx) * (eyeTreeZ - az * eyeW);
  return (facing > 0 && (sides & SIDE_FRONT) != 0) || (facing < 0 && (sides & SIDE_BACK) != 0);
}

function blockTouches(block: Block, limits: u64): bool {
  let bits = filledLanes(block);
  while (bits != 0) {
    const lane = ctz(bits);
    bits &= bits - 1;
    if (loadTriangle(block, lane) && triangleTouches(limits)) return true;
  }
  return false;
}

function blockIsEnclosed(block: Block, limits: u64): bool {
  let bits = filledLanes(block);
  while (bits != 0) {
    const lane = ctz(bits);
    bits &= bits - 1;
    if (loadTriangle(block, lane) && !triangleIsEnclosed(limits)) return false;
  }
  return true;
}

function triangleTouches(limits: u64): bool {
  let crossed = limits & LASSO;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const bit = <u64>1 << ctz(bits);
    const plane = planeAt(<u32>ctz(bits));
    const a = valueAt(plane, ax, ay, az), b = valueAt(plane, bx, by, bz), c = valueAt(plane, cx, cy, cz);
    if (a < 0 && b < 0 && c < 0) return false;
    if (a < 0 || b < 0 || c < 0) crossed |= bit;
  }
  if (crossed == 0) return true;
  beginPolygon();
  addCorner(ax, ay, az);
  addCorner(bx, by, bz);
  addCorner(cx, cy, cz);
  for (let bits = crossed & PLANES; bits != 0; bits &= bits - 1) if (!clipByPlane(planeAt(<u32>ctz(bits)))) return false;
  if (!(crossed & LASSO)) return true;
  projectPolygon();
  return overlapsLasso();
}

function triangleIsEnclosed(limits: u64): bool {
  beginPolygon();
  addCorner(ax, ay, az);
  addCorner(bx, by, bz);
  addCorner(cx, cy, cz);
  return polygonIsEnclosed(limits);
}

/** Returns whether the kept part of the polygon is in the volume; an empty part is. */
export function polygonIsEnclosed(limits: u64): bool {
  for (let bits = limits & clipLimits; bits != 0; bits &= bits - 1) if (!clipByPlane(planeAt(<u32>ctz(bits)))) return true;
  for (let bits = limits & PLANES & ~clipLimits; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    for (let i: u32 = 0; i < cornerCount; i++) {
      if (valueAt(plane, cornerX(i), cornerY(i), cornerZ(i)) < 0) return false;
    }
  }
  if (!(limits & LASSO)) return true;
  projectPolygon();
  return isInLasso();
}

/** Passes the projection of the polygon, which is beyond the near plane, to the lasso. */
export function projectPolygon(): void {
  beginScreenPolygon();
  for (let i: u32 = 0; i < cornerCount; i++) {
    const x = cornerX(i), y = cornerY(i), z = cornerZ(i);
    const w = valueAt(treeClipW, x, y, z);
    addScreenPoint(valueAt(treeClipX, x, y, z) / w, valueAt(treeClipY, x, y, z) / w);
  }
}
