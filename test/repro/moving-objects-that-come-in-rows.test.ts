// If moving objects were added row after row, or removed, the octree was rebuilt in nearly every frame: for 400,000 boxes, a
// thousand per frame, that took 17 s in all, and picks waited up to 200 ms.

import { createCollisionService, type Inspection } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { expect, test } from 'vitest';

const ALONG = 16;
/** A view that sees some of them. */
const VIEW = {
  projection: new OrthographicCamera(-5, 5, 5, -5, 0, 20).projectionMatrix.elements,
  view: new Matrix4().makeTranslation(-8, -8, -12).elements,
  viewport: { width: 100, height: 100 },
};
const SHAPE = { type: 'box', halfExtents: [0.3, 0.3, 0.3] } as const;

/** A lattice, row by row. */
const place = (i: number) => {
  const [x, y, z] = [i % ALONG, Math.floor(i / ALONG) % ALONG, Math.floor(i / ALONG ** 2)];
  return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
};

/** Returns whether a cell that is split has objects of its own: with equal objects, a build leaves none there. */
function hasGrown({ cells }: Inspection): boolean {
  return cells!.parents.some((parent) => parent >= 0 && cells!.counts[parent] > 0);
}

test('few frames build the tree anew while moving objects come', async () => {
  const service = await createCollisionService();
  const whole = await createCollisionService();
  const options = (i: number) => ({ shape: SHAPE, contacts: 'any', matrix: place(i) }) as const;
  let count = 0;
  const add = (end: number) => {
    for (; count < end; count++) service.addObject(options(count));
  };
  add(2048);
  await service.update();
  let built = 0;
  for (let frame = 0; frame < 64; frame++) {
    add(count + ALONG);
    await service.update();
    if (!hasGrown(await service.inspect({ octree: true }))) built++;
  }
  expect(built).toBeLessThan(32);

  for (let i = 0; i < count; i++) whole.addObject(options(i));
  for (const each of [service, whole]) each.setView(VIEW);
  const [grown, one] = await Promise.all([service.update(), whole.update()]);
  expect(grown.visible.inside).toBeGreaterThan(100);
  expect(grown.visible.ids).toEqual(one.visible.ids);
  service.dispose();
  whole.dispose();
});

test('no frame builds the tree anew while half of the moving objects leave', async () => {
  const service = await createCollisionService();
  const ids = Array.from({ length: 4096 }, (_, i) =>
    service.addObject({ shape: SHAPE, contacts: 'none', matrix: place(i) }),
  );
  await service.update();
  const { cellCount } = await service.inspect({});
  for (let frame = 0; frame < 16; frame++) {
    for (const id of ids.splice(-128)) service.removeObject(id);
    await service.update();
    expect((await service.inspect({})).cellCount).toBe(cellCount);
  }
  service.dispose();
});

test('no frame builds the tree anew where others take the places of those that leave', async () => {
  const service = await createCollisionService();
  const add = (i: number) => service.addObject({ shape: SHAPE, contacts: 'none', matrix: place(i) });
  const ids = Array.from({ length: 1100 }, (_, i) => add(i));
  await service.update();
  const { cellCount } = await service.inspect({});
  for (let frame = 0; frame < 40; frame++) {
    for (let i = 0; i < 100; i++) service.removeObject(ids[i]);
    for (let i = 0; i < 100; i++) ids[i] = add(i);
    await service.update();
    expect((await service.inspect({})).cellCount).toBe(cellCount);
  }
  service.dispose();
});
