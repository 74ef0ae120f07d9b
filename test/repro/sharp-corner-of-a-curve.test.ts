// Whether a point on a cut triangle is inside the other mesh was left to the farther cuts if the nearest ones end at a
// sharp corner and the point is in front of one and behind the other: so two regions were joined by a triangle between
// them that is in neither.
import { createCollisionService } from 'collision-worker';
import { expect, test } from 'vitest';

test('two sharp spikes through a strip of triangles are two regions', async () => {
  const service = await createCollisionService();
  // The midpoints of the two edges inside the strip are (-0.94, 0.342) and (-2.06, 0.342).
  const strip = await service.addMesh({
    positions: new Float32Array([-1.5, 4.684, 0, -0.38, -4, 0, 10, 0.3, 0, -2.62, -4, 0, -13, 0.3, 0]),
    indices: new Uint32Array([0, 1, 2, 1, 0, 3, 3, 0, 4]),
  });
  const spikes = await service.addMesh({
    positions: new Float32Array([...spike((x) => x), ...spike((x) => -3 - x)]),
    indices: new Uint32Array([0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 2, 1, 4, 7, 5, 5, 7, 6, 6, 7, 4, 4, 5, 6]),
  });
  service.addObject({ shape: { type: 'mesh', mesh: strip }, contacts: 'manifold' });
  service.addObject({ shape: { type: 'mesh', mesh: spikes }, contacts: 'manifold' });
  const [{ points }] = (await service.update()).contacts;
  const across = Array.from({ length: points.length / 3 }, (_, i) => points[3 * i] + 1.5);
  // Three points of one region, and three of the other.
  expect(across.map((x) => Math.sign(x * across[0]))).toEqual([1, 1, 1, -1, -1, -1]);
  service.dispose();
});

/** A pyramid whose section with the plane z = 0 is the triangle (0, 0), (1, 0), (0.94, 0.342). */
function spike(place: (x: number) => number): number[] {
  const [x, y] = [0.5, 0.1];
  const section = [
    [0, 0],
    [1, 0],
    [0.94, 0.342],
  ];
  return [...section.flatMap(([u, v]) => [place(2 * u - x), 2 * v - y, -1]), place(x), y, 1];
}
