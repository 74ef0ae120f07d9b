// The pairs of a frame were sorted, compared with those of the previous frame, written and copied in one piece: with a million of
// them, picks waited for 0.3 s.
import { type CollisionService, createCollisionService, type FrameResult } from 'collision-worker';
import { Matrix4 } from 'three';
import { afterEach, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';

/** 44,850 pairs: they are written in eleven parts. */
const COUNT = 300;
const PAIRS = (COUNT * (COUNT - 1)) / 2;
const RAY = { origin: [0, 0, 5], direction: [0, 0, -1] } as const;
/** The worker's clock runs so much faster that a slice ends after each part. */
const SPEED = 1e5;
const ASKED = 120;
/**
 * The minimum number of picks answered while pairs are written and compared;
 * ordered in four passes and merged; and found, sorted and everything else.
 */
const WRITTEN = 11;
const MADE = 6;
const ORDERED = 80;
const ANEW = 70;

let worker: GatedWorker;
let service: CollisionService;
let ids: number[];

async function start(options: { contactBudget?: number } = {}): Promise<void> {
  worker = new GatedWorker(SPEED);
  service = await createCollisionService({ createWorker: () => worker, builders: 0, ...options });
  const box = { type: 'box', halfExtents: [1, 1, 1] } as const;
  ids = Array.from({ length: COUNT }, () => service.addObject({ shape: box }));
}

/** Returns a frame, and how many of the picks sent with it are answered before it: one between two slices. */
async function picksWithin(): Promise<{ result: FrameResult; picks: number }> {
  await worker.shut();
  let isDone = false;
  let picks = 0;
  const frame = service.update().finally(() => {
    isDone = true;
  });
  const asked = Array.from({ length: ASKED }, async () => {
    await service.raycast(RAY);
    if (!isDone) picks++;
  });
  await new Promise(setImmediate);
  worker.open();
  await Promise.all(asked);
  return { result: await frame, picks };
}

/** Puts the first ones in a row, and leaves the others where they are. */
function line(count: number, step: number): void {
  for (const [i, id] of ids.slice(0, count).entries()) {
    service.setTransform(id, new Matrix4().makeTranslation(step * (i + 1), 0, 0).elements);
  }
}

const begun = ({ contacts }: FrameResult) => contacts.begun.reduce((sum, each) => sum + each, 0);

afterEach(() => service.dispose());

test('picks come between the parts of an answer, whatever has changed', async () => {
  await start();
  const first = await service.update();
  expect([first.contacts.count, begun(first)]).toEqual([PAIRS, PAIRS]);
  const { points: told, normals, depths } = first.copy().contacts;

  const same = await picksWithin();
  expect([same.result.contacts.count, begun(same.result)]).toEqual([PAIRS, 0]);
  expect(same.result.contacts).toMatchObject({ points: told, normals, depths });
  expect(same.picks, 'where nothing has changed').toBeGreaterThan(WRITTEN);
  const { ms } = same.result;
  expect(ms.total).toBeCloseTo(ms.update + ms.cull + ms.contacts + ms.answer, 1);

  line(COUNT, 1e-4);
  const anew = await picksWithin();
  expect([anew.result.contacts.count, begun(anew.result)]).toEqual([PAIRS, 0]);
  expect(anew.picks, 'where all are found anew').toBeGreaterThan(ANEW);

  line(3, 100);
  const few = await picksWithin();
  const left = ((COUNT - 3) * (COUNT - 4)) / 2;
  expect([few.result.contacts.count, few.result.contacts.endedA.length]).toEqual([left, PAIRS - left]);
  expect(few.picks, 'where few have changed').toBeGreaterThan(MADE + WRITTEN);

  line(COUNT, 100);
  const none = await picksWithin();
  expect([none.result.contacts.count, none.result.contacts.endedA.length]).toEqual([0, left]);
  expect(none.picks, 'where all have ended').toBeGreaterThan(MADE);
});

test('picks come between the parts of ordering what a budget is spent on', async () => {
  await start({ contactBudget: 1 }); // on the fast clock
  const { result, picks } = await picksWithin();
  const { count, waiting } = result.contacts;
  expect(count + waiting).toBe(PAIRS);
  expect(count).toBeLessThan(PAIRS / 2);
  // The broad phase is in parts, too: one for some thousand pairs.
  expect(picks).toBeGreaterThan(ORDERED);
  const { result: next } = await picksWithin();
  expect(next.contacts.count).toBeGreaterThan(count);
  expect(next.contacts.count + next.contacts.waiting).toBe(PAIRS);
});
