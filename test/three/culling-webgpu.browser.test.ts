// Images of WebGPURenderer with `culling` are those without it; here with its WebGL backend, since browsers without a
// graphics card have no other.
import { createCollisionService } from 'collision-worker';
import { BatchedMesh, BoxGeometry, Group, Mesh, MeshLambertMaterial, PerspectiveCamera, TorusGeometry } from 'three';
import { WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { flyAndCompare, forest, litScene, PICTURE, randomTransform } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

test(`instances and meshes, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  const renderer = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await renderer.init();
  renderer.setSize(PICTURE.width, PICTURE.height);
  const trees = forest(random, 300);
  const rings = new Group();
  for (let i = 0; i < 60; i++) {
    const ring = new Mesh(new TorusGeometry(1, 0.2, 4, 8), new MeshLambertMaterial());
    randomTransform(random, 30).decompose(ring.position, ring.quaternion, ring.scale);
    rings.add(ring);
  }
  const camera = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 100);
  const step = (frame: number): void => {
    rings.rotation.y += 0.01;
    if (frame % 3 > 0) return;
    for (let i = 0; i < 300; i += 10) trees.setMatrixAt(i, randomTransform(random, 30));
    trees.instanceMatrix.needsUpdate = true;
    trees.boundingSphere = null;
  };
  const scene = litScene(trees, rings);
  const { instances } = await flyAndCompare(random, { service, painter: renderer, scene, camera, step, frames: 20 });
  expect(instances).toBeGreaterThan(20 * 100);
  service.dispose();
  renderer.dispose();
});

test.each([true, false])(`a batch, sorted: %s, seed ${SEED}`, async (sortObjects) => {
  const random = new Random(SEED);
  const service = await createCollisionService();
  const renderer = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await renderer.init();
  renderer.setSize(PICTURE.width, PICTURE.height);
  const material = new MeshLambertMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
  const batch = new BatchedMesh(300, 1000, 1000, material);
  batch.sortObjects = sortObjects;
  const geometries = [new BoxGeometry(1, 3, 1), new TorusGeometry(1, 0.2, 4, 8)].map((each) => batch.addGeometry(each));
  for (let i = 0; i < 300; i++)
    batch.setMatrixAt(batch.addInstance(random.pick(geometries)), randomTransform(random, 30));
  const step = (): void => {
    for (let n = 0; n < 20; n++) batch.setMatrixAt(random.integer(300), randomTransform(random, 30));
    batch.setVisibleAt(random.integer(300), random.chance(0.5));
  };
  const camera = new PerspectiveCamera(60, PICTURE.width / PICTURE.height, 0.1, 100);
  const { instances } = await flyAndCompare(random, {
    service,
    painter: renderer,
    scene: litScene(batch),
    camera,
    step,
    frames: 15,
  });
  expect(instances).toBeGreaterThan(15 * 80);
  service.dispose();
  renderer.dispose();
});
