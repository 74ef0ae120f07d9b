// A LOD of `culling.levels` that had lost the level
// that its size in pixels selects was not drawn at all.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, LOD, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

test('it shows its last one, and the others once it has these again', async () => {
  const lod = new LOD();
  const make = () => new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  for (let i = 0; i < 3; i++) lod.addLevel(make(), 1000 * i);
  lod.position.z = -10;
  const scene = new Scene().add(lod);
  const camera = pictureCamera();
  const levels = (object: object) => (object === lod ? [{ pixels: 1000 }, { pixels: 500 }] : []);
  const tracker = await trackScene(service, scene, { culling: { levels } });
  const shown = async () => {
    await tracker.update(camera, PICTURE);
    renderer.render(scene, camera);
    await tracker.update(camera, PICTURE);
    return lod.levels.map(({ object }) => object.visible);
  };
  expect(await shown()).toEqual([false, false, true]);
  lod.remove(lod.levels.pop()!.object);
  expect(await shown()).toEqual([false, true]);
  expect(lod.getCurrentLevel()).toBe(1);
  lod.remove(...lod.levels.splice(0).map(({ object }) => object));
  expect(await shown()).toEqual([]);
  for (let i = 0; i < 4; i++) lod.addLevel(make(), 1000 * i);
  expect(await shown()).toEqual([false, false, true, false]);
  // For another camera the first level is selected by distance, in which it is equally large.
  expect(compareCulling(renderer, scene, camera)).toMatchObject({ count: 0 });
});
