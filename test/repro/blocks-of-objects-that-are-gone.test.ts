// Blocks of transforms are kept for the next worker. A block whose objects had all been removed before its update() was kept for
// ever, as nothing else ever took its objects over.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const COUNT = 10_000;

test('transforms of objects that are removed before they are sent are not kept', async () => {
  const { service } = await KillableService.create();
  const matrices = new Float32Array(16 * COUNT).fill(1);
  const comeAndGo = async () => {
    const ids = service.addInstances({ shape: { type: 'sphere', radius: 1 } }, COUNT);
    service.setTransforms(ids, matrices);
    for (const id of ids) service.removeObject(id);
    await service.update();
  };
  for (let i = 0; i < 10; i++) await comeAndGo();
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 50; i++) await comeAndGo();
  collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * matrices.byteLength);
});
