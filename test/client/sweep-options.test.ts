// How a sweep's way is read: the turn from one matrix to another, which is three's, and what is refused.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { checkMotion, checkShapeOf, checkShapes, checkWays } from '../../src/client/query/sweep-options.js';
import { Random, SEED } from '../oracle/random.js';

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

/** A turn; of many, by about half of all, which leaves the angle to one part of its quaternion, around an axis or near it. */
function turn(random: Random): Quaternion {
  const axis = random.pick(AXES).clone();
  if (random.chance(0.5)) axis.lerp(random.direction(), random.pick([1e-16, 1e-8, 1e-3, 1])).normalize();
  const angle = random.chance(0.6) ? Math.PI * (1 + random.pick([0, 0, 1e-16, 1e-8])) : random.range(-4, 4);
  return new Quaternion().setFromAxisAngle(axis, angle);
}

test(`the turn is the one between both matrices, whatever scale and shear they have, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let i = 0; i < 2000; i++) {
    const [a, b, c] = [0, 1, 2].map(() => random.range(0.2, 3));
    const shape = new Matrix4().compose(new Vector3(), turn(random), new Vector3(a, b, c));
    const from = shape.multiply(new Matrix4().makeRotationFromQuaternion(turn(random))).setPosition(random.point(9));
    const wanted = turn(random);
    const way = random.point(9);
    const at = new Vector3().setFromMatrixPosition(from);
    const to = new Matrix4().makeRotationFromQuaternion(wanted).multiply(from).setPosition(at.clone().add(way));
    const { matrix, motion } = checkMotion('sweep', from.elements, to.elements, undefined);
    expect(matrix).toEqual(from.elements);
    expect(new Vector3(...motion.way).distanceTo(way)).toBeLessThan(1e-12);
    expect(motion.tolerance).toBe(0);
    const found = new Quaternion(...motion.rotation);
    expect(found.length()).toBeCloseTo(1, 12);
    expect(found.angleTo(wanted), JSON.stringify([from.elements, to.elements])).toBeLessThan(1e-6);
  }
});

describe('what is no way is refused', () => {
  const identity = new Matrix4().elements;
  const WAY = [0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 0, 0, 0, 1];
  const ways = (at: number, value: number) => Float64Array.from([...WAY, ...WAY]).with(at, value);
  const spheres = [1, 2].map((radius) => ({ type: 'sphere', radius }) as const);

  test.each<[string, () => unknown]>([
    ['to is', () => checkMotion('sweep', identity, new Matrix4().makeScale(1, 1.001, 1).elements, undefined)],
    ['to is', () => checkMotion('sweep', identity, new Matrix4().makeScale(-1, 1, 1).elements, undefined)],
    ['tolerance is 0', () => checkMotion('sweep', identity, identity, 0)],
    ['ways[0…6] is', () => checkWays('sweepMany', ways(1, Number.NaN))],
    ['the start of a way', () => checkWays('sweepMany', ways(14, Number.POSITIVE_INFINITY))],
    ['ways[7…13] is', () => checkWays('sweepMany', ways(13, 0))],
    ['the end of a way', () => checkWays('sweepMany', ways(27, 1.01))],
    ['ways[14…20] is', () => checkWays('sweepMany', ways(17, Number.NaN))],
    ['the length of ways is 15', () => checkWays('sweepMany', new Float32Array(15))],
    ['shapeOf is undefined', () => checkShapeOf('sweepMany', undefined, spheres, 2)],
    ['the length of shapeOf is 2', () => checkShapeOf('sweepMany', Uint8Array.of(0, 1), spheres, 3)],
    ['shapeOf[1] is 2', () => checkShapeOf('sweepMany', Uint32Array.of(0, 2), spheres, 2)],
    ['the length of shape is 0', () => checkShapes('sweepMany', [])],
  ])('%s …', (message, check) => {
    expect(check).toThrow(message);
  });

  test('and what is one is copied', () => {
    const given = ways(6, 1.0004);
    const copy = checkWays('sweepMany', given);
    expect(copy).toEqual(given);
    expect(copy.buffer).not.toBe(given.buffer);
    expect(checkShapeOf('sweepMany', undefined, [spheres[0]], 2)).toBeUndefined();
    expect(checkShapeOf('sweepMany', Uint16Array.of(1, 0), spheres, 2)).toEqual(Uint32Array.of(1, 0));
  });
});
