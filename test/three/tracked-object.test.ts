// What a tracked object notices of its own changes, one at a time.
import { NO_OBJECT, type ObjectOptions } from 'collision-worker';
import { boxFromGeometry, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  Scene,
  type Side,
  SkinnedMesh,
  Sphere,
  Vector2,
  WebGPUCoordinateSystem,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, SIZE, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

describe('what is hidden for a matrix without an inverse', () => {
  const ZERO = new Matrix4().makeScale(0, 0, 0);

  test('stays hidden when layers and visibility change, in the new layers once it is back', async () => {
    const crowd = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 2);
    const set = (first: Matrix4): void => {
      crowd.setMatrixAt(0, first);
      crowd.instanceMatrix.needsUpdate = true;
    };
    set(new Matrix4());
    crowd.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
    const single = cube();
    single.position.x = -3;
    const tracker = await track(service, new Scene().add(crowd, single));
    const [instance] = tracker.idsOf(crowd);
    const [id] = tracker.idsOf(single);
    const camera = frontCamera();
    camera.layers.enableAll();
    const seen = async () => {
      await settle(tracker, camera);
      const { result } = await tracker.update(camera, SIZE);
      // Their previous positions, which the service still has.
      const rays = await service.raycastMany(Float32Array.of(0, 0, 9, 0, 0, 0, -1, 20, -3, 0, 9, 0, 0, 0, -1, 20));
      return { views: [...result.visible.ids].sort(), rays: [...rays.objects] };
    };
    const both = [instance, id].sort();
    expect(await seen()).toEqual({ views: both, rays: [instance, id] });

    set(ZERO);
    single.scale.setScalar(0);
    const nothing = { views: [], rays: [NO_OBJECT, NO_OBJECT] };
    expect(await seen()).toEqual(nothing);
    for (const object of [crowd, single]) object.layers.set(3);
    expect(await seen()).toEqual(nothing);
    for (const object of [crowd, single]) object.visible = false;
    expect(await seen()).toEqual(nothing);
    for (const object of [crowd, single]) object.visible = true;
    expect(await seen()).toEqual(nothing);

    set(new Matrix4());
    single.scale.setScalar(1);
    expect(await seen()).toEqual({ views: both, rays: [instance, id] });
    expect((await tracker.pick(400, 300, { layers: 1 << 3 }))?.object).toBe(crowd);
    expect(await tracker.pick(400, 300, { layers: 1 })).toBeNull();
  });
});

describe('a `side` that changes in place in an array of materials', () => {
  const KINDS: Record<string, (look: MeshBasicMaterial[]) => Mesh> = {
    'of a Mesh': (look) => new Mesh(new BoxGeometry(2, 2, 2), look),
    'of an InstancedMesh': (look) => new InstancedMesh(new BoxGeometry(2, 2, 2), look, 1),
  };
  test.each(Object.keys(KINDS))('%s, of all and of one', async (kind) => {
    const look = Array.from({ length: 6 }, () => new MeshBasicMaterial());
    const object = KINDS[kind](look);
    if (object instanceof InstancedMesh) object.setMatrixAt(0, new Matrix4());
    const tracker = await track(service, object);
    const distances = async () => {
      await settle(tracker, frontCamera());
      return (await tracker.pickAll(390, 290)).map(({ distance }) => Math.round(distance));
    };
    const turn = (side: Side, some = look): void => {
      for (const each of some) each.side = side;
    };
    expect(await distances()).toEqual([9]);
    turn(BackSide);
    expect(await distances()).toEqual([11]);
    turn(DoubleSide);
    expect(await distances()).toEqual([9, 11]);
    turn(FrontSide, [look[5]]); // the face behind
    expect(await distances()).toEqual([9]);
    turn(FrontSide);
    expect(await distances()).toEqual([9]);
    expect(service.stats).toMatchObject({ objects: 1, meshes: 1 });
  });
});

test.each([1, 2])('a side that the app has for an object goes before those of its %i materials', async (count) => {
  const look = [FrontSide, BackSide].map((side) => new MeshBasicMaterial({ side })).slice(0, count);
  const object = new Mesh(new BoxGeometry(2, 2, 2), count === 1 ? look[0] : [...look, ...look, ...look]);
  const sides: (ObjectOptions['side'] | undefined)[] = [undefined, 'front', 'back', 'double'];
  const found: number[][] = [];
  for (const side of sides) {
    const objectOptions = () => (side === undefined ? {} : { side });
    const tracker = await trackScene(service, object, { objectOptions });
    await settle(tracker, frontCamera());
    for (const turned of [FrontSide, BackSide]) {
      look[0].side = turned; // that of the face in front
      await settle(tracker, frontCamera());
      found.push((await tracker.pickAll(390, 290)).map(({ distance }) => Math.round(distance)));
    }
    tracker.dispose();
  }
  // Two materials: the back of the face behind is hit.
  const own = count === 1 ? [[9], [11]] : [[9, 11], [11]];
  expect(found).toEqual([...own, [9], [9], [11], [11], [9, 11], [9, 11]]);
});

describe(`the normal of a hit on a shape that stands for an object, seed ${SEED}`, () => {
  test.each(['a Mesh', 'an instance'])('of %s is in its own space, however it is placed', async (kind) => {
    const random = new Random(SEED);
    const geometry = new BoxGeometry(2, 1.5, 1);
    const material = new MeshBasicMaterial();
    const object = kind === 'a Mesh' ? new Mesh(geometry, material) : new InstancedMesh(geometry, material, 1);
    object.matrixAutoUpdate = false;
    const tracker = await trackScene(service, object, { ...UNRENDERED, shapeOf: () => boxFromGeometry(geometry) });
    const raycaster = new Raycaster();
    let hits = 0;
    for (let i = 0; i < 40; i++) {
      // Rotated, stretched and mirrored; twice, for an instance.
      const place = () => random.placement(random.point(0.5), { low: 0.5, high: 2, mirrored: 0.3 });
      object.matrix.copy(place());
      if (object instanceof InstancedMesh) {
        object.setMatrixAt(0, place());
        object.instanceMatrix.needsUpdate = true;
        object.boundingSphere = null;
      }
      const camera = frontCamera();
      await settle(tracker, camera);
      const hit = await pickCenter(tracker);
      raycaster.setFromCamera(new Vector2(0, 0), camera);
      geometry.boundingSphere = new Sphere(undefined, 10); // three's own is too small under a matrix that shears
      const [expected] = raycaster.intersectObject(object);
      if (hit === null) continue;
      hits++;
      expect(hit.distance).toBeCloseTo(expected.distance, 5);
      expect(hit.normal!.distanceTo(expected.face!.normal)).toBeLessThan(1e-6);
    }
    expect(hits).toBeGreaterThan(30);
  });
});

describe('what is promised not to move', () => {
  const KINDS: Record<string, () => Mesh> = {
    'a Mesh': () => cube(),
    'an InstancedMesh': () => {
      const instances = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 1);
      instances.setMatrixAt(0, new Matrix4());
      return instances;
    },
  };

  const CASES = Object.keys(KINDS).flatMap((kind) => [true, false].map((isLate) => [kind, isLate] as const));
  test.each(CASES)(
    'is looked at once a second, or when it is told of: %s, at first without a place: %s',
    async (kind, isLate) => {
      const now = vi.spyOn(performance, 'now').mockReturnValue(0);
      try {
        const object = KINDS[kind]();
        const root = new Group().add(object);
        if (isLate) object.scale.setScalar(0);
        const tracker = await trackScene(service, root, {
          ...UNRENDERED,
          objectOptions: () => ({ motion: 'static' }),
        });
        const seen = async () => {
          await settle(tracker, frontCamera());
          return (await pickCenter(tracker))?.object === object;
        };
        const changes: [isSeen: boolean, change: () => void][] = [
          [true, () => object.scale.setScalar(1)],
          [false, () => object.position.setX(50)],
          [true, () => object.position.setX(0)],
          [false, () => Object.assign(object, { visible: false })],
          [true, () => Object.assign(object, { visible: true })],
          [false, () => Object.assign(root, { visible: false })],
          [true, () => Object.assign(root, { visible: true })],
          [false, () => object.layers.set(3)],
          [true, () => object.layers.set(0)],
          [false, () => Object.assign(object, { geometry: new BoxGeometry(2, 2, 2).translate(9, 0, 0) })],
          [true, () => object.geometry.translate(-9, 0, 0)],
        ];
        expect(await seen()).toBe(!isLate);
        for (const isTold of [true, false]) {
          if (!isTold) now.mockReturnValue(1000);
          for (const [i, [isSeen, change]] of changes.entries()) {
            const before = await seen();
            change();
            expect(await seen(), `change ${i}, not yet`).toBe(before);
            if (isTold) tracker.changed(root);
            else now.mockReturnValue(2000 + 1000 * i);
            expect(await seen(), `change ${i}`).toBe(isSeen);
          }
        }
      } finally {
        now.mockRestore();
      }
    },
  );
});

test('what is as before is not sent again when something else is built', async () => {
  const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 3);
  for (let i = 0; i < 3; i++) instances.setMatrixAt(i, new Matrix4().makeTranslation(5 * i, 9, 0));
  const shaped = cube();
  const sides = [FrontSide, BackSide].map((side) => new MeshBasicMaterial({ side }));
  const mixed = new Mesh(new BoxGeometry(), [...sides, ...sides, ...sides]);
  const scene = new Scene().add(instances, shaped, mixed, cube());
  const tracker = await trackScene(service, scene, {
    shapeOf: (object) => (object === shaped ? { type: 'sphere', radius: 1 } : undefined),
  });
  await settle(tracker, frontCamera());
  const sent: string[] = [];
  for (const name of ['addInstances', 'setObject', 'moveInstances', 'removeObject'] as const) {
    const original = service[name].bind(service) as (...args: unknown[]) => unknown;
    Object.assign(service, {
      [name]: (...args: unknown[]) => {
        sent.push(name);
        return original(...args);
      },
    });
  }
  scene.add(cube());
  await settle(tracker, frontCamera());
  expect(sent).toEqual(['addInstances']);
});

describe('the walk through the scene', () => {
  test('is none: what comes and goes is told', async () => {
    const scene = new Scene().add(cube(), new Group().add(cube(), cube()), cube());
    const tracker = await track(service, scene);
    const anew = vi.spyOn(scene, 'traverse');
    for (let i = 0; i < 3; i++) await tracker.update(frontCamera(), SIZE);
    scene.remove(scene.children[0]);
    scene.add(cube());
    await settle(tracker, frontCamera());
    expect(anew).not.toHaveBeenCalled();
    expect(service.stats.objects).toBe(4);
  });

  test.each(['told of', 'by turns'])('finds what was put into `children` by hand, %s', async (way) => {
    const geometry = new BoxGeometry();
    const some = () => Array.from({ length: 100 }, () => new Group().add(new Mesh(geometry)));
    const [old, stars] = [some(), new SkinnedMesh()];
    const scene = new Scene().add(...old, stars);
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const tracker = await track(service, scene);
    // Every other one changes.
    some().forEach((group, i) => {
      if (i % 2 === 0) scene.children.splice(scene.children.indexOf(old[i]), 1, group);
    });
    for (const group of scene.children) group.parent = scene;
    for (let i = 0; i < 100; i += 2) old[i].parent = null;
    if (way === 'told of') tracker.changed(scene);
    else now.mockReturnValue(1000);
    await settle(tracker, frontCamera());
    await settle(tracker, frontCamera());
    now.mockRestore();
    expect(service.stats.objects).toBe(100);
    for (const { children } of scene.children) {
      for (const mesh of children) expect(tracker.idsOf(mesh)).toHaveLength(1);
    }
    for (let i = 0; i < 100; i += 2) expect(tracker.idsOf(old[i].children[0])).toHaveLength(0);
    expect([...tracker.untracked.keys()]).toEqual([stars]);
  });
});

test('a frame is walked through by functions alone', async () => {
  const tracker = await track(service, new Scene());
  const frame = await tracker.update(frontCamera(), SIZE);
  for (const name of ['forEachVisible', 'forEachContact', 'forEachEnded'] as const) {
    expect(() => frame[name](7 as never)).toThrow(`${name}: visit is 7, expected a function`);
  }
});

test('a view is set again whatever it is that has changed in it', async () => {
  const tracker = await track(service, new Scene());
  const [camera, size, options] = [frontCamera(), { x: 1, y: 2, width: 30, height: 40 }, { margin: 1, minPixels: 2 }];
  const set = vi.spyOn(service, 'setView');
  const isSet = (change: () => unknown): boolean => {
    change();
    set.mockClear();
    tracker.setView(camera, size, 'beside', options);
    return set.mock.calls.length > 0;
  };
  expect(isSet(() => {})).toBe(true);
  expect(isSet(() => {})).toBe(false);
  const changes: (() => unknown)[] = [
    () => camera.translateX(1),
    () => Object.assign(camera, { zoom: 2 }).updateProjectionMatrix(),
    // Without another projection: three's renderer has not set it yet.
    () => Object.assign(camera, { coordinateSystem: WebGPUCoordinateSystem }),
    ...('reversedDepth' in camera ? [() => Object.assign(camera, { _reversedDepth: true })] : []),
    () => camera.layers.enable(3),
    ...(['x', 'y', 'width', 'height'] as const).map((key) => () => Object.assign(size, { [key]: size[key] + 1 })),
    ...(['margin', 'minPixels'] as const).map((key) => () => Object.assign(options, { [key]: options[key] + 1 })),
  ];
  for (const change of changes) expect([isSet(change), isSet(() => {})], `${change}`).toEqual([true, false]);
});
