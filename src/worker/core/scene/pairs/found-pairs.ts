// The pairs that were looked at in this frame and are in contact.

import { pointCount } from '../../contact/manifold/contact';
import { keepContact, keepContactOf } from '../../contact/manifold/pool';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { slotCount } from '../objects';
import { Outcome } from './outcome';
import { PAIR_BYTES, Pair, pairIn } from './pair-list';
import { sortByIds, sortBySlots } from './radix-sort';

let found: usize = 0;
export let foundCount: u32 = 0;

export function clearFound(): void {
  foundCount = 0;
}

/** Adds a pair with the contact that was found last. Throws OUT_OF_MEMORY. */
export function addFound(a: Proxy, b: Proxy, contained: i32): void {
  keepFound(newPair(a, b, contained));
}

/** Adds a pair that met at a time on its way, with the contact that was found last. Throws OUT_OF_MEMORY. */
export function addFoundAt(a: Proxy, b: Proxy, time: f32): void {
  const pair = newPair(a, b, 0);
  pair.time = time;
  keepFound(pair);
}

function keepFound(pair: Pair): void {
  pair.points = pointCount;
  pair.contact = keepContact();
}

/** Adds a pair with the contact that the interruptible module found. Throws OUT_OF_MEMORY. */
export function addOutcome(a: Proxy, b: Proxy, outcome: Outcome, isStale: bool): void {
  const pair = newPair(a, b, outcome.contained);
  pair.stale = <u8>isStale;
  pair.time = outcome.time;
  pair.points = outcome.pointCount;
  pair.contact = keepContactOf(
    outcome.points, outcome.pointCount, outcome.crossings, outcome.crossingCount, outcome.bonePairs,
    outcome.bonePairCount,
  );
}

function newPair(a: Proxy, b: Proxy, contained: i32): Pair {
  found = reserve(found, foundCount * <u32>PAIR_BYTES, <u64>(foundCount + 1) * PAIR_BYTES);
  const pair = pairIn(found, foundCount++);
  pair.a = a.id;
  pair.b = b.id;
  pair.contained = <u8>contained;
  pair.time = 1;
  pair.begun = 0;
  pair.groupA = a.group;
  pair.groupB = b.group;
  pair.stale = 0;
  return pair;
}

/** Writes the found pairs in order to a list with room for so many. Throws OUT_OF_MEMORY. */
export function sortFound(to: usize): void {
  // Where few of many objects are in pairs, there are more slots than pairs.
  if (slotCount <= foundCount * 8) {
    sortBySlots<Pair>(found, to, foundCount, slotCount);
    return;
  }
  sortByIds<Pair>(found, to, foundCount);
  memory.copy(to, found, <usize>foundCount * PAIR_BYTES);
}
