// The pairs that were looked at in this frame and are in contact.

import { keepContact } from '../../contact/manifold/pool';
import { reserve } from '../../memory';
import { Candidate } from '../../shape/proxy';
import { NO_CONTACT, collide } from './narrow-phase';
import { slotCount } from '../objects';
import { PAIR_BYTES, Pair, pairIn } from './pair-list';
import { sortByIds, sortBySlots } from './radix-sort';

let found: usize = 0;
export let foundCount: u32 = 0;

export function clearFound(): void {
  foundCount = 0;
}

/** Looks at two objects that may collide; `a` has the lower id. */
export function look(a: Candidate, b: Candidate): void {
  const contained = collide(a, b);
  if (contained != NO_CONTACT) addFound(a, b, contained);
}

/** With the contact that was found. Throws OUT_OF_MEMORY. */
export function addFound(a: Candidate, b: Candidate, contained: i32): void {
  found = reserve(found, foundCount * <u32>PAIR_BYTES, <u64>(foundCount + 1) * PAIR_BYTES);
  const pair = pairIn(found, foundCount++);
  pair.a = a.id;
  pair.b = b.id;
  pair.contained = contained;
  pair.begun = 0;
  pair.groupA = a.group;
  pair.groupB = b.group;
  pair.contact = keepContact();
  pair.stale = 0;
}

/** Writes them in order to a list with room for so many. Throws OUT_OF_MEMORY. */
export function sortFound(to: usize): void {
  // Of few among many objects, the slots are more than the pairs.
  if (slotCount <= foundCount * 8) {
    sortBySlots<Pair>(found, to, foundCount, slotCount);
    return;
  }
  sortByIds<Pair>(found, to, foundCount);
  memory.copy(to, found, <usize>foundCount * PAIR_BYTES);
}
