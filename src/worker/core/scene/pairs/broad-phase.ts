// Broad phase: finds pairs of objects whose world bounds overlap. What lies near a leaf is gathered from both trees
// once, and the leaf's objects sweep over it, sixteen boxes a step; objects too large for leaves descend the trees
// alone, unless many lie together: these sweep over each other as a leaf's.
//
// Where many lie together, those that can collide with nothing are left out, and the others are put in runs by their
// classes (collision-classes.ts): an object sweeps over the runs that it may collide with. 16,000 objects of one group
// in one place took 2.5 s when every pair was looked at, and take less than 1 ms.
//
// It runs in slices, as the narrow phase does; all of its state is its own. When the scene goes on in its midst, it goes on
// in copies of the trees (frame-snapshot.ts). It ends at MOST_PAIRS.

import { laneCompaction, laneCompactionBytes } from '../../math/lane-compaction';
import { now } from '../../host';
import { reserve } from '../../memory';
import { PROXY_BYTES, Proxy } from '../../shape/proxy';
import { testBatch } from './narrow-phase-batch';
import { canCollide } from './narrow-phase';
import { NOWHERE, positionIn, treeIn, treePlaceOf } from '../frame-snapshot';
import { liveCount } from '../objects';
import { copiedProxy, treeOfFrame } from '../index/frame-trees';
import {
  BLOCK_BYTES, Cell, HOLE, MOVING_TREE, STATIC_TREE, Tree, blockAt, proxyAt, cellAt, childBlocksAt, isEmpty, laneAt, slotAt,
} from '../index/octree';
import { unpaired } from '../scene';
import { hasSlot, slotIn } from '../slot-set';
import { enqueue, queuedFresh } from './contact-queue';
import {
  MOST_CLASSES, NO_CLASS, beginClasses, classCount, classOf, collidesAtAll, collidesWithClass, copyClasses, isOverfull,
} from './collision-classes';
import { foundCount } from './found-pairs';
import { lookOrPostpone } from './pair-test';

/**
 * The most pairs that are found in a frame, whose objects overlap in masses then: 100,000 boxes in one place are five
 * thousand million pairs. With four points each, so many take half a gigabyte. Which pairs are found depends on the
 * trees, and so on the calls before: the same calls find the same pairs.
 */
const MOST_PAIRS: u32 = 1 << 20;
/** How many boxes, pairs and cells are looked at between two readings of the clock: some 0.2 to 1 ms. */
const WORK_PER_READING: u32 = 1 << 14;
/** What a pair whose boxes overlap counts for. */
const WORK_OF_PAIR: u32 = 16;

let stack: usize = 0;
let isQueueing: bool = false;
/** Whether there were more pairs than MOST_PAIRS. */
export let isTruncated: bool = false;
/** Whether all pairs are found anew, not those of touched objects alone. */
export let isAll: bool = false;
/** The work since the clock was read. */
let work: u32 = 0;
/** How many pairs whose boxes overlap were looked at one by one, since the beginning; for tests. */
export let considered: u32 = 0;
/** How many pairs of touched objects were found that may not collide. */
let refusals: u64 = 0;
/** More than so many are too many. */
let mostRefusals: u64 = 0;
/** How many refused pairs there may be for each object, until finding all pairs anew, with classes, is quicker. */
const REFUSALS_PER_OBJECT: u64 = 64;

// How far it has come: the next cell and position, or the next touched object; in the midst of a sweep or before it.
let cellIndex: u32 = 0;
let position: u32 = 0;
let touchedIndex: u32 = 0;
let isSweeping: bool = false;

/** Begins to find the pairs of all objects. With `queueing`, pairs are queued instead of looked at. */
export function beginAll(queueing: bool): void {
  isAll = true;
  begin(queueing);
  cellIndex = 0;
  position = NOT_BEGUN;
  reserveNear(treeOfFrame(MOVING_TREE).positions + treeOfFrame(STATIC_TREE).positions);
}

/** Begins to find the pairs of touched objects, as `beginAll` does those of all. */
export function beginTouched(queueing: bool): void {
  isAll = false;
  begin(queueing);
  touchedIndex = 0;
  mostRefusals = REFUSALS_PER_OBJECT * (<u64>liveCount + 1024);
}

function begin(queueing: bool): void {
  isQueueing = queueing;
  isTruncated = false;
  isSweeping = false;
  refusals = 0;
  work = 0;
}

export const UNFINISHED: u32 = 0;
export const FINISHED: u32 = 1;
/**
 * The answer of `considerOn` where so many pairs of touched objects may not collide that all pairs are to be found
 * anew, from the beginning.
 */
export const TOO_MANY_REFUSED: u32 = 2;

/**
 * Continues to find pairs until the slice ends. Answers UNFINISHED, FINISHED or TOO_MANY_REFUSED. Throws OUT_OF_MEMORY.
 */
export function considerOn(sliceEnd: f64): u32 {
  if (isAll) return findAll(sliceEnd) ? FINISHED : UNFINISHED;
  return findTouched(sliceEnd);
}

/** Takes the proxies of a sweep that is under way from the copies of the trees. */
export function copySweep(): void {
  if (!isSweeping) return;
  copyClasses();
  copyProxies(proxies, nearCount << 2);
  copyProxies(firsts, listed);
  copyProxies(seconds, listed);
}

function copyProxies(list: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 4) store<u32>(list + i, copiedProxy(load<u32>(list + i)));
}

function isFull(): bool {
  if (foundCount + queuedFresh() < MOST_PAIRS) return false;
  isTruncated = true;
  return true;
}

/** Tells whether the slice is over; reads the clock only after some work. */
function isLate(sliceEnd: f64): bool {
  if (work < WORK_PER_READING) return false;
  work = 0;
  return now() >= sliceEnd;
}

function consider(p: Proxy, q: Proxy): void {
  considered++;
  if (!canCollide(p, q)) {
    refusals++;
    return;
  }
  work += WORK_OF_PAIR;
  const other = (changetype<usize>(p) ^ changetype<usize>(q)) & -<usize>(p.id > q.id);
  const a = changetype<Proxy>(changetype<usize>(p) ^ other), b = changetype<Proxy>(changetype<usize>(q) ^ other);
  if (isQueueing) enqueue(a, b);
  else lookOrPostpone(a, b);
}

/** Finds the pairs of all objects until the slice ends. Answers whether all are found. Throws OUT_OF_MEMORY. */
function findAll(sliceEnd: f64): bool {
  const moving = treeOfFrame(MOVING_TREE);
  const still = treeOfFrame(STATIC_TREE);
  while (cellIndex < moving.cellCount) {
    const cell = cellAt(moving, cellIndex);
    if (isSweeping) {
      if (!sweepOn(sliceEnd)) return isTruncated;
      isSweeping = false;
      if (isSwept) nextCell(moving);
      else position = cell.start; // what is below comes next
      continue;
    }
    const isCrowd = cell.ownEnd - cell.start > CROWD;
    if (cell.firstChild == 0 || (isCrowd && position == NOT_BEGUN)) {
      nearCount = 0;
      setGrid(cell);
      gatherFrom(cell, moving, cell);
      const own = nearCount;
      gather(cell, moving, cell.ownEnd);
      gather(cell, still, 0);
      work += <u32>nearCount;
      beginSweep(own);
      isSwept = cell.firstChild == 0 || isQuick();
      if (!isSwept) leaveOwn();
      isSweeping = true;
      continue;
    }
    if (position == NOT_BEGUN) position = cell.start;
    for (; position < cell.ownEnd; position++) {
      if (slotAt(moving, position) == HOLE) continue;
      objectAgainstTree(moving, position, moving, isCrowd ? cell.ownEnd : position + 1, false);
      objectAgainstTree(moving, position, still, 0, false);
      if (isFull()) return true;
      if (!isLate(sliceEnd)) continue;
      position++;
      return false;
    }
    nextCell(moving);
  }
  return true;
}

/** Whether the cell's own objects sweep over all that is near, not over each other alone. */
let isSwept: bool = false;

/** The value of `position` while the cell's own objects have not met each other yet. */
const NOT_BEGUN: u32 = 0xffffffff;

function nextCell(moving: Tree): void {
  cellIndex++;
  position = NOT_BEGUN;
}

// What is near a leaf: boxes as six arrays of bytes, and the addresses of their candidates. Bounds are rounded to steps
// of the leaf's own, and what is outside of these to their ends. However rounded, what overlaps does so in steps as
// well, as no value passes another; what does in steps alone, one pair in twelve, is found to be apart later.
// Frames of 10,000 rotating boxes take 0.99 of the time that they take with four floats a step.
let near: usize = 0;
let nearStride: usize = 0;
let nearCount: usize = 0;
let proxies: usize = 0;

function reserveNear(count: u32): void {
  const bytes = ((<u64>count << 2) + 31) & ~15; // some more, as whole vectors are written and read
  nearStride = (<usize>count + 47) & ~15;
  near = reserve(near, 0, <u64>nearStride * 6);
  proxies = reserve(proxies, 0, bytes);
  firsts = reserve(firsts, 0, LISTED_BYTES + 16 * 4 + 16);
  seconds = reserve(seconds, 0, LISTED_BYTES + 16 * 4 + 16);
}

/** In floats from this number on, a step is the last bit: their last byte is the number of steps from the middle. */
const STEPS: f32 = 12582912; // 1.5 · 2^23
const MOST_STEPS: f32 = 127;
let stepsX: v128 = i32x4.splat(0), stepsY: v128 = i32x4.splat(0), stepsZ: v128 = i32x4.splat(0);

function setGrid(leaf: Cell): void {
  stepsX = stepsOver(leaf.ownHighX - leaf.ownLowX);
  stepsY = stepsOver(leaf.ownHighY - leaf.ownLowY);
  stepsZ = stepsOver(leaf.ownHighZ - leaf.ownLowZ);
}

/** Answers how many steps there are in a unit, for bounds of a length. */
function stepsOver(length: f32): v128 {
  return f32x4.splat(min<f32>(2 * MOST_STEPS / length, 1e30));
}

// @ts-ignore: decorator
@inline
function inSteps(v: v128, low: v128, steps: v128): v128 {
  const at = f32x4.add(f32x4.mul(f32x4.sub(v, low), steps), f32x4.splat(STEPS - MOST_STEPS));
  return f32x4.pmin(f32x4.pmax(at, f32x4.splat(STEPS - MOST_STEPS)), f32x4.splat(STEPS + MOST_STEPS));
}

/** Gathers the objects of a tree at positions from `first` on that overlap a leaf's bounds. */
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

/** Gathers what is near the leaf among one cell's own objects. */
function gatherFrom(leaf: Cell, tree: Tree, cell: Cell): void {
  const lowX = f32x4.splat(leaf.ownLowX), lowY = f32x4.splat(leaf.ownLowY), lowZ = f32x4.splat(leaf.ownLowZ);
  const highX = f32x4.splat(leaf.ownHighX), highY = f32x4.splat(leaf.ownHighY), highZ = f32x4.splat(leaf.ownHighZ);
  const stride = nearStride;
  let count = nearCount;
  let address = addresses(proxyAt(tree, cell.start));
  let block = blockAt(tree, cell.start);
  for (const last = blockAt(tree, cell.ownEnd); block < last; block += BLOCK_BYTES) {
    const bits = boxAgainstFour(block, lowX, lowY, lowZ, highX, highY, highZ);
    const bytes = laneCompactionBytes(bits);
    const to = near + count;
    addFour(to, inSteps(v128.load(block), lowX, stepsX), bytes);
    addFour(to + stride, inSteps(v128.load(block, 16), lowY, stepsY), bytes);
    addFour(to + 2 * stride, inSteps(v128.load(block, 32), lowZ, stepsZ), bytes);
    addFour(to + 3 * stride, inSteps(v128.load(block, 48), lowX, stepsX), bytes);
    addFour(to + 4 * stride, inSteps(v128.load(block, 64), lowY, stepsY), bytes);
    addFour(to + 5 * stride, inSteps(v128.load(block, 80), lowZ, stepsZ), bytes);
    v128.store(proxies + (count << 2), v128.swizzle(address, laneCompaction(bits)));
    count += popcnt(bits);
    address = i32x4.add(address, i32x4.splat(4 * <i32>PROXY_BYTES));
  }
  nearCount = count;
}

/** Writes a byte for each of the packed lanes: the last byte of the lane. */
// @ts-ignore: decorator
@inline
function addFour(to: usize, steps: v128, bytes: v128): void {
  v128.store32_lane(to, v128.swizzle(steps, bytes), 0);
}

/** Answers the addresses of four candidates in a row, as a vector. */
function addresses(first: Proxy): v128 {
  const step = <i32>PROXY_BYTES;
  return i32x4.add(i32x4.splat(<i32>changetype<usize>(first)), i32x4(0, step, 2 * step, 3 * step));
}

// What is near a leaf in runs: of one class each, or all of it in one.
const runEnds: usize = memory.data(<i32>(2 * MOST_CLASSES + 1) * 4, 16);
const runClasses: usize = memory.data(<i32>(2 * MOST_CLASSES + 1) * 4, 16);
let runCount: u32 = 0;
/** The class of a run whose pairs are looked at one by one. */
const ANY_CLASS: u32 = 0xffffffff;
/** Classes pay from so many boxes near a leaf on: in frames of 10,000 boxes 60 are near a leaf. */
const CROWD: u32 = 256;

// How far the sweep has come: the next of the leaf's objects, the next run, and the next box.
let sweepOwn: usize = 0;
let row: usize = 0;
let run: u32 = 0;
let column: usize = 0;
let listed: usize = 0;

/**
 * Begins to sweep the first `own` of the gathered objects, which are the leaf's, over all that were gathered after
 * each.
 */
function beginSweep(own: usize): void {
  row = 0;
  run = 0;
  column = 0;
  listed = 0;
  sweepOwn = own;
  runCount = 1;
  store<u32>(runEnds, <u32>nearCount);
  store<u32>(runClasses, ANY_CLASS);
  if (nearCount > CROWD) arrange();
}

let classes: usize = 0;
let spareNear: usize = 0;
let spareProxies: usize = 0;
const places: usize = memory.data(<i32>(2 * MOST_CLASSES) * 4, 16);

/**
 * Leaves out what collides with nothing, and puts the rest in runs, the leaf's own first, by counting. Throws
 * OUT_OF_MEMORY.
 */
function arrange(): void {
  classes = reserve(classes, 0, <u64>nearCount << 2);
  beginClasses();
  for (let i: usize = 0; i < nearCount; i++) {
    store<u32>(classes + (i << 2), classOf(changetype<Proxy>(<usize>load<u32>(proxies + (i << 2)))));
  }
  work += <u32>nearCount;
  // Where there are too many classes, all count as one.
  const kinds = isOverfull ? 1 : classCount;
  memory.fill(places, 0, <usize>(2 * kinds) << 2);
  for (let i: usize = 0; i < nearCount; i++) {
    const at = placeOf(i, kinds);
    if (at != 0) store<u32>(at, load<u32>(at) + 1);
  }
  let total: u32 = 0, own: u32 = 0;
  runCount = 0;
  for (let i: u32 = 0; i < 2 * kinds; i++) {
    if (i == kinds) own = total;
    const count = load<u32>(places + (<usize>i << 2));
    store<u32>(places + (<usize>i << 2), total);
    total += count;
    if (count == 0) continue;
    store<u32>(runEnds + (<usize>runCount << 2), total);
    store<u32>(runClasses + (<usize>runCount << 2), isOverfull ? ANY_CLASS : i % kinds);
    runCount++;
  }
  if (kinds == 0) {
    nearCount = sweepOwn = 0;
    return;
  }
  spareNear = reserve(spareNear, 0, <u64>nearStride * 6);
  spareProxies = reserve(spareProxies, 0, ((<u64>nearCount << 2) + 31) & ~15);
  for (let i: usize = 0; i < nearCount; i++) {
    const at = placeOf(i, kinds);
    if (at == 0) continue;
    const to = <usize>load<u32>(at);
    store<u32>(at, <u32>to + 1);
    store<u32>(spareProxies + (to << 2), load<u32>(proxies + (i << 2)));
    for (let bound: usize = 0; bound < 6; bound++) {
      store<u8>(spareNear + bound * nearStride + to, load<u8>(near + bound * nearStride + i));
    }
  }
  memory.copy(near, spareNear, nearStride * 6);
  memory.copy(proxies, spareProxies, <usize>total << 2);
  nearCount = total;
  sweepOwn = own;
}

/** How many boxes a sweep may look at for each object that is near: descending the trees takes about as long. */
const QUICK_SWEEP: u64 = 1024;

/**
 * Tells whether sweeping over what is not the cell's own takes no longer than a descent of the trees for each own
 * object.
 */
function isQuick(): bool {
  let boxes: u64 = 0;
  for (let i: u32 = 0; i < runCount; i++) {
    const begin = beginOf(i), end = endOf(i);
    if (end > sweepOwn) break;
    let columns: u64 = 0;
    const first = changetype<Proxy>(<usize>load<u32>(proxies + (begin << 2)));
    for (let k = i + 1; k < runCount; k++) {
      const kind = load<u32>(runClasses + (<usize>k << 2));
      if (beginOf(k) < sweepOwn || (kind != ANY_CLASS && !collidesWithClass(first, kind))) continue;
      columns += endOf(k) - beginOf(k);
    }
    boxes += columns * (end - begin);
  }
  return boxes <= QUICK_SWEEP * nearCount;
}

/** Leaves only the cell's own objects to be swept over. */
function leaveOwn(): void {
  nearCount = sweepOwn;
  while (runCount > 0 && beginOf(runCount - 1) >= sweepOwn) runCount--;
}

// @ts-ignore: decorator
@inline
function beginOf(run: u32): usize {
  return run == 0 ? 0 : endOf(run - 1);
}

// @ts-ignore: decorator
@inline
function endOf(run: u32): usize {
  return <usize>load<u32>(runEnds + (<usize>run << 2));
}

/** Answers the address of the next place in an entry's run, 0 where the entry is left out. */
// @ts-ignore: decorator
@inline
function placeOf(i: usize, kinds: u32): usize {
  const kind = load<u32>(classes + (i << 2));
  if (kind == NO_CLASS) return 0;
  return places + (<usize>((isOverfull ? 0 : kind) + (i < sweepOwn ? 0 : kinds)) << 2);
}

/** Continues the sweep until the slice ends. Answers whether it is done. Throws OUT_OF_MEMORY. */
function sweepOn(sliceEnd: f64): bool {
  const stride = nearStride;
  const lowX = near, lowY = lowX + stride, lowZ = lowY + stride;
  const highX = lowZ + stride, highY = highX + stride, highZ = highY + stride;
  for (; row < sweepOwn; row++) {
    const i = row;
    const x0 = v128.load8_splat(lowX + i), y0 = v128.load8_splat(lowY + i), z0 = v128.load8_splat(lowZ + i);
    const x1 = v128.load8_splat(highX + i), y1 = v128.load8_splat(highY + i), z1 = v128.load8_splat(highZ + i);
    const first = load<u32>(proxies + (i << 2));
    for (; run < runCount; run++) {
      const end = endOf(run);
      if (end <= i + 1) continue;
      const kind = load<u32>(runClasses + (<usize>run << 2));
      if (kind != ANY_CLASS && !collidesWithClass(changetype<Proxy>(<usize>first), kind)) {
        column = 0;
        work++;
        continue;
      }
      const begin = beginOf(run);
      let k = max<usize>(max<usize>(begin, i + 1), column);
      column = 0;
      for (; k < end; k += 16) {
        const x = v128.or(i8x16.gt_s(v128.load(lowX + k), x1), i8x16.gt_s(x0, v128.load(highX + k)));
        const y = v128.or(i8x16.gt_s(v128.load(lowY + k), y1), i8x16.gt_s(y0, v128.load(highY + k)));
        const z = v128.or(i8x16.gt_s(v128.load(lowZ + k), z1), i8x16.gt_s(z0, v128.load(highZ + k)));
        const apart = i8x16.bitmask(v128.or(v128.or(x, y), z));
        let bits = ~apart & 0xffff;
        if (k + 16 > end) bits &= (1 << <i32>(end - k)) - 1;
        for (; bits != 0; bits &= bits - 1) {
          store<u32>(firsts + listed, first);
          store<u32>(seconds + listed, load<u32>(proxies + ((k + ctz(bits)) << 2)));
          listed += 4;
        }
        if (listed < LISTED_BYTES) continue;
        considerListed();
        if (isFull()) return false;
        if (!isLate(sliceEnd)) continue;
        column = k + 16;
        return false;
      }
      work += <u32>((end - begin) >> 4);
    }
    run = 0;
    if (listed != 0 && row + 1 == sweepOwn) {
      considerListed();
      if (isFull()) return false;
    }
    if (!isLate(sliceEnd)) continue;
    row++;
    return false;
  }
  return true;
}

// Pairs whose boxes overlap, as the addresses of their candidates.
const LISTED_BYTES: usize = 4096;
let firsts: usize = 0;
let seconds: usize = 0;

let ahead: u32 = 0;

/**
 * Looks at the listed pairs, or queues them. Reads all that they need before the first is considered: the time goes
 * into waiting for the caches, and this way it waits for many reads at once. Throws OUT_OF_MEMORY.
 */
function considerListed(): void {
  work += <u32>(listed >> 2) * WORK_OF_PAIR;
  considered += <u32>(listed >> 2);
  let sum: u32 = 0;
  for (let i: usize = 0; i < listed; i += 4) {
    const second = <usize>load<u32>(seconds + i);
    sum += load<u32>(second) + load<u32>(second, 64) + load<u32>(second, 128);
  }
  ahead = sum;
  let count: usize = 0;
  for (let i: usize = 0; i < listed; i += 4) {
    const p = <usize>load<u32>(firsts + i), q = <usize>load<u32>(seconds + i);
    const other = (p ^ q) & -<usize>(changetype<Proxy>(p).id > changetype<Proxy>(q).id);
    store<u32>(firsts + count, <u32>(p ^ other));
    store<u32>(seconds + count, <u32>(q ^ other));
    count += <usize>canCollide(changetype<Proxy>(p), changetype<Proxy>(q)) << 2;
  }
  listed = 0;
  if (!isQueueing) {
    testBatch(firsts, seconds, count);
    return;
  }
  for (let i: usize = 0; i < count; i += 4) {
    enqueue(changetype<Proxy>(<usize>load<u32>(firsts + i)), changetype<Proxy>(<usize>load<u32>(seconds + i)));
  }
}

/**
 * Finds the pairs of all touched objects that are still there; of two touched ones the lower slot finds the pair.
 * Throws OUT_OF_MEMORY.
 */
function findTouched(sliceEnd: f64): u32 {
  while (touchedIndex < unpaired.count) {
    const place = treePlaceOf(slotIn(unpaired, touchedIndex++));
    if (place == NOWHERE) continue;
    const own = treeOfFrame(treeIn(place)), position = positionIn(place);
    objectAgainstTree(own, position, treeOfFrame(MOVING_TREE), 0, true);
    if (treeIn(place) == MOVING_TREE) objectAgainstTree(own, position, treeOfFrame(STATIC_TREE), 0, true);
    if (isFull()) return FINISHED;
    if (refusals > mostRefusals) return TOO_MANY_REFUSED;
    if (isLate(sliceEnd)) return UNFINISHED;
  }
  return FINISHED;
}

/**
 * Finds the pairs of the object at `place` with positions from `first` on. With `touched`, leaves out pairs that the
 * other object finds.
 */
function objectAgainstTree(from: Tree, place: u32, tree: Tree, first: u32, touched: bool): void {
  const proxy = proxyAt(from, place);
  if (isEmpty(tree) || !collidesAtAll(proxy)) return;
  const at = laneAt(from, place);
  const lowX = v128.load32_splat(at), lowY = v128.load32_splat(at, 16), lowZ = v128.load32_splat(at, 32);
  const highX = v128.load32_splat(at, 48), highY = v128.load32_splat(at, 64), highZ = v128.load32_splat(at, 80);
  const slot = slotAt(from, place);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= first) continue;
    work += 4 + ((cell.ownEnd - cell.start) >> 2);
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
        consider(proxy, proxyAt(tree, found));
      }
    }
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Finds which of the four boxes of a block overlap the box whose bounds are splatted; answers a bit each. */
// @ts-ignore: decorator
@inline
function boxAgainstFour(block: usize, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128): i32 {
  const x = v128.and(f32x4.le(v128.load(block), highX), f32x4.ge(v128.load(block, 48), lowX));
  const y = v128.and(f32x4.le(v128.load(block, 16), highY), f32x4.ge(v128.load(block, 64), lowY));
  const z = v128.and(f32x4.le(v128.load(block, 32), highZ), f32x4.ge(v128.load(block, 80), lowZ));
  return i32x4.bitmask(v128.and(v128.and(x, y), z));
}

/** Pushes the children of a cell that a box overlaps. Answers the new top of the stack. */
function pushChildren(
  stackTop: usize, tree: Tree, cell: Cell, lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128,
): usize {
  if (cell.firstChild == 0) return stackTop;
  const used = stackTop - stack;
  stack = reserve(stack, used, used + CHILDREN_BYTES);
  let top = stack + used;
  const blocks = childBlocksAt(tree, cell);
  let bits =
    boxAgainstFour(blocks, lowX, lowY, lowZ, highX, highY, highZ) |
    (boxAgainstFour(blocks + BLOCK_BYTES, lowX, lowY, lowZ, highX, highY, highZ) << 4);
  while (bits != 0) {
    store<u32>(top, cell.firstChild + ctz(bits));
    top += 4;
    bits &= bits - 1;
  }
  return top;
}

/** The bytes that all children of a cell take on the stack. */
const CHILDREN_BYTES: usize = 8 * 4;

function push(top: usize, cell: u32): usize {
  const used = top - stack;
  stack = reserve(stack, used, used + 4);
  store<u32>(stack + used, cell);
  return stack + used + 4;
}
