// Rays of the tracker, against three's Raycaster.
import type { SceneTarget } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  Ray,
  Scene,
  Vector3,
} from 'three';
import { describe, expect, test } from 'vitest';
import { addForeignObjects, createCrowdedScene, meshesIn, RADIUS } from '../fixtures/crowded-scene.js';
import { service, withService } from '../fixtures/each-service.js';
import {
  frontCamera,
  randomRaycaster,
  raycastVisible,
  rayFaults,
  SIZE,
  settle,
  track,
} from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

describe(`raycast and raycastAll are three's Raycaster, seed ${SEED}`, () => {
  test.each([0, 1, 2])('in random scene %i, among strangers: 200 rays', async (number) => {
    const random = new Random(1000 * SEED + number);
    const root = createCrowdedScene(random);
    if (number > 0) await addForeignObjects(random, 60);
    const tracker = await track(service, root);
    let hits = 0;
    for (let i = 0; i < 200; i++) {
      const raycaster = randomRaycaster(random, RADIUS);
      const { near: tMin, far: tMax } = raycaster;
      const { origin, direction } = raycaster.ray;
      const length = random.logRange(1e-3, 1e3);
      const ray =
        tMin === 0 && tMax === Number.POSITIVE_INFINITY && random.chance(0.5)
          ? raycaster.ray
          : { origin: origin.toArray(), direction: direction.clone().multiplyScalar(length), tMin, tMax };
      const options = { layers: raycaster.layers.mask };
      const [nearest, all] = await Promise.all([tracker.raycast(ray, options), tracker.raycastAll(ray, options)]);
      expect(rayFaults(raycaster, root, nearest, all), `ray ${i}`).toEqual([]);
      hits += all.length;
    }
    expect(hits).toBeGreaterThan(50);
  });

  test('while what they hit leaves the scene', async () => {
    const random = new Random(SEED);
    const root = createCrowdedScene(random);
    await addForeignObjects(random, 60);
    const tracker = await track(service, root);
    let gone = 0;
    for (let i = 0; i < 60; i++) {
      const raycaster = randomRaycaster(random, RADIUS);
      const { ray, near: tMin, far: tMax } = raycaster;
      const given = { origin: ray.origin, direction: ray.direction, tMin, tMax };
      const options = { layers: raycaster.layers.mask };
      const answers = [tracker.raycast(given, options), tracker.raycastAll(given, options)] as const;
      const expected = raycastVisible(raycaster, root);
      const left = random.chance(0.7) && expected.length > 0 ? expected[0].object : random.pick(meshesIn(root));
      const parent = left.parent!;
      left.removeFromParent();
      const update = tracker.update(frontCamera(), SIZE);
      const [nearest, all] = await Promise.all(answers);
      // A foreign object in the way takes a second query, in the scene as it is then.
      if (nearest?.object !== expected[0]?.object) expect(expected[0]?.object).toBe(left);
      expect(all.length).toBe(expected.length);
      if (all.some(({ object }) => object === left)) gone++;
      await update;
      parent.add(left);
      await settle(tracker, frontCamera());
    }
    expect(gone).toBeGreaterThan(3);
  });
});

describe('raycast', () => {
  const ray = new Ray(new Vector3(0.1, 0.2, 10), new Vector3(0, 0, -1));

  test('looks past strangers, of which there may be many, and ignores objects, instances and hits', async () => {
    const [first, second] = [cube(), new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 3)];
    first.position.z = 4;
    for (let i = 0; i < 3; i++) second.setMatrixAt(i, new Matrix4().makeTranslation(0, 0, -2 * i));
    const tracker = await track(service, new Scene().add(first, second));
    for (let i = 0; i < 20; i++) {
      const matrix = new Matrix4().makeTranslation(0, 0, 8 - i).elements;
      service.addObject({ shape: { type: 'sphere', radius: 0.6 }, matrix, contacts: 'none' });
    }
    const hit = (await tracker.raycast(ray))!;
    expect(hit).toMatchObject({ object: first, distance: 5 });
    const after = async (...ignore: SceneTarget[]) => {
      const found = await tracker.raycast(ray, { ignore });
      expect((await tracker.raycastAll(ray, { ignore }))[0]).toEqual(found ?? undefined);
      return found && [found.object, found.instanceId];
    };
    expect(await after(hit)).toEqual([second, 0]);
    expect(await after(first, { object: second, instanceId: 0 })).toEqual([second, 1]);
    expect(await after(first, { object: second, instanceId: 0 }, { object: second, instanceId: 2 })).toEqual([
      second,
      1,
    ]);
    expect(await after(first, { object: second, instanceId: 1 }, { object: second, instanceId: 0 })).toEqual([
      second,
      2,
    ]);
    expect(await after(first, second)).toBeNull();
    expect(await after(first, { object: second })).toBeNull();
    // Ignoring objects outside the scene has no effect: other objects,
    // a group with its descendants, an instance number too large.
    for (const other of [cube(), first.parent!, { object: second, instanceId: 3 }]) {
      expect(await after(other)).toEqual([first, undefined]);
    }
  });

  test('sides, layers, precision, lengths, nothing', async () => {
    const object = new Mesh(new PlaneGeometry(2, 2), new MeshBasicMaterial({ side: BackSide }));
    const tracker = await track(service, object);
    expect(await tracker.raycast(ray)).toBeNull();
    expect(await tracker.raycast(ray, { side: 'double' })).toMatchObject({ object, distance: 10 });
    expect(await tracker.raycast(ray, { side: 'front' })).toMatchObject({ object, distance: 10 });
    expect(await tracker.raycast(ray, { side: 'back' })).toBeNull();
    const back = { origin: [0.1, 0.2, -10] as const, direction: new Vector3(0, 0, 3) };
    const hit = await tracker.raycast(back);
    expect(hit).toMatchObject({ object, distance: 10, faceIndex: 0 });
    expect(hit!.normal!.z).toBeCloseTo(-1, 6); // towards where the ray came from
    expect(await tracker.raycast({ ...back, tMax: 9.9 })).toBeNull();
    expect(await tracker.raycast({ ...back, tMin: 10.1 })).toBeNull();
    expect(await tracker.raycast(back, { layers: 2 })).toBeNull();
    object.layers.set(5);
    await tracker.update(frontCamera(), SIZE);
    expect(await tracker.raycast(back)).toMatchObject({ object });
    const bounds = await tracker.raycast(ray, { precision: 'sphere', side: 'front' });
    expect(bounds).toMatchObject({ object, face: null, faceIndex: null });
    expect(bounds!.distance).toBeLessThan(9);
    object.visible = false;
    await tracker.update(frontCamera(), SIZE);
    expect(await tracker.raycast(back)).toBeNull();
  });

  test('mixed sides of one object are those of its materials', async () => {
    const sides = [FrontSide, BackSide, FrontSide, DoubleSide, DoubleSide, BackSide];
    const materials = sides.map((side) => new MeshBasicMaterial({ side }));
    const object = new Mesh(new BoxGeometry(2, 2, 2), materials);
    const tracker = await track(service, object);
    const faces = async (options = {}) =>
      (await tracker.raycastAll(ray, options)).map(({ face }) => face?.materialIndex);
    expect(await faces()).toEqual([4, 5]);
    expect(await faces({ side: 'front' })).toEqual([4]);
    expect(await faces({ ignore: [object] })).toEqual([]);
  });

  test('bad rays, options and ignore entries are named; signals abort', async () => {
    const object = cube();
    const tracker = await track(service, object);
    const faults: [Record<string, unknown> | unknown, object, string][] = [
      [undefined, {}, 'raycast: ray is undefined, expected an object'],
      [{ origin: [0, 0, 0], direction: [0, 0, 0] }, {}, 'raycast: ray.direction is [0, 0, 0], expected'],
      [{ origin: new Vector3(0, Number.NaN, 0), direction: [1, 0, 0] }, {}, 'raycast: ray.origin.y is NaN'],
      [{ origin: [0, 0], direction: [1, 0, 0] }, {}, 'raycast: ray.origin is [0, 0], expected 3 numbers'],
      [{ origin: 3, direction: [1, 0, 0] }, {}, 'raycast: ray.origin is 3, expected 3 numbers'],
      [{ ...ray, tMin: 2, tMax: 1 }, {}, 'raycast: ray.tMax is 1'],
      [ray, { view: 'main' }, 'raycast: options has the unknown key "view"'],
      [ray, { side: 'both' }, 'raycast: side is "both"'],
      [ray, { ignore: object }, 'raycast: ignore is an object, expected an array'],
      [ray, { ignore: [object, null] }, 'raycast: ignore[1] is null, expected an Object3D or { object, instanceId }'],
      [ray, { ignore: [7] }, 'raycast: ignore[0] is 7'],
      [ray, { ignore: [{ object: {} }] }, 'raycast: ignore[0] is an object'],
      [ray, { ignore: [{ object, instanceId: 0 }] }, 'raycast: ignore[0].instanceId is 0, expected none'],
      [
        ray,
        { ignore: [{ object: new InstancedMesh(object.geometry, object.material, 1), instanceId: -1 }] },
        'raycast: ignore[0].instanceId is -1, expected an integer',
      ],
    ];
    for (const [given, options, message] of faults) {
      const answer = tracker.raycast(given as Ray, options);
      await expect(answer).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(message),
      });
    }
    for (const ignore of [[null], [{ object, instanceId: 0.5 }]] as never[]) {
      for (const name of ['pick', 'pickAll'] as const) {
        const answer = tracker[name](1, 1, { ignore });
        await expect(answer).rejects.toMatchObject({
          code: 'INVALID_ARGUMENT',
          message: expect.stringContaining(`${name}: ignore[0]`),
        });
      }
    }
    const signal = AbortSignal.abort();
    await expect(tracker.raycast(ray, { signal })).rejects.toMatchObject({ code: 'ABORTED' });
    tracker.dispose();
    await expect(tracker.raycast(ray)).rejects.toMatchObject({ code: 'DISPOSED' });
  });
});
