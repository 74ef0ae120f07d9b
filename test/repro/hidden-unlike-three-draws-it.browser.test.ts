// With `occlusion`, objects were culled that three draws: behind a level of a LOD that this very render does not show; objects
// that clear the depth buffer before they are drawn, or turn to the camera then. And an object that once was not opaque, other
// than by `transparent`, never occluded again.
import { type SceneTracker, type TrackOptions, trackScene } from 'collision-worker/three';
import { BoxGeometry, Group, LOD, Mesh, MeshBasicMaterial, type PerspectiveCamera, PlaneGeometry, Scene } from 'three';
import { ClippingGroup } from 'three/webgpu';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

const OCCLUSION: TrackOptions = { culling: { occlusion: true } };

function box(width: number, height = width, depth = width): Mesh<BoxGeometry, MeshBasicMaterial> {
  return new Mesh(new BoxGeometry(width, height, depth), new MeshBasicMaterial({ color: 0x404080 }));
}

const wall = () => box(14, 10, 0.5);

/** Forty boxes that a wall occludes. */
function behind(): Mesh[] {
  return Array.from({ length: 40 }, (_, i) => {
    const mesh = box(0.5);
    mesh.material.color.set(0x40ff80);
    mesh.position.set((i % 8) - 3.5, Math.floor(i / 8) - 2, -4);
    return mesh;
  });
}

function before(): PerspectiveCamera {
  const camera = pictureCamera();
  camera.position.z = 8;
  return camera;
}

/** Draws an image that has to equal three's, and updates. */
async function draw(tracker: SceneTracker, scene: Scene, camera: PerspectiveCamera): Promise<number> {
  const { count, painted } = compareCulling(renderer, scene, camera);
  expect(count).toBe(0);
  expect(painted).toBeGreaterThan(0);
  await tracker.update(camera, PICTURE);
  return tracker.culled.occluded;
}

test('behind a level of a LOD of which each has several Meshes', async () => {
  const lod = new LOD();
  lod.addLevel(new Group().add(wall(), box(0.1)), 0);
  lod.addLevel(new Group().add(box(0.1), box(0.2)), 8.5);
  const scene = new Scene().add(lod, ...behind());
  const camera = before();
  const tracker = await trackScene(service, scene, OCCLUSION);
  for (let frame = 0; frame < 14; frame++) {
    camera.position.z = 8 + 0.05 * frame;
    await draw(tracker, scene, camera);
  }
  expect(lod.getCurrentLevel()).toBe(1);
});

test('behind a wall in a ClippingGroup', async () => {
  const scene = new Scene().add(new ClippingGroup().add(wall()), ...behind());
  const tracker = await trackScene(service, scene, OCCLUSION);
  const camera = before();
  for (let frame = 0; frame < 6; frame++) expect(await draw(tracker, scene, camera)).toBe(0);
});

test('what clears all depths before it is drawn, unless the caller says that it does not', async () => {
  for (const cullable of [undefined, true]) {
    const boxes = behind();
    boxes[3].renderOrder = 5;
    boxes[3].onBeforeRender = cullable ? () => {} : (own) => own.clearDepth();
    const scene = new Scene().add(wall(), ...boxes);
    const tracker = await trackScene(service, scene, {
      ...OCCLUSION,
      ...(cullable && { objectOptions: () => ({ cullable }) }),
    });
    const camera = before();
    for (let frame = 0; frame < 6; frame++) await draw(tracker, scene, camera);
    expect(tracker.culled.occluded).toBe(cullable ? 40 : 39);
    tracker.dispose();
  }
});

test('what turns as it is drawn, out of view as it stands and in view as it is turned', async () => {
  const sign = new Mesh(new PlaneGeometry(10, 2), new MeshBasicMaterial());
  const camera = pictureCamera();
  sign.position.set(0, 10 * Math.tan((camera.fov * Math.PI) / 360) + 2, -10);
  sign.onBeforeRender = () => {
    sign.matrixWorld.makeRotationZ(Math.PI / 2).setPosition(sign.position);
  };
  const scene = new Scene().add(sign, box(1).translateZ(-10));
  const tracker = await trackScene(service, scene, { culling: true });
  for (let frame = 0; frame < 8; frame++) {
    camera.rotation.x = frame < 4 ? -0.3 : 0;
    await draw(tracker, scene, camera);
  }
});

test('behind what was cut out of by alpha for a while, and from the beginning', async () => {
  const own = wall();
  const { material } = own;
  material.alphaTest = 0.5;
  const scene = new Scene().add(own, ...behind());
  const camera = before();
  const tracker = await trackScene(service, scene, OCCLUSION);
  for (let round = 0; round < 2; round++) {
    for (let frame = 0; frame < 4; frame++) expect(await draw(tracker, scene, camera)).toBe(0);
    material.alphaTest = 0;
    material.needsUpdate = true;
    // Each object has its turn within a second.
    await expect.poll(() => draw(tracker, scene, camera), { timeout: 5000, interval: 20 }).toBe(40);
    material.alphaTest = 0.5;
    material.needsUpdate = true;
  }
});
