// Broad phase: finds pairs of objects whose world bounds overlap. Objects near a leaf are gathered from both trees once, and
// the leaf's objects are swept over them, sixteen boxes per step. Objects too large for leaves descend the trees one by one,
// unless many lie together: these are swept over each other like those of a leaf.
//
// Where many objects lie together, those that can collide with nothing are left out, and the others are put in runs by class
// (collision-classes.ts): an object is swept only over the runs that it may collide with. 16,000 objects of one group in one
// place took 2.5 s when every pair was tested, and take less than 1 ms.
//
// It runs in slices, as the narrow phase does; all of its state is its own. When the scene changes in the middle of it, it
// continues in copies of the trees (frame-snapshot.ts). It stops at MAX_PAIRS.

import { now } from '../../host';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { testBatch } from './narrow-phase-batch';
import { canCollide } from './narrow-phase';
import { NO_POSITION, positionIn, treeIndexIn, treePositionOf } from '../frame-snapshot';
import { liveCount } from '../objects';
import { copiedProxy, treeOfFrame } from '../index/frame-trees';
import { Cell, HOLE, MOVING_TREE, STATIC_TREE, Tree, blockAt, proxyAt, cellAt, isEmpty, laneAt, slotAt } from '../index/octree';
import { changedSlots } from '../scene';
import { hasSlot, slotIn } from '../slot-set';
import { boxAgainstFour, push, pushChildren, stack } from './box-descent';
import { enqueue, countNewlyQueued } from './contact-queue';
import { collidesAtAll, collidesWithClass, redirectClasses } from './collision-classes';
import { foundCount } from './found-pairs';
import {
  gatherFromTree, gatherFromCell, truncateNear, nearBounds, nearCount, nearStride, nearProxies, reserveNear, setStepScale,
} from './near-boxes';
import {
  ANY_CLASS, CROWD, beginOf, beginRuns, endOf, isSweepQuick, keepOwnOnly, runClasses, runCount, ownNearCount,
} from './near-runs';
import { testOrPostpone } from './pair-test';
import { fillGrid, gridCount, gridProxies, hasUnswept, sweepGrid } from './uniform-grid';

/**
 * The most pairs that are found in a frame, for objects that overlap in masses: 100,000 boxes in one place are five thousand
 * million pairs. With four points each, this many pairs take half a gigabyte. Which pairs are found depends on the trees, and
 * thus on earlier calls: the same calls find the same pairs.
 */
const MAX_PAIRS: u32 = 1 << 20;
/** How many boxes, pairs and cells are processed between two readings of the clock: about 0.2 to 1 ms. */
const WORK_PER_READING: u32 = 1 << 14;
/** The work that a pair with overlapping boxes counts for. */
const WORK_OF_PAIR: u32 = 16;
/** The work that a part of the grid counts for. */
const WORK_OF_CELLS: u32 = 1 << 12;

let isQueueing: bool = false;
/** Whether there were more pairs than MAX_PAIRS. */
export let isTruncated: bool = false;
/** Whether all pairs are found again, and not only those of changed objects. */
export let isFindingAll: bool = false;
/** The work since the last reading of the clock. */
let work: u32 = 0;
/** How many pairs with overlapping boxes were considered one by one, in total; for tests. */
export let considered: u32 = 0;
/** How many pairs of changed objects were found that may not collide. */
let refusals: u64 = 0;
/** The limit of `refusals` beyond which all pairs are found again. */
let maxRefusals: u64 = 0;
/** How many refused pairs per object are tolerated until it is quicker to find all pairs again, by classes. */
const REFUSALS_PER_OBJECT: u64 = 64;

// Progress: the next cell and position, or the next changed object; and whether a sweep is in progress.
let cellIndex: u32 = 0;
let position: u32 = 0;
let changedIndex: u32 = 0;
let isSweeping: bool = false;
/** Whether a grid finds the pairs of moving objects, so that the trees only find those with static ones. */
let isGridUsed: bool = false;

/** Begins to find the pairs of all objects. With `queueing`, pairs are queued instead of being examined. */
export function beginAll(queueing: bool): void {
  isFindingAll = true;
  begin(queueing);
  cellIndex = 0;
  position = NOT_BEGUN;
  const movingTree = treeOfFrame(MOVING_TREE);
  reserveNear(movingTree.positions + treeOfFrame(STATIC_TREE).positions);
  isGridUsed = fillGrid(movingTree);
  const bytes = LISTED_BYTES + max<usize>(isGridUsed ? <usize>gridCount << 2 : 0, 16 * 4) + 16;
  proxiesA = reserve(proxiesA, 0, bytes);
  proxiesB = reserve(proxiesB, 0, bytes);
}

/** Begins to find the pairs of changed objects, as `beginAll` does for all objects. */
export function beginChanged(queueing: bool): void {
  isFindingAll = false;
  begin(queueing);
  changedIndex = 0;
  maxRefusals = REFUSALS_PER_OBJECT * (<u64>liveCount + 1024);
}

function begin(queueing: bool): void {
  isQueueing = queueing;
  isTruncated = false;
  isSweeping = false;
  isGridUsed = false; // the last grid may have found no memory
  refusals = 0;
  work = 0;
}

export const UNFINISHED: u32 = 0;
export const FINISHED: u32 = 1;
/**
 * Returned by `continueBroadPhase` if so many pairs of changed objects may not collide that all pairs are to be found again
 * from the start.
 */
export const TOO_MANY_REFUSED: u32 = 2;

/**
 * Continues to find pairs until the slice ends. Returns UNFINISHED, FINISHED or TOO_MANY_REFUSED. Throws OUT_OF_MEMORY.
 */
export function continueBroadPhase(sliceEnd: f64): u32 {
  if (isFindingAll) return findAll(sliceEnd) ? FINISHED : UNFINISHED;
  return findChanged(sliceEnd);
}

/** Redirects the proxies of a sweep in progress to the copies of the trees. */
export function redirectSweep(): void {
  if (isGridUsed) redirectProxies(gridProxies, <usize>gridCount << 2);
  if (!isSweeping) return;
  redirectClasses();
  redirectProxies(nearProxies, nearCount << 2);
  redirectProxies(proxiesA, listedBytes);
  redirectProxies(proxiesB, listedBytes);
}

function redirectProxies(list: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 4) store<u32>(list + i, copiedProxy(load<u32>(list + i)));
}

function isPairLimitReached(): bool {
  if (foundCount + countNewlyQueued() < MAX_PAIRS) return false;
  isTruncated = true;
  return true;
}

/** Returns whether the slice is over; reads the clock only after some work. */
function isSliceOver(sliceEnd: f64): bool {
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
  const swapMask = (changetype<usize>(p) ^ changetype<usize>(q)) & -<usize>(p.id > q.id);
  const a = changetype<Proxy>(changetype<usize>(p) ^ swapMask), b = changetype<Proxy>(changetype<usize>(q) ^ swapMask);
  if (isQueueing) enqueue(a, b);
  else testOrPostpone(a, b);
}

/** Finds the pairs of all objects until the slice ends. Returns whether all are found. Throws OUT_OF_MEMORY. */
function findAll(sliceEnd: f64): bool {
  const movingTree = treeOfFrame(MOVING_TREE);
  const staticTree = treeOfFrame(STATIC_TREE);
  while (isGridUsed && hasUnswept()) {
    listedBytes = sweepGrid(proxiesA, proxiesB, LISTED_BYTES);
    work += WORK_OF_CELLS;
    considerListed();
    if (isPairLimitReached()) return true;
    if (isSliceOver(sliceEnd)) return false;
  }
  if (isGridUsed && isEmpty(staticTree)) return true;
  while (cellIndex < movingTree.cellCount) {
    const cell = cellAt(movingTree, cellIndex);
    if (isSweeping) {
      if (!continueSweep(sliceEnd)) return isTruncated;
      isSweeping = false;
      if (isSweptOverAll) nextCell(movingTree);
      else position = cell.start; // the sweep is over; next come the pairs with objects below the cell
      continue;
    }
    const isCrowd = cell.ownEnd - cell.start > CROWD;
    if (cell.firstChild == 0 || (isCrowd && position == NOT_BEGUN)) {
      gatherNear(movingTree, staticTree, cell);
      continue;
    }
    if (position == NOT_BEGUN) position = cell.start;
    for (; position < cell.ownEnd; position++) {
      if (slotAt(movingTree, position) == HOLE) continue;
      if (!isGridUsed) objectAgainstTree(movingTree, position, movingTree, isCrowd ? cell.ownEnd : position + 1, false);
      objectAgainstTree(movingTree, position, staticTree, 0, false);
      if (isPairLimitReached()) return true;
      if (!isSliceOver(sliceEnd)) continue;
      position++;
      return false;
    }
    nextCell(movingTree);
  }
  return true;
}

/**
 * Gathers the objects near a cell of moving objects, and begins to sweep the cell's own objects over them. Throws
 * OUT_OF_MEMORY.
 */
function gatherNear(movingTree: Tree, staticTree: Tree, cell: Cell): void {
  truncateNear(0);
  setStepScale(cell);
  gatherFromCell(cell, movingTree, cell);
  const ownCount = nearCount;
  if (!isGridUsed) gatherFromTree(cell, movingTree, cell.ownEnd);
  gatherFromTree(cell, staticTree, 0);
  work += <u32>nearCount;
  beginSweep(ownCount);
  isSweptOverAll = cell.firstChild == 0 || isSweepQuick();
  if (!isSweptOverAll) keepOwnOnly();
  isSweeping = true;
}

/** Whether the cell's own objects are swept over all near objects, and not only over each other. */
let isSweptOverAll: bool = false;

/** The value of `position` while the cell's own objects have not been tested against each other. */
const NOT_BEGUN: u32 = 0xffffffff;

function nextCell(movingTree: Tree): void {
  cellIndex++;
  position = NOT_BEGUN;
}

// Progress of the sweep: the next of the leaf's objects, the next run and the next box.
let row: usize = 0;
let run: u32 = 0;
let column: usize = 0;
let listedBytes: usize = 0;

/**
 * Begins to sweep the first `ownCount` gathered objects, which are the leaf's, each over all objects that were gathered after it.
 */
function beginSweep(ownCount: usize): void {
  row = 0;
  run = 0;
  column = 0;
  listedBytes = 0;
  if (nearCount > CROWD) work += <u32>nearCount;
  beginRuns(ownCount);
}

/** Continues the sweep until the slice ends. Returns whether it is done. Throws OUT_OF_MEMORY. */
function continueSweep(sliceEnd: f64): bool {
  const stride = nearStride;
  const minX = nearBounds, minY = minX + stride, minZ = minY + stride;
  const maxX = minZ + stride, maxY = maxX + stride, maxZ = maxY + stride;
  for (; row < ownNearCount; row++) {
    const i = row;
    const x0 = v128.load8_splat(minX + i), y0 = v128.load8_splat(minY + i), z0 = v128.load8_splat(minZ + i);
    const x1 = v128.load8_splat(maxX + i), y1 = v128.load8_splat(maxY + i), z1 = v128.load8_splat(maxZ + i);
    const ownProxy = load<u32>(nearProxies + (i << 2));
    const firstColumn = isGridUsed ? ownNearCount : i + 1;
    for (; run < runCount; run++) {
      const end = endOf(run);
      if (end <= firstColumn) continue;
      const runClass = load<u32>(runClasses + (<usize>run << 2));
      if (runClass != ANY_CLASS && !collidesWithClass(changetype<Proxy>(<usize>ownProxy), runClass)) {
        column = 0;
        work++;
        continue;
      }
      const begin = beginOf(run);
      let k = max<usize>(max<usize>(begin, firstColumn), column);
      column = 0;
      for (; k < end; k += 16) {
        const x = v128.or(i8x16.gt_s(v128.load(minX + k), x1), i8x16.gt_s(x0, v128.load(maxX + k)));
        const y = v128.or(i8x16.gt_s(v128.load(minY + k), y1), i8x16.gt_s(y0, v128.load(maxY + k)));
        const z = v128.or(i8x16.gt_s(v128.load(minZ + k), z1), i8x16.gt_s(z0, v128.load(maxZ + k)));
        const apart = i8x16.bitmask(v128.or(v128.or(x, y), z));
        let bits = ~apart & 0xffff;
        if (k + 16 > end) bits &= (1 << <i32>(end - k)) - 1;
        for (; bits != 0; bits &= bits - 1) {
          store<u32>(proxiesA + listedBytes, ownProxy);
          store<u32>(proxiesB + listedBytes, load<u32>(nearProxies + ((k + ctz(bits)) << 2)));
          listedBytes += 4;
        }
        if (listedBytes < LISTED_BYTES) continue;
        considerListed();
        if (isPairLimitReached()) return false;
        if (!isSliceOver(sliceEnd)) continue;
        column = k + 16;
        return false;
      }
      work += <u32>((end - begin) >> 4);
    }
    run = 0;
    if (listedBytes != 0 && row + 1 == ownNearCount) {
      considerListed();
      if (isPairLimitReached()) return false;
    }
    if (!isSliceOver(sliceEnd)) continue;
    row++;
    return false;
  }
  return true;
}

// Pairs with overlapping boxes, as the addresses of their proxies.
const LISTED_BYTES: usize = 4096;
let proxiesA: usize = 0;
let proxiesB: usize = 0;

let prefetchSum: u32 = 0;

/**
 * Examines or queues the listed pairs. It reads all data that they need before it considers the first: most of the time is
 * waiting for the caches, and this way many reads are waited for at once. Throws OUT_OF_MEMORY.
 */
function considerListed(): void {
  work += <u32>(listedBytes >> 2) * WORK_OF_PAIR;
  considered += <u32>(listedBytes >> 2);
  let sum: u32 = 0;
  for (let i: usize = 0; i < listedBytes; i += 4) {
    const first = <usize>load<u32>(proxiesA + i), second = <usize>load<u32>(proxiesB + i);
    sum += load<u32>(first) + load<u32>(first, 64);
    sum += load<u32>(second) + load<u32>(second, 64) + load<u32>(second, 128);
  }
  prefetchSum = sum;
  let keptBytes: usize = 0;
  for (let i: usize = 0; i < listedBytes; i += 4) {
    const p = <usize>load<u32>(proxiesA + i), q = <usize>load<u32>(proxiesB + i);
    const swapMask = (p ^ q) & -<usize>(changetype<Proxy>(p).id > changetype<Proxy>(q).id);
    store<u32>(proxiesA + keptBytes, <u32>(p ^ swapMask));
    store<u32>(proxiesB + keptBytes, <u32>(q ^ swapMask));
    keptBytes += <usize>canCollide(changetype<Proxy>(p), changetype<Proxy>(q)) << 2;
  }
  listedBytes = 0;
  if (!isQueueing) {
    testBatch(proxiesA, proxiesB, keptBytes);
    return;
  }
  for (let i: usize = 0; i < keptBytes; i += 4) {
    enqueue(changetype<Proxy>(<usize>load<u32>(proxiesA + i)), changetype<Proxy>(<usize>load<u32>(proxiesB + i)));
  }
}

/**
 * Finds the pairs of all changed objects that still exist; if both objects are changed, the lower slot finds the pair. Throws
 * OUT_OF_MEMORY.
 */
function findChanged(sliceEnd: f64): u32 {
  while (changedIndex < changedSlots.count) {
    const treePosition = treePositionOf(slotIn(changedSlots, changedIndex++));
    if (treePosition == NO_POSITION) continue;
    const ownTree = treeOfFrame(treeIndexIn(treePosition)), position = positionIn(treePosition);
    objectAgainstTree(ownTree, position, treeOfFrame(MOVING_TREE), 0, true);
    if (treeIndexIn(treePosition) == MOVING_TREE) objectAgainstTree(ownTree, position, treeOfFrame(STATIC_TREE), 0, true);
    if (isPairLimitReached()) return FINISHED;
    if (refusals > maxRefusals) return TOO_MANY_REFUSED;
    if (isSliceOver(sliceEnd)) return UNFINISHED;
  }
  return FINISHED;
}

/**
 * Finds the pairs of the object at `ownPosition` with positions from `firstPosition` on. With `isChangedOnly`, skips pairs
 * that the other object finds.
 */
function objectAgainstTree(from: Tree, ownPosition: u32, tree: Tree, firstPosition: u32, isChangedOnly: bool): void {
  const proxy = proxyAt(from, ownPosition);
  if (isEmpty(tree) || !collidesAtAll(proxy)) return;
  const at = laneAt(from, ownPosition);
  const minX = v128.load32_splat(at), minY = v128.load32_splat(at, 16), minZ = v128.load32_splat(at, 32);
  const maxX = v128.load32_splat(at, 48), maxY = v128.load32_splat(at, 64), maxZ = v128.load32_splat(at, 80);
  const slot = slotAt(from, ownPosition);
  let top = push(stack, 0);
  while (top != stack) {
    top -= 4;
    const cell = cellAt(tree, load<u32>(top));
    if (cell.end <= firstPosition) continue;
    work += 4 + ((cell.ownEnd - cell.start) >> 2);
    for (let position = cell.start; position < cell.ownEnd; position += 4) {
      let bits = boxAgainstFour(blockAt(tree, position), minX, minY, minZ, maxX, maxY, maxZ);
      while (bits != 0) {
        const otherPosition = position + ctz(bits);
        bits &= bits - 1;
        if (otherPosition < firstPosition || (isChangedOnly && isFoundByOther(slot, slotAt(tree, otherPosition)))) continue;
        consider(proxy, proxyAt(tree, otherPosition));
      }
    }
    top = pushChildren(top, tree, cell, minX, minY, minZ, maxX, maxY, maxZ);
  }
}

/** Returns whether the pair is an object with itself, or is found from the other object, which has changed as well. */
// @ts-ignore: decorator
@inline
function isFoundByOther(slot: u32, other: u32): bool {
  return other == slot || (other < slot && hasSlot(changedSlots, other));
}
