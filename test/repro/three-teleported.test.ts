// teleport() threw for a BatchedMesh with a deleted instance, moved a LOD to the position of another of its levels and a Sprite
// to an orientation that does not face the camera, and deformed SkinnedMeshes: three binds them to their position in
// `updateMatrixWorld` only.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  Bone,
  BoxGeometry,
  Float32BufferAttribute,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  Ray,
  Scene,
  Skeleton,
  SkinnedMesh,
  Sprite,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';

const SIZE = { width: 100, height: 100 };
const camera = new OrthographicCamera(-20, 20, 20, -20, 0.1, 100);
camera.position.z = 50;

const rayAt = (x: number, y: number): Ray => new Ray(new Vector3(x, y, 30), new Vector3(0, 0, -1));
const box = (): Mesh => new Mesh(new BoxGeometry(), new MeshBasicMaterial());

async function tracked(...objects: Object3D[]) {
  const service = await createCollisionService();
  const root = new Scene();
  if (objects.length > 0) root.add(...objects);
  root.updateMatrixWorld();
  const tracker = await trackScene(service, root);
  await tracker.update(camera, SIZE);
  const hitAt = async (x: number, y: number) => (await tracker.raycast(rayAt(x, y)))?.object ?? null;
  return { root, tracker, hitAt, [Symbol.dispose]: () => service.dispose() };
}

// Before r166 each geometry is its only instance.
test.runIf('addInstance' in BatchedMesh.prototype)('a BatchedMesh with a deleted instance', async () => {
  const batch = new BatchedMesh(4, 100, 200, new MeshBasicMaterial());
  const geometry = batch.addGeometry(new BoxGeometry());
  const instances = [0, 3, 6].map((x) => {
    const instance = batch.addInstance(geometry);
    batch.setMatrixAt(instance, new Matrix4().makeTranslation(x, 0, 0));
    return instance;
  });
  using scene = await tracked(batch);
  batch.deleteInstance(instances[1]);
  batch.position.y = 5;
  scene.tracker.teleport(scene.root);
  expect(await scene.hitAt(6, 5)).toBe(batch);
  await scene.tracker.update(camera, SIZE);
  expect(await scene.hitAt(3, 5)).toBe(null);
});

test('a LOD of which the levels are in other places', async () => {
  const [near, far] = [box(), box()];
  near.position.x = 3;
  far.position.x = -3;
  const lod = new LOD();
  lod.addLevel(near, 0).addLevel(far, 1000);
  lod.update(camera);
  using scene = await tracked(lod);
  lod.position.y = 5;
  scene.tracker.teleport(lod);
  expect(await scene.hitAt(3, 5)).toBe(near);
  expect(await scene.hitAt(-3, 5)).toBe(null);
});

test('a Sprite', async () => {
  const sprite = new Sprite();
  sprite.center.set(0, 0);
  sprite.scale.set(2, 2, 1);
  using scene = await tracked(sprite);
  sprite.position.y = 5;
  scene.tracker.teleport(sprite);
  expect(await scene.hitAt(1.5, 6.5)).toBe(sprite);
});

test('a SkinnedMesh, and one that was never drawn', async () => {
  using scene = await tracked(rigged());
  const [first] = scene.root.children;
  first.position.x = 4;
  scene.tracker.teleport(first);
  expect(await scene.hitAt(4, 0)).toBe(first);
  await scene.tracker.update(camera, SIZE);
  expect(await scene.hitAt(4, 0)).toBe(first);
  const second = rigged();
  second.position.y = 4;
  scene.root.add(second);
  do await scene.tracker.update(camera, SIZE);
  while (scene.tracker.pending.length > 0);
  await scene.tracker.update(camera, SIZE);
  expect(await scene.hitAt(0, 4)).toBe(second);
});

/** A box on a single bone. */
function rigged(): SkinnedMesh {
  const geometry = new BoxGeometry();
  const { count } = geometry.attributes.position;
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(new Uint16Array(4 * count), 4));
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(weights, 4));
  const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial());
  const bone = new Bone();
  mesh.add(bone);
  mesh.bind(new Skeleton([bone]));
  return mesh;
}
