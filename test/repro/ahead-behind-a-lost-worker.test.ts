// A frame that waited when its worker was lost had been sent ahead: the transforms of the next waiting frame were not, and
// queries behind it saw objects at their previous positions. Found by chaos, seed 1, step 8998, on a slow machine.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

const BALLS = 6;
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z).elements;

test('a question behind a frame that waits sees it, also where one had gone ahead to a worker that was lost', async () => {
  const workers: GatedWorker[] = [];
  const createWorker = () => {
    const worker = new GatedWorker();
    workers.push(worker);
    return worker;
  };
  const service = await createCollisionService({ createWorker, builders: 0 });
  const mesh = await service.addMesh(icosphere(1, 16));
  const form = { shape: { type: 'mesh', mesh }, contacts: 'full' } as const;
  const balls = Array.from({ length: BALLS }, () => service.addObject(form));
  const shape = { type: 'box', halfExtents: [1, 1, 1] } as const;
  const box = service.addObject({ shape, contacts: 'none' });
  const cast = (x: number) => service.raycast({ origin: [x, 0, -5], direction: [0, 0, 1], tMax: 20 });
  /** Queries behind a second update() while the first is in progress. */
  const ask = async (worker: GatedWorker, x: number, step: number) => {
    for (const [i, id] of balls.entries()) {
      service.setTransform(id, at(0.1 * Math.sin(i + step), 0.1 * Math.cos(2 * i), 500 + 0.1 * Math.sin(3 * i)));
    }
    const first = service.update();
    // Behind the first slices of the frame.
    for (let i = 0; i < 3; i++) await worker.inMidst(() => cast(1000));
    service.setTransform(box, at(x));
    const second = service.update();
    for (const frame of [first, second]) frame.catch(() => {}); // they are lost with the worker
    return (await worker.inMidst(() => cast(x)))?.object;
  };

  for (let i = 0; i < 3; i++) {
    expect(await ask(workers[i], 10 * (i + 1), i)).toBe(box);
    const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
    workers[i].terminate();
    await restored;
  }
  service.dispose();
});
