// Broad phase: pairs of objects whose world bounds overlap. What lies near a leaf is gathered from both trees once, and
// the leaf's objects sweep over it, sixteen boxes a step; objects too large for leaves descend the trees alone.

import { packing, packingBytes } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { CANDIDATE_BYTES, Candidate } from '../../shape/proxy';
import { look } from './found-pairs';
import { lookAtAll } from './narrow-phase-batch';
import { canCollide } from './narrow-phase';
import { boxAt, idAt } from '../objects';
import {
  BLOCK_BYTES, Cell, HOLE, MOVING_TREE, STATIC_TREE, Tree, blockAt, candidateAt, cellAt, childBlocksAt, isEmpty, laneAt,
  slotAt, treeOf,
} from '../index/octree';
import { unpaired } from '../scene';
import { hasSlot, slotIn } from '../slot-set';
import { enqueue } from './contact-queue';

let stack: usize = 0;
let isQueueing: bool = false;

/** Considers every pair of objects whose bounds overlap. With `queueing`, pairs are not looked at yet, but queued. */
export function considerAll(queueing: bool): void {
  isQueueing = queueing;
  findAll();
}

/** Of touched objects only. */
export function considerTouched(queueing: bool): void {
  isQueueing = queueing;
  findTouched();
}

function consider(p: Candidate, q: Candidate): void {
  if (!canCollide(p, q)) return;
  const other = (changetype<usize>(p) ^ changetype<usize>(q)) & -<usize>(p.id > q.id);
  const a = changetype<Candidate>(changetype<usize>(p) ^ other), b = changetype<Candidate>(changetype<usize>(q) ^ other);
  if (isQueueing) enqueue(a, b);
  else look(a, b);
}

function findAll(): void {
  const moving = treeOf(MOVING_TREE);
  const still = treeOf(STATIC_TREE);
  reserveNear(moving.positions + still.positions);
  for (let index: u32 = 0; index < moving.cellCount; index++) {
    const cell = cellAt(moving, index);
    if (cell.firstChild == 0) {
      nearCount = 0;
      setGrid(cell);
      gatherFrom(cell, moving, cell);
      const own = nearCount;
      gather(cell, moving, cell.ownEnd);
      gather(cell, still, 0);
      sweep(own);
      continue;
    }
    for (let position = cell.start; position < cell.ownEnd; position++) {
      if (slotAt(moving, position) == HOLE) continue;
      objectAgainstTree(moving, position, moving, position + 1, false);
      objectAgainstTree(moving, position, still, 0, false);
    }
  }
}

// What is near a leaf: boxes as six arrays of bytes, and the addresses of their candidates. Bounds are rounded to steps
// of the leaf's own, and what is outside of these to their ends. However rounded, what overlaps does so in steps as
// well, as no value passes another; what does in steps alone, one pair in twelve, is found to be apart later.
// Frames of 10,000 rotating boxes take 0.99 of the time that they take with four floats a step.
let near: usize = 0;
let nearStride: usize = 0;
let nearCount: usize = 0;
let candidates: usize = 0;

function reserveNear(count: u32): void {
  const bytes = ((<u64>count << 2) + 31) & ~15; // some more, as whole vectors are written and read
  nearStride = (<usize>count + 47) & ~15;
  near = reserve(near, 0, <u64>nearStride * 6);
  candidates = reserve(candidates, 0, bytes);
  firsts = reserve(firsts, 0, bytes + LISTED_BYTES);
  seconds = reserve(seconds, 0, bytes + LISTED_BYTES);
}

/** In floats from here on, a step is the last bit: their last byte is the number of steps from the middle. */
const STEPS: f32 = 12582912; // 1.5 · 2^23
const MOST_STEPS: f32 = 127;
let stepsX: v128 = i32x4.splat(0), stepsY: v128 = i32x4.splat(0), stepsZ: v128 = i32x4.splat(0);

function setGrid(leaf: Cell): void {
  stepsX = stepsOver(leaf.ownHighX - leaf.ownLowX);
  stepsY = stepsOver(leaf.ownHighY - leaf.ownLowY);
  stepsZ = stepsOver(leaf.ownHighZ - leaf.ownLowZ);
}

/** How many there are in a unit. */
function stepsOver(length: f32): v128 {
  return f32x4.splat(min<f32>(2 * MOST_STEPS / length, 1e30));
}

// @ts-ignore: decorator
@inline
function inSteps(v: v128, low: v128, steps: v128): v128 {
  const at = f32x4.add(f32x4.mul(f32x4.sub(v, low), steps), f32x4.splat(STEPS - MOST_STEPS));
  return f32x4.pmin(f32x4.pmax(at, f32x4.splat(STEPS - MOST_STEPS)), f32x4.splat(STEPS + MOST_STEPS));
}

/** Adds what overlaps a leaf's bounds at positions from `first` on. */
function gather(leaf: Cell, tree: Tree, first: u32): void {
  if (isEmpty(tree) || leaf.start == leaf.ownEnd) return;
  const lowX = f32x4.splat(leaf.ownLowX), lowY = f32x4.splat(leaf.ownLowY), lowZ = f32x4.splat(leaf.ownLowZ);
  const highX = f32x4.splat(leaf.ownHighX), highY = f32x4.splat(leaf.ownHighY), highZ = f32x4.splat(leaf.ownHighZ);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= first) continue;
    if (
      cell.ownEnd > first &&
      cell.ownLowX <= leaf.ownHighX && cell.ownHighX >= leaf.ownLowX &&
      cell.ownLowY <= leaf.ownHighY && cell.ownHighY >= leaf.ownLowY &&
      cell.ownLowZ <= leaf.ownHighZ && cell.ownHighZ >= leaf.ownLowZ
    ) gatherFrom(leaf, tree, cell);
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Of one cell's own objects. */
function gatherFrom(leaf: Cell, tree: Tree, cell: Cell): void {
  const lowX = f32x4.splat(leaf.ownLowX), lowY = f32x4.splat(leaf.ownLowY), lowZ = f32x4.splat(leaf.ownLowZ);
  const highX = f32x4.splat(leaf.ownHighX), highY = f32x4.splat(leaf.ownHighY), highZ = f32x4.splat(leaf.ownHighZ);
  const stride = nearStride;
  let count = nearCount;
  let address = addresses(candidateAt(tree, cell.start));
  let block = blockAt(tree, cell.start);
  for (const last = blockAt(tree, cell.ownEnd); block < last; block += BLOCK_BYTES) {
    const bits = boxAgainstFour(block, lowX, lowY, lowZ, highX, highY, highZ);
    const bytes = packingBytes(bits);
    const to = near + count;
    addFour(to, inSteps(v128.load(block), lowX, stepsX), bytes);
    addFour(to + stride, inSteps(v128.load(block, 16), lowY, stepsY), bytes);
    addFour(to + 2 * stride, inSteps(v128.load(block, 32), lowZ, stepsZ), bytes);
    addFour(to + 3 * stride, inSteps(v128.load(block, 48), lowX, stepsX), bytes);
    addFour(to + 4 * stride, inSteps(v128.load(block, 64), lowY, stepsY), bytes);
    addFour(to + 5 * stride, inSteps(v128.load(block, 80), lowZ, stepsZ), bytes);
    v128.store(candidates + (count << 2), v128.swizzle(address, packing(bits)));
    count += popcnt(bits);
    address = i32x4.add(address, i32x4.splat(4 * <i32>CANDIDATE_BYTES));
  }
  nearCount = count;
}

/** The last bytes of the lanes that are packed. */
// @ts-ignore: decorator
@inline
function addFour(to: usize, steps: v128, bytes: v128): void {
  v128.store32_lane(to, v128.swizzle(steps, bytes), 0);
}

/** The addresses of four candidates in a row. */
function addresses(first: Candidate): v128 {
  const step = <i32>CANDIDATE_BYTES;
  return i32x4.add(i32x4.splat(<i32>changetype<usize>(first)), i32x4(0, step, 2 * step, 3 * step));
}

/** The first `own` of what was gathered, the leaf's objects, against all that was gathered after each. */
function sweep(own: usize): void {
  const stride = nearStride;
  const lowX = near, lowY = lowX + stride, lowZ = lowY + stride;
  const highX = lowZ + stride, highY = highX + stride, highZ = highY + stride;
  const count = nearCount;
  // Behind the last ends lie below all that begin.
  v128.store(highX + count, i8x16.splat(-128));
  let listed: usize = 0;
  for (let i: usize = 0; i < own; i++) {
    const x0 = v128.load8_splat(lowX + i), y0 = v128.load8_splat(lowY + i), z0 = v128.load8_splat(lowZ + i);
    const x1 = v128.load8_splat(highX + i), y1 = v128.load8_splat(highY + i), z1 = v128.load8_splat(highZ + i);
    const first = load<u32>(candidates + (i << 2));
    for (let k = i + 1; k < count; k += 16) {
      const x = v128.or(i8x16.gt_s(v128.load(lowX + k), x1), i8x16.gt_s(x0, v128.load(highX + k)));
      const y = v128.or(i8x16.gt_s(v128.load(lowY + k), y1), i8x16.gt_s(y0, v128.load(highY + k)));
      const z = v128.or(i8x16.gt_s(v128.load(lowZ + k), z1), i8x16.gt_s(z0, v128.load(highZ + k)));
      const apart = i8x16.bitmask(v128.or(v128.or(x, y), z));
      for (let bits = ~apart & 0xffff; bits != 0; bits &= bits - 1) {
        store<u32>(firsts + listed, first);
        store<u32>(seconds + listed, load<u32>(candidates + ((k + ctz(bits)) << 2)));
        listed += 4;
      }
    }
    if (listed < LISTED_BYTES && i + 1 < own) continue;
    considerListed(listed);
    listed = 0;
  }
}

// Pairs whose boxes overlap, as the addresses of their candidates.
const LISTED_BYTES: usize = 4096;
let firsts: usize = 0;
let seconds: usize = 0;

let ahead: u32 = 0;

/**
 * All that the pairs need is read before the first is considered, as the caches are what this waits for, and so for
 * many at once.
 */
function considerListed(listed: usize): void {
  let sum: u32 = 0;
  for (let i: usize = 0; i < listed; i += 4) {
    const second = <usize>load<u32>(seconds + i);
    sum += load<u32>(second) + load<u32>(second, 64) + load<u32>(second, 128);
  }
  ahead = sum;
  let count: usize = 0;
  for (let i: usize = 0; i < listed; i += 4) {
    const p = <usize>load<u32>(firsts + i), q = <usize>load<u32>(seconds + i);
    const other = (p ^ q) & -<usize>(changetype<Candidate>(p).id > changetype<Candidate>(q).id);
    store<u32>(firsts + count, <u32>(p ^ other));
    store<u32>(seconds + count, <u32>(q ^ other));
    count += <usize>canCollide(changetype<Candidate>(p), changetype<Candidate>(q)) << 2;
  }
  if (!isQueueing) {
    lookAtAll(firsts, seconds, count);
    return;
  }
  for (let i: usize = 0; i < count; i += 4) {
    enqueue(changetype<Candidate>(<usize>load<u32>(firsts + i)), changetype<Candidate>(<usize>load<u32>(seconds + i)));
  }
}

/** Pairs of all touched objects that are still there; of two touched ones the lower slot finds the pair. */
function findTouched(): void {
  for (let i: u32 = 0; i < unpaired.count; i++) {
    const slot = slotIn(unpaired, i);
    if (idAt(slot) == 0) continue;
    const box = boxAt(slot);
    const own = treeOf(box.tree);
    objectAgainstTree(own, box.position, treeOf(MOVING_TREE), 0, true);
    if (box.tree == MOVING_TREE) objectAgainstTree(own, box.position, treeOf(STATIC_TREE), 0, true);
  }
}

/** The object at `place` against positions from `first` on. With `touched`, pairs that the other one finds are left. */
function objectAgainstTree(from: Tree, place: u32, tree: Tree, first: u32, touched: bool): void {
  if (isEmpty(tree)) return;
  const at = laneAt(from, place);
  const lowX = v128.load32_splat(at), lowY = v128.load32_splat(at, 16), lowZ = v128.load32_splat(at, 32);
  const highX = v128.load32_splat(at, 48), highY = v128.load32_splat(at, 64), highZ = v128.load32_splat(at, 80);
  const slot = slotAt(from, place);
  const candidate = candidateAt(from, place);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= first) continue;
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      let bits = boxAgainstFour(blockAt(tree, position), lowX, lowY, lowZ, highX, highY, highZ);
      while (bits != 0) {
        const found = position + ctz(bits);
        bits &= bits - 1;
        if (found < first) continue;
        if (touched) {
          const other = slotAt(tree, found);
          if (other == slot || (other < slot && hasSlot(unpaired, other))) continue;
        }
        consider(candidate, candidateAt(tree, found));
      }
    }
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Which of the four boxes of a block overlap the one whose bounds are splatted, as bits. */
// @ts-ignore: decorator
@inline
function boxAgainstFour(block: usize, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128): i32 {
  const x = v128.and(f32x4.le(v128.load(block), highX), f32x4.ge(v128.load(block, 48), lowX));
  const y = v128.and(f32x4.le(v128.load(block, 16), highY), f32x4.ge(v128.load(block, 64), lowY));
  const z = v128.and(f32x4.le(v128.load(block, 32), highZ), f32x4.ge(v128.load(block, 80), lowZ));
  return i32x4.bitmask(v128.and(v128.and(x, y), z));
}

/** Pushes the children of a cell that a box overlaps. */
function pushChildren(
  stackTop: usize, tree: Tree, cell: Cell, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128,
): usize {
  let top = stackTop;
  if (cell.firstChild == 0) return top;
  const blocks = childBlocksAt(tree, cell);
  let bits =
    boxAgainstFour(blocks, lowX, lowY, lowZ, highX, highY, highZ) |
    (boxAgainstFour(blocks + BLOCK_BYTES, lowX, lowY, lowZ, highX, highY, highZ) << 4);
  while (bits != 0) {
    top = push(top, cell.firstChild + ctz(bits));
    bits &= bits - 1;
  }
  return top;
}

function push(top: usize, cell: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 4);
  store<u32>(stack + used, cell);
  return stack + used + 4;
}
