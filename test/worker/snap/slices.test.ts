// A snapping pick with very many features near the cursor runs in
// slices: calls in between neither wait for it nor disturb it.
import { createCollisionService } from 'collision-worker';
import { OrthographicCamera, PlaneGeometry } from 'three';
import { expect, onTestFinished, test } from 'vitest';
import { GatedWorker } from '../../fixtures/gated-worker.js';
import { addPile } from '../../fixtures/snap-pile.js';

const BOXES = 20_000;

/** Boxes around the cursor that hide one another. */
async function pile() {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  const ids = addPile(service, { type: 'box', halfExtents: [0.5, 0.5, 0.5] }, BOXES);
  await service.update();
  const snap = (signal = new AbortController().signal) =>
    service.pick(200, 150, { snap: ['vertex', 'edge'], radius: 10, signal });
  return { worker, service, ids, snap };
}

test('a pick that comes later is answered before', async () => {
  const { worker, service, snap } = await pile();
  const answers: string[] = [];
  await worker.atOnce(() =>
    Promise.all([snap().then(() => answers.push('snap')), service.pick(10, 10).then(() => answers.push('pick'))]),
  );
  expect(answers).toEqual(['pick', 'snap']);
});

test('the answer is the same where everything goes meanwhile, or another pick is under way', async () => {
  const { service, ids, snap } = await pile();
  const alone = await snap();
  expect(alone?.snap).toBeTruthy();
  expect(await Promise.all([snap(), snap()])).toEqual([alone, alone]);
  const last = snap();
  service.removeObjects(ids);
  const { frame } = await service.update();
  const { object, frame: seen } = (await last)!;
  expect(ids).toContain(object);
  expect(seen).toBeLessThan(frame);
});

test('the largest radius is one like others where much is near', async () => {
  const { service } = await pile();
  const [all, most] = await Promise.all(
    [1e4, Number.MAX_VALUE].map((radius) => service.pick(200, 150, { snap: ['vertex'], radius })),
  );
  expect(most!.snap).toEqual(all!.snap);
});

test('an abort ends it', async () => {
  const { service, snap } = await pile();
  const controller = new AbortController();
  const gone = snap(controller.signal);
  controller.abort();
  await expect(gone).rejects.toMatchObject({ code: 'ABORTED' });
  expect(await service.pick(10, 10)).toBeNull();
});

test('a face of 100,000 triangles is in slices, too', async () => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  const { attributes, index } = new PlaneGeometry(2, 2, 200, 250);
  const positions = new Float32Array(attributes.position.array);
  const mesh = await service.addMesh({ positions, indices: Uint32Array.from(index!.array) });
  service.addObject({ shape: { type: 'mesh', mesh } });
  const { projectionMatrix, matrixWorldInverse } = new OrthographicCamera(-1, 1, 1, -1, -1, 1);
  const viewport = { x: 0, y: 0, width: 400, height: 300 };
  service.setView({ projection: projectionMatrix.elements, view: matrixWorldInverse.elements, viewport });
  const snap = () => service.pick(200, 150, { snap: ['face'] });
  const first = await snap();
  expect(first!.snap!.face!.triangles).toEqual(Uint32Array.from({ length: 100_000 }, (_, i) => i));
  const answers: string[] = [];
  await worker.atOnce(() =>
    Promise.all([snap().then(() => answers.push('snap')), service.raycast(AWAY).then(() => answers.push('ray'))]),
  );
  expect(answers).toEqual(['ray', 'snap']);
});

const AWAY = { origin: [5, 5, 5], direction: [1, 0, 0] } as const;
