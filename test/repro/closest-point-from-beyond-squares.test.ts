// The square of such a distance is Infinity: `closestPoint` returned the point itself, and null with a limit.
import { createCollisionService, measure } from 'collision-worker';
import { expect, test } from 'vitest';

test('a point beyond 1e150 is refused, one within is answered', async () => {
  const service = await createCollisionService();
  const box = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  expect(await service.closestPoint([0, -1e150, 0])).toMatchObject({ object: box, distance: 1e150 });
  const message = 'closestPoint: point is [0, 1e+155, 0], expected no number beyond 1e150';
  await expect(service.closestPoint([0, 1e155, 0])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message });
  service.dispose();
});

test('a measure that far is refused, and the gap of two plates is exact', () => {
  expect(measure([0, 0, 0], [1e150, 0, 0]).distance).toBe(1e150);
  expect(() => measure([0, 0, 0], [1e200, 0, 0])).toThrow(/measure: b is .*, expected what is less than 1e154 away/);
  const plate = (z: number) => {
    const corners = Array.from({ length: 10_000 }, (_, i) => [i, 0, z, i + 1, 0, z, i, 1, z]).flat();
    return { corners: Float64Array.from(corners), normal: [0, 0, 1], triangles: new Uint32Array() } as const;
  };
  // The sum of ten thousand rounded parts was 3.0000000000019.
  expect(measure(plate(0), plate(3))).toMatchObject({ distance: 3, gap: 3 });
});
