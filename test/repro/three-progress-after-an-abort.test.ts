// The builds that an abort ended reported progress one by one, each time as 1, after the abort: a page took that for the end.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Mesh, Scene, SphereGeometry } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

const MESHES = 20;

async function withScene() {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const scene = new Scene();
  for (let i = 0; i < MESHES; i++) scene.add(new Mesh(new SphereGeometry(1, 60, 40)));
  return { service, scene };
}

/** Waits until the worker has answered what it was asked before. */
async function drain(service: Awaited<ReturnType<typeof withScene>>['service']) {
  while (service.stats.pending > 0 || service.stats.meshes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('an aborted trackScene reports no progress any more', async () => {
  const { service, scene } = await withScene();
  const controller = new AbortController();
  let isAborted = false;
  const late: number[] = [];
  const tracking = trackScene(service, scene, {
    signal: controller.signal,
    onProgress: (fraction) => {
      if (isAborted) late.push(fraction);
      isAborted = true;
      controller.abort();
    },
  });
  await expect(tracking).rejects.toMatchObject({ code: 'ABORTED' });
  await drain(service);
  expect(isAborted).toBe(true);
  expect(late).toEqual([]);
});

test('a tracker that is disposed while it builds reports no progress any more', async () => {
  const { service, scene } = await withScene();
  const root = new Scene();
  const fractions: number[] = [];
  const tracker = await trackScene(service, root, { onProgress: (fraction) => fractions.push(fraction) });
  root.add(scene);
  await tracker.update(frontCamera(), SIZE);
  expect(tracker.pending.length).toBeGreaterThan(0);
  const { length } = fractions;
  tracker.dispose();
  await drain(service);
  expect(fractions.length).toBe(length);
});
