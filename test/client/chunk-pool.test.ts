// The chunks into which baked meshes are copied: which are kept for the next mesh, lent to a builder, or released.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChunkPool } from '../../src/client/scene/chunk-pool.js';
import { CHUNK_BYTES } from '../../src/shared/baked-source.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const KINDS = [ArrayBuffer, SharedArrayBuffer];

function poolOf(isShared: boolean): ChunkPool {
  const pool = new ChunkPool();
  pool.isShared = isShared;
  return pool;
}

test.each([false, true])('what is given back is taken again, where memory is shared: %s', (isShared) => {
  const pool = poolOf(isShared);
  const { bytes, buffers } = pool.take(2 * CHUNK_BYTES + 1);
  expect(bytes).toBe(2 * CHUNK_BYTES + 1);
  expect(buffers.map((each) => each.constructor)).toEqual(Array(3).fill(KINDS[Number(isShared)]));
  pool.give({ buffers });
  const again = pool.take(4 * CHUNK_BYTES).buffers;
  expect(buffers.every((each) => again.includes(each))).toBe(true);
  expect(new Set(again).size).toBe(4);
  expect(pool.take(1).buffers).not.toContain(buffers[0]); // each once
});

test('chunks of the other kind, and those that were handed over, are not kept', () => {
  for (const isShared of [false, true]) {
    const pool = poolOf(isShared);
    const [own, other] = [isShared, !isShared].map((kind) => new KINDS[Number(kind)](CHUNK_BYTES));
    pool.give({ buffers: [other, own, new KINDS[Number(isShared)](0)] });
    expect(pool.take(1).buffers).toEqual([own]);
    expect(pool.take(1).buffers[0]).not.toBe(other);
  }
});

test('a builder is lent what a mesh may take, of shared memory alone, and for one that is in chunks', () => {
  for (const isShared of [false, true]) {
    const pool = poolOf(isShared);
    const { buffers } = pool.take(5 * CHUNK_BYTES);
    pool.give({ buffers: [...buffers] });
    expect(pool.lend(CHUNK_BYTES)).toBeUndefined();
    expect(pool.lend(3 * CHUNK_BYTES)).toEqual(isShared ? buffers.slice(0, 4) : undefined);
    expect(buffers).toContain(pool.take(1).buffers[0]);
  }
});

test('they are kept for so long, from the last one on, and so many', () => {
  const pool = poolOf(false);
  const kept = (given = pool.take(1)) => {
    pool.give(given);
    return given.buffers[0];
  };
  const first = kept();
  vi.advanceTimersByTime(4_999);
  expect(kept()).toBe(first);
  vi.advanceTimersByTime(4_999);
  expect(pool.take(1).buffers[0]).toBe(first);
  pool.give({ buffers: [first] });
  vi.advanceTimersByTime(5_000);
  expect(pool.take(1).buffers[0]).not.toBe(first);
  const many = Array.from({ length: 65 }, () => new ArrayBuffer(1));
  pool.give({ buffers: many });
  const { buffers } = pool.take(65 * CHUNK_BYTES);
  expect(buffers.filter((each) => many.includes(each as ArrayBuffer))).toHaveLength(64);
});

test('one that is closed lets go of them, and takes none until it is open again', () => {
  const pool = poolOf(false);
  const [before, during, after] = Array.from({ length: 3 }, () => new ArrayBuffer(CHUNK_BYTES));
  pool.give({ buffers: [before] });
  pool.close();
  pool.give({ buffers: [during] });
  expect(pool.take(1).buffers).not.toContain(before);
  pool.close(false);
  pool.give({ buffers: [after] });
  expect(
    pool.take(2 * CHUNK_BYTES).buffers.filter((each) => [before, during, after].includes(each as ArrayBuffer)),
  ).toEqual([after]);
});
