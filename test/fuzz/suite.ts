// The same tests run in Node and in a browser.
import { CollisionError, createCollisionService } from 'collision-worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { CALLS, EXPORTED, METHODS } from './calls.js';
import { namesOf } from './crawl.js';
import { testEveryCall } from './every-call.js';
import {
  CHARACTER_METHODS,
  CONTACT_METHODS,
  CONTACT_PARTS,
  FRAME_CALLS,
  FRAME_METHODS,
  FRAME_PARTS,
} from './frame-calls.js';
import { mutate, newTally } from './fuzz.js';
import { HOSTILE_VALUES } from './hostile.js';
import { World } from './world.js';

interface FuzzOptions {
  /** Fraction of all hostile values in all places: 1 takes several minutes. */
  share: number;
  /** Number of calls with several hostile values. */
  steps: number;
  isLoud?: boolean;
}

export function fuzzService({ share, steps, isLoud = false }: FuzzOptions): void {
  let world: World;
  beforeAll(async () => {
    world = await World.open();
  });
  afterAll(() => world.service.dispose());

  test('the table knows all that there is to call', () => {
    // `poseObject` takes arguments that the tracker has checked.
    const excludedMembers = ['stats', 'ready', 'ended', 'isObstructed', 'poseObject'];
    expect(namesOf(world.service)).toEqual([...Object.keys(METHODS), ...excludedMembers].sort());
    expect(namesOf(world.frame!)).toEqual([...Object.keys(FRAME_METHODS), ...FRAME_PARTS].sort());
    expect(namesOf(world.frame!.contacts)).toEqual([...Object.keys(CONTACT_METHODS), ...CONTACT_PARTS].sort());
    expect(namesOf(world.character)).toEqual([...Object.keys(CHARACTER_METHODS), 'state'].sort());
    const frameCalls = new Set(FRAME_CALLS.map(({ name }) => name));
    const names = CALLS.map(({ name }) => name).filter((name) => !frameCalls.has(name));
    expect(new Set(names)).toEqual(
      new Set([...EXPORTED, ...Object.keys(METHODS)].filter((name) => name !== 'dispose')),
    );
  });

  testEveryCall({
    calls: CALLS,
    worldOf: () => world,
    knownOf: ({ service, frame, character }) => [service, frame!, frame!.contacts, character],
    share,
    isLoud,
  });

  test(`${steps} calls with several of them at random, seed ${SEED}`, { timeout: 1_000_000 }, async () => {
    const random = new Random(SEED);
    const tally = newTally();
    const calls = CALLS.filter(({ isSlow }) => !isSlow);
    for (let i = 0; i < steps; i++) await mutate(world, random.pick(calls), random, tally);
    expect(tally.wrong).toEqual([]);
  });

  test('a frame whose buffer was recycled says so, and its contacts too', async () => {
    const { service } = world;
    const frame = await service.update();
    const { contacts, visible } = frame;
    expect(visible.ids.length).toBeGreaterThan(0);
    for (let i = 0; i < 3; i++) await service.update();
    const disposedError = expect.objectContaining({ name: 'CollisionError', code: 'DISPOSED' });
    const [cube] = [world.cube];
    const reads = [
      ...[() => frame.visible, () => frame.views, () => frame.contacts, () => frame.rejected, () => frame.ms],
      ...[() => frame.copy(), () => contacts.between(cube), () => [...contacts]],
    ];
    for (const read of reads) expect(read, String(read)).toThrowError(disposedError);
  });

  test('whatever createWorker answers or throws', async () => {
    for (const [name, make] of Object.entries(HOSTILE_VALUES)) {
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
    (service.dispose as (...all: unknown[]) => void)(HOSTILE_VALUES['trapped object']());
    expect(() => service.meshInfo(1)).toThrowError(CollisionError);
  });
}
