// Groups of a geometry that are replaced in place by more or fewer: update() threw that a mesh is in use.
import { createCollisionService } from 'collision-worker';
import { trackScene } from 'collision-worker/three';
import { BackSide, BoxGeometry, Mesh, MeshBasicMaterial, OrthographicCamera, Scene } from 'three';
import { expect, test } from 'vitest';

const SIZE = { width: 100, height: 100 };

test.each([
  ['of one side', [{}, {}, {}]],
  ['of mixed sides', [{}, { side: BackSide }, {}]],
])('groups of materials %s come and go', async (_, looks) => {
  const service = await createCollisionService();
  const geometry = new BoxGeometry(2, 2, 2);
  const materials = looks.map((look) => new MeshBasicMaterial(look));
  const object = new Mesh(geometry, materials);
  const root = new Scene().add(object, new Mesh(geometry, materials));
  const camera = new OrthographicCamera(-3, 3, 3, -3);
  camera.position.z = 5;
  camera.updateMatrixWorld();
  const tracker = await trackScene(service, root);
  const settle = async () => {
    root.updateMatrixWorld();
    do await tracker.update(camera, SIZE);
    while (tracker.pending.length > 0);
    await tracker.update(camera, SIZE);
  };
  const faceUnder = async () => (await tracker.pick(50, 50))?.faceIndex;
  await settle();
  // three's box has a group for each side; the fifth faces the camera, and its material is the first.
  for (const groups of [
    [[24, 6, 0]],
    [],
    [
      [0, 6, 0],
      [24, 6, 2],
    ],
    [[24, 3, 0]],
    [
      [24, 6, 0],
      [0, 6, 1],
      [6, 6, 2],
    ],
  ]) {
    geometry.clearGroups();
    for (const [start, count, material] of groups) geometry.addGroup(start, count, material);
    await settle();
    expect([8, 9]).toContain((await faceUnder()) ?? (groups.length === 0 ? 8 : -1));
  }
  service.dispose();
});
