// Thousands of objects that are being removed are no longer visited before they are gone, and are visited again if they
// return in the midst of it.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE } from '../fixtures/three-picks.js';

withService();

const MESHES = 2000;
/** Milliseconds by the test's clock between two checks of it: each slice is as small as possible. */
const LOOK = 5;

const camera = new PerspectiveCamera();
const task = () => new Promise(setImmediate);

afterEach(() => vi.restoreAllMocks());

/** A scene of one crowd, a tenth of which are children of others, and its tracker, whose slices are small. */
async function start() {
  const clock = performance.now();
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock + LOOK * looks++);
  const [root, crowd] = [new Scene(), new Group()];
  const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];
  const meshes = Array.from({ length: MESHES }, () => new Mesh(geometry, material));
  meshes.forEach((mesh, i) => {
    mesh.position.x = 2 * i;
    (i % 10 === 9 ? meshes[i - 1] : crowd).add(mesh);
  });
  root.add(crowd);
  root.updateMatrixWorld();
  const tracker = await trackScene(service, root);
  await tracker.update(camera, SIZE);
  const isPlaced = (mesh: Mesh): boolean => {
    const ids = tracker.idsOf(mesh);
    return ids.length === 1 && service.isPlacedAs(ids[0], mesh.matrixWorld.elements);
  };
  return { root, crowd, meshes, tracker, isPlaced };
}

test('what leaves is looked at no more long before all of it is gone', async () => {
  const { root, crowd, meshes, tracker } = await start();
  let reads = 0;
  for (const mesh of meshes) {
    const { matrixWorld } = mesh;
    const get = () => {
      reads++;
      return matrixWorld;
    };
    Object.defineProperty(mesh, 'matrixWorld', { get });
  }
  await tracker.update(camera, SIZE);
  expect(reads).toBeGreaterThanOrEqual(MESHES); // each frame visits everything in the scene
  root.remove(crowd);
  const updates: Promise<unknown>[] = [];
  let most = 0;
  while (service.stats.objects > 0) {
    reads = 0;
    updates.push(tracker.update(camera, SIZE));
    if (reads === 0) most = Math.max(most, service.stats.objects);
    await task(); // in which a slice is done
  }
  await Promise.all(updates);
  expect(most).toBeGreaterThan(0.8 * MESHES);
});

/**
 * Removes the crowd from the scene and puts it back after this
 * many tasks. A frame in between has seen that it is removed.
 */
const leaveAndComeBack = async (tasks: number) => {
  const started = await start();
  const { root, crowd, tracker } = started;
  root.remove(crowd);
  const first = tracker.update(camera, SIZE);
  for (let i = 0; i < tasks; i++) await task();
  root.add(crowd);
  return { ...started, first };
};

const move = (root: Scene, meshes: readonly Mesh[]) => {
  for (const mesh of meshes) mesh.position.y += 1;
  root.updateMatrixWorld();
};

test('what comes back before any of it has gone is looked at again in the very update', async () => {
  const { root, meshes, tracker, isPlaced, first } = await leaveAndComeBack(0);
  expect(service.stats.objects).toBe(MESHES);
  for (const frame of [1, 2, 3]) {
    move(root, meshes);
    const update = tracker.update(camera, SIZE);
    expect(meshes.filter(isPlaced), `frame ${frame}`).toHaveLength(MESHES);
    await update;
  }
  await first;
});

test.each([1, 30, 250])(
  'what comes back after %i tasks comes as what is new does, and is where it is then',
  async (tasks) => {
    const { root, meshes, tracker, isPlaced, first } = await leaveAndComeBack(tasks);
    await first;
    do {
      move(root, meshes);
      await tracker.update(camera, SIZE);
    } while (tracker.pending.length > 0);
    for (const frame of [1, 2, 3]) {
      move(root, meshes);
      const update = tracker.update(camera, SIZE);
      expect(meshes.filter(isPlaced), `frame ${frame}`).toHaveLength(MESHES);
      await update;
    }
  },
);
