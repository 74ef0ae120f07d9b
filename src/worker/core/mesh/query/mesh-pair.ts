// Tests a tree against another tree, a box or a capsule: boxes four at a time, then triangles exactly.

import { checkpoint } from '../../checkpoint';
import { Affine } from '../../math/affine';
import { axisToPoint, axisToTriangle } from '../../math/closest';
import { Triangle, triangleIntersectsCube, trianglesIntersect } from '../../math/triangles';
import { reserve } from '../../memory';
import { LEAF, Mesh, NODE_BYTES, Node, blockAt, childOf, nodeAt, setUnitNode, triangleOf } from '../tree/layout';
import { obbOverlap4x4 } from './obb-sat-4x4';
import { mapTriangle } from './mapped-triangle';
import { descend, mapBToA, relation, setMap, setTrees, visitBlocks } from './tree-tree';

const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** A node whose one box is [-1, 1]³. */
const cube = changetype<Node>(memory.data(<i32>offsetof<Node>(), 64));
setUnitNode(cube);

/** The result of `intersectMeshes`: two u32 each, a triangle of a and one of b. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** The meshes whose triangles are in `pairs`. */
let meshA: usize = 0, meshB: usize = 0;

function addPair(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (!trianglesIntersect(p, q)) return false;
  const used = <usize>pairCount << 3;
  pairs = reserve(pairs, used, <u64>used + 8);
  pairCount++;
  const a = blockAt(changetype<Mesh>(meshA), slotA >> 2), b = blockAt(changetype<Mesh>(meshB), slotB >> 2);
  store<u32>(pairs + used, triangleOf(a, slotA & 3));
  store<u32>(pairs + used, triangleOf(b, slotB & 3), 4);
  return false;
}

/** Two blocks, one of each mesh, with triangles that intersected in the last test of the pair. */
@unmanaged
export class Witness {
  a: u32;
  b: u32;
}

/** Denotes no block of any mesh. */
const NO_BLOCK: u32 = 0xffffffff;

const discardedWitness = changetype<Witness>(memory.data(<i32>offsetof<Witness>(), 16));

/** Returns an empty witness whose contents are discarded. */
export function noWitness(): Witness {
  discardedWitness.a = NO_BLOCK;
  discardedWitness.b = NO_BLOCK;
  return discardedWitness;
}

/**
 * Lists all pairs of triangles of `a` and `b` that intersect, touching included, in `pairs`, in the order of the
 * traversal. Returns whether there is any. `m` maps b's mesh space to a's. Throws OUT_OF_MEMORY.
 */
export function intersectMeshes(a: Mesh, b: Mesh, m: Affine): bool {
  pairCount = 0;
  meshA = changetype<usize>(a);
  meshB = changetype<usize>(b);
  setTrees(a, b, m);
  descend(a, b, addPair);
  return pairCount > 0;
}

/** The blocks that `isWitness` found. */
let witnessA: u32 = 0, witnessB: u32 = 0;

function isWitness(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  witnessA = slotA >> 2;
  witnessB = slotB >> 2;
  return trianglesIntersect(p, q);
}

/**
 * Returns whether a triangle of `a` intersects a triangle of `b`, touching included. Tests the witness's blocks first,
 * if it has any; if other blocks intersect, they become the witness. Throws OUT_OF_MEMORY.
 */
export function meshesMeet(a: Mesh, b: Mesh, m: Affine, witness: Witness): bool {
  setTrees(a, b, m);
  if (witness.a < a.blockCount && witness.b < b.blockCount && visitBlocks(a, witness.a, b, witness.b, isWitness)) {
    return true;
  }
  if (!descend(a, b, isWitness)) return false;
  witness.a = witnessA;
  witness.b = witnessB;
  return true;
}

/** Returns whether a triangle of `b` overlaps the solid cube [-1, 1]³. `m` maps b's mesh space to the cube's. */
export function meshMeetsCube(b: Mesh, m: Affine): bool {
  return meshMeets(b, m, -1);
}

/**
 * Returns whether a triangle of `b` overlaps a capsule of radius 1 about z, from -half to half, which is shortened to
 * fill the cube: `m` maps to the cube's space. With half = 0 the capsule is the unit sphere.
 */
export function meshMeetsCapsule(b: Mesh, m: Affine, half: f64): bool {
  return meshMeets(b, m, half);
}

/** Returns whether a triangle of `b` overlaps the cube or the capsule; a negative half denotes the cube. */
function meshMeets(b: Mesh, m: Affine, half: f64): bool {
  setMap(m, b, 1, 0, 0, 0);
  let pendingCount = push(0, 0);
  while (pendingCount != 0) {
    const node = nodeAt(b, load<u32>(stack + (<usize>(--pendingCount) << 2)));
    for (let bits = obbOverlap4x4(relation, cube, node, 1, 15); bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (!(child & LEAF)) {
        pendingCount = push(pendingCount, child);
        continue;
      }
      const block = blockAt(b, child);
      for (let lane = 0; lane < 4; lane++) {
        if (triangleOf(block, lane) < 0) continue;
        mapTriangle(changetype<usize>(triangle), changetype<usize>(block) + (<usize>lane << 2), mapBToA);
        if (half < 0 ? triangleIntersectsCube(triangle) : triangleMeetsCapsule(triangle, half)) return true;
      }
    }
  }
  return false;
}

let stack: usize = 0; // pending nodes, u32

function push(pendingCount: u32, node: u32): u32 {
  stack = reserve(stack, <usize>pendingCount << 2, <u64>(pendingCount + 1) << 2);
  store<u32>(stack + (<usize>pendingCount << 2), node);
  return pendingCount + 1;
}

/** Tolerance of touching beyond the rounding error of the compared numbers, relative to the radius. */
export const TOUCHING: f64 = 1e-12;

function triangleMeetsCapsule(t: Triangle, half: f64): bool {
  lengthen(t, half);
  const x = max(max(abs(t.ax), abs(t.bx)), abs(t.cx)), y = max(max(abs(t.ay), abs(t.by)), abs(t.cy));
  const z = max(max(abs(t.az), abs(t.bz)), abs(t.cz));
  const radius = 1.0 + TOUCHING + max(max(x, y), z) * 1.7763568394002505e-15; // 2^-49
  return axisToTriangle(half, t, radius * radius) <= radius * radius;
}

/** Maps a triangle from the cube's space to the capsule's. */
function lengthen(t: Triangle, half: f64): void {
  t.az *= 1.0 + half;
  t.bz *= 1.0 + half;
  t.cz *= 1.0 + half;
}

/** Returns whether all of `b` lies in the cube [-1, 1]³. `m` maps b's mesh space to the cube's. */
export function meshInsideCube(b: Mesh, m: Affine): bool {
  return meshInside(b, m, -1);
}

/** Returns whether all of `b` lies in the capsule of `meshMeetsCapsule`. */
export function meshInsideCapsule(b: Mesh, m: Affine, half: f64): bool {
  return meshInside(b, m, half);
}

function meshInside(b: Mesh, m: Affine, half: f64): bool {
  setMap(m, b, 1, 0, 0, 0);
  for (let index: u32 = 0; index < b.blockCount; index += BLOCKS_AT_ONCE) {
    if (!blocksInside(b, index, min<u32>(index + BLOCKS_AT_ONCE, b.blockCount), half)) return false;
    checkpoint(4 * BLOCKS_AT_ONCE);
  }
  return true;
}

/** How many blocks of four triangles are tested between two checkpoints. */
const BLOCKS_AT_ONCE: i32 = 256;

function blocksInside(b: Mesh, from: u32, end: u32, half: f64): bool {
  for (let index = from; index < end; index++) {
    const block = blockAt(b, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      mapTriangle(changetype<usize>(triangle), changetype<usize>(block) + (<usize>lane << 2), mapBToA);
      if (!(half < 0 ? triangleInsideCube(triangle) : triangleInsideCapsule(triangle, half))) return false;
    }
  }
  return true;
}

function triangleInsideCube(t: Triangle): bool {
  for (let k: usize = 0; k < 9; k++) if (abs(load<f64>(changetype<usize>(t) + (k << 3))) > 1) return false;
  return true;
}

function triangleInsideCapsule(t: Triangle, half: f64): bool {
  lengthen(t, half);
  const radius = 1.0 + TOUCHING;
  return (
    axisToPoint(half, t.ax, t.ay, t.az) <= radius * radius && axisToPoint(half, t.bx, t.by, t.bz) <= radius * radius &&
    axisToPoint(half, t.cx, t.cy, t.cz) <= radius * radius
  );
}
