// With `culling`, a callback of a render that moved the scene, rendered it by the same camera and moved it back, as for a flat
// mirror, left the instances of the inner picture to the outer one, which had yet to draw its own. So did the second of two renders
// by the same camera, turned.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

const SIZE = { width: 100, height: 100 };

test('each picture has its own instances', async () => {
  const material = new MeshBasicMaterial();
  const mirror = new Mesh(new BoxGeometry(), material);
  mirror.position.z = -5;
  const row = new InstancedMesh(new BoxGeometry(), material, 41);
  for (let i = 0; i < 41; i++) row.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - 20), 0, -10));
  const world = new Group().add(row);
  const scene = new Scene().add(mirror, world);
  const camera = new PerspectiveCamera(60, 1, 0.1, 100);
  const tracker = await trackScene(service, scene, { culling: true });
  for (let frame = 0; frame < 3; frame++) await tracker.update(camera, SIZE);
  const expected = new ListPainter().render(scene, camera);
  expect(expected.length).toBeLessThan(12);
  const move = (way: number) => world.translateX(20 * way);
  const turn = (way: number) => camera.rotateY(0.8 * way);
  let isInner = false;
  mirror.onBeforeRender = () => {
    if (isInner) return;
    isInner = true;
    for (const act of [move, turn, turn, move]) {
      act(1);
      const inner = new ListPainter().render(scene, camera);
      expect(inner.length).toBeLessThan(30);
      act(-1);
    }
    scene.updateMatrixWorld();
    camera.updateMatrixWorld();
    isInner = false;
  };
  const [, ...instances] = new ListPainter().render(scene, camera);
  for (const line of expected.slice(1)) expect(instances).toContain(line);
  expect(row.children).toEqual([]);
});
