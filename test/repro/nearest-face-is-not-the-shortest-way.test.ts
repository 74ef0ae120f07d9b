// A cross in a solid mesh of a box that is rotated in its own space: the face nearest to its centre is not the one
// across which it leaves the soonest. The depth returned was that of the nearest face.
import { createCollisionService } from 'collision-worker';
import { Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { boxMesh, merged, transformed } from '../oracle/meshes.js';

test('what is long along the nearest face leaves across another one', async () => {
  const service = await createCollisionService();
  const turn = new Quaternion().setFromAxisAngle(new Vector3(1, 2, 3).normalize(), 0.7);
  const turned = (mesh: ReturnType<typeof boxMesh>) => transformed(mesh, (vertex) => vertex.applyQuaternion(turn));
  const room = await service.addMesh(turned(boxMesh(2, 2.04, 10)));
  const cross = await service.addMesh(turned(merged([boxMesh(1, 0.2, 0.2), boxMesh(0.2, 0.2, 0.4)])));
  const outer = service.addObject({ shape: { type: 'mesh', mesh: room, solid: true } });
  const inner = service.addObject({ shape: { type: 'mesh', mesh: cross } });
  await service.update();
  for (const pair of [
    [outer, inner],
    [inner, outer],
  ]) {
    const contact = await service.contact(pair[0], pair[1]);
    expect(contact!.depths[0]).toBeCloseTo(1.12, 5);
  }
  service.dispose();
});
