import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import {
  type CollisionService,
  type CollisionServiceOptions,
  createCollisionService,
  type ObjectOptions,
} from 'collision-worker';
import { Matrix4 } from 'three';
import { describe, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import type { Command } from '../../src/shared/commands.js';
import { makeId } from '../../src/shared/ids.js';
import { packRay, unpackHit } from '../../src/shared/packed.js';
import type { FromWorker, ResultMessage } from '../../src/shared/protocol.js';
import { createCore } from '../../src/worker/binding/core.js';
import { WorkerService } from '../../src/worker/service.js';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { HeldWorker } from '../fixtures/held-worker.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';

const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [1, 1, 1] } };
const FORWARD = { origin: [0, 0, 10], direction: [0, 0, -1] } as const;

const SCRIPT = import.meta.resolve('collision-worker/worker');

const error = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'CollisionError', code, message: expect.stringMatching(message) });

describe('a worker that is lost', () => {
  const start = (createWorker: () => Worker, timeout = 10_000) =>
    createCollisionService({ createWorker, timeout, restart: false });

  test.each<[string, () => Worker, string, RegExp]>([
    ['is not there', () => new Worker('/no/such/file.js'), 'WORKER_LOST', /did not start: .*file\.js/],
    [
      'throws at its start',
      () => new Worker('throw Error("broken")', { eval: true }),
      'WORKER_LOST',
      /not start: broken/,
    ],
    ['ends at its start', () => new Worker('', { eval: true }), 'WORKER_LOST', /not start: .*exit code 0/],
    [
      'cannot be made',
      () => {
        throw new Error('forbidden');
      },
      'WORKER_LOST',
      /could not be made: Error: forbidden/,
    ],
    [
      'lacks something of its platform',
      () => new Worker(`delete globalThis.WebAssembly; import('${SCRIPT}');`, { eval: true }),
      'UNSUPPORTED',
      /could not be started: there is no WebAssembly here/,
    ],
    ...[undefined, '0.0.1'].map((version): [string, () => Worker, string, RegExp] => [
      `is of ${version === undefined ? 'no' : 'another'} version`,
      () => {
        const ready = JSON.stringify({ type: 'ready', version });
        return new Worker(`require('node:worker_threads').parentPort.postMessage(${ready})`, { eval: true });
      },
      'WORKER_LOST',
      version === undefined
        ? /its script is of an older version, expected /
        : /its script is of version 0\.0\.1, expected /,
    ]),
    ['is no worker', () => 7 as never, 'INVALID_ARGUMENT', /createWorker returned 7, expected a Worker/],
  ])('because it %s', async (_, createWorker, code, message) => {
    await expect(start(createWorker)).rejects.toEqual(error(code, message));
  });

  test('because it says nothing at its start', async () => {
    const silent = () => new Worker('setInterval(() => {}, 1000)', { eval: true });
    await expect(start(silent, 300)).rejects.toEqual(error('WORKER_LOST', /did not start: it said nothing for 300 ms/));
  });

  test('because it falls silent: everything pending rejects within the timeout', async () => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, timeout: 3000, restart: false });
    await new Promise((resolve) => setTimeout(resolve, 4000)); // silence with nothing to do does not count as a loss
    worker.hold();
    const begin = performance.now();
    const pending = [service.update(), service.update(), service.raycast(FORWARD)];
    const lost = error('WORKER_LOST', /^(update|raycast|addObject): the worker was silent for 3000 ms/);
    for (const promise of pending) await expect(promise).rejects.toEqual(lost);
    expect(performance.now() - begin).toBeLessThan(15_000);
    expect(() => service.addObject(BOX)).toThrow(lost);
    await expect(service.update()).rejects.toEqual(error('WORKER_LOST', /^update: the worker was silent/));
  });

  test('because it throws later', async () => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, restart: false });
    worker.worker.postMessage({ type: 'frame', input: null });
    await expect(service.update()).rejects.toEqual(error('WORKER_LOST', /threw: /));
    expect(service.stats.pending).toBe(0);
  });

  test('but not because this thread was blocked', async () => {
    const service = await createCollisionService({ timeout: 3000 });
    const pending = service.update();
    const until = performance.now() + 5000;
    while (performance.now() < until);
    expect((await pending).frame).toBe(1);
    service.dispose();
  });
});

describe('options', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['an unknown one', { builder: 2 }, 'INVALID_ARGUMENT', /unknown key "builder", expected some of createWorker, /],
    ['half a restart', { restart: 1 }, 'INVALID_ARGUMENT', /restart is 1, expected a boolean/],
    ['half a builder', { builders: 0.5 }, 'INVALID_ARGUMENT', /builders is 0\.5, expected an integer in 0 … 64/],
    ['no time', { timeout: 0 }, 'INVALID_ARGUMENT', /timeout is 0, expected a finite number > 0/],
    ['a worker', { createWorker: {} }, 'INVALID_ARGUMENT', /createWorker is an object, expected a function/],
    ['nothing at all', null, 'INVALID_ARGUMENT', /options is null, expected an object/],
  ])('%s', async (_, options, code, message) => {
    const promise = createCollisionService(options as CollisionServiceOptions);
    await expect(promise).rejects.toEqual(error(code, message));
  });
});

describe('a signal', () => {
  test('that aborted before starts no worker', async () => {
    const createWorker = () => expect.fail('a worker was made');
    const promise = createCollisionService({ createWorker, signal: AbortSignal.abort('enough') });
    await expect(promise).rejects.toMatchObject({ code: 'ABORTED', cause: 'enough' });
  });

  test('ends the worker that starts, and nothing once it listens', async () => {
    const worker = new HeldWorker();
    const controller = new AbortController();
    const promise = createCollisionService({ createWorker: () => worker, signal: controller.signal });
    controller.abort();
    await expect(promise).rejects.toEqual(error('ABORTED', /^createCollisionService: aborted by its signal/));
    await vi.waitFor(() => expect(worker.worker.threadId).toBe(-1), 10_000);

    const other = new AbortController();
    const service = await createCollisionService({ signal: other.signal });
    other.abort();
    expect((await service.update()).frame).toBe(1);
    service.dispose();
  });
});

describe('a process', () => {
  const index = import.meta.resolve('collision-worker');
  const run = async (script: string) => {
    const source = `import { createCollisionService } from '${index}'; const service = await createCollisionService();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source + script]);
    return stdout.trim();
  };

  test('is not kept by an idle service, not even after a build', async () => {
    // A timer that does not keep the process alive shows whether something else does.
    const stdout = await run(`
      await service.addMesh({ positions: new Float32Array([0,0,0,1,0,0,0,1,0]) });
      await service.update();
      setTimeout(() => { console.log("kept"); process.exit(); }, 3000).unref();
      console.log("done");
    `);
    expect(stdout).toBe('done');
  });

  test('is kept by a call that is pending', async () => {
    const stdout = await run('service.update().then(({ frame }) => console.log("frame", frame))');
    expect(stdout).toBe('frame 1');
  });
});

describe('builders', () => {
  const large = icosphere(1, 80);

  async function startCounting(options: CollisionServiceOptions = {}) {
    const workers: HeldWorker[] = [];
    const createWorker = () => {
      workers.push(new HeldWorker());
      return workers.at(-1)!;
    };
    return { service: await createCollisionService({ ...options, createWorker }), workers };
  }

  test('start with the first mesh, as many as are wanted', async () => {
    const { service, workers } = await startCounting({ builders: 2 });
    service.addObject(BOX);
    await service.update();
    expect(workers.length).toBe(1);
    const meshes = await Promise.all(Array.from({ length: 4 }, () => service.addMesh(boxMesh(1, 1, 1))));
    expect(workers.length).toBe(3);
    expect(new Set(meshes).size).toBe(4);
    expect(service.stats).toMatchObject({ meshes: 4, triangles: 48 });
    service.removeMesh(meshes[1]);
    expect(service.stats).toMatchObject({ meshes: 3, triangles: 36 });
    service.dispose();
  });

  test('none: the service builds, and answers frames and rays meanwhile', async () => {
    const worker = new GatedWorker();
    const workers: GatedWorker[] = [];
    const createWorker = () => {
      workers.push(worker);
      return worker;
    };
    const service = await createCollisionService({ builders: 0, createWorker });
    service.addObject(BOX);
    const { answer: mesh, answered } = await worker.answeredWithin(
      10,
      () => service.addMesh(large),
      () => Promise.all([service.update(), service.raycast(FORWARD)]),
    );
    expect(answered).toBe(10);
    expect(workers.length).toBe(1);
    expect(service.meshInfo(mesh)).toMatchObject({ triangles: large.indices.length / 3, degenerate: 0 });
    service.dispose();
  });

  test('one that is lost fails its meshes only', async () => {
    const { service, workers } = await startCounting();
    const pending = service.addMesh(large, { onProgress: () => workers[1].worker.terminate() });
    await expect(pending).rejects.toEqual(error('WORKER_LOST', /^addMesh: the worker threw: exit code/));
    expect(service.meshInfo(await service.addMesh(boxMesh(1, 1, 1))).triangles).toBe(12);
    expect(workers.length).toBe(3);
    service.dispose();
  });

  test('an abort frees what was built', async () => {
    const service = await createCollisionService({ builders: 0 });
    const used = async () => {
      await service.update();
      return service.stats.usedBytes;
    };
    const before = await used();
    for (let i = 0; i < 3; i++) {
      const controller = new AbortController();
      const { signal } = controller;
      const promise = service.addMesh(large, { signal, onProgress: () => controller.abort('enough') });
      await expect(promise).rejects.toEqual(error('ABORTED', /^addMesh: aborted by its signal/));
    }
    expect(await used()).toBe(before);
    expect(service.stats).toMatchObject({ meshes: 0, pending: 0 });
    service.dispose();
  });

  test('progress rises to 1', async () => {
    const service = await createCollisionService();
    const fractions: number[] = [];
    await service.addMesh(large, { onProgress: (fraction) => fractions.push(fraction) });
    expect(fractions.length).toBeGreaterThan(1);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect([fractions[0] >= 0, fractions.at(-1)]).toEqual([true, 1]);
    service.dispose();
  });

  test('arrays are copied, or handed over', async () => {
    const service = await createCollisionService();
    const data = boxMesh(2, 2, 2);
    const added = service.addMesh(data);
    data.positions.fill(0); // too late to matter
    const id = service.addObject({ shape: { type: 'mesh', mesh: await added } });
    expect(await service.raycast(FORWARD)).toMatchObject({ object: id, distance: 9 });

    // Both in one buffer, as in a glTF file, among other data.
    const { positions, indices } = boxMesh(2, 2, 2);
    const buffer = new ArrayBuffer(16 + positions.byteLength + indices.byteLength);
    const parts = {
      positions: new Float32Array(buffer, 16, positions.length),
      indices: new Uint32Array(buffer, 16 + positions.byteLength, indices.length),
    };
    parts.positions.set(positions);
    parts.indices.set(indices);
    const mesh = await service.addMesh(parts, { transfer: true });
    expect(buffer.byteLength).toBe(0);
    service.setObject(id, { shape: { type: 'mesh', mesh } });
    expect(await service.raycast(FORWARD)).toMatchObject({ object: id, distance: 9 });

    const baked = await service.bakeMesh(mesh);
    const copy = baked.slice(0);
    expect(service.meshInfo(await service.addMesh(baked, { transfer: true }))).toEqual(service.meshInfo(mesh));
    expect(baked.byteLength).toBe(0);
    await service.addMesh(copy);
    expect(copy.byteLength).toBeGreaterThan(0);

    const shared = { positions: new Float32Array(new SharedArrayBuffer(36)) };
    shared.positions.set([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    await service.addMesh(shared as never);
    await expect(service.addMesh(shared as never, { transfer: true })).rejects.toEqual(
      error('INVALID_ARGUMENT', /cannot be transferred/),
    );
    service.dispose();
  });
});

describe('picks', () => {
  const VIEW = {
    projection: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1.002, -1, 0, 0, -0.2002, 0],
    view: new Matrix4().makeTranslation(0, 0, -10).elements,
    viewport: { width: 100, height: 100 },
  };

  test('see the view of their call, and nothing outside of its viewport', async () => {
    const service = await createCollisionService();
    const id = service.addObject(BOX);
    service.setView(VIEW);
    const pick = service.pick(50, 50);
    service.setView({ ...VIEW, view: new Matrix4().makeTranslation(50, 0, -10).elements });
    expect(await pick).toMatchObject({ object: id, distance: 9 });
    expect(await service.pick(50, 50)).toBeNull();
    service.setView({ ...VIEW, viewport: { x: 200, y: 300, width: 100, height: 100 } }, 'inset');
    expect(await service.pick(250, 350, { view: 'inset' })).toMatchObject({ object: id });
    expect(await service.pick(50, 50, { view: 'inset' })).toBeNull();
    service.dispose();
  });

  const ASK: Record<string, (service: CollisionService) => Promise<number | undefined>> = {
    pick: async (service) => (await service.pick(50, 50))?.object,
    pickAll: async (service) => (await service.pickAll(50, 50))[0]?.object,
    'pick by screen distance': async (service) => (await service.pick(50, 50, { method: 'screen' }))?.object,
    pickRegion: async (service) => (await service.pickRegion({ x: 49, y: 49, width: 2, height: 2 }))[0],
  };
  test.each(Object.entries(ASK))('%s sees the view of its call while frames wait', async (_, ask) => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, restart: false });
    const id = service.addObject(BOX);
    const look = (x: number) => service.setView({ ...VIEW, view: new Matrix4().makeTranslation(x, 0, -10).elements });
    const pick = () => ask(service);
    look(0);
    worker.hold();
    const frames = [service.update(), service.update()]; // one in the worker, one that waits
    const before = pick();
    look(50);
    const after = pick();
    frames.push(service.update()); // carries the moved camera, and is sent before the picks
    look(0);
    const last = pick();
    service.removeView('main');
    await worker.letGo();
    expect(await Promise.all([before, after, last])).toEqual([id, undefined, id]);
    await Promise.all(frames);
    service.dispose();
  });

  test.each(['pick', 'pickAll'] as const)('a `latest` %s gives way to a newer one only while it waits', async (ask) => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, restart: false });
    const id = service.addObject(BOX);
    service.setView(VIEW);
    await service.update();
    const pick = async () => [await service[ask](50, 50, { latest: true })].flat()[0];
    const calls = () => worker.sent.filter((type) => type === 'call').length;
    const together = [pick(), pick(), pick()];
    for (const hit of await Promise.all(together)) expect(hit).toMatchObject({ object: id });
    expect(calls()).toBe(1);

    worker.hold();
    const frames = [service.update(), service.update()];
    const waiting = pick();
    await new Promise(setImmediate);
    const newer = pick();
    const controller = new AbortController();
    const newest = service[ask](50, 50, { latest: true, signal: controller.signal });
    controller.abort();
    await expect(newest).rejects.toEqual(error('ABORTED', new RegExp(`^${ask}: aborted by its signal`)));
    await worker.letGo();
    expect(await newer).toMatchObject({ object: id, frame: 3 });
    expect(await waiting).toBe(await newer);
    expect(calls()).toBe(2);
    await Promise.all(frames);

    // Outside the image there is nothing to ask for.
    worker.hold();
    const held = [service.update(), service.update()];
    const under = pick();
    expect(await service[ask](-1, 50, { latest: true })).toEqual(ask === 'pick' ? null : []);
    expect(await under).toBe(ask === 'pick' ? null : undefined);
    await worker.letGo();
    await Promise.all(held);
    expect(calls()).toBe(2);

    const sent = pick();
    await Promise.resolve();
    const third = pick();
    expect(await Promise.all([sent, third])).toMatchObject([{ object: id }, { object: id }]);
    expect(calls()).toBe(4);
    service.dispose();
  });

  test('one with `latest` that is aborted in the worker leaves the others their answer', async () => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, restart: false });
    const id = service.addObject(BOX);
    service.setView(VIEW);
    await service.update();
    worker.holdAll();
    const controller = new AbortController();
    const older = service.pick(50, 50, { latest: true });
    const newer = service.pick(50, 50, { latest: true, signal: controller.signal });
    await new Promise(setImmediate);
    expect(worker.sent.at(-1)).toBe('call');
    controller.abort();
    await expect(newer).rejects.toEqual(error('ABORTED', /^pick: aborted by its signal/));
    await worker.letGo();
    expect(await older).toMatchObject({ object: id });
    service.dispose();
  });

  test('that are aborted before they are sent never reach the worker', async () => {
    const worker = new HeldWorker();
    const service = await createCollisionService({ createWorker: () => worker, restart: false });
    service.setView(VIEW);
    worker.hold();
    const frames = [service.update(), service.update()];
    const controller = new AbortController();
    const pick = service.pick(50, 50, { signal: controller.signal });
    controller.abort();
    await expect(pick).rejects.toEqual(error('ABORTED', /^pick: aborted/));
    await worker.letGo();
    await Promise.all(frames);
    expect(worker.sent).not.toContain('call');
    service.dispose();
  });
});

test('each of many calls that are aborted one after another is dropped', async () => {
  const worker = new HeldWorker();
  const service = await createCollisionService({ createWorker: () => worker, restart: false });
  const dropped = () => worker.sent.filter((type) => type === 'drop').length;
  for (let count = 1; count <= 3; count++) {
    const controller = new AbortController();
    const cast = service.raycast(FORWARD, { signal: controller.signal });
    const before = worker.sent.length;
    while (worker.sent.length === before) await Promise.resolve();
    controller.abort();
    await expect(cast).rejects.toMatchObject({ code: 'ABORTED', cause: { name: 'AbortError' } });
    await service.raycast(FORWARD);
    expect(dropped()).toBe(count);
  }
  service.dispose();
});

test('memory that runs out in a command is told by the next frame, and all else goes on', async () => {
  const core = await createCore(readFileSync(new URL('../../build/core.wasm', import.meta.url)));
  const posted: FromWorker[] = [];
  const service = new WorkerService(core, (message) => posted.push(message));
  const addObjects = core.addObjects.bind(core);
  const description = {
    ...{ shape: 3, mesh: 0, flags: 6, layers: 1, collidesWith: 0xffffffff, group: 0, contacts: 2 },
    ...{ center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1], radius: 0 },
  };
  const add = (...ids: number[]) =>
    service.receive({ type: 'commands', list: [{ type: 'addObjects', ids, description, matrices: [] }] });
  const frame = () => {
    const input = new ArrayBuffer(64);
    service.receive({ type: 'frame', input, out: undefined });
    return posted.pop();
  };
  core.addObjects = (ids, options) => {
    addObjects(ids.subarray(0, 1), options);
    throw new RangeError('memory');
  };
  const [a, b, c] = [makeId(0, 1), makeId(1, 1), makeId(2, 1)];
  add(a, b);
  core.addObjects = addObjects;
  add(c);
  expect(frame()).toMatchObject({
    failure: { code: 'OUT_OF_MEMORY', message: 'adding 2 objects failed before: memory' },
  });
  expect(frame()).toMatchObject({ failure: undefined });
  service.receive({ type: 'commands', list: [{ type: 'setObject', id: b, description, matrix: undefined }] });
  const filter = { layers: 1, side: 3, precision: 4, ignore: new Uint32Array() };
  expect(unpackHit(service.raycast(packRay(FORWARD), filter)!)).toMatchObject({ object: c });
  service.receive({ type: 'commands', list: [a, b, c].map((id) => ({ type: 'removeObject', id }) as const) });
  expect(service.raycast(packRay(FORWARD), filter)).toBeNull();
  expect(core.check()).toBeNull();
});

test('what begins is told by the first frame that the caller gets, not by one that fails with a command before it', async () => {
  const core = await createCore(readFileSync(new URL('../../build/core.wasm', import.meta.url)));
  const posted: FromWorker[] = [];
  const service = new WorkerService(core, (message) => posted.push(message));
  const description = {
    ...{ shape: 3, mesh: 0, flags: 6, layers: 1, collidesWith: 0xffffffff, group: 0, contacts: 2 },
    ...{ center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1], radius: 1 },
  };
  const [a, b] = [makeId(0, 1), makeId(1, 1)];
  const list: Command[] = [
    { type: 'addObjects', ids: [a], description, matrices: [] },
    { type: 'addObjects', ids: [b], description, matrices: [] },
    { type: 'addObjects', ids: [makeId(2, 1)], description: { ...description, mesh: 7 }, matrices: [] }, // there is no such mesh
  ];
  service.receive({ type: 'commands', list });
  for (const frame of [1, 2]) {
    service.receive({ type: 'frame', input: new FrameBuilder().seal(frame, 1), out: undefined });
  }
  const [failed, told] = posted as ResultMessage[];
  expect(failed).toMatchObject({ out: undefined, failure: { code: 'UNKNOWN_ID' } });
  expect([...new FrameView(told.out!, []).contacts]).toMatchObject([{ a, b, begun: true }]);
});
