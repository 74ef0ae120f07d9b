// World matrices are those that three would have: a matrix that
// an app has set by hand, and that three does not update, stays.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { SIZE } from '../fixtures/three-picks.js';

withService();

const camera = new PerspectiveCamera();
const UP = { origin: new Vector3(0, -50, 0), direction: new Vector3(0, 1, 0) };

test('a world matrix that is set by hand, below ancestors that stay, is where the object is', async () => {
  const mesh = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  const group = new Group().add(mesh);
  const scene = new Scene().add(group);
  for (const object of [scene, group, mesh]) object.matrixAutoUpdate = false;
  const tracker = await trackScene(service, scene, { updateMatrixWorld: true });
  await tracker.update(camera, SIZE);
  for (const y of [7, -3, 20]) {
    mesh.matrixWorld.makeTranslation(0, y, 0);
    await tracker.update(camera, SIZE);
    const hit = await tracker.raycast(UP);
    expect(mesh.matrixWorld.elements[13]).toBe(y);
    expect(hit!.point.y).toBeCloseTo(y - 1, 6);
  }
  // Once an ancestor has moved, three recomputes it from the local matrix.
  group.position.y = 4;
  group.matrixAutoUpdate = true;
  await tracker.update(camera, SIZE);
  expect((await tracker.raycast(UP))!.point.y).toBeCloseTo(3, 6);
  tracker.dispose();
});

test('what was never drawn is where it will be, below what is above the root as well', async () => {
  const mesh = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  const root = new Group().add(new Group().add(mesh));
  new Scene().add(new Group().add(root));
  root.parent!.position.y = 5;
  mesh.parent!.position.y = 2;
  const tracker = await trackScene(service, root);
  expect((await tracker.raycast(UP))!.point.y).toBeCloseTo(6, 6);
  tracker.dispose();
});
