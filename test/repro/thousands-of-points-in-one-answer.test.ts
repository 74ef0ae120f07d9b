import { Worker } from 'node:worker_threads';
import { createCollisionService, type Hit } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import type { AnswerMessage } from '../../src/shared/calls.js';

// Hits of points and lines, hits by distance on the screen and hits of named boxes came as an object each, in one message: with
// 400,000 points along a ray, reading it blocked the main thread for one and a half seconds, and writing it other picks for two.

const COUNT = 2000;
const ray = { origin: [0, 0, 9], direction: [0, 0, -1] } as const;
const at = (i: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -i, 1];

/** Starts a service, and lists what its worker answers. */
async function listen() {
  const answers: unknown[] = [];
  const service = await createCollisionService({
    createWorker: () => {
      const worker = new Worker(new URL('../../dist/worker.js', import.meta.url));
      worker.on('message', (message: AnswerMessage) => Array.isArray(message) && answers.push(message[1]));
      return worker;
    },
    builders: 0,
  });
  onTestFinished(() => service.dispose());
  return { service, answers };
}

/** Counts the objects in a message; numbers in typed arrays are none. */
function countObjects(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + countObjects(each), 1);
}

function expectFew(answers: unknown[], hits: readonly Hit[]): void {
  expect(hits).toHaveLength(COUNT);
  expect(countObjects(answers.at(-1))).toBeLessThan(10);
}

test('thousands of hits of points are numbers in one buffer', async () => {
  const { service, answers } = await listen();
  const positions = new Float32Array(3 * COUNT);
  for (let i = 0; i < COUNT; i++) positions.set([0.01 * (i % 7), 0, -i], 3 * i);
  const mesh = await service.addMesh({ positions, topology: 'points' });
  service.addObject({ shape: { type: 'mesh', mesh } });
  const hits = await service.raycastAll(ray, { threshold: 0.1 });
  expectFew(answers, hits);
  for (const [i, { element, distanceToRay }] of hits.entries()) {
    expect(element).toBe(i);
    expect(distanceToRay).toBeCloseTo(0.01 * (i % 7), 6);
  }
  expect(hits[0]).not.toHaveProperty('pixels');
});

test('thousands of hits of named boxes refer to a list of the names', async () => {
  const { service, answers } = await listen();
  const mesh = await service.addMesh({ positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]) });
  for (let i = 0; i < COUNT; i++) {
    const boxes = [{ name: i % 2 ? 'odd' : 'even', center: [0, 0, 0], halfExtents: [1, 1, 0.25] }] as const;
    service.addObject({ shape: { type: 'mesh', mesh }, boxes, matrix: at(i), side: 'front' });
  }
  const all = await service.raycastAll(ray, { precision: 'obb', side: 'front' });
  const hits = all.filter(({ object }, i) => i === 0 || all[i - 1].object !== object);
  expectFew(answers, hits);
  expect(hits.map(({ box }) => box)).toEqual(Array.from({ length: COUNT }, (_, i) => (i % 2 ? 'odd' : 'even')));
  expect(hits[0]).not.toHaveProperty('distanceToRay');
});

test('thousands of hits by distance on the screen are numbers in one buffer', async () => {
  const { service, answers } = await listen();
  for (let i = 0; i < COUNT; i++) service.addObject({ shape: { type: 'sphere', radius: 0.25 }, matrix: at(i) });
  service.setView({
    projection: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -1, 0],
    view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1],
    viewport: { width: 100, height: 100 },
  });
  const hits = await service.pickAll(51, 50, { method: 'screen' });
  expectFew(answers, hits);
  expect(hits.every(({ pixels }) => Math.abs(pixels! - 1) < 1e-6)).toBe(true);
});
