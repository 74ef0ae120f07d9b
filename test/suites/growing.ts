import { type CollisionService, createCollisionService, type FrameResult, type ObjectOptions } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect } from 'vitest';

const MOST = 200_000;
const BALL: ObjectOptions = { shape: { type: 'sphere', radius: 1 } };

/** A view that sees everything. */
export const EVERYTHING = {
  projection: new OrthographicCamera(-1e4, 1e4, 1e4, -1e4, -1e4, 1e4).projectionMatrix.elements,
  view: new Matrix4().elements,
  viewport: { width: 100, height: 100 },
};

/** The result of one frame, actual or expected. */
interface Told {
  frame: number;
  count: number;
  /** Of all visible objects. */
  sum: number;
  pairs: string;
}

const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z).elements;
const sumOf = (ids: Iterable<number>) => {
  let sum = 0;
  for (const id of ids) sum += id;
  return sum;
};
const nextTurn = () => new Promise((resolve) => setTimeout(resolve));

/**
 * Adds objects while frames run, another batch with each, and moves two of them to and fro; every frame must report the
 * objects at the time of its call. Frames join while the worker has one; then the last counts.
 */
export async function growWhileFramesRun(): Promise<void> {
  const service = await createCollisionService();
  service.setView(EVERYTHING);
  const two = service.addInstances(BALL, 2);
  service.setTransform(two[0], at(0, 0, -100));
  const asked: { told: Promise<Told>; expected: Told }[] = [];
  let [count, sum, turn] = [2, two[0] + two[1], 0];

  const update = () => {
    const isTouching = turn++ % 2 === 0;
    service.setTransform(two[1], at(isTouching ? 1.5 : 10, 0, -100));
    const pairs = isTouching ? `${two[0]} ${two[1]}` : '';
    asked.push({ told: service.update().then(tell), expected: { frame: 0, count, sum, pairs } });
  };

  while (count < MOST) {
    const more = Math.min(Math.ceil(count * (turn % 3 === 0 ? 0.3 : 0.02)), MOST - count);
    if (turn % 2 === 0) {
      const ids = service.addInstances({ ...BALL, motion: 'static', matrix: at(count % 1000, 50, 0) }, more);
      sum += sumOf(ids);
    } else {
      for (let i = 0; i < more; i++) {
        const place = at(4 * (i % 500), 100 + 4 * Math.floor(i / 500), count % 4000);
        sum += service.addObject({ ...BALL, motion: 'static', matrix: place });
      }
    }
    count += more;
    update();
    await nextTurn();
  }
  for (let i = 0; i < 20; i++) {
    update();
    await asked.at(-1)?.told;
    if (i === 5) expect(service.stats.queueDepth).toBe(0);
  }
  await expectAll(asked);
  await expectSteady(service, update, asked);
  service.dispose();
}

function tell({ frame, visible, contacts }: FrameResult): Told {
  const pairs = Array.from(contacts, ({ a, b }) => `${a} ${b}`).join();
  return { frame, count: visible.ids.length, sum: sumOf(visible.ids), pairs };
}

async function expectAll(asked: { told: Promise<Told>; expected: Told }[]): Promise<void> {
  const newest = new Map<number, Told>();
  let last = 0;
  for (const { told, expected } of asked) {
    const { frame } = await told;
    expect([last, last + 1]).toContain(frame); // none is lost, none comes twice
    last = frame;
    newest.set(frame, { ...expected, frame });
  }
  expect(newest.size).toBeGreaterThan(20);
  for (const { told } of asked) expect(await told).toEqual(newest.get((await told).frame));
}

/** Expects that nothing grows once there are no more objects. */
async function expectSteady(service: CollisionService, update: () => void, asked: { told: Promise<Told> }[]) {
  const before = service.stats;
  for (let i = 0; i < 10; i++) {
    update();
    update();
    await asked.at(-1)?.told;
  }
  const { objects, memoryBytes, usedBytes, frameBuffers } = service.stats;
  expect({ objects, memoryBytes, frameBuffers }).toEqual({
    objects: MOST,
    memoryBytes: before.memoryBytes,
    frameBuffers: before.frameBuffers,
  });
  expect(usedBytes).toBeGreaterThan(before.memoryBytes / 2);
  console.log(`${objects} objects: ${(memoryBytes / 2 ** 20).toFixed(0)} MB, ${frameBuffers} frame buffers`);
}
