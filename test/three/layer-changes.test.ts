// Objects that change layers: each ends up in those that were set last, and many that come and go in turn are few calls.
import { expect, test } from 'vitest';
import { LayerChanges } from '../../src/client/three/track/layer-changes.js';
import { makeId } from '../../src/shared/ids.js';
import { Random, SEED } from '../oracle/random.js';

/** The calls to the service, and their number. */
class Told {
  readonly layers = new Map<number, number>();
  calls = 0;
  readonly changes = new LayerChanges(this as never);

  setLayers(ids: Uint32Array, layers: number): void {
    this.calls++;
    for (const id of ids) this.layers.set(id, layers);
  }
}

test(`the last that was said of each is what the service knows, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const told = new Told();
  const expected = new Map<number, number>();
  for (let round = 0; round < 300; round++) {
    for (let n = random.integer(200); n > 0; n--) {
      const id = makeId(random.integer(3000), 1);
      const layers = random.chance(0.9) ? random.integer(3) : random.integer(1000);
      told.changes.set(id, layers);
      expected.set(id, layers);
    }
    if (random.chance(0.3)) {
      const ids = Uint32Array.from({ length: random.integer(50) }, (_, i) => makeId(100 + i, 1));
      told.changes.setAll(ids, 7);
      for (const id of ids) expected.set(id, 7);
    }
    if (random.chance(0.5)) continue;
    told.changes.flush();
    expect(told.layers).toEqual(expected);
  }
});

test('of 100,000, each second one is hidden and the others are shown, again and again', () => {
  const told = new Told();
  for (let round = 1; round <= 3; round++) {
    for (let slot = 0; slot < 100_000; slot++) told.changes.set(makeId(slot, 1), (slot + round) % 2);
    told.changes.flush();
    expect(told.layers.size).toBe(100_000);
    expect(told.calls).toBeLessThan(50 * round);
  }
});

test('those of which nothing is to be said are no call', () => {
  const told = new Told();
  told.changes.setAll(new Uint32Array(), 7);
  told.changes.flush();
  expect(told.calls).toBe(0);
  told.changes.set(makeId(5, 1), 7);
  told.changes.set(makeId(6, 1), 7);
  told.changes.flush();
  told.changes.flush();
  expect(told.calls).toBe(1);
});
