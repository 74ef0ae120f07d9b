// The tool ended with a stack trace when the reader of its output had ended, as `head` does, even in the midst of a run. With
// --serve it did not end while a machine that had asked for a file, and was gone or asleep, left it unread.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { building } from '../fixtures/building.js';
import { buildingGlb } from '../fixtures/building-glb.js';
import { startCli, TemporaryFolder } from '../fixtures/clash-cli.js';

const folder = new TemporaryFolder();
const [model, rules] = [folder.file('model.glb'), folder.file('rules.json')];
const argsFor = (out: string) => ['clash', model, '--rules', rules, '--out', folder.file(out)];

beforeAll(async () => {
  writeFileSync(model, await buildingGlb(building({ parts: 100 })));
  writeFileSync(rules, JSON.stringify([{ name: 'hard', kind: 'hard' }]));
});
afterAll(() => folder.remove());

test.concurrent('a run goes on when nobody reads its output any more', async () => {
  const unread = startCli(argsFor('unread.json'));
  unread.child.stderr!.destroy();
  const { code, stdout } = await unread.ended;
  expect(stdout).toMatch(/^hard: \d+\n/);
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(folder.file('unread.json'), 'utf8')).version).toBe(1);
});

test.concurrent('a summary that nobody reads is no error', async () => {
  for (const args of [['--help'], [...argsFor('summary.json'), '--quiet']]) {
    const { child, ended } = startCli(args);
    child.stdout!.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  }
});

test('the tool ends though a machine does not read what it has asked for', async () => {
  const work = folder.file('served');
  mkdirSync(`${work}/a`, { recursive: true });
  // More than the buffers of a connection hold.
  writeFileSync(`${work}/a/meshes-0000.bin`, new Uint8Array(64 * 2 ** 20));
  const port = await freePort();
  // Nobody listens there, which the tool finds out after some seconds.
  const queue = ['--queue', 'redis://127.0.0.1:1', '--serve', String(port)];
  const { child, ended } = startCli([...argsFor('served.json'), '--work', work, ...queue]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const socket = await connected(port);
  socket.pause().write('GET /a/meshes-0000.bin HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be reached') });
  socket.destroy();
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0);
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves with a connection to a port as soon as there is a server. */
async function connected(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('close', () => resolve(false));
    });
    if (isOpen) return socket;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
