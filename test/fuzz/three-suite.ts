import { CollisionError } from 'collision-worker';
import * as adapter from 'collision-worker/three';
import type { Object3D } from 'three';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { BAD_OBJECTS, type BadObject, GEOMETRIES, SPOILED_OBJECTS } from './bad-objects.js';
import { namesOf } from './crawl.js';
import { testEveryCall } from './every-call.js';
import { SCENE_CHARACTER_METHODS, SCENE_FRAME_METHODS } from './frame-calls.js';
import { THREE_CALLS, TRACKER_METHODS } from './three-calls.js';
import { TrackedWorld } from './three-world.js';

// The same tests run in Node and in a browser.

interface FuzzOptions {
  /** Fraction of all hostile values in all places: 1 takes several minutes. */
  share: number;
  isLoud?: boolean;
}

/** Members of the tracker for our own code, and those that are not methods. */
const OTHER_MEMBERS = [
  'pending',
  'untracked',
  'culled',
  'root',
  'follow',
  'service',
  'witness',
  'viewName',
  'viewOf',
  'targetIds',
  'askFollowers',
  'endAll',
  'tell',
];

export function fuzzTracker({ share, isLoud = false }: FuzzOptions): void {
  let world: TrackedWorld;
  beforeAll(async () => {
    world = await TrackedWorld.open();
  });
  afterAll(() => world.service.dispose());

  test('the table knows all that there is to call', () => {
    expect(namesOf(world.tracker)).toEqual([...Object.keys(TRACKER_METHODS), ...OTHER_MEMBERS].sort());
    expect(namesOf(world.frame!)).toEqual([...Object.keys(SCENE_FRAME_METHODS), 'frame'].sort());
    const characterMembers = [...Object.keys(SCENE_CHARACTER_METHODS), 'state', 'object', 'refresh', 'place', 'end'];
    expect(namesOf(world.character)).toEqual(characterMembers.sort());
    const names = THREE_CALLS.map(({ name }) => name).filter((name) => !name.includes('.'));
    // An overlay needs a document.
    expect([...names, 'StatsOverlay'].sort()).toEqual(Object.keys(adapter).sort());
  });

  testEveryCall({
    calls: THREE_CALLS,
    worldOf: () => world,
    knownOf: ({ tracker, service, frame, character, box }) => [
      tracker,
      character,
      service,
      frame!,
      frame!.result,
      frame!.result.contacts,
      frame!.contactsOf(box)[0],
      () => {}, // ends a hover
    ],
    share,
    isLoud,
  });

  test('a frame whose buffer was recycled says so', async () => {
    const frame = world.frame!;
    frame.forEachContact(() => {});
    const [contact] = frame.contactsOf(world.box);
    for (let i = 0; i < 3; i++) await world.restock();
    const calls = [
      ...[() => frame.forEachVisible(() => {}), () => frame.forEachContact(() => {})],
      ...[() => frame.forEachEnded(() => {}), () => frame.contactsBetween(world.box)],
      ...[() => frame.visibleInstances(world.instances, new Uint32Array(2)), () => frame.contactsOf(world.box)],
      ...[() => contact.begun, () => contact.points, () => contact.triangles],
    ];
    const disposedError = expect.objectContaining({ name: 'CollisionError', code: 'DISPOSED' });
    for (const call of calls) expect(call, String(call)).toThrowError(disposedError);
  });

  test('a draw list without room is refused', () => {
    const list = () => world.frame!.visibleInstances(world.instances, new Uint32Array(1));
    expect(list).toThrowError(/visibleInstances: the length of target is 1, expected room/);
  });

  test.each([
    ['meshDataFromGeometry', adapter.meshDataFromGeometry],
    ['boxFromGeometry', adapter.boxFromGeometry],
  ] as const)('%s of what is no good', async (_, dataOf) => {
    for (const [what, make] of Object.entries(GEOMETRIES)) {
      const { service } = world;
      try {
        const data = dataOf(make() as never);
        if ('type' in data) await service.overlap(data);
        else service.removeMesh(await service.addMesh(data));
      } catch (error) {
        expect(error, `${what}: ${error}`).toBeInstanceOf(CollisionError);
      }
    }
    expect(await world.complaint()).toBe('');
  });

  describe('objects in the scene', () => {
    let running: Promise<void> = Promise.resolve();
    beforeEach(async () => {
      vi.spyOn(console, 'warn').mockImplementation(() => {});
      // A timed-out attempt continues until it notices, and leaves its object behind.
      await running.catch(() => {});
      await restore();
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    test.for(inChunks(BAD_OBJECTS))(
      'that are no good are left out, and the others stay, part %#',
      async (chunk, { signal }) => {
        running = checkObjects(chunk, signal);
        await running;
      },
    );

    const random = new Random(SEED);
    const spoiled = SPOILED_OBJECTS.filter(() => random.chance(share));
    test(`that become no good are left out, and the others stay, seed ${SEED}`, async ({ signal }) => {
      running = checkObjects(spoiled, signal);
      await running;
    });
  });

  async function checkObjects(objects: readonly BadObject[], signal: AbortSignal): Promise<void> {
    for (const { what, make, change } of objects) {
      signal.throwIfAborted();
      await checkObject(what, make(), change);
    }
  }

  /** Restores the scene to its own objects, and waits until nothing else is left in the service. */
  async function restore(what = 'what was there before'): Promise<void> {
    const { scene, tracker, service, box, instances } = world;
    scene.children.splice(0, scene.children.length, box, instances);
    tracker.changed(scene); // some are valid after all
    await world.restock();
    // A build that was cancelled ends after some time.
    await expect.poll(() => service.stats.pending, { message: what, timeout: 20_000, interval: 1 }).toBe(0);
    await expect.poll(() => world.complaint(), { message: what, timeout: 20_000, interval: 1 }).toBe('');
  }

  /** Adds an object to the scene, changes it there, and removes it again: all other objects must answer throughout. */
  async function checkObject(what: string, object: Object3D, change?: (object: Object3D) => void): Promise<void> {
    const { scene, tracker, service } = world;
    scene.children.push(object);
    tracker.changed(scene); // otherwise manual changes are noticed within a second
    if (change !== undefined) {
      object.parent = scene;
      await world.restock();
      // Parts of it have been built by then.
      await expect.poll(() => service.stats.pending, { message: what, timeout: 20_000, interval: 1 }).toBe(0);
      await world.restock();
      change(object);
      tracker.changed(scene);
    }
    for (let i = 0; i < 2; i++) expect(await world.answers(), what).toBe('');
    await restore(what);
  }
}

/** All of them, about two thousand, may exceed the time limit of a test in a slow browser: this many make one test. */
const CHUNK_SIZE = 200;

function inChunks<T>(objects: readonly T[]): T[][] {
  const count = Math.ceil(objects.length / CHUNK_SIZE);
  return Array.from({ length: count }, (_, i) => objects.slice(i * CHUNK_SIZE, (i + 1) * CHUNK_SIZE));
}
