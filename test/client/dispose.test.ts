// dispose() at any time: no promise stays pending, and no worker or timer is left.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { runShortLife } from '../soak/short-life.js';
import { disposeAt, MOMENTS } from '../suites/disposed.js';

const SCRIPT = new URL(import.meta.resolve('collision-worker/worker'));
const MEGABYTE = 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test.each(MOMENTS)('%s', async (...moment) => {
  let running = 0;
  const workers = await disposeAt(moment, () => {
    const worker = new Worker(SCRIPT);
    running++;
    worker.on('exit', () => running--);
    return worker as never;
  });
  await expect.poll(() => running).toBe(0);
  expect(workers.length).toBeGreaterThan(0);
});

test('services that come and go leave memory as it was', { timeout: 120_000 }, async () => {
  for (let i = 0; i < 10; i++) await runShortLife(i);
  collectGarbage();
  const before = process.memoryUsage();
  for (let i = 0; i < 30; i++) await runShortLife(i);
  collectGarbage();
  const after = process.memoryUsage();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(2 * MEGABYTE);
  expect(after.external - before.external).toBeLessThan(16 * MEGABYTE);
  expect(after.rss - before.rss).toBeLessThan(64 * MEGABYTE);
});

test('a process in which services were disposed of ends by itself', async () => {
  const index = import.meta.resolve('collision-worker');
  const script = `
    import { createCollisionService } from '${index}';
    const positions = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    for (const isWaiting of [false, true]) {
      const service = await createCollisionService();
      const pending = [service.update(), service.update(), service.addMesh({ positions })];
      if (isWaiting) await pending[0];
      service.dispose();
      console.log((await Promise.allSettled(pending)).map(({ reason }) => reason?.code ?? 'done').join());
    }`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('DISPOSED,DISPOSED,DISPOSED\ndone,DISPOSED,DISPOSED\n');
});

test.each([true, false])('a tracker lets go of its scene, with a service that is there: %s', async (isThere) => {
  const worker = new Worker(SCRIPT);
  const service = await createCollisionService({ restart: false, builders: 0, createWorker: () => worker as never });
  const geometry = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const scene = new Scene().add(new Mesh(geometry, material), new Mesh(geometry, material));
  const tracker = await trackScene(service, scene);
  await tracker.update(new PerspectiveCamera(), { width: 100, height: 100 });
  expect(service.stats).toMatchObject({ objects: 2, meshes: 1 });
  if (!isThere) {
    const lost = new Promise((resolve) => service.addEventListener('lost', resolve));
    await worker.terminate();
    await lost;
  }
  tracker.dispose();
  tracker.dispose();
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0 });
  for (const object of [scene, ...scene.children, geometry, material]) {
    expect(Object.values((object as { _listeners?: object })._listeners ?? {}).flat()).toEqual([]);
  }
  service.dispose();
});
