// Thousands of objects that an ancestor hides and shows, that are removed with it and come back: shown ones are added in
// slices, and a query sees all of them; hidden ones are hidden in the same update.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, Object3D, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { comparePicks, randomCamera, SIZE } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 12;
const MESHES = 3000;
const ROUNDS = 40;
/** Milliseconds by the test's clock between two checks of it: each slice is as small as possible. */
const LOOK = 5;

/** A crowd, a tenth of which are children of others. */
function crowdOf(random: Random): Group {
  const geometry = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const crowd = new Group();
  const parents: Object3D[] = [crowd, new Group(), new Group()];
  crowd.add(parents[1], parents[2]);
  for (let i = 0; i < MESHES; i++) {
    const mesh = new Mesh(geometry, material);
    mesh.position.copy(random.point(RADIUS));
    (random.chance(0.5) ? crowd : random.pick(parents)).add(mesh);
    if (i % 10 === 0) parents.push(mesh);
  }
  return crowd;
}

test(`a crowd is hidden, shown, leaves and comes back in the midst of it, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const clock = performance.now();
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock + LOOK * looks++);
  const root = new Scene();
  const crowd = crowdOf(random);
  root.add(crowd);
  root.updateMatrixWorld();
  const tracker = await trackScene(service, root);
  const camera = randomCamera(random, RADIUS);
  const answers: Promise<unknown>[] = [];
  let [late, hits] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const isThere = crowd.parent === root;
    if (random.chance(0.2)) isThere ? root.remove(crowd) : root.add(crowd);
    else crowd.visible = !crowd.visible;
    if (random.chance(0.5)) random.pick(crowd.children).visible = random.chance(0.6);
    if (random.chance(0.3)) random.pick(crowd.children).position.copy(random.point(RADIUS));
    if (random.chance(0.3)) crowd.add(random.pick(crowd.children[0].children) ?? new Object3D());
    root.updateMatrixWorld();
    answers.push(tracker.update(camera, SIZE));
    const { pending } = tracker;
    if (pending.length > 0) late++;
    // Additions and removals take slices; queries see hiding and showing at once.
    const isSettled = crowd.parent === root ? isThere && service.stats.objects === MESHES : service.stats.objects === 0;
    if (random.chance(0.3) || !isSettled) {
      for (let tasks = random.integer(6); tasks > 0; tasks--) await new Promise((resolve) => setTimeout(resolve));
      if (!isSettled && random.chance(0.5)) continue; // changed again in the midst of it
    }
    if (!isSettled) {
      do await tracker.update(camera, SIZE);
      while (tracker.pending.length > 0 || service.stats.objects !== (crowd.parent === root ? MESHES : 0));
    }
    const compared = await comparePicks(tracker, root, camera, random, 25);
    expect(compared.faults, `round ${round}`).toEqual([]);
    hits += compared.hits;
  }
  await Promise.all(answers);
  expect(late).toBeGreaterThan(5);
  expect(hits).toBeGreaterThan(25);
});

test('what has come and what leaves does so without another frame', async () => {
  const random = new Random(SEED);
  const clock = performance.now();
  let looks = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock + LOOK * looks++);
  const root = new Scene();
  const tracker = await trackScene(service, root);
  const before = service.stats.objects;
  const crowd = crowdOf(random);
  for (const count of [MESHES, 0]) {
    count > 0 ? root.add(crowd) : root.remove(crowd);
    root.updateMatrixWorld();
    const answer = tracker.update(randomCamera(random, RADIUS), SIZE);
    expect(service.stats.objects).not.toBe(before + count);
    await answer;
    await vi.waitFor(() => expect(service.stats.objects).toBe(before + count), { timeout: 20_000 });
  }
  tracker.dispose();
  now.mockRestore();
});
