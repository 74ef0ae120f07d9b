// Objects of one page of the core's table share the record of their shape as
// long as they are alike: a change of one of them must not affect the others.
import { type CollisionService, createCollisionService, type ObjectId, type Shape } from 'collision-worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, SEED } from '../../oracle/random.js';

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

/** The height of each above its centre, which is all that a ray from above sees. */
const FORMS: [shape: Shape, height: number][] = [
  [{ type: 'sphere', radius: 0.4 }, 0.4],
  [{ type: 'sphere', radius: 0.3 }, 0.3],
  [{ type: 'box', halfExtents: [0.3, 0.35, 0.2] }, 0.35],
  [{ type: 'capsule', radius: 0.2, from: [0, -0.1, 0], to: [0, 0.25, 0] }, 0.45],
];
const SIDE = 24;
/** Per object with a shared record, including the tree's reserve; 104 more if each had a shape of its own. */
const MOST_BYTES = 340;

test.each([0.9, 0.999])(`${SIDE ** 2} shapes of which the others change, alike at %d, seed ${SEED}`, async (alike) => {
  const random = new Random(SEED);
  const form = () => (random.chance(alike) ? FORMS[0] : random.pick(FORMS));
  const heights = new Float64Array(SIDE ** 2);
  const ids: (ObjectId | null)[] = Array.from(heights, () => null);
  const put = (i: number): void => {
    const [shape, height] = form();
    heights[i] = height;
    const id = ids[i];
    if (id !== null) service.setObject(id, { shape });
    else {
      const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, i % SIDE, 0, Math.floor(i / SIDE), 1];
      ids[i] = service.addObject({ shape, matrix, motion: random.chance(0.5) ? 'static' : 'moving' });
    }
  };
  for (let i = 0; i < ids.length; i++) put(i);
  const rays = new Float32Array(8 * ids.length);
  ids.forEach((_, i) => {
    rays.set([i % SIDE, 10, Math.floor(i / SIDE), 0, 0, -1, 0, Number.POSITIVE_INFINITY], 8 * i);
  });
  for (let round = 0; round < 20; round++) {
    const { distances } = await service.raycastMany(rays);
    const wrong = ids.flatMap((id, i) => {
      const expected = id === null ? Number.POSITIVE_INFINITY : 10 - heights[i];
      return distances[i] === expected || Math.abs(distances[i] - expected) < 1e-6 ? [] : [[i, distances[i], expected]];
    });
    expect(wrong, `round ${round}`).toEqual([]);
    for (let n = 0; n < 40; n++) {
      const i = random.integer(ids.length);
      const id = ids[i];
      if (id === null || !random.chance(0.5)) put(i);
      else {
        service.removeObject(id);
        ids[i] = null;
      }
    }
  }
  for (const id of ids) if (id !== null) service.removeObject(id);
});

test('100,000 boxes that are alike take little more than instances of a mesh, and some more where one of a page differs', async () => {
  const box: Shape = { type: 'box', halfExtents: [1, 1, 1] };
  const options = { shape: box, motion: 'static', contacts: 'none' } as const;
  await service.update();
  const before = service.stats.usedBytes;
  const ids = service.addInstances(options, 100_000);
  await service.update();
  const alike = (service.stats.usedBytes - before) / ids.length;
  for (let i = 0; i < ids.length; i += 100) service.setObject(ids[i], { shape: { type: 'sphere', radius: 1 } });
  await service.update();
  const mixed = (service.stats.usedBytes - before) / ids.length;
  expect(alike).toBeLessThan(MOST_BYTES);
  expect(mixed).toBeGreaterThan(alike + 50);
});
