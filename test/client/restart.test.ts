import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createCollisionService, type FrameResult } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';
import { pairKeys, replay } from '../oracle/events.js';
import { icosphere } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const SPHERE = { type: 'sphere', radius: 1 } as const;
const at = (x: number, y = 0, z = 0) => new Matrix4().makeTranslation(x, y, z).elements;
const FLAT = new Matrix4().makeScale(1, 1, 0).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;
const lost = expect.objectContaining({ name: 'CollisionError', code: 'WORKER_LOST' });
const VIEW = {
  projection: new PerspectiveCamera(60, 1, 0.1, 100).projectionMatrix.elements,
  view: at(0, 0, -20),
  viewport: { width: 100, height: 100 },
};

describe('a worker that is killed', () => {
  test('takes what is pending with it; everything after that is answered by another', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    service.setView(VIEW);
    const a = service.addObject({ shape: SPHERE });
    await service.update();
    const pending = [service.update(), service.raycast(down(0)), service.pick(1, 1).catch((error) => error.code)];
    mortal.workers[0].hold();
    service.setTransform(a, at(3));
    const joined = service.update();
    const dying = mortal.workers[0].worker.terminate();
    await expect(joined).rejects.toEqual(lost);
    await dying;
    const results = await Promise.allSettled(pending);
    expect(results.map(({ status }) => status)).not.toContain('pending');
    // The transforms of an update that was lost remain.
    expect(await service.raycast(down(3))).toMatchObject({ object: a, distance: 9 });
    expect(await service.raycast(down(0))).toBeNull();
    expect(mortal.events).toEqual(['lost', 'restored']);
    expect(service.stats).toMatchObject({ pending: 0, objects: 1 });
  });

  test('comes back with meshes as they were last, with baked and moved ones', async () => {
    const mortal = await KillableService.create({ builders: 1 });
    const { service } = mortal;
    const { positions, indices } = icosphere(1, 2);
    const still = await service.addMesh({ positions, indices });
    const moved = await service.addMesh({ positions, indices });
    await service.updateMesh(
      moved,
      positions.map((each) => 2 * each),
    );
    const baked = await service.addMesh(await service.bakeMesh(moved));
    const ids = [still, moved, baked].map((mesh, i) => {
      return service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(10 * i) });
    });
    await service.update();
    const before = await Promise.all(ids.map((_, i) => service.raycast(down(10 * i + 0.1))));
    const service0 = mortal.workers[0];
    const restored = new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
    await service0.worker.terminate();
    await restored;
    const after = await Promise.all(ids.map((_, i) => service.raycast(down(10 * i + 0.1))));
    expect(after).toEqual(before);
    expect(before.every((hit) => hit !== null)).toBe(true);
    service.removeObject(ids[0]);
    service.removeMesh(still);
    expect((await service.update()).contacts.count).toBe(0);
  });

  test.each<[string, (mortal: KillableService, a: number, b: number) => Promise<unknown>]>([
    [
      'in a frame without an answer, while another one waits',
      async ({ service, workers }, a, b) => {
        workers[0].hold();
        service.setTransform(a, FLAT);
        service.setTransforms(Uint32Array.of(b), new Float64Array(FLAT), at(1));
        return [service.update(), service.update()];
      },
    ],
    [
      'in a frame that was answered while another one waited',
      async ({ service, workers }, a, b) => {
        workers[0].hold();
        service.setTransform(a, FLAT);
        service.setTransform(b, FLAT);
        const first = service.update();
        service.setTransform(service.addObject({ shape: SPHERE, matrix: at(100) }), at(200));
        const second = service.update();
        await workers[0].letGo();
        expect([...(await first).rejected]).toEqual([a, b]);
        service.setTransform(service.addObject({ shape: SPHERE, matrix: at(300) }), at(400));
        return [await second, await service.update()];
      },
    ],
    [
      'of one that is given a place right after',
      async ({ service, workers }, a, b) => {
        workers[0].hold();
        service.setTransform(a, FLAT);
        const frame = service.update();
        service.setObject(b, { matrix: at(6) });
        await workers[0].letGo();
        return frame;
      },
    ],
    [
      'of which the block before was refused, but not what came after it',
      async ({ service }, a, b) => {
        service.setTransform(b, at(5));
        await service.update();
        service.setTransforms(Uint32Array.of(a, b), new Float64Array([...FLAT, ...FLAT]));
        service.setTransform(b, at(6));
        return service.update();
      },
    ],
  ])('comes back with objects where they were last: a transform was refused %s', async (_, accident) => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const [a, b] = [3, 6].map((x) => service.addObject({ shape: SPHERE, matrix: at(x) }));
    await service.update();
    const pending = await accident(mortal, a, b);
    for (const each of Array.isArray(pending) ? pending : []) Promise.resolve(each).catch(() => {});
    for (let death = 0; death < 2; death++) {
      await mortal.kill();
      expect(await service.raycast(down(3))).toMatchObject({ object: a, distance: 9 });
      expect(await service.raycast(down(6))).toMatchObject({ object: b, distance: 9 });
      expect(await service.raycast(down(0))).toBeNull();
      service.setTransform(service.addObject({ shape: SPHERE, matrix: at(50) }), at(60));
      await service.update();
    }
  });

  test('events go on from the last answer, whatever came and went in between', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    service.setView(VIEW);
    const [a, b, c] = [0, 1.5, 50].map((x) => service.addObject({ shape: SPHERE, matrix: at(x) }));
    const first = (await service.update()).copy();
    expect(pairKeys(first.contacts.a, first.contacts.b)).toEqual([`${a}:${b}`]);
    const dying = mortal.kill();
    service.removeObject(a);
    const d = service.addObject({ shape: SPHERE, matrix: at(2) });
    service.setTransform(c, at(-3));
    await dying;
    const second = await service.update();
    expect([...second.visible.entered].sort()).toEqual([c, d].sort());
    expect([...second.visible.left]).toEqual([a]);
    expect(pairKeys(second.contacts.endedA, second.contacts.endedB)).toEqual([`${a}:${b}`]);
    expect(replay(new Set([`${a}:${b}`]), second.contacts)).toEqual(new Set([`${Math.min(b, d)}:${Math.max(b, d)}`]));
  });

  test('is replaced three times a minute, and not a fourth time', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    for (let i = 0; i < 3; i++) {
      await mortal.kill();
      expect((await service.update()).frame).toBeGreaterThan(i);
    }
    await mortal.workers.at(-1)!.worker.terminate();
    await expect(service.update()).rejects.toThrow(/for the 4th time within a minute/);
    expect(() => service.addObject({ shape: SPHERE })).toThrow(expect.objectContaining({ code: 'WORKER_LOST' }));
    expect(mortal.events).toEqual(['lost', 'restored', 'lost', 'restored', 'lost', 'restored', 'lost, final']);
    expect(mortal.workers).toHaveLength(4);
  });

  test('dispose ends it between two workers', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const loss = new Promise((resolve) => service.addEventListener('lost', resolve, { once: true }));
    await mortal.workers[0].worker.terminate();
    await loss;
    const pending = service.update();
    service.dispose();
    await expect(pending).rejects.toMatchObject({ code: 'DISPOSED' });
    // The next worker would have been created at once: timers
    // without a delay fire in the order in which they were set.
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(mortal.workers).toHaveLength(1);
    expect(mortal.events).toEqual(['lost']);
  });

  test('dispose ends it while the next one starts', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    await mortal.workers[0].worker.terminate();
    while (mortal.workers.length === 1) await new Promise(setImmediate);
    const gone = once(mortal.workers[1].worker, 'exit');
    const pending = service.update();
    service.dispose();
    await expect(pending).rejects.toMatchObject({ code: 'DISPOSED' });
    await gone;
    expect(mortal.events).not.toContain('restored');
  });

  test('picks with `latest` go on', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    service.setView(VIEW);
    service.addObject({ shape: SPHERE });
    await service.update();
    for (const asked of ['in the worker', 'on the way']) {
      mortal.workers.at(-1)!.holdAll();
      const picks = [1, 2, 50].map((x) => service.pick(x, 50, { latest: true }));
      if (asked === 'in the worker') await new Promise(setImmediate);
      const dying = mortal.kill();
      picks.push(service.pick(50, 50, { latest: true }));
      await dying;
      for (const hit of await Promise.all(picks)) expect(hit).toMatchObject({ distance: expect.closeTo(19) });
    }
    // No query was sent to a worker that was gone, and waited for until the next one seemed to be silent.
    expect(mortal.events).toEqual(['lost', 'restored', 'lost', 'restored']);
    expect(service.stats.pending).toBe(0);
  });

  test('questions are asked of the next one, once', async () => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    service.setView(VIEW);
    const [a, b] = [0, 1].map((x) => service.addObject({ shape: SPHERE, matrix: at(x) }));
    await service.update();
    const ask = () => [
      service.raycast(down(0)),
      service.raycastAll(down(0)),
      service.raycastMany(new Float32Array([0, 0, 10, 0, 0, 0, -1, 100])),
      service.lineOfSight([0, 0, 10], [0, 0, -10]),
      service.pick(50, 50),
      service.pickAll(50, 50),
      service.pick(50, 50, { method: 'screen' }),
      service.pickRegion({ x: 0, y: 0, width: 100, height: 100 }),
      service.frustum('main'),
      service.sees('main', [a, b]),
      service.overlap(SPHERE),
      service.containing([0, 0, 0]),
      service.closestPoint([0, 0, 5]),
      service.contact(a, b),
    ];
    const answersOf = async (asked: Promise<unknown>[]) =>
      (await Promise.all(asked)).map((answer) => ({ ...(answer as object), ms: 0, frame: 0 }));
    const expected = await answersOf(ask());
    mortal.workers.at(-1)!.holdAll();
    const pending = ask();
    await new Promise(setImmediate);
    await mortal.kill();
    expect(await answersOf(pending)).toEqual(expected);

    // A call that kills one worker after another ends only itself.
    mortal.workers.at(-1)!.holdAll();
    const deadly = service.raycast(down(0));
    await new Promise(setImmediate);
    const dying = mortal.kill();
    service.addEventListener('restored', () => mortal.workers.at(-1)!.holdAll(), { once: true });
    await dying;
    while (!mortal.workers.at(-1)!.sent.includes('call')) await new Promise(setImmediate);
    const dead = expect(deadly).rejects.toEqual(lost);
    await mortal.kill();
    await dead;
    expect(await service.raycast(down(0))).toMatchObject({ object: a });
    expect(service.stats.pending).toBe(0);
  });
});

test('a worker that hangs is replaced within the timeout', async () => {
  const mortal = await KillableService.create({ timeout: 2000 });
  const { service } = mortal;
  const a = service.addObject({ shape: SPHERE });
  await service.update();
  mortal.workers[0].hold();
  const begin = performance.now();
  await expect(service.update()).rejects.toThrow(/silent for 2000 ms/);
  expect(performance.now() - begin).toBeLessThan(30_000);
  expect(await service.raycast(down(0))).toMatchObject({ object: a });
});

test('a worker whose JavaScript runs out of memory is replaced', async () => {
  const script = JSON.stringify(import.meta.resolve('collision-worker/worker'));
  const source = `
    process.getBuiltinModule('node:worker_threads').parentPort.on('message', ({ accident }) => {
      for (const all = []; accident; ) all.push(new Array(10_000).fill({}));
    });
    import(${script});
  `;
  const workers: Worker[] = [];
  const createWorker = () => {
    workers.push(new Worker(source, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 32 } }));
    return workers.at(-1)!;
  };
  const service = await createCollisionService({ createWorker, builders: 0 });
  onTestFinished(() => service.dispose());
  const events: unknown[] = [];
  service.addEventListener('lost', ({ error }) => events.push(error?.message));
  service.addEventListener('restored', () => events.push('restored'));
  const { positions, indices } = icosphere(1, 20);
  const shape = { type: 'mesh', mesh: await service.addMesh({ positions, indices }) } as const;
  const a = service.addObject({ shape, matrix: at(3) });
  await service.update();
  workers[0].postMessage({ accident: true });
  await expect(service.update()).rejects.toEqual(lost);
  expect(await service.raycast(down(3.1))).toMatchObject({ object: a });
  expect(events).toEqual([expect.stringMatching(/^the worker threw: .*memory/), 'restored']);
});

test(`however often it dies, all is as if it had not, seed ${SEED}`, { timeout: 60_000 }, async () => {
  const random = new Random(SEED);
  const mortal = await KillableService.create();
  const twin = await createCollisionService();
  onTestFinished(() => twin.dispose());
  const both = [mortal.service, twin];
  const ids: number[] = [];
  let known = new Set<string>();
  const seen = new Set<number>();
  for (const service of both) service.setView(VIEW);
  for (let round = 0; round < 4; round++) {
    for (let step = 0; step < 12; step++) {
      const matrix = at(random.range(-6, 6), random.range(-6, 6), random.range(-2, 2));
      const kind = random.pick(['add', 'move', 'move', 'move', 'set', 'remove', 'instances']);
      const id = random.pick(ids.length > 0 ? ids : [0]);
      if (kind === 'add' || ids.length < 4)
        ids.push(both.map((service) => service.addObject({ shape: SPHERE, matrix }))[0]);
      else if (kind === 'move') for (const service of both) service.setTransform(id, matrix);
      else if (kind === 'set')
        for (const service of both) service.setObject(id, { matrix, layers: random.pick([1, 3]) });
      else if (kind === 'remove') {
        for (const service of both) service.removeObject(id);
        ids.splice(ids.indexOf(id), 1);
      } else {
        const some = Uint32Array.from(ids.slice(0, 3));
        const matrices = Float32Array.from(
          { length: 16 * some.length },
          (_, i) => matrix[i % 16] + (i % 16 === 12 ? i / 16 : 0),
        );
        for (const service of both) service.setTransforms(some, matrices, at(0.25));
      }
      if (!random.chance(0.5)) continue;
      const [result, expected]: FrameResult[] = await Promise.all(both.map((service) => service.update()));
      expect(pairKeys(result.contacts.a, result.contacts.b)).toEqual(
        pairKeys(expected.contacts.a, expected.contacts.b),
      );
      known = replay(known, result.contacts);
      expect([...known].sort()).toEqual(pairKeys(result.contacts.a, result.contacts.b).sort());
      for (const left of result.visible.left) expect(seen.delete(left)).toBe(true);
      for (const entered of result.visible.entered) seen.add(entered);
      expect(seen).toEqual(new Set(result.visible.ids));
      expect(result.visible.ids).toEqual(expected.visible.ids);
    }
    if (round < 3) await mortal.kill();
  }
});
