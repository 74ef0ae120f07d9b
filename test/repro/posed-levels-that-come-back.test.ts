// A level of a LOD that was shown again was not posed if another one had replaced it while it was hidden: the service drops the
// pose with the shape, and the tracker assumed that it was sent.

import { trackScene } from 'collision-worker/three';
import { BoxGeometry, BufferAttribute, Group, LOD, Mesh, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, pickCenter, settle, UNRENDERED } from '../fixtures/three-picks.js';
import { arm } from '../fixtures/three-rigs.js';

withService();

/** A box that a morph target lifts out of the middle. */
function lifted(): Mesh {
  const mesh = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const up = Float32Array.from({ length: 3 * 24 }, (_, i) => (i % 3 === 1 ? 5 : 0));
  mesh.geometry.morphAttributes.position = [new BufferAttribute(up, 3)];
  mesh.geometry.morphTargetsRelative = true;
  mesh.updateMorphTargets();
  mesh.morphTargetInfluences![0] = 1;
  return mesh;
}

test('a level is as it is posed when it comes back, though another one stood that nobody saw', async () => {
  const root = new Group();
  const lod = new LOD();
  const [near, far] = [lifted(), arm('far')];
  const group = new Group().add(far);
  lod.addLevel(near, 0);
  lod.addLevel(group, 10);
  root.add(lod);
  far.visible = false;
  root.updateMatrixWorld();
  const camera = frontCamera();
  const tracker = await trackScene(service, root, UNRENDERED);
  for (const isNear of [true, false, true]) {
    near.visible = isNear;
    group.visible = !isNear;
    await settle(tracker, camera);
    expect(await pickCenter(tracker)).toBeNull();
  }
  expect(tracker.idsOf(lod).length).toBe(1);
  tracker.dispose();
});
