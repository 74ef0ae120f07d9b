// A rectangle drawn with the pointer selects the objects that it touches; with Shift, those that it encloses.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
const frame = Object.assign(document.createElement('div'), { hidden: true });
frame.style.cssText = 'position:fixed;border:1px solid #ff8a2b;background:#ff8a2b22;pointer-events:none';
document.body.append(renderer.domElement, frame);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.set(0, 0, 14);
export const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

const geometry = new THREE.TorusKnotGeometry(0.3, 0.1, 64, 8);
for (let i = 0; i < 200; i++) {
  const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0x6f8fc9 }));
  mesh.name = `knot ${i}`;
  // A spiral fills the ball evenly.
  const [height, turn] = [1 - (2 * i + 1) / 200, i * Math.PI * (3 - Math.sqrt(5))];
  mesh.position.set(Math.cos(turn), height, Math.sin(turn)).multiplyScalar(4.5);
  mesh.position.x *= Math.sqrt(1 - height * height);
  mesh.position.z *= Math.sqrt(1 - height * height);
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
renderer.setAnimationLoop(() => {
  renderer.render(scene, camera);
  tracker.update(camera, size).catch(console.warn);
});

let from: { x: number; y: number } | null = null;
addEventListener('pointerdown', ({ clientX: x, clientY: y }) => {
  from = { x, y };
});
addEventListener('pointerup', () => {
  from = null;
  frame.hidden = true;
});
addEventListener('pointermove', async ({ clientX, clientY, shiftKey }) => {
  if (!from) return;
  const region = { x: from.x, y: from.y, width: clientX - from.x, height: clientY - from.y };
  const [left, top] = [Math.min(from.x, clientX), Math.min(from.y, clientY)];
  Object.assign(frame.style, { left: `${left}px`, top: `${top}px` });
  Object.assign(frame.style, { width: `${Math.abs(region.width)}px`, height: `${Math.abs(region.height)}px` });
  frame.hidden = false;
  // Of several queries that are waiting, the latest one runs and answers them all.
  const selected = await tracker.pickRegion(region, { mode: shiftKey ? 'enclose' : 'touch', latest: true });
  const selectedSet = new Set(selected);
  scene.traverse((object) => {
    if (object instanceof THREE.Mesh) object.material.color.setHex(selectedSet.has(object) ? 0xff8a2b : 0x6f8fc9);
  });
  document.querySelector('output')!.textContent = `${selected.length} selected`;
});
