// Transforms that are collected for one call, of objects some of which are removed before it.
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { MovedTransforms } from '../../src/client/three/track/moved-transforms.js';
import { service, withService } from '../fixtures/each-service.js';

withService();

const at = (x: number) => new Matrix4().setPosition(x, 0, 0).elements;

test.each([
  ['none', []],
  ['the first', [0]],
  ['one in the middle, and the last', [1, 3]],
  ['all', [0, 1, 2, 3]],
])('%s removed: the others move, and nothing is asked of what has gone', async (_, gone) => {
  const ids = Array.from({ length: 4 }, (_, i) => {
    return service.addObject({ shape: { type: 'sphere', radius: 1 }, matrix: at(10 * i) });
  });
  await service.update();
  const moved = new MovedTransforms();
  ids.forEach((id, i) => {
    moved.add(id, at(100 + 10 * i));
  });
  const removed = Uint32Array.from(gone, (i) => ids[i]);
  service.removeObjects(removed);
  moved.forget(removed);
  moved.send(service as never);
  const { rejected } = await service.update();
  expect([...rejected]).toEqual([]);
  const found = await service.overlap({ type: 'box', halfExtents: [100, 1, 1], center: [200, 0, 0] });
  expect([...found].sort((p, q) => p - q)).toEqual(ids.filter((_, i) => !gone.includes(i)));
  expect(await service.overlap({ type: 'box', halfExtents: [50, 1, 1] })).toHaveLength(0);
});
