// A geometry whose arrays an app frees once they are uploaded (`onUpload`) is still in the service. A pick of it resolved with
// undefined, pickAll left it out, and the other queries rejected with a TypeError of ours.
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, type BufferAttribute, Matrix4, Mesh, MeshBasicMaterial, Ray, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, SIZE, settle, UNRENDERED } from '../fixtures/three-picks.js';

withService();

const free = (attribute: BufferAttribute | null) => Object.assign(attribute!, { array: null });

test('what was built from them is hit, without a face', async () => {
  const mesh = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  const tracker = await trackScene(service, new Scene().add(mesh), UNRENDERED);
  await settle(tracker, frontCamera());
  const center = [SIZE.width / 2, SIZE.height / 2 - 10] as const;
  const ray = new Ray(new Vector3(0, 0.2, 10), new Vector3(0, 0, -1));
  const { uv, normal, position } = mesh.geometry.attributes as Record<string, BufferAttribute>;
  const before = (await tracker.pick(...center))!;

  for (const attribute of [uv, normal]) free(attribute);
  const { uv: freed, normal: freedNormal, ...kept } = before;
  expect([freed, freedNormal]).toEqual([expect.anything(), new Vector3(0, 0, 1)]);
  expect(await tracker.pick(...center)).toEqual(kept);

  for (const attribute of [position, mesh.geometry.index]) free(attribute);
  await settle(tracker, frontCamera());
  const { barycoord: _, ...place } = kept;
  const hit = { ...place, face: null, normal: new Vector3(0, 0, 1) };
  expect(await tracker.pick(...center)).toEqual(hit);
  expect(await tracker.pickAll(...center)).toEqual([hit]);
  const faceless = { object: mesh, face: null, faceIndex: before.faceIndex };
  expect(await tracker.raycast(ray)).toMatchObject(faceless);
  expect(await tracker.closestPoint(ray.origin)).toMatchObject(faceless);
  const [from, to] = [new Matrix4().makeTranslation(0, 0.2, 10), new Matrix4()];
  expect(await tracker.sweep({ type: 'sphere', radius: 0.5 }, from, to)).toMatchObject({ object: mesh, face: null });
  expect(tracker.untracked.size).toBe(0);
});

test('an object that cannot be read any more is no hit, and not undefined', async () => {
  const mesh = new Mesh(new BoxGeometry(2, 2, 2), new MeshBasicMaterial());
  const tracker = await trackScene(service, new Scene().add(mesh), UNRENDERED);
  await settle(tracker, frontCamera());
  mesh.matrixWorld = null as never;
  expect(await tracker.pick(SIZE.width / 2, SIZE.height / 2)).toBe(null);
});
