// The core's interface to the interruptible module (pair-module.ts): it works on one pair at a time, and a suspended pair is lost
// when another one is begun.

import { Item } from '../../shape/item';
import { Proxy } from '../../shape/proxy';

@external("narrow", "test")
declare function test(a: usize, itemA: usize, b: usize, itemB: usize, reach: usize, deadline: f64): usize;

@external("narrow", "measure")
declare function measure(itemA: usize, itemB: usize, limit: f64, deadline: f64): usize;

@external("narrow", "sweep")
declare function sweep(swept: usize, pair: usize, deadline: f64): usize;

@external("narrow", "resume")
declare function resume(deadline: f64): usize;

/**
 * Begins a pair; `a` has the lower id; `reach` is the address of a PairReach, or 0 if only the shapes count. Returns the address
 * of an Outcome, or 0 if the pair was suspended.
 */
export function beginPair(a: Proxy, itemA: Item, b: Proxy, itemB: Item, reach: usize, deadline: f64): usize {
  return test(
    changetype<usize>(a), changetype<usize>(itemA), changetype<usize>(b), changetype<usize>(itemB), reach, deadline,
  );
}

/** Begins the distance of a pair up to a limit. Returns the address of a PairDistance, or 0 if the pair was suspended. */
export function beginMeasure(itemA: Item, itemB: Item, limit: f64, deadline: f64): usize {
  return measure(changetype<usize>(itemA), changetype<usize>(itemB), limit, deadline);
}

/**
 * Begins the sweep of a shape, given by the address of its SweptShape, against an object, given by that of its PairSweep. Returns
 * the address of a PairSweep with the result, or 0 if it was suspended.
 */
export function beginSweptPair(swept: usize, pair: usize, deadline: f64): usize {
  return sweep(swept, pair, deadline);
}

/** Resumes the suspended pair; returns the same as the function that began it. */
export function resumePair(deadline: f64): usize {
  return resume(deadline);
}
