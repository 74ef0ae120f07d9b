// The pairs that were looked at in this frame and are in contact.

import { keepContact } from '../contact/pool';
import { reserve } from '../memory';
import { Candidate } from './candidate';
import { NO_CONTACT, collide } from './narrow';
import { PAIR_BYTES, Pair, pairIn } from './pair-list';
import { sortByIds } from './radix';

export let found: usize = 0;
export let foundCount: u32 = 0;
let spare: usize = 0;

export function clearFound(): void {
  foundCount = 0;
}

/** Looks at two objects that may collide; `a` has the lower id. */
// @ts-ignore: decorator
@inline
export function look(a: Candidate, b: Candidate): void {
  const contained = collide(a, b);
  if (contained == NO_CONTACT) return;
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

export function sortFound(): void {
  spare = reserve(spare, 0, <u64>foundCount * PAIR_BYTES);
  sortByIds<Pair>(found, spare, foundCount);
}
