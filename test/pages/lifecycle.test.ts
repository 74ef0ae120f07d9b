// A page that is paused while its worker has something to do: no worker is lost by that. And one that hangs is lost all the same.
import { readdirSync, readFileSync } from 'node:fs';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { chromiumLaunchOptions } from '../../scripts/chromium.mjs';
import { ISOLATED } from '../../scripts/isolated.mjs';
import { type Site, serveSite } from './site.js';

const TIMEOUT = 2400;
const PAUSE = 2200;

// The worker's thread waits for `release`, as if its computation took that long.
const PREPARE = `(async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  globalThis.release = () => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  globalThis.events = [];
  const createWorker = () => {
    globalThis.worker = fromSource(\`
      addEventListener('message', ({ data }) => data.held && Atomics.wait(data.held, 0, 0));
      import('\${location.origin}/dist/worker.js');
    \`);
    return worker;
  };
  globalThis.service = await createCollisionService({ createWorker, timeout: ${TIMEOUT} });
  service.addEventListener('lost', ({ error }) => events.push(error.message));
  service.addEventListener('restored', () => events.push('restored'));
  globalThis.box = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  await service.update();
  globalThis.hold = () => {
    Atomics.store(flag, 0, 0);
    worker.postMessage({ held: flag });
    globalThis.heldAt = performance.now();
    globalThis.answer = service.update().then(({ frame }) => 'frame ' + frame, ({ code }) => code);
  };
})()`;

/** In the page: when the worker was last held. */
declare const heldAt: number;

let server: Awaited<ReturnType<typeof chromium.launchServer>>;
let browser: Browser;
let site: Site;
let page: Page;
let devtools: CDPSession;
beforeAll(async () => {
  server = await chromium.launchServer({
    ...chromiumLaunchOptions(),
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  browser = await chromium.connect(server.wsEndpoint());
  site = await serveSite({
    '/': { headers: ISOLATED },
    '/dist/worker.js': { headers: ISOLATED },
    '/other': { headers: { ...ISOLATED, 'Content-Type': 'text/html' }, body: '<!doctype html>' },
  });
});
afterAll(async () => {
  site?.close();
  await browser?.close();
  await server?.close();
});
beforeEach(async () => {
  page = await browser.newPage();
  devtools = await page.context().newCDPSession(page);
  await page.goto(site.url);
  await page.waitForFunction(() => document.title === 'ready');
  await page.evaluate(PREPARE);
});
afterEach(() => page.close());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Of the browser that was started here, and of its descendants. */
function processes(): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          // After the command's name, which is in parentheses: state, parent.
          const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
            .replace(/^.*\) /s, '')
            .split(' ');
          return [[Number(name), Number(parent)] as const];
        } catch {
          return []; // ended meanwhile
        }
      }),
  );
  const all = [server.process().pid!];
  for (const pid of all) for (const [child, parent] of parents) if (parent === pid) all.push(child);
  return all;
}

function signal(name: NodeJS.Signals): void {
  for (const pid of processes()) process.kill(pid, name);
}

const PAUSES: [string, () => Promise<void>][] = [
  [
    'its main thread is blocked',
    async () => {
      await page.evaluate(`for (const end = Date.now() + ${PAUSE}; Date.now() < end; );`);
    },
  ],
  [
    'another one takes its place, until one goes back to it',
    async () => {
      await page.evaluate("document.addEventListener('freeze', () => events.push('frozen'), { once: true })");
      await page.goto(`${site.url}other`);
      await sleep(PAUSE);
      // playwright would wait for a load, which pages from the cache do not have.
      await page.evaluate('history.back()');
      await page.waitForFunction(() => document.title === 'ready');
      expect(await page.evaluate('events.splice(0)')).toEqual(['frozen']);
    },
  ],
  [
    'a debugger stops it',
    async () => {
      await devtools.send('Debugger.enable');
      const isPaused = new Promise((resolve) => devtools.once('Debugger.paused', resolve));
      await devtools.send('Debugger.pause');
      await isPaused;
      await sleep(PAUSE);
      await devtools.send('Debugger.resume');
    },
  ],
];
if (process.platform === 'linux') {
  PAUSES.push([
    'the machine sleeps',
    async () => {
      signal('SIGSTOP');
      await sleep(PAUSE);
      signal('SIGCONT');
    },
  ]);
}

test.each(PAUSES)('a worker is not lost because %s, but because it hangs', async (_, pause) => {
  await page.evaluate('hold()');
  // The rest of the timeout is shorter than the pause, and long enough for a busy machine.
  await page.waitForFunction((ms) => performance.now() - heldAt > ms, TIMEOUT * 0.6, { polling: 10 });
  await pause();
  await page.evaluate('setTimeout(release, 100)');
  expect(await page.evaluate('answer')).toBe('frame 2');
  expect(await page.evaluate('events')).toEqual([]);

  await page.evaluate('hold()');
  await pause();
  expect(await page.evaluate('answer')).toBe('WORKER_LOST');
  const hit = await page.evaluate('service.raycast({ origin: [0, 0, 10], direction: [0, 0, -1] })');
  expect(hit).toMatchObject({ object: await page.evaluate('box'), distance: 9 });
  expect(await page.evaluate('events')).toEqual([`the worker was silent for ${TIMEOUT} ms`, 'restored']);
});

test('frames of a page that is isolated are in memory that its worker has as well', async () => {
  const [kinds, distances, buffers] = await page.evaluate<[string[], number[], number[]]>(`(async () => {
    const [kinds, distances, buffers] = [[], [], []];
    const post = worker.postMessage;
    worker.postMessage = (message, transfer) => {
      if (message.type === 'frame') kinds.push(message.input.constructor.name + (transfer.includes(message.input) ? ', given' : ''));
      post.call(worker, message, transfer);
    };
    for (let x = 0; x < 20; x++) {
      service.setTransform(box, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3 * x, 0, x, 1]);
      await service.update();
      distances.push((await service.raycast({ origin: [3 * x, 0, 50], direction: [0, 0, -1] }))?.distance);
      buffers.push(service.stats.frameBuffers);
    }
    return [kinds, distances, buffers];
  })()`);
  expect(kinds).toEqual(Array(20).fill('SharedArrayBuffer'));
  expect(distances).toEqual(Array.from({ length: 20 }, (_, x) => 49 - x));
  expect(buffers.at(-1)).toBe(buffers[5]);
});

/**
 * In the page: builds balls in a builder; the third reuses the chunks that the second has left, and the last is the first again.
 * Then the worker is lost.
 */
const BUILD = `(async () => {
  // Spare chunks are kept for five seconds, which a busy machine may take between two builds.
  const later = setTimeout;
  globalThis.setTimeout = (call, ms, ...args) => later(call, ms === 5000 ? 1e9 : ms, ...args);
  const seen = { lent: [], built: [], loaded: [] };
  const kindOf = (buffers, handed) => buffers.map((buffer) => buffer.constructor.name + (handed?.includes(buffer) ? ', given' : ''));
  const workers = [];
  const createWorker = () => {
    const made = new Worker('/dist/worker.js', { type: 'module' });
    const post = made.postMessage;
    made.postMessage = (message, handed) => {
      const name = Array.isArray(message) ? message[1] : '';
      if (name === 'buildMesh') seen.lent.push(kindOf(message.at(-1), handed));
      if (message.type === 'chunk') seen.loaded.at(-1).push(...kindOf([message.chunk], handed));
      if (name === 'loadChunks') seen.loaded.push([]);
      post.call(made, message, handed);
    };
    made.addEventListener('message', ({ data }) => data[1]?.buffers && seen.built.push(kindOf(data[1].buffers)));
    workers.push(made);
    return made;
  };
  const balls = await createCollisionService({ builders: 1, createWorker });
  const add = (radius) => {
    const geometry = new three.SphereGeometry(radius, 260, 200);
    return balls.addMesh({ positions: geometry.attributes.position.array, indices: new Uint32Array(geometry.index.array) });
  };
  const areEqual = async (meshes) => {
    const [one, other] = (await Promise.all(meshes.map((mesh) => balls.bakeMesh(mesh)))).map((bytes) => new Uint32Array(bytes));
    return one.length === other.length && one.every((word, i) => word === other[i]);
  };
  const [kept, gone] = [await add(1), await add(2)];
  balls.removeMesh(gone);
  const [next, again] = [await add(3), await add(1)];
  const equal = [await areEqual([kept, again])];
  const { lent, built, loaded } = structuredClone(seen);
  // What is given back is checked to its last byte.
  const checked = [];
  for (const mesh of [kept, next]) checked.push(await balls.addMesh(await balls.bakeMesh(mesh)));
  const restored = new Promise((resolve) => balls.addEventListener('restored', resolve, { once: true }));
  workers[0].terminate();
  workers[0].dispatchEvent(new ErrorEvent('error', { message: 'ended' }));
  await restored;
  equal.push(await areEqual([kept, again]), await areEqual([kept, checked[0]]), await areEqual([next, checked[1]]));
  const chunks = balls.meshInfo(kept).bytes / 2 ** 21;
  balls.dispose();
  return { lent, built, loaded, equal, chunks };
})()`;

test('meshes of a page that is isolated are built into memory that its workers have at once, and again into that', async () => {
  const { lent, built, loaded, equal, chunks } = await page.evaluate<{
    lent: string[][];
    built: string[][];
    loaded: string[][];
    equal: boolean[];
    chunks: number;
  }>(BUILD);
  expect(chunks).toBeGreaterThan(2);
  const all = Array<string>(Math.ceil(chunks)).fill('SharedArrayBuffer');
  expect(loaded).toEqual([all, all, all, all]);
  // What was lent and was not needed comes back with the mesh.
  expect(lent[0]).toEqual([]);
  expect(lent[2].length).toBeGreaterThan(2);
  for (const buffers of [...lent, ...built]) expect(buffers.filter((kind) => kind !== 'SharedArrayBuffer')).toEqual([]);
  expect(built.map(({ length }) => length >= all.length)).toEqual([true, true, true, true]);
  expect(equal).toEqual([true, true, true, true]);
});
