// What a view sees, by the answers that name it: the newest counts, and it is evaluated only on demand.
import { expect, test } from 'vitest';
import { SeenObjects } from '../../src/client/three/culling/seen-objects.js';
import { makeId, slotOf } from '../../src/shared/ids.js';
import { Random, SEED } from '../oracle/random.js';

/** Objects with consecutive ids: some with one id, and some with instances, whose number is the offset from the first. */
function world(random: Random) {
  let slots = 0;
  const owners = Array.from({ length: 20 }, () => {
    const isInstanced = random.chance(0.5);
    const first = slots;
    slots += isInstanced ? 200 : 1;
    return { isInstanced, first };
  });
  const ownerOf = (slot: number) => owners.findLast(({ first }) => first <= slot)!;
  let looks = 0;
  const objects = {
    slots,
    forEach(ids: Uint32Array, each: (owner: object, index: number, slot: number) => void) {
      looks++;
      for (const id of ids) {
        const owner = ownerOf(slotOf(id));
        each(owner, slotOf(id) - owner.first, slotOf(id));
      }
    },
  };
  return { owners, ownerOf, objects: objects as never, slots, looks: () => looks };
}

test(`are those of the newest answer, and instances ascend, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let round = 0; round < 10; round++) {
    const { owners, ownerOf, objects, slots, looks } = world(random);
    const view = { name: 'asked' } as never;
    const seen = new SeenObjects(view);
    expect(seen.view).toBe(view);
    for (let answer = 0; answer < 20; answer++) {
      const share = random.pick([0, 0.02, 0.5]);
      const those = Array.from({ length: slots }, (_, i) => i).filter(() => random.chance(share));
      // The service answers in the order of its tree.
      if (random.chance(0.5)) those.reverse();
      const before = looks();
      const now = { name: answer } as never;
      // The id array may be read only during the call.
      const ids = Uint32Array.from(those, (slot) => makeId(slot, 1));
      seen.set(now, answer, ids, objects);
      ids.fill(0);
      expect([seen.view, seen.update, looks()]).toEqual([now, answer, before]);
      if (random.chance(0.3)) continue; // there is no query
      const order = random.chance(0.5);
      for (const kind of order ? ['has', 'instances'] : ['instances', 'has']) {
        if (kind === 'has') {
          const found = Array.from({ length: slots }, (_, i) => i).filter((slot) => seen.has(makeId(slot, 1)));
          expect(found).toEqual(those.toSorted((a, b) => a - b));
          continue;
        }
        for (const owner of owners) {
          const { numbers, count } = seen.instancesOf(owner as never);
          const own = those.filter((slot) => ownerOf(slot) === owner).map((slot) => slot - owner.first);
          const expected = owner.isInstanced ? own.toSorted((a, b) => a - b) : [];
          expect([...numbers.subarray(0, count)]).toEqual(expected);
        }
      }
      expect(looks()).toBe(before + 1);
    }
  }
});
