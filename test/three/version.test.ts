// If several versions of three are installed, everything that runs uses the requested one.
import { createCollisionService } from 'collision-worker';
import { BoxGeometry, BufferGeometry, REVISION, Scene, Vector3 } from 'three';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';
import { expect, test } from 'vitest';
import { pickCenter, track } from '../fixtures/three-picks.js';
import { cube } from '../fixtures/three-scenes.js';

test("the adapter, three's addons and the tests share one three", async () => {
  if (import.meta.env.THREE !== undefined) expect(import.meta.env.THREE).toMatch(`0.${REVISION}.`);
  expect(mergeVertices(new BoxGeometry())).toBeInstanceOf(BufferGeometry);
  const service = await createCollisionService();
  const tracker = await track(service, new Scene().add(cube()));
  expect((await pickCenter(tracker))?.point).toBeInstanceOf(Vector3);
  service.dispose();
});
