// Duplicates rules kept the geometry of each part of a tile, in its place: a plant that stood twice in each of 2,000 places took
// 2,000 times its memory, and more. And the thread of the caller read 64 parts at once, however large their meshes were.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { clash, type Part } from 'collision-worker/clash';
import { expect, test, vi } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

const TRIANGLES = 10_000;

/** Slivers in a unit cube. */
function plant(random: Random): Float32Array {
  const positions = new Float32Array(9 * TRIANGLES);
  for (let i = 0; i < positions.length; i += 9) {
    const corner = [random.next(), random.next(), random.next()];
    for (let k = 0; k < 9; k++) positions[i + k] = corner[k % 3] + random.range(0, 0.01);
  }
  positions.set([0, 0, 0, 2, 0, 0, 0, 2, 2]);
  return positions;
}

/** Collects all garbage, and returns the bytes of the arrays of this thread. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().arrayBuffers;
}

test(`the geometries of thousands of copies are not in memory at the same time, seed ${SEED}`, async () => {
  const whole = { positions: plant(new Random(SEED)) };
  const half = { positions: whole.positions.slice(0, whole.positions.length / 2) };
  const parts: Part[] = [];
  for (let i = 0; i < 40; i++) {
    const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3 * i, 0, 0, 1];
    parts.push({ id: `a${i}`, mesh: whole, matrix }, { id: `b${i}`, mesh: half, matrix });
  }
  const before = bytesInUse();
  let most = 0;
  let isDone = false;
  const watch = async (): Promise<void> => {
    while (!isDone) {
      most = Math.max(most, bytesInUse());
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  const watched = watch();
  const { unread } = await clash(parts, null, [{ name: 'twice', kind: 'duplicates' }]);
  isDone = true;
  await watched;
  expect(unread).toEqual([]);
  const bytesOfAll = 40 * 1.5 * 9 * TRIANGLES * 8;
  expect(most - before).toBeGreaterThan(0);
  expect(most - before).toBeLessThan(bytesOfAll / 2);
});

test('other tasks get a turn between two large parts', async () => {
  const mesh = { positions: plant(new Random(SEED)) };
  let [turns, isDone] = [0, false];
  const turnOf: number[] = [];
  const turned = [0.6, 0.8, 0, 0, -0.8, 0.6, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const parts = Array.from({ length: 64 }, (_, i): Part => {
    const matrix = [...turned.slice(0, 12), 4 * i, 0, 0, 1];
    return {
      id: `${i}`,
      mesh,
      get matrix() {
        turnOf.push(turns);
        return matrix;
      },
    };
  });
  // A clock by which everything takes long.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  count();
  try {
    await clash(parts, null, [{ name: 'all', kind: 'hard' }]);
  } finally {
    isDone = true;
    clock.mockRestore();
  }
  expect(new Set(turnOf).size).toBe(parts.length);
});
