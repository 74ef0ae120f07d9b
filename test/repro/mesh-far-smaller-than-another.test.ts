// Mesh against mesh measured both in the space of the one with the lower id: if that was 10¹³ times smaller, products of
// lengths overflowed in float32 and the pair was missed.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const TETRAHEDRON = {
  positions: Float32Array.of(1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1),
  indices: Uint16Array.of(0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2),
};
const TRIANGLE = { positions: Float32Array.of(-1, -1, 0, 1, -1, 0, 0, 1, 0) };

describe.each([1e-3, 1e-9, 1e-12, 1e-13, 1e-16, 1e-18, 1e-20, 1e-24, 1e-30, 1e-40])(
  'a tetrahedron of the size %d',
  (size) => {
    // By the object's matrix, or by the mesh's own coordinates where float32 can represent them.
    const scaled = (factor: number) => [factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, 1];
    test.each(['the first', 'the second'])('as %s', async (order) => {
      const [small, large] = [await service.addMesh(TETRAHEDRON), await service.addMesh(TRIANGLE)];
      const inner =
        size < 1e-35
          ? small
          : await service.addMesh({ ...TETRAHEDRON, positions: TETRAHEDRON.positions.map((x) => x * size) });
      const kinds = [
        { mesh: small, matrix: scaled(size), other: scaled(1) },
        { mesh: small, matrix: scaled(1), other: scaled(1 / size) },
        { mesh: inner, matrix: scaled(inner === small ? size : 1), other: scaled(1) },
      ];
      for (const { mesh, matrix, other } of kinds) {
        for (const [lift, expected] of [
          [0, true],
          [0.9, true],
          [1.1, false],
          [-1.1, false],
        ] as const) {
          const height = lift * (matrix[0] === 1 && mesh === inner && inner !== small ? size : matrix[0]);
          const place = [...matrix.slice(0, 14), height, 1];
          const add = [
            () => service.addObject({ shape: { type: 'mesh', mesh }, matrix: place, contacts: 'triangles' }),
            () => service.addObject({ shape: { type: 'mesh', mesh: large }, matrix: other, contacts: 'triangles' }),
          ];
          const [a, b] = (order === 'the first' ? add : add.reverse()).map((each) => each());
          expect([lift, (await service.update()).contacts.count]).toEqual([lift, Number(expected)]);
          for (const detail of ['any', 'manifold', 'triangles'] as const) {
            expect([lift, detail, (await service.contact(a, b, { detail })) !== null]).toEqual([
              lift,
              detail,
              expected,
            ]);
          }
          service.removeObject(a);
          service.removeObject(b);
        }
      }
    });
  },
);
