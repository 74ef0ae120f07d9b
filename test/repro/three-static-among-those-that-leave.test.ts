// The list of static objects that are checked in turn closed its holes during a round, so that others moved up to slots already
// checked: their motion was noticed a round later, after more than a second.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

withService();

test('static objects move a second before a frame, while few others leave now and then', async () => {
  let clock = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const scene = new Scene();
  const [box, material] = [new BoxGeometry(), new MeshBasicMaterial()];
  const meshes = Array.from({ length: 700 }, (_, i) => {
    const mesh = new Mesh(box, material);
    mesh.position.x = 3 * i;
    scene.add(mesh);
    return mesh;
  });
  scene.updateMatrixWorld();
  const tracker = await trackScene(service, scene, { objectOptions: () => ({ motion: 'static' }) });
  const late = new Set<Mesh>();
  for (let second = 0; second < 100; second++) {
    if (second % 3 === 0) for (const gone of meshes.splice(5, 3)) gone.removeFromParent();
    // Short frames before a long one make the latter check some first, then the others.
    for (const ms of [...Array(1 + (second % 7)).fill(16), 1000]) {
      clock += ms;
      for (const mesh of meshes) mesh.position.y++;
      scene.updateMatrixWorld();
      await tracker.update(frontCamera(), SIZE);
    }
    for (const mesh of meshes) {
      if (!service.isPlacedAs(tracker.idsOf(mesh)[0], mesh.matrixWorld.elements)) late.add(mesh);
    }
  }
  expect(late.size).toBe(0);
});
