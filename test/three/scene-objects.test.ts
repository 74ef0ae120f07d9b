import { Object3D } from 'three';
import { expect, test } from 'vitest';
import { SceneObjects, type StandInLike } from '../../src/client/three/track/scene-objects.js';
import { makeId, slotOf } from '../../src/shared/ids.js';
import { Random, SEED } from '../oracle/random.js';

const standInOf = (isInstanced: boolean): StandInLike => {
  return {
    owner: { object: new Object3D(), isInstanced, reject() {} },
    seenBy: () => null,
  };
};

test('what left the scene is known until all that may have seen it are answered, and not held longer', () => {
  const objects = new SceneObjects();
  const ids = [0, 1, 2].map((slot) => makeId(slot, 1));
  const standIns = ids.map(() => standInOf(false));
  const change = (kind: 'add' | 'remove', i: number) => objects[kind](standIns[i], Uint32Array.of(ids[i]), 0);
  for (const i of [0, 1, 2]) change('add', i);
  const known = () => ids.map((id) => objects.find(id)?.standIn === standIns[ids.indexOf(id)]);
  const held = () => ids.map((id) => objects.departed.get(id) !== undefined);

  change('remove', 2); // there was no query
  expect([known(), held()]).toEqual([
    [true, true, false],
    [false, false, false],
  ]);
  const first = objects.begin();
  change('remove', 0);
  const second = objects.begin();
  change('remove', 1);
  const departed = objects.departed;
  expect([known(), held()]).toEqual([
    [true, true, false],
    [true, true, false],
  ]);
  objects.end(first);
  expect([known(), held()]).toEqual([
    [false, true, false],
    [false, true, false],
  ]);
  objects.end(second);
  expect([known(), held()]).toEqual([
    [false, false, false],
    [false, false, false],
  ]);
  expect(ids.map((id) => departed.get(id)?.id)).toEqual([ids[0], ids[1], undefined]);
});

test(`instances are found by their ids, whatever came and went in their slots, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const objects = new SceneObjects();
  const generations = new Uint16Array(500).fill(1);
  const crowds = Array.from({ length: 8 }, () => ({ standIn: standInOf(true), ids: [] as number[] }));
  const gone = new Map<number, number>();
  const free = Array.from({ length: 500 }, (_, i) => i);
  let query = objects.begin();
  for (let step = 0; step < 500; step++) {
    const crowd = random.pick(crowds);
    const { standIn, ids } = crowd;
    if (random.chance(0.5)) {
      const added = free.splice(0, random.integer(30)).map((slot) => makeId(slot, generations[slot]));
      objects.add(standIn, Uint32Array.from(added), ids.length);
      ids.push(...added);
    } else {
      const count = random.integer(ids.length + 1);
      const removed = ids.splice(count);
      objects.remove(standIn, Uint32Array.from(removed), count);
      removed.forEach((id, i) => {
        gone.set(id, count + i);
        const slot = slotOf(id);
        generations[slot]++;
        free.push(slot);
      });
    }
    if (random.chance(0.1)) {
      objects.end(query);
      query = objects.begin();
      for (const id of gone.keys()) expect(objects.find(id)).toBeUndefined();
      gone.clear();
    }
    for (const { standIn: owner, ids: alive } of crowds) {
      alive.forEach((id, instanceId) => {
        const found = objects.get(id);
        if (found?.standIn !== owner || found.instanceId !== instanceId) expect(found).toMatchObject({ instanceId });
      });
      // Among those of other objects and removed ones, and with room for only some of them.
      const asked = Uint32Array.from([...crowds.flatMap(({ ids: each }) => each), ...gone.keys()]);
      const target = new Uint32Array(Math.max(0, alive.length - 1));
      expect(objects.instancesOf(owner.owner.object, asked, target, target.length)).toBe(alive.length);
      expect(Array.from(target)).toEqual(Array.from(target, (_, i) => i));
    }
    for (const [id, instanceId] of gone) {
      expect(objects.get(id)).toBeUndefined();
      expect(objects.find(id)).toMatchObject({ id, instanceId });
    }
  }
});

test(`instances in rows of slots are found among all others, and what has gone from a row is not, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const objects = new SceneObjects();
  const generations = new Uint16Array(6000).fill(1);
  // In the second, some consecutive ones belong to two blocks of its instances, which end at a multiple of 8,192.
  const crowds = [0, 8100, 40].map((base) => ({ standIn: standInOf(true), base, ids: [] as number[] }));
  let free = Array.from(generations, (_, slot) => slot);
  let inRows = 0;
  for (let step = 0; step < 300; step++) {
    const { standIn, base, ids } = random.pick(crowds);
    if (free.length > 300 && random.chance(0.6)) {
      const begin = random.integer(free.length);
      const slots = free.splice(begin, 1 + random.integer(300));
      if (random.chance(0.3)) slots.reverse();
      if (random.chance(0.2)) slots.push(...free.splice(0, 1));
      const added = Uint32Array.from(slots, (slot) => makeId(slot, generations[slot]));
      objects.add(standIn, added, base + ids.length);
      ids.push(...added);
    } else {
      const count = Math.max(0, ids.length - random.integer(random.pick([5, 100, 10_000])));
      const removed = ids.splice(count);
      objects.remove(standIn, Uint32Array.from(removed), base + count);
      for (const id of removed) generations[slotOf(id)] = 1 + (generations[slotOf(id)] % 5);
      free = [...free, ...removed.map(slotOf)].sort((a, b) => a - b);
    }
    // Of slots that are empty, or reused.
    const gone = Array.from(generations, (generation, slot) => {
      const other = 1 + random.integer(6);
      return makeId(slot, other === generation && !free.includes(slot) ? 7 : other);
    });
    const asked = Uint32Array.from([...crowds.flatMap((each) => each.ids), ...gone].filter(() => random.chance(0.3)));
    if (random.chance(0.8)) asked.sort();
    const target = new Uint32Array(asked.length);
    for (const crowd of crowds) {
      const numbers = new Map(crowd.ids.map((id, i) => [id, crowd.base + i]));
      const expected = Array.from(asked).flatMap((id) => numbers.get(id) ?? []);
      const count = objects.instancesOf(crowd.standIn.owner.object, asked, target, target.length);
      expect(Array.from(target.subarray(0, count)), `step ${step}`).toEqual(expected);
      inRows += expected.length;
    }
  }
  expect(inRows).toBeGreaterThan(10_000);
});
