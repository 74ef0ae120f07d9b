// The core's memory for picks and features is freed, and removed features are kept for the picks that read them.
import { type CollisionService, createCollisionService, type MeshId } from 'collision-worker';
import { BoxGeometry } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CoreSnaps } from '../../../src/worker/binding/snaps.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { cubeFeatures } from '../../../src/worker/snap/cube.js';
import { FeatureStore } from '../../../src/worker/snap/feature-store.js';
import { GatedWorker } from '../../fixtures/gated-worker.js';
import { addPile } from '../../fixtures/snap-pile.js';
import { trianglesOf } from '../../oracle/meshes.js';
import { SEED } from '../../oracle/random.js';

const OBJECTS = 60_000;
const CUBE = trianglesOf(new BoxGeometry(1, 1, 1, 3, 3, 3));

/**
 * Adds enough objects around the cursor that a pick takes several slices. `mesh`: their mesh; else they are boxes.
 */
function pile(service: CollisionService, mesh?: MeshId): Uint32Array {
  return addPile(service, mesh ? { type: 'mesh', mesh } : { type: 'box', halfExtents: [0.5, 0.5, 0.5] }, OBJECTS);
}

async function start(): Promise<CollisionService> {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  return service;
}

const snapOf = (service: CollisionService, signal = new AbortController().signal) =>
  service.pick(200, 150, { snap: ['vertex', 'edge'], radius: 10, signal });

const addCube = (service: CollisionService) =>
  service.addMesh({ positions: CUBE.positions.slice(), indices: CUBE.indices.slice() }, { features: true });

async function usedBytes(service: CollisionService): Promise<number> {
  await service.update();
  return service.stats.usedBytes;
}

test(`picks that are dropped in the midst of their slices take nothing for good, seed ${SEED}`, async () => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  onTestFinished(() => service.dispose());
  pile(service);
  const first = await usedBytes(service);
  await snapOf(service);
  const before = await usedBytes(service);
  let dropped = 0;
  for (let i = 0; i < 6; i++) {
    const controller = new AbortController();
    await worker.shut();
    const gone = Promise.allSettled(Array.from({ length: 12 }, () => snapOf(service, controller.signal)));
    await worker.inMidst(() => service.pick(10, 10)); // which is answered while they wait
    controller.abort();
    worker.open();
    dropped += (await gone).filter(({ status }) => status === 'rejected').length;
  }
  expect(dropped).toBe(6 * 12);
  await snapOf(service);
  // Memory that is kept for the next pick may have grown in other steps; a leak would be many times as much.
  expect(await usedBytes(service)).toBeLessThan(before + (before - first));
});

test('features go with their mesh', async () => {
  const service = await start();
  const ids = pile(service, await addCube(service));
  await service.update();
  await snapOf(service);
  service.removeObjects(ids.subarray(1));
  const before = await usedBytes(service);
  for (let i = 0; i < 5; i++) {
    const mesh = await addCube(service);
    const id = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    expect((await snapOf(service))?.snap).toBeTruthy();
    service.removeObject(id);
    service.removeMesh(mesh);
  }
  expect(await usedBytes(service)).toBe(before);
});

describe('features that are dropped', () => {
  /** A store with memory that reports which addresses are in use. */
  function storeWithMemory() {
    const buffer = new ArrayBuffer(1 << 16);
    const used = new Set<number>();
    let next = 64;
    const snaps = {
      getMemory: () => buffer,
      allocate(bytes: number) {
        const address = next;
        next += Math.ceil(bytes / 64) * 64;
        used.add(address);
        return address;
      },
      release: (address: number) => used.delete(address),
    };
    return { store: new FeatureStore(snaps as unknown as CoreSnaps), used };
  }

  test.each([
    ['the mesh was removed', (store: FeatureStore) => store.remove(1)],
    ['another tree took its place', (store: FeatureStore) => store.onReplaced(1, 2)],
    ['others were found of it', (store: FeatureStore) => runToEnd(store.load(1, cubeFeatures()))],
  ])('stay for picks that read them where %s', (_, drop) => {
    const { store, used } = storeWithMemory();
    runToEnd(store.load(1, cubeFeatures()));
    const { address } = store.featuresAt(1)!.features;
    store.keep();
    store.keep();
    drop(store);
    expect(store.featuresAt(1)?.features.address).not.toBe(address);
    store.release();
    expect(used.has(address)).toBe(true);
    store.release();
    expect(used.has(address)).toBe(false);
    drop(store);
    expect(used.size).toBe(store.featuresAt(1) ? 1 : 0);
  });

  test('stay where only vertices have moved', () => {
    const { store, used } = storeWithMemory();
    runToEnd(store.load(1, cubeFeatures()));
    const { features } = store.featuresAt(1)!;
    store.onMoved(1, 2);
    expect(store.featuresAt(1)).toBeUndefined();
    expect(store.featuresAt(2)).toEqual({ features, isMoved: true });
    store.remove(2);
    expect(used.size).toBe(0);
  });
});
