// What a tracker's meshes do while they are built, with a service that does as it is told.
import type { MeshData, MeshId } from 'collision-worker';
import { BoxGeometry } from 'three';
import { expect, test } from 'vitest';
import { MeshPool, type MeshUser } from '../../src/client/three/geometry/mesh-pool.js';
import { CollisionError } from '../../src/shared/errors.js';

interface Build {
  readonly signal: AbortSignal;
  onProgress(fraction: number): void;
  resolve(id: MeshId): void;
  reject(error: unknown): void;
}

/** A pool, and the builds that it has asked for. */
function start() {
  const builds: Build[] = [];
  const removed: MeshId[] = [];
  const service = {
    addMesh: (_: MeshData, { signal, onProgress }: Build) =>
      new Promise<MeshId>((resolve, reject) => builds.push({ signal, onProgress, resolve, reject })),
    removeMesh: (id: MeshId) => removed.push(id),
  };
  const fractions: number[] = [];
  const pool: MeshPool = new MeshPool(service as never, () => fractions.push(pool.fraction));
  return { pool, builds, removed, fractions };
}

const user: MeshUser = { isStatic: false, onMeshChange() {} };
const turn = () => new Promise(setImmediate);

test('a build that is lost with its worker begins again, three times in all', async () => {
  const { pool, builds } = start();
  const { mesh } = pool.acquire(new BoxGeometry(), null, 0, user);
  for (let count = 1; count <= 3; count++) {
    expect(builds).toHaveLength(count);
    builds[count - 1].reject(new CollisionError('WORKER_LOST', 'gone'));
    await turn();
  }
  expect(builds).toHaveLength(3);
  expect(mesh).toMatchObject({ built: null, building: null, error: { code: 'WORKER_LOST' } });
});

test('a build that fails in another way does not begin again', async () => {
  const { pool, builds } = start();
  const { mesh } = pool.acquire(new BoxGeometry(), null, 0, user);
  builds[0].reject(new Error('no'));
  await turn();
  expect(builds).toHaveLength(1);
  expect(mesh).toMatchObject({ built: null, building: null, error: { code: 'BAD_DATA' } });
});

test('the progress is that of all triangles together', async () => {
  const { pool, builds, fractions } = start();
  pool.acquire(new BoxGeometry(), null, 0, user); // 12 triangles
  pool.acquire(new BoxGeometry(1, 1, 1, 3, 1, 1), null, 0, user); // 28
  builds[0].onProgress(0.5);
  builds[1].onProgress(0.25);
  builds[0].resolve(1);
  await turn();
  builds[1].resolve(2);
  await turn();
  expect(fractions).toEqual([6 / 40, 13 / 40, 19 / 40, 1]);
});

test('what nobody uses any more is removed, and what was being built is as soon as it is there', async () => {
  const { pool, builds, removed } = start();
  const [built, late, aborted] = [1, 2, 3].map((size) => pool.acquire(new BoxGeometry(size), null, 0, user));
  builds[0].resolve(7);
  await turn();
  const buildings = [late.mesh.building, aborted.mesh.building];
  for (const mesh of [built, late, aborted]) pool.release(mesh);
  expect(builds.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  builds[1].resolve(8);
  builds[2].reject(new CollisionError('ABORTED', 'by its signal'));
  await expect(Promise.all(buildings)).resolves.toEqual([undefined, undefined]);
  expect(removed).toEqual([8]);
  while (pool.hasRetired) pool.sweepOne();
  pool.sweepOne(); // there is nothing left
  expect(removed).toEqual([8, 7]);
});

test('of many builds few are under way at once, and all count for the progress; what waits and is released is not begun', async () => {
  const { pool, builds, fractions } = start();
  const uses = Array.from({ length: 200 }, () => pool.acquire(new BoxGeometry(), null, 0, user));
  await turn();
  const most = builds.length;
  expect(most).toBeLessThan(100);
  builds[0].resolve(1);
  await turn();
  await turn();
  expect(builds).toHaveLength(most + 1);
  expect(fractions).toEqual([1 / 200]);
  for (const use of uses.slice(100)) pool.release(use);
  for (let i = 1; i < builds.length; i++) {
    builds[i].resolve(i + 1);
    await turn();
    await turn();
  }
  await pool.built();
  expect(builds).toHaveLength(100);
  expect(fractions.at(-1)).toBe(1);
});
