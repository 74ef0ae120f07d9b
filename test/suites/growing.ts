import { type CollisionService, createCollisionService, type FrameResult, type ObjectOptions } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect } from 'vitest';

const MAX_OBJECTS = 200_000;
const BALL: ObjectOptions = { shape: { type: 'sphere', radius: 1 } };

/** A view that sees everything. */
export const FULL_VIEW = {
  projection: new OrthographicCamera(-1e4, 1e4, 1e4, -1e4, -1e4, 1e4).projectionMatrix.elements,
  view: new Matrix4().elements,
  viewport: { width: 100, height: 100 },
};

/** The result of one frame, actual or expected. */
interface FrameSummary {
  frame: number;
  count: number;
  /** Of all visible objects. */
  sum: number;
  pairs: string;
}

const translation = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z).elements;
const sumOf = (ids: Iterable<number>) => {
  let sum = 0;
  for (const id of ids) sum += id;
  return sum;
};
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/**
 * Adds objects while frames run, another batch with each, and moves two of them to and fro; every frame must report the
 * objects at the time of its call. Frames join while the worker has one; then the last counts.
 */
export async function growWhileFramesRun(): Promise<void> {
  const service = await createCollisionService();
  service.setView(FULL_VIEW);
  const movingIds = service.addInstances(BALL, 2);
  service.setTransform(movingIds[0], translation(0, 0, -100));
  const requests: { told: Promise<FrameSummary>; expected: FrameSummary }[] = [];
  let [count, sum, step] = [2, movingIds[0] + movingIds[1], 0];

  const update = () => {
    const isTouching = step++ % 2 === 0;
    service.setTransform(movingIds[1], translation(isTouching ? 1.5 : 10, 0, -100));
    const pairs = isTouching ? `${movingIds[0]} ${movingIds[1]}` : '';
    requests.push({ told: service.update().then(summarize), expected: { frame: 0, count, sum, pairs } });
  };

  while (count < MAX_OBJECTS) {
    const batchSize = Math.min(Math.ceil(count * (step % 3 === 0 ? 0.3 : 0.02)), MAX_OBJECTS - count);
    if (step % 2 === 0) {
      const ids = service.addInstances(
        { ...BALL, motion: 'static', matrix: translation(count % 1000, 50, 0) },
        batchSize,
      );
      sum += sumOf(ids);
    } else {
      for (let i = 0; i < batchSize; i++) {
        const matrix = translation(4 * (i % 500), 100 + 4 * Math.floor(i / 500), count % 4000);
        sum += service.addObject({ ...BALL, motion: 'static', matrix: matrix });
      }
    }
    count += batchSize;
    update();
    await nextTask();
  }
  for (let i = 0; i < 20; i++) {
    update();
    await requests.at(-1)?.told;
    if (i === 5) expect(service.stats.queueDepth).toBe(0);
  }
  await expectAll(requests);
  await expectSteady(service, update, requests);
  service.dispose();
}

function summarize({ frame, visible, contacts }: FrameResult): FrameSummary {
  const pairs = Array.from(contacts, ({ a, b }) => `${a} ${b}`).join();
  return { frame, count: visible.ids.length, sum: sumOf(visible.ids), pairs };
}

async function expectAll(requests: { told: Promise<FrameSummary>; expected: FrameSummary }[]): Promise<void> {
  const newest = new Map<number, FrameSummary>();
  let lastFrame = 0;
  for (const { told, expected } of requests) {
    const { frame } = await told;
    expect([lastFrame, lastFrame + 1]).toContain(frame); // none is lost, none comes twice
    lastFrame = frame;
    newest.set(frame, { ...expected, frame });
  }
  expect(newest.size).toBeGreaterThan(20);
  for (const { told } of requests) expect(await told).toEqual(newest.get((await told).frame));
}

/** Expects that nothing grows once there are no more objects. */
async function expectSteady(
  service: CollisionService,
  update: () => void,
  requests: { told: Promise<FrameSummary> }[],
) {
  const statsBefore = service.stats;
  for (let i = 0; i < 10; i++) {
    update();
    update();
    await requests.at(-1)?.told;
  }
  const { objects, memoryBytes, usedBytes, frameBuffers } = service.stats;
  expect({ objects, memoryBytes, frameBuffers }).toEqual({
    objects: MAX_OBJECTS,
    memoryBytes: statsBefore.memoryBytes,
    frameBuffers: statsBefore.frameBuffers,
  });
  expect(usedBytes).toBeGreaterThan(statsBefore.memoryBytes / 2);
  console.log(`${objects} objects: ${(memoryBytes / 2 ** 20).toFixed(0)} MB, ${frameBuffers} frame buffers`);
}
