// Meshes of megabytes are loaded, moved and replaced while all else is answered.
import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SIZE = 400;
/** A square of hills, from 0 to 1 in x and z: 320,000 triangles, 26 MB. */
const hills = hillsOf(SIZE);
const raised = hills.positions.map((x, i) => (i % 3 === 1 ? x + 5 : x));
const ABORTED = expect.objectContaining({ code: 'ABORTED' });

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

/** Tells whether a ray that is asked for behind some work is answered before that is done. */
async function isRayFirst(work: Promise<unknown>): Promise<boolean> {
  const order: string[] = [];
  await Promise.all([work.then(() => order.push('work')), height().then(() => order.push('ray'))]);
  return order[0] === 'ray';
}

/** Answers where a ray from above meets the hills; null without any. */
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
  const loading = service.addMesh(baked);
  expect(await isRayFirst(loading)).toBe(true);
  service.removeMesh(await loading);

  const moving = service.updateMesh(mesh, raised);
  const again = service.updateMesh(mesh, hills.positions);
  const last = service.updateMesh(mesh, raised);
  expect(await height()).toBe(before);
  expect(await isRayFirst(moving)).toBe(true);
  await Promise.all([again, last]);
  expect(await height()).toBeCloseTo(before! + 5, 3);
});

test.each(['points', 'lines'] as const)('rays are answered while %s are moved and baked', async (topology) => {
  // Four million vertices.
  const positions = new Float32Array(24 * hills.positions.length).map(
    (_, i) => hills.positions[i % hills.positions.length],
  );
  const mesh = await service.addMesh({ positions, topology });
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const ray = { origin: [0.3, 100, 0.4], direction: [0, -1, 0] } as const;
  const before = await service.raycast(ray, { threshold: 0.01 });
  const moving = service.updateMesh(
    mesh,
    positions.map((x, i) => (i % 3 === 1 ? x + 5 : x)),
  );
  expect((await service.raycast(ray, { threshold: 0.01 }))!.distance).toBe(before!.distance);
  expect(await isRayFirst(moving)).toBe(true);
  expect((await service.raycast(ray, { threshold: 0.01 }))!.distance).toBeCloseTo(before!.distance - 5, 3);
  const baking = service.bakeMesh(mesh);
  expect(await isRayFirst(baking)).toBe(true);
  const baked = await baking;
  const again = await service.addMesh(baked);
  expect(await service.bakeMesh(again)).toEqual(baked);
});

test.each([false, true])('rays are answered while a mesh is baked, with its vertices moved: %s', async (isMoved) => {
  // One whose vertices have not moved is little more than copied, which a small one is within one slice.
  const { mesh } = await place(isMoved ? hills : hillsOf(2.5 * SIZE));
  if (isMoved) await service.updateMesh(mesh, raised);
  const before = await height();
  const baking = service.bakeMesh(mesh);
  expect(await isRayFirst(baking)).toBe(true);
  const baked = await baking;
  expect(await height()).toBe(before);
  const again = await service.addMesh(baked);
  expect(await service.bakeMesh(again)).toEqual(baked);
});

test('a mesh that is removed or moved while it is baked is baked as it was', async () => {
  const { mesh, id } = await place();
  const expected = await service.bakeMesh(mesh);
  const moving = [service.bakeMesh(mesh), service.updateMesh(mesh, raised), service.updateMesh(mesh, hills.positions)];
  expect(await moving[0]).toEqual(expected);
  await Promise.all(moving);
  // As it was before, but that all is derived anew.
  const removed = service.bakeMesh(mesh);
  service.removeObject(id);
  service.removeMesh(mesh);
  expect(await removed).toEqual(expected);
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
  const moving = [service.updateMesh(mesh, raised), service.updateMesh(mesh, hills.positions)];
  await height();
  service.removeObject(id);
  service.removeMesh(mesh);
  for (const each of moving) await expect(each).rejects.toEqual(ABORTED);
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
    const loading = service.addMesh(baked, { signal: controller.signal });
    if (isUnderWay) await height();
    controller.abort();
    await expect(loading).rejects.toEqual(ABORTED);
  }
  const used = async () => {
    await service.update();
    return service.stats.usedBytes;
  };
  // The first ray keeps a few bytes to work in; a check alone has 1,500.
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
