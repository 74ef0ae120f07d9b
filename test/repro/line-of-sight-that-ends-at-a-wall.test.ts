// A line of sight that ended exactly at an object's surface was clear in a quarter of all cases: the distance of the surface was
// rounded to more than the length of the line. Objects at the ends of the line count.
import { type CollisionService, createCollisionService, type Shape, type Vec3 } from 'collision-worker';
import { BoxGeometry, DoubleSide, Mesh, MeshBasicMaterial, Scene, Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { track } from '../fixtures/three-picks.js';
import { Random } from '../oracle/random.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test('objects at the ends of a line of sight count, wherever rounding puts them', async () => {
  const random = new Random(1);
  const mesh = await service.addMesh({
    positions: new Float32Array([5, -50, -50, 5, 50, -50, 5, 50, 50, 5, -50, 50]),
    indices: new Uint32Array([0, 1, 2, 0, 2, 3]),
  });
  const shapes: Shape[] = [
    { type: 'box', halfExtents: [1, 50, 50], center: [6, 0, 0] },
    { type: 'mesh', mesh },
  ];
  for (const shape of shapes) {
    const wall = service.addObject({ shape });
    const clear = { to: 0, from: 0, before: 0, ignored: 0 };
    for (let i = 0; i < 100; i++) {
      const eye: Vec3 = [random.range(-10, 4), random.range(-9, 9), random.range(-9, 9)];
      const target: Vec3 = [5, random.range(-9, 9), random.range(-9, 9)];
      if (await service.lineOfSight(eye, target)) clear.to++;
      if (await service.lineOfSight(target, eye)) clear.from++;
      if (await service.lineOfSight(eye, [5 - 1e-9, target[1], target[2]])) clear.before++;
      if (await service.lineOfSight(eye, target, { ignore: [wall] })) clear.ignored++;
    }
    expect(clear, shape.type).toEqual({ to: 0, from: 0, before: 100, ignored: 100 });
    service.removeObject(wall);
  }
});

test('so do objects of a tracked scene', async () => {
  const random = new Random(2);
  const wall = new Mesh(new BoxGeometry(2, 100, 100), new MeshBasicMaterial({ side: DoubleSide }));
  wall.position.x = 6;
  const tracker = await track(service, new Scene().add(wall));
  let clear = 0;
  for (let i = 0; i < 100; i++) {
    const eye = new Vector3(random.range(-10, 4), random.range(-9, 9), random.range(-9, 9));
    const target = new Vector3(5, random.range(-9, 9), random.range(-9, 9));
    if (await tracker.lineOfSight(eye, target)) clear++;
    if (await tracker.lineOfSight(target, eye)) clear++;
    expect(await tracker.lineOfSight(eye, target.setX(5 - 1e-9))).toBe(true);
  }
  expect(clear).toBe(0);
  expect(await tracker.lineOfSight(wall.position, wall.position)).toBe(true);
});
