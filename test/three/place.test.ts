// A shape that is placed in a scene is pushed out of the scene's
// objects, and of no others; as in the service (client/place.test.ts).
import type { Shape } from 'collision-worker';
import { BoxGeometry, Matrix4, Mesh, MeshBasicMaterial, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, settle, track } from '../fixtures/three-picks.js';

withService();

const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z);
const BALL: Shape = { type: 'sphere', radius: 0.5 };

function slab(x: number, y: number, z: number): Mesh {
  const mesh = new Mesh(new BoxGeometry(8, 2, 8), new MeshBasicMaterial());
  mesh.position.set(x, y, z);
  return mesh;
}

/** A floor whose top is at 0, and a crate that stands elsewhere. */
async function build() {
  const [floor, crate] = [slab(0, -1, 0), new Mesh(new BoxGeometry(), new MeshBasicMaterial())];
  crate.position.set(0, 9, 0);
  const scene = new Scene().add(floor, crate);
  const tracker = await track(service, scene);
  return { floor, crate, scene, tracker };
}

test('a shape, and an object of the scene as if it were there, leave what they are in', async () => {
  const { floor, crate, tracker } = await build();
  const placed = await tracker.place(BALL, at(1, 0.2, 2));
  expect(placed.objects).toEqual([{ object: floor, instanceId: undefined }]);
  expect(placed.way.distanceTo(new Vector3(0, 0.3, 0))).toBeLessThan(1e-5);
  expect(placed.matrix.elements.slice(12, 15)).toEqual([1, expect.closeTo(0.5, 5), 2]);
  const box = await tracker.place(crate, at(0, 0.1, 0));
  expect(box.way.distanceTo(new Vector3(0, 0.4, 0))).toBeLessThan(1e-5);
  expect(await tracker.place(crate, at(0, 0.1, 0), { ignore: [floor] })).toMatchObject({
    ...{ way: new Vector3(), objects: [] },
  });
  expect(await tracker.place(crate, crate.matrixWorld)).toEqual({
    ...{ matrix: crate.matrixWorld, way: new Vector3(), objects: [] },
  });
});

test('objects of others are in no way, however many it meets one after the other', async () => {
  const { floor, tracker } = await build();
  // Each is hit only if the previous one is ignored.
  for (const x of [0.3, 1, 2]) {
    const matrix = at(x, 0.1, 0).elements;
    service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix, contacts: 'none' });
  }
  await tracker.update(frontCamera(), SIZE);
  const { way, objects } = await tracker.place(BALL, at(0, 0.2, 0));
  expect(way.distanceTo(new Vector3(0, 0.3, 0))).toBeLessThan(1e-5);
  expect(objects).toEqual([{ object: floor, instanceId: undefined }]);
});

test('what is not in the scene stays where it is asked about', async () => {
  const { scene, tracker } = await build();
  const other = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const matrix = at(0, 0.1, 0);
  const placed = await tracker.place(other, matrix);
  expect(placed).toEqual({ matrix, way: new Vector3(), objects: [] });
  expect(placed.matrix).not.toBe(matrix);
  scene.add(other.translateY(50));
  await settle(tracker, frontCamera());
  expect((await tracker.place(other, matrix)).objects.length).toBe(1);
});
