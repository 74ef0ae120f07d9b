import { type CollisionService, createCollisionService, type ObjectOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { afterEach, describe, expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url).href;
const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
const FORWARD = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;
const VIEW = {
  projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(0, 0, -10).elements,
  viewport: { width: 200, height: 200 },
};

const error = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'CollisionError', code, message: expect.stringMatching(message) });

const started: CollisionService[] = [];
const start = async (...args: Parameters<typeof createCollisionService>) => {
  const service = await createCollisionService(...args);
  started.push(service);
  return service;
};
afterEach(() => {
  for (const service of started.splice(0)) service.dispose();
});

/** A module worker with this source. */
const inline = (source: string) =>
  new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });

test('a life: mesh, object, frame, pick, rays', async () => {
  const service = await start();
  const mesh = await service.addMesh(icosphere(1, 3));
  const [a, b] = [
    service.addObject({ shape: { type: 'mesh', mesh } }),
    service.addObject({ ...BOX, matrix: new Matrix4().makeTranslation(0.5, 0, 0).elements }),
  ];
  service.setView(VIEW);
  const { visible, contacts, rejected } = await service.update();
  expect([...visible.ids]).toEqual([a, b]);
  expect([...contacts]).toMatchObject([{ a, b, begun: true }]);
  expect(rejected.length).toBe(0);
  const hit = await service.pick(100, 100);
  expect(hit).toMatchObject({ object: a, frame: 1 });
  expect(hit?.distance).toBeCloseTo(9, 1);
  expect(await service.pick(1, 1)).toBeNull();
  expect(await service.raycast(FORWARD, { ignore: [a] })).toMatchObject({ object: b, distance: 9 });
  const hits = await service.raycastMany(
    new Float32Array([1.25, 0, 9, 0, 0, 0, -1, Infinity, 9, 9, 9, 0, 0, 0, -1, 1]),
  );
  expect(hits.distances).toEqual(new Float64Array([8, Infinity]));
  expect(await service.lineOfSight([0, 0, 5], [0, 0, -5])).toBe(false);
  expect(await service.lineOfSight([0, 5, 5], [0, 5, -5])).toBe(true);
});

test('frames are transferred, and their buffers recycled', async () => {
  const seen = new Set<ArrayBuffer>();
  let copied = 0;
  const service = await start({
    createWorker: () => {
      const worker = new Worker(SCRIPT, { type: 'module' });
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (message, transfer?: StructuredSerializeOptions | Transferable[]) => {
        post(message, transfer as Transferable[]);
        for (const buffer of [message.input, message.out]) {
          if (!(buffer instanceof ArrayBuffer)) continue;
          seen.add(buffer);
          if (buffer.byteLength > 0) copied++;
        }
      };
      return worker;
    },
  });
  const ids = service.addInstances(BOX, 1000);
  const matrices = new Float32Array(16 * ids.length);
  for (let i = 0; i < ids.length; i++) new Matrix4().makeTranslation(3 * i, 0, 0).toArray(matrices, 16 * i);
  service.setView({ ...VIEW, view: new Matrix4().makeTranslation(0, 0, -10).elements });
  let warm = 0;
  for (let frame = 0; frame < 200; frame++) {
    service.setTransforms(ids, matrices);
    service.setTransform(ids[frame], new Matrix4().makeTranslation(0, 3 * frame, 0).elements);
    await service.update();
    if (frame === 5) warm = service.stats.frameBuffers;
  }
  expect([seen.size, copied]).toEqual([expect.any(Number), 0]);
  expect(seen.size).toBeGreaterThan(300); // each round trip makes a new object of the same memory
  expect(service.stats).toMatchObject({ frames: 200, frameBuffers: warm, queueDepth: 0, pending: 0 });
  expect(warm).toBeLessThan(10);
});

describe('a worker that is lost', () => {
  test.each<[string, () => Worker, string, RegExp]>([
    ['a script that is not there', () => new Worker('/no/such/worker.js', { type: 'module' }), 'WORKER_LOST', /script/],
    ['a script that throws', () => inline('throw new Error("broken")'), 'WORKER_LOST', /did not start: .*broken/],
    ['a script with an error', () => inline('this is no script'), 'WORKER_LOST', /did not start/],
    ['a script that says nothing', () => inline(''), 'WORKER_LOST', /did not start: it said nothing for 2000 ms/],
    [
      'WebAssembly that is forbidden',
      () =>
        inline(`
          WebAssembly.instantiate = async () => { throw new WebAssembly.CompileError('disallowed by embedder'); };
          import('${SCRIPT}');
        `),
      'UNSUPPORTED',
      /disallowed by embedder.*wasm-unsafe-eval/,
    ],
  ])('%s', async (_, createWorker, code, message) => {
    await expect(createCollisionService({ createWorker, timeout: 2000 })).rejects.toEqual(error(code, message));
  });

  test('one that throws later takes what is pending with it', async () => {
    let worker: Worker | undefined;
    const service = await start({
      restart: false,
      createWorker: () => {
        worker = new Worker(SCRIPT, { type: 'module' });
        return worker;
      },
    });
    service.setView(VIEW);
    worker?.postMessage({ type: 'frame', input: null });
    const lost = error('WORKER_LOST', /the worker threw/);
    for (const promise of [service.update(), service.pick(100, 100)]) await expect(promise).rejects.toEqual(lost);
    expect(() => service.addObject(BOX)).toThrow(lost);
  });

  test('dispose rejects what is pending, and what comes later', async () => {
    const service = await start();
    service.setView(VIEW);
    const pending = [
      service.update(),
      service.update(),
      service.pick(100, 100),
      service.raycast(FORWARD),
      service.addMesh(icosphere(1, 20)),
    ];
    service.dispose();
    const disposed = error('DISPOSED', /the service was disposed/);
    for (const promise of pending) await expect(promise).rejects.toEqual(disposed);
    await expect(service.update()).rejects.toEqual(disposed);
    expect(() => service.addObject(BOX)).toThrow(disposed);
    service.dispose();
  });
});

describe('builds', () => {
  const large = icosphere(1, 80);

  test('tell their progress, and run beside frames', async () => {
    const service = await start();
    service.addObject(BOX);
    const fractions: number[] = [];
    let isBuilt = false;
    const mesh = service.addMesh(large, { onProgress: (fraction) => fractions.push(fraction) }).finally(() => {
      isBuilt = true;
    });
    let frames = 0;
    for (; !isBuilt; frames++) await service.update();
    expect(frames).toBeGreaterThan(10);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
    expect(service.meshInfo(await mesh).triangles).toBe(large.indices.length / 3);
  });

  test.each([0, 1])('are aborted, with %i builders', async (builders) => {
    const service = await start({ builders });
    const controller = new AbortController();
    const { signal } = controller;
    const mesh = service.addMesh(large, { signal, onProgress: () => controller.abort() });
    await expect(mesh).rejects.toEqual(error('ABORTED', /^addMesh/));
    expect(service.stats.meshes).toBe(0);
    expect(await service.addMesh(icosphere(1, 1))).toBeGreaterThan(0);
  });

  test('hand over their arrays when they may', async () => {
    const service = await start();
    const { positions, indices } = icosphere(1, 4);
    await service.addMesh({ positions, indices });
    expect(positions.length).toBeGreaterThan(0);
    await service.addMesh({ positions, indices }, { transfer: true });
    expect([positions.length, indices.length]).toEqual([0, 0]);
  });
});
