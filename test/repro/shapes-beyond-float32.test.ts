// Rays passed through the walls of a box of 1e31 units from inside, hit one of 1e110 at a distance of Infinity, and missed a
// ball of that radius; one of 1e160 overlapped nothing.
import { createCollisionService, type Shape } from 'collision-worker';
import { expect, onTestFinished, test } from 'vitest';

const shapesOf = (size: number): [string, Shape][] => [
  ['halfExtents', { type: 'box', halfExtents: [size, size, size] }],
  ['radius', { type: 'sphere', radius: size }],
  ['from', { type: 'capsule', radius: 1, from: [0, -size, 0], to: [0, size, 0] }],
  ['center', { type: 'sphere', radius: 1, center: [0, size, 0] }],
];

test.each([1.01e30, 1e110, 1e160, Number.MAX_VALUE])('none has a number of %d', async (size) => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  for (const [name, shape] of shapesOf(size)) {
    const message = new RegExp(`shape\\.${name} is .*, expected no number beyond 1e30`);
    expect(() => service.addObject({ shape }), name).toThrow(message);
    await expect(service.overlap(shape), name).rejects.toThrow(message);
  }
});

test('the largest are met from within and from without', async () => {
  const service = await createCollisionService();
  onTestFinished(() => service.dispose());
  const size = 1e30;
  for (const [, shape] of shapesOf(size).slice(0, 2)) {
    const id = service.addObject({ shape, side: 'double' });
    const [z, direction] = [2 * size, [0, 0, -1] as const];
    expect((await service.raycast({ origin: [0, 0, z], direction }))!.distance / size).toBeCloseTo(1, 9);
    const within = shape.type === 'box' ? 1 : Math.sqrt(1 - 0.3 ** 2 - 0.2 ** 2);
    const inner = await service.raycast({ origin: [0.3 * size, 0.2 * size, 0], direction });
    expect(inner!.distance / size).toBeCloseTo(within, 9);
    expect(await service.overlap({ type: 'sphere', radius: size })).toEqual(Uint32Array.of(id));
    service.removeObject(id);
  }
});
