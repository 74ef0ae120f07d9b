// Two trees at once: boxes four by four, then triangle against four, down to the pairs of triangles that may meet.
//
// Every descent begins at the roots. Where the last one of the same pair ended, its front (Ehmann and Lin, "Accurate
// and Fast Proximity Queries Between Polyhedra Using Convex Surface Decomposition", 2001), is no better place here:
// sixteen pairs of boxes are compared at once, and of a node pair that is not in the front itself, those of the sixteen
// that are apart are. Of 27,181 node pairs in a frame of 64 dragons in a loose heap 9,688 are above the front, and 27
// of them have no boxes that are apart: so many comparisons a front would save.

import { Affine } from '../../math/affine';
import { Triangle } from '../../math/triangles';
import { checkpoint } from '../../checkpoint';
import { reserve } from '../../memory';
import { setBlockMap } from './mapped-block';
import { mapTriangle } from './mapped-triangle';
import { mayMeet, setFour } from './triangle-prefilter';
import { Block, LEAF, Mesh, Node, blockAt, childOf, filledLanes, nodeAt, treeScale } from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { Relation, obbOverlap4x4, setRelation } from './obb-sat-4x4';
import { WORD_BYTES } from '../../sizes';

/** The map from tree B to tree A (or to another space) in float64. */
export const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
export const relation = changetype<Relation>(memory.data(<i32>offsetof<Relation>(), 16));
const triangleA = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const trianglesB: usize = memory.data(4 * <i32>offsetof<Triangle>(), 16);

/** Sets map = (scaleA · (· - offsetA)) ∘ m ∘ (offsetB + · / scaleB): from tree B through mesh spaces to tree A. */
export function setMap(m: Affine, b: Mesh, scaleA: f64, offsetX: f64, offsetY: f64, offsetZ: f64): void {
  const scale = scaleA / treeScale(b);
  map.xx = m.xx * scale; map.xy = m.xy * scale; map.xz = m.xz * scale;
  map.yx = m.yx * scale; map.yy = m.yy * scale; map.yz = m.yz * scale;
  map.zx = m.zx * scale; map.zy = m.zy * scale; map.zz = m.zz * scale;
  map.tx = (m.xx * b.offsetX + m.yx * b.offsetY + m.zx * b.offsetZ + m.tx - offsetX) * scaleA;
  map.ty = (m.xy * b.offsetX + m.yy * b.offsetY + m.zy * b.offsetZ + m.ty - offsetY) * scaleA;
  map.tz = (m.xz * b.offsetX + m.yz * b.offsetY + m.zz * b.offsetZ + m.tz - offsetZ) * scaleA;
  setRelation(relation, map);
}

/** Takes two trees; `m` maps b's mesh space to a's. */
export function setTrees(a: Mesh, b: Mesh, m: Affine): void {
  setMap(m, b, treeScale(a), a.offsetX, a.offsetY, a.offsetZ);
  setBlockMap(map);
  blockOfFour = 0;
}

/**
 * Is called for two triangles that may meet, both in tree A, and their slots, which are four times the block's index
 * and the lane. Answers true to end the descent.
 */
export type Visit = (slotA: u32, slotB: u32, p: Triangle, q: Triangle) => bool;

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

/** How many pairs of nodes are compared between two checkpoints, and what each counts for with its triangles. */
const PAIRS_AT_ONCE: i32 = 32;
const WORK_OF_PAIR: i32 = 16;

/** Whether `visit` has ended the descent. */
let isEnough: bool = false;

/**
 * Visits all pairs of triangles of both trees that may meet, after `setTrees`, until `visit` ends the descent. Answers
 * whether it did. Throws OUT_OF_MEMORY.
 */
export function descend(a: Mesh, b: Mesh, visit: Visit): bool {
  isEnough = false;
  let used = push(stack, 0, 15, 0, 15) - stack;
  while (used != 0 && !isEnough) {
    used = descendSome(a, b, visit, used);
    checkpoint(PAIRS_AT_ONCE * WORK_OF_PAIR);
  }
  return isEnough;
}

/** Compares some of the pairs that wait, of which there are so many bytes. Answers how many bytes wait then. */
function descendSome(a: Mesh, b: Mesh, visit: Visit, used: usize): usize {
  let top = stack + used;
  for (let n = 0; n < PAIRS_AT_ONCE && top != stack; n++) {
    top -= WORK_BYTES;
    const work = changetype<Work>(top);
    const indexA = work.a, maskA = work.maskA, indexB = work.b, maskB = work.maskB;
    const nodeA = nodeAt(a, indexA), nodeB = nodeAt(b, indexB);
    countNode();
    // The pairs of an inner child of a and a leaf of b, as in the mask above.
    let innerAndLeaf: u32 = 0;
    // All that meet one child of b after one another, as a block's four triangles are then mapped once.
    const overlaps = obbOverlap4x4(relation, nodeA, nodeB, maskA, maskB);
    touchChildren(a, nodeA, b, nodeB, overlaps);
    for (let bits = overlaps; bits != 0; ) {
      const j = ctz(bits) & 3;
      let column = (bits >> j) & 0x1111;
      bits &= ~(column << j);
      const childB = childOf(nodeB, j);
      // A leaf stays where it is, as one child of its node, until the other side is a leaf too.
      let leavesOfA: u32 = 0;
      for (; column != 0; column &= column - 1) {
        const i = ctz(column) >> 2;
        const childA = childOf(nodeA, i);
        if (childA & LEAF) {
          if (!(childB & LEAF)) leavesOfA |= 1 << i;
          else if (visitBlocks(a, childA & ~LEAF, b, childB & ~LEAF, visit)) {
            isEnough = true;
            return 0;
          }
        } else if (childB & LEAF) innerAndLeaf |= 1 << ((i << 2) + j);
        else top = push(top, childA, 15, childB, 15);
      }
      if (leavesOfA != 0) top = push(top, indexA, leavesOfA, childB, 15);
    }
    for (let i: u32 = 0; innerAndLeaf != 0; i++, innerAndLeaf >>= 4) {
      if (innerAndLeaf & 15) top = push(top, childOf(nodeA, i), 15, indexB, innerAndLeaf & 15);
    }
  }
  return top - stack;
}

/** Takes what is read ahead, so that it is read at all. */
const touched: usize = memory.data(WORD_BYTES, 4);

/**
 * Reads ahead from all children that are looked at next: they are seldom in the cache when a worker wakes up for a single
 * question, and so they come from memory at once and not one after the other. All pairs of triangles of two dragons take
 * 124 instead of 134 ms for 200 poses (the best of three runs by `contact`, one call after the other).
 */
function touchChildren(a: Mesh, nodeA: Node, b: Mesh, nodeB: Node, overlaps: u32): void {
  let sum: u32 = 0;
  let rows = overlaps | (overlaps >> 1);
  for (rows = (rows | (rows >> 2)) & 0x1111; rows != 0; rows &= rows - 1) {
    sum |= touch(a, childOf(nodeA, ctz(rows) >> 2));
  }
  let columns = overlaps | (overlaps >> 8);
  for (columns = (columns | (columns >> 4)) & 15; columns != 0; columns &= columns - 1) {
    sum |= touch(b, childOf(nodeB, ctz(columns)));
  }
  store<u32>(touched, sum);
}

/** Reads from each cache line of a child. */
// @ts-ignore: decorator
@inline
function touch(mesh: Mesh, child: u32): u32 {
  if (!(child & LEAF)) return load<u32>(changetype<usize>(nodeAt(mesh, child)));
  const block = changetype<usize>(blockAt(mesh, child & ~LEAF));
  return load<u32>(block) | load<u32>(block, 64) | load<u32>(block, 128);
}

/** The block of b whose four triangles were taken last, and which of them are mapped. */
let blockOfFour: usize = 0;
let mapped: u32 = 0;

/** Visits the pairs of triangles of two blocks, until `visit` ends the descent. Answers whether it did. */
export function visitBlocks(a: Mesh, indexA: u32, b: Mesh, indexB: u32, visit: Visit): bool {
  countLeaf();
  const blockA = blockAt(a, indexA), blockB = blockAt(b, indexB);
  if (changetype<usize>(blockB) != blockOfFour) {
    blockOfFour = changetype<usize>(blockB);
    mapped = 0;
    setFour(blockB);
  }
  const filled = filledLanes(blockB);
  for (let lanes = filledLanes(blockA); lanes != 0; lanes &= lanes - 1) {
    const lane = ctz(lanes);
    let bits = mayMeet(blockA, lane) & filled;
    if (bits == 0) continue;
    copyTriangle(triangleA, changetype<usize>(blockA) + (<usize>lane << 2));
    for (; bits != 0; bits &= bits - 1) {
      const other = ctz(bits);
      const q = changetype<Triangle>(trianglesB + <usize>other * 72);
      if (!(mapped & (1 << other))) mapTriangle(changetype<usize>(q), changetype<usize>(blockB) + (<usize>other << 2), map);
      mapped |= 1 << other;
      countTriangle();
      if (visit((indexA << 2) + lane, (indexB << 2) + other, triangleA, q)) return true;
    }
  }
  return false;
}

/** Copies the triangle at a place in its block: the block's address and four times the lane. */
export function copyTriangle(out: Triangle, at: usize): void {
  for (let k: usize = 0; k < 9; k++) store<f64>(changetype<usize>(out) + (k << 3), <f64>load<f32>(at + (k << 4)));
}
