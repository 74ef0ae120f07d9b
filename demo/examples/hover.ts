// The object under the pointer glows and is named, even if the pointer is at rest while the scene turns beneath it.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.set(0, 2, 9);
camera.lookAt(0, 0, 0);
export const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

const geometries = {
  box: new THREE.BoxGeometry(1.5, 1.5, 1.5),
  cone: new THREE.ConeGeometry(1, 1.8, 48),
  knot: new THREE.TorusKnotGeometry(0.7, 0.25, 256, 32),
  sphere: new THREE.SphereGeometry(1, 64, 32),
};
export const carousel = new THREE.Group();
for (const [i, [name, geometry]] of Object.entries(geometries).entries()) {
  const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0x6f8fc9 }));
  mesh.name = name;
  mesh.position.set(3.2, 0, 0).applyAxisAngle(carousel.up, (i * Math.PI) / 2);
  carousel.add(mesh);
}
scene.add(carousel);

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
  carousel.rotation.y = time / 2000;
  renderer.render(scene, camera);
  tracker.update(camera, size).catch(console.warn);
});

const output = document.querySelector('output')!;
const glow = (object: THREE.Object3D | undefined, hex: number) => {
  if (object instanceof THREE.Mesh) object.material.emissive.setHex(hex);
};
tracker.hover(renderer.domElement, (hit, before) => {
  glow(before?.object, 0x000000);
  glow(hit?.object, 0x883300);
  output.textContent = hit ? `${hit.object.name}, ${hit.distance.toFixed(1)} away` : '';
});
