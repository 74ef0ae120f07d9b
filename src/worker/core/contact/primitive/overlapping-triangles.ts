// Finds the triangles of a mesh that a box, sphere or capsule overlaps, in the solid's space, where it is the cube [-1,
// 1]³, the unit ball, or a capsule of radius 1 about the z axis: descends the tree by separating axes in float32, which
// are conservative, then tests each triangle in float64.

import { Affine, copy } from '../../math/affine';
import { axisToTriangle } from '../../math/closest';
import { Triangle, triangleIntersectsCube } from '../../math/triangles';
import {
  LEAF, Mesh, Node, blockAt, childOf, filledLanes, nodeAt, composeTreeMap, setUnitNode, triangleOf,
} from '../../mesh/tree/layout';
import { overlappedChildren, setBox } from '../../mesh/query/box-nodes';
import { Relation, obbOverlap4x4, setRelation } from '../../mesh/query/obb-sat-4x4';
import { TOUCHING } from '../../mesh/query/mesh-pair';
import { checkpoint } from '../../checkpoint';
import { reserve } from '../../memory';
import { mayOverlap, setPrefilter } from './triangle-prefilter';

/** Replaces half of a capsule's segment if the solid is the cube. */
export const CUBE: f64 = -1;
/** No triangle. */
export const NO_TRIANGLE: u32 = 0xffffffff;

@unmanaged
export class OverlappingTriangle {
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** How far the triangle must move, in world space, to leave the solid. Only valid if `isMeasured`. */
  depth: f64;
  /** The next triangle of the list that contains this one. */
  next: u32;
  /** Its index in the original mesh. */
  triangle: u32;
  isMeasured: bool;
  /** Whether it faces roughly the same way as the reference triangle (projected-area.ts). */
  isFacingAlike: bool;
}

const OVERLAPPING_TRIANGLE_BYTES: usize = 96;

/** How many triangles of a list are visited between two checkpoints. */
export const BATCH_TRIANGLES: i32 = 1024;

let triangles: usize = 0;
let capacity: u32 = 0;
export let overlappingCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function overlappingAt(index: u32): OverlappingTriangle {
  return changetype<OverlappingTriangle>(triangles + <usize>index * OVERLAPPING_TRIANGLE_BYTES);
}

// @ts-ignore: decorator
@inline
export function triangleAt(index: u32): Triangle {
  return changetype<Triangle>(triangles + <usize>index * OVERLAPPING_TRIANGLE_BYTES);
}

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16)); // tree space to the solid's
const relation = changetype<Relation>(memory.data(<i32>offsetof<Relation>(), 16));
/** A node whose one box is [-1, 1]³. */
const cube = changetype<Node>(memory.data(<i32>offsetof<Node>(), 64));
setUnitNode(cube);
let stack: usize = 0;

/**
 * Finds the triangles of a mesh that the solid overlaps; `m` maps mesh space to the solid's. Touching counts; for a
 * round solid, so does a triangle that is no farther away than `slack` times the rounding error. Throws OUT_OF_MEMORY.
 */
export function findOverlapping(mesh: Mesh, m: Affine, half: f64, slack: f64): void {
  overlappingCount = 0;
  composeTreeMap(map, mesh, m);
  setRelation(relation, mapToCube(half));
  isFaceTestOnly = false;
  searchTree(mesh, half, slack);
}

/**
 * Does the same for a cube that is not much larger than the triangles, with a faster tree test for this case. Throws
 * OUT_OF_MEMORY.
 */
export function findOverlappingSmallCube(mesh: Mesh, m: Affine): void {
  overlappingCount = 0;
  composeTreeMap(map, mesh, m);
  setBox(map);
  isFaceTestOnly = true;
  searchTree(mesh, CUBE, 0);
}

/** Whether only the face normals of a node's boxes are tested. */
let isFaceTestOnly: bool = false;

function searchTree(mesh: Mesh, half: f64, slack: f64): void {
  setPrefilter(map, half);
  let stackCount = pushNode(0, 0);
  while (stackCount != 0) {
    stackCount = visitNodes(mesh, stackCount, half, slack);
    checkpoint(BATCH_NODES * WORK_PER_NODE);
  }
}

/** How many nodes are visited between two checkpoints, and the work units of each including its triangles. */
const BATCH_NODES: i32 = 32;
const WORK_PER_NODE: i32 = 16;

/** Visits some nodes of the stack. Returns how many nodes it still has. */
function visitNodes(mesh: Mesh, stackCountBefore: u32, half: f64, slack: f64): u32 {
  let stackCount = stackCountBefore;
  for (let n = 0; n < BATCH_NODES && stackCount != 0; n++) {
    const node = nodeAt(mesh, load<u32>(stack + (<usize>(--stackCount) << 2)));
    let bits = isFaceTestOnly ? overlappedChildren(node) : obbOverlap4x4(relation, cube, node, 1, 15);
    for (; bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (!(child & LEAF)) {
        stackCount = pushNode(stackCount, child);
        continue;
      }
      const block = blockAt(mesh, child);
      for (let lanes = filledLanes(block) & mayOverlap(block); lanes != 0; lanes &= lanes - 1) {
        const lane = ctz(lanes);
        if (addIfOverlapping(changetype<usize>(block) + (<usize>lane << 2), half, slack)) {
          overlappingAt(overlappingCount - 1).triangle = <u32>triangleOf(block, lane);
        }
      }
    }
  }
  return stackCount;
}

function pushNode(stackCount: u32, child: u32): u32 {
  stack = reserve(stack, <usize>stackCount << 2, <u64>(stackCount + 1) << 2);
  store<u32>(stack + (<usize>stackCount << 2), child);
  return stackCount + 1;
}

const toCube = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Returns the map from tree space for the tests of the tree's boxes: a capsule's space is shortened along z so that the
 * cube encloses the capsule.
 */
function mapToCube(half: f64): Affine {
  const scaleZ = half > 0 ? 1.0 / (1.0 + half) : 1.0;
  copy(toCube, map);
  toCube.xz *= scaleZ;
  toCube.yz *= scaleZ;
  toCube.zz *= scaleZ;
  toCube.tz *= scaleZ;
  return toCube;
}

function addIfOverlapping(from: usize, half: f64, slack: f64): bool {
  if (overlappingCount == capacity) grow();
  const triangle = triangleAt(overlappingCount);
  for (let k: usize = 0; k < 3; k++) mapCorner(from + k * 48, changetype<usize>(triangle) + k * 24);
  if (!hasCornerIn(triangle, half)) {
    const x = max(max(abs(triangle.ax), abs(triangle.bx)), abs(triangle.cx));
    const y = max(max(abs(triangle.ay), abs(triangle.by)), abs(triangle.cy));
    const z = max(max(abs(triangle.az), abs(triangle.bz)), abs(triangle.cz));
    const size = max(max(x, y), z);
    if (half == CUBE) {
      if (!triangleIntersectsCube(triangle)) return false;
    } else {
      const radius = 1.0 + slack * (TOUCHING + size * 1.7763568394002505e-15); // 2^-49
      if (!(axisToTriangle(half, triangle, radius * radius) <= radius * radius)) return false;
    }
  }
  overlappingAt(overlappingCount++).isMeasured = false;
  return true;
}

function grow(): void {
  const used = <usize>capacity * OVERLAPPING_TRIANGLE_BYTES;
  const newCapacity = max<u32>(capacity + (capacity >> 1), 64);
  triangles = reserve(triangles, used, <u64>newCapacity * OVERLAPPING_TRIANGLE_BYTES);
  capacity = newCapacity;
}

/**
 * Returns whether a corner is in the solid. That decides most overlapping triangles: half of the dragon's in a tenth of
 * the time.
 */
// @ts-ignore: decorator
@inline
function hasCornerIn(t: Triangle, half: f64): bool {
  return containsPoint(t.ax, t.ay, t.az, half) || containsPoint(t.bx, t.by, t.bz, half) || containsPoint(t.cx, t.cy, t.cz, half);
}

// @ts-ignore: decorator
@inline
function containsPoint(x: f64, y: f64, z: f64, half: f64): bool {
  if (half == CUBE) return abs(x) <= 1 && abs(y) <= 1 && abs(z) <= 1;
  const beyondEnd = max(abs(z) - half, 0.0);
  return x * x + y * y + beyondEnd * beyondEnd <= 1;
}

/** Maps a corner to the solid's space. Never yields -0, so that equal positions have equal bits. */
// @ts-ignore: decorator
@inline
function mapCorner(from: usize, to: usize): void {
  const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
  store<f64>(to, map.xx * x + map.yx * y + map.zx * z + map.tx + 0.0);
  store<f64>(to, map.xy * x + map.yy * y + map.zy * z + map.ty + 0.0, 8);
  store<f64>(to, map.xz * x + map.yz * y + map.zz * z + map.tz + 0.0, 16);
}
