// Meshes of megabytes are loaded, moved and replaced while all other calls are answered.
import { type CollisionService, createCollisionService, type Hit, type MeshId } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { HeldWorker } from '../fixtures/held-worker.js';

const SIZE = 400;
/** A square of hills, from 0 to 1 in x and z: 320,000 triangles, 26 MB. */
const hills = hillsOf(SIZE);
const raised = hills.positions.map((x, i) => (i % 3 === 1 ? x + 5 : x));
const ABORTED = expect.objectContaining({ code: 'ABORTED' });

let worker: GatedWorker;
let service: CollisionService;
beforeEach(async () => {
  worker = new GatedWorker();
  let workers = 0;
  service = await createCollisionService({ createWorker: () => (workers++ === 0 ? worker : new HeldWorker()) });
});
afterEach(() => service.dispose());

/**
 * Asks for work and for a ray behind it, before the worker has
 * received either. Returns whether the ray is answered first.
 */
async function isRayFirst(begin: () => Promise<unknown>): Promise<boolean> {
  const order: string[] = [];
  await worker.atOnce(() =>
    Promise.all([begin().then(() => order.push('work')), height().then(() => order.push('ray'))]),
  );
  return order[0] === 'ray';
}

/** Returns where a ray from above hits the hills; null if it does not. */
async function height(): Promise<number | null> {
  const hit = await service.raycast({ origin: [0.3, 100, 0.4], direction: [0, -1, 0] });
  return hit && Math.round(1e4 * hit.point[1]) / 1e4;
}

async function place(data = hills): Promise<{ mesh: MeshId; id: number }> {
  const mesh = await service.addMesh(data);
  const id = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  return { mesh, id };
}

test('rays are answered while a mesh is loaded, moved, and moved at once again', async () => {
  const { mesh } = await place();
  const before = await height();
  const baked = await service.bakeMesh(mesh);
  const loaded: MeshId[] = [];
  expect(await isRayFirst(async () => loaded.push(await service.addMesh(baked)))).toBe(true);
  service.removeMesh(loaded[0]);

  const order: string[] = [];
  const moved = (positions: Float32Array) => service.updateMesh(mesh, positions).then(() => order.push('moved'));
  await worker.atOnce(async () => {
    const moving = [moved(raised), moved(hills.positions), moved(raised)];
    expect(await height()).toBe(before);
    order.push('ray');
    await Promise.all(moving);
  });
  expect(order).toEqual(['ray', 'moved', 'moved', 'moved']);
  expect(await height()).toBeCloseTo(before! + 5, 3);
});

test.each(['points', 'lines'] as const)('rays are answered while %s are moved and baked', async (topology) => {
  // 640,000 vertices.
  const positions = new Float32Array(4 * hills.positions.length).map(
    (_, i) => hills.positions[i % hills.positions.length],
  );
  const mesh = await service.addMesh({ positions, topology });
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const ray = { origin: [0.3, 100, 0.4], direction: [0, -1, 0] } as const;
  const before = await service.raycast(ray, { threshold: 0.01 });
  const up = positions.map((x, i) => (i % 3 === 1 ? x + 5 : x));
  let during: Promise<Hit | null> | undefined;
  const move = () => {
    const moving = service.updateMesh(mesh, up);
    during = service.raycast(ray, { threshold: 0.01 });
    return moving;
  };
  expect(await isRayFirst(move)).toBe(true);
  expect((await during)!.distance).toBe(before!.distance);
  expect((await service.raycast(ray, { threshold: 0.01 }))!.distance).toBeCloseTo(before!.distance - 5, 3);
  let baked!: ArrayBuffer;
  const bake = async () => {
    baked = await service.bakeMesh(mesh);
  };
  expect(await isRayFirst(bake)).toBe(true);
  const again = await service.addMesh(baked);
  expect(await service.bakeMesh(again)).toEqual(baked);
});

test.each([false, true])('rays are answered while a mesh is baked, with its vertices moved: %s', async (isMoved) => {
  const { mesh } = await place();
  if (isMoved) await service.updateMesh(mesh, raised);
  const before = await height();
  let baked!: ArrayBuffer;
  const bake = async () => {
    baked = await service.bakeMesh(mesh);
  };
  expect(await isRayFirst(bake)).toBe(true);
  expect(await height()).toBe(before);
  const again = await service.addMesh(baked);
  expect(await service.bakeMesh(again)).toEqual(baked);
});

test('a mesh that is removed or moved while it is baked is baked as it was', async () => {
  const { mesh, id } = await place();
  const expected = await service.bakeMesh(mesh);
  const [asItWas] = await worker.atOnce(() =>
    Promise.all([service.bakeMesh(mesh), service.updateMesh(mesh, raised), service.updateMesh(mesh, hills.positions)]),
  );
  expect(asItWas).toEqual(expected);
  // As it was before, except that everything is derived anew.
  const removed = () => {
    const baking = service.bakeMesh(mesh);
    service.removeObject(id);
    service.removeMesh(mesh);
    return baking;
  };
  expect(await worker.atOnce(removed)).toEqual(expected);
  await service.update();
  const { usedBytes } = service.stats;
  for (let i = 0; i < 3; i++) {
    const other = await service.addMesh(hills);
    const baking = service.bakeMesh(other);
    service.removeMesh(other);
    expect(await baking).toEqual(expected);
    await service.update();
  }
  expect(service.stats.usedBytes).toBe(usedBytes);
});

test('a mesh that is removed while it is moved says so, and its memory comes back', async () => {
  const { mesh, id } = await place();
  await service.update();
  let moving: Promise<unknown> | undefined;
  await worker.untilAnswer(() => {
    moving = Promise.allSettled([service.updateMesh(mesh, raised), service.updateMesh(mesh, hills.positions)]);
    return height();
  });
  service.removeObject(id);
  service.removeMesh(mesh);
  await new Promise(setImmediate);
  worker.open();
  const reason = ABORTED;
  expect(await moving).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await service.update();
  const { usedBytes } = service.stats;
  for (let i = 0; i < 3; i++) {
    service.removeMesh(await service.addMesh(hills));
    await service.update();
  }
  expect(service.stats.usedBytes).toBe(usedBytes);
});

test('a load that is aborted while it is copied leaves nothing', async () => {
  const { mesh } = await place();
  const baked = await service.bakeMesh(mesh);
  await service.update();
  const { usedBytes } = service.stats;
  for (const isUnderWay of [true, true, false]) {
    const controller = new AbortController();
    let loading: Promise<MeshId> | undefined;
    const load = () => {
      loading = service.addMesh(baked, { signal: controller.signal });
    };
    if (isUnderWay) {
      await worker.untilAnswer(() => {
        load();
        return height();
      });
    } else load();
    controller.abort();
    await expect(loading).rejects.toEqual(ABORTED);
    if (isUnderWay) worker.open();
  }
  const used = async () => {
    await service.update();
    return service.stats.usedBytes;
  };
  // The first ray keeps a few bytes of scratch memory; a check alone has 1,500.
  await expect.poll(used, { timeout: 10_000 }).toBeLessThan(usedBytes + 1000);
  expect(await height()).not.toBeNull();
});

test('bad positions of a large mesh are said, and it stays as it was', async () => {
  const { mesh } = await place();
  const before = await height();
  const bad = raised.slice();
  bad[3 * 100_000 + 1] = Number.NaN;
  await expect(service.updateMesh(mesh, bad)).rejects.toMatchObject({
    code: 'BAD_DATA',
    message: expect.stringContaining('vertex 100000 of positions'),
  });
  expect(await height()).toBe(before);
});

function hillsOf(size: number) {
  const row = size + 1;
  const positions = new Float32Array(3 * row * row);
  const indices = new Uint32Array(6 * size * size);
  for (let i = 0; i < row * row; i++) {
    const [x, z] = [(i % row) / size, Math.floor(i / row) / size];
    positions.set([x, 0.1 * Math.sin(20 * x) * Math.cos(30 * z), z], 3 * i);
  }
  for (let i = 0; i < size * size; i++) {
    const a = (i % size) + Math.floor(i / size) * row;
    indices.set([a, a + row, a + 1, a + 1, a + row, a + row + 1], 6 * i);
  }
  return { positions, indices };
}
