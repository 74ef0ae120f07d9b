// Broad phase: finds pairs of objects whose world bounds overlap. Objects near a leaf are gathered from both trees once, and
// the leaf's objects are swept over them, sixteen boxes per step. Objects too large for leaves descend the trees one by one,
// unless many lie together: these are swept over each other like those of a leaf.
//
// Where many objects lie together, those that can collide with nothing are left out, and the others are put in runs by class
// (collision-classes.ts): an object is swept only over the runs that it may collide with. 16,000 objects of one group in one
// place took 2.5 s when every pair was tested, and take less than 1 ms.
//
// It runs in slices, as the narrow phase does; all of its state is its own. When the scene changes in the middle of it, it
// continues in copies of the trees (frame-snapshot.ts). It stops at MOST_PAIRS.

import { now } from '../../host';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { testBatch } from './narrow-phase-batch';
import { canCollide } from './narrow-phase';
import { NOWHERE, positionIn, treeIn, treePlaceOf } from '../frame-snapshot';
import { liveCount } from '../objects';
import { copiedProxy, treeOfFrame } from '../index/frame-trees';
import { Cell, HOLE, MOVING_TREE, STATIC_TREE, Tree, blockAt, proxyAt, cellAt, isEmpty, laneAt, slotAt } from '../index/octree';
import { unpaired } from '../scene';
import { hasSlot, slotIn } from '../slot-set';
import { boxAgainstFour, push, pushChildren, stack } from './box-descent';
import { enqueue, queuedFresh } from './contact-queue';
import { collidesAtAll, collidesWithClass, copyClasses } from './collision-classes';
import { foundCount } from './found-pairs';
import { gather, gatherFrom, keepNear, near, nearCount, nearStride, proxies, reserveNear, setGrid } from './near-boxes';
import { ANY_CLASS, CROWD, beginOf, beginRuns, endOf, isQuick, leaveOwn, runClasses, runCount, sweepOwn } from './near-runs';
import { lookOrPostpone } from './pair-test';
import { fillGrid, gridCount, gridProxies, hasRest, sweepGrid } from './uniform-grid';

/**
 * The most pairs that are found in a frame, for objects that overlap in masses: 100,000 boxes in one place are five thousand
 * million pairs. With four points each, this many pairs take half a gigabyte. Which pairs are found depends on the trees, and
 * thus on earlier calls: the same calls find the same pairs.
 */
const MOST_PAIRS: u32 = 1 << 20;
/** How many boxes, pairs and cells are processed between two readings of the clock: about 0.2 to 1 ms. */
const WORK_PER_READING: u32 = 1 << 14;
/** The work that a pair with overlapping boxes counts for. */
const WORK_OF_PAIR: u32 = 16;
/** The work that a part of the grid counts for. */
const WORK_OF_CELLS: u32 = 1 << 12;

let isQueueing: bool = false;
/** Whether there were more pairs than MOST_PAIRS. */
export let isTruncated: bool = false;
/** Whether all pairs are found again, and not only those of touched objects. */
export let isAll: bool = false;
/** The work since the last reading of the clock. */
let work: u32 = 0;
/** How many pairs with overlapping boxes were considered one by one, in total; for tests. */
export let considered: u32 = 0;
/** How many pairs of touched objects were found that may not collide. */
let refusals: u64 = 0;
/** The limit of `refusals` beyond which all pairs are found again. */
let mostRefusals: u64 = 0;
/** How many refused pairs per object are tolerated until it is quicker to find all pairs again, by classes. */
const REFUSALS_PER_OBJECT: u64 = 64;

// Progress: the next cell and position, or the next touched object; and whether a sweep is in progress.
let cellIndex: u32 = 0;
let position: u32 = 0;
let touchedIndex: u32 = 0;
let isSweeping: bool = false;
/** Whether a grid finds the pairs of moving objects, so that the trees only find those with static ones. */
let isInGrid: bool = false;

/** Begins to find the pairs of all objects. With `queueing`, pairs are queued instead of being examined. */
export function beginAll(queueing: bool): void {
  isAll = true;
  begin(queueing);
  cellIndex = 0;
  position = NOT_BEGUN;
  const moving = treeOfFrame(MOVING_TREE);
  reserveNear(moving.positions + treeOfFrame(STATIC_TREE).positions);
  isInGrid = fillGrid(moving);
  const bytes = LISTED_BYTES + max<usize>(isInGrid ? <usize>gridCount << 2 : 0, 16 * 4) + 16;
  firsts = reserve(firsts, 0, bytes);
  seconds = reserve(seconds, 0, bytes);
}

/** Begins to find the pairs of touched objects, as `beginAll` does for all objects. */
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
 * Returned by `considerOn` if so many pairs of touched objects may not collide that all pairs are to be found again from the
 * start.
 */
export const TOO_MANY_REFUSED: u32 = 2;

/**
 * Continues to find pairs until the slice ends. Returns UNFINISHED, FINISHED or TOO_MANY_REFUSED. Throws OUT_OF_MEMORY.
 */
export function considerOn(sliceEnd: f64): u32 {
  if (isAll) return findAll(sliceEnd) ? FINISHED : UNFINISHED;
  return findTouched(sliceEnd);
}

/** Redirects the proxies of a sweep in progress to the copies of the trees. */
export function copySweep(): void {
  if (isInGrid) copyProxies(gridProxies, <usize>gridCount << 2);
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

/** Returns whether the slice is over; reads the clock only after some work. */
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

/** Finds the pairs of all objects until the slice ends. Returns whether all are found. Throws OUT_OF_MEMORY. */
function findAll(sliceEnd: f64): bool {
  const moving = treeOfFrame(MOVING_TREE);
  const still = treeOfFrame(STATIC_TREE);
  while (isInGrid && hasRest()) {
    listed = sweepGrid(firsts, seconds, LISTED_BYTES);
    work += WORK_OF_CELLS;
    considerListed();
    if (isFull()) return true;
    if (isLate(sliceEnd)) return false;
  }
  if (isInGrid && isEmpty(still)) return true;
  while (cellIndex < moving.cellCount) {
    const cell = cellAt(moving, cellIndex);
    if (isSweeping) {
      if (!sweepOn(sliceEnd)) return isTruncated;
      isSweeping = false;
      if (isSwept) nextCell(moving);
      else position = cell.start; // the sweep is over; next come the pairs with objects below the cell
      continue;
    }
    const isCrowd = cell.ownEnd - cell.start > CROWD;
    if (cell.firstChild == 0 || (isCrowd && position == NOT_BEGUN)) {
      gatherNear(moving, still, cell);
      continue;
    }
    if (position == NOT_BEGUN) position = cell.start;
    for (; position < cell.ownEnd; position++) {
      if (slotAt(moving, position) == HOLE) continue;
      if (!isInGrid) objectAgainstTree(moving, position, moving, isCrowd ? cell.ownEnd : position + 1, false);
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

/**
 * Gathers the objects near a cell of moving objects, and begins to sweep the cell's own objects over them. Throws
 * OUT_OF_MEMORY.
 */
function gatherNear(moving: Tree, still: Tree, cell: Cell): void {
  keepNear(0);
  setGrid(cell);
  gatherFrom(cell, moving, cell);
  const own = nearCount;
  if (!isInGrid) gather(cell, moving, cell.ownEnd);
  gather(cell, still, 0);
  work += <u32>nearCount;
  beginSweep(own);
  isSwept = cell.firstChild == 0 || isQuick();
  if (!isSwept) leaveOwn();
  isSweeping = true;
}

/** Whether the cell's own objects are swept over all near objects, and not only over each other. */
let isSwept: bool = false;

/** The value of `position` while the cell's own objects have not been tested against each other. */
const NOT_BEGUN: u32 = 0xffffffff;

function nextCell(moving: Tree): void {
  cellIndex++;
  position = NOT_BEGUN;
}

// Progress of the sweep: the next of the leaf's objects, the next run and the next box.
let row: usize = 0;
let run: u32 = 0;
let column: usize = 0;
let listed: usize = 0;

/**
 * Begins to sweep the first `own` gathered objects, which are the leaf's, each over all objects that were gathered after it.
 */
function beginSweep(own: usize): void {
  row = 0;
  run = 0;
  column = 0;
  listed = 0;
  if (nearCount > CROWD) work += <u32>nearCount;
  beginRuns(own);
}

/** Continues the sweep until the slice ends. Returns whether it is done. Throws OUT_OF_MEMORY. */
function sweepOn(sliceEnd: f64): bool {
  const stride = nearStride;
  const lowX = near, lowY = lowX + stride, lowZ = lowY + stride;
  const highX = lowZ + stride, highY = highX + stride, highZ = highY + stride;
  for (; row < sweepOwn; row++) {
    const i = row;
    const x0 = v128.load8_splat(lowX + i), y0 = v128.load8_splat(lowY + i), z0 = v128.load8_splat(lowZ + i);
    const x1 = v128.load8_splat(highX + i), y1 = v128.load8_splat(highY + i), z1 = v128.load8_splat(highZ + i);
    const first = load<u32>(proxies + (i << 2));
    const least = isInGrid ? sweepOwn : i + 1;
    for (; run < runCount; run++) {
      const end = endOf(run);
      if (end <= least) continue;
      const kind = load<u32>(runClasses + (<usize>run << 2));
      if (kind != ANY_CLASS && !collidesWithClass(changetype<Proxy>(<usize>first), kind)) {
        column = 0;
        work++;
        continue;
      }
      const begin = beginOf(run);
      let k = max<usize>(max<usize>(begin, least), column);
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

// Pairs with overlapping boxes, as the addresses of their proxies.
const LISTED_BYTES: usize = 4096;
let firsts: usize = 0;
let seconds: usize = 0;

let ahead: u32 = 0;

/**
 * Examines or queues the listed pairs. It reads all data that they need before it considers the first: most of the time is
 * waiting for the caches, and this way many reads are waited for at once. Throws OUT_OF_MEMORY.
 */
function considerListed(): void {
  work += <u32>(listed >> 2) * WORK_OF_PAIR;
  considered += <u32>(listed >> 2);
  let sum: u32 = 0;
  for (let i: usize = 0; i < listed; i += 4) {
    const first = <usize>load<u32>(firsts + i), second = <usize>load<u32>(seconds + i);
    sum += load<u32>(first) + load<u32>(first, 64);
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
 * Finds the pairs of all touched objects that still exist; if both objects are touched, the lower slot finds the pair. Throws
 * OUT_OF_MEMORY.
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
 * Finds the pairs of the object at `place` with positions from `first` on. With `touched`, skips pairs that the other object
 * finds.
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
        if (found < first || (touched && isFoundElsewhere(slot, slotAt(tree, found)))) continue;
        consider(proxy, proxyAt(tree, found));
      }
    }
    top = pushChildren(top, tree, cell, lowX, lowY, lowZ, highX, highY, highZ);
  }
}

/** Returns whether the pair is an object with itself, or is found from the other object, which is touched as well. */
// @ts-ignore: decorator
@inline
function isFoundElsewhere(slot: u32, other: u32): bool {
  return other == slot || (other < slot && hasSlot(unpaired, other));
}
