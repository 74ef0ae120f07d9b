import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect } from 'vitest';
import { FULL_VIEW } from './growing.js';
import { addSlowScene } from './slow.js';

const translation = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const rayDown = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

/** Resolves at the next animation frame, or as soon as one would be due. */
export type NextPicture = () => Promise<unknown>;

/** Requests a frame with every animation frame, from a slower worker: frames join, picks go between, the last counts. */
export async function runSlowWorker(nextPicture: NextPicture): Promise<void> {
  const service = await createCollisionService();
  const scene = await addSlowScene(service, 50);
  const ball = service.addObject({ shape: { type: 'sphere', radius: 0.4 }, matrix: translation(0) });
  service.setView(FULL_VIEW);
  await service.update();

  const updates: Promise<number>[] = [];
  const hits: { hit: ReturnType<CollisionService['raycast']>; x: number; asked: number }[] = [];
  const framesBefore = service.stats.frames;
  for (let x = 1; updates.length < 60; x++) {
    scene.move(x);
    service.setTransform(ball, translation(x));
    updates.push(service.update().then(({ frame }) => frame));
    hits.push({ hit: service.raycast(rayDown(x)), x, asked: updates.length - 1 });
    expect(service.stats.queueDepth).toBeLessThanOrEqual(1);
    await nextPicture();
  }
  const frames = await Promise.all(updates);
  const distinct = new Set(frames);
  // Updates that came while a frame was in the worker share the next.
  expect(service.stats.frames - framesBefore).toBe(distinct.size);
  expect(distinct.size).toBeLessThan(frames.length);
  expect(frames).toEqual(frames.toSorted((a, b) => a - b));
  for (const { hit, x, asked } of hits) {
    const answer = await hit;
    // A query behind the last update of a frame finds the ball where that put it; the others were answered ahead of the
    // frame, or have been overtaken.
    const wasOvertaken = answer === null && frames[asked + 1] === frames[asked];
    if (!wasOvertaken) expect(answer, `x = ${x}`).toMatchObject({ object: ball, frame: frames[asked] });
  }
  expect(await service.raycast(rayDown(60))).toMatchObject({ object: ball, frame: frames.at(-1) });
  expect(service.stats).toMatchObject({ queueDepth: 0, pending: 0 });
  service.dispose();
}

/** Counts the animation frames before which the frame requested with the previous one was answered. */
export async function runFastWorker(nextPicture: NextPicture, pictures: number): Promise<number> {
  const service = await createCollisionService();
  const ids = service.addInstances({ shape: { type: 'box', halfExtents: [1, 1, 1] } }, 1000);
  service.setView(FULL_VIEW);
  const move = (step: number) => {
    for (const [k, id] of ids.entries()) service.setTransform(id, translation(3 * k + step / 100));
  };
  let inTime = 0;
  for (let i = 0; i < pictures; i++) {
    move(i);
    let isAnswered = false;
    const update = service.update().then(() => {
      isAnswered = true;
    });
    await nextPicture();
    if (isAnswered) inTime++;
    await update;
  }
  service.dispose();
  return inTime;
}
