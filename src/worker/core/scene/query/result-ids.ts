// The ids that a query finds, valid until the next query; and, if its time is over, the ids of the objects that it has not
// tested.

import { SHAPE_MESH, SHAPE_POINT_LINE } from '../../../../shared/layout';
import { now } from '../../host';
import { reserve } from '../../memory';
import { isAlive, itemAt, slotOf } from '../objects';

let ids: usize = 0;
export let foundCount: u32 = 0;

export function clearFound(): void {
  foundCount = 0;
}

/** Adds an id. Throws OUT_OF_MEMORY. */
export function addFound(id: u32): void {
  ids = reserve(ids, foundCount << 2, <u64>(foundCount + 1) << 2);
  store<u32>(ids + (<usize>foundCount << 2), id);
  foundCount++;
}

/** Returns the address of the ids. */
export function foundIds(): usize {
  return ids;
}

// --- waiting objects ---

/** The work between two readings of the clock: a primitive counts as 1 and takes 50 to 500 ns. */
const WORK_PER_READING: i32 = 16;
/** A mesh counts for this much: the clock is read after each. */
export const MESH_WORK: i32 = WORK_PER_READING;

let waiting: usize = 0;
let waitingLength: u32 = 0;
let testedCount: u32 = 0;
let testingDeadline: f64 = Infinity;
let workLeft: i32 = 0;
let isTimeUp: bool = false;
let isOfList: bool = false;

/** Begins to test objects, of a list if there is one at the address, until a time by the clock of `now`. */
export function beginTesting(ids: usize, deadline: f64): void {
  clearFound();
  waitingLength = testedCount = 0;
  testingDeadline = deadline;
  workLeft = 1; // at least one object, however late it is
  isTimeUp = false;
  isOfList = ids != 0;
}

/**
 * Counts an object that is to be tested; `work` is what its shape counts for unless it is a mesh. Returns false if the time is
 * over. The objects of a list are counted by `testList`.
 */
export function mayTest(shape: u32, work: i32): bool {
  return isOfList || countTest(shape, work);
}

function countTest(shape: u32, work: i32): bool {
  if (workLeft <= 0 && !isTimeUp) {
    workLeft = WORK_PER_READING;
    isTimeUp = now() >= testingDeadline;
  }
  if (isTimeUp) return false;
  workLeft -= shape == SHAPE_MESH || shape == SHAPE_POINT_LINE ? MESH_WORK : work;
  testedCount++;
  return true;
}

/** Tests those objects of a list that still exist, until the time is over: `visit` is called with the slot of each. */
export function testList(ids: usize, count: u32, work: i32, visit: (slot: u32) => void): void {
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(ids + (<usize>i << 2)), slot = slotOf(id);
    const exists = isAlive(id);
    if (!countTest(exists ? itemAt(slot).shape : 0, work)) return;
    if (exists) visit(slot);
  }
}

/** Adds an object that is to be tested later. Throws OUT_OF_MEMORY. */
export function addWaiting(id: u32): void {
  waiting = reserve(waiting, waitingLength << 2, <u64>(waitingLength + 1) << 2);
  store<u32>(waiting + (<usize>waitingLength << 2), id);
  waitingLength++;
}

export function waitingIds(): usize {
  return waiting;
}

export function waitingCount(): u32 {
  return waitingLength;
}

/** Returns how many objects were tested before the time was over: of a list, the first ones. */
export function askedCount(): u32 {
  return testedCount;
}
