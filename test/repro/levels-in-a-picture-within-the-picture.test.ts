// With `culling.levels`, a LOD showed the level of its distance, not the one of its pixels, in a tracked view that is rendered
// while another is, like a mirror's.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, LOD, Mesh, MeshBasicMaterial, PerspectiveCamera, Scene } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { ListPainter } from '../fixtures/list-painter.js';

withService();

const SIZE = { width: 100, height: 100 };

test('a LOD has the level of its pixels in each of both', async () => {
  const material = new MeshBasicMaterial();
  const [fine, coarse, screen] = [0, 1, 2].map(() => new Mesh(new BoxGeometry(), material));
  // By their distances, all cameras see the fine level.
  const lod = new LOD().addLevel(fine).addLevel(coarse, 1000);
  const scene = new Scene().add(lod, screen);
  screen.position.x = 1;
  const [camera, inner] = [new PerspectiveCamera(), new PerspectiveCamera()];
  camera.position.z = 5;
  inner.position.z = 50;
  const levels = (object: object) => (object === lod ? [{ pixels: 10 }] : []);
  const tracker = await trackScene(service, scene, { culling: { levels } });
  let innerLines: string[] = [];
  screen.onBeforeRender = (_renderer, _scene, drawing) => {
    if (drawing === camera) innerLines = new ListPainter().render(scene, inner);
  };
  for (let i = 0; i < 3; i++) {
    const lines = new ListPainter().render(scene, camera);
    if (i > 0) expect([lines, innerLines].map((each) => each[0])).toEqual([fine.uuid, coarse.uuid]);
    expect(Object.hasOwn(lod, 'update')).toBe(false);
    tracker.setView(inner, SIZE, 'inner');
    await tracker.update(camera, SIZE);
  }
});
