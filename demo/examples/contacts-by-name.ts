// The ball follows the pointer. The objects that it touches are named, as long as the contact lasts.

import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import * as THREE from 'three';

const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
document.body.append(renderer.domElement);
export const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 100);
camera.position.set(0, 0, 10);
export const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0x334466, 2), new THREE.DirectionalLight(0xffffff, 2));

function add(name: string, geometry: THREE.BufferGeometry, x: number, y: number, color: number): THREE.Mesh {
  const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color }));
  mesh.name = name;
  mesh.position.set(x, y, 0);
  scene.add(mesh);
  return mesh;
}
add('knot', new THREE.TorusKnotGeometry(0.9, 0.3, 256, 32), -3, 0, 0x6f8fc9);
add('ring', new THREE.TorusGeometry(1.2, 0.25, 32, 96), 0, 1.2, 0x58b58d);
add('cone', new THREE.ConeGeometry(1, 2, 48), 3, 0, 0xb584d6);
export const ball = add('ball', new THREE.IcosahedronGeometry(0.4, 4), 0, -2.5, 0xff8a2b);

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
const tracker = await trackScene(service, scene, {
  // Only the ball moves. All other objects are static, so that no pairs between them are tested.
  objectOptions: (object) => (object === ball ? { contacts: 'any' } : { contacts: 'any', motion: 'static' }),
});

const touched = new Set<string>();
renderer.setAnimationLoop(async () => {
  renderer.render(scene, camera);
  const frame = await tracker.update(camera, size);
  for (const { b, begun } of frame.contactsOf(ball)) if (begun) touched.add(b.object.name);
  frame.forEachEnded((a, b) => {
    touched.delete(a.object === ball ? b.object.name : a.object.name);
  });
  document.querySelector('output')!.textContent = touched.size > 0 ? `touches ${[...touched].join(', ')}` : '';
});

addEventListener('pointermove', ({ clientX, clientY }) => {
  // The plane z = 0 is ten units away.
  ball.position.set((2 * clientX) / size.width - 1, 1 - (2 * clientY) / size.height, 0.5).unproject(camera);
  ball.position
    .sub(camera.position)
    .multiplyScalar(-camera.position.z / ball.position.z)
    .add(camera.position);
});
