// A large mesh that is swept through much is swept in slices: what is asked meanwhile is answered first.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { icosphere } from '../oracle/meshes.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const at = (x: number, turn = 0) =>
  new Matrix4().compose(
    new Vector3(x, 0, 0),
    new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), turn),
    new Vector3(1, 1, 1),
  ).elements;

test('picks, frames and other sweeps come between', { timeout: 240_000 }, async () => {
  const mesh = await service.addMesh(icosphere(1, 30));
  const ids = Array.from({ length: 3 }, (_, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(3 + 0.3 * i) }),
  );
  await service.update();
  const order: string[] = [];
  const noted = async <T>(name: string, answer: Promise<T>): Promise<T> => {
    const value = await answer;
    order.push(name);
    return value;
  };
  const long = noted('sweepAll', service.sweepAll({ type: 'mesh', mesh }, at(-4), at(12, 3)));
  const other = noted('sweep', service.sweep({ type: 'mesh', mesh }, at(-4), at(12, 3)));
  const pick = noted('raycast', service.raycast({ origin: [-9, 0, 0], direction: [1, 0, 0] }));
  const short = noted('short', service.sweep({ type: 'sphere', radius: 0.1 }, at(-4), at(12)));
  expect(await pick).toMatchObject({ object: ids[0] });
  expect(await short).toMatchObject({ object: ids[0] });
  // They see what was there when they were asked.
  service.setTransform(ids[0], at(100));
  await service.update();
  const hits = await long;
  expect(hits.map(({ object }) => object)).toEqual(ids);
  expect(await other).toEqual(hits[0]);
  expect(order.indexOf('raycast')).toBeLessThan(order.indexOf('sweepAll'));
  expect(order.indexOf('short')).toBeLessThan(order.indexOf('sweepAll'));
});
