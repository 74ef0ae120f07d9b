import { CollisionError, createCollisionService } from 'collision-worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALLS, EXPORTED, METHODS } from '../fuzz/calls.js';
import { cross, mutate, newTally } from '../fuzz/fuzz.js';
import { HOSTILE } from '../fuzz/hostile.js';
import { World } from '../fuzz/world.js';
import { Random, SEED } from '../oracle/random.js';

const STEPS = Number(process.env.STEPS ?? 1000);
/** Of all that is hostile, in all places: 1 takes some minutes. */
const SHARE = Number(process.env.SHARE ?? 0.02);

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.service.dispose());

test('the table knows all that there is to call', () => {
  const prototype = Object.getPrototypeOf(world.service);
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  expect(own.sort()).toEqual([...Object.keys(METHODS), 'stats', 'ready'].sort());
  expect(new Set(CALLS.map(({ name }) => name))).toEqual(
    new Set([...EXPORTED, ...Object.keys(METHODS)].filter((name) => name !== 'dispose')),
  );
});

describe('everything hostile in every place: a declared error or a right answer', () => {
  const random = new Random(SEED);
  test.each(CALLS.map((call, i) => [`${call.name} ${i}`, call] as const))('%s', async (_, call) => {
    const tally = newTally();
    await cross(world, call, random, SHARE, tally);
    if (process.env.TALLY)
      console.log(call.name, JSON.stringify({ ...tally, wrong: tally.wrong.slice(0, 6), n: tally.wrong.length }));
    expect(tally.wrong).toEqual([]);
  });
});

test(`${STEPS} calls with several of them at random, seed ${SEED}`, { timeout: 1_000_000 }, async () => {
  const random = new Random(SEED);
  const tally = newTally();
  const calls = CALLS.filter(({ isSlow }) => !isSlow);
  for (let i = 0; i < STEPS; i++) await mutate(world, random.pick(calls), random, tally);
  expect(tally.wrong).toEqual([]);
});

test('whatever createWorker answers or throws', async () => {
  for (const [name, make] of Object.entries(HOSTILE)) {
    const fail = () => {
      throw make();
    };
    for (const createWorker of [make, fail]) {
      const failure = await createCollisionService({ createWorker: createWorker as never, timeout: 100 }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure, name).toBeInstanceOf(CollisionError);
    }
  }
});

test('dispose takes no arguments, and whatever it gets, it is the end', async () => {
  const service = await createCollisionService();
  (service.dispose as (...all: unknown[]) => void)(HOSTILE['trapped object']());
  expect(() => service.meshInfo(1)).toThrowError(CollisionError);
});
