import type { ContactSet } from 'collision-worker';

/** Returns `a:b` for each pair. */
export function pairKeys(a: Uint32Array, b: Uint32Array): string[] {
  return Array.from(a, (id, i) => `${id}:${b[i]}`);
}

/**
 * Returns the pairs after a frame, from those before it and its begin and end events alone. Throws if the events are
 * inconsistent.
 */
export function replay(before: ReadonlySet<string>, contacts: ContactSet): Set<string> {
  const after = new Set(before);
  for (const key of pairKeys(contacts.endedA, contacts.endedB)) {
    if (!after.delete(key)) throw new Error(`${key} ended without having begun`);
  }
  pairKeys(contacts.a, contacts.b).forEach((key, i) => {
    if (contacts.begun[i] !== 1) return;
    if (after.has(key)) throw new Error(`${key} began twice`);
    after.add(key);
  });
  return after;
}
