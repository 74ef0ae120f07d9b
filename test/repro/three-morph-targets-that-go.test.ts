// A Mesh that lost its morph targets and its influences at once was reported as left out, with a TypeError of ours: its
// geometry was rebuilt for its previous deformation.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BoxGeometry, Mesh, MeshBasicMaterial, Scene } from 'three';
import { expect, test, vi } from 'vitest';
import { frontCamera, SIZE, settle } from '../fixtures/three-picks.js';

test('a Mesh loses its morph targets, and is hit at rest', async () => {
  const said = vi.spyOn(console, 'warn');
  const service = await createCollisionService();
  const geometry = new BoxGeometry(2, 2, 2);
  geometry.morphAttributes.position = [geometry.attributes.position.clone()];
  const mesh = new Mesh(geometry, new MeshBasicMaterial());
  mesh.morphTargetInfluences = [0.5]; // two boxes in one, since the targets are not relative
  const tracker = await trackScene(service, new Scene().add(mesh));
  const distance = async () => {
    await settle(tracker, frontCamera());
    return (await tracker.pick(SIZE.width / 2, SIZE.height / 2))?.distance;
  };
  geometry.morphTargetsRelative = true;
  expect(await distance()).toBeCloseTo(8.5);
  geometry.morphAttributes = {};
  mesh.morphTargetInfluences = undefined;
  tracker.changed(mesh);
  expect(await distance()).toBeCloseTo(9);
  geometry.morphAttributes.position = [geometry.attributes.position.clone()];
  mesh.morphTargetInfluences = [1];
  tracker.changed(mesh);
  expect(await distance()).toBeCloseTo(8);
  expect(said).not.toHaveBeenCalled();
  service.dispose();
});
