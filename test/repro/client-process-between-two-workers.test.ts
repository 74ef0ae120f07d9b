// While a lost worker was replaced, nothing kept a Node process that waited for it alive: it ended with exit code 13.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const INDEX = JSON.stringify(import.meta.resolve('collision-worker'));
const WORKER = JSON.stringify(import.meta.resolve('collision-worker/worker'));

const START = `
  import { Worker } from 'node:worker_threads';
  const { createCollisionService } = await import(${INDEX});
  const workers = [];
  const createWorker = () => {
    workers.push(new Worker(new URL(${WORKER}), { execArgv: [] }));
    return workers.at(-1);
  };
  const service = await createCollisionService({ createWorker, builders: 0 });
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  await service.update();
`;

async function run(script: string): Promise<string> {
  const source = ['--input-type=module', '--eval', `${START}${script}`];
  return (await promisify(execFile)(process.execPath, source, { timeout: 50_000 })).stdout.trim();
}

const KILLED = "await new Promise((lost) => { service.addEventListener('lost', lost); workers.at(-1).terminate(); });";

test.each([
  ['an update', 'console.log((await service.update()).frame > 1);'],
  ['a query', 'console.log((await service.overlap({ type: "sphere", radius: 1 }))[0] === id);'],
  ['two', 'const both = await Promise.all([service.update(), service.update()]); console.log(both.length === 2);'],
])('%s that waits for the next worker keeps the process alive', async (_, wait) => {
  expect(await run(KILLED + wait)).toBe('true');
});

test('so it does for one worker after the other', async () => {
  const script = `for (let i = 0; i < 2; i++) { ${KILLED} await service.update(); } console.log(workers.length);`;
  expect(await run(script)).toBe('3');
});

test('what was in the worker that is lost is told, and the process ends by itself', async () => {
  const script = `
    workers[0].terminate();
    const code = await service.update().then(() => 'no', (error) => error.code);
    await service.update();
    console.log(code);
  `;
  expect(await run(script)).toBe('WORKER_LOST');
});

test('a service that nobody waits for lets the process end', async () => {
  expect(await run("console.log('idle');")).toBe('idle');
  expect(await run(`${KILLED} console.log('lost');`)).toBe('lost');
});
