// One mesh built by two builders: the tree is that of one
// builder, and whatever happens to the second one has no effect.
import { type AddMeshOptions, type CollisionService, createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';
import type { CallMessage } from '../../src/shared/calls.js';
import type { ToWorker } from '../../src/shared/protocol.js';
import { HeldWorker } from '../fixtures/held-worker.js';
import { createLimitedWorker } from '../fixtures/limited-memory.js';
import { waves } from '../oracle/meshes.js';

/** Large enough to be split. */
const LARGE = waves(330);
const SMALL = waves(100);

/** Records its requests, and calls a function as soon as it has been asked for the second part. */
class Spied extends HeldWorker {
  readonly calls: string[] = [];
  onSecond = (): void => {};
  #answers = 0;

  constructor() {
    super();
    this.addEventListener('message', (event) => {
      if (Array.isArray((event as MessageEvent).data)) this.#answers++;
    });
  }

  /** Resolves when it has answered all its calls. */
  async idle(): Promise<void> {
    while (this.#answers < this.calls.length) await new Promise(setImmediate);
  }

  override postMessage(message: ToWorker | CallMessage, transfer?: Transferable[]): void {
    super.postMessage(message, transfer);
    if (!Array.isArray(message)) return;
    const [, name] = message;
    this.calls.push(name);
    if (name === 'buildSecond') this.onSecond();
  }
}

async function start(builders: number, onStart = (_: Spied, __: number): void => {}) {
  const workers: Spied[] = [];
  const createWorker = () => {
    const worker = new Spied();
    workers.push(worker);
    onStart(worker, workers.length);
    return worker;
  };
  const service = await createCollisionService({ builders, createWorker });
  onTestFinished(() => service.dispose());
  return { service, workers };
}

async function bakedBy(service: CollisionService, options: AddMeshOptions = {}, mesh = LARGE): Promise<Buffer> {
  const id = await service.addMesh(mesh, options);
  const baked = Buffer.from(await service.bakeMesh(id));
  service.removeMesh(id);
  return baked;
}

let one: Buffer;
async function bakedByOne(): Promise<Buffer> {
  one ??= await bakedBy((await start(1)).service);
  return one;
}

async function expectWhole(baked: Buffer): Promise<void> {
  expect(baked.equals(await bakedByOne())).toBe(true);
}

/** Expects that nothing is left behind: both builders are idle in the end, and a mesh gets both. */
async function expectWell({ service, workers }: Awaited<ReturnType<typeof start>>): Promise<void> {
  while (service.stats.pending > 0) await service.update();
  const asked = () => workers.flatMap(({ calls }) => calls).filter((call) => call === 'buildSecond').length;
  // A second builder may still be finishing its work.
  for (const before = asked(); asked() === before; ) await expectWhole(await bakedBy(service));
  expect(service.stats.pending).toBe(0);
}

test('the tree is that of one builder, cold and warm, and progress never goes back', async () => {
  await bakedByOne(); // a builder that is idle for 5 s ends, and a busy machine took as long for this
  const { service, workers } = await start(2);
  let expectedSeconds: string[] = [];
  for (let i = 0; i < 3; i++) {
    const told: number[] = [];
    await expectWhole(await bakedBy(service, { onProgress: (fraction) => told.push(fraction) }));
    expect(told.at(-1)).toBe(1);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(service.stats.pending).toBe(0);
    const { calls } = workers[2];
    // On a busy machine, the first builder may be done before the second one has started.
    expectedSeconds = i === 0 ? [...calls] : [...expectedSeconds, 'buildSecond'];
    expect(calls).toEqual(expectedSeconds);
    await workers[2].idle(); // which may be after the first one
  }
  expect(workers[1].calls).toEqual(['buildMesh', 'buildMesh', 'buildMesh']);
});

test('small meshes, and meshes that come together, have a builder each', async () => {
  const { service, workers } = await start(2);
  await bakedBy(service, {}, SMALL);
  expect(workers.length).toBe(2);
  const baked = await Promise.all([bakedBy(service), bakedBy(service)]);
  for (const each of baked) await expectWhole(each);
  expect(workers.flatMap(({ calls }) => calls)).not.toContain('buildSecond');
});

test('a second builder that dies, at any time, takes nothing with it', async () => {
  for (const ms of [0, 10, 50]) {
    const world = await start(2);
    const { service, workers } = world;
    await service.addMesh(SMALL);
    const added = bakedBy(service);
    while (workers.length < 3) await new Promise(setImmediate);
    workers[2].onSecond = () => setTimeout(() => workers[2].worker.terminate(), ms);
    await expectWhole(await added);
    await expectWell(world);
  }
});

test('a first builder that dies frees the second', async () => {
  const world = await start(2);
  const { service, workers } = world;
  await service.addMesh(SMALL);
  const added = service.addMesh(LARGE, { onProgress: () => workers[1].worker.terminate() });
  await expect(added).rejects.toMatchObject({ code: 'WORKER_LOST' });
  await expectWell(world);
});

test('an abort ends both', async () => {
  const world = await start(2);
  const { service, workers } = world;
  for (const abortAt of [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8]) {
    const controller = new AbortController();
    const onProgress = (fraction: number) => fraction >= abortAt && controller.abort();
    const added = service.addMesh(LARGE, { signal: controller.signal, onProgress });
    await expect(added).rejects.toMatchObject({ code: 'ABORTED' });
  }
  await expectWell(world);
  expect(workers.length).toBe(3);
});

test('a second builder that starts only when the build was given up is not asked', async () => {
  const world = await start(2, (worker, number) => number === 3 && worker.holdAll());
  const { service, workers } = world;
  const controller = new AbortController();
  const added = service.addMesh(LARGE, { signal: controller.signal });
  while (workers.length < 3) await new Promise(setImmediate);
  controller.abort();
  await expect(added).rejects.toMatchObject({ code: 'ABORTED' });
  await workers[2].release(); // it reports that it has started
  await workers[2].letGo();
  expect(workers[2].calls).toEqual([]);
  await expectWell(world);
});

test('disposal in the midst ends both', async () => {
  const { service, workers } = await start(2);
  const added = service.addMesh(LARGE, { onProgress: () => service.dispose() });
  await expect(added).rejects.toMatchObject({ code: 'DISPOSED' });
  const ended = ({ worker }: Spied) => worker.threadId === -1 || new Promise((resolve) => worker.once('exit', resolve));
  expect(workers.length).toBe(3);
  await Promise.all(workers.map(ended));
});

test('a second builder without the memory for it is done without', async () => {
  let made = 0;
  const createWorker = () => createLimitedWorker(++made === 3 ? 150 : 65536);
  const service = await createCollisionService({ builders: 2, createWorker });
  await expectWhole(await bakedBy(service));
  expect(made).toBe(3);
  await expectWhole(await bakedBy(service));
  expect(service.stats).toMatchObject({ meshes: 0, pending: 0 });
  service.dispose();
});

test('bad data are refused as by one builder, which can go on', async () => {
  const world = await start(2);
  const indices = LARGE.indices.slice();
  indices[indices.length - 2] = 1e9;
  const message = `addMesh: indices[${indices.length - 2}] is 1000000000, expected 0 to `;
  await expect(world.service.addMesh({ ...LARGE, indices })).rejects.toThrow(message);
  await expectWell(world);
});

test('welded, quickly built and without indices, the tree is that of one builder as well', async () => {
  const [one, two] = [await start(1), await start(2)];
  const { positions, indices } = LARGE;
  const corners = {
    positions: Float32Array.from([...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)])),
  };
  for (const [mesh, options] of [
    [LARGE, { weld: 1e-6 }],
    [LARGE, { quality: 'fast' }],
    [corners, {}],
    [corners, { weld: 1e-6 }],
  ] as [typeof LARGE, AddMeshOptions][]) {
    const expected = await bakedBy(one.service, options, mesh);
    expect((await bakedBy(two.service, options, mesh)).equals(expected)).toBe(true);
  }
  expect(two.workers[2].calls).toContain('buildSecond');
});
