// Faces in contacts of a frame, and under a character, are those of the geometry that the frame saw, also if another one has been
// built since without any other update. They were numbers of the new geometry's faces, and to read a character's state threw a
// RangeError where the new geometry has fewer.
import { createCollisionService } from 'collision-worker';
import { type SceneFrame, trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, PlaneGeometry, Scene } from 'three';
import { expect, test, vi } from 'vitest';

const SIZE = { width: 100, height: 100 };
const camera = new PerspectiveCamera();

test('contacts', async () => {
  const service = await createCollisionService();
  const geometry = new BoxGeometry(2, 2, 2);
  const [box, wall] = [new Mesh(geometry), new Mesh(new PlaneGeometry(9, 9)).rotateY(1)];
  const options = { contacts: 'triangles', updateMatrixWorld: true } as const;
  const tracker = await trackScene(service, new Scene().add(box, wall), options);
  const faces = (frame: SceneFrame) =>
    frame.contactsOf(box).flatMap(({ triangles }) => [...triangles].filter((_, i) => i % 2 === 0));
  const all = faces(await tracker.update(camera, SIZE));
  expect(all.length).toBeGreaterThan(6);
  for (const start of [5, 7]) {
    geometry.setDrawRange(3 * start, 36);
    const frame = await tracker.update(camera, SIZE);
    const before = faces(frame);
    await vi.waitFor(() => expect(tracker.pending).toEqual([]));
    expect(faces(frame)).toEqual(before);
    expect(faces(await tracker.update(camera, SIZE))).toEqual(all.filter((face) => face >= start));
  }
  service.dispose();
});

test('a character', async () => {
  const service = await createCollisionService();
  const floor = new Mesh(new PlaneGeometry(100, 100, 20, 20).rotateX(-Math.PI / 2), new MeshBasicMaterial());
  const tracker = await trackScene(service, new Scene().add(floor), { updateMatrixWorld: true });
  const shape = { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } as const;
  const hero = tracker.createCharacter({ shape, position: [41, 0.1, 42] });
  const update = () => {
    hero.advance([0, 0, 0], 1 / 60);
    return tracker.update(camera, SIZE);
  };
  for (let i = 0; i < 30; i++) await update();
  const { ground } = hero.state;
  expect(ground?.faceIndex).toBeGreaterThan(600);
  await update();
  floor.geometry = new PlaneGeometry(100, 100).rotateX(-Math.PI / 2);
  await update();
  await vi.waitFor(() => expect(tracker.pending).toEqual([]));
  const next = update();
  expect(hero.state.ground?.faceIndex).toBe(ground?.faceIndex);
  await next;
  expect(hero.state.ground?.faceIndex).toBeLessThan(2);
  service.dispose();
});
