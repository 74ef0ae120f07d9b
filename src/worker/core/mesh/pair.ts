// Tree against tree, and tree against a box or a capsule: boxes four at a time, then triangles exactly.

import { Affine } from '../math/affine';
import { axisToPoint, axisToTriangle } from '../math/closest';
import { Triangle, triangleMeetsCube, trianglesIntersect } from '../math/triangles';
import { reserve } from '../memory';
import { mayMeet, setFilter, setFour } from './filter';
import {
  Block, LEAF, Mesh, NODE_BYTES, Node, blockAt, childOf, filledLanes, nodeAt, setUnitNode, treeScale, triangleOf,
} from './layout';
import { countLeaf, countNode, countTriangle } from './measure';
import { Relation, overlapping } from './overlap';

/** Tree B to tree A (or to the cube) in float64. */
export const map = changetype<Affine>(memory.data(96, 16));
const relation = changetype<Relation>(memory.data(48, 16));
const triangleA = changetype<Triangle>(memory.data(72, 16));
const trianglesB: usize = memory.data(4 * 72, 16);

/** A node whose one box is [-1, 1]³. */
const cube = changetype<Node>(memory.data(<i32>NODE_BYTES, 64));
setUnitNode(cube);

/** Children of two nodes that wait to be compared. */
@unmanaged
class Work {
  a: u32;
  maskA: u32;
  b: u32;
  maskB: u32;
}

const WORK_BYTES: usize = 16;
let stack: usize = 0;

/** map = (scaleA · (· - offsetA)) ∘ m ∘ (offsetB + · / scaleB): from tree B through mesh spaces to tree A. */
export function setMap(m: Affine, b: Mesh, scaleA: f64, offsetX: f64, offsetY: f64, offsetZ: f64): void {
  const scale = scaleA / treeScale(b);
  map.xx = m.xx * scale; map.xy = m.xy * scale; map.xz = m.xz * scale;
  map.yx = m.yx * scale; map.yy = m.yy * scale; map.yz = m.yz * scale;
  map.zx = m.zx * scale; map.zy = m.zy * scale; map.zz = m.zz * scale;
  map.tx = (m.xx * b.offsetX + m.yx * b.offsetY + m.zx * b.offsetZ + m.tx - offsetX) * scaleA;
  map.ty = (m.xy * b.offsetX + m.yy * b.offsetY + m.zy * b.offsetZ + m.ty - offsetY) * scaleA;
  map.tz = (m.xz * b.offsetX + m.yz * b.offsetY + m.zz * b.offsetZ + m.tz - offsetZ) * scaleA;
  relation.x = f32x4(<f32>map.xx, <f32>map.yx, <f32>map.zx, <f32>map.tx);
  relation.y = f32x4(<f32>map.xy, <f32>map.yy, <f32>map.zy, <f32>map.ty);
  relation.z = f32x4(<f32>map.xz, <f32>map.yz, <f32>map.zz, <f32>map.tz);
}

function push(top: usize, a: u32, maskA: u32, b: u32, maskB: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + WORK_BYTES);
  const work = changetype<Work>(stack + used);
  work.a = a;
  work.maskA = maskA;
  work.b = b;
  work.maskB = maskB;
  return stack + used + WORK_BYTES;
}

/** What `intersectMeshes` found: two u32 each, a triangle of a and one of b. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** Where the two of each are: u32 addresses, block + 4 · lane. */
let places: usize = 0;

function addPair(a: Block, laneA: i32, b: Block, laneB: i32): void {
  const used = <usize>pairCount << 3;
  pairs = reserve(pairs, used, <u64>used + 8);
  places = reserve(places, used, <u64>used + 8);
  pairCount++;
  store<u32>(pairs + used, triangleOf(a, laneA));
  store<u32>(pairs + used, triangleOf(b, laneB), 4);
  store<u32>(places + used, <u32>(changetype<usize>(a) + (<usize>laneA << 2)));
  store<u32>(places + used, <u32>(changetype<usize>(b) + (<usize>laneB << 2)), 4);
}

/** The triangles of a pair in a's tree space, with the numbers by which they were found to meet. */
export function readPair(pair: u32, p: Triangle, q: Triangle): void {
  const at = places + (<usize>pair << 3);
  copyTriangle(p, changetype<Block>(<usize>load<u32>(at)), 0);
  mapTriangle(q, changetype<Block>(<usize>load<u32>(at, 4)), 0);
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
  return intersect(a, b, m, true, noWitness());
}

/**
 * Whether a triangle of `a` meets one of `b`, as above. The blocks of the witness are tried first, if there are such;
 * when others show it, they become the witness.
 */
export function meshesMeet(a: Mesh, b: Mesh, m: Affine, witness: Witness): bool {
  return intersect(a, b, m, false, witness);
}

function intersect(a: Mesh, b: Mesh, m: Affine, all: bool, witness: Witness): bool {
  pairCount = 0;
  setMap(m, b, treeScale(a), a.offsetX, a.offsetY, a.offsetZ);
  setFilter(map);
  if (
    witness.a < a.blockCount && witness.b < b.blockCount &&
    blocksIntersect(blockAt(a, witness.a), blockAt(b, witness.b), false)
  ) return true;
  let top = push(stack, 0, 15, 0, 15);
  while (top != stack) {
    top -= WORK_BYTES;
    const work = changetype<Work>(top);
    const indexA = work.a, maskA = work.maskA, indexB = work.b, maskB = work.maskB;
    const nodeA = nodeAt(a, indexA), nodeB = nodeAt(b, indexB);
    countNode();
    let bits = overlapping(relation, nodeA, nodeB, maskA, maskB);
    while (bits != 0) {
      const bit = ctz(bits);
      bits &= bits - 1;
      const i = bit >> 2, j = bit & 3;
      const childA = childOf(nodeA, i), childB = childOf(nodeB, j);
      // A leaf stays where it is, as one child of its node, until the other side is a leaf too.
      if (childA & LEAF) {
        if (childB & LEAF) {
          if (!blocksIntersect(blockAt(a, childA), blockAt(b, childB), all)) continue;
          witness.a = childA & ~LEAF;
          witness.b = childB & ~LEAF;
          return true;
        } else top = push(top, indexA, 1 << i, childB, 15);
      } else if (childB & LEAF) top = push(top, childA, 15, indexB, 1 << j);
      else top = push(top, childA, 15, childB, 15);
    }
  }
  return pairCount > 0;
}

/** True at the first pair that meets, unless `all` are wanted. */
function blocksIntersect(a: Block, b: Block, all: bool): bool {
  countLeaf();
  setFour(b);
  const filled = filledLanes(b);
  let mapped: u32 = 0; // lanes of trianglesB that are there
  for (let lanes = filledLanes(a); lanes != 0; lanes &= lanes - 1) {
    const lane = ctz(lanes);
    let bits = mayMeet(a, lane) & filled;
    if (bits == 0) continue;
    copyTriangle(triangleA, a, lane);
    do {
      const other = ctz(bits);
      bits &= bits - 1;
      const q = changetype<Triangle>(trianglesB + <usize>other * 72);
      if (!(mapped & (1 << other))) mapTriangle(q, b, other);
      mapped |= 1 << other;
      countTriangle();
      if (!trianglesIntersect(triangleA, q)) continue;
      if (!all) return true;
      addPair(a, lane, b, other);
    } while (bits != 0);
  }
  return false;
}

function copyTriangle(out: Triangle, block: Block, lane: i32): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  for (let k: usize = 0; k < 9; k++) store<f64>(changetype<usize>(out) + (k << 3), <f64>load<f32>(at + (k << 4)));
}

function mapTriangle(out: Triangle, block: Block, lane: i32): void {
  const at = changetype<usize>(block) + (<usize>lane << 2);
  for (let k: usize = 0; k < 3; k++) {
    const from = at + k * 48;
    const to = changetype<usize>(out) + k * 24;
    const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
    store<f64>(to, map.xx * x + map.yx * y + map.zx * z + map.tx);
    store<f64>(to, map.xy * x + map.yy * y + map.zy * z + map.ty, 8);
    store<f64>(to, map.xz * x + map.yz * y + map.zz * z + map.tz, 16);
  }
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
  let top = push(stack, 0, 0, 0, 15);
  while (top != stack) {
    top -= WORK_BYTES;
    const node = nodeAt(b, changetype<Work>(top).b);
    let bits = overlapping(relation, cube, node, 1, 15);
    while (bits != 0) {
      const child = childOf(node, ctz(bits));
      bits &= bits - 1;
      if (!(child & LEAF)) {
        top = push(top, 0, 0, child, 15);
        continue;
      }
      const block = blockAt(b, child);
      for (let lane = 0; lane < 4; lane++) {
        if (triangleOf(block, lane) < 0) continue;
        mapTriangle(triangleA, block, lane);
        if (half < 0 ? triangleMeetsCube(triangleA) : triangleMeetsCapsule(triangleA, half)) return true;
      }
    }
  }
  return false;
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
      mapTriangle(triangleA, block, lane);
      if (!(half < 0 ? triangleInsideCube(triangleA) : triangleInsideCapsule(triangleA, half))) return false;
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
