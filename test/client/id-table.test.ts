import { expect, test } from 'vitest';
import { IdTable } from '../../src/client/scene/id-table.js';
import { slotOf } from '../../src/shared/ids.js';
import { MAX_GENERATION, MAX_OBJECTS } from '../../src/shared/layout.js';
import { Random, SEED } from '../oracle/random.js';

test(`ids are never given twice, and only live ones are known, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const table = new IdTable<number>();
  const alive = new Map<number, number>();
  const dead: number[] = [];
  const given = new Set<number>();
  for (let step = 0; step < 20_000; step++) {
    if (alive.size === 0 || random.chance(0.51)) {
      const id = table.add(step);
      expect(given.has(id)).toBe(false);
      given.add(id);
      alive.set(id, step);
    } else {
      const id = random.pick([...alive.keys()].slice(0, 20));
      table.delete(id);
      alive.delete(id);
      dead.push(id);
    }
  }
  expect(table.size).toBe(alive.size);
  for (const [id, value] of alive) expect(table.get(id)).toBe(value);
  for (const id of dead) expect([table.has(id), table.get(id)]).toEqual([false, undefined]);
  for (const id of [0, -1, 1.5, Number.NaN, 2 ** 32, 'x' as never]) expect(table.has(id)).toBe(false);
  expect(table.findDead(Uint32Array.from(alive.keys()))).toBe(-1);
  expect(table.findDead(Uint32Array.of([...alive.keys()][0], dead[0]))).toBe(1);
  expect(table.findDead(Uint32Array.of(0))).toBe(0);
});

test('the slot that is free for longest is used first, and retires after its last generation', () => {
  const table = new IdTable<null>();
  const [a, b, c] = [table.add(null), table.add(null), table.add(null)];
  for (const id of [b, a, c]) table.delete(id);
  expect([0, 1, 2].map(() => slotOf(table.add(null)))).toEqual([b, a, c].map(slotOf));

  const single = new IdTable<null>();
  for (let i = 0; i < MAX_GENERATION; i++) {
    const id = single.add(null);
    expect(slotOf(id)).toBe(0);
    single.delete(id);
  }
  expect(slotOf(single.add(null))).toBe(1);
  expect(() => single.checkRoom('addObject', MAX_OBJECTS - 2)).not.toThrow();
  expect(() => single.checkRoom('addObject', MAX_OBJECTS - 1)).toThrow(/addObject: .* ids/);
});

test('what is given again of what was free is free no more', () => {
  const table = new IdTable<null>();
  const [first] = [table.add(null), table.add(null), table.add(null)];
  table.delete(first);
  table.add(null);
  expect(() => table.checkRoom('addObject', MAX_OBJECTS - 3)).not.toThrow();
  expect(() => table.checkRoom('addObject', MAX_OBJECTS - 2)).toThrow();
});
