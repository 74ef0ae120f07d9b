import { boxFromGeometry, trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Scene,
  SphereGeometry,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import {
  comparePickAlls,
  comparePicks,
  frontCamera,
  pickCenter,
  randomCamera,
  SIZE,
  settle,
  track,
} from '../fixtures/three-picks.js';
import { cube, place, randomInstances, randomMatrix, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;

/** In a random scene, from three cameras. */
async function compareInScene(number: number, compare: typeof comparePicks, pixels: number) {
  const random = new Random(1000 * SEED + number);
  const root = randomScene(random, { objects: 50, radius: RADIUS });
  const tracker = await trackScene(service, root);
  for (let i = 0; i < 3; i++) {
    const camera = randomCamera(random, RADIUS);
    await settle(tracker, camera);
    const { faults, hits } = await compare(tracker, root, camera, random, pixels);
    expect(faults).toEqual([]);
    expect(hits).toBeGreaterThan(20);
  }
  return tracker;
}

describe(`pickAll is three's Raycaster, seed ${SEED}`, () => {
  test.each([0, 1])('in random scene %i: 3 cameras, 100 pixels each', async (number) => {
    await compareInScene(number, comparePickAlls, 100);
  });

  test('of this scene only', async () => {
    const object = cube();
    const tracker = await track(service, object);
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    const hits = await tracker.pickAll(390, 290, { side: 'double' });
    expect(hits.map((hit) => hit.object)).toEqual([object, object]);
    expect(await tracker.pickAll(390, 290, { ignore: [object] })).toEqual([]);
    expect(await tracker.pickAll(1, 1)).toEqual([]);
  });
});

describe(`pick is three's Raycaster, seed ${SEED}`, () => {
  test.each([0, 1, 2, 3])('in random scene %i: 3 cameras, 300 pixels each', async (number) => {
    const tracker = await compareInScene(number, comparePicks, 300);
    expect(tracker.untracked.size).toBe(0);
  });

  test('while the scene changes in every way', async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 40, radius: RADIUS });
    const camera = randomCamera(random, RADIUS);
    const tracker = await track(service, root, camera);
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
    const tracker = await track(service, new Scene().add(cube()));
    expect(await tracker.pick(5, 5)).toBeNull();
    expect(await tracker.pick(-20, 300)).toBeNull();
  });

  test('sees the layers of the camera, or those it is asked for', async () => {
    const near = cube(1);
    near.position.z = 3;
    near.layers.set(2);
    const far = cube();
    const tracker = await track(service, new Scene().add(near, far));
    expect((await pickCenter(tracker))?.object).toBe(far);
    expect((await tracker.pick(400, 300, { layers: 1 << 2 }))?.object).toBe(near);
  });

  test('ignores what it is told to, and takes another side than the materials', async () => {
    const near = cube(1);
    near.position.z = 3;
    const far = cube();
    const tracker = await track(service, new Scene().add(near, far));
    const hit = await tracker.pick(400, 300, { ignore: [near] });
    expect(hit).toMatchObject({ object: far, distance: 9 });
    expect((await tracker.pick(400, 300, { side: 'back' }))?.distance).toBeCloseTo(7.5, 6);
  });

  test('of a box shape has no face, and the normal of the box', async () => {
    const object = cube();
    object.scale.set(-3, 1, 1);
    const tracker = await trackScene(service, object, { shapeOf: () => boxFromGeometry(object.geometry) });
    await settle(tracker, frontCamera());
    const hit = (await pickCenter(tracker))!;
    expect(hit).toMatchObject({ object, face: null, faceIndex: null });
    expect(hit.distance).toBeCloseTo(9, 6);
    expect(hit.normal!.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-6);
  });

  test('looks past objects that the tracker does not know', async () => {
    const object = cube();
    const tracker = await track(service, object);
    const matrix = new Matrix4().makeTranslation(0, 0, 5).elements;
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix });
    expect((await pickCenter(tracker))?.object).toBe(object);
  });

  test('with `latest` is answered by the newest that waits, unless its own signal aborts it', async () => {
    const object = cube();
    const tracker = await track(service, object);
    const pick = (x: number, signal = new AbortController().signal) => tracker.pick(x, 300, { latest: true, signal });
    const beside = Array.from({ length: 9 }, () => pick(1));
    const middle = pick(400);
    const [first, ...others] = await Promise.all([...beside, middle]);
    expect(first).toBeNull();
    for (const hit of others) {
      expect(hit?.object).toBe(object);
      expect(hit).toBe(others[0]);
    }
    // The newest one is aborted: the one that it replaced is then sent.
    const [own, newest] = [new AbortController(), new AbortController()];
    const picks = [pick(400), pick(1, own.signal), pick(400), pick(1, newest.signal)];
    own.abort();
    newest.abort();
    const results = await Promise.allSettled(picks);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect(results[2]).toMatchObject({ value: { object } });
  });

  test('answers for an object that leaves the scene meanwhile', async () => {
    const object = cube();
    const scene = new Scene().add(object);
    const tracker = await track(service, scene);
    const pick = pickCenter(tracker);
    scene.remove(object);
    const update = tracker.update(frontCamera(), SIZE);
    const hit = await pick;
    expect(hit?.object).toBe(object);
    expect(hit?.face).toMatchObject({ normal: { x: 0, y: 0, z: 1 } });
    await update;
    expect(await pickCenter(tracker)).toBeNull();
  });
});

test('triangles keep their numbers while a changed geometry is built anew', async () => {
  const object = cube();
  const tracker = await track(service, object);
  const { faceIndex } = (await tracker.pick(390, 300))!;
  object.geometry.setDrawRange(3, 33);
  const added = vi.spyOn(service, 'addMesh');
  await tracker.update(frontCamera(), SIZE);
  expect(tracker.pending).toEqual([object]);
  const picks = [tracker.pick(390, 300)];
  await added.mock.results[0].value;
  for (let i = 0; i < 20; i++) await null; // the tracker is notified; it puts what was built in its place in a later task
  expect(tracker.pending).toEqual([object]);
  picks.push(tracker.pick(390, 300));
  tracker.update(frontCamera(), SIZE);
  picks.push(tracker.pick(390, 300));
  expect(tracker.pending).toEqual([]);
  for (const hit of await Promise.all(picks)) expect(hit).toMatchObject({ faceIndex, face: { normal: { z: 1 } } });
});

describe('vertices that move', () => {
  const wave = ({ position }: BufferGeometry['attributes'], phase: number): void => {
    for (let i = 0; i < position.count; i++) {
      const z = position.getZ(i) + 0.2 * Math.sin(3 * position.getX(i) + phase);
      position.setXYZ(i, position.getX(i), position.getY(i), z);
    }
    position.needsUpdate = true;
  };

  test(`are seen by the very next update, of all kinds of geometries, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const root = randomScene(random, { objects: 30, radius: RADIUS });
    const camera = randomCamera(random, RADIUS);
    const tracker = await track(service, root, camera);
    const geometries = [...new Set(found(root).map(({ geometry }) => geometry))];
    const { meshes } = service.stats;
    const added = vi.spyOn(service, 'addMesh');
    for (let frame = 0; frame < 5; frame++) {
      for (const { attributes } of geometries) wave(attributes, frame);
      await tracker.update(camera, SIZE);
      for (const geometry of geometries) geometry.computeBoundingSphere(); // for three's Raycaster
      const { faults } = await comparePicks(tracker, root, camera, random, 60);
      expect(faults).toEqual([]);
      expect(tracker.pending).toEqual([]);
    }
    expect(added).not.toHaveBeenCalled();
    expect(service.stats.meshes).toBe(meshes);
  });

  test('and an attribute in the place of another, and what only a new tree can take', async () => {
    const object = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
    const tracker = await track(service, object);
    const ids = tracker.idsOf(object);
    const front = async (): Promise<number | undefined> => {
      await settle(tracker, frontCamera());
      expect(service.stats).toMatchObject({ meshes: 1, objects: 1 });
      return (await pickCenter(tracker))?.distance;
    };
    const { position } = object.geometry.attributes;
    const scaled = position.clone();
    scaled.applyMatrix4(new Matrix4().makeScale(1, 1, 3));
    object.geometry.setAttribute('position', scaled);
    expect(await front()).toBeCloseTo(7, 6);
    // Not finite, which cannot be refitted, only left out. The picked face stays.
    const torn = position.clone();
    torn.setX(0, Number.NaN);
    object.geometry.setAttribute('position', torn);
    expect(await front()).toBeCloseTo(9, 6);
    // All of them again, although the torn triangles are not in the tree.
    object.geometry.setAttribute('position', scaled);
    expect(await front()).toBeCloseTo(7, 6);
    expect(tracker.idsOf(object)).toEqual(ids);
    // Nothing that could be built; and then valid again.
    object.geometry.setAttribute('position', position.clone().applyMatrix4(new Matrix4().makeScale(0, 0, 0)));
    await settle(tracker, frontCamera());
    expect(tracker.untracked.get(object)).toMatchObject({ code: 'BAD_DATA' });
    object.geometry.setAttribute('position', position);
    expect(await front()).toBeCloseTo(9, 6);
    expect(tracker.untracked.size).toBe(0);
  });

  test('of a geometry that leaves the scene meanwhile leave nothing behind', async () => {
    const object = cube();
    const scene = new Scene().add(object);
    const tracker = await track(service, scene);
    for (const remove of [() => object.removeFromParent(), () => tracker.dispose()]) {
      scene.add(object);
      await settle(tracker, frontCamera());
      wave(object.geometry.attributes, 1);
      void tracker.update(frontCamera(), SIZE);
      remove();
      if (scene.children.length === 0) await settle(tracker, frontCamera());
      else await service.update();
      expect(service.stats).toMatchObject({ meshes: 0, objects: 0, meshBytes: 0 });
    }
  });
});

function found(root: Object3D): Mesh[] {
  const meshes: Mesh[] = [];
  root.traverse((object) => {
    if (object instanceof Mesh) meshes.push(object);
  });
  return meshes;
}
