// Views were set by a frame that then ran out of memory: they have to
// be sent again with the next one, including one that waits already.
import { type CollisionService, createCollisionService, type ObjectId, type WorkerLike } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createLimitedWorker } from '../fixtures/limited-memory.js';

const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 100, height: 100 },
};
const SPHERE = { shape: { type: 'sphere', radius: 1 } } as const;
const UNSEEN = { ...SPHERE, layers: 0, collidesWith: 0, contacts: 'none', cullable: false } as const;
const OUT_OF_MEMORY = { code: 'OUT_OF_MEMORY' };

let service: CollisionService;
let sphere: ObjectId;
let crowd: Uint32Array;
beforeEach(async () => {
  const createWorker = () => createLimitedWorker(100) as unknown as WorkerLike;
  service = await createCollisionService({ createWorker, builders: 0 });
  onTestFinished(() => service.dispose());
  sphere = service.addObject(SPHERE);
});

/** Requests more memory than there is; the next frame fails. */
function overfill(): void {
  crowd = service.addInstances(UNSEEN, 40_000);
}

async function views(): Promise<[name: string, ids: number[], entered: number[]][]> {
  const frame = await service.update();
  return Array.from(frame.views, ([name, { ids, entered }]) => [name, [...ids], [...entered]]);
}

test('a view that was set before a frame that found no room is in the next', async () => {
  service.setView(VIEW);
  overfill();
  await expect(service.update()).rejects.toMatchObject(OUT_OF_MEMORY);
  expect(await views()).toEqual([['main', [sphere], [sphere]]]);
});

test('a view that was set before such a frame is in the one that waited behind it', async () => {
  service.setView(VIEW);
  overfill();
  const failing = service.update();
  service.setView(VIEW, 'other');
  const waiting = views();
  await expect(failing).rejects.toMatchObject(OUT_OF_MEMORY);
  expect(await waiting).toEqual([
    ['main', [sphere], [sphere]],
    ['other', [sphere], [sphere]],
  ]);
});

test('a view that is as it was is in the frame after such a one, and nothing entered it anew', async () => {
  service.setView(VIEW);
  await service.update();
  overfill();
  await expect(service.update()).rejects.toMatchObject(OUT_OF_MEMORY);
  expect(await views()).toEqual([['main', [sphere], []]]);
});

test('a view changed in such a frame and removed after it stays away', async () => {
  service.setView(VIEW);
  service.setView(VIEW, 'other');
  await service.update();
  overfill();
  service.setView({ ...VIEW, margin: 1 }, 'other');
  await expect(service.update()).rejects.toMatchObject(OUT_OF_MEMORY);
  service.removeView('other');
  for (const id of crowd) service.removeObject(id);
  expect(await views()).toEqual([['main', [sphere], []]]);
});
