// BatchedMeshes with changes of all kinds are picked as three's Raycaster picks them. The seed replays all of it.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BackSide,
  BatchedMesh,
  BoxGeometry,
  DoubleSide,
  FrontSide,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Raycaster,
  Scene,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { shareOf } from '../fixtures/share.js';
import { HAS_INSTANCES, RandomBatch } from '../fixtures/three-batches.js';
import {
  comparePickAlls,
  comparePicks,
  frontCamera,
  pickCenter,
  randomCamera,
  randomRaycaster,
  rayFaults,
  settle,
  UNRENDERED,
} from '../fixtures/three-picks.js';
import { cube, place, randomScene } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
const SCENES = shareOf(36);
/** Rounds of picks, with changes between them. */
const ROUNDS = 4;
const PICKS = 25;

function randomBatches(random: Random): { root: Group; batches: RandomBatch[] } {
  const root = randomScene(random, { objects: 2, radius: RADIUS });
  const parents = [root];
  const batches = Array.from({ length: 1 + random.integer(2) }, (_, i) => {
    const side = random.pick([FrontSide, BackSide, DoubleSide] as const);
    const batch = new RandomBatch(random, RADIUS / 2, new MeshBasicMaterial({ side }));
    batch.mesh.name = `batch ${i}`;
    place(batch.mesh, random, RADIUS / 4);
    random.pick(parents).add(batch.mesh);
    const group = new Group();
    place(group, random, RADIUS / 4);
    random.pick(parents).add(group);
    parents.push(group);
    return batch;
  });
  return { root, batches };
}

test(`${SCENES} scenes that change while they run: picks are those of three's Raycaster, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const faults: string[] = [];
  let hits = 0;
  for (let scene = 0; scene < SCENES; scene++) {
    const { root, batches } = randomBatches(random);
    const camera = randomCamera(random, RADIUS);
    const tracker = await trackScene(service, root, UNRENDERED);
    for (let round = 0; round < ROUNDS; round++) {
      await settle(tracker, camera);
      const found = await comparePicks(tracker, root, camera, random, PICKS);
      faults.push(...found.faults.map((fault) => `scene ${scene}, round ${round}: ${fault}`));
      hits += found.hits;
      for (const batch of batches) for (let i = 0; i < 4; i++) batch.change();
    }
    expect(tracker.untracked.size).toBe(0);
    tracker.dispose();
  }
  expect(faults).toEqual([]);
  expect(hits).toBeGreaterThan((SCENES * ROUNDS * PICKS) / 10);
  expect(service.stats).toMatchObject({ objects: 0, meshes: 0 });
});

test(`all hits of picks and rays are those of three's Raycaster, seed ${SEED}`, async () => {
  const random = new Random(SEED + 1);
  const faults: string[] = [];
  for (let scene = 0; scene < 8; scene++) {
    const { root, batches } = randomBatches(random);
    const camera = randomCamera(random, RADIUS);
    const tracker = await trackScene(service, root, UNRENDERED);
    for (const batch of batches) for (let i = 0; i < 8; i++) batch.change();
    await settle(tracker, camera);
    faults.push(...(await comparePickAlls(tracker, root, camera, random, 10)).faults);
    for (let i = 0; i < 10; i++) {
      const raycaster = randomRaycaster(random, RADIUS);
      const { ray, near, far, layers } = raycaster;
      const given = { origin: ray.origin, direction: ray.direction, tMin: near, tMax: far };
      const options = { layers: layers.mask >>> 0 };
      const nearest = await tracker.raycast(given, options);
      faults.push(...rayFaults(raycaster, root, nearest, await tracker.raycastAll(given, options)));
    }
    tracker.dispose();
  }
  expect(faults).toEqual([]);
});

/** Two boxes: instance 0 in the middle, 1 far to the right. */
function twoBoxes(): { batch: BatchedMesh; box: number } {
  const batch = new BatchedMesh(4, 400, 400, new MeshBasicMaterial());
  const box = batch.addGeometry(new BoxGeometry(2, 2, 2), 100, 100);
  if (HAS_INSTANCES) batch.addInstance(box);
  if (HAS_INSTANCES) batch.addInstance(box);
  else batch.addGeometry(new BoxGeometry(2, 2, 2), 100, 100);
  batch.setMatrixAt(0, new Matrix4());
  batch.setMatrixAt(1, new Matrix4().makeTranslation(50, 0, 0));
  return { batch, box };
}

describe('one instance', () => {
  test('is named by its number in hits, targets, and by its id', async () => {
    const { batch } = twoBoxes();
    const behind = cube();
    behind.position.z = -5;
    const tracker = await trackScene(service, new Scene().add(batch, behind), UNRENDERED);
    await settle(tracker, frontCamera());
    const hit = (await pickCenter(tracker))!;
    expect(hit).toMatchObject({ object: batch, batchId: 0, distance: 9 });
    expect('instanceId' in hit).toBe(false);
    const ids = tracker.idsOf(batch);
    expect(ids).toHaveLength(2);
    const { object, instanceId } = tracker.objectOf(ids[1]);
    expect(object).toBe(batch);
    expect(instanceId).toBe(1);
    for (const ignore of [[hit], [{ object: batch, instanceId: 0 }], [{ object: batch, batchId: 0 }], [batch]]) {
      expect((await tracker.pick(400, 300, { ignore }))?.object).toBe(behind);
    }
    const other = [{ object: batch, batchId: 1 }];
    expect((await tracker.pick(400, 300, { ignore: other }))?.object).toBe(batch);
    await expect(tracker.pick(400, 300, { ignore: [{ object: behind, batchId: 0 }] })).rejects.toThrow(
      /ignore\[0\]\.batchId is 0, expected none/,
    );
    await expect(tracker.contact(batch, behind)).rejects.toThrow(/a is "BatchedMesh", expected one instance/);
    const everywhere = { x: 0, y: 0, width: 800, height: 600 };
    const found = await tracker.pickRegion(everywhere);
    expect([found.length, found.includes(batch), found.includes(behind)]).toEqual([2, true, true]);
    const instances = await tracker.pickRegion(everywhere, { instances: true });
    expect(instances.map((each) => [each.object === batch, each.instanceId])).toContainEqual([true, 0]);
    expect(instances).toHaveLength(2); // the other one is beyond the border
  });

  test('that is hidden or deleted is not there; contacts end and begin again, under the same id', async () => {
    const { batch } = twoBoxes();
    const other = new Mesh(new BoxGeometry(1, 1, 1), new MeshBasicMaterial());
    other.position.x = 1;
    const tracker = await trackScene(service, new Scene().add(batch, other), { ...UNRENDERED, contacts: 'any' });
    const camera = frontCamera();
    await settle(tracker, camera);
    const ids = [...tracker.idsOf(batch)];
    const touching = async () => {
      const frame = await tracker.update(camera, { width: 800, height: 600 });
      return frame.contactsOf({ object: batch, batchId: 0 }).map(({ b }) => b.object);
    };
    expect(await touching()).toEqual([other]);
    batch.setVisibleAt(0, false);
    expect(await touching()).toEqual([]);
    expect((await tracker.pick(390, 300))?.object).not.toBe(batch);
    batch.setVisibleAt(0, true);
    expect(await touching()).toEqual([other]);
    expect([...tracker.idsOf(batch)]).toEqual(ids);
    if ('deleteInstance' in batch) batch.deleteInstance(0);
    else (batch as BatchedMesh).deleteGeometry(0);
    expect(await touching()).toEqual([]);
    expect(tracker.untracked.size).toBe(0);
  });

  test('with a matrix that has no inverse is hidden until it has a better one', async () => {
    const { batch } = twoBoxes();
    const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
    await settle(tracker, frontCamera());
    batch.setMatrixAt(0, new Matrix4().makeScale(0, 0, 0));
    await settle(tracker, frontCamera());
    expect(await pickCenter(tracker)).toBeNull();
    batch.setMatrixAt(0, new Matrix4());
    await settle(tracker, frontCamera());
    expect(await pickCenter(tracker)).toMatchObject({ object: batch, batchId: 0 });
  });
});

test('moving instances is one block of matrices, and no command', async () => {
  const { batch } = twoBoxes();
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  const blocks = vi.spyOn(service, 'moveInstances');
  const commands = [vi.spyOn(service, 'setObject'), vi.spyOn(service, 'setLayers'), vi.spyOn(service, 'addMesh')];
  await settle(tracker, frontCamera());
  expect(blocks).not.toHaveBeenCalled();
  batch.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, 1));
  await settle(tracker, frontCamera());
  expect(blocks).toHaveBeenCalledTimes(1);
  for (const command of commands) expect(command).not.toHaveBeenCalled();
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(8, 6);
});

test.runIf('optimize' in BatchedMesh.prototype)('what only moves in the buffers is not built again', async () => {
  const { batch, box } = twoBoxes();
  const last = batch.addGeometry(new BoxGeometry(4, 4, 4), 30, 50);
  batch.setGeometryIdAt(0, last);
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  const before = (await pickCenter(tracker))!;
  expect(before).toMatchObject({ distance: 8, batchId: 0 });
  const builds = [vi.spyOn(service, 'addMesh'), vi.spyOn(service, 'updateMesh')];
  batch.deleteGeometry(box); // and instance 1 with it
  const { attributes, index } = batch.geometry;
  const { version } = index!;
  batch.optimize();
  // With older versions the app must set it: otherwise, their renderers do not see the change either.
  if (index!.version === version) for (const each of [attributes.position, index!]) each.needsUpdate = true;
  await settle(tracker, frontCamera());
  const after = (await pickCenter(tracker))!;
  expect(after.face!.a).not.toBe(before.face!.a);
  const raycaster = new Raycaster(new Vector3(0.1, 0.3, 9), new Vector3(0, 0, -1));
  const all = await tracker.raycastAll(raycaster.ray);
  expect(rayFaults(raycaster, batch, await tracker.raycast(raycaster.ray), all)).toEqual([]);
  for (const build of builds) expect(build).not.toHaveBeenCalled();
  expect(service.stats).toMatchObject({ objects: 2, meshes: 1 });
});

test('vertices that move in the buffers move at once', async () => {
  const { batch } = twoBoxes();
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  const { position } = batch.geometry.attributes;
  for (let i = 0; i < position.count; i++) position.setZ(i, 2 * position.getZ(i));
  position.needsUpdate = true;
  const built = vi.spyOn(service, 'addMesh');
  await tracker.update(frontCamera(), { width: 800, height: 600 });
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(8, 6);
  expect(built).not.toHaveBeenCalled();
});

test('a geometry without triangles leaves out its instances, and says so', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { batch } = twoBoxes();
  const flat = new BoxGeometry(0, 0, 0);
  const number = batch.addGeometry(flat);
  const instance = HAS_INSTANCES ? batch.addInstance(number) : number;
  batch.setMatrixAt(instance, new Matrix4().makeTranslation(0, 0, 5));
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.get(batch)).toMatchObject({ code: 'BAD_DATA' });
  expect(warn).toHaveBeenCalledTimes(1);
  expect(await pickCenter(tracker)).toMatchObject({ object: batch, batchId: 0 });
});

test('an array of materials, of which three draws nothing, is said to be the reason', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { batch } = twoBoxes();
  const material = batch.material;
  batch.material = [material] as never;
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.get(batch)?.message).toMatch(/array of materials in the BatchedMesh, expected one material/);
  expect(warn).toHaveBeenCalledTimes(1);
  batch.material = material;
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect(await pickCenter(tracker)).toMatchObject({ object: batch, batchId: 0 });
});

test('one whose matrices cannot be read comes back with others', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { batch } = twoBoxes();
  const insides = batch as unknown as { _matricesTexture: unknown };
  const texture = insides._matricesTexture;
  insides._matricesTexture = { image: { data: [] } };
  const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
  await settle(tracker, frontCamera());
  expect(tracker.untracked.get(batch)).toMatchObject({ code: 'UNSUPPORTED' });
  insides._matricesTexture = texture;
  await settle(tracker, frontCamera());
  expect(tracker.untracked.size).toBe(0);
  expect(await pickCenter(tracker)).toMatchObject({ object: batch, batchId: 0 });
});

test('a shape stands for each instance, and what the app says of it is asked again', async () => {
  const { batch } = twoBoxes();
  let radius = 3;
  const tracker = await trackScene(service, new Scene().add(batch), {
    ...UNRENDERED,
    shapeOf: () => (radius > 0 ? { type: 'sphere', radius } : undefined),
  });
  await settle(tracker, frontCamera());
  expect(service.stats).toMatchObject({ objects: 2, meshes: 0 });
  const ids = [...tracker.idsOf(batch)];
  const hit = (await pickCenter(tracker))!;
  expect(hit).toMatchObject({ object: batch, batchId: 0, face: null, faceIndex: null, distance: 7 });
  expect(hit.normal!.distanceTo(new Vector3(0, 0, 1))).toBeLessThan(1e-6);
  batch.setVisibleAt(0, false);
  await settle(tracker, frontCamera());
  expect(await pickCenter(tracker)).toBeNull();
  batch.setVisibleAt(0, true);
  radius = 2;
  tracker.changed(batch);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(8, 6);
  radius = 0;
  tracker.changed(batch);
  await settle(tracker, frontCamera());
  expect(await pickCenter(tracker)).toMatchObject({ batchId: 0, distance: 9, faceIndex: expect.any(Number) });
  radius = 2;
  tracker.changed(batch);
  await settle(tracker, frontCamera());
  expect((await pickCenter(tracker))?.distance).toBeCloseTo(8, 6);
  expect([...tracker.idsOf(batch)]).toEqual(ids);
  // Its geometries, each of which had a mesh, are released.
  expect(service.stats).toMatchObject({ objects: 2, meshes: 0 });
});

test('one that is disposed, or is removed, leaves nothing', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const [{ batch }, { batch: other }] = [twoBoxes(), twoBoxes()];
  const scene = new Scene().add(batch, other);
  const tracker = await trackScene(service, scene, UNRENDERED);
  scene.remove(batch);
  other.dispose();
  await settle(tracker, frontCamera());
  expect(service.stats.objects).toBe(0);
  expect(tracker.untracked.get(other)).toMatchObject({ code: 'UNSUPPORTED' });
  await settle(tracker, frontCamera());
  expect(service.stats.meshes).toBe(0);
});

describe.runIf(HAS_INSTANCES)('what three says of instances', () => {
  /** Two cubes side by side; three's own flag is as after a render: no change was marked. */
  async function twoCubes() {
    const batch = new BatchedMesh(4, 100, 200, new MeshBasicMaterial());
    const geometry = batch.addGeometry(new BoxGeometry());
    const instances = [0, 10].map((x) => {
      const instance = batch.addInstance(geometry);
      batch.setMatrixAt(instance, new Matrix4().makeTranslation(x, 0, 0));
      return instance;
    });
    const tracker = await trackScene(service, new Scene().add(batch), UNRENDERED);
    const insides = batch as unknown as { _visibilityChanged: unknown; _instanceInfo: { visible: boolean }[] };
    const update = () => settle(tracker, frontCamera());
    await update();
    insides._visibilityChanged = false;
    await update();
    return { batch, instances, tracker, insides, update };
  }

  test('is heard, though a picture is drawn before the frame', async () => {
    const { batch, instances, tracker, insides, update } = await twoCubes();
    expect((await pickCenter(tracker))?.batchId).toBe(instances[0]);
    batch.setVisibleAt(instances[0], false);
    expect(insides._visibilityChanged).toBe(true);
    insides._visibilityChanged = false; // as three does when it draws
    await update();
    expect(await pickCenter(tracker)).toBeNull();
    batch.setVisibleAt(instances[0], true);
    insides._visibilityChanged = false;
    await update();
    expect((await pickCenter(tracker))?.batchId).toBe(instances[0]);
  });

  test('is not needed: what others write is seen within a second', async () => {
    const { instances, tracker, insides, update } = await twoCubes();
    expect((await pickCenter(tracker))?.batchId).toBe(instances[0]);
    insides._instanceInfo[instances[0]].visible = false;
    await vi.waitFor(
      async () => {
        await update();
        expect(await pickCenter(tracker)).toBeNull();
      },
      { timeout: 10_000, interval: 20 },
    );
  });

  test('is what it was for those that read it, and a plain property again behind the last tracker', async () => {
    const { batch, tracker, insides, update } = await twoCubes();
    const other = await createCollisionService();
    const second = await trackScene(other, batch, UNRENDERED);
    for (const value of [true, false, 2]) {
      insides._visibilityChanged = value;
      expect(insides._visibilityChanged).toBe(value);
    }
    second.dispose();
    expect((await pickCenter(tracker))?.batchId).toBe(0);
    batch.setVisibleAt(0, false);
    await update();
    expect(await pickCenter(tracker)).toBeNull();
    tracker.dispose();
    await vi.waitFor(() => {
      expect(Object.getOwnPropertyDescriptor(batch, '_visibilityChanged')).toEqual({
        value: true,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }, 10_000);
    other.dispose();
  });
});
