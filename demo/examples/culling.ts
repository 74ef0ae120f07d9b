// A forest of 40,000 trees, of which only those are drawn that the camera sees. The camera turns towards the pointer.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const COUNT = 40_000;

export const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.5, 400);
camera.position.y = 6;
export const scene = new THREE.Scene();
scene.fog = new THREE.Fog(0x10141c, 30, 280);
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

const geometry = new THREE.ConeGeometry(0.6, 2.5, 7);
const material = new THREE.MeshStandardMaterial({ color: 0x58b58d });
export const forest = new THREE.InstancedMesh(geometry, material, COUNT);
const matrix = new THREE.Matrix4();
for (let i = 0; i < COUNT; i++) {
  const [distance, turn] = [10 + 290 * Math.sqrt(i / COUNT), i * Math.PI * (3 - Math.sqrt(5))];
  forest.setMatrixAt(i, matrix.makeTranslation(distance * Math.cos(turn), 1.25, distance * Math.sin(turn)));
}
scene.add(forest);

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
// three draws what the camera of `update` sees. Distant trees are drawn as pyramids, and the nearest trees first.
const pyramid = new THREE.ConeGeometry(0.6, 2.5, 4);
const tracker = await trackScene(service, scene, {
  culling: { order: 'front-to-back', levels: () => [{ pixels: 24, geometry: pyramid }] },
});

renderer.setAnimationLoop(async () => {
  renderer.render(scene, camera);
  const { culled } = await tracker.update(camera, size);
  document.querySelector('output')!.textContent = `${COUNT - culled.instances} of ${COUNT} trees are drawn`;
});

addEventListener('pointermove', ({ clientX }) => {
  camera.rotation.y = -2 * Math.PI * (clientX / size.width);
});
