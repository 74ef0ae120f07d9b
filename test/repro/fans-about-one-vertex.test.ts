// Two fans of ten thousand triangles: the depth of their contact compared all triangles of one with all of the other in one go,
// for so long that the worker counted as lost.
import { createCollisionService } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';

const COUNT = 10_000;
const angles = Array.from({ length: COUNT }, (_, i) => (2 * Math.PI * i) / COUNT);
const fan = {
  positions: Float32Array.from([0, 0, 0, ...angles.flatMap((a) => [Math.cos(a), Math.sin(a), 0.3 * Math.sin(5 * a)])]),
  indices: Uint32Array.from(angles.flatMap((_, i) => [0, 1 + i, 1 + ((i + 1) % COUNT)])),
};

test('their contact has a depth by which they are apart', async () => {
  const service = await createCollisionService();
  const shape = { type: 'mesh', mesh: await service.addMesh(fan) } as const;
  const matrix = new Matrix4().makeRotationZ(0.001);
  const [a, b] = [service.addObject({ shape }), service.addObject({ shape, matrix: matrix.elements })];
  const contact = await service.contact(a, b, { detail: 'manifold' });
  const [depth] = contact!.depths;
  const normal = Array.from(contact!.normals.subarray(0, 3));
  expect(depth).toBeLessThan(0.6001); // their heights span 0.6
  const [x, y, z] = normal.map((each) => each * depth * 1.0001);
  service.setTransform(b, matrix.setPosition(x, y, z).elements);
  service.update();
  expect(await service.contact(a, b, { detail: 'any' })).toBeNull();
  service.dispose();
}, 60_000);
