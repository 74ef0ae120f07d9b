import { CollisionError, type CollisionService, createCollisionService } from 'collision-worker';
import { boxFromGeometry, type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  BufferGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Points,
  Scene,
  SkinnedMesh,
  SphereGeometry,
  Sprite,
  TorusKnotGeometry,
  Vector3,
} from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';
import { type AnyCamera, comparePicks, randomCamera, SIZE, settle } from './three-picks.js';
import { place, randomInstances, randomMatrix, randomScene } from './three-scenes.js';

const RADIUS = 6;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

/** A camera on the z axis that looks at the origin. */
function frontCamera(): PerspectiveCamera {
  const camera = new PerspectiveCamera(50, SIZE.width / SIZE.height, 0.1, 100);
  camera.position.z = 10;
  return camera;
}

function cube(size = 2): Mesh<BoxGeometry, MeshBasicMaterial> {
  return new Mesh(new BoxGeometry(size, size, size), new MeshBasicMaterial());
}

async function track(root: Object3D, camera: AnyCamera = frontCamera()): Promise<SceneTracker> {
  const tracker = await trackScene(service, root);
  await settle(tracker, camera);
  return tracker;
}

const pickMiddle = (tracker: SceneTracker) => tracker.pick(SIZE.width / 2, SIZE.height / 2);

describe(`pick is three's Raycaster, seed ${SEED}`, () => {
  test.each([0, 1, 2, 3])('in random scene %i: 3 cameras, 300 pixels each', async (number) => {
    const random = new Random(1000 * SEED + number);
    const root = randomScene(random, { objects: 50, radius: RADIUS });
    const tracker = await trackScene(service, root);
    for (let i = 0; i < 3; i++) {
      const camera = randomCamera(random, RADIUS);
      await settle(tracker, camera);
      const { faults, hits } = await comparePicks(tracker, root, camera, random, 300);
      expect(faults).toEqual([]);
      expect(hits).toBeGreaterThan(20);
    }
    expect(tracker.untracked.size).toBe(0);
  });

  test('while the scene changes in every way', async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 40, radius: RADIUS });
    const camera = randomCamera(random, RADIUS);
    const tracker = await track(root, camera);
    const meshes = (): Mesh[] => root.children.flatMap((child) => found(child)).filter((mesh) => mesh.parent !== null);
    const any = (): Mesh => random.pick(meshes());
    const changes: Record<string, () => void> = {
      add: () => root.add(...randomScene(random, { objects: 3, radius: RADIUS }).children),
      remove: () => any().removeFromParent(),
      'turn invisible': () => {
        random.pick(root.children).visible = false;
      },
      'turn visible': () => root.traverse((object) => Object.assign(object, { visible: true })),
      'move to another parent': () => {
        const group = new Group();
        place(group, random, 1);
        group.add(any());
        root.add(group);
      },
      move: () => {
        for (const mesh of meshes()) if (random.chance(0.3)) place(mesh, random, RADIUS / 2);
      },
      'replace a geometry': () => {
        for (const mesh of meshes().slice(0, 4))
          if (!Array.isArray(mesh.material)) mesh.geometry = new SphereGeometry(1.1, 14, 10);
      },
      'replace a material': () => {
        for (const mesh of meshes().slice(0, 6)) mesh.material = new MeshBasicMaterial({ side: DoubleSide });
      },
      'turn a material inside out': () => {
        for (const mesh of meshes().slice(0, 6)) for (const each of [mesh.material].flat()) each.side = BackSide;
      },
      'move a vertex': () => {
        const { position } = meshes()[0].geometry.attributes;
        position.setXYZ(0, 1.5, 1.5, 1.5);
        position.needsUpdate = true;
      },
      'draw less of a geometry': () => meshes()[0].geometry.setDrawRange(3, 120),
      'move instances': () => {
        for (const mesh of meshes()) {
          if (!(mesh instanceof InstancedMesh)) continue;
          for (let i = 0; i < mesh.count; i++) mesh.setMatrixAt(i, randomMatrix(random, RADIUS / 4));
          mesh.instanceMatrix.needsUpdate = true;
        }
      },
      'draw fewer instances': () => {
        for (const mesh of meshes()) if (mesh instanceof InstancedMesh) mesh.count = 5;
      },
      'draw more instances': () => {
        for (const mesh of meshes()) if (mesh instanceof InstancedMesh) mesh.count = 12;
      },
      'add instances': () => root.add(randomInstances(random, RADIUS / 2)),
      'change layers': () => any().layers.set(3),
    };
    for (const [name, change] of [...Object.entries(changes), ...Object.entries(changes)]) {
      change();
      await settle(tracker, camera);
      const { faults } = await comparePicks(tracker, root, camera, random, 60);
      expect(faults, name).toEqual([]);
    }
    expect(tracker.untracked.size).toBe(0);
  });
});

describe('pick', () => {
  test('finds nothing where nothing is, and outside of the viewport', async () => {
    const tracker = await track(new Scene().add(cube()));
    expect(await tracker.pick(5, 5)).toBeNull();
    expect(await tracker.pick(-20, 300)).toBeNull();
  });

  test('sees the layers of the camera, or those it is asked for', async () => {
    const near = cube(1);
    near.position.z = 3;
    near.layers.set(2);
    const far = cube();
    const tracker = await track(new Scene().add(near, far));
    expect((await pickMiddle(tracker))?.object).toBe(far);
    expect((await tracker.pick(400, 300, { layers: 1 << 2 }))?.object).toBe(near);
  });

  test('ignores what it is told to, and takes another side than the materials', async () => {
    const near = cube(1);
    near.position.z = 3;
    const far = cube();
    const tracker = await track(new Scene().add(near, far));
    const hit = await tracker.pick(400, 300, { ignore: [near] });
    expect(hit).toMatchObject({ object: far, distance: 9 });
    expect((await tracker.pick(400, 300, { side: 'back' }))?.distance).toBeCloseTo(7.5, 6);
  });

  test('of a box shape has no face, and the normal of the box', async () => {
    const object = cube();
    object.scale.set(-3, 1, 1);
    const tracker = await trackScene(service, object, { shapeOf: ({ geometry }) => boxFromGeometry(geometry) });
    await settle(tracker, frontCamera());
    const hit = (await pickMiddle(tracker))!;
    expect(hit).toMatchObject({ object, face: null, faceIndex: null });
    expect(hit.distance).toBeCloseTo(9, 6);
    expect(hit.normal!.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-6);
  });

  test('looks past objects that the tracker does not know', async () => {
    const object = cube();
    const tracker = await track(object);
    const matrix = new Matrix4().makeTranslation(0, 0, 5).elements;
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix });
    expect((await pickMiddle(tracker))?.object).toBe(object);
  });

  test('with `latest` gives way to newer ones, but always answers some', async () => {
    const tracker = await track(cube());
    const picks = Array.from({ length: 10 }, () => tracker.pick(400, 300, { latest: true }));
    const results = await Promise.allSettled(picks);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', ...Array(8).fill('rejected'), 'fulfilled']);
    expect(results[3]).toMatchObject({ reason: { code: 'ABORTED' } });
  });

  test('answers for an object that leaves the scene meanwhile', async () => {
    const object = cube();
    const scene = new Scene().add(object);
    const tracker = await track(scene);
    const pick = pickMiddle(tracker);
    scene.remove(object);
    const update = tracker.update(frontCamera(), SIZE);
    const hit = await pick;
    expect(hit?.object).toBe(object);
    expect(hit?.face).toMatchObject({ normal: { x: 0, y: 0, z: 1 } });
    await update;
    expect(await pickMiddle(tracker)).toBeNull();
  });
});

test('triangles keep their numbers while a changed geometry is built anew', async () => {
  const object = cube();
  const tracker = await track(object);
  const { faceIndex } = (await tracker.pick(390, 300))!;
  object.geometry.setDrawRange(3, 33);
  await tracker.update(frontCamera(), SIZE);
  expect(tracker.pending).toEqual([object]);
  const picks = [tracker.pick(390, 300)];
  await new Promise((resolve) => setTimeout(resolve, 300)); // built, but not in its place
  picks.push(tracker.pick(390, 300));
  tracker.update(frontCamera(), SIZE);
  picks.push(tracker.pick(390, 300));
  expect(tracker.pending).toEqual([]);
  for (const hit of await Promise.all(picks)) expect(hit).toMatchObject({ faceIndex, face: { normal: { z: 1 } } });
});

describe('what three does not show', () => {
  test('a scale of zero hides an object until it has another', async () => {
    const object = cube();
    object.scale.setScalar(0);
    const tracker = await track(object);
    expect(await pickMiddle(tracker)).toBeNull();
    object.scale.setScalar(1);
    await settle(tracker, frontCamera());
    expect((await pickMiddle(tracker))?.object).toBe(object);
    object.scale.set(1, 0, 1);
    await settle(tracker, frontCamera());
    expect(await pickMiddle(tracker)).toBeNull();
  });

  test('a matrix of zeros hides an instance until it has another', async () => {
    const object = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 2);
    const zero = new Matrix4().makeScale(0, 0, 0);
    const apart = new Matrix4().makeTranslation(50, 0, 0);
    const set = async (first: Matrix4, second: Matrix4): Promise<number | undefined> => {
      object.setMatrixAt(0, first);
      object.setMatrixAt(1, second);
      object.instanceMatrix.needsUpdate = true;
      await settle(tracker, frontCamera());
      return (await pickMiddle(tracker))?.instanceId;
    };
    object.setMatrixAt(0, zero);
    object.setMatrixAt(1, zero);
    const tracker = await track(object);
    expect(await pickMiddle(tracker)).toBeNull();
    expect(await set(new Matrix4(), apart)).toBe(0);
    expect(await set(zero, apart)).toBeUndefined();
    expect(await set(zero, new Matrix4())).toBe(1);
  });

  test('an ancestor above the root that turns invisible hides everything; ids stay', async () => {
    const object = cube();
    const root = new Group().add(object);
    const scene = new Scene().add(root);
    const tracker = await track(root);
    const ids = tracker.idsOf(object);
    scene.visible = false;
    await settle(tracker, frontCamera());
    expect(await pickMiddle(tracker)).toBeNull();
    scene.visible = true;
    await settle(tracker, frontCamera());
    expect((await pickMiddle(tracker))?.object).toBe(object);
    expect(tracker.idsOf(object)).toEqual(ids);
  });

  test('an invisible material keeps an object out of the views, and three hits it', async () => {
    const object = cube();
    const tracker = await track(object);
    object.material.visible = false;
    const { result } = await tracker.update(frontCamera(), SIZE);
    expect(result.visible.ids).toHaveLength(0);
    expect((await pickMiddle(tracker))?.object).toBe(object);
  });
});

describe('update', () => {
  test('lists what the camera sees, and what touches', async () => {
    const [left, right, away] = [cube(), cube(), cube()];
    right.position.x = 1.5;
    away.position.x = 60;
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 3);
    [new Vector3(0, 3, 0), new Vector3(0, -80, 0), new Vector3(0, -3, 0)].forEach((position, i) => {
      instances.setMatrixAt(i, new Matrix4().setPosition(position));
    });
    const tracker = await track(new Scene().add(left, right, away, instances));
    const frame = await tracker.update(frontCamera(), SIZE);

    const seen: [Object3D, number | undefined, boolean][] = [];
    frame.forEachVisible(({ object, instanceId }, inside) => seen.push([object, instanceId, inside]));
    const expected = [
      [left, undefined, true],
      [right, undefined, true],
      [instances, 0, true],
      [instances, 2, true],
    ];
    expect(seen).toHaveLength(expected.length);
    expect(seen).toEqual(expect.arrayContaining(expected));

    const list = new Uint32Array(3);
    expect(frame.visibleInstances(instances, list)).toBe(2);
    expect([...list.subarray(0, 2)].sort()).toEqual([0, 2]);

    const pairs: Object3D[][] = [];
    frame.forEachContact((a, b) => pairs.push([a.object, b.object]));
    expect(pairs).toHaveLength(1);
    expect(pairs[0]).toEqual(expect.arrayContaining([left, right]));
    expect(() => frame.forEachVisible(() => {}, 'mirror')).toThrow(/"mirror".*main/);
  });

  test('reads the matrices as they are where the caller updates them', async () => {
    const object = cube();
    const tracker = await trackScene(service, object, { updateMatrixWorld: false });
    await settle(tracker, frontCamera());
    object.position.z = 2;
    await tracker.update(frontCamera(), SIZE);
    expect((await pickMiddle(tracker))?.distance).toBeCloseTo(9, 6);
    object.updateMatrixWorld();
    await tracker.update(frontCamera(), SIZE);
    expect((await pickMiddle(tracker))?.distance).toBeCloseTo(7, 6);
  });

  test('sends what changed, and nothing else', async () => {
    const [still, moving] = [cube(), cube()];
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 100);
    for (let i = 0; i < 50; i++) instances.setMatrixAt(i, new Matrix4().makeScale(0, 0, 0));
    const tracker = await track(new Scene().add(still, moving, instances));
    const sent: string[] = [];
    for (const name of ['setTransform', 'setTransforms', 'setObject'] as const) {
      const original = service[name].bind(service) as (...args: unknown[]) => void;
      Object.assign(service, { [name]: (...args: unknown[]) => [sent.push(name), original(...args)] });
    }
    const sentBy = async (change: () => void): Promise<string[]> => {
      sent.length = 0;
      change();
      await tracker.update(frontCamera(), SIZE);
      await tracker.update(frontCamera(), SIZE);
      return [...sent];
    };
    expect(await sentBy(() => {})).toEqual([]);
    expect(await sentBy(() => moving.translateX(1))).toEqual(['setTransform']);
    // Those without a place are hidden already.
    expect(await sentBy(() => Object.assign(instances.instanceMatrix, { needsUpdate: true }))).toEqual([
      'setTransforms',
    ]);
    expect(await sentBy(() => instances.translateX(1))).toEqual(['setTransforms']);
    expect(await sentBy(() => Object.assign(still, { visible: false }))).toEqual(['setObject']);
  });

  test('an object whose materials differ in side is seen and touched once', async () => {
    const sides = [BackSide, DoubleSide, BackSide, DoubleSide, BackSide, BackSide];
    const object = new Mesh(
      new BoxGeometry(2, 2, 2),
      sides.map((side) => new MeshBasicMaterial({ side })),
    );
    const other = cube(1);
    other.position.x = 1;
    const tracker = await track(new Scene().add(object, other));
    const frame = await tracker.update(frontCamera(), SIZE);
    const seen: Object3D[] = [];
    frame.forEachVisible((each) => seen.push(each.object));
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([object, other]));
    let pairs = 0;
    frame.forEachContact(() => pairs++);
    expect(pairs).toBe(1);
    expect(tracker.idsOf(object)).toHaveLength(1);
    // The front is of BackSide: the pick passes it, and hits the back from within.
    expect(await tracker.pick(390, 300)).toMatchObject({ object, face: { materialIndex: 5 } });
  });
});

describe('trackScene', () => {
  test('reports its progress from 0 to 1 and shares geometries', async () => {
    const geometry = new TorusKnotGeometry(1, 0.3, 400, 60);
    const progress: number[] = [];
    const root = new Scene().add(new Mesh(geometry), new Mesh(geometry), new Mesh(new SphereGeometry(1, 300, 200)));
    await trackScene(service, root, { onProgress: (fraction) => progress.push(fraction) });
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
    expect(service.stats).toMatchObject({ meshes: 2, objects: 3 });
  });

  test('names what it does not track', async () => {
    const empty = new Mesh(new BufferGeometry());
    const others = [new LineSegments(), new Points(), new Sprite(), new SkinnedMesh(new BoxGeometry())];
    const object = cube();
    const tracker = await track(new Scene().add(empty, ...others, object));
    expect([...tracker.untracked.keys()]).toEqual([empty, ...others]);
    for (const other of others) expect(tracker.untracked.get(other)).toMatchObject({ code: 'UNSUPPORTED' });
    expect(tracker.untracked.get(empty)).toMatchObject({ code: 'BAD_DATA' });
    expect((await pickMiddle(tracker))?.object).toBe(object);

    empty.geometry = new BoxGeometry(3, 3, 3);
    await settle(tracker, frontCamera());
    expect((await pickMiddle(tracker))?.object).toBe(empty);
  });

  test('leaves out one object with an option that the service refuses', async () => {
    const [good, bad] = [cube(), cube(3)];
    const tracker = await trackScene(service, new Scene().add(bad, good), {
      objectOptions: (object) => (object === bad ? { group: -1 } : { contacts: 'any' }),
    });
    await settle(tracker, frontCamera());
    expect(tracker.untracked.get(bad)).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((await pickMiddle(tracker))?.object).toBe(good);
  });

  test('stops when it is aborted, and leaves nothing behind', async () => {
    const controller = new AbortController();
    const promise = trackScene(service, new Mesh(new TorusKnotGeometry(1, 0.3, 2000, 200)), {
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 5);
    await expect(promise).rejects.toMatchObject({ code: 'ABORTED' });
    const late = trackScene(service, cube(), { signal: controller.signal });
    await expect(late).rejects.toBeInstanceOf(CollisionError);
    expect(service.stats).toMatchObject({ meshes: 0, objects: 0 });
  });

  test('finds objects by ids and ids by objects', async () => {
    const object = cube();
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
    const tracker = await track(new Scene().add(object, instances));
    expect(tracker.idsOf(object)).toHaveLength(1);
    expect(tracker.objectOf(tracker.idsOf(object)[0])).toMatchObject({ object, instanceId: undefined });
    expect(tracker.objectOf(tracker.idsOf(instances)[3])).toMatchObject({ object: instances, instanceId: 3 });
    expect(tracker.idsOf(new Group())).toHaveLength(0);
    expect(() => tracker.objectOf(12345)).toThrow(/12345/);
  });

  test('dispose leaves what others put into the service', async () => {
    const scene = randomScene(new Random(SEED), { objects: 20, radius: RADIUS });
    const tracker = await track(scene);
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    tracker.dispose();
    tracker.dispose();
    expect(service.stats).toMatchObject({ meshes: 0, objects: 1 });
    await expect(tracker.update(frontCamera(), SIZE)).rejects.toMatchObject({ code: 'DISPOSED' });
    await expect(pickMiddle(tracker)).rejects.toMatchObject({ code: 'DISPOSED' });
  });

  test('dispose comes after that of the service as well', async () => {
    const tracker = await track(cube());
    service.dispose();
    expect(() => tracker.dispose()).not.toThrow();
  });
});

function found(root: Object3D): Mesh[] {
  const meshes: Mesh[] = [];
  root.traverse((object) => {
    if (object instanceof Mesh) meshes.push(object);
  });
  return meshes;
}
