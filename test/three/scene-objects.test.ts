import { Object3D } from 'three';
import { expect, test } from 'vitest';
import { type Placement, SceneObjects } from '../../src/client/three/track/scene-objects.js';
import { makeId } from '../../src/shared/ids.js';

const placementOf = (id: number): Placement => ({
  id,
  object: new Object3D(),
  instanceId: undefined,
  standIn: { owner: { reject() {} }, seenBy: () => null },
});

test('what left the scene is known until all that may have seen it are answered, and not held longer', () => {
  const objects = new SceneObjects();
  const [a, b, c] = [0, 1, 2].map((slot) => placementOf(makeId(slot, 1)));
  for (const each of [a, b, c]) objects.add(each);
  const known = () => [a, b, c].map(({ id }) => objects.find(id) !== undefined);
  const held = () => [...objects.departed.values()];

  objects.remove(c.id); // nobody has asked
  expect([known(), held()]).toEqual([[true, true, false], []]);
  const first = objects.begin();
  objects.remove(a.id);
  const second = objects.begin();
  objects.remove(b.id);
  expect([known(), held()]).toEqual([
    [true, true, false],
    [a, b],
  ]);
  objects.end(first);
  expect([known(), held()]).toEqual([[false, true, false], [b]]);
  objects.end(second);
  expect([known(), held()]).toEqual([[false, false, false], []]);
});
