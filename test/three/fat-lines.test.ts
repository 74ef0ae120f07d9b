// The wide lines of three's addons: picks and rays give the same results as their own `raycast`.
import type { SceneTracker } from 'collision-worker/three';
import {
  BufferAttribute,
  Group,
  InstancedBufferAttribute,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  type Intersection,
  type Object3D,
  Raycaster,
  Scene,
  Vector2,
} from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { LineSegments2 } from 'three/addons/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/addons/lines/LineSegmentsGeometry.js';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import { isMissedByThree } from '../fixtures/three-lines.js';
import { type AnyCamera, frontCamera, pixelNear, randomCamera, SIZE, settle, track } from '../fixtures/three-picks.js';
import { place } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
/** Fewer with older versions of three, where all of it would take too long. */
const SCENES = shareOf(24);
const ROUNDS = 4;
const PICKS = 25;
const TOLERANCE = 1e-6;

function walk(random: Random, count: number): number[] {
  const at = random.point(1);
  return Array.from({ length: count }, () => at.add(random.point(0.6)).clampScalar(-1.5, 1.5).toArray()).flat();
}

function randomFat(random: Random, worldUnits: boolean): LineSegments2 {
  const linewidth = worldUnits ? random.logRange(0.02, 0.5) : random.range(1, 20);
  const material = new LineMaterial({ linewidth, worldUnits });
  material.resolution.set(SIZE.width, SIZE.height);
  const count = 2 * (1 + random.integer(20));
  const object = random.chance(0.5)
    ? new Line2(new LineGeometry().setPositions(walk(random, count)), material)
    : new LineSegments2(new LineSegmentsGeometry().setPositions(walk(random, count)), material);
  object.name = `${object.type} ${object.id}`;
  place(object, random, RADIUS / 2);
  return object;
}

function change(random: Random, worldUnits: boolean, parents: Group[], objects: LineSegments2[]): void {
  const object = random.pick(objects);
  const { geometry, material } = object;
  const kinds: (() => void)[] = [
    () => place(object, random, RADIUS / 2),
    () => geometry.setPositions(walk(random, 2 * (1 + random.integer(20)))),
    () => {
      geometry.attributes.instanceStart.setXYZ(0, 1, 1, 1);
      geometry.attributes.instanceStart.needsUpdate = true;
    },
    () => {
      material.linewidth = worldUnits ? random.logRange(0.02, 0.5) : random.range(1, 20);
    },
    () => {
      object.geometry.instanceCount = 1 + random.integer(5);
    },
    () => {
      object.visible = random.chance(0.6);
    },
    () => random.pick(parents).add(object),
    () => objects.length > 2 && objects.splice(objects.indexOf(object), 1)[0].removeFromParent(),
    () => {
      objects.push(randomFat(random, worldUnits));
      random.pick(parents).add(objects.at(-1)!);
    },
  ];
  random.pick(kinds)();
}

function shown(root: Object3D): LineSegments2[] {
  const found: LineSegments2[] = [];
  root.traverseVisible((object) => {
    if (!(object instanceof LineSegments2)) return;
    // three expands the bounds by the width at their point nearest to the eye, which is too little behind it.
    const { geometry } = object;
    geometry.computeBoundingSphere();
    geometry.computeBoundingBox();
    geometry.boundingSphere!.radius *= 10;
    geometry.boundingBox!.expandByScalar(50);
    found.push(object);
  });
  return found;
}

function faultOf(hit: Intersection, expected: Intersection[], scale: number): string | null {
  const twin = expected.find(({ object, faceIndex }) => object === hit.object && faceIndex === hit.faceIndex);
  if (twin === undefined) return `${hit.object.name} ${hit.faceIndex} at ${hit.distance}, which three does not hit`;
  const isRight =
    Math.abs(hit.distance - twin.distance) <= TOLERANCE * scale &&
    hit.point.distanceTo(twin.point) <= TOLERANCE * scale &&
    hit.pointOnLine!.distanceTo(twin.pointOnLine!) <= TOLERANCE * scale &&
    Object.keys(hit).sort().join() === Object.keys(twin).sort().join();
  return isRight ? null : `${hit.object.name} ${hit.faceIndex} is ${hit.distance} instead of ${twin.distance} away`;
}

async function compare(tracker: SceneTracker, root: Object3D, camera: AnyCamera, random: Random, far: number) {
  const faults: string[] = [];
  let hits = 0;
  const objects = shown(root);
  const drawn = objects.map(({ geometry, matrixWorld }) => {
    return { position: geometry.attributes.instanceStart, matrixWorld };
  });
  const raycaster = new Raycaster();
  const params = { ...raycaster.params, Line2: { threshold: random.chance(0.5) ? 0 : random.range(0, 0.3) } };
  raycaster.params = params;
  for (let i = 0; i < PICKS; i++) {
    const [x, y] = pixelNear(random, drawn, camera, 6);
    raycaster.setFromCamera(new Vector2((x / SIZE.width) * 2 - 1, 1 - (y / SIZE.height) * 2), camera);
    const { origin, direction } = raycaster.ray;
    const expected = raycaster.intersectObjects(objects, false);
    const all = await tracker.pickAll(x, y, { params });
    const first = await tracker.pick(x, y, { params });
    const scale = Math.max(expected[0]?.distance ?? 0, 1) + far;
    if (expected.length > 0) hits++;
    if (first?.distance !== all[0]?.distance) faults.push('the nearest is not the first of all');
    const found = [all];
    if (all.some(isMissedByThree)) continue;
    if (objects.every(({ material }) => material.worldUnits)) {
      found.push(
        await tracker.raycastAll({ origin, direction, tMin: raycaster.near, tMax: raycaster.far }, { params }),
      );
    }
    for (const list of found) {
      if (list.length !== expected.length) faults.push(`${list.length} hits instead of ${expected.length}`);
      if (list.some(({ distance }, j) => j > 0 && distance < list[j - 1].distance)) faults.push('not nearest first');
      for (const hit of list) faults.push(...[faultOf(hit, expected, scale) ?? []].flat());
    }
  }
  return { faults, hits };
}

test.each([
  ['pixels', 0],
  ['pixels', 1e6],
  ['world units', 0],
  ['world units', 1e6],
] as const)(`in %s at %d, ${SCENES} scenes that change while they run, seed ${SEED}`, async (unit, far) => {
  const worldUnits = unit === 'world units';
  const random = new Random(SEED + (far > 0 ? 1000 : 0));
  const faults: string[] = [];
  let hits = 0;
  for (let scene = 0; scene < SCENES; scene++) {
    const [root, inner] = [new Group(), new Group()];
    place(inner, random, RADIUS / 4);
    root.add(inner);
    root.position.setScalar(far);
    const objects = Array.from({ length: 4 }, () => randomFat(random, worldUnits));
    for (const object of objects) random.pick([root, inner]).add(object);
    const camera = randomCamera(random, RADIUS);
    camera.position.addScalar(far);
    camera.updateMatrixWorld();
    const tracker = await track(service, root, camera);
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) change(random, worldUnits, [root, inner], objects);
      await settle(tracker, camera);
      const found = await compare(tracker, root, camera, random, far);
      faults.push(...found.faults);
      hits += found.hits;
    }
    tracker.dispose();
  }
  expect(faults.slice(0, 10)).toEqual([]);
  expect(hits).toBeGreaterThan(SCENES * ROUNDS * PICKS * 0.4);
});

test('without params they are hit as wide as they are drawn, and within 4 pixels', async () => {
  const wide = new Line2(
    new LineGeometry().setPositions([-3, 1, 0, 3, 1, 0]),
    new LineMaterial({ linewidth: 30, worldUnits: false }),
  );
  const thin = new Line2(
    new LineGeometry().setPositions([-3, -1, 0, 3, -1, 0]),
    new LineMaterial({ linewidth: 0.001, worldUnits: true }),
  );
  const tracker = await track(service, new Scene().add(wide, thin));
  const unit = SIZE.height / 2 / Math.tan((25 * Math.PI) / 180) / 10;
  const [x, middle] = [SIZE.width / 2, SIZE.height / 2];
  expect((await tracker.pick(x, middle - unit - 14))?.object).toBe(wide);
  expect(await tracker.pick(x, middle - unit - 16)).toBeNull();
  expect((await tracker.pick(x, middle + unit + 3.9))?.object).toBe(thin);
  expect(await tracker.pick(x, middle + unit + 4.1)).toBeNull();
  expect((await tracker.pick(x, middle + unit + 9, { radius: 10 }))?.object).toBe(thin);
  expect(await tracker.raycast({ origin: [0, 1, 10], direction: [0, 0, -1] })).toBeNull(); // pixels need a view
  expect((await tracker.raycast({ origin: [0, -1.0004, 10], direction: [0, 0, -1] }))?.object).toBe(thin);
  expect(await tracker.pickRegion({ x: 0, y: 0, width: SIZE.width, height: middle })).toEqual([wide]);
});

test('with params, one that was never drawn is not hit, as three has no pixels for it', async () => {
  const line = new Line2(new LineGeometry().setPositions([-3, 1, 0, 3, 1, 0]), new LineMaterial({ linewidth: 5 }));
  line.material.resolution.set(0, 0);
  const tracker = await track(service, new Scene().add(line));
  const at = [SIZE.width / 2, SIZE.height / 2 - SIZE.height / 2 / Math.tan((25 * Math.PI) / 180) / 10] as const;
  const middle = [SIZE.width / 2, SIZE.height / 2] as const;
  for (const [x, y] of [at, middle]) expect(await tracker.pick(x, y, { params: {} })).toBeNull();
  expect((await tracker.pick(...at))?.object).toBe(line);
  line.material.resolution.set(SIZE.width, SIZE.height); // as the first render does
  expect((await tracker.pick(...at, { params: {} }))?.object).toBe(line);
  expect(await tracker.pick(...middle, { params: {} })).toBeNull();
});

test('the ends of its segments may be in any arrays, which may change', async () => {
  const numbers = Float32Array.of(-1, 0.5, 0, 1, 0.5, 0, -1, -0.5, 0, 1, -0.5, 0);
  const ends = [0, 3].map((first) =>
    Float32Array.from([...numbers.subarray(first, first + 3), ...numbers.subarray(first + 6, first + 9)]),
  );
  const shared = (stride: number, scale = 1, isNormalized = false) => {
    const type = isNormalized ? Int16Array : Float32Array;
    const all = new type(2 * stride).fill(scale);
    for (let i = 0; i < 12; i++) all[Math.floor(i / 6) * stride + (i % 6)] = numbers[i] * scale;
    const data = new InstancedInterleavedBuffer(all, stride, 1);
    return [0, 3].map((offset) => new InterleavedBufferAttribute(data, 3, offset, isNormalized));
  };
  const apart = ends.map((end) => new InstancedBufferAttribute(end, 3));
  const backwards = shared(6).reverse();
  const line = new LineSegments2();
  const tracker = await track(service, new Scene().add(line));
  const down = (y: number) => ({ origin: [0, y, 5], direction: [0, 0, -1] }) as const;
  for (const [start, end] of [apart, shared(6), backwards, shared(7), shared(6, 32767, true)]) {
    line.material = new LineMaterial({ linewidth: 0.1, worldUnits: true });
    line.geometry = new LineSegmentsGeometry();
    line.geometry.setAttribute('instanceStart', start).setAttribute('instanceEnd', end);
    line.geometry.instanceCount = 2;
    await settle(tracker, frontCamera());
    expect((await tracker.raycast(down(0.5)))?.faceIndex).toBe(0);
    expect((await tracker.raycast(down(-0.5)))?.faceIndex).toBe(1);
    expect(await tracker.raycast(down(0))).toBeNull();
    // As many as are drawn.
    line.geometry.instanceCount = 1;
    await settle(tracker, frontCamera());
    expect(await tracker.raycast(down(-0.5))).toBeNull();
  }
  line.geometry.setAttribute('instanceStart', new BufferAttribute(Float32Array.of(-1, 0, 0), 3));
  line.geometry.setAttribute('instanceEnd', new BufferAttribute(Float32Array.of(1, 0, 0), 3));
  await settle(tracker, frontCamera());
  expect((await tracker.raycast(down(0)))?.faceIndex).toBe(0);
  // First only the end positions are in another array, and then there are none.
  line.geometry.setAttribute('instanceEnd', new BufferAttribute(Float32Array.of(-1, 2, 0), 3));
  await settle(tracker, frontCamera());
  expect(await tracker.raycast(down(0))).toBeNull();
  expect((await tracker.raycast({ ...down(1), origin: [-1, 1, 5] }))?.faceIndex).toBe(0);
  line.geometry.deleteAttribute('instanceEnd');
  await settle(tracker, frontCamera());
  expect(await tracker.raycast({ ...down(1), origin: [-1, 1, 5] })).toBeNull();
  expect(tracker.untracked.get(line)?.code).toBe('BAD_DATA');
});

test('one without segments is left out until it has some', async () => {
  const empty = new LineSegments2();
  const tracker = await track(service, new Scene().add(empty));
  expect(tracker.untracked.get(empty)?.code).toBe('BAD_DATA');
  empty.geometry = new LineSegmentsGeometry().setPositions([-1, 0, 0, 1, 0, 0]);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect((await tracker.pick(SIZE.width / 2, SIZE.height / 2))?.object).toBe(empty);
});

test('one that stays as it is is built once, and anew where it changes', async () => {
  const addMesh = vi.spyOn(service, 'addMesh');
  const updateMesh = vi.spyOn(service, 'updateMesh');
  const positions = [-1, 0, 0, 1, 0, 0];
  const [line, other] = [1, 2].map(() => new LineSegments2(new LineSegmentsGeometry().setPositions(positions)));
  const tracker = await track(service, new Scene().add(line, other));
  const built = async () => {
    for (let i = 0; i < 5; i++) await tracker.update(frontCamera(), SIZE);
    const calls = addMesh.mock.calls.length + updateMesh.mock.calls.length;
    addMesh.mockClear();
    updateMesh.mockClear();
    return calls;
  };
  expect(await built()).toBe(2);
  expect(await built()).toBe(0);
  line.geometry.attributes.instanceStart.setX(0, -3);
  line.geometry.attributes.instanceStart.needsUpdate = true;
  expect(await built()).toBe(1);
  expect(await built()).toBe(0);
});
