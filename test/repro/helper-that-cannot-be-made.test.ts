// A builder that was to build the second part of another one's tree, and could not be created, took the mesh down with it:
// `addMesh` was not answered until the builder counted as silent, and an error was unhandled.
import { Worker } from 'node:worker_threads';
import { createCollisionService } from 'collision-worker';
import { PlaneGeometry } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { trianglesOf } from '../oracle/meshes.js';

test('a mesh is built by one builder where a second one cannot be made', async () => {
  let made = 0;
  const createWorker = () => {
    if (++made > 2) throw new Error('there are enough');
    return new Worker(new URL(import.meta.resolve('collision-worker/worker')));
  };
  const service = await createCollisionService({ builders: 2, createWorker });
  onTestFinished(() => service.dispose());
  const { positions, indices } = trianglesOf(new PlaneGeometry(1, 1, 320, 320));
  expect(indices!.length / 3).toBeGreaterThan(200_000);
  const mesh = await service.addMesh({ positions, indices });
  expect(made).toBe(3);
  expect(service.meshInfo(mesh).triangles).toBe(indices!.length / 3);
  expect(service.stats.pending).toBe(0);
});

test.each([0, 1])('an error of createWorker names the call, with %d workers made', async (count) => {
  let made = 0;
  const createWorker = () => {
    if (++made > count) throw new Error('there are enough');
    return new Worker(new URL(import.meta.resolve('collision-worker/worker')));
  };
  const adding = async () => {
    const service = await createCollisionService({ createWorker });
    onTestFinished(() => service.dispose());
    return service.addMesh({ positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0) });
  };
  const operation = count === 0 ? 'createCollisionService' : 'addMesh';
  await expect(adding()).rejects.toThrow(`${operation}: the worker could not be made: Error: there are enough`);
});
