// Behind a wall that three does not draw, because its bounding sphere is not where its vertices are, everything is visible:
// objects that it seemed to occlude were culled.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, InstancedMesh, Matrix4, Mesh, MeshBasicMaterial, type Object3D, Scene } from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';

withService();

const form = () => new BoxGeometry(14, 10, 0.5);
const paint = () => new MeshBasicMaterial({ color: 0x404080 });

/**
 * Walls that move in front of the camera from out of view, but whose sphere stays there; `tell` gives three the new bounds.
 */
const WALLS: Record<string, () => { wall: Object3D; come: () => void; tell: () => void }> = {
  'an InstancedMesh'() {
    const wall = new InstancedMesh(form(), paint(), 1);
    wall.setMatrixAt(0, new Matrix4().setPosition(200, 0, 0));
    const come = () => {
      wall.setMatrixAt(0, new Matrix4());
      wall.instanceMatrix.needsUpdate = true;
    };
    return { wall, come, tell: () => wall.computeBoundingSphere() };
  },
  'a Mesh'() {
    const wall = new Mesh(form().translate(200, 0, 0), paint());
    wall.geometry.computeBoundingSphere();
    const come = () => {
      const { position } = wall.geometry.attributes;
      for (let i = 0; i < position.count; i++) position.setX(i, position.getX(i) - 200);
      position.needsUpdate = true;
    };
    return { wall, come, tell: () => wall.geometry.computeBoundingSphere() };
  },
};

test.each(Object.keys(WALLS))('%s', async (kind) => {
  const { wall, come, tell } = WALLS[kind]();
  const boxes = Array.from({ length: 40 }, (_, i) => {
    const box = new Mesh(new BoxGeometry(0.5, 0.5, 0.5), new MeshBasicMaterial({ color: 0x40ff80 }));
    box.position.set((i % 8) - 3.5, Math.floor(i / 8) - 2, -4);
    return box;
  });
  const scene = new Scene().add(wall, ...boxes);
  const camera = pictureCamera();
  camera.position.z = 8;
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  const fly = async () => {
    for (let frame = 0; frame < 6; frame++) {
      const { count, painted } = compareCulling(renderer, scene, camera);
      expect([frame, count]).toEqual([frame, 0]);
      expect(painted).toBeGreaterThan(1000);
      await tracker.update(camera, PICTURE);
    }
  };
  await fly();
  come();
  await fly();
  expect(tracker.culled.occluded).toBe(0);
  tell();
  await fly();
  expect(tracker.culled.occluded).toBe(40);
});
