// Tiles through a real queue, and worker processes that die: the report is byte-identical. The tests run concurrently, each
// on a queue of its own, since they wait more than they work.
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { type CliResult, runCli, startCli, TemporaryFolder } from '../fixtures/clash-cli.js';
import { freePort, missingRedis, Redis } from '../fixtures/redis.js';

const reason = missingRedis();
if (reason) console.warn(`Without a queue: ${reason}`);

const PARTS = Number(process.env.PARTS ?? 1000);
/** How long the queue is down, in seconds. */
const GONE = Number(process.env.GONE ?? 3);
const RULES = [
  { name: 'hard', kind: 'hard' },
  { name: 'near', kind: 'clearance', distance: 0.05, a: { layer: 'Water' }, b: { layer: 'Electrical' } },
];

const folder = new TemporaryFolder();
const model = folder.file('model.glb');
const rules = folder.file('rules.json');
let expected: Buffer;
let redis: Redis;

async function startRedis(name: string): Promise<Redis> {
  mkdirSync(folder.file(name));
  const server = new Redis(await freePort(), folder.file(name));
  await server.start();
  return server;
}

/** A test's own queue, its dispatched run, and its workers. */
class Line {
  readonly #name: string;
  readonly #redis: Redis;
  readonly #queue: string;
  readonly children = new Set<ChildProcess>();
  readonly workers = new Set<ChildProcess>();

  constructor(name: string, server = redis, queue = name) {
    this.#name = name;
    this.#redis = server;
    this.#queue = queue;
  }

  get #options(): string[] {
    return ['--queue', this.#redis.address, '--queue-name', this.#queue];
  }

  startWorker(...args: string[]): { child: ChildProcess; ended: Promise<CliResult> } {
    const own = ['--workers', '1', '--memory', '512M', ...args];
    const started = this.#start(['clash-worker', ...this.#options, ...own]);
    this.workers.add(started.child);
    started.child.on('exit', () => this.workers.delete(started.child));
    return started;
  }

  /** The model was baked before: the test begins after that. */
  dispatch(...args: string[]): { child: ChildProcess; ended: Promise<CliResult> } {
    const work = folder.file(`${this.#name}.work`);
    cpSync(folder.file('local.work/a'), `${work}/a`, { recursive: true, force: false });
    const own = ['--rules', rules, '--out', this.out, '--work', work, ...this.#options];
    return this.#start(['clash', model, ...own, ...args]);
  }

  get out(): string {
    return folder.file(`${this.#name}.json`);
  }

  isAsExpected(): boolean {
    return readFileSync(this.out).equals(expected);
  }

  end(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }

  #start(args: string[]): { child: ChildProcess; ended: Promise<CliResult> } {
    const started = startCli(args);
    this.children.add(started.child);
    started.child.on('exit', () => this.children.delete(started.child));
    return started;
  }
}

async function withLine(line: Line, run: (line: Line) => Promise<void>): Promise<void> {
  try {
    await run(line);
  } finally {
    line.end();
  }
}

/** Resolves when a process has written such a text. Rejects if it ends before. */
function written(child: ChildProcess, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (more) => {
      text += more;
      if (pattern.test(text)) resolve();
    });
    child.on('close', () => reject(new Error(`it ended before it wrote ${pattern}: ${text}`)));
  });
}

/** Reverses the order of the meshes of baked parts, which is the order in which builders finish. */
function turnMeshes(baked: string): void {
  const [list, pack] = ['parts.json', 'meshes-0000.bin'].map((name) => join(baked, name));
  const { parts, meshes, ...others } = JSON.parse(readFileSync(list, 'utf8'));
  const bytes = readFileSync(pack);
  const turned: { bytes: number; offset: number }[] = meshes.toReversed();
  writeFileSync(pack, Buffer.concat(turned.map((mesh) => bytes.subarray(mesh.offset, mesh.offset + mesh.bytes))));
  let offset = 0;
  for (const mesh of turned) {
    mesh.offset = offset;
    offset += mesh.bytes;
  }
  for (const part of parts) part.mesh = meshes.length - 1 - part.mesh;
  writeFileSync(list, JSON.stringify({ ...others, baked: 'anew', parts, meshes: turned }));
}

describe.skipIf(reason !== null).concurrent('A queue', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    writeFileSync(model, await buildingGlb(building({ parts: PARTS })));
    writeFileSync(rules, JSON.stringify(RULES));
    const args = ['--rules', rules, '--out', folder.file('local.json'), '--work', folder.file('local.work')];
    const [{ code, stderr }] = await Promise.all([
      runCli(['clash', model, ...args, '--workers', '1']),
      startRedis('redis').then((server) => {
        redis = server;
      }),
    ]);
    expect(code, stderr).toBe(0);
    expected = readFileSync(folder.file('local.json'));
  });
  afterAll(async () => {
    await redis.kill();
    folder.remove();
  });

  test('four workers, of which one is killed every second', () =>
    withLine(new Line('killed'), async (line) => {
      const { ended, child } = line.dispatch();
      let tiles = 0;
      child.stderr!.on('data', () => tiles++);
      let isOver = false;
      let kills = 0;
      const killing = (async () => {
        for (let i = 0; i < 4; i++) line.startWorker();
        // On a busy machine a worker may take longer to start than it is left alive: the next one waits for some progress.
        for (let seen = 0; !isOver; ) {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          if (isOver || tiles === seen) continue;
          seen = tiles;
          const [oldest] = line.workers;
          oldest?.kill('SIGKILL');
          kills++;
          line.startWorker();
        }
      })();
      const { code, stderr } = await ended;
      isOver = true;
      await killing;
      expect(code, stderr).toBe(0);
      expect(kills).toBeGreaterThan(0);
      expect(line.isAsExpected()).toBe(true);
    }));

  test('baked parts by http, kept in a folder; a worker that ends gives its tile back', () =>
    withLine(new Line('http'), async (line) => {
      const port = await freePort();
      const place = `http://127.0.0.1:${port}`;
      const { ended, child } = line.dispatch('--serve', `${port}`, '--place', place);
      const first = line.startWorker('--cache', folder.file('cache'), '--place', place);
      await written(child, /^clash [1-9]0 %/m);
      first.child.kill('SIGTERM');
      line.startWorker('--cache', folder.file('cache'));
      const { code, stderr } = await ended;
      expect(code, stderr).toBe(0);
      expect(await first.ended).toMatchObject({ code: 0 });
      expect(line.isAsExpected()).toBe(true);
    }));

  test(`a queue that is gone for ${GONE} s, and has forgotten everything; workers come and go`, async () => {
    const server = await startRedis('gone');
    await withLine(new Line('gone', server), async (line) => {
      const dispatched = line.dispatch();
      const worker = line.startWorker();
      const other = line.startWorker();
      await written(dispatched.child, /^clash [1-9]0 %/m);
      await server.kill();
      other.child.kill('SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 1000 * GONE));
      await server.start();
      line.startWorker();
      const { code, stderr } = await dispatched.ended;
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(/the queue does not answer .*; waiting for it\n(.*\n)*the queue answers again/);
      expect(line.isAsExpected()).toBe(true);
      worker.child.kill('SIGTERM');
      expect((await worker.ended).stderr).toContain('the queue does not answer');
    }).finally(() => server.kill());
  });

  test('a queue that is gone for good: a run and its worker end when they are told to', async () => {
    const server = await startRedis('ended');
    await withLine(new Line('ended', server), async (line) => {
      const all = [line.dispatch(), line.startWorker()];
      await written(all[0].child, /^clash [1-9]0 %/m);
      const noticed = all.map(({ child }) => written(child, /the queue does not answer/));
      await server.kill();
      await Promise.all(noticed);
      for (const { child } of all) child.kill('SIGTERM');
      expect(await all[0].ended).toMatchObject({ code: 1, stderr: expect.stringContaining('aborted') });
      expect(await all[1].ended).toMatchObject({ code: 0 });
    });
  });

  test('parts that workers cannot reach end the run, which goes on when they can', () =>
    withLine(new Line('lost'), async (line) => {
      line.startWorker('--cache', folder.file('other-cache'));
      const lost = await line.dispatch('--place', `http://127.0.0.1:${await freePort()}`).ended;
      expect(lost.code).toBe(1);
      expect(lost.stderr).toMatch(/tile \d+ failed 5 times: clash: http:.*run\.json cannot be fetched/);
      const found = await line.dispatch('--resume').ended;
      expect(found.code, found.stderr).toBe(0);
      expect(line.isAsExpected()).toBe(true);
    }));

  test('the jobs that another run has left, done and failed', () =>
    withLine(new Line('left'), async (line) => {
      const connection = { host: '127.0.0.1', port: redis.port };
      const queue = new Queue('left', { connection });
      const worker = new Worker('left', async ({ data }) => (data.fails ? Promise.reject(new Error('no')) : '{}'), {
        connection,
        concurrency: 100,
      });
      const leave = (fails: boolean) =>
        Array.from({ length: 600 }, (_, tile) => {
          return { name: 'tile', data: { fails }, opts: { jobId: `0123456789abcdef01234567-${fails}-${tile}` } };
        });
      await queue.addBulk([...leave(false), ...leave(true)]);
      const isDone = async () => {
        const { completed, failed } = await queue.getJobCounts('completed', 'failed');
        return completed + failed === 1200;
      };
      while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20));
      await worker.close();
      line.startWorker();
      const { code, stderr } = await line.dispatch().ended;
      expect(code, stderr).toBe(0);
      expect(line.isAsExpected()).toBe(true);
      // These are not this run's jobs to remove.
      expect(await queue.getJobCounts('completed', 'failed')).toMatchObject({ completed: 600, failed: 600 });
      await queue.close();
    }));

  test('two runs at once on one queue: a worker ends nothing of the one for the other', () =>
    withLine(new Line('two'), (line) =>
      withLine(new Line('two-other', redis, 'two'), async (other) => {
        const rulesOfOther = folder.file('other-rules.json');
        writeFileSync(rulesOfOther, JSON.stringify(RULES.slice(0, 1)));
        const runs = [line.dispatch(), other.dispatch('--rules', rulesOfOther)];
        const { child, ended } = line.startWorker('--workers', '2');
        for (const each of runs) {
          const { code, stderr } = await each.ended;
          expect(code, stderr).toBe(0);
        }
        expect(line.isAsExpected()).toBe(true);
        child.kill('SIGTERM');
        expect((await ended).stderr).not.toContain('failed');
      }),
    ));

  test('parts that were baked anew, in another order, while a worker waits: it read others in their place', () =>
    withLine(new Line('anew'), async (line) => {
      const work = folder.file('anew.work');
      cpSync(folder.file('local.work'), work, { recursive: true });
      const [tiles] = readdirSync(join(work, 'tiles')).map((name) => join(work, 'tiles', name));
      rmSync(join(tiles, '0.json'));
      line.startWorker();
      // It knows the meshes of one tile.
      expect((await line.dispatch('--resume').ended).code).toBe(0);
      rmSync(tiles, { recursive: true });
      turnMeshes(join(work, 'a'));
      const { code, stderr } = await line.dispatch('--resume').ended;
      expect(code, stderr).toBe(0);
      expect(line.isAsExpected()).toBe(true);
    }));

  test('no queue at all', async () => {
    const nowhere = `redis://127.0.0.1:${await freePort()}`;
    const [dispatched, worker, refused] = await Promise.all([
      runCli(['clash', model, '--rules', rules, '--out', folder.file('none.json'), '--queue', nowhere]),
      runCli(['clash-worker', '--queue', nowhere]),
      runCli(['clash-worker', '--queue', redis.address.replace('//', '//nobody:secret%@')]),
    ]);
    // It used to wait forever for a server that refuses it, and to print the password.
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached: WRONGPASS') });
    expect(refused.stderr).not.toContain('secret');
    for (const { code, stderr } of [dispatched, worker]) {
      expect(stderr).toContain(`the queue at ${nowhere} cannot be reached`);
      expect(code).toBe(1);
    }
  });
});
