// Two continuous objects that turn together about a point far from both, like parts of a model whose vertices are in the
// model's space, took as many steps as if each turned alone: thousands of distances, and a contact that there is not.
import { type CollisionService, createCollisionService, type Shape } from 'collision-worker';
import { BoxGeometry, Matrix4 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const GAP = 5e-4;

const boxAt = (x: number): Shape => ({ type: 'box', halfExtents: [0.5, 0.5, 0.5], center: [x, 0, 0] });
const meshAt = async (x: number): Promise<Shape> => {
  const { attributes, index } = new BoxGeometry(1, 1, 1, 2, 2, 2).translate(x, 0, 0);
  const positions = attributes.position.array as Float32Array;
  return { type: 'mesh', mesh: await service.addMesh({ positions, indices: new Uint32Array(index!.array) }) };
};

/** Returns the times of the contacts in the frame in which the first object moves by a matrix, and the second by another. */
async function timesOf(shapes: readonly Shape[], matrices: readonly Matrix4[]): Promise<number[]> {
  const ids = shapes.map((shape) => service.addObject({ shape, continuous: true }));
  await service.update();
  ids.forEach((id, i) => void service.setTransform(id, matrices[i].elements));
  return [...(await service.update()).contacts.time];
}

const turned = (angle: number) => new Matrix4().makeRotationZ(angle).setPosition(3, 4, 5);

describe.each([
  ['boxes', boxAt],
  ['meshes', meshAt],
] as const)('%s', (_, at) => {
  test('that turn as one are as far apart as before', async () => {
    expect(await timesOf([await at(50), await at(51 + GAP)], [turned(1), turned(1)])).toEqual([]);
  });

  test('of which one turns a little farther meet when the gap is closed', async () => {
    // The parts are one behind the other on their way; the second turns by less, so the first goes through it.
    const behind = new Matrix4().makeRotationZ(-1.5 / 50);
    const [first, second] = [await at(50), await at(50)];
    const ids = [first, second].map((shape, i) =>
      service.addObject({ shape, continuous: true, matrix: (i === 0 ? behind : new Matrix4()).elements }),
    );
    await service.update();
    service.setTransform(ids[0], behind.clone().premultiply(turned(1)).elements);
    service.setTransform(ids[1], turned(0.94).elements);
    const { contacts } = await service.update();
    // Their inner corners meet, 49.5 from the pivot, when the second has fallen behind by all but their own angle.
    const time = (1.5 / 50 - 2 * Math.atan(0.5 / 49.5)) / 0.06;
    expect(contacts.count).toBe(1);
    expect(contacts.time[0]).toBeLessThanOrEqual(time + 1e-6);
    expect(contacts.time[0]).toBeGreaterThan(time - 1e-2);
  });
});
