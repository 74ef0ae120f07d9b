// Reading a frame prefetched the boxes of objects that had been removed after they were
// moved. If a page of the core's table has no objects any more, its boxes are freed: what
// was read there led anywhere, and the worker ended with 'memory access out of bounds'.
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

const COUNT = 4096;
const KEPT = 10;

/** A row of boxes, each one unit higher than the previous one. */
function rowAt(y: number): Float32Array {
  const matrices = new Float32Array(16 * COUNT);
  for (let i = 0; i < COUNT; i++) matrices.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2 * i, y, 0, 1], 16 * i);
  return matrices;
}

test.each(['one block', 'one by one'])(
  'objects that are moved, %s, and removed before update() are none',
  async (way) => {
    const ids = new Uint32Array(COUNT);
    for (let i = 0; i < COUNT; i++)
      ids[i] = service.addObject({ shape: { type: 'box', halfExtents: [0.5, 0.5, 0.5] } });
    service.setTransforms(ids, rowAt(0));
    await service.update();
    const matrices = rowAt(5);
    if (way === 'one block') service.setTransforms(ids, matrices);
    else for (let i = 0; i < COUNT; i++) service.setTransform(ids[i], matrices.subarray(16 * i, 16 * i + 16));
    for (let i = KEPT; i < COUNT; i++) service.removeObject(ids[i]);
    const frame = await service.update();
    expect(frame.rejected).toHaveLength(0);
    const hits = [3, KEPT].map((i) => service.raycast({ origin: [2 * i, 5, 9], direction: [0, 0, -1] }));
    expect((await Promise.all(hits)).map((hit) => hit?.object)).toEqual([ids[3], undefined]);
  },
);
