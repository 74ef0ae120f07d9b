// Which matrices the core accepts, against the client's checks: both decide alike, to the bit.

import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { isAffine, isInvertibleAt } from '../../../../src/client/check/affine.js';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { CONTACTS_NONE } from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene } from '../../../fixtures/near-scene.js';
import { Random, SEED } from '../../../oracle/random.js';
import type { AnyShape } from '../../../oracle/shapes.js';

const COUNT = 1000;
const AXES = [
  ['X', 'Y', 'Z'],
  ['Y', 'Z', 'X'],
  ['Z', 'X', 'Y'],
] as const;

test.each<[string, (random: Random, matrix: Matrix4) => Matrix4]>([
  ['flat but for rounding', (random, matrix) => flattened(random, matrix, 0)],
  ['nearly flat', (random, matrix) => flattened(random, matrix, random.logRange(1e-16, 1e-8))],
  ['flat, with columns of which two are next to nothing', (random) => vanishing(random)],
  ['of any size', (random, matrix) => sized(matrix, () => random.logRange(1e-160, 1e160))],
  ['as small as they can be, or smaller', (random, matrix) => sized(matrix, () => random.logRange(1e-104, 1e-102))],
  ['as large as they can be, or larger', (random, matrix) => sized(matrix, () => random.logRange(1e102, 1e104))],
])(`${COUNT} matrices, %s, seed ${SEED}`, async (_, change) => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const staging = new FrameBuilder();
  const expected: number[] = [];
  for (let i = 0; i < COUNT; i++) {
    const { id } = scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4(), { contacts: CONTACTS_NONE });
    const { elements } = change(random, random.placement(random.point(5), ANY_TRANSFORM));
    staging.setSingle(id, elements);
    if (!isInvertibleAt(elements, 0)) expected.push(id);
  }
  const { rejected } = new FrameView(scene.core.frame(staging.seal(1, 1), undefined), []);
  expect([...rejected]).toEqual(expected);
  expect(expected.length).toBeGreaterThan(COUNT / 20);
});

test(`${COUNT} corners of the bottom row that are 1 but for rounding, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const expected: number[] = [];
  const ids = new Uint32Array(COUNT);
  const matrices = new Float64Array(16 * COUNT);
  for (let i = 0; i < COUNT; i++) {
    ids[i] = scene.add({ shape: { type: 'sphere', radius: 1 } }, new Matrix4(), { contacts: CONTACTS_NONE }).id;
    const { elements } = new Matrix4().setPosition(random.point(5));
    elements[15] += random.pick([-1, 1]) * random.logRange(1e-16, 1e-4) * random.pick([0, 1]);
    // As many about the bound itself.
    if (random.chance(0.5)) elements[15] = 1 + random.pick([-1, 1]) * random.range(0, 3e-9);
    matrices.set(elements, 16 * i);
    if (!isAffine(elements, 0)) expected.push(ids[i]);
  }
  const staging = new FrameBuilder();
  staging.setBlock(ids, matrices);
  const { rejected } = new FrameView(scene.core.frame(staging.seal(1, 1), undefined), []);
  expect([...rejected]).toEqual(expected);
  expect(Math.min(expected.length, COUNT - expected.length)).toBeGreaterThan(COUNT / 4);
});

test.each([
  ['32', Float32Array],
  ['64', Float64Array],
] as const)(`blocks of float%s place boxes where their parent has them, seed ${SEED}`, async (_, Numbers) => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const count = 200;
  const matrices = new Numbers(16 * count);
  const ids = Uint32Array.from({ length: count }, (_, i) => {
    matrices.set(random.placement(random.point(5), ANY_TRANSFORM).elements, 16 * i);
    const box: AnyShape = { shape: { type: 'box', halfExtents: [1, 2, 3] } };
    return scene.add(box, new Matrix4(), { contacts: CONTACTS_NONE }).id;
  });
  for (const parent of [new Matrix4(), random.placement(random.point(3), ANY_TRANSFORM)]) {
    const staging = new FrameBuilder();
    staging.setBlock(ids, matrices, parent.elements);
    scene.core.frame(staging.seal(1, 1), undefined);
    for (const [i, id] of ids.entries()) {
      const placed = parent.clone().multiply(new Matrix4().fromArray(matrices, 16 * i));
      for (const factor of [0.99, 1.01]) {
        // On a face, and slightly inside or outside.
        const face = [random.range(-1, 1), random.range(-2, 2), random.range(-3, 3)];
        const axis = random.integer(3);
        face[axis] = random.pick([-1, 1]) * factor * (axis + 1);
        const point = new Vector3().fromArray(face).applyMatrix4(placed);
        expect([...runToEnd(scene.core.volumes.containing(point.toArray(), ALL_FILTER))].includes(id)).toBe(factor < 1);
      }
    }
  }
});

/** Its last column in the plane of the others, except for a relative part. */
function flattened(random: Random, matrix: Matrix4, part: number): Matrix4 {
  const [x, y, z] = [new Vector3(), new Vector3(), new Vector3()];
  matrix.extractBasis(x, y, z);
  z.multiplyScalar(part).addScaledVector(x, random.range(-1, 1)).addScaledVector(y, random.range(-1, 1));
  return new Matrix4().makeBasis(x, y, z);
}

/** Flat, though the product of its columns' squared lengths underflows before the third is multiplied in. */
function vanishing(random: Random): Matrix4 {
  const [x, y, z] = random.pick([...AXES, ...AXES.map((axes) => axes.toReversed())]);
  const along = (axis: 'X' | 'Y' | 'Z', length: number) => new Vector3()[`set${axis}`](length);
  const small = () => random.logRange(1e-82, 1e-81);
  const third = along(x, random.logRange(1e152, 1e153)).add(along(z, random.logRange(1e48, 1e52)));
  return new Matrix4().makeBasis(along(x, small()), along(y, small()), third);
}

function sized(matrix: Matrix4, factor: () => number): Matrix4 {
  return matrix.scale(new Vector3(factor(), factor(), factor()));
}
