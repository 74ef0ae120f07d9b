// The pairs that were examined in this frame and are in contact.

import { pointCount } from '../../contact/manifold/contact';
import { storeContact, storeContactData } from '../../contact/manifold/pool';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { slotCount } from '../objects';
import { Outcome } from './outcome';
import { PAIR_BYTES, Pair } from './pair-list';
import { beginSort, sortByIds, sortBySlots } from './radix-sort';
import { RecordList, clearRecords, appendRecord } from './record-list';

const foundPairs = changetype<RecordList>(memory.data(<i32>offsetof<RecordList>(), 16));
export let foundCount: u32 = 0;

export function clearFound(): void {
  foundCount = 0;
  clearRecords(foundPairs);
}

/** Adds a pair with the contact that was found last. Throws OUT_OF_MEMORY. */
export function addPair(a: Proxy, b: Proxy, contained: i32): void {
  attachContact(newPair(a, b, contained));
}

/** Adds a pair that met at a time of its motion, with the contact that was found last. Throws OUT_OF_MEMORY. */
export function addPairAt(a: Proxy, b: Proxy, time: f32): void {
  const pair = newPair(a, b, 0);
  pair.time = time;
  attachContact(pair);
}

function attachContact(pair: Pair): void {
  pair.points = pointCount;
  pair.contact = storeContact();
}

/** Adds a pair with the contact that the interruptible module found. Throws OUT_OF_MEMORY. */
export function addOutcome(a: Proxy, b: Proxy, outcome: Outcome, isStale: bool): void {
  const pair = newPair(a, b, outcome.contained);
  pair.stale = <u8>isStale;
  pair.time = outcome.time;
  pair.points = outcome.pointCount;
  pair.contact = storeContactData(
    outcome.points, outcome.pointCount, outcome.crossings, outcome.crossingCount, outcome.bonePairs,
    outcome.bonePairCount,
  );
}

function newPair(a: Proxy, b: Proxy, contained: i32): Pair {
  const pair = changetype<Pair>(appendRecord<Pair>(foundPairs, foundCount));
  foundCount++;
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

/** How many slots there were when the sort began; 0 for a radix sort. */
let sortedSlotCount: u32 = 0;
let spare: usize = 0;

/** Begins to sort the found pairs. Throws OUT_OF_MEMORY. */
export function beginSortFound(): void {
  beginSort();
  // If few of many objects are in pairs, there are more slots than pairs, and the radix sort is used.
  sortedSlotCount = slotCount <= foundCount * 8 ? slotCount : 0;
  if (sortedSlotCount == 0) spare = reserve(spare, 0, <u64>foundCount * PAIR_BYTES);
}

/**
 * Writes the found pairs in order to an address with room for them, until the slice ends. Returns whether that is done. Throws
 * OUT_OF_MEMORY.
 */
export function sortFound(to: usize, sliceEnd: f64): bool {
  if (foundCount == 0) return true;
  if (sortedSlotCount != 0) return sortBySlots(foundPairs, to, foundCount, sortedSlotCount, PAIR_BYTES, sliceEnd);
  return sortByIds(foundPairs, spare, to, foundCount, PAIR_BYTES, sliceEnd);
}
