// With `occlusion`, an answer that came after an occluder had left the scene, or that named one which the tracker does not have,
// was used without it: what it had hidden, or what nothing in the picture hides, was left out of the picture.
import type { CollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

const BOXES = 15;
const SIZE = [14, 10, 0.5] as const;

function wallMesh(): Mesh {
  const wall = new Mesh(new BoxGeometry(...SIZE), new MeshBasicMaterial({ color: 0x335533 }));
  wall.position.z = -5;
  return wall;
}

function wallInstance(): InstancedMesh {
  const wall = new InstancedMesh(new BoxGeometry(...SIZE), new MeshBasicMaterial({ color: 0x335533 }), 1);
  return wall.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, -5));
}

/** Boxes in the middle of the picture, behind a wall if there is one. */
function boxes(): Scene {
  const scene = new Scene();
  for (let i = 0; i < BOXES; i++) {
    const box = new Mesh(new BoxGeometry(0.6, 0.6, 0.6), new MeshBasicMaterial({ color: 0x0000ff }));
    box.position.set((i % 5) - 2, Math.floor(i / 5) - 1, -10);
    scene.add(box);
  }
  return scene;
}

const track = (scene: Scene, of: CollisionService = service): Promise<SceneTracker> =>
  trackScene(of, scene, { culling: { occlusion: true } });

test.each([wallMesh, wallInstance])('a wall that leaves while an answer is on its way: %o', async (makeWall) => {
  const wall = makeWall();
  const [scene, camera] = [boxes().add(wall), pictureCamera()];
  const tracker = await track(scene);
  for (let i = 0; i < 4; i++) {
    expect(compareCulling(renderer, scene, camera).count).toBe(0);
    await tracker.update(camera, PICTURE);
  }
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  expect(tracker.culled.occluded).toBe(BOXES);
  const withWall = tracker.update(camera, PICTURE);
  wall.removeFromParent();
  const withoutWall = tracker.update(camera, PICTURE);
  await withWall;
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  await withoutWall;
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  tracker.dispose();
});

test.each([wallMesh, wallInstance])('a wall whose triangles are degenerate from now on: %o', async (makeWall) => {
  const wall = makeWall();
  const [scene, camera] = [boxes().add(wall), pictureCamera()];
  const tracker = await track(scene);
  for (let i = 0; i < 9; i++) {
    if (i === 4) {
      expect(tracker.culled.occluded).toBe(BOXES);
      wall.geometry.index!.array.fill(0);
      wall.geometry.index!.needsUpdate = true;
    }
    const { count } = compareCulling(renderer, scene, camera);
    expect([i, count]).toEqual([i, 0]);
    await tracker.update(camera, PICTURE);
  }
  tracker.dispose();
});

async function expectSamePictures(
  tracker: SceneTracker,
  scene: Scene,
  camera: ReturnType<typeof pictureCamera>,
): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const { count } = compareCulling(renderer, scene, camera);
    expect([i, count]).toEqual([i, 0]);
    await tracker.update(camera, PICTURE);
  }
}

test('a box of the service that is not in the picture', async () => {
  const [scene, camera] = [boxes(), pictureCamera()];
  service.addObject({ shape: { type: 'box', halfExtents: [7, 5, 0.25], center: [0, 0, -5] } });
  const tracker = await track(scene);
  await expectSamePictures(tracker, scene, camera);
  tracker.dispose();
});

test('a wall of another scene that the service has', async () => {
  const wall = wallMesh();
  const [scene, camera] = [boxes(), pictureCamera()];
  const other = await trackScene(service, new Scene().add(wall));
  const tracker = await track(scene);
  await expectSamePictures(tracker, scene, camera);
  tracker.dispose();
  other.dispose();
});
