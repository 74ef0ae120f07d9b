// Of two continuous objects that overlapped at the start of their way and have parted, the point of contact was on the surface of
// the one or the other, by the order of their ids and by which of them turned, not halfway between both.
import { createCollisionService } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';

const placed = (x: number, y: number, angle: number) =>
  new Matrix4().compose(
    new Vector3(x, y, 0),
    new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), angle),
    new Vector3(1, 1, 1),
  ).elements;

const box = { shape: { type: 'box', halfExtents: [1, 1, 1] }, continuous: true } as const;
const ball = { shape: { type: 'sphere', radius: 1 }, continuous: true } as const;

test.each([
  ['neither turns', 0, 0],
  ['the box turns', 1, 0],
  ['the ball turns', 0, 1],
  ['both turn', 1, 1],
])('the point is halfway between both surfaces: %s', async (_, boxAngle, ballAngle) => {
  for (const isBoxFirst of [true, false]) {
    const service = await createCollisionService();
    const first = service.addObject(isBoxFirst ? box : ball);
    const second = service.addObject(isBoxFirst ? ball : box);
    const [boxId, ballId] = isBoxFirst ? [first, second] : [second, first];
    service.setTransform(ballId, placed(1.5, 0, 0));
    const [before] = (await service.update()).contacts;
    expect([...before.points]).toEqual([0.75, 0, 0]);
    service.setTransform(boxId, placed(0, 0, boxAngle));
    service.setTransform(ballId, placed(9, 0, ballAngle));
    const [{ time, points, depths, normals }] = (await service.update()).contacts;
    expect([time, depths.length]).toEqual([0, 1]);
    expect(depths[0]).toBeCloseTo(0.5, 5);
    expect(normals[0]).toBeCloseTo(isBoxFirst ? 1 : -1, 5);
    [0.75, 0, 0].forEach((coordinate, i) => {
      expect(points[i]).toBeCloseTo(coordinate, 5);
    });
    service.dispose();
  }
});
