import { createCollisionService, type ViewOptions } from 'collision-worker';
import { viewFromCamera } from 'collision-worker/three';
import {
  type Camera,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  PlaneGeometry,
  Raycaster,
  Vector2,
  Vector3,
  Vector4,
  WebGLCoordinateSystem,
  WebGPUCoordinateSystem,
} from 'three';
import { describe, expect, test } from 'vitest';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { pickRay } from '../../src/client/query/pick-ray.js';
import { PLACES } from '../fixtures/twin.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, INFINITE_FAR, VIEWPORT, viewOf } from '../oracle/cameras.js';
import { trianglesOf } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const IDENTITY = new Matrix4().elements;
const SQUARE = { width: 100, height: 100 };

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
  describe.each(CAMERA_KINDS)('%s', (_, make) => {
    test.each(DEPTHS)("%s: three's, from the near plane to the far plane", (_, depth) => {
      const random = new Random(SEED);
      const raycaster = new Raycaster();
      const inView = new Vector3();
      for (let i = 0; i < 200; i++) {
        const camera = aimCamera(make(random), random, place);
        const ndc = new Vector2(random.range(-1, 1), random.range(-1, 1));
        const x = VIEWPORT.x + ((ndc.x + 1) / 2) * VIEWPORT.width;
        const y = VIEWPORT.y + ((1 - ndc.y) / 2) * VIEWPORT.height;
        const ray = rayOf(viewOf(camera, depth), x, y)!;
        raycaster.setFromCamera(ndc, camera);
        // three unprojects a point that is far away, which loses digits.
        expect(ray.direction.angleTo(raycaster.ray.direction)).toBeLessThan(far ? 1e-6 : 1e-7);
        expect(ray.origin.distanceTo(raycaster.ray.origin)).toBeLessThan(far ? 1e-8 : 1e-9);
        for (const [t, z] of [
          [ray.tMin, -camera.near],
          [ray.tMax, -camera.far],
        ]) {
          if (z === -INFINITE_FAR) {
            expect(t).toBe(Infinity);
            continue;
          }
          inView.copy(ray.direction).multiplyScalar(t).transformDirection(camera.matrixWorldInverse);
          const depthAtT = inView.z * t;
          expect(Math.abs(depthAtT / z - 1)).toBeLessThan(1e-9);
        }
      }
    });
  });
});

// What three itself makes of a camera for each of its renderers; `_reversedDepth` is what they set on it.
const SETTINGS = [
  ['WebGL', {}],
  ['WebGPU', { coordinateSystem: WebGPUCoordinateSystem }],
  ['reversed depth', { _reversedDepth: true }],
  ['reversed depth of WebGPU', { _reversedDepth: true, coordinateSystem: WebGPUCoordinateSystem }],
] as const;

describe.each(PLACES)(`the ray through a pixel of three's cameras, %s, seed ${SEED}`, (_, place) => {
  describe.each(CAMERA_KINDS)('%s', (_, make) => {
    test.each(SETTINGS)('%s', (_, settings) => {
      const random = new Random(SEED);
      const raycaster = new Raycaster();
      for (let i = 0; i < 50; i++) {
        const camera = aimCamera(Object.assign(make(random), settings), random, place);
        const ndc = new Vector2(random.range(-1, 1), random.range(-1, 1));
        const x = VIEWPORT.x + ((ndc.x + 1) / 2) * VIEWPORT.width;
        const y = VIEWPORT.y + ((1 - ndc.y) / 2) * VIEWPORT.height;
        const ray = rayOf(viewFromCamera(camera, VIEWPORT), x, y)!;
        const plain = Object.assign(camera, { _reversedDepth: false, coordinateSystem: WebGLCoordinateSystem });
        plain.updateProjectionMatrix();
        raycaster.setFromCamera(ndc, plain);
        expect(ray.direction.angleTo(raycaster.ray.direction)).toBeLessThan(place.length() > 0 ? 1e-6 : 1e-7);
        const along = -ray.direction.clone().transformDirection(camera.matrixWorldInverse).z;
        expect((ray.tMin * along) / camera.near).toBeCloseTo(1, 9);
        if (camera.far === INFINITE_FAR)
          expect(ray.tMax).toBeGreaterThan(1e29); // with reversed depth it is still known
        else expect((ray.tMax * along) / camera.far).toBeCloseTo(1, 9);
      }
    });
  });
});

// As float64 matrices have it: the image's points on the near and the far plane, unprojected.
describe.each(PLACES)(`the ray of a view under any parent, %s, seed ${SEED}`, (_, place) => {
  test.each(CAMERA_KINDS.slice(0, 4))('%s: scaled, mirrored, sheared', (_, make) => {
    const random = new Random(SEED);
    for (let i = 0; i < 300; i++) {
      const camera = aimCamera(make(random), random, place);
      const parent = random.placement(place, { low: 0.2, high: 5, mirrored: 0.5, sheared: 0.5 });
      parent.multiply(new Matrix4().makeTranslation(place.clone().negate()));
      const world = parent.multiply(camera.matrixWorld);
      const [name, depth] = random.pick(DEPTHS);
      const view = { ...viewOf(camera, depth), view: world.clone().invert().elements };
      const ndc = new Vector2(random.range(-1, 1), random.range(-1, 1));
      const x = VIEWPORT.x + ((ndc.x + 1) / 2) * VIEWPORT.width;
      const y = VIEWPORT.y + ((1 - ndc.y) / 2) * VIEWPORT.height;
      const ray = rayOf(view, x, y)!;
      for (const [t, z] of [
        [ray.tMin, -1],
        [ray.tMax, 1],
      ]) {
        const expected = new Vector3(ndc.x, ndc.y, z).applyMatrix4(camera.projectionMatrixInverse).applyMatrix4(world);
        const point = ray.direction.clone().multiplyScalar(t).add(ray.origin);
        const size = expected.distanceTo(ray.origin) + 1e-3 * place.length();
        expect(point.distanceTo(expected), `${name}, camera ${i}`).toBeLessThan(1e-9 * size);
      }
    }
  });
});

// A projection need not be three's: where it contains all of a camera, each of its sixteen numbers counts.
test.each(CAMERA_KINDS.slice(0, 4))(`the ray of a view that is all projection, seed ${SEED}: %s`, (_, make) => {
  const random = new Random(SEED);
  for (let i = 0; i < 100; i++) {
    const camera = make(random);
    // Rotated and sheared so little that all rays near its centre still point forwards.
    camera.position.copy(random.point(0.5));
    camera.rotation.set(random.range(-0.2, 0.2), random.range(-0.2, 0.2), random.range(-3, 3));
    camera.updateMatrixWorld();
    const shear = () => random.range(-0.1, 0.1);
    const world = camera.matrixWorld
      .clone()
      .multiply(new Matrix4().makeShear(shear(), shear(), shear(), shear(), shear(), shear()));
    const projection = camera.projectionMatrix.clone().multiply(world.clone().invert());
    const ndc = new Vector2(random.range(-0.5, 0.5), random.range(-0.5, 0.5));
    const x = VIEWPORT.x + ((ndc.x + 1) / 2) * VIEWPORT.width;
    const y = VIEWPORT.y + ((1 - ndc.y) / 2) * VIEWPORT.height;
    const ray = rayOf({ projection: projection.elements, view: IDENTITY, viewport: VIEWPORT }, x, y)!;
    for (const [t, z] of [
      [ray.tMin, -1],
      [ray.tMax, 1],
    ]) {
      const expected = new Vector3(ndc.x, ndc.y, z).applyMatrix4(camera.projectionMatrixInverse).applyMatrix4(world);
      const point = ray.direction.clone().multiplyScalar(t).add(ray.origin);
      expect(point.distanceTo(expected)).toBeLessThan(1e-6 * (1 + expected.distanceTo(ray.origin)));
    }
  }
});

test(`what is nearer than the near plane or farther than the far plane is not hit, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  const mesh = await service.addMesh(trianglesOf(new PlaneGeometry(2, 3)));
  for (const [place, [kind, make], [depthName, depth]] of PLACES.flatMap(([, place]) =>
    CAMERA_KINDS.flatMap((kind) => DEPTHS.map((each) => [place, kind, each] as const)),
  )) {
    const camera = aimCamera(make(random), random, place);
    // Squares across the ray, just before and behind each of the two planes.
    const [x, y] = [random.range(-1, 1), random.range(-1, 1)];
    const far = Math.min(camera.far, 1e6);
    const slack = 1e-9 + 1e-15 * place.length(); // of float64 there
    const through = (z: number): Vector3 => {
      const clip = new Vector3(0, 0, -z).applyMatrix4(camera.projectionMatrix).z;
      return new Vector3(x, y, clip).applyMatrix4(camera.projectionMatrixInverse);
    };
    const ids = [
      camera.near * (1 - slack) - 10 * slack,
      camera.near * (1 + slack) + 10 * slack,
      far * (1 - slack) - 10 * slack,
      far * (1 + slack) + 10 * slack,
    ].map((depth) => {
      const matrix = camera.matrixWorld.clone().multiply(new Matrix4().makeTranslation(through(depth)));
      return service.addObject({ shape: { type: 'mesh', mesh }, matrix: matrix.elements });
    });
    service.setView(viewOf(camera, depth));
    const { x: left, y: top, width, height } = VIEWPORT;
    const hits = await service.pickAll(left + ((x + 1) / 2) * width, top + ((1 - y) / 2) * height);
    const expected = camera.far === INFINITE_FAR ? ids.slice(1) : ids.slice(1, 3);
    expect([...new Set(hits.map(({ object }) => object))], `${kind}, ${depthName}, ${place.x}`).toEqual(expected);
    for (const id of ids) service.removeObject(id);
  }
  service.dispose();
});

// As three's Reflector and Water draw: Eric Lengyel, Oblique View Frustum Depth Projection and Clipping, 2005.
test(`an oblique near plane is where the ray starts, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const count = { shown: 0, hidden: 0 };
  for (let i = 0; i < 200; i++) {
    const camera = aimCamera(CAMERA_KINDS[0][1](random), random, new Vector3());
    const plain = camera.clone();
    const normal = random.direction();
    if (normal.z > 0) normal.negate(); // the region behind the mirror is drawn
    const plane = new Vector4(normal.x, normal.y, normal.z, -random.range(3, 9)); // in view space
    const p = camera.projectionMatrix.elements;
    const q = new Vector4(
      (Math.sign(plane.x) + p[8]) / p[0],
      (Math.sign(plane.y) + p[9]) / p[5],
      -1,
      (1 + p[10]) / p[14],
    );
    if (plane.dot(q) <= 0) continue; // the mirror is nowhere in front of the camera
    const scaled = plane.clone().multiplyScalar(2 / plane.dot(q));
    [p[2], p[6], p[10], p[14]] = [scaled.x, scaled.y, scaled.z + 1, scaled.w];
    const [x, y] = [VIEWPORT.x + random.next() * VIEWPORT.width, VIEWPORT.y + random.next() * VIEWPORT.height];
    const ray = rayOf(viewFromCamera(camera, VIEWPORT), x, y);
    count[ray ? 'shown' : 'hidden']++;
    // Unless it looks away from the mirror, the ray meets the mirror's plane in front of the eye.
    const target = new Vector3(
      (2 * (x - VIEWPORT.x)) / VIEWPORT.width - 1,
      1 - (2 * (y - VIEWPORT.y)) / VIEWPORT.height,
      0,
    );
    const slope = normal.dot(target.applyMatrix4(plain.projectionMatrixInverse).normalize());
    expect(ray !== null).toBe(slope > 0);
    if (!ray) continue;
    expect(ray.tMin * slope).toBeCloseTo(-plane.w, 9);
    expect(ray.tMax).toBeGreaterThan(ray.tMin);
  }
  expect(count.shown).toBeGreaterThan(20);
  expect(count.hidden).toBeGreaterThan(5);
});

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

test(`the borders of the viewport belong to it, seed ${SEED}`, () => {
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
  // Also where rounding puts the far border slightly outside.
  const random = new Random(SEED);
  for (let i = 0; i < 1000; i++) {
    const [x, y, width, height] = Array.from({ length: 4 }, () => random.logRange(0.1, 9));
    const odd = { ...view, viewport: { x, y, width, height } };
    const corners = [x, x + width].flatMap((px) => [y, y + height].map((py) => rayOf(odd, px, py)));
    expect(corners).not.toContain(null);
  }
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
