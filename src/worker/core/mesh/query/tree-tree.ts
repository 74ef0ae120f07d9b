// Traverses two trees at once: boxes four by four, then a triangle against four, down to the pairs of triangles that may
// intersect.
//
// Every traversal begins at the roots. Starting at the front of the last one of the same pair (Ehmann and Lin, "Accurate
// and Fast Proximity Queries Between Polyhedra Using Convex Surface Decomposition", 2001) is no better here: sixteen
// pairs of boxes are compared at once, and even if a node pair is not in the front itself, those of its sixteen that are
// separated are. Of 27,181 node pairs in a frame of 64 dragons in a loose heap 9,688 are above the front, and only 27 of
// these have no separated boxes: a front would save no more comparisons than that.

import { Affine } from '../../math/affine';
import { Triangle } from '../../math/triangles';
import { checkpoint } from '../../checkpoint';
import { reserve } from '../../memory';
import { setBlockMap } from './mapped-block';
import { mapTriangle } from './mapped-triangle';
import { overlappingBounds, mayIntersect, setMappedBlock } from './triangle-prefilter';
import { Block, Mesh, blockAt, filledLanes, firstBlock, firstNode, innerCount, nodeAt, treeScale } from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { COLUMN, Relation, obbOverlap4x4, setRelation, spreadToRows } from './obb-sat-4x4';

/** The map from tree B to tree A (or to another space) in float64. */
export const mapBToA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
export const relation = changetype<Relation>(memory.data(<i32>offsetof<Relation>(), 16));
const triangleA = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const trianglesB: usize = memory.data(4 * <i32>offsetof<Triangle>(), 16);

/** Sets map = (scaleA · (· - offsetA)) ∘ m ∘ (offsetB + · / scaleB): from tree B through mesh spaces to tree A. */
export function setMap(m: Affine, b: Mesh, scaleA: f64, offsetX: f64, offsetY: f64, offsetZ: f64): void {
  const scale = scaleA / treeScale(b);
  mapBToA.xx = m.xx * scale; mapBToA.xy = m.xy * scale; mapBToA.xz = m.xz * scale;
  mapBToA.yx = m.yx * scale; mapBToA.yy = m.yy * scale; mapBToA.yz = m.yz * scale;
  mapBToA.zx = m.zx * scale; mapBToA.zy = m.zy * scale; mapBToA.zz = m.zz * scale;
  mapBToA.tx = (m.xx * b.offsetX + m.yx * b.offsetY + m.zx * b.offsetZ + m.tx - offsetX) * scaleA;
  mapBToA.ty = (m.xy * b.offsetX + m.yy * b.offsetY + m.zy * b.offsetZ + m.ty - offsetY) * scaleA;
  mapBToA.tz = (m.xz * b.offsetX + m.yz * b.offsetY + m.zz * b.offsetZ + m.tz - offsetZ) * scaleA;
  setRelation(relation, mapBToA);
}

/** Sets the two trees; `m` maps b's mesh space to a's. */
export function setTrees(a: Mesh, b: Mesh, m: Affine): void {
  setMap(m, b, treeScale(a), a.offsetX, a.offsetY, a.offsetZ);
  setBlockMap(mapBToA);
  lastBlockB = 0;
}

/**
 * Callback for two triangles that may intersect, both in tree A's space, with their slots, which are four times the
 * block's index plus the lane. Returns true to end the traversal.
 */
export type Visit = (slotA: u32, slotB: u32, p: Triangle, q: Triangle) => bool;

/** A pending pair of nodes with masks of the children to be compared. */
@unmanaged
class NodePair {
  a: u32;
  maskA: u32;
  b: u32;
  maskB: u32;
}

const NODE_PAIR_BYTES: usize = 16;
let stack: usize = 0;

/** Pushes a pair onto the stack, which must have room for it. Returns the new top. */
// @ts-ignore: decorator
@inline
function push(top: usize, a: u32, maskA: u32, b: u32, maskB: u32): usize {
  const pair = changetype<NodePair>(top);
  pair.a = a;
  pair.maskA = maskA;
  pair.b = b;
  pair.maskB = maskB;
  return top + NODE_PAIR_BYTES;
}

/** How many pairs of nodes are compared between two checkpoints, and the work units of each including its triangles. */
const PAIRS_AT_ONCE: i32 = 32;
const WORK_OF_PAIR: i32 = 16;

/**
 * A sum that is never used: nodes are read when they are pushed, so that they are in the caches when they are popped.
 * 200 manifolds of two dragons take 0.99 of the time; doing the same for blocks gains nothing.
 */
let prefetchSum: u32 = 0;

/** Whether `visit` has ended the traversal. */
let isStopped: bool = false;

/**
 * Visits all pairs of triangles of both trees that may intersect, after `setTrees`, until `visit` ends the traversal.
 * Returns whether it did. Throws OUT_OF_MEMORY.
 */
export function descend(a: Mesh, b: Mesh, visit: Visit): bool {
  isStopped = false;
  stack = reserve(stack, 0, NODE_PAIR_BYTES);
  let used = push(stack, 0, 15, 0, 15) - stack;
  while (used != 0 && !isStopped) {
    used = descendStep(a, b, visit, used);
    checkpoint(PAIRS_AT_ONCE * WORK_OF_PAIR);
  }
  return isStopped;
}

/** The most entries that a pair of nodes pushes: each child of one with each child of the other. */
const MAX_PUSHED: usize = 16;

/** Compares some of the pending pairs, which take `used` bytes. Returns how many bytes are pending then. */
function descendStep(a: Mesh, b: Mesh, visit: Visit, used: usize): usize {
  stack = reserve(stack, used, <u64>used + <usize>PAIRS_AT_ONCE * MAX_PUSHED * NODE_PAIR_BYTES);
  let top = stack + used;
  for (let n = 0; n < PAIRS_AT_ONCE && top != stack; n++) {
    top -= NODE_PAIR_BYTES;
    const pair = changetype<NodePair>(top);
    const indexA = pair.a, maskA = pair.maskA, indexB = pair.b, maskB = pair.maskB;
    const nodeA = nodeAt(a, indexA), nodeB = nodeAt(b, indexB);
    countNode();
    const innerA = innerCount(nodeA), innerB = innerCount(nodeB);
    // The bounds of the triangles in two blocks are compared next, along other axes. So edges are omitted for pairs of
    // leaves: two dragons have 1,173 pairs of blocks instead of 1,090, which takes less time than the edges would.
    const overlaps = obbOverlap4x4(relation, nodeA, nodeB, maskA, maskB, (innerA | innerB) != 0);
    const innerOfA: u32 = (1 << (innerA << 2)) - 1, innerOfB: u32 = ((1 << innerB) - 1) * COLUMN;
    const nodesA = firstNode(nodeA), nodesB = firstNode(nodeB);
    // A leaf of a remains a child of its node until the other side is a leaf too: all leaves of a that overlap a node of
    // b share one entry, at the position of the first leaf. So a single loop pushes everything, without unpredictable
    // branches. The order is that of the children, whichever boxes are separated.
    const leavesOfA = (overlaps & innerOfB) >> (innerA << 2);
    const sharedLeaves = (leavesOfA | (leavesOfA >> 4) | (leavesOfA >> 8) | (leavesOfA >> 12)) & 15;
    let pushed = transposed((overlaps & innerOfA & innerOfB) | (sharedLeaves << (innerA << 2)));
    const columns = transposed(overlaps & ~innerOfA);
    for (; pushed != 0; pushed &= pushed - 1) {
      const position = ctz(pushed), i = position & 3, j = position >> 2, isNode = i < innerA;
      const childA = isNode ? nodesA + i : indexA, childB = nodesB + j;
      prefetchSum += load<u32>(changetype<usize>(nodeAt(b, childB))) + load<u32>(changetype<usize>(nodeAt(a, childA)));
      top = push(top, childA, isNode ? 15 : (columns >> (j << 2)) & 15, childB, 15);
    }
    for (let bits = overlaps & innerOfA & ~innerOfB; bits != 0; ) {
      const i = ctz(bits) >> 2, leaves = (bits >> (i << 2)) & 15;
      bits ^= leaves << (i << 2);
      top = push(top, nodesA + i, 15, indexB, leaves);
    }
    const blocksA = firstBlock(nodeA) - innerA, blocksB = firstBlock(nodeB) - innerB;
    // All blocks that overlap one block of b are visited in a row, so that its four triangles are only mapped once.
    for (let blocks = columns & ~((1 << (innerB << 2)) - 1); blocks != 0; blocks &= blocks - 1) {
      const position = ctz(blocks);
      if (visitBlocks(a, blocksA + (position & 3), b, blocksB + (position >> 2), visit)) {
        isStopped = true;
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

/** The latest block of b, and which of its four triangles are mapped. */
let lastBlockB: usize = 0;
let mappedLanes: u32 = 0;

/** Visits the pairs of triangles of two blocks, until `visit` ends the traversal. Returns whether it did. */
export function visitBlocks(a: Mesh, indexA: u32, b: Mesh, indexB: u32, visit: Visit): bool {
  countLeaf();
  const blockA = blockAt(a, indexA), blockB = blockAt(b, indexB);
  if (changetype<usize>(blockB) != lastBlockB) {
    lastBlockB = changetype<usize>(blockB);
    mappedLanes = 0;
    setMappedBlock(blockB);
  }
  const overlaps = overlappingBounds(blockA) & (spreadToRows(filledLanes(blockA)) * 15) & (filledLanes(blockB) * COLUMN);
  // First all lanes, then one loop over the pairs that passed: the end of a loop per lane would be unpredictable. All
  // pairs of two dragons take 0.98 of the time.
  let pairs: u32 = 0;
  for (let remaining = overlaps; remaining != 0; ) {
    const row = ctz(remaining) & 12;
    pairs |= mayIntersect(blockA, row >> 2) << row;
    remaining &= ~(15 << row);
  }
  let last: u32 = 4;
  for (pairs &= overlaps; pairs != 0; pairs &= pairs - 1) {
    const lane = ctz(pairs) >> 2, other = ctz(pairs) & 3;
    if (lane != last) copyTriangle(triangleA, changetype<usize>(blockA) + (<usize>lane << 2));
    last = lane;
    const q = changetype<Triangle>(trianglesB + <usize>other * 72);
    if (!(mappedLanes & (1 << other)))
      mapTriangle(changetype<usize>(q), changetype<usize>(blockB) + (<usize>other << 2), mapBToA);
    mappedLanes |= 1 << other;
    countTriangle();
    if (visit((indexA << 2) + lane, (indexB << 2) + other, triangleA, q)) return true;
  }
  return false;
}

/** Copies a triangle, given by the block's address plus four times the lane. */
export function copyTriangle(out: Triangle, at: usize): void {
  for (let k: usize = 0; k < 9; k++) store<f64>(changetype<usize>(out) + (k << 3), <f64>load<f32>(at + (k << 4)));
}
