// Functions pass on the signal that they were given, or none. With `exactOptionalPropertyTypes` that was a type error for every
// call except those of `trackScene`; without it `undefined` has always been the same as no signal.
import { createCollisionService } from 'collision-worker';
import { type SceneParams, trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, PerspectiveCamera, Plane, Ray, Scene, Vector3 } from 'three';
import { expect, test } from 'vitest';

async function ask(signal?: AbortSignal): Promise<unknown[]> {
  const service = await createCollisionService({ builders: 0, signal });
  const mesh = await service.addMesh({ positions: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]) }, { signal });
  const wall = service.addObject({ shape: { type: 'mesh', mesh } });
  const ray = { origin: [0.2, 0.2, 5], direction: [0, 0, -1] } as const;
  const hit = await service.raycast(ray, { signal });
  const near = await service.closestPoint([0, 0, 1], { signal });
  await service.checkBoxes(mesh, [{ name: 'box', halfExtents: [1, 1, 1] }], { signal });
  service.removeObject(wall);
  const scene = new Scene().add(new Mesh(new BoxGeometry(), new MeshBasicMaterial()));
  const tracker = await trackScene(service, scene, { signal });
  const params: SceneParams = { Points: { threshold: 1 } };
  const [camera, size] = [new PerspectiveCamera(), { width: 100, height: 100 }];
  camera.position.z = 5;
  await tracker.update(camera, size);
  const picked = await tracker.pick(50, 50, { signal, params });
  const all = await tracker.pickRegion({ x: 0, y: 0, width: 100, height: 100 }, { signal });
  const cast = await tracker.raycast(new Ray(new Vector3(0, 0, 5), new Vector3(0, 0, -1)), { signal });
  const section = await tracker.section(new Plane(new Vector3(0, 1, 0)), { signal });
  const answers = [hit?.distance, near?.distance, picked?.distance, all.length, cast?.distance, section.points.length];
  service.dispose();
  return answers;
}

test('undefined is as good as no signal, and a signal that stays silent', async () => {
  const answers = await ask();
  expect(answers.slice(0, 5)).toEqual([5, 1, 4.5, 1, 4.5]);
  expect(answers[5]).toBeGreaterThan(0);
  expect(await ask(new AbortController().signal)).toEqual(answers);
});
