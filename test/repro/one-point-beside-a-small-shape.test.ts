// A mesh whose vertices all coincide has a tree space of no size, and overlap() took the scale of that for its extent: shapes far
// smaller than a unit overlapped it although it was beside them.
import type { Shape } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

test.each(['points', 'lines'] as const)('%s that all coincide overlap what they touch', async (topology) => {
  const mesh = await service.addMesh({ positions: new Float32Array(6), topology });
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  const answers: string[] = [];
  const expected: string[] = [];
  for (const size of [1e9, 1, 1e-9, 1e-15, 1e-25]) {
    const shapes: Shape[] = [
      { type: 'sphere', radius: size },
      { type: 'box', halfExtents: [size, size, size] },
      { type: 'capsule', radius: size, from: [0, -size, 0], to: [0, size, 0] },
    ];
    for (const shape of shapes) {
      for (const gap of [0.99, 1.01]) {
        // Turned, so that the bounds of the shape along the axes hold the points.
        const matrix = new Matrix4().makeTranslation(gap * size, 0, 0).premultiply(new Matrix4().makeRotationZ(0.7));
        const found = await service.overlap(shape, matrix.elements);
        answers.push(`${shape.type} of ${size}, ${gap}: ${[...found]}`);
        expected.push(`${shape.type} of ${size}, ${gap}: ${gap < 1 ? object : ''}`);
      }
    }
  }
  expect(answers).toEqual(expected);
});
