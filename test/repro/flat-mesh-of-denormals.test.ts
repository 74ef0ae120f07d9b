// An extent that vanishes beside the mesh's size, as with a flat mesh whose heights are rounding, was BAD_DATA, or its
// build wrote out of bounds.
import { type CollisionService, createCollisionService, type Ray } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const CELLS = 10;

/** A floor of a grid in two axes, whose heights along the third one are alternately plus and minus the given one. */
function floor(axis: number, height: number): Float32Array {
  const positions: number[] = [];
  const add = (u: number, v: number) => positions.push(...[u, v].toSpliced(axis, 0, (u + v) % 2 ? height : -height));
  for (let u = 0; u < CELLS; u++) {
    for (let v = 0; v < CELLS; v++) {
      for (const [a, b] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 0],
        [1, 1],
        [0, 1],
      ])
        add(u + a, v + b);
    }
  }
  return Float32Array.from(positions);
}

test.each([0, 1, 2].flatMap((axis) => [1e-36, 1e-37, 4.6e-38, 1e-38, 1e-39, 1e-45].map((height) => [axis, height])))(
  'along axis %d, of %d',
  async (axis, height) => {
    const mesh = await service.addMesh({ positions: floor(axis, height) });
    const object = service.addObject({ shape: { type: 'mesh', mesh } });
    await service.update();
    for (let i = 0; i < 20; i++) {
      const across = [0.3 + ((7 * i) % CELLS), 0.2 + ((3 * i) % CELLS)];
      const origin = across.toSpliced(axis, 0, 5);
      const direction = [0, 0].toSpliced(axis, 0, -1);
      const hit = await service.raycast({ origin, direction } as unknown as Ray);
      expect(hit?.object).toBe(object);
      expect(hit?.distance).toBeCloseTo(5, 12);
    }
  },
);
