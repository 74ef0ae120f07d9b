// More than one service, and services where there is no document.
import { type CollisionService, createCollisionService } from 'collision-worker';
import type { SceneTracker } from 'collision-worker/three';
import type { Group } from 'three';
import { afterEach, expect, test } from 'vitest';
import { causeAccident, createFragileWorker } from '../fixtures/accidents.js';
import type { DrawingReport, DrawingTask } from '../fixtures/drawing-worker.js';
import { type AnyCamera, comparePicks, randomCamera, SIZE, settle, track } from '../fixtures/three-picks.js';
import { randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

const services: CollisionService[] = [];
afterEach(() => {
  for (const service of services.splice(0)) service.dispose();
});

interface Stage {
  scene: Group;
  camera: AnyCamera;
  service: CollisionService;
  tracker: SceneTracker;
  worker: Worker;
}

async function set(seed: number): Promise<Stage> {
  const random = new Random(seed);
  const scene = randomScene(random, { objects: 15, radius: 6 });
  const camera = randomCamera(random, 6);
  const workers: Worker[] = [];
  const createWorker = () => {
    workers.push(createFragileWorker());
    return workers.at(-1)!;
  };
  const service = await createCollisionService({ createWorker, timeout: 3000 });
  services.push(service);
  return { scene, camera, service, tracker: await track(service, scene, camera), worker: workers[0] };
}

test(`services on one page have nothing to do with each other, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const stages = await Promise.all([1, 2, 3].map((i) => set(SEED + i)));
  const losses: number[] = [];
  for (const [i, { service }] of stages.entries()) service.addEventListener('lost', () => losses.push(i));
  const compare = async (some: Stage[]) => {
    const frames = some.map(async ({ tracker, scene, camera }) => {
      scene.rotateX(random.range(-1, 1));
      await settle(tracker, camera);
      return comparePicks(tracker, scene, camera, random, 60);
    });
    for (const { faults, hits } of await Promise.all(frames)) {
      expect(faults).toEqual([]);
      expect(hits).toBeGreaterThan(0);
    }
  };
  await compare(stages);

  causeAccident(stages[1].worker, 'is killed');
  const dying = stages[1].tracker.update(stages[1].camera, SIZE);
  await compare([stages[0], stages[2]]);
  await expect(dying).rejects.toMatchObject({ code: 'WORKER_LOST' });
  await compare(stages);
  expect(losses).toEqual([1]);

  stages[0].service.dispose();
  await compare(stages.slice(1));
});

test.for([
  ['is well', undefined],
  ['hangs', 'hangs'],
  ['is killed', 'is killed'],
  ['throws', 'throws'],
] as const)('a service in a worker that draws, whose own worker %s', async ([, accident], { skip }) => {
  skip(!(await drawsInWorkers()), 'this browser has no WebGL in workers');
  const worker = new Worker(new URL('../fixtures/drawing-worker.ts', import.meta.url), { type: 'module' });
  const canvas = document.createElement('canvas').transferControlToOffscreen();
  const report = await new Promise<DrawingReport>((resolve, reject) => {
    worker.onmessage = ({ data }) => (typeof data === 'string' ? reject(new Error(data)) : resolve(data));
    worker.onerror = ({ message }) => reject(new Error(`the drawing worker: ${message}`));
    worker.postMessage({ canvas, accident } satisfies DrawingTask, [canvas]);
  });
  worker.terminate();
  expect(report).toMatchObject({ hasDocument: false, faults: [], events: accident ? ['lost', 'restored'] : [] });
  expect(report.hits).toBeGreaterThan(20);
  expect(report.visible).toBeGreaterThan(0);
  expect(report.drawnPixels).toBeGreaterThan(1000);
});

/** Returns whether a worker gets a WebGL context. */
async function drawsInWorkers(): Promise<boolean> {
  const code = `postMessage(new OffscreenCanvas(1, 1).getContext('webgl2') !== null)`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  const answer = await new Promise<boolean>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = () => resolve(false);
  });
  worker.terminate();
  return answer;
}
