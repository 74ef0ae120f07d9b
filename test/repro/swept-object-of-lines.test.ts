// An object of points or lines was swept by its id as if it met nothing, where its mesh as a shape was refused.
import { createCollisionService } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';

const at = (x: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];

test.each(['lines', 'points'] as const)('an object of %s is no shape of a query', async (topology) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, matrix: at(5) });
  const mesh = await service.addMesh({ positions: new Float32Array([0, 0, 0, 1, 0, 0]), topology });
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  const shape = { type: 'mesh', mesh } as const;
  const refused = (given: unknown) => ({
    code: 'UNSUPPORTED',
    message: expect.stringContaining(
      `: shape is ${given}, expected a mesh of triangles or another shape, not a mesh of ${topology}`,
    ),
  });
  for (const [given, name] of [
    [object, object],
    [shape, 'an object'],
  ] as const) {
    await expect(service.sweep(given, at(0), at(10))).rejects.toMatchObject(refused(name));
    await expect(service.sweepAll(given, at(0), at(10))).rejects.toMatchObject(refused(name));
    await expect(service.place(given, at(5))).rejects.toMatchObject(refused(name));
  }
  await expect(service.overlap(shape, at(5))).rejects.toMatchObject(refused('an object'));
  await expect(service.sweepMany(shape, new Float64Array(0))).rejects.toMatchObject(refused('an object'));
});
