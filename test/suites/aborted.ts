import { createCollisionService, type WorkerLike } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { expect } from 'vitest';
import type { AnswerMessage } from '../../src/shared/calls.js';
import type { FromWorker } from '../../src/shared/protocol.js';
import { icosphere } from '../oracle/meshes.js';
import { addSlowScene } from './slow.js';

const PICKS = 300;
/** A frame lets picks through between two slices; the number of tries in which the aborts must overtake them once. */
const ATTEMPTS = 30;
const translation = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;

/** A service that counts its worker's answers to calls: how many it has run, and how many it has not even begun. */
async function startCounted(createWorker: () => WorkerLike) {
  const counts = { run: 0, dropped: 0 };
  const count = ({ data }: MessageEvent<FromWorker | AnswerMessage>) => {
    if (!Array.isArray(data)) return;
    const [, , error] = data;
    if (error?.name === 'ABORTED') counts.dropped++;
    else counts.run++;
  };
  const service = await createCollisionService({
    builders: 0,
    createWorker: () => {
      const worker = createWorker();
      (worker as unknown as EventTarget).addEventListener('message', (event) => count(event as MessageEvent));
      return worker;
    },
  });
  return { service, counts };
}

const codeOf = (promise: Promise<unknown>) => promise.catch((error: { code: string }) => error.code);

/** Requests a mesh and a thousand picks while the worker is in a long frame, and aborts all but every tenth pick. */
export async function abortInLongFrame(createWorker: () => WorkerLike): Promise<void> {
  const { service, counts } = await startCounted(createWorker);
  const scene = await addSlowScene(service, 200);
  const ball = service.addObject({ shape: { type: 'sphere', radius: 0.4 }, matrix: translation(0) });
  service.setView({
    projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
    view: new Matrix4().makeTranslation(0, 0, -10).elements,
    viewport: { width: 200, height: 200 },
  });
  await service.update();

  const expected = { run: PICKS / 10 + 1, dropped: PICKS - PICKS / 10 + 1 };
  let isInTime = false;
  for (let attempt = 1; !isInTime; attempt++) {
    Object.assign(counts, { run: 0, dropped: 0 });
    let isFrameDone = false;
    scene.move(attempt);
    const update = service.update().then((result) => {
      isFrameDone = true;
      return result.frame;
    });
    const controllers = Array.from({ length: PICKS }, () => new AbortController());
    const mesh = codeOf(service.addMesh(icosphere(1, 3), { signal: controllers[1].signal }));
    const answers = controllers.map(({ signal }) => codeOf(service.pick(100, 100, { signal })));
    await new Promise((resolve) => setTimeout(resolve)); // they have been posted by now
    for (const [i, controller] of controllers.entries()) if (i % 10 > 0) controller.abort();
    const aborted = [await mesh, ...(await Promise.all(answers.filter((_, i) => i % 10 > 0)))];
    isInTime = !isFrameDone;
    const frame = await update;
    for (let i = 0; i < PICKS; i += 10) expect(await answers[i]).toMatchObject({ object: ball, frame });
    // Calls are answered in order: none is pending any more.
    expect(await service.pick(100, 100)).toMatchObject({ object: ball, frame });
    isInTime &&= counts.dropped === expected.dropped;
    if (isInTime) {
      expect(new Set(aborted)).toEqual(new Set(['ABORTED']));
      expect(counts).toEqual(expected);
    } else expect(attempt, JSON.stringify(counts)).toBeLessThan(ATTEMPTS);
  }
  expect(service.stats.pending).toBe(0);
  service.dispose();
}
