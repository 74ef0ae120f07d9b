// A large mesh with a long sweep is swept in slices: queries asked meanwhile are answered first.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { icosphere } from '../oracle/meshes.js';

let worker: GatedWorker;
let service: CollisionService;
beforeEach(async () => {
  worker = new GatedWorker();
  service = await createCollisionService({ createWorker: () => worker, builders: 0 });
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
  await worker.shut();
  const long = noted('sweepAll', service.sweepAll({ type: 'mesh', mesh }, at(-4), at(12, 3)));
  const other = noted('sweep', service.sweep({ type: 'mesh', mesh }, at(-4), at(12, 3)));
  const pick = noted('raycast', service.raycast({ origin: [-9, 0, 0], direction: [1, 0, 0] }));
  const short = noted('short', service.sweep({ type: 'sphere', radius: 0.1 }, at(-4), at(12)));
  await new Promise(setImmediate);
  worker.open();
  expect(await pick).toMatchObject({ object: ids[0] });
  expect(await short).toMatchObject({ object: ids[0] });
  // They see the scene at the time of the call.
  service.setTransform(ids[0], at(100));
  await service.update();
  const hits = await long;
  expect(hits.map(({ object }) => object)).toEqual(ids);
  expect(await other).toEqual(hits[0]);
  expect(order.indexOf('raycast')).toBeLessThan(order.indexOf('sweepAll'));
  expect(order.indexOf('short')).toBeLessThan(order.indexOf('sweepAll'));
});

test('picks and frames come between the slices of one way of many, which is as it is alone', {
  timeout: 240_000,
}, async () => {
  const mesh = await service.addMesh(icosphere(1, 30));
  const ids = Array.from({ length: 3 }, (_, i) =>
    service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(3 + 0.3 * i) }),
  );
  await service.update();
  const turns = [0, 3, 1, 0];
  const numbers = turns.flatMap((angle) => {
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), angle).toArray();
    return [-4, 0, 0, 0, 0, 0, 1, angle === 1 ? -1 : 12, 0, 0, ...turn];
  });
  const order: string[] = [];
  const noted = async <T>(name: string, answer: Promise<T>): Promise<T> => {
    const value = await answer;
    order.push(name);
    return value;
  };
  const shapes = [
    { type: 'sphere', radius: 0.5 },
    { type: 'mesh', mesh },
  ] as const;
  const shapeOf = Uint8Array.of(0, 1, 1, 1);
  await worker.shut();
  const many = noted('many', service.sweepMany(shapes, Float64Array.from(numbers), { shapeOf }));
  const pick = noted('pick', service.raycast({ origin: [-9, 0, 0], direction: [1, 0, 0] }));
  const frame = noted('frame', service.update());
  await new Promise(setImmediate);
  worker.open();
  const hits = await many;
  await Promise.all([pick, frame]);
  expect(order[0]).toBe('pick');
  expect(hits.ms).toBeGreaterThan(0);
  for (const [i, which] of shapeOf.entries()) {
    const alone = await service.sweep(shapes[which], at(-4), at(turns[i] === 1 ? -1 : 12, turns[i]));
    expect(hits.objects[i]).toBe(alone?.object ?? 0xffffffff);
    if (!alone) continue;
    expect(hits.times[i]).toBeCloseTo(alone.time, 4);
    expect(hits.triangles[i] >= 0).toBe(true);
    expect([...hits.normals.subarray(3 * i, 3 * i + 3)].length).toBe(3);
    expect(hits.points[3 * i]).toBeCloseTo(alone.point[0], 3);
  }
  expect(hits.objects[2]).toBe(0xffffffff);
  expect(hits.objects[0]).toBe(ids[0]);
  // Large meshes that are removed while they are swept are read to the end.
  const last = service.sweepMany(shapes, Float64Array.from(numbers), { shapeOf });
  service.removeObjects(Uint32Array.from(ids));
  service.removeMesh(mesh);
  await service.update();
  expect((await last).objects.length).toBe(4);
});

test('a pick comes between the slices in which a mesh is placed', { timeout: 240_000 }, async () => {
  const mesh = await service.addMesh(icosphere(1, 60));
  for (let i = 0; i < 4; i++) service.addObject({ shape: { type: 'mesh', mesh }, matrix: at(1.2 * i) });
  await service.update();
  const order: string[] = [];
  await worker.shut();
  const placing = service.place({ type: 'mesh', mesh }, at(0.3)).then(
    (placement) => {
      order.push('place');
      return placement;
    },
    (error) => {
      order.push('place');
      return error as Error;
    },
  );
  const pick = service.raycast({ origin: [-9, 0, 0], direction: [1, 0, 0] });
  await new Promise(setImmediate);
  worker.open();
  const hit = await pick;
  order.push('pick');
  expect(hit?.point[0]).toBeCloseTo(-1, 2);
  const placement = await placing;
  expect(order).toEqual(['pick', 'place']);
  if (placement instanceof Error) expect(placement).toMatchObject({ code: 'INVALID_ARGUMENT' });
  else expect((await service.overlap({ type: 'mesh', mesh }, placement.matrix)).length).toBe(0);
});
