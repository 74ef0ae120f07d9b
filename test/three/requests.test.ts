// `changed` for a scene of thousands: it is traversed in slices, and a query sees all of it up to date.
import { trackScene } from 'collision-worker/three';
import {
  BackSide,
  BoxGeometry,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Scene,
} from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { comparePicks, randomCamera, SIZE } from '../fixtures/three-picks.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const RADIUS = 6;
const GROUPS = 30;
const MESHES = 1200;
/** Milliseconds by the test's clock per call for one object: a slice has time for a few. */
const ASKING = 0.5;

/** Static objects of every kind, in groups, and some as children of others. */
function stillScene(random: Random): Scene {
  const root = new Scene();
  const geometries = [new BoxGeometry(0.8, 0.8, 0.8), new IcosahedronGeometry(0.6)];
  const material = new MeshBasicMaterial();
  const groups: Object3D[] = Array.from({ length: GROUPS }, () => new Group());
  const parents = [...groups];
  root.add(...groups);
  for (let i = 0; i < MESHES; i++) {
    const geometry = random.pick(geometries);
    const isOfMany = random.chance(0.1) && geometry.groups.length > 0;
    const object = random.chance(0.02)
      ? new InstancedMesh(geometry, material, 3)
      : new Mesh(geometry, isOfMany ? Array.from({ length: 6 }, () => material) : material);
    if (object instanceof InstancedMesh) {
      for (let k = 0; k < 3; k++) object.setMatrixAt(k, new Matrix4().setPosition(random.point(1)));
    }
    object.name = `${i}`;
    object.position.copy(random.point(RADIUS));
    random.pick(parents).add(object);
    if (random.chance(0.3)) parents.push(object);
  }
  root.updateMatrixWorld();
  return root;
}

/** Changes most of it, in all the ways in which static objects change. */
function change(root: Scene, random: Random): void {
  const other = new MeshBasicMaterial({ side: BackSide });
  for (const group of root.children) {
    group.visible = random.chance(0.8);
    if (random.chance(0.3)) group.position.copy(random.point(1));
    const below: Mesh[] = [];
    group.traverse((object) => object instanceof Mesh && below.push(object));
    for (const object of below) {
      const kind = random.next();
      if (kind < 0.4) object.position.copy(random.point(RADIUS));
      else if (kind < 0.5) object.visible = false;
      else if (kind < 0.6) object.material = other;
      else if (kind < 0.7) object.layers.set(1);
      else if (kind < 0.85) leaveOut(object);
      else if (kind < 0.9 && object.children.length === 0) random.pick(root.children).add(object);
    }
  }
  root.updateMatrixWorld();
}

/** Makes `objectOptions`, and three's Raycaster, treat it as not pickable. */
function leaveOut(object: Object3D): void {
  object.userData.pickable = false;
  object.raycast = () => {};
}

test.each([
  ['a question comes first', false],
  ['nobody asks', true],
])(`what changed in thousands is seen in slices, %s, seed ${SEED}`, async (_, isLeftAlone) => {
  const random = new Random(SEED);
  const root = stillScene(random);
  const clock = performance.now();
  let asked = 0;
  let calls = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock + ASKING * calls);
  const tracker = await trackScene(service, root, {
    objectOptions({ userData: { pickable = true } }) {
      asked++;
      calls++;
      return { motion: 'static', pickable };
    },
  });
  for (let round = 0; round < 3; round++) {
    const camera = randomCamera(random, RADIUS);
    await tracker.update(camera, SIZE);
    change(root, random);
    tracker.changed(root);
    asked = 0;
    const frame = tracker.update(camera, SIZE);
    expect(asked).toBeLessThan(MESHES / 2);
    if (isLeftAlone) {
      // Objects that move from a parent that is still to be visited to one that was visited.
      for (const group of root.children) {
        const below = group.children
          .flatMap((object) => object.children)
          .filter(({ children }) => children.length === 0);
        if (below.length > 0) root.add(random.pick(below));
      }
      while (asked < MESHES) await new Promise((resolve) => setTimeout(resolve));
    }
    // Moved, shown and hidden objects are known to the frame itself.
    const compared = comparePicks(tracker, root, camera, random, 60);
    expect(asked).toBe(MESHES);
    const { faults, hits } = await compared;
    expect(faults).toEqual([]);
    expect(hits).toBeGreaterThan(10);
    await frame;
  }
});

test('is looked at again and again where it is asked for in every frame, and comes to an end', async () => {
  const random = new Random(SEED);
  const root = stillScene(random);
  const clock = performance.now();
  const asked = new Map<Object3D, number>();
  let calls = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock + ASKING * calls);
  const tracker = await trackScene(service, root, {
    objectOptions(object) {
      calls++;
      asked.set(object, (asked.get(object) ?? 0) + 1);
      return { motion: 'static' };
    },
  });
  asked.clear();
  const camera = randomCamera(random, RADIUS);
  while (asked.size < MESHES) {
    tracker.changed(root);
    tracker.update(camera, SIZE).catch(() => {});
  }
  // Each had its turn before any had many.
  expect(Math.max(...asked.values())).toBeLessThanOrEqual(10);
  await tracker.pick(1, 1);
});
