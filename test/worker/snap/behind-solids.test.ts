// Features that a solid hides are skipped early: a snap is the same
// as with a clipping plane that clips nothing, but disables that.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { PerspectiveCamera, Vector3 } from 'three';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random, SEED } from '../../oracle/random.js';

const VIEWPORT = { x: 0, y: 0, width: 400, height: 300 };
const ROUNDS = Number(process.env.SNAP_ROUNDS ?? 60);
const PICKS = 6;
const BEHIND = 60;
/** A half-space that contains everything. */
const ALL = [0, 0, 1, 1e4];
const FRONTS: Shape[] = [
  { type: 'box', halfExtents: [2, 2, 2] },
  { type: 'sphere', radius: 2 },
  { type: 'capsule', radius: 1.5, from: [0, 0, -1], to: [0, 0.5, 1] },
];

let service: CollisionService;
beforeAll(async () => {
  service = await createCollisionService();
});
afterAll(() => service.dispose());

test(`a snap near solids is the same with and without what they hide, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let [snapped, bare] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const camera = new PerspectiveCamera(random.range(20, 70), 4 / 3, 0.1, 200);
    // Inside the solid, too.
    camera.position.copy(random.direction().multiplyScalar(random.pick([0.3, 4, 10, 40])));
    camera.lookAt(random.point(0.5));
    camera.updateMatrixWorld();
    camera.updateProjectionMatrix();
    service.setView({
      projection: camera.projectionMatrix.elements,
      view: camera.matrixWorldInverse.elements,
      viewport: VIEWPORT,
    });
    const placement = { low: 0.6, high: 1.6, mirrored: 0.4, sheared: 0.3 };
    const ids = [
      service.addObject({
        shape: random.pick(FRONTS),
        matrix: random.placement(new Vector3(), placement).elements,
        side: random.pick(['front', 'front', 'back', 'double'] as const),
      }),
    ];
    for (let i = 0; i < BEHIND; i++) {
      ids.push(
        service.addObject({
          shape: { type: 'box', halfExtents: [0.1, 0.2, 0.3] },
          matrix: random.placement(random.point(random.pick([2, 5])), placement).elements,
          side: 'double',
        }),
      );
    }
    await service.update();
    for (let i = 0; i < PICKS; i++) {
      const [x, y] = [200 + random.range(-60, 60), 150 + random.range(-60, 60)];
      const options = { snap: ['vertex', 'midpoint', 'edge'], radius: random.pick([4, 10, 60]) } as const;
      const [hit, whole] = await Promise.all([
        service.pick(x, y, options),
        service.pick(x, y, { ...options, clip: ALL }),
      ]);
      expect(hit, `round ${round}, pick ${i}`).toEqual(whole);
      if (hit?.snap) snapped++;
      else if (hit) bare++;
    }
    service.removeObjects(Uint32Array.from(ids));
  }
  expect(snapped).toBeGreaterThan(ROUNDS / 2);
  expect(bare).toBeGreaterThan(ROUNDS / 10);
}, 60_000);
