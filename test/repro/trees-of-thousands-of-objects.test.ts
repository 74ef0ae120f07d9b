// The platform compares each buffer that is transferred with all others of the message: with the trees of 100,000 objects, the
// worker was silent for so long that it counted as lost.
import { expect, test } from 'vitest';
import { transfersOf } from '../../src/shared/calls.js';
import type { CoreInspector } from '../../src/worker/binding/inspector.js';
import { inspect } from '../../src/worker/inspection.js';
import { Slices } from '../../src/worker/slices.js';

const LARGE = 20_000;

/** Lists a tree of as many boxes as the number of its object. */
const inspector = {
  scene: () => ({ objects: 0, moving: 0, static: 0, passive: 0, cellCount: 0, origin: [0, 0, 0] as const }),
  beginTree: () => true,
  stepTree: () => true,
  // biome-ignore lint/correctness/useYield: the list is there at once
  *readTree(object: number) {
    return { object, boxes: new Float64Array(12 * object), levels: new Uint8Array(object) };
  },
  end: () => {},
} as Partial<Record<keyof CoreInspector, unknown>> as CoreInspector;

test('the trees of thousands of objects are copied, and large ones are transferred', async () => {
  const trees = Uint32Array.from({ length: 5000 }, (_, i) => (i === 7 ? LARGE : 1 + (i % 9)));
  const request = { octree: false, bounds: false, trees, fromLevel: 0, toLevel: 9, maxBoxes: LARGE, views: [] };
  const slices = new Slices(() => Promise.resolve());
  const rest = { lines: false, origin: undefined, palette: undefined };
  const answer = await inspect(inspector, { ...request, ...rest }, slices, () => 1);
  expect(answer.trees.length).toBe(trees.length);
  expect(transfersOf(answer)).toEqual([answer.trees[7].boxes.buffer]);
});
