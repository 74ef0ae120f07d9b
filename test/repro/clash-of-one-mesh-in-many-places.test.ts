// All triangles of a mesh were read again for each part that has it: a file with 2,000 places of a mesh of 20,000 triangles
// took six times the processor time of one with 200 places.
import type { MeshData } from 'collision-worker';
import { afterAll, expect, test } from 'vitest';
import type { ReadItem } from '../../src/clash/node/input/read-item.js';
import { bakeParts } from '../../src/clash/node/part-store.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

const TRIANGLES = 500;

test('a mesh is read once, however many parts have it', async () => {
  const one = await readsWith(1);
  const many = await readsWith(20);
  expect(one).toBeGreaterThan(TRIANGLES);
  expect(many).toBeLessThan(2 * one);
});

/** Bakes parts that share a mesh, and counts how often its positions are read. */
async function readsWith(count: number): Promise<number> {
  let reads = 0;
  const positions = Float32Array.from({ length: 9 * TRIANGLES }, (_, i) => (7 * i * i) % 101);
  const mesh: MeshData = {
    get positions() {
      reads++;
      return positions;
    },
  };
  async function* items(): AsyncGenerator<ReadItem> {
    for (let i = 0; i < count; i++) yield { part: { id: String(i), mesh } };
  }
  await bakeParts(folder.file(String(count)), 'key', items(), { workers: 0, bytes: 1e6 });
  return reads;
}
