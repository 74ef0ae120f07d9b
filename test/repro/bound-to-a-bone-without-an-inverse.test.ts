// A bone of scale 0 has no inverse when a mesh is bound to it: three gives it a matrix of zeros. The worker refused each pose with
// such a matrix, so that the mesh stayed as it was, without a word.
import { Bone, BoxGeometry, BufferAttribute, Mesh, MeshBasicMaterial, Scene, Skeleton, SkinnedMesh } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';
import { frontCamera, settle, track } from '../fixtures/three-picks.js';

withService();

/** A box of which two bones move a half each, the second one of scale 0 when it is bound. */
function boxOfTwoBones(): SkinnedMesh {
  const geometry = new BoxGeometry(1, 2, 1, 1, 4, 1).toNonIndexed();
  const { position } = geometry.attributes;
  // All corners of a triangle are of one bone.
  const boneOf = (vertex: number): number => {
    const first = vertex - (vertex % 3);
    return position.getY(first) + position.getY(first + 1) + position.getY(first + 2) > 0 ? 0 : 1;
  };
  const bones = Uint16Array.from({ length: 4 * position.count }, (_, i) => (i % 4 === 0 ? boneOf(i / 4) : 0));
  const weights = Float32Array.from({ length: 4 * position.count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  geometry.setAttribute('skinIndex', new BufferAttribute(bones, 4));
  geometry.setAttribute('skinWeight', new BufferAttribute(weights, 4));
  const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial({ side: 2 }));
  const skeleton = [new Bone(), new Bone()];
  skeleton[1].scale.setScalar(0);
  mesh.add(...skeleton);
  mesh.position.set(0, 0.25, 0);
  mesh.updateMatrixWorld(true);
  mesh.bind(new Skeleton(skeleton));
  return mesh;
}

test('a mesh is hit where its other bones have it', async () => {
  const mesh = boxOfTwoBones();
  const wall = new Mesh(new BoxGeometry(20, 20, 1), new MeshBasicMaterial());
  wall.position.z = -5;
  const tracker = await track(service, new Scene().add(mesh, wall));
  const hit = async (x: number, y: number) =>
    (await tracker.raycast({ origin: [x, y, 5], direction: [0, 0, -1] }))?.object ?? null;
  const [upper] = mesh.skeleton.bones;
  for (const x of [0, 3, -2]) {
    upper.position.x = x;
    await settle(tracker, frontCamera());
    expect(tracker.untracked.size).toBe(0);
    // The upper half is where its bone is, and nowhere else; the lower one is nowhere.
    for (const at of [0, 3, -2]) {
      expect(await hit(at + 0.1, 0.8), `bone at ${x}, ray at ${at}`).toBe(at === x ? mesh : wall);
      expect(await hit(at + 0.1, -0.4), `bone at ${x}, ray at ${at}`).toBe(wall);
    }
  }
});

test('vertices of both bones are between the other bone and the origin of the mesh', async () => {
  const mesh = boxOfTwoBones();
  const { skinIndex, skinWeight } = mesh.geometry.attributes;
  for (let i = 0; i < skinIndex.count; i++) {
    skinIndex.setXYZW(i, 0, 1, 0, 0);
    skinWeight.setXYZW(i, 0.5, 0.5, 0, 0);
  }
  mesh.skeleton.bones[0].position.x = 4;
  const tracker = await track(service, new Scene().add(mesh));
  const hit = await tracker.raycast({ origin: [2.1, 0.3, 5], direction: [0, 0, -1] });
  expect(hit?.point.z).toBeCloseTo(0.25, 5);
  expect(hit?.bone).toBe(0);
  expect(await tracker.raycast({ origin: [4, 0.3, 5], direction: [0, 0, -1] })).toBe(null);
});
