import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PlaneGeometry,
  Scene,
  type Side,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, randomCamera, SIZE, track } from '../fixtures/three-picks.js';
import { cube, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const EVERYTHING = { x: 0, y: 0, ...SIZE };

/** A row of cubes along x, two apart; the middle one is at the centre of the image. */
function row(count: number): Mesh[] {
  return Array.from({ length: count }, (_, i) => {
    const each = cube(1);
    each.position.x = 2 * (i - (count - 1) / 2);
    return each;
  });
}

/** A rectangle from one world point to another, as the front camera draws them. */
function rectOf(a: Vector3, b: Vector3): { x: number; y: number; width: number; height: number } {
  const camera = frontCamera();
  camera.updateMatrixWorld();
  const [from, to] = [a, b].map((point) => {
    const { x, y } = point.clone().project(camera);
    return { x: ((x + 1) / 2) * SIZE.width, y: ((1 - y) / 2) * SIZE.height };
  });
  return { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
}

describe('pickRegion', () => {
  test('touches or encloses, hidden objects included, in the order of their ids', async () => {
    const cubes = row(5);
    const behind = cube(0.5);
    behind.position.z = -3;
    const tracker = await track(service, new Scene().add(...cubes, behind));
    const ids = (objects: Object3D[]) => objects.map((object) => tracker.idsOf(object)[0]);
    const inOrder = (...objects: Object3D[]) => objects.toSorted((a, b) => ids([a])[0] - ids([b])[0]);
    // From the centre of the second to the centre of the fourth.
    const rect = rectOf(new Vector3(-2, 1, 0.5), new Vector3(2, -1, 0.5));
    expect(await tracker.pickRegion(rect)).toEqual(inOrder(cubes[1], cubes[2], cubes[3], behind));
    expect(await tracker.pickRegion(rect, { mode: 'enclose' })).toEqual(inOrder(cubes[2], behind));
    const { x, y, width, height } = rect;
    const turned = { x: x + width, y: y + height, width: -width, height: -height };
    expect(await tracker.pickRegion(turned)).toEqual(await tracker.pickRegion(rect));
    expect(await tracker.pickRegion({ x: -50, y: -50, width: 40, height: 40 })).toEqual([]);
    expect(await tracker.pickRegion(rect, { ignore: [behind, cubes[1]] })).toEqual(inOrder(cubes[2], cubes[3]));
    cubes[2].layers.set(4);
    await tracker.update(frontCamera(), SIZE);
    expect(await tracker.pickRegion(rect, { mode: 'enclose' })).toEqual([behind]);
    expect(await tracker.pickRegion(rect, { layers: 1 << 4 })).toEqual([cubes[2]]);
  });

  test('takes a lasso', async () => {
    const cubes = row(3);
    const tracker = await track(service, new Scene().add(...cubes));
    const { x, y, width, height } = rectOf(new Vector3(-3, 1, 0), new Vector3(-1, -1, 0));
    // A triangle around the first, whose hypotenuse passes by the others.
    const lasso = new Float32Array([x - width, y - height, x + 2 * width, y - height, x - width, y + 2 * height]);
    expect(await tracker.pickRegion(lasso)).toEqual([cubes[0]]);
  });

  const SIDES: [name: string, side: Side, turned: boolean, shown: boolean][] = [
    ['FrontSide, seen from the front', FrontSide, false, true],
    ['FrontSide, seen from behind', FrontSide, true, false],
    ['BackSide, seen from the front', BackSide, false, false],
    ['BackSide, seen from behind', BackSide, true, true],
    ['DoubleSide, seen from behind', DoubleSide, true, true],
  ];
  test.each(SIDES)('%s: touches what shows', async (_, side, turned, shown) => {
    const other = new Mesh(
      new PlaneGeometry(),
      new MeshBasicMaterial({ side: side === BackSide ? FrontSide : BackSide }),
    );
    other.rotation.y = side === BackSide ? Math.PI : 0; // never visible, but splits one query into two
    const object = new Mesh(new PlaneGeometry(), new MeshBasicMaterial({ side }));
    object.rotation.y = turned ? Math.PI : 0;
    const tracker = await track(service, new Scene().add(object, other));
    expect(await tracker.pickRegion(EVERYTHING)).toEqual(shown ? [object] : []);
    expect(await tracker.pickRegion(EVERYTHING, { side: 'double' })).toHaveLength(2);
    expect(await tracker.pickRegion(EVERYTHING, { mode: 'enclose' })).toHaveLength(2); // whatever the sides
  });

  test('an InstancedMesh and an object of several sides are there once', async () => {
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
    for (let i = 0; i < 4; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(2 * i - 3, 2, 0));
    const sides = [DoubleSide, FrontSide, FrontSide, FrontSide, FrontSide, FrontSide];
    const mixed = new Mesh(
      new BoxGeometry(),
      sides.map((side) => new MeshBasicMaterial({ side })),
    );
    mixed.position.y = -2;
    const tracker = await track(service, new Scene().add(instances, mixed));
    const all = await tracker.pickRegion(EVERYTHING);
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining([instances, mixed]));
    expect(await tracker.pickRegion(EVERYTHING, { mode: 'enclose' })).toHaveLength(2);
    // All of its right side, which is a separate part in the service, is inside, and some of the others.
    const right = rectOf(new Vector3(0.2, -1, 0.5), new Vector3(2, -3, 0.5));
    expect(await tracker.pickRegion(right)).toEqual([mixed]);
    expect(await tracker.pickRegion(right, { mode: 'enclose' })).toEqual([]);
  });

  test('passes over what is of somebody else, and asks the view that it is told', async () => {
    const [object] = row(1);
    const tracker = await track(service, object);
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    expect(await tracker.pickRegion(EVERYTHING)).toEqual([object]);
    const away = frontCamera();
    away.position.x = 100;
    tracker.setView(away, SIZE, 'away');
    expect(await tracker.pickRegion(EVERYTHING, { view: 'away' })).toEqual([]);
    const region = tracker.pickRegion(EVERYTHING);
    const update = tracker.update(away, SIZE);
    expect(await region).toEqual([object]); // the view at the time of the call
    await update;
  });

  test('with `latest` is answered by the newest that waits, and a signal aborts it', async () => {
    const object = cube();
    const tracker = await track(service, object);
    const nothing = { x: 0, y: 0, width: 1, height: 1 };
    const regions = [nothing, nothing, nothing, EVERYTHING].map((region) =>
      tracker.pickRegion(region, { latest: true }),
    );
    expect(await Promise.all(regions)).toEqual([[], [object], [object], [object]]);
    const aborted = tracker.pickRegion(EVERYTHING, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test(`holds all that rays through it hit, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 50, radius: 6 });
    let touched = 0;
    for (let i = 0; i < 4; i++) {
      const camera = randomCamera(random, 6);
      const tracker = await track(service, root, camera);
      for (let j = 0; j < 6; j++) {
        const [x, y] = [random.next() * SIZE.width, random.next() * SIZE.height];
        const rect = { x, y, width: random.range(-80, 80), height: random.range(-80, 80) };
        const all = new Set(await tracker.pickRegion(rect));
        for (const object of await tracker.pickRegion(rect, { mode: 'enclose', side: 'front' })) {
          expect((await tracker.pickRegion(rect, { side: 'double' })).includes(object)).toBe(true);
        }
        for (let k = 0; k < 10; k++) {
          const hits = await tracker.pickAll(x + random.next() * rect.width, y + random.next() * rect.height);
          for (const { object } of hits) expect(all.has(object)).toBe(true);
          touched += hits.length;
        }
      }
      tracker.dispose();
    }
    expect(touched).toBeGreaterThan(50);
  });
});

describe("pick by method 'screen'", () => {
  test('finds the object whose centre is drawn nearest, within the radius', async () => {
    const cubes = row(3);
    const tracker = await track(service, new Scene().add(...cubes));
    const { x, y } = rectOf(new Vector3(2, 0, 0), new Vector3());
    const hit = (await tracker.pick(x + 6, y + 8, { method: 'screen' }))!;
    expect(Object.keys(hit).sort()).toEqual(['distance', 'object', 'pixels', 'point']);
    expect(hit.object).toBe(cubes[2]);
    expect(hit.pixels).toBeCloseTo(10, 6);
    expect(hit.point.distanceTo(new Vector3(2, 0, 0))).toBeLessThan(1e-6);
    expect(hit.distance).toBeCloseTo(Math.hypot(2, 10), 6);
    expect(await tracker.pick(x + 6, y + 8, { method: 'screen', radius: 9 })).toBeNull();
    const all = await tracker.pickAll(x + 6, y + 8, { method: 'screen', radius: 1000 });
    expect(all.map(({ object }) => object)).toEqual(cubes.toReversed());
    expect(await tracker.pick(x, y, { method: 'screen', ignore: [cubes[2]] })).toBeNull();
  });

  test('finds instances, every object once, and nothing of somebody else', async () => {
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2);
    instances.setMatrixAt(1, new Matrix4().makeTranslation(2, 0, 0));
    const sides = [FrontSide, DoubleSide, BackSide, FrontSide, DoubleSide, FrontSide];
    const mixed = new Mesh(
      new BoxGeometry(),
      sides.map((side) => new MeshBasicMaterial({ side })),
    );
    mixed.position.x = -3;
    const tracker = await track(service, new Scene().add(instances, mixed));
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    await tracker.update(frontCamera(), SIZE);
    const { x, y } = rectOf(new Vector3(2, 0, 0), new Vector3());
    expect(await tracker.pick(x, y, { method: 'screen' })).toMatchObject({ object: instances, instanceId: 1 });
    expect(await tracker.pick(400, 300, { method: 'screen' })).toMatchObject({ object: instances, instanceId: 0 });
    const all = await tracker.pickAll(400, 300, { method: 'screen', radius: 1000 });
    expect(all.map(({ object, instanceId }) => [object, instanceId])).toEqual([
      [instances, 0],
      [instances, 1],
      [mixed, undefined],
    ]);
  });
});

test('pick by precision: bounds stand for an object, and have no face', async () => {
  const object = cube();
  const tracker = await track(service, object);
  const corner = rectOf(new Vector3(1.2, 1.2, 0), new Vector3());
  expect(await tracker.pick(corner.x, corner.y)).toBeNull();
  const hit = await tracker.pick(corner.x, corner.y, { precision: 'sphere' });
  expect(hit).toMatchObject({ object, face: null, faceIndex: null });
  expect(hit!.point.length()).toBeCloseTo(Math.sqrt(3), 6);
  expect(await tracker.pick(corner.x, corner.y, { precision: 'obb' })).toBeNull();
});
