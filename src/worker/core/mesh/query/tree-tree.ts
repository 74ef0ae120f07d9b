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
import { boundsMeet, mayMeet, setFour } from './triangle-prefilter';
import { Block, Mesh, blockAt, filledLanes, firstBlock, firstNode, innerCount, nodeAt, treeScale } from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { Relation, obbOverlap4x4, setRelation } from './obb-sat-4x4';

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

/** Puts children that wait on the stack, which must have room for them. Answers where it ends then. */
// @ts-ignore: decorator
@inline
function push(top: usize, a: u32, maskA: u32, b: u32, maskB: u32): usize {
  const work = changetype<Work>(top);
  work.a = a;
  work.maskA = maskA;
  work.b = b;
  work.maskB = maskB;
  return top + WORK_BYTES;
}

/** How many pairs of nodes are compared between two checkpoints, and what each counts for with its triangles. */
const PAIRS_AT_ONCE: i32 = 32;
const WORK_OF_PAIR: i32 = 16;

/**
 * A sum that nobody reads: nodes that are to wait are read, so that they are in the caches when their turn comes. 200 manifolds of
 * two dragons take 0.99 of the time; the same of blocks gains nothing.
 */
let ahead: u32 = 0;

/** Whether `visit` has ended the descent. */
let isEnough: bool = false;

/**
 * Visits all pairs of triangles of both trees that may meet, after `setTrees`, until `visit` ends the descent. Answers
 * whether it did. Throws OUT_OF_MEMORY.
 */
export function descend(a: Mesh, b: Mesh, visit: Visit): bool {
  isEnough = false;
  stack = reserve(stack, 0, WORK_BYTES);
  let used = push(stack, 0, 15, 0, 15) - stack;
  while (used != 0 && !isEnough) {
    used = descendSome(a, b, visit, used);
    checkpoint(PAIRS_AT_ONCE * WORK_OF_PAIR);
  }
  return isEnough;
}

/** What a pair of nodes leaves waiting at most: each child of the one with each of the other. */
const MOST_PUSHED: usize = 16;

/**
 * Compares some of the pairs that wait, of which there are so many bytes. Answers how many bytes wait then.
 */
function descendSome(a: Mesh, b: Mesh, visit: Visit, used: usize): usize {
  stack = reserve(stack, used, <u64>used + <usize>PAIRS_AT_ONCE * MOST_PUSHED * WORK_BYTES);
  let top = stack + used;
  for (let n = 0; n < PAIRS_AT_ONCE && top != stack; n++) {
    top -= WORK_BYTES;
    const work = changetype<Work>(top);
    const indexA = work.a, maskA = work.maskA, indexB = work.b, maskB = work.maskB;
    const nodeA = nodeAt(a, indexA), nodeB = nodeAt(b, indexB);
    countNode();
    const overlaps = obbOverlap4x4(relation, nodeA, nodeB, maskA, maskB);
    const innerA = innerCount(nodeA), innerB = innerCount(nodeB);
    const innerOfA: u32 = (1 << (innerA << 2)) - 1, innerOfB: u32 = ((1 << innerB) - 1) * COLUMN;
    const nodesA = firstNode(nodeA), nodesB = firstNode(nodeB);
    // A leaf stays where it is, as one child of its node, until the other side is a leaf too.
    for (let bits = overlaps & innerOfB; bits != 0; ) {
      const j = ctz(bits) & 3, column = (bits >> j) & COLUMN, leaves = column & ~innerOfA;
      ahead += load<u32>(changetype<usize>(nodeAt(b, nodesB + j)));
      bits ^= column << j;
      for (let nodes = column & innerOfA; nodes != 0; nodes &= nodes - 1) {
        const i = nodesA + (ctz(nodes) >> 2);
        ahead += load<u32>(changetype<usize>(nodeAt(a, i)));
        top = push(top, i, 15, nodesB + j, 15);
      }
      if (leaves != 0) top = push(top, indexA, closed(leaves), nodesB + j, 15);
    }
    for (let bits = overlaps & innerOfA & ~innerOfB; bits != 0; ) {
      const i = ctz(bits) >> 2, leaves = (bits >> (i << 2)) & 15;
      bits ^= leaves << (i << 2);
      top = push(top, nodesA + i, 15, indexB, leaves);
    }
    const blocksA = firstBlock(nodeA) - innerA, blocksB = firstBlock(nodeB) - innerB;
    for (let bits = overlaps & ~(innerOfA | innerOfB); bits != 0; ) {
      // All that meet one block of b after one another, as its four triangles are then mapped once.
      const j = ctz(bits) & 3, column = (bits >> j) & COLUMN;
      bits ^= column << j;
      for (let blocks = column; blocks != 0; blocks &= blocks - 1) {
        if (visitBlocks(a, blocksA + (ctz(blocks) >> 2), b, blocksB + j, visit)) {
          isEnough = true;
          return 0;
        }
      }
    }
  }
  return top - stack;
}

/** The bits of the first child of b with each of a: 0, 4, 8 and 12. */
const COLUMN: u32 = 0x1111;

/** Moves these bits together. */
// @ts-ignore: decorator
@inline
function closed(column: u32): u32 {
  return (column | (column >> 3) | (column >> 6) | (column >> 9)) & 15;
}

/** Moves the first four bits apart. */
// @ts-ignore: decorator
@inline
function spread(bits: u32): u32 {
  return (bits | (bits << 3) | (bits << 6) | (bits << 9)) & COLUMN;
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
  let overlaps = boundsMeet(blockA) & (spread(filledLanes(blockA)) * 15) & (filledLanes(blockB) * COLUMN);
  while (overlaps != 0) {
    const lane = ctz(overlaps) >> 2;
    let bits = mayMeet(blockA, lane) & (overlaps >> (lane << 2));
    overlaps &= ~(15 << (lane << 2));
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
