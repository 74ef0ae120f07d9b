// The same with WebGPURenderer: the tracker reads the clip space from the camera. Without WebGPU, three falls back to WebGL.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three/webgpu';

const renderer = new THREE.WebGPURenderer({ antialias: true, alpha: true });
await renderer.init(); // before the first frame, so that the camera has the renderer's clip space
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.set(0, 0, 8);
export const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

for (const [i, color] of [0x6f8fc9, 0x58b58d, 0xb584d6].entries()) {
  const mesh = new THREE.Mesh(
    new THREE.TorusKnotGeometry(0.8, 0.3, 128, 24),
    new THREE.MeshStandardNodeMaterial({ color }),
  );
  mesh.name = ['blue knot', 'green knot', 'violet knot'][i];
  mesh.position.x = 2.8 * (i - 1);
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

const service = await createCollisionService();
const tracker = await trackScene(service, scene);

renderer.setAnimationLoop((time) => {
  for (const mesh of scene.children) mesh.rotation.y = time / 1500;
  renderer.render(scene, camera);
  tracker.update(camera, size).catch(console.warn);
});

const { isWebGPUBackend = false } = renderer.backend as { isWebGPUBackend?: boolean };
const api = isWebGPUBackend ? 'WebGPU' : 'WebGL';
tracker.hover(renderer.domElement, (hit) => {
  document.querySelector('output')!.textContent = hit ? `${hit.object.name}, drawn by ${api}` : '';
});
