// Tiles by a real queue, and worker processes that die: the report is the same to the byte.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { type Ended, runCli, startCli, TemporaryFolder } from '../fixtures/clash-cli.js';
import { freePort, missingRedis, Redis } from '../fixtures/redis.js';

const reason = missingRedis();
if (reason) console.warn(`Without a queue: ${reason}`);

const PARTS = Number(process.env.PARTS ?? 2000);
/** How long the queue is gone, in seconds. */
const GONE = Number(process.env.GONE ?? 4);
const RULES = [
  { name: 'hard', kind: 'hard' },
  { name: 'near', kind: 'clearance', distance: 0.05, a: { layer: 'Water' }, b: { layer: 'Electrical' } },
];

describe.skipIf(reason !== null)('A queue', { timeout: 300_000 }, () => {
  const folder = new TemporaryFolder();
  const model = folder.file('model.glb');
  const rules = folder.file('rules.json');
  const workers = new Set<ChildProcess>();
  const dispatchers = new Set<ChildProcess>();
  let redis: Redis;
  let expected: Buffer;

  beforeAll(async () => {
    writeFileSync(model, await buildingGlb(building({ parts: PARTS })));
    writeFileSync(rules, JSON.stringify(RULES));
    await runCli(['clash', model, '--rules', rules, '--out', folder.file('local.json'), '--workers', '1']);
    expected = readFileSync(folder.file('local.json'));
    mkdirSync(folder.file('redis'));
    redis = new Redis(await freePort(), folder.file('redis'));
    await redis.start();
  });
  afterEach(() => {
    for (const child of [...workers, ...dispatchers]) child.kill('SIGKILL');
    workers.clear();
    dispatchers.clear();
  });
  afterAll(async () => {
    await redis.kill();
    folder.remove();
  });

  function startWorker(...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
    const own = ['clash-worker', '--queue', redis.address, '--workers', '1', '--memory', '512M', ...args];
    const started = startCli(own);
    workers.add(started.child);
    started.child.on('exit', () => workers.delete(started.child));
    return started;
  }

  function dispatch(name: string, ...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
    const own = ['--rules', rules, '--out', folder.file(name), '--queue', redis.address, ...args];
    const started = startCli(['clash', model, ...own]);
    dispatchers.add(started.child);
    return started;
  }

  test('four workers, of which one is killed every second', async () => {
    const { ended, child } = dispatch('killed.json');
    let tiles = 0;
    child.stderr!.on('data', () => tiles++);
    let isOver = false;
    let kills = 0;
    const killing = (async () => {
      for (let i = 0; i < 4; i++) startWorker();
      // On a busy machine a worker may take longer to start than it is left alive: the next one waits for some progress.
      for (let seen = tiles; !isOver; ) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        if (isOver || tiles === seen) continue;
        seen = tiles;
        const [oldest] = workers;
        oldest?.kill('SIGKILL');
        kills++;
        startWorker();
      }
    })();
    const { code, stderr } = await ended;
    isOver = true;
    await killing;
    expect(code, stderr).toBe(0);
    expect(kills).toBeGreaterThan(0);
    expect(readFileSync(folder.file('killed.json')).equals(expected)).toBe(true);
  });

  test('baked parts by http, kept in a folder; a worker that ends gives its tile back', async () => {
    const port = await freePort();
    const place = `http://127.0.0.1:${port}`;
    const { ended } = dispatch('http.json', '--serve', `${port}`, '--place', place, '--work', folder.file('http.work'));
    const first = startWorker('--cache', folder.file('cache'), '--place', place);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    first.child.kill('SIGTERM');
    startWorker('--cache', folder.file('cache'));
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(readFileSync(folder.file('http.json')).equals(expected)).toBe(true);
  });

  test('a queue that is gone for a while, and has forgotten everything', async () => {
    const dispatched = dispatch('gone.json');
    let text = '';
    dispatched.child.stderr!.on('data', (more) => {
      text += more;
    });
    const worker = startWorker();
    while (!/^clash [1-9]0 %/m.test(text)) await new Promise((resolve) => setTimeout(resolve, 20));
    await redis.kill();
    await new Promise((resolve) => setTimeout(resolve, 1000 * GONE));
    await redis.start();
    const { code, stderr } = await dispatched.ended;
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/the queue does not answer .*; waiting for it\n(.*\n)*the queue answers again/);
    expect(readFileSync(folder.file('gone.json')).equals(expected)).toBe(true);
    worker.child.kill('SIGTERM');
    expect((await worker.ended).stderr).toContain('the queue answers again');
  });

  test('parts that workers cannot reach end the run, which goes on when they can', async () => {
    startWorker('--cache', folder.file('other-cache'));
    const args = ['--work', folder.file('lost.work')];
    const lost = await dispatch('lost.json', ...args, '--place', `http://127.0.0.1:${await freePort()}`).ended;
    expect(lost.code).toBe(1);
    expect(lost.stderr).toMatch(/tile \d+ failed 5 times: clash: http:.*run\.json cannot be fetched/);
    const found = await dispatch('lost.json', ...args, '--resume').ended;
    expect(found.code, found.stderr).toBe(0);
    expect(readFileSync(folder.file('lost.json')).equals(expected)).toBe(true);
  });

  test('no queue at all', async () => {
    const nowhere = `redis://127.0.0.1:${await freePort()}`;
    const [dispatched, worker] = await Promise.all([
      runCli(['clash', model, '--rules', rules, '--out', folder.file('none.json'), '--queue', nowhere]),
      runCli(['clash-worker', '--queue', nowhere]),
    ]);
    for (const { code, stderr } of [dispatched, worker]) {
      expect(stderr).toContain(`the queue at ${nowhere} cannot be reached`);
      expect(code).toBe(1);
    }
  });
});
