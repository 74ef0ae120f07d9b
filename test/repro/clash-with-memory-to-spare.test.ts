// On a machine with much memory, a tile could have more meshes than WebAssembly holds: those beyond 4 GB were unread, since
// there was no room. And a folder of baked parts was read into memory as a whole.
import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCollisionService } from 'collision-worker';
import { clashFiles } from 'collision-worker/clash/node';
import { afterAll, expect, test } from 'vitest';
import { readModel } from '../../src/clash/node/input/read-model.js';
import { bakeParts } from '../../src/clash/node/part-store.js';
import { TemporaryFolder } from '../fixtures/clash-cli.js';
import { boxMesh } from '../oracle/meshes.js';

const folder = new TemporaryFolder();
afterAll(() => folder.remove());

test('the meshes of a tile fit into the memory of WebAssembly, however much the machine has', async () => {
  const service = await createCollisionService();
  const baked = await service.bakeMesh(await service.addMesh(boxMesh(1, 1, 1)));
  service.dispose();
  const [model, work] = [folder.file('box.mesh'), folder.file('work')];
  writeFileSync(model, new Uint8Array(baked));
  const memory = 2 ** 40;
  const { unread } = await clashFiles(model, null, [{ name: 'hard', kind: 'hard' }], { work, workers: 1, memory });
  expect(unread).toEqual([]);
  const { limits } = JSON.parse(readFileSync(`${work}/run.json`, 'utf8'));
  expect(limits.bytes).toBeGreaterThan(2 ** 28);
  expect(limits.bytes).toBeLessThanOrEqual(2 ** 31);
});

test('the meshes of a folder of baked parts are in memory one after the other', async () => {
  const count = 20;
  const sizeOf = (i: number) => 1 + (i % (count / 2));
  async function* parts() {
    for (let i = 0; i < count; i++) yield { part: { id: `${i}`, mesh: boxMesh(sizeOf(i), 1, 1) } };
  }
  const baked = folder.file('baked');
  await bakeParts(baked, 'key', parts(), { workers: 1, bytes: 2 ** 20 });
  setFlagsFromString('--expose-gc');
  const meshes = new Set<WeakRef<object>>();
  let last: object | undefined;
  const ids: string[] = [];
  let most = 0;
  for await (const item of readModel(baked)) {
    if (!('part' in item)) throw new Error(item.unread.reason);
    const { id, mesh } = item.part;
    ids.push(id);
    // Parts of one mesh share its bytes.
    if (mesh !== last) meshes.add(new WeakRef(mesh));
    last = mesh;
    await new Promise((resolve) => setTimeout(resolve)); // a WeakRef holds its object until the task ends
    runInNewContext('gc')();
    most = Math.max(most, [...meshes].filter((each) => each.deref()).length);
  }
  expect(ids.sort()).toEqual(Array.from({ length: count }, (_, i) => `${i}`).sort());
  expect(meshes.size).toBe(count / 2);
  expect(most).toBeLessThan(4);
});
