// The interruptible module (pair-module.ts) as the core calls it: it looks at one pair at a time, and a pair that was
// left is lost when another one is begun.

import { Item } from '../../shape/item';
import { Proxy } from '../../shape/proxy';

@external("narrow", "test")
declare function test(a: usize, itemA: usize, b: usize, itemB: usize, reach: usize, until: f64): usize;

@external("narrow", "measure")
declare function measure(itemA: usize, itemB: usize, limit: f64, until: f64): usize;

@external("narrow", "sweep")
declare function sweep(swept: usize, pair: usize, until: f64): usize;

@external("narrow", "resume")
declare function resume(until: f64): usize;

/**
 * Begins a pair; `a` has the lower id; `reach` is the address of a PairReach, 0 where the shapes alone count. Answers the address of an Outcome, or 0
 * when the pair was left.
 */
export function beginPair(a: Proxy, itemA: Item, b: Proxy, itemB: Item, reach: usize, until: f64): usize {
  return test(
    changetype<usize>(a), changetype<usize>(itemA), changetype<usize>(b), changetype<usize>(itemB), reach, until,
  );
}

/** Begins the distance of a pair up to a limit. Answers the address of a PairDistance, or 0 when the pair was left. */
export function beginMeasure(itemA: Item, itemB: Item, limit: f64, until: f64): usize {
  return measure(changetype<usize>(itemA), changetype<usize>(itemB), limit, until);
}

/**
 * Begins the sweep of a shape, by the address of its SweptShape, at an object, by that of its PairSweep. Answers the address of a
 * PairSweep with what was found, or 0 when it was left.
 */
export function beginSweptPair(swept: usize, pair: usize, until: f64): usize {
  return sweep(swept, pair, until);
}

/** Resumes the pair that was left; answers as what began it. */
export function resumePair(until: f64): usize {
  return resume(until);
}
