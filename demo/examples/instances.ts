// An InstancedMesh of 10,000 boxes that all move. A click paints the one that was hit.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const SIDE = 100;

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 1, 500);
camera.position.set(0, 70, 70);
camera.lookAt(0, 0, 8);
const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

export const boxes = new THREE.InstancedMesh(
  new THREE.BoxGeometry(0.8, 0.8, 0.8),
  new THREE.MeshStandardMaterial(),
  SIDE * SIDE,
);
for (let i = 0; i < boxes.count; i++) boxes.setColorAt(i, new THREE.Color(0x6f8fc9));
boxes.frustumCulled = false; // its bounds would have to be recomputed in every frame
scene.add(boxes);

const matrix = new THREE.Matrix4();
function move(time: number): void {
  for (let i = 0; i < boxes.count; i++) {
    const [x, z] = [(i % SIDE) - SIDE / 2, Math.floor(i / SIDE) - SIDE / 2];
    boxes.setMatrixAt(i, matrix.makeTranslation(x, 2 * Math.sin(time / 900 + Math.hypot(x, z) / 5), z));
  }
  boxes.instanceMatrix.needsUpdate = true;
}

const size = { width: 0, height: 0 };
const resize = () => {
  Object.assign(size, { width: innerWidth, height: innerHeight });
  renderer.setSize(size.width, size.height);
  camera.aspect = size.width / size.height;
  camera.zoom = Math.min(1, camera.aspect); // fits on a phone, too
  camera.updateProjectionMatrix();
};
addEventListener('resize', resize);
resize();
move(0);

const service = await createCollisionService();
const tracker = await trackScene(service, scene);

renderer.setAnimationLoop((time) => {
  move(time);
  renderer.render(scene, camera);
  tracker.update(camera, size).catch(console.warn);
});

renderer.domElement.addEventListener('click', async ({ offsetX, offsetY }) => {
  const hit = await tracker.pick(offsetX, offsetY);
  document.querySelector('output')!.textContent = hit ? `instance ${hit.instanceId}` : 'nothing';
  if (hit?.instanceId === undefined) return;
  boxes.setColorAt(hit.instanceId, new THREE.Color(0xff8a2b));
  boxes.instanceColor!.needsUpdate = true;
});
