// Arrays spread as the arguments of a call, which may have 100,000 or so, ended in a RangeError: the ids that a moving object
// ignores besides itself, and the descendants of a level of a LOD.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, LOD, Mesh, MeshBasicMaterial, Object3D, PerspectiveCamera, Scene } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ListPainter } from '../fixtures/list-painter.js';

const MANY = 150_000;
const at = (x: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test('an object on its way ignores more than a call has arguments', async () => {
  const shape = { type: 'sphere', radius: 1 } as const;
  const ignore = Array.from(service.addInstances({ shape }, MANY));
  const wall = service.addObject({ shape, matrix: at(5) });
  expect(await service.sweep(ignore[7], at(0), at(9), { ignore })).toMatchObject({ object: wall });
  expect(await service.sweepAll(ignore[7], at(0), at(9), { ignore })).toMatchObject([{ object: wall }]);
  const descending = Uint32Array.from(ignore).reverse();
  expect(await service.place(ignore[7], at(4), { ignore: descending })).toMatchObject({
    objects: Uint32Array.of(wall),
  });
});

test('more is below a level of a LOD than a call has arguments', async () => {
  const level = new Group().add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const empty = new Object3D();
  empty.matrixWorldAutoUpdate = false;
  const lod = new LOD().addLevel(level);
  const scene = new Scene().add(lod);
  for (let i = 0; i < MANY; i++) {
    const child = i === 0 ? empty : Object.create(empty);
    child.children = [];
    child.parent = level;
    level.children.push(child);
  }
  const tracker = await trackScene(service, scene, { culling: { levels: () => [{ pixels: 1 }] } });
  const camera = new PerspectiveCamera();
  camera.position.z = 9;
  camera.updateMatrixWorld();
  const frame = await tracker.update(camera, { width: 100, height: 100 });
  new ListPainter().render(scene, camera);
  expect(tracker.untracked.size).toBe(0);
  let visible = 0;
  frame.forEachVisible(() => visible++);
  expect(visible).toBe(1);
  tracker.dispose();
});
