// The positions that `updateMesh` is given: copied or transferred, and available again after the worker is lost.
import type { MeshData } from 'collision-worker';
import { describe, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

const INDICES = Uint32Array.of(0, 1, 2, 2, 1, 3);

/** A square from -1 to 1 in x and y, at a height in z. */
function square(height: number): Float32Array {
  return Float32Array.of(-1, -1, height, 1, -1, height, -1, 1, height, 1, 1, height);
}

/** A square of triangles from 0 to 1 in x and y, `side` per side, whose height in z may vary. */
function grid(
  side: number,
  heightAt: (x: number, y: number) => number,
): Required<Pick<MeshData, 'positions' | 'indices'>> {
  const positions = new Float32Array(3 * (side + 1) ** 2);
  const indices = new Uint32Array(6 * side ** 2);
  for (let y = 0, at = 0; y <= side; y++) {
    for (let x = 0; x <= side; x++, at += 3) positions.set([x / side, y / side, heightAt(x / side, y / side)], at);
  }
  for (let y = 0, at = 0; y < side; y++) {
    for (let x = 0; x < side; x++, at += 6) {
      const a = y * (side + 1) + x;
      indices.set([a, a + 1, a + side + 1, a + side + 1, a + 1, a + side + 2], at);
    }
  }
  return { positions, indices };
}

/** A mesh that is added with some positions, and the height at which a ray from above hits it. */
async function placed(data: MeshData) {
  // Without builders, the last worker is the service's own.
  const mortal = await KillableService.create({ builders: 0 });
  const { service } = mortal;
  const mesh = await service.addMesh(data);
  service.addObject({ shape: { type: 'mesh', mesh } });
  await service.update();
  const height = async () => {
    const hit = await service.raycast({ origin: [0.3123, 0.4321, 100], direction: [0, 0, -1] });
    return hit && Math.round(1e4 * hit.point[2]) / 1e4;
  };
  /** Kills the worker, and waits for the next one. */
  const lose = async () => {
    const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
    await mortal.workers.at(-1)!.worker.terminate();
    await restored;
  };
  return { service, mesh, height, lose };
}

test('are copied without `transfer`, and what they become meanwhile changes nothing', async () => {
  const { service, mesh, height, lose } = await placed({ positions: square(0), indices: INDICES });
  const positions = square(5);
  const moving = service.updateMesh(mesh, positions);
  positions.fill(7);
  await moving;
  expect(positions).toEqual(new Float32Array(12).fill(7));
  expect(await height()).toBe(5);
  await lose();
  expect(await height()).toBe(5);
});

test('are handed over with `transfer`, with all of their buffer', async () => {
  const { service, mesh, height, lose } = await placed({ positions: square(0), indices: INDICES });
  const buffer = new Float32Array(40).fill(Number.NaN);
  const positions = buffer.subarray(8, 20);
  positions.set(square(6));
  await service.updateMesh(mesh, positions, { transfer: true });
  expect([positions.length, buffer.length]).toEqual([0, 0]);
  expect(await height()).toBe(6);
  await lose();
  expect(await height()).toBe(6);
  await lose();
  expect(await height()).toBe(6);
});

test.each<[string, string, (wrong: { mesh: number; positions: Float32Array }) => [number, Float32Array, object]]>([
  ['of another length', 'BAD_DATA', ({ mesh, positions }) => [mesh, positions.subarray(3), { transfer: true }]],
  ['of no mesh', 'UNKNOWN_ID', ({ mesh, positions }) => [mesh + 1, positions, { transfer: true }]],
  ['with a wrong option', 'INVALID_ARGUMENT', ({ mesh, positions }) => [mesh, positions, { transfer: 1 }]],
  ['with an unknown option', 'INVALID_ARGUMENT', ({ mesh, positions }) => [mesh, positions, { hand: true }]],
])('%s are refused, and not detached', async (_, code, wrong) => {
  const { service, mesh, height } = await placed({ positions: square(1), indices: INDICES });
  const positions = square(5);
  await expect(service.updateMesh(...wrong({ mesh, positions }))).rejects.toMatchObject({ code });
  expect(positions).toEqual(square(5));
  expect(await height()).toBe(1);
});

test('in shared memory are copied, and refused with `transfer`', async () => {
  const { service, mesh, height } = await placed({ positions: square(1), indices: INDICES });
  const positions = new Float32Array(new SharedArrayBuffer(48));
  positions.set(square(3));
  const refused = service.updateMesh(mesh, positions, { transfer: true });
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('shared') });
  expect(await height()).toBe(1);
  await service.updateMesh(mesh, positions);
  expect(await height()).toBe(3);
});

describe.each([false, true])('come back when the worker is lost, transfer: %s', (isHandedOver) => {
  const options = { transfer: isHandedOver };

  test('where they waited for a new tree', async () => {
    // Only one of its triangles has an area: the tree has no place for the others.
    const thin = Float32Array.of(-1, -1, 0, 1, -1, 0, -1, 1, 0, 0, 0, 0);
    const { service, mesh, height, lose } = await placed({ positions: thin, indices: INDICES });
    await service.updateMesh(mesh, square(4), options);
    expect(service.meshInfo(mesh).rebuilds).toBe(1);
    expect(await height()).toBe(4);
    await lose();
    expect(await height()).toBe(4);
  });

  test('where older ones waited for a new tree, and they did not', async () => {
    const thin = Float32Array.of(9, 9, 0, -9, 9, 0, 9, -9, 0, 0, 0, 0);
    const { service, mesh, height, lose } = await placed({ positions: thin, indices: INDICES });
    const newest = thin.map((value, i) => (i % 3 === 2 ? 7 : value));
    await Promise.all([square(4), newest].map((each) => service.updateMesh(mesh, each, options)));
    expect(await height()).toBe(7);
    await lose();
    expect(await height()).toBe(7);
  });

  test('where they were the last of several, of which a new tree was built', async () => {
    const { positions, indices } = grid(20, () => 0);
    const { service, mesh, height, lose } = await placed({ positions, indices });
    // Rows that are torn apart make the tree's boxes large.
    const torn = (at: number) => grid(20, (x, y) => at + (Math.round(20 * (x + y)) % 2) * 30).positions;
    const moving = [1, 2, 3].map((at) => service.updateMesh(mesh, torn(at), options));
    await Promise.all(moving);
    await expect.poll(() => service.meshInfo(mesh).rebuilds).toBeGreaterThan(0);
    const before = await height();
    expect(before).toBeGreaterThan(3);
    await lose();
    expect(await height()).toBe(before);
  });

  test('where they were moved in slices, and asked for a new tree', async () => {
    // More than 8 MiB, and positions that span several of the pieces that are copied at a time.
    const side = 600;
    const { positions, indices } = grid(side, () => 0);
    const { service, mesh, height, lose } = await placed({ positions, indices });
    const torn = grid(side, (x, y) => 2 + (Math.round(side * (x + y)) % 2)).positions;
    await service.updateMesh(mesh, torn, options);
    expect(torn.length).toBe(isHandedOver ? 0 : positions.length);
    const before = await height();
    expect(before).toBeGreaterThan(2);
    await expect.poll(() => service.meshInfo(mesh).rebuilds, { timeout: 20_000 }).toBeGreaterThan(0);
    await lose();
    expect(await height()).toBe(before);
  });
});
