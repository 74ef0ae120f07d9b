// One matrix of an instance with a bottom row other than 0, 0, 0, 1 (many apps hide
// an instance with all zeros) made `setTransforms` throw, and an adapter's frame
// fail: nothing else moved, and events that began in that frame were never reported.
import { Matrix4 } from 'three';
import { describe, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

const SPHERE = { type: 'sphere', radius: 1 } as const;
const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

const BAD = {
  'all zeros': new Array(16).fill(0),
  'a 0 in the corner': at(50).with(15, 0),
  'a 1 in the first column': at(50).with(3, 1),
  'a 1 in the second column': at(50).with(7, 1),
  'a 1 in the third column': at(50).with(11, 1),
};

/** Moves objects in one of the ways to move many at once. */
type Way = (mortal: KillableService, ids: Uint32Array, matrices: number[][]) => void;

const flat = (matrices: number[][]) => matrices.flat();
const WAYS: Record<string, Way> = {
  'narrow floats': ({ service }, ids, m) => service.setTransforms(ids, Float32Array.from(flat(m))),
  'wide floats': ({ service }, ids, m) => service.setTransforms(ids, Float64Array.from(flat(m)), at(0)),
  'a borrowed array': ({ service }, ids, m) => service.moveInstances(ids, Float32Array.from(flat(m)), at(0)),
  'a block that overlaps another one': ({ service }, ids, m) => {
    service.setTransforms(ids.subarray(0, 1), Float32Array.from(at(77)));
    service.setTransforms(ids, Float32Array.from(flat(m)));
  },
  'many singles': ({ service }, ids, m) => service.moveObjects(ids, m, 0, ids.length),
};

describe.each(Object.entries(WAYS))('%s', (way, move) => {
  test.each(Object.entries(BAD))('with %s: the rest moves, and the frame is answered', async (_, bad) => {
    const mortal = await KillableService.create();
    const { service } = mortal;
    const ids = service.addInstances({ shape: SPHERE }, 3);
    const wall = service.addObject({ shape: SPHERE, matrix: at(21) });
    move(mortal, ids, [at(0), at(5), at(10)]);
    expect([...(await service.update()).rejected]).toEqual([]);
    // In each of several frames, like an array that is dirty in each.
    for (let frame = 0; frame < 3; frame++) {
      move(mortal, ids, [at(-frame), bad, at(20)]);
      const { rejected, contacts } = await service.update();
      expect([...rejected]).toEqual([ids[1]]);
      expect([...contacts].map(({ a, b, begun }) => [a, b, begun])).toEqual([[ids[2], wall, frame === 0]]);
      expect(await service.raycast(down(5))).toMatchObject({ object: ids[1] });
      expect(await service.raycast(down(-frame))).toMatchObject({ object: ids[0] });
    }
    await mortal.kill();
    // Only the worker knew the previous contents of a borrowed array: its owner hides what was rejected.
    if (way !== 'a borrowed array') {
      expect(await service.raycast(down(5))).toMatchObject({ object: ids[1], distance: 9 });
    }
    expect(await service.raycast(down(-2))).toMatchObject({ object: ids[0], distance: 9 });
    expect(await service.raycast(down(19.5))).toMatchObject({ object: ids[2] });
    // It has a valid transform again, and is no longer rejected.
    move(mortal, ids, [at(0), at(6), at(20)]);
    expect([...(await service.update()).rejected]).toEqual([]);
    expect(await service.raycast(down(6))).toMatchObject({ object: ids[1], distance: 9 });
  });
});

test('a borrowed block whose parent is not affine is rejected as a whole', async () => {
  const mortal = await KillableService.create();
  const { service } = mortal;
  const ids = service.addInstances({ shape: SPHERE }, 2);
  const other = service.addObject({ shape: SPHERE });
  service.moveInstances(ids, Float32Array.from([...at(5), ...at(10)]), BAD['all zeros']);
  service.setTransform(other, at(30));
  expect([...(await service.update()).rejected]).toEqual([...ids]);
  expect(await service.raycast(down(30))).toMatchObject({ object: other });
  expect(() => service.setTransforms(ids, new Float32Array(32), BAD['all zeros'])).toThrow(/bottom row of parent/);
});

test('a single matrix of the caller is refused at once, and costs nobody a frame', async () => {
  const { service } = await KillableService.create();
  const id = service.addObject({ shape: SPHERE });
  expect(() => service.setTransform(id, BAD['all zeros'])).toThrow(/bottom row of matrix is \[0, 0, 0, 0\]/);
  expect((await service.update()).rejected).toHaveLength(0);
});
