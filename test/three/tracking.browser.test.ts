import { CollisionError } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
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
  Points,
  Scene,
  SkinnedMesh,
  SphereGeometry,
  TorusKnotGeometry,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, SIZE, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { cube, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;

test(`objects that come, go, come back and change places, one and many, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const root = new Scene();
  const out: Object3D[] = [];
  const make = (): Mesh => {
    const mesh = cube();
    mesh.position.copy(random.point(RADIUS));
    return mesh;
  };
  const all = (): Object3D[] => {
    const found: Object3D[] = [];
    root.traverse((node) => {
      if (node instanceof Mesh) found.push(node);
    });
    return found;
  };
  const nodes = (): Object3D[] => {
    const found: Object3D[] = [];
    root.traverse((node) => found.push(node));
    return found;
  };
  for (let i = 0; i < 60; i++) random.pick(nodes()).add(random.chance(0.2) ? new Group() : make());
  const tracker = await trackScene(service, root, { ...UNRENDERED, shapeOf: () => ({ type: 'sphere', radius: 0.1 }) });
  const ids = new Map<Object3D, number>();
  for (let frame = 0; frame < 150; frame++) {
    for (let change = random.integer(random.chance(0.1) ? 120 : 4); change > 0; change--) {
      const node = random.pick(nodes());
      const kind = random.integer(5);
      if (kind < 2) node.add(random.chance(0.1) ? new Group() : make());
      else if (kind === 2 && out.length > 0) node.add(out.pop()!);
      else if (kind === 3 && node !== root) {
        node.removeFromParent();
        out.push(node);
      } else if (kind === 4 && node.children.length > 1) {
        node.children.push(node.children.shift()!);
      }
    }
    // Work for more than a slice, on a slow machine, is also done within the same frame: the clock stands still in it.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const answer = tracker.update(frontCamera(), SIZE);
    clock.mockRestore();
    await answer;
    const meshes = all();
    expect(service.stats.objects).toBe(meshes.length);
    const known = new Set<number>();
    for (const mesh of meshes) {
      const [id] = tracker.idsOf(mesh);
      expect(tracker.objectOf(id).object).toBe(mesh);
      expect(ids.get(mesh) ?? id).toBe(id);
      ids.set(mesh, id);
      known.add(id);
    }
    expect(known.size).toBe(meshes.length);
    for (const [mesh, id] of ids) {
      if (known.has(id)) continue;
      expect(tracker.idsOf(mesh)).toHaveLength(0);
      ids.delete(mesh); // it gets another one when it comes back
    }
    // Each is at its own position, whatever number it has now.
    const seen = random.pick(meshes);
    const { x, y, z } = seen.getWorldPosition(new Vector3());
    expect(await service.containing([x, y, z])).toContain(tracker.idsOf(seen)[0]);
  }
});

describe('what three does not show', () => {
  test('a scale of zero hides an object until it has another', async () => {
    const object = cube();
    object.scale.setScalar(0);
    const tracker = await track(service, object);
    expect(await pickCenter(tracker)).toBeNull();
    object.scale.setScalar(1);
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(object);
    object.scale.set(1, 0, 1);
    await settle(tracker, frontCamera());
    expect(await pickCenter(tracker)).toBeNull();
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
      return (await pickCenter(tracker))?.instanceId;
    };
    object.setMatrixAt(0, zero);
    object.setMatrixAt(1, zero);
    const tracker = await track(service, object);
    expect(await pickCenter(tracker)).toBeNull();
    expect(await set(new Matrix4(), apart)).toBe(0);
    expect(await set(zero, apart)).toBeUndefined();
    expect(await set(zero, new Matrix4())).toBe(1);
  });

  test('a matrix of an instance that is not affine is rejected, and all others move', async () => {
    const object = new InstancedMesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial(), 3);
    for (let i = 0; i < 3; i++) object.setMatrixAt(i, new Matrix4().makeTranslation(50 + i, 0, 0));
    const tracker = await track(service, object);
    object.setMatrixAt(0, new Matrix4().makePerspective(-1, 1, 1, -1, 1, 10));
    object.setMatrixAt(1, new Matrix4());
    object.setMatrixAt(2, new Matrix4().makeScale(0, 0, 0));
    object.instanceMatrix.needsUpdate = true;
    const [first, , third] = tracker.idsOf(object);
    const { result } = await tracker.update(frontCamera(), SIZE);
    expect([...result.rejected]).toEqual([first, third]);
    expect(await pickCenter(tracker)).toMatchObject({ object, instanceId: 1 });
    object.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
    object.setMatrixAt(0, new Matrix4());
    object.instanceMatrix.needsUpdate = true;
    await settle(tracker, frontCamera());
    expect(await pickCenter(tracker)).toMatchObject({ object, instanceId: 0 });
  });

  test('an ancestor above the root that turns invisible hides everything; ids stay', async () => {
    const object = cube();
    const root = new Group().add(object);
    const scene = new Scene().add(root);
    const tracker = await track(service, root);
    const ids = tracker.idsOf(object);
    scene.visible = false;
    await settle(tracker, frontCamera());
    expect(await pickCenter(tracker)).toBeNull();
    scene.visible = true;
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(object);
    expect(tracker.idsOf(object)).toEqual(ids);
  });

  test('an invisible material keeps an object out of the views, and three hits it', async () => {
    const object = cube();
    const tracker = await track(service, object);
    object.material.visible = false;
    const { result } = await tracker.update(frontCamera(), SIZE);
    expect(result.visible.ids).toHaveLength(0);
    expect((await pickCenter(tracker))?.object).toBe(object);
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
    const tracker = await track(service, new Scene().add(left, right, away, instances));
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

  test('takes the matrices as they are, of the last render or update of theirs', async () => {
    const object = cube();
    const tracker = await trackScene(service, object);
    await settle(tracker, frontCamera());
    object.position.z = 2;
    await tracker.update(frontCamera(), SIZE);
    expect((await pickCenter(tracker))?.distance).toBeCloseTo(9, 6);
    object.updateMatrixWorld();
    await tracker.update(frontCamera(), SIZE);
    expect((await pickCenter(tracker))?.distance).toBeCloseTo(7, 6);
  });

  // Which of the objects' own transforms are sent is decided by the service: test/client/unchanged.test.ts checks the frames.
  test('calls the service for what changed, and nothing else', async () => {
    const [still, moving] = [cube(), cube()];
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 100);
    for (let i = 0; i < 50; i++) instances.setMatrixAt(i, new Matrix4().makeScale(0, 0, 0));
    const tracker = await track(service, new Scene().add(still, moving, instances));
    const sent: string[] = [];
    for (const name of ['moveInstances', 'setLayers', 'setObject'] as const) {
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
    expect(await sentBy(() => moving.translateX(1))).toEqual([]);
    // Those without a valid position are hidden already.
    expect(await sentBy(() => Object.assign(instances.instanceMatrix, { needsUpdate: true }))).toEqual([
      'moveInstances',
    ]);
    expect(await sentBy(() => instances.translateX(1))).toEqual(['moveInstances']);
    expect(await sentBy(() => Object.assign(still, { visible: false }))).toEqual(['setLayers']);
  });

  test('an object whose materials differ in side is seen and touched once', async () => {
    const sides = [BackSide, DoubleSide, BackSide, DoubleSide, BackSide, BackSide];
    const object = new Mesh(
      new BoxGeometry(2, 2, 2),
      sides.map((side) => new MeshBasicMaterial({ side })),
    );
    const other = cube(1);
    other.position.x = 1;
    const tracker = await track(service, new Scene().add(object, other));
    const frame = await tracker.update(frontCamera(), SIZE);
    const seen: Object3D[] = [];
    frame.forEachVisible((each) => seen.push(each.object));
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([object, other]));
    let pairs = 0;
    frame.forEachContact(() => pairs++);
    expect(pairs).toBe(1);
    expect(tracker.idsOf(object)).toHaveLength(1);
    // The front face is BackSide: the pick passes through it, and hits the back face from inside.
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

  test('can be solid, if its triangles are closed', async () => {
    const [solid, surface] = [cube(), cube()];
    surface.position.x = 9;
    const scene = new Scene().add(solid, surface);
    const tracker = await trackScene(service, scene, {
      ...UNRENDERED,
      objectOptions: (object) => ({ solid: object === solid, motion: 'moving' }),
    });
    await settle(tracker, frontCamera());
    // At the centre of each, off its faces.
    const within = async () => {
      const inside = { type: 'box', halfExtents: [9, 0.1, 0.1] } as const;
      const faces = { type: 'sphere', radius: 0.1 } as const;
      const middle = new Matrix4().makeTranslation(9, 0, 0).elements;
      expect([...(await service.overlap(faces, middle))]).toEqual([]);
      expect([...(await service.overlap(inside))].length).toBeGreaterThan(0);
      return [...(await service.overlap(faces))];
    };
    expect(await within()).toEqual([...tracker.idsOf(solid)]);
    const whole = solid.geometry;
    const open = whole.clone();
    open.setDrawRange(0, open.getIndex()!.count - 3);
    for (let i = 0; i < 2; i++) {
      solid.geometry = open;
      await settle(tracker, frontCamera());
      expect(tracker.untracked.get(solid)).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/closed/),
      });
      expect(await within()).toEqual([]);
      solid.geometry = whole;
      await settle(tracker, frontCamera());
      expect(tracker.untracked.size).toBe(0);
      expect(await within()).toEqual([...tracker.idsOf(solid)]);
    }
  });

  test('names what it does not track', async () => {
    const empty = new Mesh(new BufferGeometry());
    const [lines, points, figure] = [new LineSegments(), new Points(), new SkinnedMesh(new BoxGeometry())];
    const object = cube();
    const tracker = await track(service, new Scene().add(empty, lines, points, figure, object));
    expect([...tracker.untracked.keys()]).toEqual([empty, lines, points, figure]);
    for (const each of [empty, lines, points, figure])
      expect(tracker.untracked.get(each)).toMatchObject({ code: 'BAD_DATA' });
    expect((await pickCenter(tracker))?.object).toBe(object);

    empty.geometry = new BoxGeometry(3, 3, 3);
    await settle(tracker, frontCamera());
    expect((await pickCenter(tracker))?.object).toBe(empty);
  });

  test('leaves out one object with an option that the service refuses', async () => {
    const [good, bad] = [cube(), cube(3)];
    const tracker = await trackScene(service, new Scene().add(bad, good), {
      objectOptions: (object) => (object === bad ? { group: -1 } : { contacts: 'any' }),
    });
    await settle(tracker, frontCamera());
    expect(tracker.untracked.get(bad)).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((await pickCenter(tracker))?.object).toBe(good);
  });

  test('stops when it is aborted, and leaves nothing behind', async () => {
    const controller = new AbortController();
    const fractions: number[] = [];
    const promise = trackScene(service, new Mesh(new TorusKnotGeometry(1, 0.3, 2000, 200)), {
      signal: controller.signal,
      onProgress: (fraction) => {
        fractions.push(fraction);
        controller.abort();
      },
    });
    await expect(promise).rejects.toMatchObject({ code: 'ABORTED' });
    expect(fractions[0]).toBeLessThan(1); // while it is being built
    const late = trackScene(service, cube(), { signal: controller.signal });
    await expect(late).rejects.toBeInstanceOf(CollisionError);
    expect(service.stats).toMatchObject({ meshes: 0, objects: 0 });
  });

  test('finds objects by ids and ids by objects', async () => {
    const object = cube();
    const instances = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 4);
    const tracker = await track(service, new Scene().add(object, instances));
    expect(tracker.idsOf(object)).toHaveLength(1);
    expect(tracker.objectOf(tracker.idsOf(object)[0])).toMatchObject({ object, instanceId: undefined });
    expect(tracker.objectOf(tracker.idsOf(instances)[3])).toMatchObject({ object: instances, instanceId: 3 });
    expect(tracker.idsOf(new Group())).toHaveLength(0);
    expect(() => tracker.objectOf(12345)).toThrow(/12345/);
  });

  test('dispose leaves what others put into the service', async () => {
    const scene = randomScene(new Random(SEED), { objects: 20, radius: RADIUS });
    const tracker = await track(service, scene);
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
    tracker.dispose();
    tracker.dispose();
    expect(service.stats).toMatchObject({ meshes: 0, objects: 1 });
    await expect(tracker.update(frontCamera(), SIZE)).rejects.toMatchObject({ code: 'DISPOSED' });
    await expect(pickCenter(tracker)).rejects.toMatchObject({ code: 'DISPOSED' });
  });

  test('dispose comes after that of the service as well', async () => {
    const tracker = await track(service, cube());
    service.dispose();
    expect(() => tracker.dispose()).not.toThrow();
  });
});
