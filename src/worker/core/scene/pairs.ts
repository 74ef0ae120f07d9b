// Which objects touch. Broad phase: cells' own objects against both trees, four boxes a step. When few objects
// changed, only their pairs are found anew and merged with the rest.

import { reserve } from '../memory';
import { NO_CONTACT, canCollide, collide } from './narrow';
import { Candidate } from './candidate';
import { boxAt, idAt, liveCount, slotOf } from './objects';
import {
  Cell, MOVING_TREE, STATIC_TREE, Tree, candidateAt, cellAt, childBoxesAt, isEmpty, slotAt, treeOf,
} from './octree';
import { unpaired } from './scene';
import { clearSlots, hasSlot, slotIn } from './slot-set';

@unmanaged
export class Pair {
  b: u32; // first, so that the two read as one u64 sort by a, then b
  a: u32;
  contained: u32;
  begun: u32;
}

export const PAIR_BYTES: usize = 16;

/** This frame's pairs, sorted. */
export let pairs: usize = 0;
export let pairCount: u32 = 0;
/** Pairs of the frame before that are no more, sorted. */
export let ended: usize = 0;
export let endedCount: u32 = 0;

let next: usize = 0; // the pairs that are made, while `pairs` are those of the frame before
let nextCount: u32 = 0;
let nextIsMade: bool = false;
let found: usize = 0;
let foundCount: u32 = 0;
let sorted: usize = 0;
let stack: usize = 0;

// @ts-ignore: decorator
@inline
export function pairIn(list: usize, i: u32): Pair {
  return changetype<Pair>(list + i * <u32>PAIR_BYTES);
}

// @ts-ignore: decorator
@inline
function keyIn(list: usize, i: u32): u64 {
  return load<u64>(list + i * <u32>PAIR_BYTES);
}

/** Finds this frame's pairs; until `takePairs`, those of the frame before are there as well. */
export function findPairs(): void {
  endedCount = 0;
  nextIsMade = false;
  if (unpaired.count == 0) {
    for (let i: u32 = 0; i < pairCount; i++) pairIn(pairs, i).begun = 0;
    return;
  }
  foundCount = 0;
  if (unpaired.count * 4 > liveCount) {
    findAll();
    sortFound();
    mergeWith(0);
  } else {
    findTouched();
    sortFound();
    mergeWith(pairCount);
  }
  compare();
  nextIsMade = true;
}

/** How many pairs there will be. */
export function countPairs(): u32 {
  return nextIsMade ? nextCount : pairCount;
}

/** What was found becomes `pairs`. Apart from finding it, as running out of memory in between must lose nothing. */
export function takePairs(): void {
  if (!nextIsMade) return;
  const last = pairs;
  pairs = next;
  pairCount = nextCount;
  next = last;
  clearSlots(unpaired);
}

// --- broad phase ---

function findAll(): void {
  const moving = treeOf(MOVING_TREE);
  const still = treeOf(STATIC_TREE);
  for (let index: u32 = 0; index < moving.cellCount; index++) {
    const cell = cellAt(moving, index);
    if (cell.start == cell.ownEnd) continue;
    rangeAgainstTree(moving, cell, moving, true);
    rangeAgainstTree(moving, cell, still, false);
  }
}

/** A cell's own objects against a tree; against their own tree each pair once, by position. */
function rangeAgainstTree(from: Tree, group: Cell, tree: Tree, own: bool): void {
  if (isEmpty(tree)) return;
  const stride = from.stride;
  const lowX = f32x4.splat(group.ownLowX), lowY = f32x4.splat(group.ownLowY), lowZ = f32x4.splat(group.ownLowZ);
  const highX = f32x4.splat(group.ownHighX), highY = f32x4.splat(group.ownHighY), highZ = f32x4.splat(group.ownHighZ);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (own && cell.end <= group.start) continue;
    if (
      cell.start < cell.ownEnd && (!own || cell.ownEnd > group.start) &&
      cell.ownLowX <= group.ownHighX && cell.ownHighX >= group.ownLowX &&
      cell.ownLowY <= group.ownHighY && cell.ownHighY >= group.ownLowY &&
      cell.ownLowZ <= group.ownHighZ && cell.ownHighZ >= group.ownLowZ
    ) {
      for (let position = group.start; position < group.ownEnd; position++) {
        const at = from.bounds + (<usize>position << 2);
        // A hole's box is empty and passes none of these.
        if (
          !(cell.ownLowX <= load<f32>(at + 3 * stride) && cell.ownHighX >= load<f32>(at) &&
            cell.ownLowY <= load<f32>(at + 4 * stride) && cell.ownHighY >= load<f32>(at + stride) &&
            cell.ownLowZ <= load<f32>(at + 5 * stride) && cell.ownHighZ >= load<f32>(at + 2 * stride))
        ) continue;
        const first = own ? max(cell.start, position + 1) : cell.start;
        objectAgainstRange(from, position, tree, first, cell.ownEnd, false);
      }
    }
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Pairs of all touched objects that are still there; of two touched ones the lower slot finds the pair. */
function findTouched(): void {
  for (let i: u32 = 0; i < unpaired.count; i++) {
    const slot = slotIn(unpaired, i);
    if (idAt(slot) == 0) continue;
    const box = boxAt(slot);
    const own = treeOf(box.tree);
    objectAgainstTree(own, box.position, treeOf(MOVING_TREE));
    if (box.tree == MOVING_TREE) objectAgainstTree(own, box.position, treeOf(STATIC_TREE));
  }
}

function objectAgainstTree(from: Tree, place: u32, tree: Tree): void {
  if (isEmpty(tree)) return;
  const at = from.bounds + (<usize>place << 2);
  const stride = from.stride;
  const lowX = v128.load32_splat(at), lowY = v128.load32_splat(at + stride), lowZ = v128.load32_splat(at + 2 * stride);
  const highX = v128.load32_splat(at + 3 * stride), highY = v128.load32_splat(at + 4 * stride);
  const highZ = v128.load32_splat(at + 5 * stride);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    objectAgainstRange(from, place, tree, cell.start, cell.ownEnd, true);
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** The object at `place` against positions [start, end). With `touched`, pairs that the other one finds are left. */
function objectAgainstRange(from: Tree, place: u32, tree: Tree, start: u32, end: u32, touched: bool): void {
  const own = from.bounds + (<usize>place << 2);
  const stride = from.stride;
  const lowX = v128.load32_splat(own), lowY = v128.load32_splat(own + stride), lowZ = v128.load32_splat(own + 2 * stride);
  const highX = v128.load32_splat(own + 3 * stride), highY = v128.load32_splat(own + 4 * stride);
  const highZ = v128.load32_splat(own + 5 * stride);
  for (let position = start; position < end; position += 4) {
    let bits = boxAgainstFour(
      tree.bounds + (<usize>position << 2), tree.stride, lowX, lowY, lowZ, highX, highY, highZ,
    );
    while (bits != 0) {
      const lane = ctz(bits);
      bits &= bits - 1;
      if (position + lane >= end) break;
      if (touched) {
        const slot = slotAt(from, place);
        const other = slotAt(tree, position + lane);
        if (other == slot || (other < slot && hasSlot(unpaired, other))) continue;
      }
      consider(candidateAt(from, place), candidateAt(tree, position + lane));
    }
  }
}

// @ts-ignore: decorator
@inline
function boxAgainstFour(at: usize, step: usize, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128): i32 {
  const x = v128.and(f32x4.le(v128.load(at), highX), f32x4.ge(v128.load(at + 3 * step), lowX));
  const y = v128.and(f32x4.le(v128.load(at + step), highY), f32x4.ge(v128.load(at + 4 * step), lowY));
  const z = v128.and(f32x4.le(v128.load(at + 2 * step), highZ), f32x4.ge(v128.load(at + 5 * step), lowZ));
  return i32x4.bitmask(v128.and(v128.and(x, y), z));
}

/** Pushes the children of a cell that a box overlaps. */
function pushChildren(
  stackTop: usize, tree: Tree, cell: Cell, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128,
): usize {
  let top = stackTop;
  const boxes = childBoxesAt(tree, cell);
  for (let part: u32 = 0; part < cell.childCount; part += 4) {
    let bits = boxAgainstFour(boxes + (<usize>part << 2), 32, lowX, lowY, lowZ, highX, highY, highZ);
    while (bits != 0) {
      const lane = ctz(bits);
      bits &= bits - 1;
      if (part + lane < cell.childCount) top = push(top, cell.firstChild + part + lane);
    }
  }
  return top;
}

function push(top: usize, cell: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 4);
  store<u32>(stack + used, cell);
  return stack + used + 4;
}

function consider(p: Candidate, q: Candidate): void {
  if (!canCollide(p, q)) return;
  const a = p.id < q.id ? p : q;
  const b = p.id < q.id ? q : p;
  const contained = collide(a, b);
  if (contained == NO_CONTACT) return;
  found = reserve(found, foundCount * <u32>PAIR_BYTES, <u64>(foundCount + 1) * PAIR_BYTES);
  const pair = pairIn(found, foundCount++);
  pair.a = a.id;
  pair.b = b.id;
  pair.contained = contained;
  pair.begun = 0;
}

// --- order and events ---

const counts: usize = memory.data(2048 * 4, 16);

/** By a, then b: radix sort over the slots' 21 bits of each, 11 and 10 at a time; ids sort as their slots do. */
function sortFound(): void {
  if (foundCount < 2) return;
  sorted = reserve(sorted, 0, <u64>foundCount * PAIR_BYTES);
  radixPass(found, sorted, 11, 11);
  radixPass(sorted, found, 22, 10);
  radixPass(found, sorted, 43, 11);
  radixPass(sorted, found, 54, 10);
}

function radixPass(from: usize, to: usize, shift: u64, bits: u32): void {
  const mask = (1 << bits) - 1;
  memory.fill(counts, 0, 2048 * 4);
  for (let i: u32 = 0; i < foundCount; i++) {
    const at = counts + (<usize>(<u32>(keyIn(from, i) >> shift) & mask) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let sum: u32 = 0;
  for (let digit: u32 = 0; digit <= <u32>mask; digit++) {
    const at = counts + (<usize>digit << 2);
    const n = load<u32>(at);
    store<u32>(at, sum);
    sum += n;
  }
  for (let i: u32 = 0; i < foundCount; i++) {
    const source = from + i * <u32>PAIR_BYTES;
    const at = counts + (<usize>(<u32>(load<u64>(source) >> shift) & mask) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    v128.store(to + place * <u32>PAIR_BYTES, v128.load(source));
  }
}

/** Whether a pair of the frame before needs no new look. */
function isKept(pair: Pair): bool {
  const a = slotOf(pair.a), b = slotOf(pair.b);
  return idAt(a) == pair.a && idAt(b) == pair.b && !hasSlot(unpaired, a) && !hasSlot(unpaired, b);
}

/** next = found and what is kept of the first `count` pairs, in order. */
function mergeWith(count: u32): void {
  next = reserve(next, 0, max<u64>(<u64>(foundCount + count) * PAIR_BYTES, 64));
  nextCount = 0;
  let i: u32 = 0;
  let j: u32 = 0;
  while (true) {
    while (j < count && !isKept(pairIn(pairs, j))) j++;
    if (i >= foundCount && j >= count) break;
    const takeFound = j >= count || (i < foundCount && keyIn(found, i) < keyIn(pairs, j));
    const source = takeFound ? found + i++ * <u32>PAIR_BYTES : pairs + j++ * <u32>PAIR_BYTES;
    v128.store(next + nextCount++ * <u32>PAIR_BYTES, v128.load(source));
  }
}

/** Which of `next` have begun, and which of `pairs` have ended. */
function compare(): void {
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < nextCount || j < pairCount) {
    const now: u64 = i < nextCount ? keyIn(next, i) : u64.MAX_VALUE;
    const then: u64 = j < pairCount ? keyIn(pairs, j) : u64.MAX_VALUE;
    if (now <= then) {
      pairIn(next, i).begun = now == then ? 0 : 1;
      i++;
      if (now == then) j++;
    } else {
      ended = reserve(ended, endedCount * <u32>PAIR_BYTES, <u64>(endedCount + 1) * PAIR_BYTES);
      v128.store(ended + endedCount++ * <u32>PAIR_BYTES, v128.load(pairs + j * <u32>PAIR_BYTES));
      j++;
    }
  }
}
