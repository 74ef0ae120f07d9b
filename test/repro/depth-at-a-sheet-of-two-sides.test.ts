// A sheet with faces on both sides counts as closed. A capsule that stood in it, and a ball beside a vertex of it, were moved out
// through it, the longer way, where the normals of both sides cancelled each other out but for rounding.
import { createCollisionService, type Shape } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { Random, SEED } from '../oracle/random.js';

const CORNERS = 10;
const SHAPES: Shape[] = [
  { type: 'sphere', radius: 1 },
  { type: 'capsule', radius: 0.5, from: [0, 0, -0.5], to: [0, 0, 0.5] },
];

test(`what touches a disc of two sides leaves by the shorter way, seed ${SEED}`, async () => {
  const service = await createCollisionService();
  const random = new Random(SEED);
  const mesh = await service.addMesh(discOfTwoSides());
  expect(service.meshInfo(mesh).closed).toBe(true);
  for (let turn = 0; turn < 8; turn++) {
    const place = new Matrix4().compose(
      random.point(5),
      new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), random.direction()),
      new Vector3(1, 1, 1),
    );
    const disc = service.addObject({ shape: { type: 'mesh', mesh }, matrix: place.elements });
    for (const shape of SHAPES) {
      for (const height of [0.3, -0.3]) {
        for (const beside of [0, 0.2]) {
          const matrix = new Matrix4().makeTranslation(beside, 0.5 * beside, height).premultiply(place);
          const object = service.addObject({ shape, matrix: matrix.elements });
          await service.update();
          const { normals, depths } = (await service.contact(disc, object))!;
          const message = `${shape.type}, turn ${turn}, ${height} above, ${beside} beside`;
          expect(depths[0], message).toBeCloseTo(0.7, 5);
          const up = new Vector3(0, 0, Math.sign(height)).transformDirection(place);
          expect(up.dot(new Vector3().fromArray(normals)), message).toBeCloseTo(1, 5);
          service.removeObject(object);
        }
      }
    }
    service.removeObject(disc);
  }
});

function discOfTwoSides() {
  const positions = [0, 0, 0];
  const indices: number[] = [];
  for (let i = 0; i < CORNERS; i++) {
    const angle = (2 * Math.PI * i) / CORNERS;
    positions.push(2 * Math.cos(angle), 2 * Math.sin(angle), 0);
    const [corner, next] = [1 + i, 1 + ((i + 1) % CORNERS)];
    indices.push(0, corner, next, 0, next, corner);
  }
  return { positions: new Float32Array(positions), indices: new Uint32Array(indices) };
}
