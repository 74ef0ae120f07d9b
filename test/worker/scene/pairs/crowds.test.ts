// Many objects in one place: objects that cannot form pairs cost
// almost nothing, and too many pairs cost no more than the maximum.
import { Matrix4 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { ContactSet } from '../../../../src/shared/types.js';
import type { Core, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { startCore } from '../../../fixtures/core.js';
import { Random, SEED } from '../../../oracle/random.js';

const MOST_PAIRS = 2 ** 20; // broad-phase.ts
const OBJECT: PlacedDescription = {
  ...{ shape: layout.SHAPE_BOX, mesh: 0, flags: 6 | layout.FLAG_MATRIX, layers: 1, collidesWith: -1, group: 0 },
  ...{ contacts: layout.CONTACTS_BOUNDS, center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1] },
  ...{ radius: 0, matrix: new Matrix4().elements },
};

class World {
  readonly core: Core;
  readonly #builder = new FrameBuilder();
  #frame = 0;

  constructor(core: Core) {
    this.core = core;
  }

  put(slot: number, options: Partial<PlacedDescription>): void {
    this.core.setObject(makeId(slot, 1), { ...OBJECT, ...options });
  }

  move(slot: number, matrix: Matrix4): void {
    this.#builder.setSingle(makeId(slot, 1), matrix.elements);
  }

  run(budget = 0): ContactSet {
    const input = this.#builder.seal(++this.#frame, 1, budget);
    const out = this.core.frame(input, undefined);
    this.#builder.restart(input);
    return new FrameView(out, []).contacts;
  }
}

const COUNT = 16_000;

describe('of what cannot make a pair, no pair is looked at', () => {
  const alternating = (i: number) => (i % 2 ? { layers: 1, collidesWith: 2 } : { layers: 4, collidesWith: 1 });
  test.each<[string, (i: number) => Partial<PlacedDescription>]>([
    ["contacts 'none'", () => ({ contacts: layout.CONTACTS_NONE })],
    ['collidesWith 0', () => ({ collidesWith: 0 })],
    ['layers 0', () => ({ layers: 0 })],
    ['one group', () => ({ group: 7 })],
    ['layers that do not agree', alternating],
    ['static ones', () => ({ flags: 6 | layout.FLAG_STATIC | layout.FLAG_MATRIX })],
    ['static ones and others of their group', (i) => ({ flags: i % 2 ? 22 : 23, group: 3 })],
    ['one group, of ten sizes', (i) => ({ group: 7, extent: [1 + (i % 10), 1, 1] })],
  ])('%s', async (_, optionsOf) => {
    const world = new World(await startCore());
    for (let i = 0; i < COUNT; i++) world.put(i, optionsOf(i));
    // Small ones around them, so that the crowd is larger than its cells.
    for (let i = 0; i < 1000; i++) {
      const matrix = new Matrix4().makeTranslation((i % 10) * 9, ((i / 10) | 0) * 9 + 20, 0).elements;
      world.put(COUNT + i, { ...optionsOf(0), extent: [0.1, 0.1, 0.1], matrix });
    }
    for (const share of [1, 0.2, 0.01, 0]) {
      const before = world.core.considered;
      for (let i = 0; i < share * COUNT; i++) world.move(i, new Matrix4().makeTranslation(share * 0.01, 0, 0));
      expect(world.run().count).toBe(0);
      // A few that move are still tested with the others one by one: 160 of 16,000, and twice if they are in a group.
      expect(world.core.considered - before).toBeLessThan(200 * COUNT);
      expect(world.run(1e6)).toMatchObject({ count: 0, waiting: 0 });
    }
    expect(world.core.check()).toBeNull();
  });
});

test(`a crowd of all classes makes the pairs that brute force gives, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const world = new World(await startCore());
  const count = 1500;
  const objects = Array.from({ length: count }, (_, slot) => {
    const size = random.chance(0.1) ? 3 : 0.5;
    return {
      slot,
      extent: [size, size, size] as [number, number, number],
      layers: random.pick([0, 1, 1, 2, 3]),
      collidesWith: random.pick([0, 1, 3, 3, -1]),
      group: random.pick([0, 0, 1, 2, 1000 + slot]),
      contacts: random.pick([layout.CONTACTS_NONE, layout.CONTACTS_BOUNDS, layout.CONTACTS_BOUNDS]),
      flags: random.chance(0.2) ? 23 : 22,
      // On a grid that no sum of sizes equals, so that rounding decides nothing.
      place: [0, 1, 2].map(() => random.integer(30) * 0.13),
    };
  });
  const matrixOf = (place: number[]) => new Matrix4().makeTranslation(place[0], place[1], place[2]);
  for (const { slot, place, ...options } of objects) world.put(slot, { ...options, matrix: matrixOf(place).elements });
  const expected = () => {
    const keys: string[] = [];
    for (let i = 0; i < count; i++) {
      const p = objects[i];
      for (let j = i + 1; j < count; j++) {
        const q = objects[j];
        if (!(p.layers & q.collidesWith && q.layers & p.collidesWith)) continue;
        if ((p.group !== 0 && p.group === q.group) || (p.flags & q.flags & layout.FLAG_STATIC) !== 0) continue;
        if (p.contacts === layout.CONTACTS_NONE || q.contacts === layout.CONTACTS_NONE) continue;
        const reach = p.extent[0] + q.extent[0];
        if (p.place.every((x, axis) => Math.abs(x - q.place[axis]) <= reach)) keys.push(`${i} ${j}`);
      }
    }
    return keys;
  };
  const keysOf = ({ a, b }: ContactSet) =>
    Array.from(a, (id, i) => `${id >>> layout.GENERATION_BITS} ${b[i] >>> layout.GENERATION_BITS}`);
  for (const [share, budget] of [
    [1, 0],
    [0.6, 0],
    [0.1, 0],
    [0.5, 1e6],
    [0.1, 1e6],
  ]) {
    for (const object of objects) {
      if (object.flags & layout.FLAG_STATIC || !random.chance(share)) continue;
      object.place = [0, 1, 2].map(() => random.integer(30) * 0.13);
      world.move(object.slot, matrixOf(object.place));
    }
    const contacts = world.run(budget);
    expect(contacts.truncated).toBe(false);
    const keys = expected();
    expect(keys.length).toBeGreaterThan(10_000);
    expect(keysOf(contacts)).toEqual(keys);
  }
});

test('a crowd of more classes than are told apart makes all its pairs', async () => {
  const world = new World(await startCore());
  const count = 1200; // and 1024 classes
  // Each is in a group of its own; one in fifty collides with all others, and those with no other.
  const isSociable = (i: number) => i % 50 === 0;
  for (let i = 0; i < count; i++) {
    world.put(i, { group: 1 + i, ...(isSociable(i) ? { layers: 3 } : { layers: 1, collidesWith: 2 }) });
  }
  const expected: number[] = [];
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) if (isSociable(i) || isSociable(j)) expected.push(makeId(i, 1), makeId(j, 1));
  }
  const { a, b } = world.run();
  expect(Array.from(a, (id, i) => [id, b[i]]).flat()).toEqual(expected);
});

describe('more pairs than a frame finds', () => {
  const count = 2000; // 1,999,000 pairs
  test.each([0, 1e6])('are cut off, and all are there when there are fewer; budget %s', async (budget) => {
    const world = new World(await startCore());
    for (let slot = 0; slot < count; slot++) world.put(slot, {});
    const crowded = world.run(budget);
    expect(crowded.truncated).toBe(true);
    expect(crowded.count).toBeGreaterThanOrEqual(MOST_PAIRS);
    expect(crowded.count).toBeLessThan(MOST_PAIRS + 2000);
    expect(world.run(budget)).toMatchObject({ truncated: true, count: crowded.count });
    // All but forty leave; these are unchanged.
    for (let slot = 0; slot < count - 40; slot++) world.move(slot, new Matrix4().makeTranslation(9 + 3 * slot, 0, 0));
    const contacts = world.run(budget);
    expect(contacts).toMatchObject({ truncated: false, count: (40 * 39) / 2, waiting: 0 });
    expect(world.run(budget)).toMatchObject({ truncated: false, count: (40 * 39) / 2 });
    expect(world.core.check()).toBeNull();
  });
});
