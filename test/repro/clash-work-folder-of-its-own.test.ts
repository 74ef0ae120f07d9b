// A run removed whatever was in the folders a, b and tiles of its work folder, even the model that it was about to read. Two runs
// in one work folder mixed up their meshes and reported each other's clashes. Baked parts of a glTF file were reused although its
// buffer had changed. Options of the report were checked only after all files had been read. Several runs that found the lock
// of a process that had ended took it over all at once. A run was taken for dead while it read a large file. A run that
// had ended removed the files of one that had begun in its work folder meanwhile.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createCollisionService } from 'collision-worker';
import type { Rule } from 'collision-worker/clash';
import { type ClashFilesOptions, clashFiles } from 'collision-worker/clash/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clearWork } from '../../src/clash/node/clear-work.js';
import { lockWork } from '../../src/clash/node/work-lock.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';

const RULES: Rule[] = [{ name: 'hard', kind: 'hard' }];
const TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0];
const folder = new TemporaryFolder();
const model = folder.file('part.baked');
const copy = folder.file('copy.baked');
const run = (a: string, work: string, options: Partial<ClashFilesOptions> = {}) =>
  clashFiles(a, copy, RULES, { work, workers: 1, ...options });

beforeAll(async () => {
  const service = await createCollisionService();
  const mesh = await service.addMesh({
    positions: new Float32Array([...TRIANGLE, 0.2, 0.2, -1, 0.2, 0.3, 1, 0.3, 0.2, 1]),
  });
  const baked = new Uint8Array(await service.bakeMesh(mesh));
  for (const path of [model, copy]) writeFileSync(path, baked);
  service.dispose();
});
const contenders: ChildProcess[] = [];
afterAll(() => {
  for (const child of contenders) child.kill('SIGKILL');
  folder.remove();
});

test.concurrent('what a run has not written stays in its work folder', async () => {
  const work = folder.file('shared');
  const others = ['a/drawing.txt', 'b/parts/1.txt', 'tiles/floor.txt'].map((name) => `${work}/${name}`);
  for (const name of ['a', 'b/parts', 'tiles']) mkdirSync(`${work}/${name}`, { recursive: true });
  for (const path of others) writeFileSync(path, 'mine');
  for (let i = 0; i < 2; i++) expect((await run(model, work)).clashes).toHaveLength(1);
  for (const path of others) expect(readFileSync(path, 'utf8')).toBe('mine');
});

test.concurrent('a model in the folder that it would be baked into is refused, and stays', async () => {
  const work = folder.file('again');
  await run(model, work);
  const before = readFileSync(`${work}/b/parts.json`, 'utf8');
  symlinkSync(work, folder.file('link'));
  await expect(run(folder.file('link/b'), work)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  for (const name of ['a', 'b', 'b/']) {
    await expect(run(`${work}/${name}`, work)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  }
  expect(readFileSync(`${work}/b/parts.json`, 'utf8')).toBe(before);
  expect((await run(`${work}/b`, folder.file('other'))).clashes).toHaveLength(1);
});

describe.concurrent('a run has its work folder for itself', () => {
  test('in a process', async () => {
    const work = folder.file('twice');
    const link = folder.file('twice-by-a-link');
    mkdirSync(work);
    symlinkSync(work, link);
    const both = await Promise.allSettled([run(model, work), run(model, link)]);
    // Both check the files first, and which finishes that first is unspecified.
    const [first, second] = both.sort((a, b) => (a.status < b.status ? -1 : 1));
    expect(first).toMatchObject({ status: 'fulfilled', value: { clashes: [{}] } });
    const message = expect.stringContaining('expected a folder that no other run uses');
    expect(second).toMatchObject({ reason: { code: 'INVALID_ARGUMENT', message } });
    expect((await run(model, work)).clashes).toHaveLength(1);
    expect(existsSync(`${work}/lock`)).toBe(false);
  });

  test('among processes, until one ends without giving it back', async () => {
    const work = folder.file('others');
    mkdirSync(work);
    const lock = (pid: number, host: string) => writeFileSync(`${work}/lock`, JSON.stringify({ pid, host }));
    const other = spawn('sleep', ['600']);
    lock(other.pid!, hostname());
    const message = `process ${other.pid} on ${hostname()} has it`;
    await expect(run(model, work)).rejects.toMatchObject({ message: expect.stringContaining(message) });
    other.kill('SIGKILL');
    await new Promise((resolve) => other.once('exit', resolve));
    expect((await run(model, work)).clashes).toHaveLength(1);
    // A process of another machine can only be detected by its heartbeat.
    lock(1, 'elsewhere');
    await expect(run(model, work)).rejects.toMatchObject({ message: expect.stringContaining('on elsewhere has it') });
    const before = Date.now() / 1000 - 120;
    utimesSync(`${work}/lock`, before, before);
    expect((await run(model, work)).clashes).toHaveLength(1);
  });

  test('one of several processes that find a stale lock at the same time', async () => {
    const [work, release] = [folder.file('stale'), folder.file('release')];
    mkdirSync(work);
    const script = folder.file('contender.mjs');
    // The first progress is reported behind the lock, which is held until all others have tried.
    writeFileSync(
      script,
      `import { existsSync } from 'node:fs';
      import { clashFiles } from ${JSON.stringify(import.meta.resolve('collision-worker/clash/node'))};
      const [model, work, release] = process.argv.slice(2);
      let isLocked = false;
      const onProgress = () => {
        if (!isLocked) process.send('locked');
        isLocked = true;
        while (!existsSync(release)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      };
      const options = { work, workers: 1, onProgress };
      process.on('message', async () => {
        isLocked = false;
        await clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], options).catch((error) => process.send(error.code));
        process.send('ended');
      });
      process.send('ready');`,
    );
    for (let i = 0; i < 4; i++) contenders.push(fork(script, [model, work, release], { execArgv: [] }));
    const nextFrom = (child: ChildProcess) => new Promise((resolve) => child.once('message', resolve));
    await Promise.all(contenders.map(nextFrom));
    for (let round = 0; round < 5; round++) {
      rmSync(release, { force: true });
      writeFileSync(`${work}/lock`, JSON.stringify({ pid: await endedProcess(), host: hostname() }));
      const ended = contenders.map((child) => {
        return new Promise<void>((resolve) => {
          const listener = (message: unknown): void => {
            if (message !== 'ended') return;
            child.off('message', listener);
            resolve();
          };
          child.on('message', listener);
        });
      });
      const answers = contenders.map(nextFrom);
      for (const child of contenders) child.send('go');
      expect((await Promise.all(answers)).sort()).toEqual([...Array(3).fill('INVALID_ARGUMENT'), 'locked']);
      writeFileSync(release, '');
      await Promise.all(ended);
    }
  });
});

// Not concurrent, since it blocks the thread.
test('a lock is kept fresh while a library blocks the thread', async () => {
  const work = folder.file('blocked-thread');
  const unlock = await lockWork(work);
  const before = Date.now() / 1000 - 120;
  utimesSync(`${work}/lock`, before, before);
  const isFresh = () => statSync(`${work}/lock`).mtimeMs / 1000 > before + 60;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 150 && !isFresh(); tries++) Atomics.wait(sleeper, 0, 0, 100);
  expect(isFresh()).toBe(true);
  await unlock();
  expect(existsSync(`${work}/lock`)).toBe(false);
});

test.concurrent('what another run has written meanwhile stays when a run clears its work folder', async () => {
  const work = folder.file('cleared');
  await run(model, work);
  const unlock = await lockWork(work);
  await clearWork(work);
  for (const name of ['a/parts.json', 'b/parts.json', 'run.json', 'lock'])
    expect(existsSync(`${work}/${name}`)).toBe(true);
  await unlock();
  await clearWork(work);
  expect(existsSync(work)).toBe(false);
});

/** Returns the id of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid!;
}

test.concurrent('a glTF file is read anew when its buffer has changed', async () => {
  const path = folder.file('model.gltf');
  const accessor = { bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, -9], max: [1, 1, 9] };
  const gltf = {
    asset: { version: '2.0' },
    buffers: [{ uri: 'model%20data.bin', byteLength: 36 }],
    bufferViews: [{ buffer: 0, byteLength: 36 }],
    accessors: [accessor],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }],
    nodes: [{ name: 'node', mesh: 0 }],
    scenes: [{ nodes: [0] }],
    scene: 0,
  };
  writeFileSync(path, JSON.stringify(gltf));
  const foundAt = async (z: number) => {
    const positions = TRIANGLE.map((x, i) => (i % 3 === 2 ? z : x));
    writeFileSync(folder.file('model data.bin'), new Uint8Array(new Float32Array(positions).buffer));
    return (await run(path, folder.file('gltf'), { resume: true })).clashes.length;
  };
  expect(await foundAt(5)).toBe(0);
  expect(await foundAt(0.5)).toBe(1);
});

test.concurrent('what is wrong with the report is told before any file is read', async () => {
  for (const options of [{ groupDistance: -1 }, { accepted: {} }, { accepted: { clashes: [null] } }] as object[]) {
    const work = folder.file('unread');
    await expect(run(model, work, options)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(existsSync(work)).toBe(false);
  }
});

test.concurrent('paths that are none reject with what is wrong', async () => {
  mkdirSync(folder.file('empty'));
  const unreadable = { code: 'BAD_DATA', message: expect.stringMatching(/^clash: .*empty cannot be read: ENOENT/) };
  await expect(run(folder.file('empty'), folder.file('x'))).rejects.toMatchObject(unreadable);
  const unwritable = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(/^clash: .* cannot be written: E/) };
  await expect(run(model, model)).rejects.toMatchObject(unwritable);
  mkdirSync(folder.file('blocked'));
  writeFileSync(folder.file('blocked/a'), '');
  await expect(run(model, folder.file('blocked'))).rejects.toMatchObject(unwritable);
});
