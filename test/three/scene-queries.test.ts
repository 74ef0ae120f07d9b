// The tracker's queries in terms of objects, against the service's results in ids, and against three.
import { type SceneObject, type SceneTarget, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  Group,
  InstancedMesh,
  type Intersection,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import {
  addForeignObjects,
  createCrowdedScene,
  objectsWithIds,
  RADIUS,
  trackedObjects,
} from '../fixtures/crowded-scene.js';
import { service, withService } from '../fixtures/each-service.js';
import { distanceTo, faceOf } from '../fixtures/three-faces.js';
import { frontCamera, randomCamera, SIZE, settle, track } from '../fixtures/three-picks.js';
import { cube, place, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const EVERYTHING = { x: 0, y: 0, ...SIZE };

const nameOf = ({ object, instanceId }: SceneObject) => `${object.name} ${instanceId ?? ''}`;

describe(`as the service in ids, seed ${SEED}`, () => {
  test.each([0, 1])(
    'overlap, containing, closestPoint, lineOfSight in random scene %i, then among strangers',
    async (number) => {
      const random = new Random(1000 * SEED + number);
      const root = createCrowdedScene(random);
      const tracker = await track(service, root);
      const parts = objectsWithIds(tracker, root);
      const questions = Array.from({ length: 80 }, () => {
        const ignored = random.chance(0.3) ? parts.filter(() => random.chance(0.3)) : [];
        const placement = random.placement(random.point(RADIUS), { low: 0.5, high: 2, mirrored: 0.3, sheared: 0.3 });
        const point = random.point(1.2 * RADIUS);
        return { ignored, placement, point, to: random.point(1.2 * RADIUS), layers: random.pick([-1, 1, 2]) };
      });
      const ask = (each: (typeof questions)[number]) => {
        const options = { layers: each.layers, ignore: each.ignored };
        const shape = { type: 'box', halfExtents: [1, 0.8, 0.6] } as const;
        return Promise.all([
          tracker.overlap(shape, each.placement, options),
          tracker.containing(each.point, options),
          tracker.closestPoint(each.point, options),
          tracker.lineOfSight(each.point, each.to, options),
        ] as const);
      };
      const before = [];
      let found = 0;
      for (const each of questions) {
        const options = { layers: each.layers, ignore: each.ignored.map(({ id }) => id) };
        const [point, to] = [each.point.toArray(), each.to.toArray()];
        const shape = { type: 'box', halfExtents: [1, 0.8, 0.6] } as const;
        const [met, around, nearest, isClear] = await ask(each);
        expect(met).toEqual(trackedObjects(tracker, await service.overlap(shape, each.placement.elements, options)));
        expect(around).toEqual(trackedObjects(tracker, await service.containing(point, options)));
        expect(isClear).toBe(await service.lineOfSight(point, to, options));
        const expected = await service.closestPoint(point, options);
        if (expected === null) expect(nearest).toBeNull();
        else {
          const { object, instanceId } = tracker.objectOf(expected.object);
          expect(nearest).toMatchObject({ object, instanceId, distance: expected.distance });
          expect(nearest!.point.toArray()).toEqual(expected.point);
          // The face is the geometry's face that contains the point.
          const face = faceOf(object, instanceId, nearest!.faceIndex!);
          expect(distanceTo(face, nearest!.point)).toBeLessThan(1e-5);
          expect(distanceTo(face, each.point)).toBeCloseTo(nearest!.distance, 4);
        }
        found += met.length + around.length;
        before.push([met, around, nearest, isClear]);
      }
      expect(found).toBeGreaterThan(10);
      expect(new Set(before.map(([, , , isClear]) => isClear)).size).toBe(2);

      const strangers = await addForeignObjects(random, 300);
      for (const [i, each] of questions.entries()) {
        const answer = ask(each);
        if (i % 2 === 1) service.removeObject(strangers.pop()!); // while the query is on its way
        expect(await answer).toEqual(before[i]);
      }
    },
  );

  test('closestPoint: no farther than it is told, in solids, on shapes, past strangers around the point', async () => {
    const [solid, ball] = [cube(), cube()];
    ball.position.x = 10;
    const tracker = await trackScene(service, new Scene().add(solid, ball), {
      objectOptions: (object) => ({ solid: object === solid }),
      shapeOf: (object) => (object === ball ? { type: 'sphere', radius: 1 } : undefined),
    });
    await tracker.update(frontCamera(), SIZE);
    for (let i = 0; i < 30; i++) service.addObject({ shape: { type: 'sphere', radius: 20 + i }, contacts: 'none' });
    expect(await tracker.closestPoint([0.5, 0, 0])).toMatchObject({ object: solid, distance: 0, faceIndex: null });
    expect(await tracker.closestPoint([0, 4, 0])).toMatchObject({ object: solid, distance: 3 });
    expect(await tracker.closestPoint({ x: 14, y: 0, z: 0 })).toEqual({
      object: ball,
      instanceId: undefined,
      distance: 3,
      point: new Vector3(11, 0, 0),
      face: null,
      faceIndex: null,
    });
    expect(await tracker.closestPoint([0, 4, 0], { maxDistance: 2.9 })).toBeNull();
    expect(await tracker.closestPoint([0, 4, 0], { maxDistance: 3 })).toMatchObject({ object: solid });
    await expect(tracker.closestPoint([0, 4, 0], { maxDistance: -1 })).rejects.toThrowError(/maxDistance is -1/);
    expect(await tracker.containing([0, 0, 0])).toEqual([{ object: solid, instanceId: undefined }]);
    expect(await tracker.overlap({ type: 'sphere', radius: 0.1 })).toEqual([{ object: solid, instanceId: undefined }]);
  });

  test('closestPoint looks past a crowd of strangers in a few questions, and past those that are gone by then', async () => {
    const object = cube();
    object.position.x = 500;
    const tracker = await track(service, object);
    const strangers = Array.from({ length: 400 }, (_, i) => {
      const matrix = new Matrix4().makeTranslation(i + 3, 0, 0).elements;
      return service.addObject({ shape: { type: 'sphere', radius: 0.4 }, matrix, contacts: 'none' });
    });
    const asked = vi.spyOn(service, 'closestPoint');
    const answer = tracker.closestPoint([0, 0, 0]);
    // One after another, while the answers are on their way.
    const removal = setInterval(() => strangers.length > 0 && service.removeObject(strangers.shift()!), 0);
    expect(await answer).toMatchObject({ object, distance: 499 });
    clearInterval(removal);
    expect(asked.mock.calls.length).toBeLessThan(15);
  });

  test('lineOfSight from the side that shows; a point and itself; bad points', async () => {
    const object = new Mesh(new PlaneGeometry(2, 2));
    const tracker = await track(service, object);
    const [front, back] = [new Vector3(0.1, 0.2, 5), new Vector3(0.1, 0.2, -5)];
    expect(await tracker.lineOfSight(front, back)).toBe(false);
    expect(await tracker.lineOfSight(back, front)).toBe(true);
    expect(await tracker.lineOfSight(back, front, { side: 'double' })).toBe(false);
    expect(await tracker.lineOfSight(front, back, { side: 'back' })).toBe(true);
    expect(await tracker.lineOfSight(front, back, { ignore: [object] })).toBe(true);
    expect(await tracker.lineOfSight([0, 0, 0], [0, 0, 0])).toBe(true);
    await expect(tracker.lineOfSight(front, { x: 1, y: 2 } as Vector3)).rejects.toThrowError(/to\.z is undefined/);
    await expect(tracker.lineOfSight([1e308, 0, 0], [-1e308, 0, 0])).rejects.toThrowError(/lineOfSight: to is/);
  });

  test('what leaves while a question is on its way is in the answer', async () => {
    const [object, other] = [cube(), cube(0.5)];
    other.position.x = 0.8;
    const root = new Scene().add(object, other);
    const tracker = await track(service, root);
    const answers = Promise.all([
      tracker.overlap({ type: 'sphere', radius: 1.1 }, undefined, { ignore: [other] }),
      tracker.containing(new Vector3(0, 0, 0)),
      tracker.closestPoint([0, 5, 0]),
      tracker.contact(object, other),
      tracker.distance(object, other),
      tracker.pickRegion(EVERYTHING, { instances: true }),
      tracker.lineOfSight([-5, 0.1, 0.1], [5, 0.1, 0.1]),
    ]);
    root.clear();
    const update = tracker.update(frontCamera(), SIZE);
    const [met, around, nearest, contact, distance, region, isClear] = await answers;
    expect(met).toEqual([{ object, instanceId: undefined }]);
    expect(around).toEqual(met);
    expect(nearest).toMatchObject({ object, distance: 4 });
    expect(contact).toMatchObject({ a: { object }, b: { object: other } });
    expect(distance).toMatchObject({ a: { object }, b: { object: other }, distance: 0 });
    expect(region.map(({ object: each }) => each)).toEqual([object, other]);
    expect(isClear).toBe(false);
    await update;
    expect(await tracker.overlap({ type: 'sphere', radius: 2 })).toEqual([]);
    expect(await tracker.closestPoint([0, 5, 0])).toBeNull();
  });
});

test(`distance is the service's in both orders, with numbers of faces, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const root = randomScene(random, { objects: 40, radius: 3 });
  const tracker = await track(service, root);
  const parts = objectsWithIds(tracker, root);
  let apart = 0;
  for (let i = 0; i < 150; i++) {
    const [first, second] = [random.pick(parts), random.pick(parts)];
    if (first.id === second.id) continue;
    const targets = [first, second].map((part) => (part.instanceId === undefined ? part.object : part));
    const [found, expected] = await Promise.all([
      tracker.distance(targets[0], targets[1]),
      service.distance(first.id, second.id),
    ]);
    if (expected === null || found === null) {
      expect(found).toBe(expected);
      continue;
    }
    const { distance, pointA, pointB, triangleA, triangleB, frame } = expected;
    const points = { pointA: new Vector3(...pointA), pointB: new Vector3(...pointB) };
    expect(found).toMatchObject({ distance, frame, ...points });
    expect([found.faceIndexA === null, found.faceIndexB === null]).toEqual([triangleA < 0, triangleB < 0]);
    if (distance > 0) apart++;
    expect((await tracker.distance(targets[0], targets[1], { maxDistance: distance * 0.9 })) === null).toBe(
      distance > 0,
    );
  }
  expect(apart).toBeGreaterThan(20);
  const [{ object }] = parts;
  await expect(tracker.distance(object, object, { maxDistance: -1 })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

describe('contact', () => {
  test(`is the service's in both orders, with numbers of faces, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 40, radius: 3 });
    const tracker = await track(service, root);
    const parts = objectsWithIds(tracker, root);
    let [touching, faces] = [0, 0];
    for (let i = 0; i < 400; i++) {
      const [first, second] = [random.pick(parts), random.pick(parts)];
      if (first.id === second.id) continue;
      const detail = random.pick(['bounds', 'bones', 'any', 'manifold', 'triangles', 'full'] as const);
      const targets = [first, second].map((part) => (part.instanceId === undefined ? part.object : part));
      const found = await tracker.contact(targets[0], targets[1], { detail });
      const expected = await service.contact(first.id, second.id, { detail });
      if (expected === null || found === null) {
        expect(found).toBe(expected);
        continue;
      }
      const { triangles, bones, boxes, a, b, ms: _, ...rest } = found;
      const { triangles: counted, bones: none, a: idA, b: idB, ms, ...others } = expected;
      expect(rest).toEqual(others);
      expect([bones.length, boxes.length, none.length]).toEqual([0, 0, 0]);
      expect([a, b]).toEqual([first, second].map(({ object, instanceId }) => ({ object, instanceId })));
      expect([idA, idB]).toEqual([first.id, second.id]);
      expect(triangles.length).toBe(counted.length);
      for (let j = 0; j < triangles.length; j++) {
        const { object, instanceId } = j % 2 === 0 ? first : second;
        const face = faceOf(object, instanceId, triangles[j]);
        const at = 6 * (j >> 1);
        for (const end of [at, at + 3]) {
          expect(distanceTo(face, new Vector3().fromArray(found.segments, end))).toBeLessThan(1e-5);
        }
        faces++;
      }
      touching++;
    }
    expect(touching).toBeGreaterThan(30);
    expect(faces).toBeGreaterThan(100);
  });

  test('normals lead from the first to the second; one inside the other', async () => {
    const [left, right, inner] = [cube(), cube(), cube(0.5)];
    right.position.x = 1.5;
    const tracker = await trackScene(service, new Scene().add(left, right, inner), {
      objectOptions: (object) => ({ solid: object === left }),
    });
    await tracker.update(frontCamera(), SIZE);
    const there = (await tracker.contact(left, right))!;
    const back = (await tracker.contact(right, left))!;
    expect(there.normals.subarray(0, 3)).toEqual(Float32Array.of(1, 0, 0));
    expect(back.normals.subarray(0, 3).map((each) => each + 0)).toEqual(Float32Array.of(-1, 0, 0));
    expect(there.depths[0]).toBeCloseTo(0.5, 6);
    expect(await tracker.contact(left, inner)).toMatchObject({ contained: 2, a: { object: left } });
    expect(await tracker.contact(inner, left)).toMatchObject({ contained: 1, a: { object: inner } });
  });

  test('what is not there touches nothing: hidden, without a place, pending, removed, of another scene', async () => {
    const [object, other] = [cube(), cube()];
    const parent = new Group().add(other);
    const crowd = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2);
    crowd.setMatrixAt(0, new Matrix4().makeTranslation(0.9, 0.5, 0));
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(0.9, 0, 0));
    const root = new Scene().add(object, parent, crowd);
    const tracker = await track(service, root);
    const instance = { object: crowd, instanceId: 1 };
    const touches = async () => (await tracker.contact(object, other)) !== null;
    expect(await touches()).toBe(true);
    expect(await tracker.contact(object, instance)).not.toBeNull();
    expect(await tracker.contact({ object: crowd, instanceId: 0 }, instance)).not.toBeNull();
    const frame = () => tracker.update(frontCamera(), SIZE);

    parent.visible = false;
    await frame();
    expect(await touches()).toBe(false);
    parent.visible = true;
    await frame();
    expect(await touches()).toBe(true);
    crowd.setMatrixAt(1, new Matrix4().makeScale(0, 0, 0));
    crowd.instanceMatrix.needsUpdate = true;
    await frame();
    await frame();
    expect(await tracker.contact(instance, object)).toBeNull();
    expect(await tracker.contact(object, { object: crowd, instanceId: 2 })).toBeNull();
    const late = new Mesh(new BoxGeometry(2, 2, 2));
    expect(await tracker.contact(object, late)).toBeNull();
    root.add(late);
    const update = frame();
    expect(tracker.pending).toEqual([late]);
    expect(await tracker.contact(late, object)).toBeNull();
    expect(await tracker.sees([late])).toEqual([]);
    await update;
    await settle(tracker, frontCamera());
    expect(await tracker.contact(late, object)).not.toBeNull();
    root.remove(late);
    await frame();
    expect(await tracker.contact(late, object)).toBeNull();
    const aborted = { signal: AbortSignal.abort() };
    for (const each of [late, other]) {
      await expect(tracker.contact(object, each, aborted)).rejects.toMatchObject({ code: 'ABORTED' });
    }
    parent.visible = false;
    await frame();
    await expect(tracker.contact(object, other, aborted)).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('what cannot be asked is named', async () => {
    const object = cube();
    const crowd = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 2);
    const root = new Scene().add(object, crowd);
    const tracker = await track(service, root);
    const faults: [unknown, unknown, object, string][] = [
      [root, object, {}, 'contact: a is "Scene", expected a Mesh'],
      [object, new Group(), {}, 'contact: b is "Group", expected a Mesh'],
      [object, crowd, {}, 'contact: b is "InstancedMesh", expected one instance'],
      [object, object, {}, 'contact: b is an object, expected another object or instance than a'],
      [
        { object: crowd, instanceId: 1 },
        { object: crowd, instanceId: 1 },
        {},
        'contact: b is an object, expected another',
      ],
      [object, null, {}, 'contact: b is null'],
      [object, cube(), { detail: 'none' }, 'contact: detail is "none"'],
      [object, cube(), { detail: 'most' }, 'contact: detail is "most"'],
      [object, cube(), { ignore: [] }, 'contact: options has the unknown key "ignore"'],
    ];
    for (const [a, b, options, message] of faults) {
      const answer = tracker.contact(a as Mesh, b as Mesh, options);
      await expect(answer).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(message),
      });
    }
    await expect(tracker.sees([object, root])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('sees: targets[1] is "Scene"'),
    });
    await expect(tracker.sees(object as never)).rejects.toThrowError(/sees: targets is an object, expected an array/);
    await expect(tracker.sees([object], { view: 'none' })).rejects.toThrowError(/sees: view is "none"/);
  });
});

describe('sees', () => {
  test(`is the service's, past strangers, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = createCrowdedScene(random, 60);
    const camera = randomCamera(random, RADIUS);
    camera.layers.enable(1);
    const tracker = await track(service, root, camera);
    const parts = objectsWithIds(tracker, root);
    const questions = Array.from({ length: 12 }, () => {
      const targets = parts.filter(() => random.chance(0.4));
      return { targets, ignore: parts.filter(() => random.chance(0.1)) };
    });
    const before = [];
    let seen = 0;
    for (const { targets, ignore } of questions) {
      const found = await tracker.sees(targets, { ignore });
      const ids = targets.map(({ id }) => id);
      const layers = camera.layers.mask;
      const { points } = await service.sees('main', ids, { ignore: ignore.map(({ id }) => id), layers });
      const expected = targets.flatMap(({ object, instanceId }, i) =>
        points[i] > 0 ? [{ object, instanceId, points: points[i] }] : [],
      );
      expect(found).toEqual(expected);
      seen += found.length;
      before.push(found);
    }
    expect(seen).toBeGreaterThan(10);
    await addForeignObjects(random, 300);
    for (const [i, { targets, ignore }] of questions.entries()) {
      expect(await tracker.sees(targets, { ignore })).toEqual(before[i]);
    }
    // They do block the service's own query.
    const all = parts.map(({ id }) => id);
    const { points } = await service.sees('main', all, { layers: camera.layers.mask });
    const own = await tracker.sees(parts);
    expect(own.reduce((sum, each) => sum + each.points, 0)).toBeGreaterThan(
      points.reduce((sum, each) => sum + each, 0),
    );
  });

  test('whole InstancedMeshes by their instances, in the order that was asked; views and their layers', async () => {
    const [near, wall, far] = [cube(1), new Mesh(new PlaneGeometry(3, 3)), cube(1)];
    near.position.z = 3;
    wall.layers.set(4);
    far.position.z = -3;
    const crowd = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 3);
    for (let i = 0; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 3, 0));
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(500, 0, 0));
    const tracker = await track(service, new Scene().add(near, wall, far, crowd));
    const names = async (targets: SceneTarget[], options = {}) =>
      (await tracker.sees(targets, options)).map(({ object, instanceId, points }) => [object, instanceId, points]);
    expect(await names([crowd, near])).toEqual([
      [crowd, 0, 9],
      [crowd, 2, 9],
      [near, undefined, 9],
    ]);
    expect(await names([{ object: crowd, instanceId: 2 }])).toEqual([[crowd, 2, 9]]);
    expect(await names([{ object: crowd, instanceId: 1 }])).toEqual([]);
    // The wall is not drawn by this camera, and the near one hides the far one.
    expect(await names([far], { ignore: [near] })).toEqual([[far, undefined, 9]]);
    expect(await names([far], { ignore: [near], layers: -1 })).toEqual([]);
    expect(await names([wall])).toEqual([]);
    const eye = new PerspectiveCamera(60, 1, 0.1, 100);
    eye.position.z = 1.5;
    eye.layers.enableAll();
    tracker.setView(eye, { width: 10, height: 10 }, 'eye');
    expect(await names([near, wall, far], { view: 'eye' })).toEqual([[wall, undefined, 9]]);
    // A foreign object in front of the eye is ignored, of whatever kind.
    const matrix = new Matrix4().makeTranslation(0, 0, 0.5).elements;
    const stranger = service.addObject({ shape: { type: 'box', halfExtents: [5, 5, 0.1] }, matrix, cullable: false });
    expect((await service.sees('eye', tracker.idsOf(wall))).points).toEqual(Uint8Array.of(0));
    expect(await names([near, wall, far], { view: 'eye' })).toEqual([[wall, undefined, 9]]);
    // The query used the view at the time of the call.
    const answer = names([wall], { view: 'eye' });
    service.removeObject(stranger);
    eye.position.z = -10;
    eye.rotation.y = Math.PI / 2;
    tracker.setView(eye, { width: 10, height: 10 }, 'eye');
    expect(await answer).toEqual([[wall, undefined, 9]]);
    expect(await names([wall], { view: 'eye' })).toEqual([]);
    near.visible = false;
    await tracker.update(frontCamera(), SIZE);
    expect(await names([near, far])).toEqual([[far, undefined, 9]]);
  });
});

describe('pickRegion', () => {
  test(`lists instances where it is asked to, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = createCrowdedScene(random, 25);
    const camera = randomCamera(random, RADIUS);
    camera.layers.enable(1);
    await addForeignObjects(random, 20);
    const tracker = await track(service, root, camera);
    const parts = objectsWithIds(tracker, root);
    let found = 0;
    for (let i = 0; i < 4; i++) {
      const rect = { x: random.range(100, 300), y: random.range(50, 250), width: 400, height: 300 };
      const mode = random.pick(['touch', 'enclose'] as const);
      const parted: SceneObject[] = await tracker.pickRegion(rect, { mode, instances: true });
      const whole: Object3D[] = await tracker.pickRegion(rect, { mode, instances: false });
      expect([...new Set(parted.map(({ object }) => object))]).toEqual(whole);
      // Each separately, with all others ignored.
      const alone = await Promise.all(
        parts.map((part) => tracker.pickRegion(rect, { mode, ignore: parts.filter((other) => other !== part) })),
      );
      const expected = parts.filter((_, j) => alone[j].length > 0).sort((a, b) => a.id - b.id);
      expect(parted.map(nameOf)).toEqual(expected.map(nameOf));
      found += parted.length;
    }
    expect(found).toBeGreaterThan(5);
    const wrong = tracker.pickRegion(EVERYTHING, { instances: 1 as never });
    await expect(wrong).rejects.toThrowError(/pickRegion: instances is 1, expected a boolean/);
  });

  test('an instance with faces of several sides is there once', async () => {
    const sides = [FrontSide, DoubleSide, BackSide, FrontSide, DoubleSide, FrontSide];
    const materials = sides.map((side) => new MeshBasicMaterial({ side }));
    const crowd = new InstancedMesh(new BoxGeometry(), materials, 3);
    for (let i = 0; i < 3; i++) crowd.setMatrixAt(i, new Matrix4().makeTranslation(2 * i - 2, 0, 0));
    const single = new Mesh(new BoxGeometry(), materials);
    place(single, new Random(SEED), 1);
    single.position.set(0, 2, 0);
    const tracker = await track(service, new Scene().add(crowd, single));
    const expected = [0, 1, 2].map((instanceId): SceneObject => ({ object: crowd, instanceId }));
    expected.push({ object: single, instanceId: undefined });
    const found = await tracker.pickRegion(EVERYTHING, { instances: true });
    expect(found).toEqual(expected);
    const hit: Intersection = (await tracker.pick(SIZE.width / 2, SIZE.height / 2))!;
    expect(await tracker.pickRegion(EVERYTHING, { instances: true, ignore: [hit] })).toEqual(
      expected.filter(({ instanceId }) => instanceId !== 1),
    );
    expect(await tracker.pickRegion(EVERYTHING, { ignore: [hit] })).toEqual([crowd, single]);
  });
});
