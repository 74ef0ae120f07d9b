// A line was tested at the place that is drawn nearest to the cursor, whether or not planes cut that place away: in a plan that is
// cut, upright lines were not hit at what is left of them.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { OrthographicCamera, Plane, Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aimCamera, CAMERA_KINDS, DEPTHS, VIEWPORT, viewOf } from '../oracle/cameras.js';
import { Random, SEED } from '../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

async function addLines(ends: Vector3[]): Promise<number> {
  const positions = Float32Array.from(ends.flatMap((end) => end.toArray()));
  return service.addObject({ shape: { type: 'mesh', mesh: await service.addMesh({ positions, topology: 'lines' }) } });
}

test('upright lines of a plan are hit where a plane cuts them', async () => {
  const camera = new OrthographicCamera(-8, 8, 6, -6, 0.1, 100);
  camera.position.set(0, 12, 0);
  camera.up.set(0, 0, -1);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const view = { projection: camera.projectionMatrix.elements, view: camera.matrixWorldInverse.elements };
  service.setView({ ...view, viewport: { width: 800, height: 600 } });
  const line = await addLines([new Vector3(2, 0, 0), new Vector3(2, 3, 0)]);
  await service.update();
  const [x, y] = [400 + 2 * 50, 300];
  for (const [clip, height] of [
    [[0, 1, 0, 0], 3],
    [[0, -1, 0, 1.25], 1.25],
    [[0, -1, 0, 2, 0, -1, 0, 0.5], 0.5],
  ] as const) {
    const hit = await service.pick(x + 1, y, { clip, radius: 4 });
    expect(hit?.object, `${clip}`).toBe(line);
    expect(hit!.point[1]).toBeCloseTo(height, 6);
    expect(hit!.distance).toBeCloseTo(12 - height, 6);
    expect((await service.pickAll(x + 1, y, { clip, radius: 4 })).map(({ object }) => object)).toEqual([line]);
  }
  // A slab is cut out of it.
  const slab = { clip: [0, 1, 0, -2, 0, -1, 0, 1], clipIntersection: true, radius: 4 };
  expect((await service.pick(x, y, slab))!.point[1]).toBeCloseTo(3, 6);
  expect((await service.pick(x, y, { ...slab, clip: [0, 1, 0, -4, 0, -1, 0, 1] }))!.point[1]).toBeCloseTo(1, 6);
  expect(await service.pick(x, y, { ...slab, clip: [0, 1, 0, -4, 0, -1, 0, -1] })).toBeNull();
  service.removeObject(line);
});

test(`a line is hit as what is left of it, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let moved = 0;
  for (let round = 0; round < 120; round++) {
    const [, make] = CAMERA_KINDS[round % CAMERA_KINDS.length];
    const camera = aimCamera(make(random), random, new Vector3());
    service.setView(viewOf(camera, DEPTHS[0][1]));
    const plane = new Plane(random.direction(), random.range(-0.3, 0.3));
    const ends: Vector3[] = [];
    const leftEnds: Vector3[] = [];
    for (let i = 0; i < 20; i++) {
      const pair = [random.point(1), random.point(1)];
      for (const end of pair) end.fromArray(Float32Array.from(end.toArray()));
      const [a, b] = pair.map((end) => plane.distanceToPoint(end));
      ends.push(...pair);
      if (a < 0 && b < 0) continue;
      const cut = pair[0].clone().lerp(pair[1], a / (a - b));
      leftEnds.push(a < 0 ? cut : pair[0], b < 0 ? cut : pair[1]);
    }
    const whole = await addLines(ends);
    const left = await addLines(leftEnds);
    await service.update();
    const clip = [...plane.normal, plane.constant];
    for (let i = 0; i < 20; i++) {
      const place = random.pick(leftEnds).clone().project(camera);
      const x = VIEWPORT.x + ((place.x + 1) / 2) * VIEWPORT.width + random.range(-9, 9);
      const y = VIEWPORT.y + ((1 - place.y) / 2) * VIEWPORT.height + random.range(-9, 9);
      // What is hit by the one radius and not by the other one is near the border.
      const [hits, fewer, more] = await Promise.all([
        service.pickAll(x, y, { radius: 6, clip, ignore: [left] }),
        service.pickAll(x, y, { radius: 5.999, ignore: [whole] }),
        service.pickAll(x, y, { radius: 6.001, ignore: [whole] }),
      ]);
      expect(hits.length).toBeGreaterThanOrEqual(fewer.length);
      expect(hits.length).toBeLessThanOrEqual(more.length);
      if (fewer.length < more.length) continue;
      for (const { point } of hits) {
        const height = plane.distanceToPoint(new Vector3(...point));
        if (Math.abs(height) < 1e-12) moved++;
        expect(height).toBeGreaterThan(-1e-12);
        const nearest = Math.min(...fewer.map((each) => new Vector3(...each.point).distanceTo(new Vector3(...point))));
        expect(nearest).toBeLessThan(1e-4);
      }
    }
    service.removeObject(whole);
    service.removeObject(left);
  }
  expect(moved, 'hits where the plane cuts').toBeGreaterThan(10);
});
