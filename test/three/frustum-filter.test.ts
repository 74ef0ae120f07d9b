// The filter of the main thread against slow float64: what it leaves out is out of view, and it leaves little that is.
import { readFileSync } from 'node:fs';
import {
  type Camera,
  Frustum,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  type Plane,
  Sphere,
  Vector3,
} from 'three';
import { beforeAll, expect, test } from 'vitest';
import { frustumFilter, startFilter } from '../../src/client/three/culling/frustum-filter.js';
import { InstanceTest } from '../../src/client/three/culling/instance-test.js';
import { ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { Random, SEED } from '../oracle/random.js';

beforeAll(async () => {
  const packed = readFileSync(new URL('../../build/frustum-filter.wasm.gz', import.meta.url));
  await startFilter(new Uint8Array(packed));
  expect(frustumFilter()).not.toBeNull();
});

/** How much of a placed sphere is in front of a plane, and the size of what that is computed of. */
function inFrontOf({ normal: n, constant }: Plane, world: Matrix4, own: Matrix4, sphere: Sphere) {
  const m = own.clone().premultiply(world);
  const centre = sphere.center.clone().applyMatrix4(m);
  const e = m.elements;
  const axes = [0, 4, 8].map((k) => n.x * e[k] + n.y * e[k + 1] + n.z * e[k + 2]);
  const depth = n.dot(centre) + constant + sphere.radius * Math.hypot(...axes);
  return {
    depth,
    size: Math.abs(n.x * centre.x) + Math.abs(n.y * centre.y) + Math.abs(n.z * centre.z) + Math.abs(constant),
  };
}

/** How far a placed sphere is behind a plane of the frustum at most, in parts of what that is computed of. */
function depthBehind({ planes }: Frustum, world: Matrix4, own: Matrix4, sphere: Sphere): number {
  return Math.max(
    ...planes.map((plane) => {
      const { depth, size } = inFrontOf(plane, world, own, sphere);
      return -depth / size;
    }),
  );
}

function cameraOf(random: Random): Camera {
  const camera = random.chance(0.7)
    ? new PerspectiveCamera(
        random.range(5, 150),
        random.range(0.2, 4),
        10 ** random.range(-3, 0),
        10 ** random.range(1, 6),
      )
    : new OrthographicCamera(
        random.range(-30, 0),
        random.range(1, 30),
        random.range(1, 20),
        random.range(-20, 0),
        -5,
        90,
      );
  if (camera instanceof PerspectiveCamera && random.chance(0.3)) camera.setViewOffset(100, 100, 60, -20, 30, 90);
  camera.position.copy(random.point(20));
  camera.quaternion.copy(random.rotation());
  camera.updateMatrixWorld();
  return camera;
}

const SIZES = [1, 63, 64, 65, 66, 67, 2047, 2048, 2049, 5000];

/** Asks the filter about random instances; answers how many it leaves, how many of these are out of view, and how many there are. */
function ask(random: Random, total: number, scale: number) {
  const camera = cameraOf(random);
  const volume = new ViewVolume().set(camera);
  const frustum = new Frustum().setFromProjectionMatrix(volume.clip, camera.coordinateSystem);
  const world = random.placement(random.point(10));
  const sphere = new Sphere(random.point(random.pick([0, 1, 5])), random.range(0, 2));
  const numbers = new Float32Array(16 * total);
  world.elements.forEach((_, k) => {
    if (k < 12 && (k & 3) < 3) world.elements[k] /= scale;
  });
  const stretch = () => 10 ** random.range(-2, 1);
  for (let i = 0; i < total; i++) {
    const matrix = random.placement(random.point(60));
    if (random.chance(0.3)) matrix.scale(new Vector3(stretch(), stretch(), stretch()));
    if (random.chance(0.1)) matrix.elements[4] += random.range(-3, 3);
    for (let k = 0; k < 16; k++) matrix.elements[k] *= (k & 3) === 3 ? 1 : scale;
    // Half of them touch a plane, by all that float32 can tell.
    if (random.chance(0.5)) {
      const plane = random.pick(frustum.planes);
      const { depth } = inFrontOf(plane, world, matrix, sphere);
      const way = plane.normal.clone().multiplyScalar(-depth).add(new Vector3().setFromMatrixPosition(world));
      way.applyMatrix4(world.clone().invert());
      for (const [k, each] of way.toArray().entries()) matrix.elements[12 + k] += each;
    }
    matrix.toArray(numbers, 16 * i);
  }
  const list = new Uint32Array(total + 1);
  list[0] = 7; // it is kept
  const instances = new InstanceTest();
  instances.begin(volume, camera, world, 100, 0);
  const end = instances.select(numbers, null, total, sphere, list, 1);
  expect(list[0]).toBe(7);
  const left = new Set(list.subarray(1, end));
  expect(left.size).toBe(end - 1);
  expect(Array.from(list.subarray(1, end))).toEqual([...left].sort((a, b) => a - b));
  let seen = 0;
  let beyond = 0;
  for (let i = 0; i < total; i++) {
    const behind = depthBehind(frustum, world, new Matrix4().fromArray(numbers, 16 * i), sphere);
    if (left.has(i) && behind > 1e-4) beyond++;
    if (behind > 0) continue;
    seen++;
    expect(left.has(i), `instance ${i} of ${total}`).toBe(true);
  }
  return { left: left.size, beyond, seen };
}

// Scales at the ends of float32's squares are not left out, or rightly so.
test.each([1, 1e-3, 1e4, 1e-12, 1e12, 1e-18, 1e18])(`leaves what is seen, in units of %d, seed ${SEED}`, (scale) => {
  const random = new Random(SEED);
  let [left, beyond, seen] = [0, 0, 0];
  for (let round = 0; round < 40; round++) {
    const found = ask(random, SIZES[round % SIZES.length], scale);
    left += found.left;
    beyond += found.beyond;
    seen += found.seen;
  }
  expect(seen).toBeGreaterThan(100);
  // The slack of float32 leaves few; what is too small or too large to be squared is left as it is.
  if (scale > 1e-13 && scale < 1e13) expect(beyond).toBeLessThan(0.02 * left);
});

test('what is no number is left, and what stands behind it is looked at', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const numbers = new Float32Array(16 * 100);
  for (let i = 0; i < 100; i++) new Matrix4().makeTranslation(0, 0, i % 2 === 0 ? 50 : -50).toArray(numbers, 16 * i);
  numbers[16 * 40 + 12] = Number.NaN;
  numbers[16 * 42] = Number.POSITIVE_INFINITY;
  numbers[16 * 44 + 5] = Number.NaN;
  const list = new Uint32Array(100);
  const count = instances.select(numbers, null, 100, new Sphere(new Vector3(), 1), list, 0);
  const odd = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
  expect(Array.from(list.subarray(0, count))).toEqual([...odd, 40, 42, 44].sort((a, b) => a - b));
});

test('what stood there before is not counted', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const numbers = new Float32Array(16 * 100);
  for (let i = 0; i < 100; i++) new Matrix4().makeTranslation(0, 0, -50).toArray(numbers, 16 * i);
  const list = new Uint32Array(200);
  for (const total of [100, 99, 98, 97, 96, 65]) {
    expect(instances.select(numbers, null, total, new Sphere(new Vector3(), 1), list, 0)).toBe(total);
  }
});

test('a camera without an end, and one of which nothing is known', () => {
  const numbers = new Float32Array(16 * 100);
  for (let i = 0; i < 100; i++) new Matrix4().makeTranslation(0, 0, i % 2 === 0 ? 50 : -50).toArray(numbers, 16 * i);
  const counted = (change: (camera: PerspectiveCamera) => void) => {
    const camera = new PerspectiveCamera();
    camera.updateMatrixWorld();
    change(camera);
    const instances = new InstanceTest();
    instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
    return instances.select(numbers, null, 100, new Sphere(new Vector3(), 1), new Uint32Array(100), 0);
  };
  expect(counted(({ projectionMatrix: { elements } }) => elements.splice(10, 5, -1, -1, 0, 0, -0.2))).toBe(50);
  expect(counted(({ projectionMatrix: { elements } }) => elements.fill(Number.NaN))).toBe(100);
  expect(counted(({ projectionMatrix: { elements } }) => elements.fill(Number.POSITIVE_INFINITY))).toBe(100);
});
