// The cut face of a plate with 1,600 holes, or of a cylinder with 14,000 sides, was filled in one piece: picks waited for 0.2 s to
// 1 s, and larger ones were not filled at all.
import { createCollisionService, type MeshData } from 'collision-worker';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';

type Ring = [number, number][];

/** Walls along rings, from -1 to 1 in z. */
function walls(rings: readonly Ring[]): MeshData {
  const positions: number[] = [];
  const indices: number[] = [];
  for (const ring of rings) {
    const first = positions.length / 3;
    ring.forEach(([x, y], i) => {
      positions.push(x, y, -1, x, y, 1);
      const [a, b] = [first + 2 * i, first + 2 * ((i + 1) % ring.length)];
      indices.push(a, b, a + 1, b, b + 1, a + 1);
    });
  }
  return { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) };
}

const circle = (count: number, x: number, y: number, radius: number): Ring =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });

const holes = Array.from({ length: 1600 }, (_, i) => circle(8, (i % 40) - 20, Math.floor(i / 40) - 20, 0.4).reverse());

const ASKED = 80;

test.each([
  ['a plate with 1,600 holes', [circle(4, 0, 0, 60), ...holes], 7200 - 1600 * Math.SQRT1_2 * 4 * 0.16],
  ['a cylinder with 14,000 sides', [circle(14_000, 0, 0, 60)], Math.PI * 3600],
  ['a cylinder with 20,000 sides', [circle(20_000, 0, 0, 60)], Math.PI * 3600],
] as const)('picks come between the parts of filling %s', async (_, rings, area) => {
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const mesh = await service.addMesh(walls(rings));
  service.addObject({ shape: { type: 'mesh', mesh } });
  service.addObject({ shape: { type: 'sphere', radius: 1, center: [0, 0, 100] } });
  await service.update();
  const picksWithin = (caps: boolean) =>
    worker.answeredWithin(
      ASKED,
      () => service.section([0, 0, 1, 0.1], { caps }),
      async () => {
        const hit = await service.raycast({ origin: [0, 0, 110], direction: [0, 0, -1] });
        expect(hit?.distance).toBeCloseTo(9, 5);
      },
    );
  const { answered: before } = await picksWithin(false);
  const { answer, answered } = await picksWithin(true);
  // One between two parts: of 1,024 points or fewer.
  expect(answered).toBeGreaterThanOrEqual(Math.min(ASKED, before + answer.points.length / 3 / 512));
  const { points, caps } = answer;
  let filled = 0;
  for (let t = 0; t < caps.length; t += 3) {
    const [ax, ay, bx, by, cx, cy] = [0, 1, 2].flatMap((k) => [
      ...points.subarray(3 * caps[t + k], 3 * caps[t + k] + 2),
    ]);
    const twice = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    expect(twice).toBeGreaterThan(-1e-6);
    filled += twice / 2;
  }
  expect(filled / area).toBeCloseTo(1, 4);
  service.dispose();
});
