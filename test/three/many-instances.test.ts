// Instances that are added and removed in slices: existing ones are hit meanwhile, and ones to be removed are not.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, type Object3D, Scene, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { IndexSet } from '../../src/client/three/track/index-set.js';
import { MAX_BLOCK_SIZE as BLOCK } from '../../src/client/three/track/stand-in.js';
import { service, withService } from '../fixtures/each-service.js';
import { endSlicesEarly } from '../fixtures/hurry.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const COUNT = 5 * BLOCK + 100;
/** The first block first has this many instances, then three times as many, and then all. */
const FIRST_PART = 1024;

const forest = (count: number): InstancedMesh => {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), count);
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
  return mesh;
};
const hitAt = async (tracker: SceneTracker, x: number): Promise<[Object3D, number | undefined] | null> => {
  const hit = await tracker.raycast({ origin: new Vector3(x, 0, 5), direction: new Vector3(0, 0, -1) });
  return hit && [hit.object, hit.instanceId];
};
const update = (tracker: SceneTracker) => tracker.update(frontCamera(), SIZE);
const settled = async (tracker: SceneTracker, objects: number): Promise<void> => {
  for (let i = 0; service.stats.objects !== objects && i < 2000; i++) await update(tracker);
  expect(service.stats.objects).toBe(objects);
};

test('instances come a block in a slice, each in its place at once; what is there answers meanwhile', async () => {
  const mesh = forest(COUNT);
  mesh.position.y = 0.25;
  const other = cube(1);
  other.position.x = -4;
  const scene = new Scene().add(other);
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  await update(tracker);
  endSlicesEarly();
  for (let round = 0; round < 2; round++) {
    scene.add(mesh);
    scene.updateMatrixWorld();
    const counts = new Set<number>();
    let questions = 0;
    while (service.stats.objects < COUNT + 1 && questions < 2000) {
      await update(tracker);
      const { objects } = service.stats;
      if (objects < COUNT + 1) expect(tracker.pending).toContain(mesh);
      counts.add(objects);
      const last = objects - 2;
      // Nothing is ever at the origin except what is placed there.
      const answers = await Promise.all([-4, 0, 2 * last, 2 * (COUNT + 10)].map((x) => hitAt(tracker, x)));
      expect(answers[0]).toEqual([other, undefined]);
      if (last >= 0) expect(answers.slice(1)).toEqual([[mesh, 0], [mesh, last], null]);
      questions++;
    }
    // The first block is added in parts, and a result may arrive between two of them; all others are complete.
    const partial = [...counts].map((count) => count - 1).filter((count) => count < COUNT);
    expect(partial.filter((count) => count % (count < BLOCK ? FIRST_PART : BLOCK) !== 0)).toEqual([]);
    expect(tracker.idsOf(mesh)).toHaveLength(COUNT);
    expect(new Set(tracker.idsOf(mesh)).size).toBe(COUNT);
    // Removed instances are not hit any more from the update on, however long their removal takes.
    mesh.count = COUNT - 3 * BLOCK - 11;
    const shrinking = update(tracker);
    const left = service.stats.objects;
    expect(left).toBeGreaterThan(mesh.count + 1);
    const gone = Promise.all([mesh.count, mesh.count + 5000, left - 2].map((i) => hitAt(tracker, 2 * i)));
    expect(await hitAt(tracker, 2 * (mesh.count - 1))).toEqual([mesh, mesh.count - 1]);
    expect(await gone).toEqual([null, null, null]);
    await shrinking;
    // Before all have been removed, more are wanted again.
    mesh.count += 2 * BLOCK;
    await settled(tracker, mesh.count + 1);
    await update(tracker);
    for (const i of [0, mesh.count - 2 * BLOCK, mesh.count - 1]) expect(await hitAt(tracker, 2 * i)).toEqual([mesh, i]);
    expect(await hitAt(tracker, 2 * mesh.count)).toBeNull();
    // Nor are they if the mesh is removed as a whole.
    scene.remove(mesh);
    const leaving = update(tracker);
    expect(service.stats.objects).toBeGreaterThan(1);
    expect(await Promise.all([0, 7, mesh.count - 1].map((i) => hitAt(tracker, 2 * i)))).toEqual([null, null, null]);
    await leaving;
    await settled(tracker, 1);
    mesh.count = COUNT;
  }
});

test('many that are hidden, shown, in other layers, and some without a place, while they come and go', async () => {
  const mesh = forest(COUNT);
  const zero = new Matrix4().makeScale(0, 0, 0);
  const lost = [0, 17, BLOCK, 2 * BLOCK - 1, 3 * BLOCK + 5, COUNT - 1];
  for (const i of lost) mesh.setMatrixAt(i, zero);
  const scene = new Scene().add(mesh);
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  await update(tracker);
  await update(tracker);
  endSlicesEarly();
  const isSeen = async (i: number) => (await hitAt(tracker, 2 * i))?.[1] === i;
  const here = [1, BLOCK + 1, 4 * BLOCK];
  for (const i of lost) expect(await isSeen(i)).toBe(false);
  for (const i of here) expect(await isSeen(i)).toBe(true);
  mesh.visible = false;
  await update(tracker);
  for (const i of [...here, ...lost]) expect(await isSeen(i)).toBe(false);
  mesh.count = BLOCK + 10; // the rest is removed meanwhile
  await update(tracker);
  mesh.visible = true;
  await update(tracker);
  expect([await isSeen(1), await isSeen(BLOCK + 1), await isSeen(BLOCK + 11), await isSeen(4 * BLOCK)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect([await isSeen(0), await isSeen(BLOCK)]).toEqual([false, false]);
  mesh.count = COUNT;
  mesh.setMatrixAt(17, new Matrix4().makeTranslation(34, 0, 0));
  mesh.instanceMatrix.needsUpdate = true;
  await settled(tracker, COUNT);
  await update(tracker);
  await update(tracker);
  for (const i of [...here, 17]) expect(await isSeen(i)).toBe(true);
  for (const i of lost.filter((each) => each !== 17)) expect(await isSeen(i)).toBe(false);
});

test.each(['one after the other', 'with the service'])(
  'a tracker that is disposed takes all of it away, %s',
  async (way) => {
    const scene = new Scene().add(forest(COUNT), ...Array.from({ length: 300 }, () => cube(1)));
    scene.updateMatrixWorld();
    const tracker = await trackScene(service, scene);
    for (let i = 0; service.stats.objects < COUNT + 300 && i < 2000; i++) await update(tracker);
    endSlicesEarly();
    tracker.dispose();
    tracker.dispose();
    await expect(update(tracker)).rejects.toMatchObject({ code: 'DISPOSED' });
    if (way === 'with the service') {
      service.dispose();
      for (let i = 0; i < 20; i++) await new Promise(setImmediate);
      return;
    }
    // The same scene is tracked again meanwhile.
    const again = await trackScene(service, scene);
    for (let i = 0; service.stats.objects !== COUNT + 300 && i < 3000; i++) await update(again);
    expect(service.stats.objects).toBe(COUNT + 300);
    expect(await hitAt(again, 2 * (COUNT - 1))).toMatchObject([{}, COUNT - 1]);
    again.dispose();
    for (let i = 0; service.stats.meshes > 0 && i < 3000; i++) await new Promise(setImmediate);
    expect([service.stats.objects, service.stats.meshes]).toEqual([0, 0]);
  },
);

test(`a set of numbers is one, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const set = new IndexSet();
  const truth = new Set<number>();
  for (let step = 0; step < 5000; step++) {
    const index = random.integer(300);
    if (random.chance(0.02)) {
      set.deleteFrom(index);
      for (const each of [...truth]) if (each >= index) truth.delete(each);
    } else if (random.chance(0.4)) {
      set.delete(index);
      truth.delete(index);
    } else {
      set.add(index);
      truth.add(index);
    }
    const [first, end] = [random.integer(300), random.integer(340)];
    const found: number[] = [];
    set.forEach(first, end, (each) => found.push(each));
    expect(found).toEqual([...truth].filter((each) => each >= first && each < end).sort((a, b) => a - b));
    expect([set.size, set.has(index), set.has(index + 7)]).toEqual([
      truth.size,
      truth.has(index),
      truth.has(index + 7),
    ]);
  }
});

test('an instance that is to go stays hidden though it gets a place meanwhile', async () => {
  const count = 3 * BLOCK;
  const mesh = forest(count);
  const nowhere = new Matrix4().makeScale(0, 0, 0);
  for (const i of [7, BLOCK]) mesh.setMatrixAt(i, nowhere);
  const scene = new Scene().add(mesh);
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene);
  await settled(tracker, count);
  endSlicesEarly();
  mesh.count = 10;
  const first = update(tracker);
  for (const i of [7, BLOCK]) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * i, 0, 0));
  mesh.instanceMatrix.needsUpdate = true;
  const second = update(tracker);
  const answers = Promise.all([hitAt(tracker, 14), hitAt(tracker, 2 * BLOCK)]);
  expect(service.stats.objects).toBeGreaterThan(BLOCK);
  expect(await answers).toEqual([[mesh, 7], null]);
  await Promise.all([first, second]);
  await settled(tracker, 10);
});

test('a tracker that has ended works until all is gone, and no longer', async () => {
  const tracker = await trackScene(service, new Scene().add(forest(3 * BLOCK)));
  await settled(tracker, 3 * BLOCK);
  endSlicesEarly();
  tracker.dispose();
  expect(service.stats.objects).toBeGreaterThan(0);
  while (service.stats.objects > 0) await new Promise(setImmediate);
  await service.update();
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
  // Each slice checks the clock, and each of these tasks would have more than one check.
  const looks = vi.mocked(performance.now).mockClear();
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setTimeout(resolve));
  expect(looks.mock.calls.length).toBeLessThan(80);
});
