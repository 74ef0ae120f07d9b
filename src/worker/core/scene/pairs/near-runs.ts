// The objects near a leaf of the broad phase, in runs: of one class each (collision-classes.ts), or all in one. An object
// is swept over the runs that it may collide with.

import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { MAX_CLASSES, NO_CLASS, beginClasses, classCount, classOf, collidesWithClass, isOverfull } from './collision-classes';
import { truncateNear, nearBounds, nearCount, nearStride, nearProxies } from './near-boxes';

const runEnds: usize = memory.data(<i32>(2 * MAX_CLASSES + 1) * 4, 16);
export const runClasses: usize = memory.data(<i32>(2 * MAX_CLASSES + 1) * 4, 16);
export let runCount: u32 = 0;
/** The class of a run whose pairs are tested one by one. */
export const ANY_CLASS: u32 = 0xffffffff;
/** Classes pay from this many boxes near a leaf on: in frames of 10,000 boxes 60 are near a leaf. */
export const CROWD: u32 = 256;

/** How many of the near objects are the leaf's own: these come first. */
export let ownNearCount: usize = 0;

/** Puts all objects near a leaf in runs; the first `ownCount` objects are the leaf's. Throws OUT_OF_MEMORY. */
export function beginRuns(ownCount: usize): void {
  ownNearCount = ownCount;
  runCount = 1;
  store<u32>(runEnds, <u32>nearCount);
  store<u32>(runClasses, ANY_CLASS);
  if (nearCount > CROWD) sortIntoRuns();
}

let classes: usize = 0;
let spareNear: usize = 0;
let spareProxies: usize = 0;
const runStarts: usize = memory.data(<i32>(2 * MAX_CLASSES) * 4, 16);

/**
 * Leaves out objects that collide with nothing and puts the rest in runs, the leaf's own first, by counting sort. Throws
 * OUT_OF_MEMORY.
 */
function sortIntoRuns(): void {
  classes = reserve(classes, 0, <u64>nearCount << 2);
  beginClasses();
  for (let i: usize = 0; i < nearCount; i++) {
    store<u32>(classes + (i << 2), classOf(changetype<Proxy>(<usize>load<u32>(nearProxies + (i << 2)))));
  }
  // If there are too many classes, all count as one.
  const classTotal = isOverfull ? 1 : classCount;
  memory.fill(runStarts, 0, <usize>(2 * classTotal) << 2);
  for (let i: usize = 0; i < nearCount; i++) {
    const at = runStartOf(i, classTotal);
    if (at != 0) store<u32>(at, load<u32>(at) + 1);
  }
  let total: u32 = 0, ownCount: u32 = 0;
  runCount = 0;
  for (let i: u32 = 0; i < 2 * classTotal; i++) {
    if (i == classTotal) ownCount = total;
    const count = load<u32>(runStarts + (<usize>i << 2));
    store<u32>(runStarts + (<usize>i << 2), total);
    total += count;
    if (count == 0) continue;
    store<u32>(runEnds + (<usize>runCount << 2), total);
    store<u32>(runClasses + (<usize>runCount << 2), isOverfull ? ANY_CLASS : i % classTotal);
    runCount++;
  }
  if (classTotal == 0) {
    truncateNear(0);
    ownNearCount = 0;
    return;
  }
  spareNear = reserve(spareNear, 0, <u64>nearStride * 6);
  spareProxies = reserve(spareProxies, 0, ((<u64>nearCount << 2) + 31) & ~15);
  for (let i: usize = 0; i < nearCount; i++) {
    const at = runStartOf(i, classTotal);
    if (at == 0) continue;
    const to = <usize>load<u32>(at);
    store<u32>(at, <u32>to + 1);
    store<u32>(spareProxies + (to << 2), load<u32>(nearProxies + (i << 2)));
    for (let bound: usize = 0; bound < 6; bound++) {
      store<u8>(spareNear + bound * nearStride + to, load<u8>(nearBounds + bound * nearStride + i));
    }
  }
  memory.copy(nearBounds, spareNear, nearStride * 6);
  memory.copy(nearProxies, spareProxies, <usize>total << 2);
  truncateNear(total);
  ownNearCount = ownCount;
}

/** How many boxes a sweep may test per near object: descending the trees takes about as long. */
const MAX_BOXES_PER_OBJECT: u64 = 1024;

/**
 * Returns whether sweeping over the objects of other cells takes no longer than a descent of the trees for each own
 * object.
 */
export function isSweepQuick(): bool {
  let boxes: u64 = 0;
  for (let i: u32 = 0; i < runCount; i++) {
    const begin = beginOf(i), end = endOf(i);
    if (end > ownNearCount) break;
    let columns: u64 = 0;
    const first = changetype<Proxy>(<usize>load<u32>(nearProxies + (begin << 2)));
    for (let k = i + 1; k < runCount; k++) {
      const runClass = load<u32>(runClasses + (<usize>k << 2));
      if (beginOf(k) < ownNearCount || (runClass != ANY_CLASS && !collidesWithClass(first, runClass))) continue;
      columns += endOf(k) - beginOf(k);
    }
    boxes += columns * (end - begin);
  }
  return boxes <= MAX_BOXES_PER_OBJECT * nearCount;
}

/** Keeps only the cell's own objects to be swept over. */
export function keepOwnOnly(): void {
  truncateNear(ownNearCount);
  while (runCount > 0 && beginOf(runCount - 1) >= ownNearCount) runCount--;
}

// @ts-ignore: decorator
@inline
export function beginOf(run: u32): usize {
  return run == 0 ? 0 : endOf(run - 1);
}

// @ts-ignore: decorator
@inline
export function endOf(run: u32): usize {
  return <usize>load<u32>(runEnds + (<usize>run << 2));
}

/** Returns the address of the next place in an entry's run; 0 if the entry is left out. */
// @ts-ignore: decorator
@inline
function runStartOf(i: usize, classTotal: u32): usize {
  const runClass = load<u32>(classes + (i << 2));
  if (runClass == NO_CLASS) return 0;
  return runStarts + (<usize>((isOverfull ? 0 : runClass) + (i < ownNearCount ? 0 : classTotal)) << 2);
}
