// A line whose nearest point to the cursor is beyond another hit was cut off there, and hit at that depth: it took the place
// of that hit if its id was lower.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { Matrix4, OrthographicCamera } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

test.each([0, 1])('pick answers what pickAll has first, order %d', async (order) => {
  const camera = new OrthographicCamera(-50, 50, 50, -50, 0, 100);
  const view = new Matrix4().makeTranslation(0, 0, -50);
  service.setView({
    projection: camera.projectionMatrix.elements,
    view: view.elements,
    viewport: { width: 100, height: 100 },
  });
  // A pixel is a unit. The line is nearest to the centre at z = -22; where it passes through the wall it is five pixels off.
  const addWall = () => service.addObject({ shape: { type: 'box', halfExtents: [20, 20, 1] } });
  const addLine = async () => {
    const mesh = await service.addMesh({ positions: Float32Array.of(-9, 0, 20, 6, 0, -50), topology: 'lines' });
    return service.addObject({ shape: { type: 'mesh', mesh } });
  };
  const ids = order === 0 ? [await addLine(), addWall()] : [addWall(), await addLine()].reverse();
  await service.update();
  const all = await service.pickAll(50, 50, { radius: 10 });
  expect(all.map(({ object, distance }) => [object, Math.round(distance)])).toEqual([
    [ids[1], 49],
    [ids[1], 51],
    [ids[0], 72],
  ]);
  expect(await service.pick(50, 50, { radius: 10 })).toEqual(all[0]);
});
