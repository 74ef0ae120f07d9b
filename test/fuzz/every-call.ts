// Properties of every call, of the service and of the adapter.
import { describe, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import type { Call } from './call.js';
import { kindsIn } from './crawl.js';
import { cross, type Ground, newTally } from './fuzz.js';

interface EveryCall<W extends Ground> {
  calls: readonly Call<W>[];
  worldOf: () => W;
  /** Objects of the classes in the tables. */
  knownOf: (world: W) => object[];
  /** Fraction of all hostile values in all places: 1 takes several minutes. */
  share: number;
  isLoud: boolean;
}

export function testEveryCall<W extends Ground>({ calls, worldOf, knownOf, share, isLoud }: EveryCall<W>): void {
  test('no answer is of a class of which the table knows nothing', async () => {
    const world = worldOf();
    const known = new Set(knownOf(world).map(Object.getPrototypeOf));
    for (const call of calls) {
      const args = call.args(world);
      const answer = await (call.run as (...all: unknown[]) => unknown)(world, ...args);
      for (const [kind, object] of kindsIn(answer)) {
        expect(known.has(Object.getPrototypeOf(object)), `${call.name} answers ${kind}`).toBe(true);
      }
      await call.undo?.(world, answer as never, args);
      await world.restock();
    }
    expect(await world.complaint()).toBe('');
  });

  describe(`everything hostile in every place: a declared error or a right answer, seed ${SEED}`, () => {
    const random = new Random(SEED);
    test.each(calls.map((call, i) => [`${call.name} ${i}`, call] as const))('%s', async (_, call) => {
      const tally = newTally();
      await cross(worldOf(), call, random, share, tally);
      if (isLoud) console.log(call.name, JSON.stringify({ ...tally, wrong: tally.wrong.slice(0, 6) }));
      expect(tally.wrong).toEqual([]);
    });
  });
}
