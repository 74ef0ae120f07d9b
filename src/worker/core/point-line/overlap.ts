// Tests a mesh of points or lines for overlap with a cube, a ball, a capsule or a mesh of triangles, in the space in which
// the cube is [-1, 1]³ and the others are round with radius 1. Decided in float64; touching is tolerant to rounding. Points
// never intersect a surface, so they can only be inside of a mesh of triangles, if it is solid.

import { SIDE_DOUBLE } from '../../../shared/layout';
import { Affine, copy, setRelative, setIdentity } from '../math/affine';
import { axisToSegment } from '../math/closest';
import { spectralNorm } from '../math/spectral-norm';
import { reserve } from '../memory';
import { TOUCHING, meshMeetsCube } from '../mesh/query/mesh-pair';
import { ANY, castRay } from '../mesh/query/ray';
import { isInsideClosedMesh } from '../mesh/query/ray-parity';
import {
  LEAF, Mesh, childCount, childOf, maxBounds, minBounds, nodeAt, composeTreeMap, treeScale,
} from '../mesh/tree/layout';
import { MIN_RADIUS, NO_ELEMENT, PointLine, blockOf, elementsPerBlock, meshOf, elementIn } from './layout';
import { ax, ay, az, bx, by, bz, loadElement } from './placed-element';
import { VECTOR_BYTES } from '../sizes';

/** Tree space to the space of the other shape. */
const treeToShape = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherToTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherToBox = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const identity = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
setIdentity(identity);

/** The stack of nodes and blocks: u32 each. */
let stack: usize = 0;

function push(pendingCount: u32, child: u32): u32 {
  stack = reserve(stack, <usize>pendingCount << 2, <u64>(pendingCount + 1) << 2);
  store<u32>(stack + (<usize>pendingCount << 2), child);
  return pendingCount + 1;
}

/** The centres and half sizes of a node's four boxes: x, y and z of the centres, then of the half sizes. */
const boxes: usize = memory.data(6 * VECTOR_BYTES, 16);

function readBoxes(mesh: PointLine, child: u32): void {
  const node = nodeAt(meshOf(mesh), child);
  const half = f32x4.splat(0.5);
  for (let axis: usize = 0; axis < 3; axis++) {
    const boxMin = minBounds(node, axis), boxMax = maxBounds(node, axis);
    v128.store(boxes + (axis << 4), f32x4.mul(half, f32x4.add(boxMin, boxMax)));
    // Slightly enlarged for the rounding of both.
    v128.store(boxes + (axis << 4), f32x4.mul(f32x4.splat(0.5000005), f32x4.sub(boxMax, boxMin)), 48);
  }
}

// @ts-ignore: decorator
@inline
function boxAt(i: u32, offset: usize): f64 {
  return <f64>load<f32>(boxes + (<usize>i << 2) + offset);
}

// --- cube, ball and capsule ---

/** Half of the capsule's segment; 0 for a ball, -1 for a cube. */
let halfSegment: f64 = 0;
/** The radius, or half size, plus the tolerance for touching. */
let shapeRadius: f64 = 1;

/**
 * Returns whether an element intersects a capsule of radius 1 about z from -half to half, a ball if half is 0, or the cube
 * [-1, 1]³ if half is negative. `m` maps mesh space there. Throws OUT_OF_MEMORY.
 */
export function pointLineOverlapsShape(mesh: PointLine, m: Affine, segmentHalf: f64): bool {
  composeTreeMap(treeToShape, meshOf(mesh), m);
  halfSegment = segmentHalf;
  // If all vertices coincide, they are at the origin of tree space, whose scale means nothing.
  const reach: f64 = mesh.radius > MIN_RADIUS ? 4 : 0;
  const largest = reach * spectralNorm(treeToShape) + abs(treeToShape.tx) + abs(treeToShape.ty) + abs(treeToShape.tz);
  shapeRadius = 1.0 + TOUCHING + largest * 8.881784197001252e-16; // 2^-50
  let pendingCount = push(0, 0);
  while (pendingCount != 0) {
    const child = load<u32>(stack + (<usize>--pendingCount << 2));
    if (child & LEAF) {
      if (blockOverlapsShape(mesh, child)) return true;
      continue;
    }
    readBoxes(mesh, child);
    const node = nodeAt(meshOf(mesh), child);
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      if (!isBoxApart(i)) pendingCount = push(pendingCount, childOf(node, i));
    }
  }
  return false;
}

/** Returns how far a box is from the origin along an axis of the shape's space, given by its offset in a column of the map. */
function gapAlong(axis: usize, i: u32): f64 {
  const row = changetype<usize>(treeToShape) + axis;
  const x = load<f64>(row), y = load<f64>(row, 24), z = load<f64>(row, 48);
  return abs(x * boxAt(i, 0) + y * boxAt(i, 16) + z * boxAt(i, 32) + load<f64>(row, 72)) -
    abs(x) * boxAt(i, 48) - abs(y) * boxAt(i, 64) - abs(z) * boxAt(i, 80);
}

/** Returns whether a box is outside of the shape, by the axes of the shape's space. */
function isBoxApart(i: u32): bool {
  const u = gapAlong(0, i), v = gapAlong(8, i), w = gapAlong(16, i);
  if (halfSegment < 0) return u > shapeRadius || v > shapeRadius || w > shapeRadius;
  const p = f64.max(u, 0), q = f64.max(v, 0), r = f64.max(w - halfSegment, 0);
  return p * p + q * q + r * r > shapeRadius * shapeRadius;
}

function blockOverlapsShape(mesh: PointLine, child: u32): bool {
  const block = blockOf(mesh, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
    if (elementIn(block, lane, mesh.size) == NO_ELEMENT) continue;
    loadElement(block + (<usize>lane << 2), mesh.size == 1, treeToShape);
    if (halfSegment < 0 ? lineOverlapsCube()
      : axisToSegment(halfSegment, ax, ay, az, bx, by, bz) <= shapeRadius * shapeRadius) return true;
  }
  return false;
}

/** Returns whether the element intersects the cube, by clipping it between each pair of faces. */
function lineOverlapsCube(): bool {
  clipStart = 0;
  clipEnd = 1;
  clipToSlab(ax, bx - ax);
  clipToSlab(ay, by - ay);
  clipToSlab(az, bz - az);
  return clipStart <= clipEnd;
}

let clipStart: f64 = 0, clipEnd: f64 = 1;

function clipToSlab(a: f64, d: f64): void {
  if (d == 0) {
    if (abs(a) > shapeRadius) clipEnd = -1;
    return;
  }
  const s = (-shapeRadius - a) / d, t = (shapeRadius - a) / d;
  clipStart = f64.max(clipStart, f64.min(s, t));
  clipEnd = f64.min(clipEnd, f64.max(s, t));
}

// --- a mesh of triangles ---

/**
 * Returns whether a line intersects a triangle of `other`, or, if `isSolid`, an element is inside of it. `m` and
 * `otherToWorld` map both mesh spaces to the world. The descendants of a box that the surface does not intersect are on one
 * side of it. Throws OUT_OF_MEMORY.
 */
export function pointLineOverlapsMesh(mesh: PointLine, m: Affine, other: Mesh, otherToWorld: Affine, isSolid: bool): bool {
  if (mesh.size == 1 && !isSolid) return false;
  composeTreeMap(treeToWorld, meshOf(mesh), m);
  setRelative(otherToTree, treeToWorld, otherToWorld);
  setRelative(treeToShape, otherToWorld, treeToWorld);
  let pendingCount = push(0, 0);
  while (pendingCount != 0) {
    const child = load<u32>(stack + (<usize>--pendingCount << 2));
    if (child & LEAF) {
      if (blockOverlapsMesh(mesh, child, other, isSolid)) return true;
      continue;
    }
    const node = nodeAt(meshOf(mesh), child);
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      readBoxes(mesh, child);
      setCube(i);
      if (meshMeetsCube(other, otherToBox)) pendingCount = push(pendingCount, childOf(node, i));
      else if (isSolid && isInside(other, firstBelow(mesh, childOf(node, i)), mesh)) return true;
    }
  }
  return false;
}

/** Sets the map from the other mesh's space to the space in which a box is the cube. */
function setCube(i: u32): void {
  copy(otherToBox, otherToTree);
  const x = 1.0 / boxAt(i, 48), y = 1.0 / boxAt(i, 64), z = 1.0 / boxAt(i, 80);
  otherToBox.xx *= x; otherToBox.yx *= x; otherToBox.zx *= x; otherToBox.tx = (otherToTree.tx - boxAt(i, 0)) * x;
  otherToBox.xy *= y; otherToBox.yy *= y; otherToBox.zy *= y; otherToBox.ty = (otherToTree.ty - boxAt(i, 16)) * y;
  otherToBox.xz *= z; otherToBox.yz *= z; otherToBox.zz *= z; otherToBox.tz = (otherToTree.tz - boxAt(i, 32)) * z;
}

/** Returns a block among a child's descendants. */
function firstBelow(mesh: PointLine, child: u32): u32 {
  let at = child;
  while (!(at & LEAF)) at = childOf(nodeAt(meshOf(mesh), at), 0);
  return at;
}

/** Returns whether the first element of a block begins inside of a closed mesh. */
function isInside(other: Mesh, child: u32, mesh: PointLine): bool {
  loadElement(blockOf(mesh, child), mesh.size == 1, treeToShape);
  return containsStart(other);
}

/** Returns whether a closed mesh contains the start of the element that was read. */
function containsStart(other: Mesh): bool {
  const scale = treeScale(other);
  return isInsideClosedMesh(
    other, identity, (ax - other.offsetX) * scale, (ay - other.offsetY) * scale, (az - other.offsetZ) * scale,
  );
}

function blockOverlapsMesh(mesh: PointLine, child: u32, other: Mesh, isSolid: bool): bool {
  const block = blockOf(mesh, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
    if (elementIn(block, lane, mesh.size) == NO_ELEMENT) continue;
    loadElement(block + (<usize>lane << 2), mesh.size == 1, treeToShape);
    if (isSolid && containsStart(other)) return true;
    const dx = bx - ax, dy = by - ay, dz = bz - az;
    if (dx == 0 && dy == 0 && dz == 0) continue;
    if (castRay(other, ax, ay, az, dx, dy, dz, 0, 1, SIDE_DOUBLE, 0, ANY) != Infinity) return true;
  }
  return false;
}
