// A triangle that becomes collinear where it is placed counted as intersecting
// whatever its plane could not separate from it. The arc in three ends slightly beside
// its diameter, so that the end of an extruded half disc has such a sliver along it.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { ExtrudeGeometry, Shape } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

const DETAILS = ['any', 'manifold', 'triangles', 'full'] as const;

/** A triangle beside a half cylinder's edge at y, in a plane that crosses that edge; z moves it. */
const beside = (y: number, z: number) =>
  new Float32Array([0.75, y - 0.375, z + 0.125, -0.375, y - 0.875, z - 0.5, -0.375, y + 0.75, z - 0.375]);

describe.each([
  [3, 0],
  [5, 0],
  [100, 0],
  [3, 1e6],
])('a half cylinder at y = %d + %d', (y, far) => {
  test.each([true, false])('with the higher id: %s', async (isSecond) => {
    const outline = new Shape();
    outline.absarc(0, 0, 1, 0, Math.PI, false);
    outline.lineTo(0, 0);
    const half = new ExtrudeGeometry(outline, { depth: 1, bevelEnabled: false });
    const shape = async (positions: Float32Array) =>
      ({ type: 'mesh', mesh: await service.addMesh({ positions }) }) as const;
    const cylinder = await shape(half.getAttribute('position').array as Float32Array);
    for (const [z, expected] of [
      [0, 0],
      [0.5, 1],
    ]) {
      const triangle = await shape(beside(y, z));
      const matrix = (y: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, y, 0, 1];
      const placed = [
        { shape: cylinder, matrix: matrix(far + y) },
        { shape: triangle, matrix: matrix(far) },
      ];
      const [a, b] = (isSecond ? placed.reverse() : placed).map((each) => service.addObject(each));
      for (const contacts of DETAILS) {
        service.setObject(a, { contacts });
        service.setObject(b, { contacts });
        const result = (await service.update()).contacts;
        expect([contacts, z, result.count]).toEqual([contacts, z, expected]);
        const asked = await service.contact(a, b, { detail: contacts });
        expect([contacts, z, asked !== null]).toEqual([contacts, z, expected > 0]);
        if (contacts !== 'any' && contacts !== 'triangles')
          expect(asked?.points.length ?? 0).toBeGreaterThanOrEqual(expected);
        if (contacts === 'triangles' || contacts === 'full')
          expect(asked?.triangles.length ?? 0).toBeGreaterThanOrEqual(expected);
      }
      service.removeObject(a);
      service.removeObject(b);
    }
  });
});
