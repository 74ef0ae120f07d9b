// Crates are dragged over the floor, and never into each other: each move is first checked by the worker.

import { createCollisionService } from 'collision-worker';
import { boxFromGeometry, trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.set(0, 9, 7);
camera.lookAt(0, 0, 0);
export const scene = new THREE.Scene();
const floor = new THREE.GridHelper(16, 16);
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2), floor);

const geometry = new THREE.BoxGeometry(1.2, 1.2, 1.2);
for (let i = 0; i < 9; i++) {
  const crate = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0x6f8fc9 }));
  crate.name = `crate ${i}`;
  crate.position.set(((i % 3) - 1) * 2.4, 0.6, (Math.floor(i / 3) - 1) * 2.4);
  scene.add(crate);
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

const service = await createCollisionService();
const tracker = await trackScene(service, scene);
renderer.setAnimationLoop(() => {
  renderer.render(scene, camera);
  tracker.update(camera, size).catch(console.warn);
});

const output = document.querySelector('output')!;
const plane = new THREE.Plane(new THREE.Vector3(0, 1, 0), -0.6); // through the centres of the crates
let dragged: THREE.Mesh | null = null;
let requestedPosition: THREE.Vector3 | null = null;
let isAsking = false;

/** Takes the latest requested position if it is free; positions that arrived during the query are skipped. */
async function follow(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  while (dragged && requestedPosition) {
    const [crate, position] = [dragged, requestedPosition];
    requestedPosition = null;
    const matrix = new THREE.Matrix4().setPosition(position);
    const blockers = await tracker.overlap(boxFromGeometry(geometry), matrix, { ignore: [crate, floor] });
    if (blockers.length === 0) crate.position.copy(position);
    output.textContent = blockers.length === 0 ? crate.name : `${blockers[0].object.name} is in the way`;
  }
  isAsking = false;
}

const raycaster = new THREE.Raycaster(); // only computes the ray of a pixel; the worker finds the hits
renderer.domElement.addEventListener('pointerdown', async (event) => {
  const hit = await tracker.pick(event.offsetX, event.offsetY);
  dragged = hit?.object instanceof THREE.Mesh ? hit.object : null;
});
addEventListener('pointerup', () => {
  dragged = null;
});
addEventListener('pointermove', ({ clientX: x, clientY: y }) => {
  raycaster.setFromCamera(new THREE.Vector2((2 * x) / size.width - 1, 1 - (2 * y) / size.height), camera);
  requestedPosition = raycaster.ray.intersectPlane(plane, new THREE.Vector3());
  void follow();
});
