// What a tracker's meshes do while they are built, with a service that the test controls.
import type { MeshData, MeshId } from 'collision-worker';
import { BoxGeometry, BufferAttribute, BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from 'three';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import type { MeshUser, SharedMesh } from '../../src/client/three/geometry/shared-mesh.js';
import { CollisionError } from '../../src/shared/errors.js';
import { Random, SEED } from '../oracle/random.js';

interface Build {
  readonly signal: AbortSignal;
  onProgress(fraction: number): void;
  resolve(id: MeshId): void;
  reject(error: unknown): void;
}

/** A pool, and the builds that it has requested. */
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

test('every build of triangles has the quality that was asked for; points have one alone', async () => {
  const asked: unknown[] = [];
  const service = { addMesh: async (_: MeshData, { quality }: { quality: unknown }) => asked.push(quality) };
  const pool = new MeshPool(service as never, () => {}, 'fast');
  pool.acquire(new BoxGeometry(), null, 0, user);
  pool.acquire(new BoxGeometry(), null, 0, user, 'points');
  await turn();
  expect(asked).toEqual(['fast', 'good']);
});

test('a build that is lost with its worker begins again, three times in all', async () => {
  const { pool, builds } = start();
  const { mesh } = pool.acquire(new BoxGeometry(), null, 0, user);
  for (let count = 1; count <= 3; count++) {
    expect(builds).toHaveLength(count);
    builds[count - 1].reject(new CollisionError('WORKER_LOST', 'gone'));
    await turn();
  }
  expect(builds).toHaveLength(3);
  expect(mesh).toMatchObject({ built: null, isBuilding: false, error: { code: 'WORKER_LOST' } });
});

test('a build that fails in another way does not begin again', async () => {
  const { pool, builds } = start();
  const { mesh } = pool.acquire(new BoxGeometry(), null, 0, user);
  builds[0].reject(new Error('no'));
  await turn();
  expect(builds).toHaveLength(1);
  expect(mesh).toMatchObject({ built: null, isBuilding: false, error: { code: 'BAD_DATA' } });
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
  const end = pool.built();
  for (const mesh of [built, late, aborted]) pool.release(mesh);
  expect(builds.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  builds[1].resolve(8);
  builds[2].reject(new CollisionError('ABORTED', 'by its signal'));
  await end;
  expect(removed).toEqual([8]);
  while (pool.hasRetired) pool.sweepOne();
  pool.sweepOne(); // nothing remains
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

test.each([1, 2, 3])('what %i static objects have is read again when it changes, by turns', async (count) => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => clock.mockRestore());
  let reads = 0;
  const service = { addMesh: async () => ++reads, updateMesh: async () => void reads++, removeMesh() {} };
  const pool = new MeshPool(service as never, () => {});
  const geometry = new BoxGeometry();
  const uses = Array.from({ length: count }, () => pool.acquire(geometry, null, 0, { ...user, isStatic: true }));
  const look = async () => {
    for (let i = 0; i < 10; i++) {
      time += 100;
      pool.refresh();
    }
    await turn();
    await turn();
  };
  await look();
  expect(reads).toBe(1);
  for (let round = 2; uses.length > 0; round++) {
    geometry.attributes.position.needsUpdate = true;
    await look();
    expect(reads).toBe(round);
    pool.release(uses.pop()!);
  }
  geometry.attributes.position.needsUpdate = true;
  await look();
  expect(reads).toBe(1 + count);
});

test('vertices that the service does not move are built anew, each time', async () => {
  let [moves, builds] = [0, 0];
  const updateMesh = async (): Promise<void> => {
    if (++moves < 5) throw new CollisionError('BAD_DATA', 'they are not finite');
  };
  const pool = new MeshPool({ addMesh: async () => ++builds, updateMesh, removeMesh() {} } as never, () => {});
  const geometry = new BoxGeometry();
  const { mesh } = pool.acquire(geometry, null, 0, user);
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < 4; i++) await turn();
    expect([moves, builds]).toEqual([round - 1, round]);
    expect(mesh).toMatchObject({ built: { id: round }, isBuilding: false, error: null });
    geometry.attributes.position.needsUpdate = true;
    pool.refresh();
  }
});

test(`what changes of many geometries is read again, whatever it was before, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let next = 0;
  const service = {
    addMesh: async () => ++next,
    updateMesh: async () => {},
    removeMesh() {},
  };
  const pool = new MeshPool(service as never, () => {});
  const numbers = Float32Array.from({ length: 90 }, () => random.range(-1, 1));
  const changes: ((geometry: BufferGeometry) => void)[] = [
    (geometry) => {
      (geometry.attributes.position as BufferAttribute).needsUpdate = true;
    },
    (geometry) => {
      if (geometry.index !== null) geometry.index.needsUpdate = true;
    },
    (geometry) => geometry.setDrawRange(0, random.pick([3, 6, 9, Number.POSITIVE_INFINITY])),
    (geometry) => geometry.setDrawRange(random.pick([0, 3]), 9),
    (geometry) =>
      geometry.setIndex(
        random.pick([null, new BufferAttribute(Uint16Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 1)]),
      ),
    (geometry) => geometry.setAttribute('position', new BufferAttribute(numbers.slice(0, random.pick([45, 90])), 3)),
    (geometry) =>
      geometry.setAttribute('position', new InterleavedBufferAttribute(new InterleavedBuffer(numbers, 3), 3, 0)),
    (geometry) => geometry.addGroup(0, 3),
    (geometry) => geometry.clearGroups(),
  ];
  const stateOf = ({ attributes, index, drawRange, groups, uuid }: BufferGeometry): unknown[] => {
    const position = attributes.position as BufferAttribute | InterleavedBufferAttribute;
    const version = 'data' in position ? position.data.version : position.version;
    return [
      uuid,
      position,
      version,
      position.count,
      index,
      index?.version,
      drawRange.start,
      drawRange.count,
      JSON.stringify(groups),
    ];
  };
  const geometries: BufferGeometry[] = [];
  const states: unknown[][] = [];
  const meshes: SharedMesh[] = [];
  let changed = 0;
  for (let frame = 0; frame < 300; frame++) {
    if (geometries.length < 60 && random.chance(0.5)) {
      const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(numbers.slice(), 3));
      geometries.push(geometry);
      states.push(stateOf(geometry));
      meshes.push(pool.acquire(geometry, null, 0, user).mesh);
    }
    await turn(); // all are built
    await turn();
    for (const geometry of geometries) if (random.chance(0.1)) random.pick(changes)(geometry);
    const different = geometries.flatMap((geometry, i) =>
      stateOf(geometry).every((each, k) => each === states[i][k]) ? [] : [i],
    );
    pool.refresh();
    const found = meshes.flatMap(({ isBuilding }, i) => (isBuilding ? [i] : []));
    expect(found, `frame ${frame}`).toEqual(different);
    for (const i of different) states[i] = stateOf(geometries[i]);
    changed += different.length;
  }
  expect(changed).toBeGreaterThan(500);
});
