// Properties of every call, of the service and of the adapter.
import { describe, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import type { Call } from './call.js';
import { classesIn } from './crawl.js';
import { crossArguments, type FuzzWorld, newTally } from './fuzz.js';

interface EveryCall<W extends FuzzWorld> {
  calls: readonly Call<W>[];
  worldOf: () => W;
  /** Objects of the classes in the tables. */
  knownOf: (world: W) => object[];
  /** Fraction of all hostile values in all places: 1 takes several minutes. */
  share: number;
  isLoud: boolean;
}

export function testEveryCall<W extends FuzzWorld>({ calls, worldOf, knownOf, share, isLoud }: EveryCall<W>): void {
  test('no answer is of a class of which the table knows nothing', async () => {
    const world = worldOf();
    const knownPrototypes = new Set(knownOf(world).map(Object.getPrototypeOf));
    for (const call of calls) {
      const args = call.args(world);
      const answer = await (call.run as (...all: unknown[]) => unknown)(world, ...args);
      for (const [kind, object] of classesIn(answer)) {
        expect(knownPrototypes.has(Object.getPrototypeOf(object)), `${call.name} answers ${kind}`).toBe(true);
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
      await crossArguments(worldOf(), call, random, share, tally);
      if (isLoud) console.log(call.name, JSON.stringify({ ...tally, wrong: tally.wrong.slice(0, 6) }));
      expect(tally.wrong).toEqual([]);
    });
  });
}
