import { createCollisionService, type ViewOptions } from 'collision-worker';
import { type Camera, Matrix4, OrthographicCamera, PerspectiveCamera, Raycaster, Vector2, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { pickRay } from '../../src/client/pick-ray.js';
import { ViewTable } from '../../src/client/views.js';
import { aimed, DEPTHS, KINDS, VIEWPORT, viewOf } from '../oracle/cameras.js';
import { Random, SEED } from '../oracle/random.js';
import { PLACES } from './twin.js';

function rayOf(options: ViewOptions, x: number, y: number) {
  const views = new ViewTable();
  views.set('setView', 'main', options);
  const ray = pickRay(views.get('pick', 'view', 'main'), x, y);
  if (!ray) return null;
  return {
    origin: new Vector3(...ray.origin),
    direction: new Vector3(...ray.direction).normalize(),
    tMin: ray.tMin ?? Number.NaN,
    tMax: ray.tMax ?? Number.NaN,
  };
}

describe.each(PLACES)(`the ray through a pixel, %s, seed ${SEED}`, (_, place) => {
  const far = place.length() > 0;
  describe.each(KINDS)('%s', (_, make) => {
    test.each(DEPTHS)("%s: three's, from the near plane to the far plane", (_, depth) => {
      const random = new Random(SEED);
      const raycaster = new Raycaster();
      const inView = new Vector3();
      for (let i = 0; i < 200; i++) {
        const camera = aimed(make(random), random, place);
        const ndc = new Vector2(random.range(-1, 1), random.range(-1, 1));
        const x = VIEWPORT.x + ((ndc.x + 1) / 2) * VIEWPORT.width;
        const y = VIEWPORT.y + ((1 - ndc.y) / 2) * VIEWPORT.height;
        const ray = rayOf(viewOf(camera, depth), x, y)!;
        raycaster.setFromCamera(ndc, camera);
        // three unprojects a point that is far away, which costs it digits.
        expect(ray.direction.angleTo(raycaster.ray.direction)).toBeLessThan(far ? 1e-6 : 1e-7);
        expect(ray.origin.distanceTo(raycaster.ray.origin)).toBeLessThan(far ? 1e-8 : 1e-9);
        for (const [t, z] of [
          [ray.tMin, -camera.near],
          [ray.tMax, -camera.far],
        ]) {
          inView.copy(ray.direction).multiplyScalar(t).transformDirection(camera.matrixWorldInverse);
          const depthAtT = inView.z * t;
          expect(Math.abs(depthAtT / z - 1)).toBeLessThan(1e-9);
        }
      }
    });
  });
});

const IDENTITY = new Matrix4().elements;
const SQUARE = { width: 100, height: 100 };

test('an infinite far plane is never reached', () => {
  const near = 0.5;
  const webgl = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -2 * near, 0];
  const webgpu = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -near, 0];
  const reversed = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, near, 0];
  const views: Omit<ViewOptions, 'view' | 'viewport'>[] = [
    { projection: webgl },
    { projection: webgpu, depth: 'webgpu' },
    { projection: reversed, depth: 'webgpu', reversed: true },
  ];
  for (const view of views) {
    for (const [x, y] of [
      [50, 50],
      [0, 100],
      [13, 77],
    ]) {
      const ray = rayOf({ ...view, view: IDENTITY, viewport: SQUARE }, x, y)!;
      expect(ray.tMax).toBe(Infinity);
      expect(-ray.direction.z * ray.tMin).toBeCloseTo(near, 12);
    }
  }
});

test('a view that scales gives lengths of the world', () => {
  const view = new Matrix4().makeScale(4, 4, 4).setPosition(1, 2, 3).invert().elements;
  const ray = rayOf({ ...viewOfCamera(new PerspectiveCamera(60, 1, 1, 10)), view }, 50, 50)!;
  expect(ray.origin.toArray()).toEqual([1, 2, 3]);
  expect([ray.tMin, ray.tMax].map((t) => Number(t.toFixed(9)))).toEqual([4, 40]);
});

test('the borders of the viewport belong to it', () => {
  const view = { ...viewOfCamera(new PerspectiveCamera()), viewport: { x: 10, y: 20, ...SQUARE } };
  for (const [x, y] of [
    [10, 20],
    [110, 120],
    [60, 70],
  ])
    expect(rayOf(view, x, y)).not.toBeNull();
  for (const [x, y] of [
    [9.999, 70],
    [110.001, 70],
    [60, 19.999],
    [60, 120.001],
  ])
    expect(rayOf(view, x, y)).toBeNull();
});

test('what an orthographic camera shows behind its own plane is picked too', async () => {
  const service = await createCollisionService();
  const id = service.addObject({
    shape: { type: 'box', halfExtents: [1, 1, 1] },
    matrix: new Matrix4().makeTranslation(0, 0, 5).elements,
  });
  service.setView(viewOfCamera(new OrthographicCamera(-2, 2, 2, -2, -10, 10)));
  expect(await service.pick(50, 50)).toMatchObject({ object: id, distance: -6, point: [0, 0, 6] });
  service.setView(viewOfCamera(new OrthographicCamera(-2, 2, 2, -2, -3, 10)));
  expect(await service.pick(50, 50)).toBeNull(); // nearer than the near plane
  service.dispose();
});

function viewOfCamera(camera: Camera): ViewOptions {
  camera.updateMatrixWorld();
  return {
    projection: camera.projectionMatrix.elements,
    view: camera.matrixWorldInverse.elements,
    viewport: SQUARE,
  };
}
