// A forest of 40,000 trees, of which only those are drawn that the camera sees. It looks where the pointer is.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const COUNT = 40_000;

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.5, 400);
camera.position.y = 6;
const scene = new THREE.Scene();
scene.fog = new THREE.Fog(0x10141c, 30, 280);
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

// The worker knows all trees; they are in no scene that is drawn.
const geometry = new THREE.ConeGeometry(0.6, 2.5, 7);
export const forest = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial(), COUNT);
const matrix = new THREE.Matrix4();
for (let i = 0; i < COUNT; i++) {
  const [distance, turn] = [10 + 290 * Math.sqrt(i / COUNT), i * Math.PI * (3 - Math.sqrt(5))];
  forest.setMatrixAt(i, matrix.makeTranslation(distance * Math.cos(turn), 1.25, distance * Math.sin(turn)));
}

// What is drawn has the same geometry, and as many instances as are seen.
export const drawn = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ color: 0x58b58d }), COUNT);
drawn.frustumCulled = false;
scene.add(drawn);

const size = { width: 0, height: 0 };
const resize = () => {
  Object.assign(size, { width: innerWidth, height: innerHeight });
  renderer.setSize(size.width, size.height);
  camera.aspect = size.width / size.height;
  camera.updateProjectionMatrix();
};
addEventListener('resize', resize);
resize();

const service = await createCollisionService();
// Nobody draws the forest and brings its matrix up to date, so the tracker does.
const tracker = await trackScene(service, forest, {
  objectOptions: () => ({ motion: 'static' }),
  updateMatrixWorld: true,
});

const seen = new Uint32Array(COUNT);
renderer.setAnimationLoop(async () => {
  renderer.render(scene, camera);
  // The frustum is grown by what the camera moves until the answer is drawn.
  const frame = await tracker.update(camera, size, { margin: 'motion' });
  drawn.count = frame.visibleInstances(forest, seen);
  const [from, to] = [forest.instanceMatrix.array, drawn.instanceMatrix.array];
  for (let i = 0; i < drawn.count; i++) to.set(from.subarray(16 * seen[i], 16 * seen[i] + 16), 16 * i);
  drawn.instanceMatrix.needsUpdate = true;
  document.querySelector('output')!.textContent = `${drawn.count} of ${COUNT} trees are drawn`;
});

addEventListener('pointermove', ({ clientX }) => {
  camera.rotation.y = -2 * Math.PI * (clientX / size.width);
});
