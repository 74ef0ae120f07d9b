// Tree against tree, and tree against a box or a capsule: boxes four at a time, then triangles exactly.

import { Affine } from '../../math/affine';
import { axisToPoint, axisToTriangle } from '../../math/closest';
import { Triangle, triangleMeetsCube, trianglesIntersect } from '../../math/triangles';
import { reserve } from '../../memory';
import { LEAF, Mesh, NODE_BYTES, Node, blockAt, childOf, nodeAt, setUnitNode, triangleOf } from '../tree/layout';
import { overlapping } from './obb-sat-4x4';
import { copyTriangle, descend, mapTriangle, relation, setMap, setTrees, visitBlocks } from './tree-tree';

const triangle = changetype<Triangle>(memory.data(72, 16));

/** A node whose one box is [-1, 1]³. */
const cube = changetype<Node>(memory.data(<i32>NODE_BYTES, 64));
setUnitNode(cube);

/** What `intersectMeshes` found: two u32 each, a triangle of a and one of b. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** Where the two of each are: u32 addresses, block + 4 · lane. */
let places: usize = 0;
/** Whose they are. */
let meshA: usize = 0, meshB: usize = 0;

function addPair(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (!trianglesIntersect(p, q)) return false;
  const used = <usize>pairCount << 3;
  pairs = reserve(pairs, used, <u64>used + 8);
  places = reserve(places, used, <u64>used + 8);
  pairCount++;
  const a = blockAt(changetype<Mesh>(meshA), slotA >> 2), b = blockAt(changetype<Mesh>(meshB), slotB >> 2);
  store<u32>(pairs + used, triangleOf(a, slotA & 3));
  store<u32>(pairs + used, triangleOf(b, slotB & 3), 4);
  store<u32>(places + used, <u32>(changetype<usize>(a) + ((slotA & 3) << 2)));
  store<u32>(places + used, <u32>(changetype<usize>(b) + ((slotB & 3) << 2)), 4);
  return false;
}

/** The triangles of a pair in a's tree space, with the numbers by which they were found to meet. */
export function readPair(pair: u32, p: Triangle, q: Triangle): void {
  const at = places + (<usize>pair << 3);
  copyTriangle(p, <usize>load<u32>(at));
  mapTriangle(q, <usize>load<u32>(at, 4));
}

/** Blocks of two meshes of which a triangle each met when somebody looked. */
@unmanaged
export class Witness {
  a: u32;
  b: u32;
}

/** No block of any mesh. */
export const NO_BLOCK: u32 = 0xffffffff;

const nobody = changetype<Witness>(memory.data(8, 16));

/** Where nothing is known before, and nothing is kept. */
export function noWitness(): Witness {
  nobody.a = NO_BLOCK;
  nobody.b = NO_BLOCK;
  return nobody;
}

/**
 * Every pair of triangles of `a` and `b` that meet, touching included, to `pairs`, in the order of the descent; answers
 * whether there is one. `m` maps b's mesh space to a's.
 */
export function intersectMeshes(a: Mesh, b: Mesh, m: Affine): bool {
  pairCount = 0;
  meshA = changetype<usize>(a);
  meshB = changetype<usize>(b);
  setTrees(a, b, m);
  descend(a, b, addPair);
  return pairCount > 0;
}

/** What `isWitness` found. */
let witnessA: u32 = 0, witnessB: u32 = 0;

function isWitness(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  witnessA = slotA >> 2;
  witnessB = slotB >> 2;
  return trianglesIntersect(p, q);
}

/**
 * Whether a triangle of `a` meets one of `b`, as above. The blocks of the witness are tried first, if there are such;
 * when others show it, they become the witness.
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

/** Whether a triangle of `b` meets the solid cube [-1, 1]³. `m` maps b's mesh space to the cube's. */
export function meshMeetsCube(b: Mesh, m: Affine): bool {
  return meshMeets(b, m, -1);
}

/**
 * The same of a capsule of radius 1 about z, from -half to half, that fills the cube when it is shortened to it: `m`
 * maps to the cube's space. With half = 0 it is the unit sphere.
 */
export function meshMeetsCapsule(b: Mesh, m: Affine, half: f64): bool {
  return meshMeets(b, m, half);
}

/** A negative half is that of no capsule but the cube. */
function meshMeets(b: Mesh, m: Affine, half: f64): bool {
  setMap(m, b, 1, 0, 0, 0);
  let waiting = push(0, 0);
  while (waiting != 0) {
    const node = nodeAt(b, load<u32>(stack + (<usize>(--waiting) << 2)));
    for (let bits = overlapping(relation, cube, node, 1, 15); bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (!(child & LEAF)) {
        waiting = push(waiting, child);
        continue;
      }
      const block = blockAt(b, child);
      for (let lane = 0; lane < 4; lane++) {
        if (triangleOf(block, lane) < 0) continue;
        mapTriangle(triangle, changetype<usize>(block) + (<usize>lane << 2));
        if (half < 0 ? triangleMeetsCube(triangle) : triangleMeetsCapsule(triangle, half)) return true;
      }
    }
  }
  return false;
}

let stack: usize = 0; // nodes that wait, u32

function push(waiting: u32, node: u32): u32 {
  stack = reserve(stack, <usize>waiting << 2, <u64>(waiting + 1) << 2);
  store<u32>(stack + (<usize>waiting << 2), node);
  return waiting + 1;
}

/** Of touching, beyond what rounds off the numbers that it is decided by. */
export const TOUCHING: f64 = 1e-12;

function triangleMeetsCapsule(t: Triangle, half: f64): bool {
  lengthen(t, half);
  const x = max(max(abs(t.ax), abs(t.bx)), abs(t.cx)), y = max(max(abs(t.ay), abs(t.by)), abs(t.cy));
  const z = max(max(abs(t.az), abs(t.bz)), abs(t.cz));
  const radius = 1.0 + TOUCHING + max(max(x, y), z) * 1.7763568394002505e-15; // 2^-49
  return axisToTriangle(half, t, radius * radius) <= radius * radius;
}

/** From the cube's space to the capsule's. */
function lengthen(t: Triangle, half: f64): void {
  t.az *= 1.0 + half;
  t.bz *= 1.0 + half;
  t.cz *= 1.0 + half;
}

/** Whether all of `b` lies in the cube [-1, 1]³. `m` maps b's mesh space to the cube's. */
export function meshInsideCube(b: Mesh, m: Affine): bool {
  return meshInside(b, m, -1);
}

/** The same of the capsule that meshMeetsCapsule knows. */
export function meshInsideCapsule(b: Mesh, m: Affine, half: f64): bool {
  return meshInside(b, m, half);
}

function meshInside(b: Mesh, m: Affine, half: f64): bool {
  setMap(m, b, 1, 0, 0, 0);
  for (let index: u32 = 0; index < b.blockCount; index++) {
    const block = blockAt(b, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      mapTriangle(triangle, changetype<usize>(block) + (<usize>lane << 2));
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
