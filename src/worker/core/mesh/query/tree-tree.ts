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
import { COLUMN, Relation, obbOverlap4x4, setRelation, spread } from './obb-sat-4x4';

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
    const innerA = innerCount(nodeA), innerB = innerCount(nodeB);
    // The bounds of the triangles in two blocks are compared next, along other axes. So edges are left out: two dragons have 1,173
    // pairs of blocks instead of 1,090, which takes less time than edges do.
    const overlaps = obbOverlap4x4(relation, nodeA, nodeB, maskA, maskB, (innerA | innerB) != 0);
    const innerOfA: u32 = (1 << (innerA << 2)) - 1, innerOfB: u32 = ((1 << innerB) - 1) * COLUMN;
    const nodesA = firstNode(nodeA), nodesB = firstNode(nodeB);
    // A leaf stays where it is, as one child of its node, until the other side is a leaf too: all leaves of a that meet a node of
    // b are one entry, at the place of the first leaf. So one loop pushes without a branch, as no processor can guess these.
    // The order is that of the children, whichever boxes are apart.
    const leavesOfA = (overlaps & innerOfB) >> (innerA << 2);
    const met = (leavesOfA | (leavesOfA >> 4) | (leavesOfA >> 8) | (leavesOfA >> 12)) & 15;
    let pushed = transposed((overlaps & innerOfA & innerOfB) | (met << (innerA << 2)));
    const columns = transposed(overlaps & ~innerOfA);
    for (; pushed != 0; pushed &= pushed - 1) {
      const place = ctz(pushed), i = place & 3, j = place >> 2, isNode = i < innerA;
      const own = isNode ? nodesA + i : indexA, other = nodesB + j;
      ahead += load<u32>(changetype<usize>(nodeAt(b, other))) + load<u32>(changetype<usize>(nodeAt(a, own)));
      top = push(top, own, isNode ? 15 : (columns >> (j << 2)) & 15, other, 15);
    }
    for (let bits = overlaps & innerOfA & ~innerOfB; bits != 0; ) {
      const i = ctz(bits) >> 2, leaves = (bits >> (i << 2)) & 15;
      bits ^= leaves << (i << 2);
      top = push(top, nodesA + i, 15, indexB, leaves);
    }
    const blocksA = firstBlock(nodeA) - innerA, blocksB = firstBlock(nodeB) - innerB;
    // All that meet one block of b after one another, as its four triangles are then mapped once.
    for (let blocks = columns & ~((1 << (innerB << 2)) - 1); blocks != 0; blocks &= blocks - 1) {
      const place = ctz(blocks);
      if (visitBlocks(a, blocksA + (place & 3), b, blocksB + (place >> 2), visit)) {
        isEnough = true;
        return 0;
      }
    }
  }
  return top - stack;
}

/** Transposes four rows of four bits: bit 4 i + j becomes bit 4 j + i. */
// @ts-ignore: decorator
@inline
function transposed(bits: u32): u32 {
  const near = (bits ^ (bits >> 3)) & 0x0a0a;
  const once = bits ^ near ^ (near << 3);
  const far = (once ^ (once >> 6)) & 0x00cc;
  return once ^ far ^ (far << 6);
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
  const overlaps = boundsMeet(blockA) & (spread(filledLanes(blockA)) * 15) & (filledLanes(blockB) * COLUMN);
  // All lanes first, and then one loop over what passed: a loop of each lane ends where no processor can guess it. All pairs of
  // two dragons take 0.98 of the time.
  let pairs: u32 = 0;
  for (let left = overlaps; left != 0; ) {
    const row = ctz(left) & 12;
    pairs |= mayMeet(blockA, row >> 2) << row;
    left &= ~(15 << row);
  }
  let last: u32 = 4;
  for (pairs &= overlaps; pairs != 0; pairs &= pairs - 1) {
    const lane = ctz(pairs) >> 2, other = ctz(pairs) & 3;
    if (lane != last) copyTriangle(triangleA, changetype<usize>(blockA) + (<usize>lane << 2));
    last = lane;
    const q = changetype<Triangle>(trianglesB + <usize>other * 72);
    if (!(mapped & (1 << other))) mapTriangle(changetype<usize>(q), changetype<usize>(blockB) + (<usize>other << 2), map);
    mapped |= 1 << other;
    countTriangle();
    if (visit((indexA << 2) + lane, (indexB << 2) + other, triangleA, q)) return true;
  }
  return false;
}

/** Copies the triangle at a place in its block: the block's address and four times the lane. */
export function copyTriangle(out: Triangle, at: usize): void {
  for (let k: usize = 0; k < 9; k++) store<f64>(changetype<usize>(out) + (k << 3), <f64>load<f32>(at + (k << 4)));
}
