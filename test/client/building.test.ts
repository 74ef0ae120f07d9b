// Builder workers: frames and picks continue, meshes are built side by side, and an abort leaves nothing behind.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';
import { createLimitedWorker } from '../fixtures/limited-memory.js';
import { waves } from '../oracle/meshes.js';
import { expectFlow, runBesideLargeBuild } from '../suites/flow.js';

test('frames and picks are answered while a million triangles are built', async () => {
  const service = await createCollisionService({ builders: 1 });
  const flow = await runBesideLargeBuild(service);
  expectFlow(flow);
  service.setObject(flow.box, { shape: { type: 'mesh', mesh: flow.mesh } });
  expect(service.meshInfo(flow.mesh)).toMatchObject({ triangles: 1_002_528, degenerate: 0 });
  const hit = await service.raycast({ origin: [0.3, 0.2, 5], direction: [0, 0, -1] }, { ignore: [] });
  expect(hit).toMatchObject({ object: flow.box });
  service.dispose();
});

test('meshes are built side by side: in two workers, and in turns within each', async () => {
  let workers = 0;
  const service = await createCollisionService({
    builders: 2,
    createWorker: () => {
      workers++;
      return createLimitedWorker(65536);
    },
  });
  const told: number[] = [];
  const mesh = waves(200);
  const meshes = await Promise.all([0, 1, 2, 3].map((i) => service.addMesh(mesh, { onProgress: () => told.push(i) })));
  expect(workers).toBe(3);
  const turns = told.filter((i, at) => i !== told[at - 1]).length;
  expect(turns).toBeGreaterThan(12);
  // None waited for another to finish.
  const begun = [0, 1, 2, 3].map((i) => told.indexOf(i));
  const done = [0, 1, 2, 3].map((i) => told.lastIndexOf(i));
  expect(done.filter((end) => Math.max(...begun) < end).length).toBeGreaterThan(1);
  const baked = await Promise.all(meshes.map((id) => service.bakeMesh(id)));
  for (const each of baked) expect(each).toEqual(baked[0]);
  service.dispose();
});

test('an abort ends the work, and the next build in that worker has all of its memory', async () => {
  const mesh = waves(400);
  // A builder with just enough memory for one build: whatever an abort leaked there would be missing.
  const service = await createCollisionService({ builders: 1, createWorker: () => createLimitedWorker(1400) });
  const add = (abortAt: number) => {
    const controller = new AbortController();
    const told: number[] = [];
    const promise = service.addMesh(mesh, {
      signal: controller.signal,
      onProgress: (fraction) => {
        told.push(fraction);
        if (fraction >= abortAt) controller.abort();
      },
    });
    return { promise, told };
  };
  for (const abortAt of [0, 0.1, 0.3, 0.5, 0.7, 0.8]) {
    const { promise, told } = add(abortAt);
    await expect(promise).rejects.toMatchObject({ code: 'ABORTED' });
    while (service.stats.pending > 0) await service.update();
    expect(told.at(-1)).toBeLessThan(1);
    const { length } = told;
    await service.update();
    expect(told.length).toBe(length);
    expect(service.stats).toMatchObject({ meshes: 0, pending: 0 });
  }
  expect(service.meshInfo(await add(2).promise).triangles).toBe(320_000);
  // It is that tight: two builds at a time do not fit.
  const two = await Promise.allSettled([add(2).promise, add(2).promise]);
  expect(two.map(({ status }) => status)).toContain('rejected');
  service.dispose();
});
