// A SkinnedMesh that got a skeleton with more bones, and a `skinIndex` that names them, was said to be left out: its former mesh
// was built again for the former number of bones, which failed while the one for the new skeleton was being built.
import { Bone, Skeleton } from 'three';
import { expect, test, vi } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, settle, track, UNRENDERED } from '../fixtures/three-picks.js';
import { arm } from '../fixtures/three-rigs.js';

withService();

test('a skeleton with more bones comes with the vertices that they move', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const mesh = arm('arm');
  const tracker = await track(service, mesh, undefined, UNRENDERED);
  const bones = [...mesh.skeleton.bones, new Bone()];
  mesh.skeleton.bones[0].add(bones.at(-1)!);
  mesh.bind(new Skeleton(bones), mesh.bindMatrix);
  const { skinIndex } = mesh.geometry.attributes;
  for (let i = 0; i < skinIndex.count; i++) skinIndex.setX(i, bones.length - 1);
  skinIndex.needsUpdate = true;
  await settle(tracker, frontCamera());
  expect(warn.mock.calls).toEqual([]);
  expect([...tracker.untracked]).toEqual([]);
  expect(tracker.idsOf(mesh).length).toBe(1);
});
