// Points at which long work on one pair may be suspended and resumed.
//
// The narrow phase is compiled twice, from the same sources: into the core, for pairs without a mesh, whose work is
// bounded; and into a module of its own (pair-module.ts), which frames and the query `contact` use for pairs with a
// mesh. That module is instrumented by Binaryen's Asyncify (Zakai, "Pause and Resume WebAssembly with Binaryen's
// Asyncify", 2019): at a checkpoint whose time is up, its call stack is saved and unwound, and later rebuilt and
// continued. It has its own static data and globals, so queries do not disturb a suspended pair; meshes and the heap are
// shared.
//
// A checkpoint compiles to nothing in the core. Functions that reach one are slower in the other module, so checkpoints
// are in outer loops, and the hot loops are in functions that a checkpoint follows: all pairs of triangles of two
// dragons take as long as without checkpoints.

import { now, suspend } from './host';

/**
 * Work between two readings of the clock, counted in tests of a triangle or a tree node, which take some 20 to 200 ns
 * each: a reading every 0.1 to 1 ms.
 */
const WORK_PER_READING: i32 = 4096;

/** The module that tests pairs is the one whose static data come first in memory. */
// @ts-ignore: decorator
@inline
export const IS_INTERRUPTIBLE: bool = ASC_MEMORY_BASE == 0;

let remainingWork: i32 = WORK_PER_READING;
let deadline: f64 = Infinity;

/** Resets the count: small pairs never read the clock. */
export function beginWork(): void {
  remainingWork = WORK_PER_READING;
}

/** Sets the time, on the clock of `now`, at which checkpoints suspend the work. */
export function setDeadline(time: f64): void {
  deadline = time;
}

/** Counts `work` units as done, and may suspend the work here. */
// @ts-ignore: decorator
@inline
export function checkpoint(work: i32): void {
  if (IS_INTERRUPTIBLE) {
    remainingWork -= work;
    if (remainingWork <= 0) suspendIfLate();
  }
}

function suspendIfLate(): void {
  remainingWork = WORK_PER_READING;
  if (now() >= deadline) suspend();
}
