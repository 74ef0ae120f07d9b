// Small meshes are sent and built many to a message, and each has an answer of its own.
import { Worker } from 'node:worker_threads';
import { createCollisionService } from 'collision-worker';
import { afterEach, expect, test, vi } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([0, 1, 3])('many small meshes in a task, with %d builders', async (builders) => {
  const posted: string[] = [];
  const original = Worker.prototype.postMessage;
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, message, transfer) {
    if (Array.isArray(message)) posted.push(message[1]);
    original.call(this, message, transfer);
  });
  const service = await createCollisionService({ builders });
  const sizes = Array.from({ length: 200 }, (_, i) => 1 + i / 50);
  const [before, during] = [new AbortController(), new AbortController()];
  before.abort();
  const flat = { positions: new Float32Array(9), indices: Uint32Array.of(0, 1, 2) };
  const outside = { positions: new Float32Array(9), indices: Uint32Array.of(0, 1, 7) };
  const given = boxMesh(9, 9, 9);
  const others = Promise.allSettled([
    service.addMesh(flat),
    service.addMesh(outside),
    service.addMesh(boxMesh(1, 1, 1), { signal: before.signal }),
    service.addMesh(boxMesh(1, 1, 1), { signal: during.signal }),
    service.addMesh(given),
  ]);
  const fractions: number[] = [];
  const adding = sizes.map((size) => service.addMesh(boxMesh(size, 1, 1), { onProgress: (f) => fractions.push(f) }));
  during.abort();
  given.positions.fill(Number.NaN); // it was copied
  const meshes = await Promise.all(adding);
  expect((await others).map((each) => (each.status === 'rejected' ? each.reason.code : 'built'))).toEqual([
    'BAD_DATA',
    'BAD_DATA',
    'ABORTED',
    'ABORTED',
    'built',
  ]);
  expect(service.stats.meshes).toBe(sizes.length + 1);
  expect(fractions.filter((fraction) => fraction === 1)).toHaveLength(sizes.length);
  const count = (name: string) => posted.filter((each) => each === name).length;
  expect([count('buildMesh'), count('loadMesh')]).toEqual([0, 0]);
  expect(count('buildMeshes')).toBeLessThan(16);
  expect(count('loadMeshes')).toBeLessThan(32);
  // Each is the one that was given.
  for (const i of [0, 31, 32, 77, 199]) {
    const id = service.addObject({ shape: { type: 'mesh', mesh: meshes[i] } });
    const hit = await service.raycast({ origin: [100, 0, 0], direction: [-1, 0, 0] });
    expect(hit).toMatchObject({ object: id, distance: expect.closeTo(100 - extentOf(sizes[i]), 4) });
    service.removeObject(id);
  }
  service.dispose();
});

/** Where the surface of a box of that size is. */
function extentOf(size: number): number {
  return Math.max(...boxMesh(size, 1, 1).positions.filter((_, i) => i % 3 === 0));
}
