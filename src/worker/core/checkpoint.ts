// Where long work on one pair may be left and taken up again.
//
// The narrow phase is compiled twice, from the same sources: into the core, for pairs without a mesh, whose work is
// bounded; and into a module of its own (pair-module.ts), which frames and the query `contact` ask about pairs with a
// mesh. That one is instrumented by Binaryen's Asyncify (Zakai, "Pause and Resume WebAssembly with Binaryen's
// Asyncify", 2019): at a checkpoint whose time is up its call stack is saved and unwound, and later rebuilt and gone on
// with. Its static data and globals are its own, so a pair that was left is not disturbed by what queries do meanwhile;
// meshes and the heap are shared.
//
// A checkpoint compiles to nothing in the core. Functions that reach one are slower in the other module, so
// checkpoints stand in outer loops, and the hot loops are functions that a checkpoint follows: all pairs of triangles of
// two dragons take as long as without.

import { now, suspend } from './host';

/**
 * The work between two readings of the clock, counted in tests of a triangle or of a node of a tree, which take some 20
 * to 200 ns each: a reading every 0.1 to 1 ms.
 */
const WORK_PER_READING: i32 = 4096;

/** The module with the pairs is the one that lies first in memory. */
// @ts-ignore: decorator
@inline
export const IS_INTERRUPTIBLE: bool = ASC_MEMORY_BASE == 0;

let left: i32 = WORK_PER_READING;
let until: f64 = Infinity;

/** Begins to count anew: small pairs never read the clock. */
export function beginWork(): void {
  left = WORK_PER_READING;
}

/** Sets when checkpoints leave the work, by the clock of `now`. */
export function setDeadline(time: f64): void {
  until = time;
}

/** Counts so much work that was done, and may leave the work here. */
// @ts-ignore: decorator
@inline
export function checkpoint(work: i32): void {
  if (IS_INTERRUPTIBLE) {
    left -= work;
    if (left <= 0) leaveIfLate();
  }
}

function leaveIfLate(): void {
  left = WORK_PER_READING;
  if (now() >= until) suspend();
}
