// What `trackScene` does by default, and what its options change.
import type { ContactDetail } from 'collision-worker';
import { type SceneFrame, trackScene } from 'collision-worker/three';
import { Scene } from 'three';
import { describe, expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();

describe('contacts', () => {
  /** Two cubes, one in the other. */
  const pair = () => new Scene().add(cube(), cube());
  const found = ({ result: { contacts } }: SceneFrame) => [contacts.count, contacts.depths.length > 0];

  test('are none by default', async () => {
    const tracker = await trackScene(service, pair());
    expect(found(await tracker.update(frontCamera(), SIZE))).toEqual([0, false]);
  });

  test.each<[ContactDetail, number, boolean]>([
    ['none', 0, false],
    ['any', 1, false],
    ['manifold', 1, true],
  ])('%s: %s pairs, with points: %s', async (contacts, count, hasPoints) => {
    const tracker = await trackScene(service, pair(), { contacts });
    expect(found(await tracker.update(frontCamera(), SIZE))).toEqual([count, hasPoints]);
  });

  test("are as the objects' own options say where these do", async () => {
    const scene = pair();
    const own = await trackScene(service, scene, { objectOptions: () => ({ contacts: 'manifold' }) });
    expect(found(await own.update(frontCamera(), SIZE))).toEqual([1, true]);
    own.dispose();
    const unsaid = await trackScene(service, scene, {
      contacts: 'manifold',
      objectOptions: (object) => (object === scene.children[0] ? { contacts: 'any' } : undefined),
    });
    expect(found(await unsaid.update(frontCamera(), SIZE))).toEqual([1, false]);
  });

  test('of no known detail are refused', async () => {
    const bad = trackScene(service, pair(), { contacts: 'all' as never });
    await expect(bad).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/trackScene: contacts is "all", expected one of "none"/),
    });
    expect(service.stats.objects).toBe(0);
  });
});

test('a signal ends the start, and nothing behind it', async () => {
  const abort = new AbortController();
  const before = service.stats.objects;
  const starting = trackScene(service, new Scene().add(cube()), { signal: abort.signal });
  abort.abort('no more');
  await expect(starting).rejects.toMatchObject({ code: 'ABORTED', cause: 'no more' });
  await expect(trackScene(service, new Scene(), { signal: abort.signal })).rejects.toMatchObject({ code: 'ABORTED' });
  expect(service.stats.objects).toBe(before);
  const later = new AbortController();
  const tracker = await trackScene(service, new Scene().add(cube()), { signal: later.signal });
  later.abort();
  expect((await tracker.update(frontCamera(), SIZE)).result.frame).toBeGreaterThan(0);
  expect(service.stats.objects).toBe(before + 1);
  tracker.dispose();
});
