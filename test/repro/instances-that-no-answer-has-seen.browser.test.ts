// With `culling`, instances were not drawn if no answer had seen them in their current state: of a mesh that was still
// being built, that was shown again, or that had another geometry since; and stale ones were drawn if its matrices or
// colours were replaced by other arrays.
import { type SceneObjectOptions, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  Color,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  SphereGeometry,
} from 'three';
import { expect, test } from 'vitest';
import { renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

/** A row from side to side; the camera sees its middle. */
function row(geometry: BufferGeometry = new BoxGeometry(), count = 41): InstancedMesh {
  const mesh = new InstancedMesh(geometry, new MeshBasicMaterial(), count);
  for (let i = 0; i < count; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - (count - 1) / 2), 0, -10));
  return mesh;
}

async function seen(mesh: InstancedMesh, objectOptions?: () => SceneObjectOptions) {
  const scene = new Scene().add(mesh);
  const camera = new PerspectiveCamera(50, PICTURE.width / PICTURE.height, 0.1, 100);
  const tracker = await trackScene(service, scene, { culling: true, ...(objectOptions && { objectOptions }) });
  const update = async (times: number) => {
    for (let i = 0; i < times; i++) {
      renderer.render(scene, camera);
      await tracker.update(camera, PICTURE);
    }
  };
  await update(4);
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  return { scene, camera, tracker, update };
}

const CHANGES: Record<string, (mesh: InstancedMesh) => void> = {
  'colours for the first time': (mesh) => {
    for (let i = 0; i < 41; i++) mesh.setColorAt(i, new Color(1, i / 41, 0));
    mesh.material = new MeshBasicMaterial(); // three compiles the other one without colours
  },
  'another array of matrices': (mesh) => {
    const { version } = mesh.instanceMatrix;
    mesh.instanceMatrix = new InstancedBufferAttribute(mesh.instanceMatrix.array.slice().reverse(), 16);
    mesh.instanceMatrix.version = version;
    for (let i = 0; i < 41; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(i / 8 - 2, i / 16 - 1, -9));
    mesh.boundingSphere = null;
  },
  'another geometry': (mesh) => {
    mesh.geometry = new BoxGeometry().translate(30, 0, 0);
    mesh.boundingSphere = null;
  },
  'vertices elsewhere': (mesh) => {
    mesh.geometry.translate(30, 0, 0);
    mesh.boundingSphere = null;
  },
};

test.each(Object.keys(CHANGES))('%s', async (what) => {
  const mesh = row();
  const { scene, camera, update, tracker } = await seen(mesh);
  expect(tracker.culled.instances).toBeGreaterThan(20);
  CHANGES[what](mesh);
  for (let i = 0; i < 4; i++) {
    const { count, painted } = compareCulling(renderer, scene, camera);
    expect([i, count]).toEqual([i, 0]);
    expect(painted).toBeGreaterThan(0);
    await update(1);
  }
});

test('what was invisible, by itself, by its material or by an ancestor', async () => {
  const mesh = row();
  const { scene, camera, update } = await seen(mesh);
  const hidden = [
    mesh,
    mesh.material as MeshBasicMaterial,
    scene,
    {
      set visible(is: boolean) {
        mesh.layers.mask = is ? 1 : 2;
      },
    },
  ];
  for (const each of hidden) {
    each.visible = false;
    await update(3);
    each.visible = true;
    const { count, painted } = compareCulling(renderer, scene, camera);
    expect(count).toBe(0);
    expect(painted).toBeGreaterThan(0);
    await update(3);
  }
});

test('what is still being built', async () => {
  const { scene, camera, update, tracker } = await seen(row());
  const balls = row(new SphereGeometry(1, 200, 150), 5);
  balls.position.y = 1;
  scene.add(balls);
  let pictures = 0;
  for (; pictures < 3 || (tracker.pending.length > 0 && pictures < 20); pictures++) {
    expect(compareCulling(renderer, scene, camera).count).toBe(0);
    await update(1);
  }
});

test('what is in other layers for the service', async () => {
  const { scene, camera } = await seen(row(), () => ({ layers: 2 }));
  expect(compareCulling(renderer, scene, camera).painted).toBeGreaterThan(0);
});
