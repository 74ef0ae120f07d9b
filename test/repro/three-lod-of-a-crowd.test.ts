// A level of a LOD with more children than a call takes arguments, some 120,000, was left out: the stack was full.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, LOD, Mesh, MeshBasicMaterial, Object3D, Scene } from 'three';
import { expect, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';
import { frontCamera, SIZE } from '../fixtures/three-picks.js';

const MANY = 150_000;

test('a LOD has a level of very many objects', async () => {
  const service = await createCollisionService();
  const crowd = new Group();
  // What counts is how many there are: all but one are one and the same.
  const [one, box] = [new Object3D(), new Mesh(new BoxGeometry(), new MeshBasicMaterial())];
  crowd.add(box, one);
  crowd.children = [...crowd.children, ...Array<Object3D>(MANY).fill(one)];
  const coarse = new Mesh(box.geometry, box.material);
  const lod = new LOD().addLevel(crowd, 0).addLevel(coarse, 50);
  const scene = new Scene().add(lod);
  scene.updateMatrixWorld();
  const levels = () => [{ pixels: 1e6 }]; // by its distance it is the crowd
  const tracker = await trackScene(service, scene, { culling: { levels } });
  expect(tracker.untracked).toEqual(new Map());
  const camera = frontCamera();
  await tracker.update(camera, SIZE);
  expect((await tracker.pick(SIZE.width / 2, SIZE.height / 2))?.object).toBe(box);
  expect(new ListPainter().render(scene, camera)).toEqual([coarse.uuid]);
  service.dispose();
});
