// A second builder took its own first part, which it had just transferred, for an empty one: it derived nothing, and the
// first builder derived everything.
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { WorkerService } from '../../src/worker/service.js';
import { startCore } from '../fixtures/core.js';
import { merged, type Triangles, waves } from '../oracle/meshes.js';

async function partsOf({ positions, indices }: Triangles): Promise<number[]> {
  const service = new WorkerService(await startCore(), () => {});
  const { port1, port2 } = new MessageChannel();
  const sizes: number[] = [];
  port1.on('message', ({ byteLength }) => sizes.push(byteLength));
  const closed = new Promise((resolve) => port1.on('close', resolve));
  port1.postMessage({ positions, indices, weld: 0, isFast: false });
  await Promise.all([service.buildSecond(1, port2 as never), closed]);
  return sizes;
}

test('a second builder hands over its part of a tree, then what it derived of it', async () => {
  const parts = await partsOf(waves(60));
  expect(parts.length).toBe(2);
  const [part, derived] = parts;
  expect(part).toBeGreaterThan(60_000);
  expect(derived).toBeGreaterThan(10_000);
});

test('of what cannot be parted it hands over one part without bytes', async () => {
  const triangle = { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), indices: Uint32Array.of(0, 1, 2) };
  expect(await partsOf(merged(Array(3000).fill(triangle)))).toEqual([0]);
});
