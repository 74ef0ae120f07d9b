// The main thread's filter against slow float64 code: what it culls is out of view, and it leaves little that is.
import { readFileSync } from 'node:fs';
import {
  type Camera,
  Frustum,
  Matrix3,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  type Plane,
  Quaternion,
  Sphere,
  Vector3,
} from 'three';
import { beforeAll, expect, test } from 'vitest';
import {
  DEPTH_ALONG_AXIS,
  DEPTH_BY_DISTANCE,
  type Forms,
  type VisibleInstances,
} from '../../src/client/three/culling/filter-question.js';
import { frustumFilter, startFilter } from '../../src/client/three/culling/frustum-filter.js';
import { InstanceTest } from '../../src/client/three/culling/instance-test.js';
import { ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { Random, SEED } from '../oracle/random.js';

beforeAll(async () => {
  const packed = readFileSync(new URL('../../build/frustum-filter.wasm.gz', import.meta.url));
  await startFilter(new Uint8Array(packed));
  expect(frustumFilter()).not.toBeNull();
});

/** How much of a transformed sphere is in front of a plane, and the magnitude of the terms of that sum. */
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

/** The greatest depth of a transformed sphere behind a plane of the frustum, relative to the magnitude of the terms. */
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

function formsOf(...spheres: Sphere[]): Forms {
  return { spheres, ranges: Int32Array.from({ length: 2 * spheres.length }, (_, i) => 3 * i + 5) };
}

function numbersOf({ numbers, count }: Pick<VisibleInstances, 'numbers' | 'count'>): number[] {
  return Array.from(numbers.subarray(0, count));
}

const SIZES = [1, 63, 64, 65, 66, 67, 2047, 2048, 2049, 5000];

/** Runs the filter on random instances; returns how many it leaves, how many of these are out of view, and how many there are. */
function ask(random: Random, total: number, scale: number) {
  const camera = cameraOf(random);
  const volume = new ViewVolume().set(camera);
  const frustum = new Frustum().setFromProjectionMatrix(volume.clip, camera.coordinateSystem);
  const world = random.placement(random.point(10));
  // Planes through the mesh's own origin have no distance that rounding could be relative to.
  if (random.chance(0.3)) world.setPosition(camera.position);
  const sphere = new Sphere(random.point(random.pick([0, 0, 1, 5])), random.range(0, 2));
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
    const plane = random.pick(frustum.planes);
    const isNeedle = random.chance(0.2);
    // For an instance that is flat except along a plane's normal, the
    // sphere about the origin reaches no farther than the instance.
    if (isNeedle) {
      const normal = plane.normal.clone().applyMatrix3(new Matrix3().setFromMatrix4(world).transpose()).normalize();
      const length = scale * 10 ** random.range(-5, 1);
      random
        .direction()
        .toArray()
        .forEach((part, k) => {
          for (const [row, each] of normal.toArray().entries()) matrix.elements[4 * k + row] = length * part * each;
        });
    }
    // Half of them touch a plane, to within float32.
    if (isNeedle || random.chance(0.5)) {
      const { depth } = inFrontOf(plane, world, matrix, sphere);
      const way = plane.normal.clone().multiplyScalar(-depth).add(new Vector3().setFromMatrixPosition(world));
      way.applyMatrix4(world.clone().invert());
      for (const [k, each] of way.toArray().entries()) matrix.elements[12 + k] += each;
    }
    matrix.toArray(numbers, 16 * i);
  }
  const instances = new InstanceTest();
  instances.begin(volume, camera, world, 100, 0);
  const list = numbersOf(instances.find(numbers, total, formsOf(sphere), null, null));
  const left = new Set(list);
  expect(left.size).toBe(list.length);
  expect(list).toEqual([...left].sort((a, b) => a - b));
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

// Instances with scales whose squares are at the limits of float32 are not culled, or rightly so.
test.each([1, 1e-3, 1e4, 1e-12, 1e12, 1e-18, 1e-21, 1e18])(
  `leaves what is seen, in units of %d, seed ${SEED}`,
  (scale) => {
    const random = new Random(SEED);
    let [left, beyond, seen] = [0, 0, 0];
    for (let round = 0; round < 40; round++) {
      const found = ask(random, SIZES[round % SIZES.length], scale);
      left += found.left;
      beyond += found.beyond;
      seen += found.seen;
    }
    expect(seen).toBeGreaterThan(100);
    // The slack of float32 leaves few; instances too small or too large to be squared are not culled.
    if (scale > 1e-13 && scale < 1e13) expect(beyond).toBeLessThan(0.02 * left);
  },
);

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
  const list = numbersOf(instances.find(numbers, 100, formsOf(new Sphere(new Vector3(), 1)), null, null));
  const odd = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
  expect(list).toEqual([...odd, 40, 42, 44].sort((a, b) => a - b));
});

// Only their own spheres decide, since the ones about their origins cross the plane.
test.each([
  ['right', [1, 0, 0]],
  ['left', [-1, 0, 0]],
  ['bottom', [0, -1, 0]],
  ['top', [0, 1, 0]],
  ['far', [0, 0, 1]],
  ['near', [0, 0, -1]],
] as const)('plates along a plane are left out behind it, and seen before it: %s', (side, [x, y, z]) => {
  for (const camera of [new PerspectiveCamera(60, 1.5, 2, 90), new OrthographicCamera(-9, 9, 6, -6, 2, 90)]) {
    camera.updateMatrixWorld();
    const volume = new ViewVolume().set(camera);
    const plane = ['right', 'left', 'bottom', 'top', 'far', 'near'].indexOf(side);
    const { normal } = new Frustum().setFromProjectionMatrix(volume.clip, camera.coordinateSystem).planes[plane];
    const middle = new Vector3(x, y, z).unproject(camera);
    const along = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), normal);
    const numbers = new Float32Array(16 * 70);
    for (let i = 0; i < 70; i++) {
      const place = middle.clone().addScaledVector(normal, i % 3 === 0 ? 0.1 : -0.1);
      new Matrix4().compose(place, along, new Vector3(0.5, 0.5, 0.01)).toArray(numbers, 16 * i);
    }
    const instances = new InstanceTest();
    instances.begin(volume, camera, new Matrix4(), 100, 0);
    const list = numbersOf(instances.find(numbers, 70, formsOf(new Sphere(new Vector3(), 1)), null, null));
    expect(list).toEqual(Array.from({ length: 24 }, (_, i) => 3 * i));
  }
});

// The float32 error of a centre is relative to its terms, which are a thousand times as large as the centre here.
test.each([0, 1, 2])(
  `what is placed by large numbers that cancel out is left where it is seen, axis %d, seed ${SEED}`,
  (axis) => {
    const random = new Random(SEED);
    // No float32 number of that size is exactly at this border.
    const border = 9.0007;
    const camera = new OrthographicCamera(-border, border, border, -border, 1.0007, border);
    camera.updateMatrixWorld();
    const volume = new ViewVolume().set(camera);
    const frustum = new Frustum().setFromProjectionMatrix(volume.clip, camera.coordinateSystem);
    const sphere = new Sphere(new Vector3().setComponent(axis, 1e4), 1e-6);
    const total = 500;
    const numbers = new Float32Array(16 * total);
    for (let i = 0; i < total; i++) {
      const scale = random.range(1, 2);
      const place = new Vector3(0, 0, -5).setComponent(
        axis,
        random.pick(axis === 2 ? [-1.0007, -border] : [-border, border]),
      );
      place.setComponent(axis, place.getComponent(axis) + random.range(-1e-3, 1e-3) - 1e4 * Math.fround(scale));
      new Matrix4()
        .makeScale(scale, scale, scale)
        .setPosition(place)
        .toArray(numbers, 16 * i);
    }
    const instances = new InstanceTest();
    instances.begin(volume, camera, new Matrix4(), 100, 0);
    const left = new Set(numbersOf(instances.find(numbers, total, formsOf(sphere), null, null)));
    let seen = 0;
    for (let i = 0; i < total; i++) {
      if (depthBehind(frustum, new Matrix4(), new Matrix4().fromArray(numbers, 16 * i), sphere) > 0) continue;
      seen++;
      expect(left.has(i), `instance ${i}`).toBe(true);
    }
    expect(seen).toBeGreaterThan(100);
  },
);

test('what stood there before is not counted', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const numbers = new Float32Array(16 * 100);
  for (let i = 0; i < 100; i++) new Matrix4().makeTranslation(0, 0, -50).toArray(numbers, 16 * i);
  for (const total of [100, 99, 98, 97, 96, 65]) {
    expect(instances.find(numbers, total, formsOf(new Sphere(new Vector3(), 1)), null, null).count).toBe(total);
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
    return instances.find(numbers, 100, formsOf(new Sphere(new Vector3(), 1)), null, null).count;
  };
  expect(counted(({ projectionMatrix: { elements } }) => elements.splice(10, 5, -1, -1, 0, 0, -0.2))).toBe(50);
  expect(counted(({ projectionMatrix: { elements } }) => elements.fill(Number.NaN))).toBe(100);
  expect(counted(({ projectionMatrix: { elements } }) => elements.fill(Number.POSITIVE_INFINITY))).toBe(100);
});

/** The depths of the spheres' centres from the eye, as three computes them. */
function depthsOf(
  numbers: Float32Array,
  kinds: Int32Array,
  spheres: Sphere[],
  by: number,
  eye: Vector3,
  forward: Vector3,
) {
  return Array.from(kinds, (kind, i) => {
    if (kind < 0) return Number.NaN;
    const way = spheres[kind].center
      .clone()
      .applyMatrix4(new Matrix4().fromArray(numbers, 16 * i))
      .sub(eye);
    return by === DEPTH_ALONG_AXIS ? way.dot(forward) : way.length();
  });
}

const HEAPS = [
  'spread',
  'far away',
  'in a wall',
  'in two walls and one far away',
  'in equal places',
  'in one place',
] as const;

// Each kind of heap, near each list size with an algorithm of its own, in ascending, descending and given order.
test.each(HEAPS)(`forms, depths and their order are those of slow float64: %s, seed ${SEED}`, (heap) => {
  const random = new Random(SEED);
  const test = new InstanceTest();
  const camera = new OrthographicCamera(-1e9, 1e9, 1e9, -1e9, -1e9, 1e9);
  camera.updateMatrixWorld();
  const volume = new ViewVolume().set(camera);
  let sorted = 0;
  for (let round = 0; round < 40; round++) {
    const total = [64, 65, 2047, 2049, 4100, 300, 9000, 66][round % 8];
    const spheres = Array.from(
      { length: 1 + random.integer(40) },
      () => new Sphere(random.point(2), random.range(0, 2)),
    );
    const forms = formsOf(...spheres);
    const isWhole = round >= 16;
    const kinds = Int32Array.from({ length: total }, () =>
      isWhole ? random.integer(spheres.length) : random.integer(spheres.length + 1) - 1,
    );
    const eye = random.point(10);
    const forward = new Vector3(0, 0, -1).applyQuaternion(random.rotation());
    const isWall = heap === 'in a wall' || heap === 'in two walls and one far away';
    if (isWall || heap === 'in equal places' || heap === 'in one place')
      for (const { center } of spheres) center.set(0, 0, 0);
    const numbers = new Float32Array(16 * total);
    for (let i = 0; i < total; i++) {
      const place = random.point(heap === 'far away' ? 1e6 : 50);
      if (isWall) place.projectOnPlane(forward);
      if (heap === 'in two walls and one far away') place.addScaledVector(forward, i === 0 ? 1e7 : 3 * (i % 2));
      if (heap === 'in equal places') place.set(random.integer(3), 0, random.integer(2));
      if (heap === 'in one place') place.set(1, 2, 3);
      random.placement(place).toArray(numbers, 16 * i);
    }
    const by = round % 3 === 0 ? DEPTH_BY_DISTANCE : DEPTH_ALONG_AXIS;
    test.begin(volume, camera, new Matrix4(), 100, 0);
    const collects = round % 2 === 0;
    const found = test.find(
      ...([numbers, total, forms, kinds] as const),
      { by, position: eye.toArray(), forward: forward.toArray() },
      collects,
    );
    const areOf = (matrices: Float32Array | null, list: number[]): boolean => {
      const wanted = new Float32Array(16 * list.length);
      for (const [n, i] of list.entries()) wanted.set(numbers.subarray(16 * i, 16 * i + 16), 16 * n);
      return matrices !== null && Buffer.compare(bytesOf(matrices), bytesOf(wanted)) === 0;
    };
    const all = Array.from(kinds.keys()).filter((i) => kinds[i] >= 0);
    expect(numbersOf(found)).toEqual(all);
    expect(collects ? areOf(found.matrices, all) : found.matrices === null).toBe(true);
    const depths = depthsOf(numbers, kinds, spheres, by, eye, forward);
    expect(Array.from(found.depths.subarray(0, found.count))).toEqual(all.map((i) => depths[i]));
    for (const direction of [1, 0, -1] as const) {
      const expected = all.toSorted((a, b) => direction * (depths[a] - depths[b]));
      const { numbers: list, starts, counts, indices, matrices } = test.list(forms, direction);
      expect(collects ? areOf(matrices, expected) : matrices === null).toBe(true);
      expect(numbersOf({ numbers: list, count: all.length })).toEqual(expected);
      expect(Array.from(starts.subarray(0, all.length))).toEqual(expected.map((i) => forms.ranges[2 * kinds[i]]));
      expect(Array.from(counts.subarray(0, all.length))).toEqual(expected.map((i) => forms.ranges[2 * kinds[i] + 1]));
      expect(indices).toBe(expected.reduce((sum, i) => sum + forms.ranges[2 * kinds[i] + 1], 0));
      sorted += all.length;
    }
  }
  expect(sorted).toBeGreaterThan(1000);
});

/** Lists instances at some places by their depths along -z, from the origin. */
function listedAt(places: readonly (readonly [number, number, number])[], direction: 1 | -1): number[] {
  const camera = new OrthographicCamera(-1e9, 1e9, 1e9, -1e9, -1e9, 1e9);
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const numbers = new Float32Array(16 * places.length);
  for (const [i, place] of places.entries()) new Matrix4().makeTranslation(...place).toArray(numbers, 16 * i);
  const forms = formsOf(new Sphere(new Vector3(), 1));
  const eye = { by: DEPTH_ALONG_AXIS, position: [0, 0, 0], forward: [0, 0, -1] } as const;
  expect(instances.find(numbers, places.length, forms, null, eye).count).toBe(places.length);
  return numbersOf({ numbers: instances.list(forms, direction).numbers, count: places.length });
}

test('depths of 0 and of -0 are equal', () => {
  const places = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? ([1, 1, 0] as const) : ([-1, -1, 0] as const)));
  for (const direction of [1, -1] as const) expect(listedAt(places, direction)).toEqual([...places.keys()]);
});

test('depths that are no numbers are in the order of their numbers, and others among them in theirs', () => {
  const none = Array.from({ length: 100 }, () => [0, 0, Number.NaN] as const);
  for (const direction of [1, -1] as const) expect(listedAt(none, direction)).toEqual([...none.keys()]);
  const some = none.map((place, i) => (i % 9 === 4 ? place : ([0, 0, (i * 37) % 100] as const)));
  for (const direction of [1, -1] as const) {
    const list = listedAt(some, direction);
    expect(list.toSorted((a, b) => a - b)).toEqual([...some.keys()]);
    const depths = list.map((i) => -some[i][2]).filter((depth) => !Number.isNaN(depth));
    expect(depths).toEqual(depths.toSorted((a, b) => direction * (a - b)));
  }
});

test('what is only seen at a size keeps its depth', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 4);
  const numbers = new Float32Array(16 * 100);
  for (let i = 0; i < 100; i++)
    new Matrix4().makeTranslation(0, 0, i % 2 === 0 ? -900 : i - 200).toArray(numbers, 16 * i);
  const forms = formsOf(new Sphere(new Vector3(), 5));
  const found = instances.find(numbers, 100, forms, null, instances.eye);
  const odd = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
  expect(numbersOf(found)).toEqual(odd);
  expect(numbersOf({ numbers: instances.list(forms, 1).numbers, count: 50 })).toEqual(odd.toReversed());
});

test('of an array more and fewer instances are looked at, and arrays take turns', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const forms = formsOf(new Sphere(new Vector3(), 1), new Sphere(new Vector3(), 1));
  const arrays = [0, 1].map((shift) => {
    const numbers = new Float32Array(16 * 1000);
    for (let i = 0; i < 1000; i++)
      new Matrix4().makeTranslation(i / 100, 0, (i + shift) % 5 === 0 ? 50 : -50).toArray(numbers, 16 * i);
    const kinds = Int32Array.from({ length: 1000 }, (_, i) => ((i + shift) % 3) - 1);
    return { numbers, kinds, isInView: (i: number) => (i + shift) % 5 !== 0 };
  });
  for (const count of [100, 64, 65, 1000, 127, 128, 129, 999]) {
    for (const { numbers, kinds, isInView } of arrays) {
      for (const known of [null, kinds]) {
        const isSeen = (i: number) => isInView(i) && (known === null || known[i] >= 0);
        const expected = Array.from({ length: count }, (_, i) => i).filter(isSeen);
        const found = instances.find(numbers, count, forms, known, null, true);
        expect(numbersOf(found)).toEqual(expected);
        const matrices = expected.flatMap((i) => Array.from(numbers.subarray(16 * i, 16 * i + 16)));
        expect(Array.from(found.matrices!)).toEqual(matrices);
      }
    }
  }
});

test('the matrices of too many are not collected, and those of fewer are again', () => {
  const camera = new PerspectiveCamera();
  camera.updateMatrixWorld();
  const total = 140_000;
  const numbers = new Float32Array(16 * total);
  for (let i = 0; i < total; i++) new Matrix4().makeTranslation(0, 0, -50 - (i % 7)).toArray(numbers, 16 * i);
  const instances = new InstanceTest();
  instances.begin(new ViewVolume().set(camera), camera, new Matrix4(), 100, 0);
  const forms = formsOf(new Sphere(new Vector3(), 1));
  for (const [count, isCollected, isArranged] of [
    [total, false, false],
    [70_000, true, false],
    [60_000, true, true],
    [100, true, true],
  ] as const) {
    const found = instances.find(numbers, count, forms, null, instances.eye, true);
    expect(found.count).toBe(count);
    const { matrices } = found;
    expect(matrices !== null).toBe(isCollected);
    // Compared as bytes, not element by element: it is nine megabytes.
    if (matrices !== null) expect(Buffer.compare(bytesOf(matrices), bytesOf(numbers.subarray(0, 16 * count)))).toBe(0);
    const { matrices: arranged, numbers: list } = instances.list(forms, 1);
    expect(arranged !== null).toBe(isArranged);
    for (let n = 0; arranged !== null && n < count; n += 97)
      expect(arranged[16 * n + 14]).toBe(numbers[16 * list[n] + 14]);
  }
});

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
