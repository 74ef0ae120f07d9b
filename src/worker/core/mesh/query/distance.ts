// Finds the nearest points of two trees, by branch and bound on both at once, nearest boxes first (Larsen, Gottschalk,
// Lin and Manocha, "Fast Distance Queries with Rectangular Swept Sphere Volumes", 2000; here with bounds of oriented
// boxes, mesh/query/obb-distance-4x4.ts). Bounds are float32 and never too great; leaves are decided in float64. A
// placed shape that is no mesh is a tree of one box.
//
// Distances are measured in the metric space: tree A's space if both maps to the world are similarities, so that
// triangles have the same coordinates as in the contact tests; otherwise the world, relative to the common origin of
// both maps.

import { checkpoint } from '../../checkpoint';
import { Affine, copy, invert, setRelative, setIdentity } from '../../math/affine';
import { distanceOfTriangles, nearestWithin, nearestX, nearestY, nearestZ, otherX, otherY, otherZ } from '../../math/triangle-triangle-distance';
import { Triangle } from '../../math/triangles';
import { spectralNorm } from '../../math/spectral-norm';
import { reserve } from '../../memory';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import {
  LEAF, Mesh, Node, blockAt, childOf, filledLanes, nodeAt, composeTreeMap, setUnitNode, treeScale, triangleOf,
} from '../tree/layout';
import { closestDistance, closestOnMesh, closestX, closestY, closestZ } from './closest-point';
import { coordinateError as blockError, max3, min3, mapBlock } from './mapped-block';
import { mapTriangle } from './mapped-triangle';
import { gaps, obbDistance4x4, projectBlock, setBoxes, setDirection, unit } from './obb-distance-4x4';
import { mapBToA as treeMap, setTrees } from './tree-tree';
import { VECTOR_BYTES } from '../../sizes';

/** The distance in the world; the nearest points, relative to the common origin of both maps; and their triangles. */
export let distance: f64 = 0;
export let pointAX: f64 = 0, pointAY: f64 = 0, pointAZ: f64 = 0;
export let pointBX: f64 = 0, pointBY: f64 = 0, pointBZ: f64 = 0;
export let triangleA: i32 = -1, triangleB: i32 = -1;

/** Maps trees to the world, and to the metric space. */
const treeToWorldA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const treeToWorldB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toMetricA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toMetricB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const relative = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
let isSimilar: bool = false;
let isFar: bool = false;
/** Whether the metric space is tree A's space. */
let isInTreeSpace: bool = false;

let bestDistance: f64 = 0;
let hasResult: bool = false;
/** The distance that is subtracted from bounds, and their unit in the metric space. */
let baseDistance: f64 = 0;
let unitLength: f64 = 1;
let bound: f32 = 0;
/** The bound in tree A's own unit. */
let treeBound: f32 = 0;

/** Tolerance of the dot products of a similarity's columns, relative to their squares. */
const SIMILARITY_TOLERANCE: f64 = 1e-7;
/** Beyond this many times the size of both, float32 has no precision left except along the direction between them. */
const FAR_AWAY: f64 = 500;

/**
 * Callback for two leaves, given by their blocks: reports what it finds by `offerDistance`. The block of a shape that is no mesh
 * has no meaning.
 */
export type VisitLeaves = (blockA: u32, blockB: u32) => void;

let meshA: Mesh = changetype<Mesh>(0);
let meshB: Mesh = changetype<Mesh>(0);

/**
 * Finds the nearest points of two meshes, no farther apart than `limit`. Returns whether there are any. `a` and `b` map
 * their spaces to the world, relative to a common origin. If triangles intersect, the distance is 0 and both points are
 * a common one. Throws OUT_OF_MEMORY.
 */
export function distanceOfMeshes(first: Mesh, a: Affine, second: Mesh, b: Affine, limit: f64): bool {
  beginDistance(first, a, second, b, limit, true);
  copy(meshToWorldA, a);
  copy(meshToWorldB, b);
  isBoundTightened = min(first.triangleCount, second.triangleCount) < MIN_TRIANGLES_TO_TIGHTEN;
  lastBlockB = 0;
  descend(visitBlocks);
  mapToWorld();
  return hasResult;
}

/** Maps the meshes' own spaces to the world, and the queried mesh to the world relative to a point. */
const meshToWorldA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const meshToWorldB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const aboutPoint = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Whether `tightenBound` was called, or is skipped because the meshes are small. */
let isBoundTightened: bool = false;

/** The traversal ends before this pays if there are fewer triangles. */
const MIN_TRIANGLES_TO_TIGHTEN: u32 = 1000;
/**
 * More than the rounding error of a distance in the world, and than the distortion of maps that count as similarities.
 */
const BOUND_MARGIN: f64 = 1.00001;

/**
 * Lowers the bound by alternating projection: goes from the nearest point so far to the nearest point of the other mesh,
 * and back. Two searches of one tree are far shorter than a traversal of both with a loose bound: two dragons of 47,794
 * triangles take 0.12 ms instead of 0.18, and 0.11 with the right bound from the start. The traversal still finds the
 * nearest points.
 */
function tightenBound(): void {
  isBoundTightened = true;
  let metricScale: f64 = 1;
  let x = pointBX, y = pointBY, z = pointBZ;
  if (isInTreeSpace) {
    metricScale = columnLength(treeToWorldA);
    x = treeToWorldA.xx * pointBX + treeToWorldA.yx * pointBY + treeToWorldA.zx * pointBZ + treeToWorldA.tx;
    y = treeToWorldA.xy * pointBX + treeToWorldA.yy * pointBY + treeToWorldA.zy * pointBZ + treeToWorldA.ty;
    z = treeToWorldA.xz * pointBX + treeToWorldA.yz * pointBY + treeToWorldA.zz * pointBZ + treeToWorldA.tz;
  }
  let maxDistance = bestDistance * metricScale * BOUND_MARGIN;
  for (let i = 0; i < 2; i++) {
    copy(aboutPoint, i == 0 ? meshToWorldA : meshToWorldB);
    aboutPoint.tx -= x; aboutPoint.ty -= y; aboutPoint.tz -= z;
    if (!closestOnMesh(i == 0 ? meshA : meshB, aboutPoint, maxDistance, false)) break;
    x += closestX; y += closestY; z += closestZ;
    maxDistance = closestDistance;
  }
  const newBound = (maxDistance * BOUND_MARGIN + (abs(x) + abs(y) + abs(z)) * 1e-14) / metricScale;
  if (!(newBound < bestDistance)) return;
  bestDistance = newBound;
  setBound();
}

/** A tree of one node with one box, [-1, 1]³. */
const cube = changetype<Mesh>(memory.data(<i32>(offsetof<Mesh>() + offsetof<Node>()), 64));
cube.nodes = <u32>offsetof<Mesh>();
cube.minX = -1; cube.minY = -1; cube.minZ = -1;
cube.maxX = 1; cube.maxY = 1; cube.maxZ = 1;
setUnitNode(nodeAt(cube, 0));

/**
 * Visits the leaves of a mesh that may be no farther from a box than `limit`, and than the least distance offered since:
 * `a` and `b` map the mesh and [-1, 1]³ to the world relative to a common origin, which is also the space of the points
 * given to `offerDistance`. Returns whether anything was offered. Throws OUT_OF_MEMORY.
 */
export function distanceOfMeshAndBox(mesh: Mesh, a: Affine, b: Affine, limit: f64, visit: VisitLeaves): bool {
  beginDistance(mesh, a, cube, b, limit, false);
  isBoundTightened = true;
  descend(visit);
  mapToWorld();
  return hasResult;
}

/** Returns the least distance that was found so far, in the metric space. */
// @ts-ignore: decorator
@inline
export function minDistanceSoFar(): f64 {
  return bestDistance;
}

/**
 * Maps a triangle of the first mesh, given by its address (of the block, plus four times the lane), to the metric space.
 */
export function mapTriangleOfA(out: Triangle, at: usize): void {
  mapTriangle(changetype<usize>(out), at, toMetricA);
}

/** Takes a distance in the metric space, with its points there, if it is less than the least so far. */
export function offerDistance(
  newDistance: f64, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, newTriangleA: i32, newTriangleB: i32,
): void {
  if (!(newDistance < bestDistance || (!hasResult && newDistance <= bestDistance))) return;
  hasResult = true;
  bestDistance = newDistance;
  pointAX = ax; pointAY = ay; pointAZ = az;
  pointBX = bx; pointBY = by; pointBZ = bz;
  triangleA = newTriangleA;
  triangleB = newTriangleB;
  setBound();
  const x = bx - ax, y = by - ay, z = bz - az;
  const pointDistance = sqrt(x * x + y * y + z * z);
  if (pointDistance > 0 && pointDistance > (abs(ax) + abs(ay) + abs(az)) * MIN_DIRECTION_LENGTH) {
    setDirection(x / pointDistance, y / pointDistance, z / pointDistance, toMetricA, toMetricB, baseDistance, 1.0 / unitLength);
  }
}

/** A vector shorter than this, relative to the coordinates of its ends, has no reliable direction. */
const MIN_DIRECTION_LENGTH: f64 = 1e-12;

/** Sets maps, metric and bounds. `allowsTreeSpace`: the metric space may be that of tree A. */
function beginDistance(first: Mesh, a: Affine, second: Mesh, b: Affine, limit: f64, allowsTreeSpace: bool): void {
  meshA = first;
  meshB = second;
  hasResult = false;
  triangleA = triangleB = -1;
  composeTreeMap(treeToWorldA, first, a);
  composeTreeMap(treeToWorldB, second, b);
  isSimilar = isSimilarity(treeToWorldA) && isSimilarity(treeToWorldB);
  setRelative(relative, a, b);
  setTrees(first, second, relative);
  let shortening: f64 = 1;
  isInTreeSpace = isSimilar && allowsTreeSpace;
  bestDistance = limit;
  if (isInTreeSpace) {
    setIdentity(toMetricA);
    copy(toMetricB, treeMap);
    unitLength = 1;
    bestDistance /= columnLength(treeToWorldA);
  } else {
    copy(toMetricA, treeToWorldA);
    copy(toMetricB, treeToWorldB);
    unitLength = isSimilar ? columnLength(treeToWorldA) : spectralNorm(treeToWorldA);
    if (!isSimilar) {
      invert(relative, treeToWorldA);
      shortening = (1.0 - 1e-6) / (spectralNorm(relative) * unitLength);
    }
  }
  let x = centerCoordinate(toMetricB, second, 0) - centerCoordinate(toMetricA, first, 0);
  let y = centerCoordinate(toMetricB, second, 8) - centerCoordinate(toMetricA, first, 8);
  let z = centerCoordinate(toMetricB, second, 16) - centerCoordinate(toMetricA, first, 16);
  const centerDistance = sqrt(x * x + y * y + z * z);
  if (centerDistance > 0 && centerDistance < Infinity) {
    x /= centerDistance; y /= centerDistance; z /= centerDistance;
  } else {
    x = 1; y = 0; z = 0;
  }
  isFar = centerDistance > FAR_AWAY * (spectralNorm(toMetricA) + spectralNorm(toMetricB));
  baseDistance = isFar ? centerDistance : 0;
  setBoxes(treeMap, isSimilar, shortening, isFar);
  unitLength *= unit;
  setBound();
  setDirection(x, y, z, toMetricA, toMetricB, baseDistance, 1.0 / unitLength);
}

/** Returns a coordinate of the centre of a mesh's bounds in the metric space, x, y or z (0, 8, 16). */
function centerCoordinate(m: Affine, mesh: Mesh, axis: usize): f64 {
  const scale = treeScale(mesh);
  const x = (0.5 * (mesh.minX + mesh.maxX) - mesh.offsetX) * scale;
  const y = (0.5 * (mesh.minY + mesh.maxY) - mesh.offsetY) * scale;
  const z = (0.5 * (mesh.minZ + mesh.maxZ) - mesh.offsetZ) * scale;
  const at = changetype<usize>(m) + axis;
  return load<f64>(at) * x + load<f64>(at, 24) * y + load<f64>(at, 48) * z + load<f64>(at, 72);
}

function columnLength(m: Affine): f64 {
  return sqrt(m.xx * m.xx + m.xy * m.xy + m.xz * m.xz);
}

/** Returns whether a map stretches all directions alike, to seven digits. */
function isSimilarity(m: Affine): bool {
  const size = max(max(abs(m.xx), abs(m.xy)), abs(m.xz)), reciprocal = 1.0 / size;
  const ax = m.xx * reciprocal, ay = m.xy * reciprocal, az = m.xz * reciprocal;
  const bx = m.yx * reciprocal, by = m.yy * reciprocal, bz = m.yz * reciprocal;
  const cx = m.zx * reciprocal, cy = m.zy * reciprocal, cz = m.zz * reciprocal;
  const aa = ax * ax + ay * ay + az * az, tolerance = SIMILARITY_TOLERANCE * aa;
  return (
    abs(bx * bx + by * by + bz * bz - aa) <= tolerance && abs(cx * cx + cy * cy + cz * cz - aa) <= tolerance &&
    abs(ax * bx + ay * by + az * bz) <= tolerance && abs(ax * cx + ay * cy + az * cz) <= tolerance &&
    abs(bx * cx + by * cy + bz * cz) <= tolerance
  );
}

/** Sets the bounds to the least distance so far, rounded up. */
function setBound(): void {
  const rest = (bestDistance - baseDistance + (bestDistance + baseDistance) * 1e-15) / unitLength;
  bound = <f32>min(rest + abs(rest) * 1e-6 + 1e-30, 1e30);
  treeBound = <f32>min(<f64>bound * unitLength * (1.0 + 1e-6), 1e15);
}

/** Maps the results to the world. */
function mapToWorld(): void {
  if (!hasResult) return;
  if (isInTreeSpace) {
    let x = pointAX, y = pointAY, z = pointAZ;
    pointAX = treeToWorldA.xx * x + treeToWorldA.yx * y + treeToWorldA.zx * z + treeToWorldA.tx;
    pointAY = treeToWorldA.xy * x + treeToWorldA.yy * y + treeToWorldA.zy * z + treeToWorldA.ty;
    pointAZ = treeToWorldA.xz * x + treeToWorldA.yz * y + treeToWorldA.zz * z + treeToWorldA.tz;
    x = pointBX; y = pointBY; z = pointBZ;
    pointBX = treeToWorldA.xx * x + treeToWorldA.yx * y + treeToWorldA.zx * z + treeToWorldA.tx;
    pointBY = treeToWorldA.xy * x + treeToWorldA.yy * y + treeToWorldA.zy * z + treeToWorldA.ty;
    pointBZ = treeToWorldA.xz * x + treeToWorldA.yz * y + treeToWorldA.zz * z + treeToWorldA.tz;
  }
  const x = pointBX - pointAX, y = pointBY - pointAY, z = pointBZ - pointAZ;
  distance = bestDistance == 0 ? 0 : sqrt(x * x + y * y + z * z);
}

// --- the traversal ---

/** A pending pair of nodes with some of their children, or of leaves; and a lower bound of their distance. */
@unmanaged
class NodePair {
  gap: f32;
  a: u32;
  b: u32;
  /** The children of a, a bit each, followed by those of b; LEAVES if a and b are blocks. */
  masks: u32;
}

const NODE_PAIR_BYTES: usize = 16;
const LEAVES: u32 = 0x100;
const ALL_CHILDREN: u32 = 0xff;
let stack: usize = 0;

/** How many pairs are processed between two checkpoints, and the work units of each. */
const PAIRS_AT_ONCE: i32 = 32;
const WORK_OF_PAIR: i32 = 16;

function descend(visit: VisitLeaves): void {
  stack = reserve(stack, 0, NODE_PAIR_BYTES);
  const pair = changetype<NodePair>(stack);
  pair.gap = -Infinity;
  pair.a = 0;
  pair.b = 0;
  pair.masks = ALL_CHILDREN;
  let used = NODE_PAIR_BYTES;
  // Nothing is nearer than an intersection.
  while (used != 0 && !(hasResult && bestDistance == 0)) {
    used = descendStep(visit, used);
    if (hasResult && !isBoundTightened && used != 0) tightenBound();
    checkpoint(PAIRS_AT_ONCE * WORK_OF_PAIR);
  }
}

/** Processes some of the pending pairs, which take `used` bytes. Returns how many bytes are pending then. */
function descendStep(visit: VisitLeaves, used: usize): usize {
  stack = reserve(stack, used, <u64>used + <u64>PAIRS_AT_ONCE * 16 * NODE_PAIR_BYTES);
  let top = stack + used;
  for (let n = 0; n < PAIRS_AT_ONCE && top != stack; n++) {
    top -= NODE_PAIR_BYTES;
    const pair = changetype<NodePair>(top);
    if (pair.gap > bound) continue;
    const a = pair.a, b = pair.b, masks = pair.masks;
    if (masks & LEAVES) visit(a, b);
    else {
      countNode();
      top = push(top, a, b, obbDistance4x4(nodeAt(meshA, a), nodeAt(meshB, b), masks & 15, (masks >> 4) & 15, bound));
    }
  }
  return top - stack;
}

/** Pushes the pairs of children in the mask, so that the nearest is popped first. A leaf remains a child of its node. */
function push(top: usize, indexA: u32, indexB: u32, pairs: u32): usize {
  const nodeA = nodeAt(meshA, indexA), nodeB = nodeAt(meshB, indexB);
  const base = top;
  for (let bits = pairs; bits != 0; bits &= bits - 1) {
    const pair = ctz(bits);
    const gap = load<f32>(gaps + (<usize>pair << 2));
    let at = top;
    for (; at != base && !(load<f32>(at - NODE_PAIR_BYTES) >= gap); at -= NODE_PAIR_BYTES)
      v128.store(at, v128.load(at - NODE_PAIR_BYTES));
    top += NODE_PAIR_BYTES;
    const i = pair >> 2, j = pair & 3;
    const a = childOf(nodeA, i), b = childOf(nodeB, j);
    const entry = changetype<NodePair>(at);
    entry.gap = gap;
    if (a & b & LEAF) {
      entry.a = a & ~LEAF;
      entry.b = b & ~LEAF;
      entry.masks = LEAVES;
      continue;
    }
    entry.a = a & LEAF ? indexA : a;
    entry.b = b & LEAF ? indexB : b;
    entry.masks = (a & LEAF ? 1 << i : 15) | (b & LEAF ? 16 << j : 240);
  }
  return top;
}

// --- two blocks of triangles ---

const first = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
/** The latest four triangles of B: in float64, with a mask of those that are mapped; and in float32 in tree A's space. */
const trianglesB: usize = memory.data(4 * <i32>offsetof<Triangle>(), 16);
const mappedBlockB: usize = memory.data(9 * VECTOR_BYTES, 16);
let lastBlockB: usize = 0;
let mappedLanes: u32 = 0;
let isBlockMapped: bool = false;

function visitBlocks(indexA: u32, indexB: u32): void {
  countLeaf();
  const a = blockAt(meshA, indexA), b = blockAt(meshB, indexB);
  const at = changetype<usize>(a);
  if (changetype<usize>(b) != lastBlockB) {
    lastBlockB = changetype<usize>(b);
    mappedLanes = 0;
    isBlockMapped = false;
  }
  v128.store(projectionsA, projectBlock(at, true));
  const projectionsB = projectBlock(changetype<usize>(b), false), filled = filledLanes(b);
  for (let lanes = filledLanes(a); lanes != 0; lanes &= lanes - 1) {
    const lane = ctz(lanes);
    const gap = f32x4.sub(projectionsB, v128.load32_splat(projectionsA + (<usize>lane << 2)));
    let bits = ~<u32>i32x4.bitmask(f32x4.gt(gap, f32x4.splat(bound))) & filled;
    if (bits == 0) continue;
    if (!isFar && isInTreeSpace) {
      if (!isBlockMapped) mapBlock(mappedBlockB, b);
      isBlockMapped = true;
      bits &= nearLanes(at + (<usize>lane << 2));
      if (bits == 0) continue;
    }
    // Triangles that are separated by a plane perpendicular to the direction do not intersect: the search for them can
    // be limited to less than the least distance so far.
    const separatedLanes = isFar ? 15 : <u32>i32x4.bitmask(f32x4.gt(gap, f32x4.splat(0)));
    mapTriangle(changetype<usize>(first), at + (<usize>lane << 2), toMetricA);
    for (; bits != 0; bits &= bits - 1) {
      const other = ctz(bits);
      const q = changetype<Triangle>(trianglesB + <usize>other * 72);
      if (!(mappedLanes & (1 << other))) mapTriangle(changetype<usize>(q), changetype<usize>(b) + (<usize>other << 2), toMetricB);
      mappedLanes |= 1 << other;
      countTriangle();
      const pairDistance = separatedLanes & (1 << other)
        ? sqrt(nearestWithin(first, q, bestDistance * bestDistance * SQUARE_MARGIN + MIN_SQUARE))
        : distanceOfTriangles(first, q);
      if (!(pairDistance <= bestDistance)) continue;
      offerDistance(pairDistance, nearestX, nearestY, nearestZ, otherX, otherY, otherZ, triangleOf(a, lane),
        triangleOf(b, other));
      if (bestDistance == 0) return;
    }
  }
}

/** The limit is increased by this factor, since roots and squares are rounded. */
const SQUARE_MARGIN: f64 = 1.000000000000002;
const MIN_SQUARE: f64 = 1e-300;
const projectionsA: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Returns which of the four triangles of B have bounds in tree A's space that may be near enough to those of a triangle
 * of A.
 */
function nearLanes(at: usize): u32 {
  const x = boundsGap(at, 0), y = boundsGap(at, 16), z = boundsGap(at, 32);
  const distanceSquared = f32x4.add(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y)), f32x4.mul(z, z));
  return ~<u32>i32x4.bitmask(f32x4.gt(distanceSquared, f32x4.splat(treeBound * treeBound)));
}

// @ts-ignore: decorator
@inline
function boundsGap(at: usize, axis: usize): v128 {
  const p = v128.load32_splat(at + axis), q = v128.load32_splat(at + axis, 48), r = v128.load32_splat(at + axis, 96);
  const u = v128.load(mappedBlockB + axis), v = v128.load(mappedBlockB + axis, 48), w = v128.load(mappedBlockB + axis, 96);
  const gap = f32x4.pmax(f32x4.sub(min3(u, v, w), max3(p, q, r)), f32x4.sub(min3(p, q, r), max3(u, v, w)));
  return f32x4.pmin(f32x4.pmax(f32x4.splat(0), f32x4.sub(gap, f32x4.splat(blockError))), f32x4.splat(1e15));
}
