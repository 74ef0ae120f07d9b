// Objects added to a scene waited as long as others were queried again: forever, if that is all of them, in every frame.
import { trackScene } from 'collision-worker/three';
import { Group, Mesh, Scene } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

withService();
afterEach(() => {
  vi.restoreAllMocks();
});

test('what comes is there after some frames, though all is asked for again in each', async () => {
  const { geometry, material } = cube();
  const scene = new Scene();
  for (let i = 0; i < 2000; i++) scene.add(new Mesh(geometry, material));
  const tracker = await trackScene(service, scene);
  await tracker.update(frontCamera(), SIZE);
  // A slice ends after the minimum amount of work.
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 5));
  const come = new Group();
  for (let i = 0; i < 50; i++) come.add(new Mesh(geometry, material));
  // A page that has no time between its frames.
  const updates: Promise<unknown>[] = [];
  while (tracker.idsOf(come.children[49]).length === 0 && updates.length < 30) {
    for (const object of scene.children) if (object !== come) tracker.changed(object);
    updates.push(tracker.update(frontCamera(), SIZE));
    if (updates.length === 1) scene.add(come); // while the first are queried again
    expect(new Set(tracker.pending).size).toBe(tracker.pending.length); // it was listed twice
  }
  await Promise.all(updates);
  expect(updates.length).toBeLessThan(10);
  vi.restoreAllMocks();
});
