// Holds the ids that a query finds, until the next one.

import { reserve } from '../../memory';

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

/** Answers the address of the ids. */
export function foundIds(): usize {
  return ids;
}
