// A worker that could not fetch a mesh, because the server of the work folder was restarted, cut an answer off or was gone,
// reported the part as unreadable in a tile that counted as done: the report lacked its clashes. So did a worker that
// could open the file of a mesh, but not read it, as on a network drive that is gone.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCollisionService } from 'collision-worker';
import { clashFiles } from 'collision-worker/clash/node';
import { expect, test } from 'vitest';
import { openRun } from '../../src/clash/node/run.js';
import { placingOrder } from '../../src/clash/tile/placing-order.js';
import { TileRunner } from '../../src/clash/tile/tile-runner.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { type IfcBox, ifcOf } from '../fixtures/ifc-boxes.js';

const FAILURES: Record<string, (response: ServerResponse) => void> = {
  'answers 503': (response) => response.writeHead(503).end('<html>'),
  'is cut off': (response) => {
    response.writeHead(200, { 'content-length': 1000 }).write('half', () => response.destroy());
  },
  'gives no answer': (response) => response.destroy(),
};

test('a tile whose meshes cannot be fetched is not done', async () => {
  const folder = new TemporaryFolder();
  const [model, work] = [folder.file('model.ifc'), folder.file('work')];
  const box = (name: string, x: number): IfcBox => {
    return { guid: name, type: 'IFCWALL', name, at: [x, 0, 0], size: [1, 1, 1] };
  };
  writeFileSync(model, ifcOf([box('A', 0), box('B', 0.5)]));
  await clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], { work, workers: 1 });
  let fail: ((response: ServerResponse) => void) | undefined;
  const server = createServer(({ url }, response) => {
    if (fail && url!.endsWith('.bin')) fail(response);
    else response.end(readFileSync(`${work}${url}`));
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await createCollisionService();
  try {
    const { plan, source } = await openRun(place, folder.file('cache'));
    const runner = new TileRunner(service, plan, placingOrder(plan), source, 2 ** 20);
    for (const [name, how] of Object.entries(FAILURES)) {
      fail = how;
      const message = expect.stringMatching(/^clash: http:.*meshes-0000\.bin cannot be fetched: ./);
      await expect(runner.run(plan.tiles[0]), name).rejects.toMatchObject({ code: 'WORKER_LOST', message });
    }
    fail = undefined;
    expect(await runner.run(plan.tiles[0])).toMatchObject({ findings: [{ a: 0, b: 1 }], unread: [] });
  } finally {
    service.dispose();
    server.close();
    folder.remove();
  }
});

test('a tile whose meshes can be opened, but not read, is not done', async () => {
  const folder = new TemporaryFolder();
  const [model, work] = [folder.file('model.ifc'), folder.file('work')];
  writeFileSync(model, ifcOf([{ guid: 'A', type: 'IFCWALL', name: 'A', at: [0, 0, 0], size: [1, 1, 1] }]));
  await clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], { work, workers: 1 });
  // A folder can be opened as a file, but not read as one.
  renameSync(`${work}/a/meshes-0000.bin`, folder.file('meshes'));
  mkdirSync(`${work}/a/meshes-0000.bin`);
  const service = await createCollisionService();
  try {
    const { plan, source } = await openRun(work);
    const runner = new TileRunner(service, plan, placingOrder(plan), source, 2 ** 20);
    const message = expect.stringMatching(/^clash: .*meshes-0000\.bin cannot be read: EISDIR/);
    await expect(runner.run(plan.tiles[0])).rejects.toMatchObject({ code: 'WORKER_LOST', message });
  } finally {
    service.dispose();
    folder.remove();
  }
});
