// Picks waited until a frame had processed all of its views: 170 ms behind 50 of them with occlusion, 1.3 s behind 500.
import { createCollisionService, type ViewOptions } from 'collision-worker';
import { Matrix4, PerspectiveCamera } from 'three';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { Random, SEED } from '../oracle/random.js';

const VIEWS = 60;
const OBJECTS = 6000;

function views(random: Random): Map<string, ViewOptions> {
  const camera = new PerspectiveCamera(60, 4 / 3, 0.1, 200);
  return new Map(
    Array.from({ length: VIEWS }, (_, i) => {
      camera.position.set(random.range(-20, 20), random.range(-20, 20), random.range(-20, 20));
      camera.quaternion.copy(random.rotation());
      camera.updateMatrixWorld(true);
      const { projectionMatrix, matrixWorldInverse } = camera;
      const matrices = { projection: [...projectionMatrix.elements], view: [...matrixWorldInverse.elements] };
      return [`${i}`, { ...matrices, viewport: { x: 0, y: 0, width: 400, height: 300 }, occlusion: i % 5 !== 0 }];
    }),
  );
}

test(`rays and frusta are answered between two of ${VIEWS} views, each of which says what it says alone, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const worker = new GatedWorker();
  const service = await createCollisionService({ createWorker: () => worker, builders: 0 });
  const matrix = new Matrix4();
  const ids = Array.from({ length: OBJECTS }, (_, i) => {
    const reach = i % 100 === 0 ? 5 : 0.5;
    matrix.makeTranslation(random.range(-40, 40), random.range(-40, 40), random.range(-40, 40));
    return service.addObject({ shape: { type: 'box', halfExtents: [reach, reach, reach] }, matrix: matrix.elements });
  });
  const target = service.addObject({
    shape: { type: 'sphere', radius: 1 },
    matrix: matrix.makeTranslation(0, 0, 900).elements,
  });
  await service.update();
  for (let frame = 0; frame < 4; frame++) {
    const asked = views(random);
    for (const [name, view] of asked) service.setView(view, name);
    service.setTransform(target, matrix.makeTranslation(0, 0, 900 + frame / 10).elements);
    const update = async () => (await service.update()).copy();
    const { answer, answered } = await worker.answeredWithin(20, update, async () => {
      const [hit, alone] = await Promise.all([
        service.raycast({ origin: [0, 0, 990], direction: [0, 0, -1] }),
        service.frustum(asked.get('7')!),
      ]);
      expect([hit?.object, hit?.distance]).toEqual([target, expect.closeTo(89 - frame / 10, 6)]);
      expect(alone.ids.length).toBeGreaterThan(0);
    });
    // One ray and one frustum at a time between two views.
    expect(answered).toBe(20);
    const { views: seen, ms } = answer;
    expect(ms.total).toBeCloseTo(ms.update + ms.cull + ms.contacts + ms.answer, 1);
    for (const [name, { ids: visible, inside, occluded }] of seen) {
      const alone = await service.frustum(asked.get(name)!);
      expect([[...visible], inside, [...occluded]]).toEqual([[...alone.ids], alone.inside, [...alone.occluded]]);
    }
    for (let i = 0; i < 50; i++) service.removeObject(ids.pop()!);
  }
  service.dispose();
});
