import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { createCollisionService, type WorkerLike } from 'collision-worker';
import { PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const FRAMES = 5000;
const WARM_UP = 1000;
const OBJECTS = 2000;
const BALLS = 200; // of them
const MEGABYTE = 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test(`${FRAMES} frames of ${OBJECTS} moving objects leave nothing behind, seed ${SEED}`, {
  timeout: 300_000,
}, async () => {
  const service = await createCollisionService({ createWorker: createSmallWorker });
  const mesh = await service.addMesh(icosphere(0.5, 1));
  const boxes = service.addInstances({ shape: { type: 'box', halfExtents: [0.4, 0.5, 0.6] } }, OBJECTS - BALLS);
  const balls = service.addInstances({ shape: { type: 'mesh', mesh } }, BALLS);
  const boxMatrices = scattered(new Random(SEED), boxes.length);
  const ballMatrices = scattered(new Random(SEED + 1), balls.length);
  const camera = new PerspectiveCamera(60, 4 / 3, 0.1, 100);

  async function runFrame(i: number) {
    sway(boxMatrices, i);
    sway(ballMatrices, i);
    service.setTransforms(boxes, boxMatrices);
    for (let k = 0; k < balls.length; k++) service.setTransform(balls[k], ballMatrices.subarray(16 * k, 16 * k + 16));
    camera.position.set(40 * Math.sin(i / 100), 0, 40 * Math.cos(i / 100));
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
    service.setView({
      projection: camera.projectionMatrix.elements,
      view: camera.matrixWorldInverse.elements,
      viewport: { width: 800, height: 600 },
    });
    const { contacts, visible } = await service.update();
    return { pairs: contacts.count, begun: contacts.begun.includes(1), visible: visible.ids.length };
  }

  function measure() {
    collectGarbage();
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    const { frameBuffers, memoryBytes, usedBytes } = service.stats;
    return { heapUsed, external, arrayBuffers, rss, frameBuffers, memoryBytes, usedBytes };
  }

  for (let i = 0; i < WARM_UP; i++) await runFrame(i);
  const before = measure();
  const start = performance.now();
  let [pairs, changes, visible] = [0, 0, 0];
  for (let i = WARM_UP; i < FRAMES; i++) {
    const frame = await runFrame(i);
    pairs += frame.pairs;
    changes += Number(frame.begun);
    visible += frame.visible;
  }
  const ms = performance.now() - start;
  const after = measure();

  const count = FRAMES - WARM_UP;
  const each = (total: number) => (total / count).toFixed(2);
  console.log(
    `a frame: ${each(ms)} ms, ${each(pairs)} pairs, ${each(visible)} visible; ${service.stats.frameBuffers} frame buffers`,
  );
  expect(pairs / count).toBeGreaterThan(200);
  expect(changes / count).toBeGreaterThan(0.5);
  expect(visible / count).toBeGreaterThan(400);

  expect(after.frameBuffers).toBe(before.frameBuffers);
  expect(after.memoryBytes).toBe(before.memoryBytes);
  expect(after.usedBytes - before.usedBytes).toBeLessThan(before.usedBytes / 100);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(MEGABYTE);
  expect(after.external - before.external).toBeLessThan(MEGABYTE);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(MEGABYTE);
  expect(after.rss - before.rss).toBeLessThan(64 * MEGABYTE);
  service.dispose();
});

/** A worker whose JavaScript heap is so small that it would not survive a leak of a kilobyte per frame. */
function createSmallWorker(): WorkerLike {
  const script = new URL(import.meta.resolve('collision-worker/worker'));
  const resourceLimits = { maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 4 };
  return new Worker(script, { resourceLimits }) as unknown as WorkerLike;
}

/** This many objects at random places in a cube: 16 numbers each. */
function scattered(random: Random, count: number): Float32Array {
  const matrices = new Float32Array(count * 16);
  for (let i = 0; i < matrices.length; i += 16) random.placement(random.point(18)).toArray(matrices, i);
  return matrices;
}

/** A step on a circle, a different one for each object. */
function sway(matrices: Float32Array, frame: number): void {
  for (let i = 0; i < matrices.length; i += 16) {
    matrices[i + 12] += 0.05 * Math.sin((frame + i) / 40);
    matrices[i + 13] += 0.05 * Math.cos((frame + i) / 40);
  }
}
