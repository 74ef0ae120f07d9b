// Objects of three in place of ids: the error said that a Mesh is no "object that is alive" or "mesh that was added", which
// it is in three's words. Of a lasso in a plain array it said that an object was expected, and not a Float32Array.
import { createCollisionService, measure } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { Mesh, PerspectiveCamera, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';

test('errors say that an id is expected, and of which kind', async () => {
  const service = await createCollisionService();
  const mesh = new Mesh() as never;
  const unknown = (message: string) => expect.objectContaining({ code: 'UNKNOWN_ID', message });
  expect(() => service.setTransform(mesh, [])).toThrow(/expected 16 numbers/);
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  expect(() => service.setTransform(mesh, identity)).toThrow(
    unknown('setTransform: id is an object, expected the id of a live object'),
  );
  await expect(service.contact(mesh, mesh)).rejects.toEqual(
    unknown('contact: a is an object, expected the id of a live object'),
  );
  expect(() => service.meshInfo(mesh)).toThrow(
    unknown('meshInfo: mesh is an object, expected the id of an added mesh'),
  );
  expect(() => service.addObject({ shape: { type: 'mesh', mesh } })).toThrow(
    unknown('addObject: shape.mesh is an object, expected the id of an added mesh'),
  );
  service.dispose();
});

test('a lasso in a plain array', async () => {
  const service = await createCollisionService();
  const lasso = [0, 0, 9, 0, 9, 9] as never;
  const message = 'pickRegion: region is an Array of length 6, expected a Float32Array';
  await expect(service.pickRegion(lasso)).rejects.toThrow(message);
  const tracker = await trackScene(service, new Scene());
  await tracker.update(new PerspectiveCamera(), { width: 10, height: 10 });
  await expect(tracker.pickRegion(lasso)).rejects.toThrow(message);
  service.dispose();
});

test('a Vector3 for the `measure` that takes numbers', () => {
  expect(() => measure(new Vector3() as never, [0, 0, 0])).toThrow('measure: a is an object, expected 3 numbers');
});
