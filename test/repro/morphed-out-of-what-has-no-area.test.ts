// A morph target gave a triangle an area that it had not at rest. If a corner of it was farther out than all triangles with an
// area, the pose's bounds did not hold that corner: rays missed the triangle, or hit it elsewhere.
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

/** A small triangle, and one whose two first corners are at the origin. The target moves the second of them by (0, 8, 0). */
const POSITIONS = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0]);
const TARGET = new Float32Array(18);
TARGET[13] = 8;

const hitAt = async (x: number, y: number): Promise<number | undefined> =>
  (await service.raycast({ origin: [x, y, 5], direction: [0, 0, -1] }))?.triangle;

test.each(['built', 'moved'])('of a mesh as it was %s, is hit where the pose has it', async (state) => {
  const positions = state === 'built' ? POSITIONS : POSITIONS.map((each, i) => (i === 13 ? 1 : each));
  const mesh = await service.addMesh({ positions, morphs: { targets: [TARGET], relative: true } });
  if (state === 'moved') await service.updateMesh(mesh, POSITIONS);
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  for (const weight of [0.125, 0.5, 0.01]) {
    service.setPose(object, { morphs: [weight] });
    await service.update();
    expect(await hitAt(8.5, 0.1 * weight)).toBe(1);
    expect(await hitAt(5, 2 * weight)).toBe(1);
    expect(await hitAt(5, 4 * weight)).toBe(undefined);
  }
});
