// `trackScene` takes each of three's renderers, in its types, too. A WebGPURenderer draws no planes of its own or of materials, so
// none cut its picks. The compiler checks the types of this file: `npm run typecheck`.
import { createCollisionService } from 'collision-worker';
import { type TrackOptions, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Plane,
  Scene,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';

declare const webgl: WebGLRenderer;
declare const canvas: HTMLCanvasElement;
export const either = (): TrackOptions[] => [
  { renderer: webgl },
  // @ts-expect-error A canvas is no renderer.
  { renderer: canvas },
];

test('a pick with a WebGPURenderer in the options', async () => {
  const renderer = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await renderer.init();
  renderer.setSize(100, 100);
  const clippingPlanes = [new Plane(new Vector3(0, 0, -1), -1)]; // they would cut all of it
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial({ clippingPlanes }));
  const scene = new Scene().add(box);
  const camera = new PerspectiveCamera(50, 1, 0.1, 100);
  camera.position.z = 5;
  const service = await createCollisionService();
  const tracker = await trackScene(service, scene, { renderer });
  renderer.render(scene, camera);
  await tracker.update(camera, { width: 100, height: 100 });
  const hit = await tracker.pick(50, 50);
  expect(hit?.object).toBe(box);
  expect(hit?.distance).toBeCloseTo(4.5, 6);
  service.dispose();
  renderer.dispose();
});
