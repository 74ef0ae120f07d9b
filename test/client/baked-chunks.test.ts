// Baked meshes of more than one chunk: copied while the worker loads them, kept, and their chunks reused.
import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BakedCopies, bytesOf } from '../../src/client/scene/baked-copies.js';
import { ChunkPool, isInChunks } from '../../src/client/scene/chunk-pool.js';
import { CHUNK_BYTES } from '../../src/shared/baked-source.js';
import { HeldWorker } from '../fixtures/held-worker.js';
import { KillableService } from '../fixtures/mortal.js';
import { BakedMesh } from '../oracle/baked.js';
import { icosphere } from '../oracle/meshes.js';

/** A ball of radius 1, baked: three chunks or more. */
let baked: ArrayBuffer;
let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  baked ??= await service.bakeMesh(await service.addMesh(icosphere(1, 80)));
  expect(baked.byteLength / CHUNK_BYTES).toBeGreaterThan(2);
  expect(isInChunks(baked)).toBe(true);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  service.dispose();
});

/** Returns the height at which a ray from above meets a mesh. */
async function height(mesh: MeshId, at = service): Promise<number | undefined> {
  const id = at.addObject({ shape: { type: 'mesh', mesh } });
  const hit = await at.raycast({ origin: [0.1, 9, 0.1], direction: [0, -1, 0] });
  at.removeObject(id);
  return hit?.point[1];
}

test('what the caller does to its buffer afterwards is of no matter', async () => {
  const given = baked.slice(0);
  const adding = service.addMesh(given);
  new Uint8Array(given).fill(255);
  const mesh = await adding;
  expect(await service.bakeMesh(mesh)).toEqual(baked);
  expect(await height(mesh)).toBeCloseTo(Math.sqrt(0.98), 3);
});

test.each([
  ['the first', 0.1],
  ['the second', 0.5],
  ['the last', 0.99],
])('one that is damaged in %s of its chunks is refused, and leaves nothing', async (_, where) => {
  const kept = await service.addMesh(baked);
  await service.update();
  const { usedBytes } = service.stats;
  const damaged = baked.slice(0);
  new Uint8Array(damaged)[Math.floor(where * damaged.byteLength)] ^= 1;
  expect(isInChunks(damaged)).toBe(true);
  const refusal = { code: 'BAD_DATA', message: expect.stringContaining(`(${damaged.byteLength} bytes given)`) };
  await expect(service.addMesh(damaged)).rejects.toMatchObject(refusal);
  await service.update();
  expect(service.stats).toMatchObject({ usedBytes, pending: 0 });
  // And another mesh behind it.
  service.removeMesh(await service.addMesh(baked));
  expect(await service.bakeMesh(kept)).toEqual(baked);
});

test('one that was cut off, or has more behind it, is refused', async () => {
  const longer = new Uint8Array(baked.byteLength + 64);
  longer.set(new Uint8Array(baked));
  const bad = { code: 'BAD_DATA' };
  for (const bytes of [baked.byteLength - 16, 2 * CHUNK_BYTES, CHUNK_BYTES + 1]) {
    const short = baked.slice(0, bytes);
    await expect(service.addMesh(short)).rejects.toMatchObject(bad);
    // Also where the header agrees.
    await expect(service.addMesh(new BakedMesh(short).setWord(8, bytes).buffer)).rejects.toMatchObject(bad);
  }
  await expect(service.addMesh(longer.buffer)).rejects.toMatchObject(bad);
});

test.each([[true], [false]])(
  'the next worker has it, and not what its chunks were used for since (%s)',
  async (handsBack) => {
    // Without shared memory, chunks are transferred to the worker and back.
    if (handsBack) vi.stubGlobal('setImmediate', undefined);
    const mortal = await KillableService.create({ builders: 0 });
    const idle = vi.fn(); // what would be moved to Blobs stays in memory
    vi.stubGlobal('requestIdleCallback', idle);
    const stays = await mortal.service.addMesh(baked);
    const goes = await mortal.service.addMesh(baked);
    mortal.service.removeMesh(goes);
    const small = await mortal.service.bakeMesh(await mortal.service.addMesh(icosphere(0.5, 80)));
    const comes = await mortal.service.addMesh(small);
    const restored = new Promise((resolve) => mortal.service.addEventListener('restored', resolve, { once: true }));
    await mortal.workers[0].worker.terminate();
    // Between two workers, no chunk is overwritten.
    mortal.service.removeMesh(comes);
    const later = mortal.service.addMesh(small);
    await restored;
    expect(await height(stays, mortal.service)).toBeCloseTo(Math.sqrt(0.98), 3);
    expect(await mortal.service.bakeMesh(stays)).toEqual(baked);
    expect(await mortal.service.bakeMesh(await later)).toEqual(small);
    expect(idle.mock.calls.length > 0).toBe(handsBack);
  },
);

test('builds into chunks that were used before come to the same bytes', async () => {
  const [ball, other] = [icosphere(1, 80), icosphere(0.5, 90)];
  const kept = await service.addMesh(ball);
  for (const data of [other, ball, other, ball]) {
    const mesh = await service.addMesh(data);
    const bytes = await service.bakeMesh(mesh);
    if (data === ball) expect(bytes).toEqual(baked);
    else expect(await height(mesh)).toBeCloseTo(Math.sqrt(0.23), 3);
    service.removeMesh(mesh);
  }
  expect(await service.bakeMesh(kept)).toEqual(baked);
});

test('it is loaded behind a frame that waits, and where it is aborted it is gone', async () => {
  const worker = new HeldWorker();
  const held = await createCollisionService({ createWorker: () => worker, builders: 0 });
  try {
    const controller = new AbortController();
    const frames = [held.update(), held.update()];
    const behind = held.addMesh(baked);
    const aborted = held.addMesh(baked, { signal: controller.signal });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
    await Promise.all(frames);
    expect(await height(await behind, held)).toBeCloseTo(Math.sqrt(0.98), 3);
    await held.update();
    const { usedBytes } = held.stats;
    const late = new AbortController();
    const begun = held.addMesh(baked, { signal: late.signal });
    late.abort();
    await expect(begun).rejects.toMatchObject({ code: 'ABORTED' });
    // The mesh is removed as soon as it is loaded.
    await expect.poll(() => held.update().then(() => held.stats.usedBytes)).toBe(usedBytes);
    expect(held.stats).toMatchObject({ meshes: 1, pending: 0 });
  } finally {
    held.dispose();
  }
});

describe('chunks', () => {
  const take = (pool: ChunkPool) => pool.take(2 * CHUNK_BYTES + 1000);

  test('are used again for a while', () => {
    vi.useFakeTimers();
    const pool = new ChunkPool();
    const first = take(pool);
    expect(first.buffers.map(({ byteLength }) => byteLength)).toEqual([CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES]);
    pool.give(first);
    const second = take(pool);
    expect(new Set(second.buffers)).toEqual(new Set(first.buffers));
    expect(take(pool).buffers.some((buffer) => first.buffers.includes(buffer))).toBe(false);
    pool.give(second);
    vi.advanceTimersByTime(4000);
    pool.give(pool.take(CHUNK_BYTES));
    vi.advanceTimersByTime(4000);
    expect(first.buffers).toContain(pool.take(CHUNK_BYTES).buffers[0]);
    pool.give(second);
    vi.advanceTimersByTime(5001);
    expect(take(pool).buffers.some((buffer) => first.buffers.includes(buffer))).toBe(false);
  });

  test('are lent for meshes of more than one, where they are shared', () => {
    const pool = new ChunkPool();
    pool.give(take(pool));
    expect(pool.lend(3 * CHUNK_BYTES)).toBeUndefined();
    pool.isShared = true;
    pool.close(false);
    expect(pool.lend(CHUNK_BYTES)).toBeUndefined();
    expect(pool.lend(2 * CHUNK_BYTES)).toEqual([]);
    const given = pool.take(5 * CHUNK_BYTES);
    pool.give(given);
    const lent = pool.lend(2.5 * CHUNK_BYTES)!;
    expect(lent.length).toBe(3);
    // The chunks are then used by nobody else.
    expect(pool.take(3 * CHUNK_BYTES).buffers.some((buffer) => lent.includes(buffer))).toBe(false);
  });

  test('are let go of where others are wanted, in a pool that is closed, and beyond a bound', () => {
    const pool = new ChunkPool();
    const own = take(pool);
    pool.isShared = true;
    pool.give(own);
    const shared = take(pool);
    expect(shared.buffers.every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(true);
    pool.give(shared);
    pool.close();
    pool.give(shared);
    pool.close(false);
    expect(take(pool).buffers.some((buffer) => shared.buffers.includes(buffer))).toBe(false);
    pool.give(shared);
    structuredClone(own.buffers, { transfer: own.buffers as ArrayBuffer[] });
    pool.isShared = false;
    pool.give(own);
    expect(take(pool).buffers.every(({ byteLength }) => byteLength > 0)).toBe(true);
    const many = Array.from({ length: 70 }, () => pool.take(CHUNK_BYTES));
    for (const each of many) pool.give(each);
    const again = many.map(() => pool.take(CHUNK_BYTES).buffers[0]);
    expect(again.filter((buffer) => many.some(({ buffers }) => buffers[0] === buffer)).length).toBe(64);
  });

  test.each([[true], [false]])(
    'become a Blob of their bytes, and are used again then (shared: %s)',
    async (isShared) => {
      vi.stubGlobal('setImmediate', undefined); // as in a browser
      const pool = new ChunkPool();
      const copies = new BakedCopies(pool);
      pool.isShared = isShared;
      const source = take(pool);
      for (const [i, buffer] of source.buffers.entries()) new Uint8Array(buffer).fill(i + 1);
      const owner = { copy: undefined as Parameters<typeof bytesOf>[0] | undefined, isRemoved: false };
      copies.add(owner, source);
      const before = new Uint8Array(await bytesOf(owner.copy!));
      await expect.poll(() => owner.copy instanceof Blob).toBe(true);
      const after = new Uint8Array(await bytesOf(owner.copy!));
      expect([after.length, after[0], after[CHUNK_BYTES], after.at(-1)]).toEqual([source.bytes, 1, 2, 3]);
      expect(Buffer.compare(before, after)).toBe(0);
      expect(new Set(take(pool).buffers)).toEqual(new Set(source.buffers));
    },
  );
});
