// A tree that was built for earlier vertices was installed in the next worker, which knew newer ones: the mesh reverted to the
// old vertices, or kept them although an update had resolved.
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

/** Cells along each side: their tree takes some slices. */
const CELLS = 150;
const DOWN = { origin: [CELLS / 2 + 0.3, CELLS / 2 + 0.4, 100], direction: [0, 0, -1] } as const;
const count = (CELLS + 1) ** 2;
const indices = new Uint32Array(6 * CELLS ** 2);
for (let i = 0, to = 0; i < CELLS; i++) {
  for (let j = 0; j < CELLS; j++, to += 6) {
    const [a, b] = [i * (CELLS + 1) + j, (i + 1) * (CELLS + 1) + j];
    indices.set([a, b, a + 1, a + 1, b, b + 1], to);
  }
}

/** A floor at that height, each row of which is where `rowOf` puts it. */
function floor(height: number, rowOf = (row: number) => row): Float32Array {
  const positions = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) positions.set([rowOf(Math.floor(i / (CELLS + 1))), i % (CELLS + 1), height], 3 * i);
  return positions;
}

/** Distant rows become adjacent: the old tree is of no use. */
const mixed = (row: number) => (row * 47) % (CELLS + 1);
const folded = (row: number) => Math.max(row, 20);

async function start(positions: Float32Array) {
  const mortal = await KillableService.create({ builders: 1 });
  const { service } = mortal;
  const mesh = await service.addMesh({ positions, indices });
  service.addObject({ shape: { type: 'mesh', mesh } });
  const heightNow = async () => (await service.raycast({ ...DOWN }))?.point[2];
  expect(await heightNow()).toBe(0);
  // The last worker is a builder.
  const kill = async () => {
    const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
    await mortal.workers[0].worker.terminate();
    await restored;
  };
  return { service, mesh, heightNow, kill };
}

test('the vertices are the newest ones, whatever tree was under way', async () => {
  const { service, mesh, heightNow, kill } = await start(floor(0));
  await service.updateMesh(mesh, floor(3, mixed));
  await service.updateMesh(mesh, floor(7));
  await kill();
  expect(await heightNow()).toBe(7);
  // Builds in progress are finished before this one.
  await service.bakeMesh(await service.addMesh({ positions: floor(0), indices }));
  expect(await heightNow()).toBe(7);
});

test('an update that waits for a tree is rejected with the worker, and the next one is done', async () => {
  const { service, mesh, heightNow, kill } = await start(floor(0, folded));
  const updates = [floor(3), floor(7)].map((positions) => service.updateMesh(mesh, positions));
  const settled = Promise.allSettled(updates);
  await service.meshBoxes(mesh); // it is answered behind both, which wait for a tree from now on
  await kill();
  const results = (await settled).map(({ status }) => status);
  expect(await heightNow()).toBe(results.includes('fulfilled') ? 7 : 0);
  await service.updateMesh(mesh, floor(9));
  expect(await heightNow()).toBe(9);
});
