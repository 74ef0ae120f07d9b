// After updateMesh had left a triangle without an area, a sphere or capsule that passed the place of that triangle met nothing
// behind it: the filter of the sweep took the point that stands for the triangle for one that is hit.
import { type CapsuleShape, createCollisionService, type SphereShape } from 'collision-worker';
import { expect, test } from 'vitest';

const WALL = [-5, -5, 0, 5, -5, 0, 0, 5, 0];
const ASIDE = [4, 4, 2, 5, 4, 2, 4, 5, 2];
const SHAPES: (SphereShape | CapsuleShape)[] = [
  { type: 'sphere', radius: 0.3 },
  { type: 'capsule', radius: 0.3, from: [-0.2, 0, 0], to: [0.2, 0, 0] },
];

test('a triangle that lost its area does not hide the wall behind it from a sweep', async () => {
  const service = await createCollisionService();
  const mesh = await service.addMesh({
    positions: new Float32Array([...WALL, ...ASIDE, -0.1, -0.1, 1, 0.1, -0.1, 1, 0, 0.1, 1]),
  });
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.updateMesh(mesh, new Float32Array([...WALL, ...ASIDE, 0, 0, 1, 0, 0, 1, 0, 0, 1]));
  for (const shape of SHAPES) {
    const hit = await service.sweep(shape, at(4), at(-4));
    expect(hit, shape.type).toMatchObject({ object, triangle: 0 });
    expect(hit!.time, shape.type).toBeCloseTo(3.7 / 8);
    // At the start, it is inside the wall, and nearer to the place of the triangle.
    expect(await service.sweep({ ...shape, radius: 0.9 }, at(0.8), at(-4)), shape.type).toMatchObject({
      time: 0,
      triangle: 0,
      depth: expect.closeTo(0.1),
    });
  }
  service.dispose();
});

function at(z: number): number[] {
  return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, z, 1];
}
