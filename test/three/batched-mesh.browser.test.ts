// The instance that three draws at a pixel, by a colour for each, is the one that a pick at the pixel's centre returns.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Color, LinearSRGBColorSpace, MeshBasicMaterial, NoToneMapping, Scene, WebGLRenderer } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RandomBatch } from '../fixtures/three-batches.js';
import { randomCamera, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

const RADIUS = 6;
const SCENES = 10;
const PIXELS = 100;
/** This share of pixels may be next to an edge, where a rasterizer's fixed-point arithmetic decides. */
const MOST_ON_EDGES = 0.02;

let service: CollisionService;
let renderer: WebGLRenderer;
beforeEach(async () => {
  service = await createCollisionService();
  renderer = new WebGLRenderer({ antialias: false });
  renderer.outputColorSpace = LinearSRGBColorSpace; // colours are used as numbers here
  renderer.toneMapping = NoToneMapping;
  renderer.setPixelRatio(1);
  renderer.setSize(SIZE.width, SIZE.height);
});
afterEach(() => {
  service.dispose();
  renderer.dispose();
  renderer.forceContextLoss();
});

/** Gives each instance a colour of its own: 40 numbers for each batch. */
function paint(batches: readonly RandomBatch[]): void {
  const color = new Color();
  batches.forEach(({ mesh, instances }, batch) => {
    for (const instance of instances)
      mesh.setColorAt(instance, color.setRGB((1 + instance) / 255, (1 + batch) / 255, 0));
  });
}

test(`a pick at a pixel's centre names the instance that is drawn there, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let [drawn, wrong] = [0, 0];
  const faults: string[] = [];
  for (let number = 0; number < SCENES; number++) {
    const scene = new Scene();
    const batches = [0, 1].map((i) => {
      const batch = new RandomBatch(random, RADIUS / 2, new MeshBasicMaterial());
      batch.mesh.name = `batch ${i}`;
      // three does not support negative scales of instances when it draws batches: their faces are wound the wrong way.
      for (const instance of batch.instances) {
        batch.mesh.setMatrixAt(instance, random.placement(random.point(RADIUS / 2), { low: 0.4, high: 1.6 }));
      }
      if (i === 1) place(batch.mesh, random, RADIUS / 4);
      return batch;
    });
    for (const { mesh } of batches) scene.add(mesh);
    const camera = randomCamera(random, RADIUS);
    camera.near = Math.max(camera.near, 0.1);
    camera.far = 100;
    camera.updateProjectionMatrix();
    const tracker = await trackScene(service, scene, UNRENDERED);
    for (const batch of batches) {
      const [first] = batch.instances;
      batch.mesh.setVisibleAt(first, false);
      batch.mesh.deleteInstance(random.pick([...batch.instances].slice(1)));
      batch.mesh.optimize();
    }
    for (const batch of batches) for (const i of batch.instances) if (!isAlive(batch, i)) batch.instances.delete(i);
    paint(batches);
    await settle(tracker, camera);
    renderer.render(scene, camera);
    const gl = renderer.getContext();
    const bytes = new Uint8Array(4 * SIZE.width * SIZE.height);
    gl.readPixels(0, 0, SIZE.width, SIZE.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    for (let i = 0; i < PIXELS; i++) {
      const [x, y] = [random.integer(SIZE.width), random.integer(SIZE.height)];
      const at = 4 * ((SIZE.height - 1 - y) * SIZE.width + x);
      const expected = bytes[at] === 0 ? 'nothing' : `batch ${bytes[at + 1] - 1} instance ${bytes[at] - 1}`;
      const hit = await tracker.pick(x + 0.5, y + 0.5);
      const found = hit === null ? 'nothing' : `${hit.object.name} instance ${hit.batchId}`;
      if (expected !== 'nothing') drawn++;
      if (found === expected) continue;
      wrong++;
      faults.push(`scene ${number}, pixel ${x}, ${y}: ${found} instead of ${expected}`);
    }
    tracker.dispose();
    for (const { mesh } of batches) mesh.dispose();
  }
  expect(drawn).toBeGreaterThan((SCENES * PIXELS) / 10);
  expect(wrong, faults.join('\n')).toBeLessThan(MOST_ON_EDGES * SCENES * PIXELS);
});

function isAlive({ mesh }: RandomBatch, instance: number): boolean {
  try {
    mesh.getVisibleAt(instance);
    return true;
  } catch {
    return false;
  }
}
