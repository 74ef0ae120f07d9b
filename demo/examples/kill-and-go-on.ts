// The button terminates the worker. The service notices, starts another one and restores its state; hovering continues.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
const button = Object.assign(document.createElement('button'), { textContent: 'end the worker' });
document.body.append(renderer.domElement);
document.querySelector('header')!.append(button);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.z = 6;
export const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));
for (const x of [-2, 2]) {
  const mesh = new THREE.Mesh(new THREE.TorusKnotGeometry(0.9, 0.3, 256, 32), new THREE.MeshNormalMaterial());
  mesh.name = x < 0 ? 'left knot' : 'right knot';
  mesh.position.x = x;
  scene.add(mesh);
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

let worker: Worker | undefined;
export const service = await createCollisionService({
  // Only needed to have a worker that can be terminated: normally the service creates its own.
  createWorker: () => {
    worker = new Worker(new URL('collision-worker/worker', import.meta.url), { type: 'module' });
    return worker;
  },
  builders: 0, // so that there is only one worker
  timeout: 1000, // maximum silence in ms
});
const tracker = await trackScene(service, scene);

renderer.setAnimationLoop(() => {
  for (const mesh of scene.children) mesh.rotation.y += 0.01;
  renderer.render(scene, camera);
  // Frames that were in the worker are lost with it. The next worker answers the following frames.
  tracker.update(camera, size).catch(() => {});
});

let [hovered, state] = ['', ''];
const showStatus = () => {
  document.querySelector('output')!.textContent = [hovered, state].filter(Boolean).join('; ');
};
tracker.hover(renderer.domElement, (hit) => {
  hovered = hit?.object.name ?? '';
  showStatus();
});
let workerNumber = 1;
service.addEventListener('lost', ({ error, final }) => {
  state = final ? String(error?.message) : `worker ${workerNumber} is gone`;
  showStatus();
});
service.addEventListener('restored', () => {
  state = `worker ${++workerNumber} goes on`;
  showStatus();
});
button.addEventListener('click', () => worker?.terminate());
