// A mesh whose vertices all coincide has a tree space of no size, and overlap() took the scale of that for its extent: shapes far
// smaller than 1e-9 overlapped it although it was beside them.
import { expect, test } from 'vitest';
import { service, withService } from '../fixtures/each-service.js';

withService();

test.each(['points', 'lines'] as const)(
  '%s that all coincide overlap what they touch, at every scale',
  async (topology) => {
    const mesh = await service.addMesh({ positions: new Float32Array(6), topology });
    const object = service.addObject({ shape: { type: 'mesh', mesh } });
    for (const size of [1e9, 1, 1e-9, 1e-15, 1e-25]) {
      for (const [gap, expected] of [
        [0.99, [object]],
        [1.01, []],
      ] as const) {
        const center = [gap * size, 0, 0] as const;
        const half = [size, size, size] as const;
        const [from, to] = [
          [gap * size, -size, 0],
          [gap * size, size, 0],
        ] as [[number, number, number], [number, number, number]];
        expect([...(await service.overlap({ type: 'sphere', radius: size, center }))]).toEqual(expected);
        expect([...(await service.overlap({ type: 'box', halfExtents: half, center }))]).toEqual(expected);
        expect([...(await service.overlap({ type: 'capsule', radius: size, from, to }))]).toEqual(expected);
      }
    }
  },
);
