// Thousands of objects that an app moved into a new group were removed first, each searched for among all others: they stayed
// at their old positions, and every frame removed some of them again, so that the group of 80,000 was never added.
import type { Ray } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, type Object3D, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { endSlicesEarly } from '../fixtures/hurry.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

const MESHES = 3000;
const camera = frontCamera();
const [geometry, material] = [new BoxGeometry(), new MeshBasicMaterial()];

function rowOf(meshes: number): Mesh[] {
  return Array.from({ length: meshes }, (_, i) => {
    const mesh = new Mesh(geometry, material);
    mesh.position.x = 2 * i;
    return mesh;
  });
}

function rayAt(x: number, y: number): Ray {
  return { origin: [x, y, 5], direction: [0, 0, -1] };
}

/** Counts the children that are examined when one is searched for in their list. */
function countLooks({ children }: Object3D): { looks: number } {
  const count = { looks: 0 };
  const find = (other: Object3D): number => {
    const place = Array.prototype.indexOf.call(children, other);
    count.looks += 1 + place;
    return place;
  };
  const findBack = (other: Object3D, from = children.length - 1): number => {
    const place = Array.prototype.lastIndexOf.call(children, other, from);
    count.looks += 1 + (from < 0 ? children.length + from : from) - place;
    return place;
  };
  Object.assign(children, { indexOf: find, lastIndexOf: findBack, includes: (other: Object3D) => find(other) >= 0 });
  return count;
}

test('what moves below a new group is there in the very frame', async () => {
  endSlicesEarly();
  const root = new Scene();
  const model = new Group().add(...rowOf(MESHES));
  root.add(model);
  const tracker = await trackScene(service, root, { updateMatrixWorld: true });
  const meshes = [...model.children];
  const ids = meshes.map((mesh) => tracker.idsOf(mesh)[0]);

  const outer = new Group();
  const inner = new Group();
  root.add(outer);
  outer.add(inner);
  inner.add(...meshes);
  outer.position.y = 10;
  root.remove(model);
  const count = countLooks(inner);
  await tracker.update(camera, SIZE);
  expect(count.looks).toBeLessThan(MESHES);
  const [first, middle, last] = [0, MESHES / 2, MESHES - 1];
  for (const i of [first, middle, last]) {
    expect((await service.raycast(rayAt(2 * i, 10)))?.object).toBe(ids[i]);
    expect(await service.raycast(rayAt(2 * i, 0))).toBe(null);
  }
  inner.visible = false;
  await tracker.update(camera, SIZE);
  expect(await service.raycast(rayAt(2 * last, 10))).toBe(null);
});

test('what comes back while it leaves is not looked for among all', async () => {
  endSlicesEarly();
  const root = new Scene();
  const model = new Group().add(...rowOf(MESHES));
  root.add(model);
  const tracker = await trackScene(service, root, { updateMatrixWorld: true });
  root.remove(model);
  await tracker.update(camera, SIZE);
  const group = new Group().add(...model.children);
  const count = countLooks(group);
  root.add(group);
  do await tracker.update(camera, SIZE);
  while (tracker.pending.length > 0);
  expect(count.looks).toBeLessThan(10 * MESHES);
  expect(service.stats.objects).toBe(MESHES);
  expect(tracker.idsOf(group.children[MESHES - 1])).toHaveLength(1);
});

test('what is below a parent that was taken out by hand goes', async () => {
  const root = new Scene();
  const meshes = rowOf(3);
  root.add(...meshes);
  const tracker = await trackScene(service, root, { updateMatrixWorld: true });
  const group = new Group();
  root.add(group);
  root.children.splice(root.children.indexOf(group), 1);
  group.add(...meshes);
  await tracker.update(camera, SIZE);
  expect(service.stats.objects).toBe(0);
});
