// With `culling`, instances cast no shadows if the shadow's camera had a view of the tracker: WebGPURenderer draws a shadow as it
// draws a picture, and for a picture from the light's place, WebGLRenderer draws the shadow with the same frustum.
import { type TrackOptions, trackScene } from 'collision-worker/three';
import { BoxGeometry, type Camera, InstancedMesh, Matrix4, MeshLambertMaterial, Scene } from 'three';
import { WebGPURenderer } from 'three/webgpu';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { type Painter, PICTURE, readPixels } from '../fixtures/flights.js';
import { sunlitFloor } from '../fixtures/sunlit-floor.js';

withService();

const COUNT = 41;

/** A row of boxes, of which the light lights the middle, and their shadows. */
function stage() {
  const boxes = new InstancedMesh(new BoxGeometry(), new MeshLambertMaterial(), COUNT);
  for (let i = 0; i < COUNT; i++)
    boxes.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - (COUNT - 1) / 2), 0, -10));
  boxes.castShadow = true;
  const { floor, sun, ambient } = sunlitFloor(15);
  sun.target.position.set(0, 0, -10);
  Object.assign(sun.shadow.camera, { near: 0.5, far: 40 });
  const scene = new Scene().add(boxes, floor, sun, sun.target, ambient);
  return { scene, sun: sun.shadow.camera };
}

/** Compares pictures of a camera with the one before it was tracked; returns how many instances were culled. */
async function compare(painter: Painter, scene: Scene, camera: Camera, sun: Camera, options: TrackOptions) {
  const draw = () => {
    painter.render(scene, camera as never);
    return readPixels(painter);
  };
  draw(); // places the shadow's camera
  const before = draw();
  const tracker = await trackScene(service, scene, options);
  let culled = 0;
  for (let frame = 0; frame < 3; frame++) {
    tracker.setView(sun, { width: 512, height: 512 }, 'sun');
    await tracker.update(camera, PICTURE);
    const different = draw().filter((each, i) => each !== before[i]).length;
    expect([frame, different]).toEqual([frame, 0]);
    culled += tracker.culled.instances;
  }
  tracker.dispose();
  return culled;
}

test('with WebGPURenderer', async () => {
  const painter = new WebGPURenderer({ antialias: false, forceWebGL: true });
  await painter.init();
  painter.setSize(PICTURE.width, PICTURE.height);
  painter.shadowMap.enabled = true;
  const { scene, sun } = stage();
  const camera = pictureCamera();
  camera.position.y = 3;
  expect(await compare(painter, scene, camera, sun, { culling: true })).toBeGreaterThan(3 * 20);
  painter.dispose();
});

test('with WebGLRenderer, from where the light is', async () => {
  renderer.shadowMap.enabled = true;
  const { scene, sun } = stage();
  expect(await compare(renderer, scene, sun, sun, { culling: true })).toBeGreaterThan(3 * 20);
});
