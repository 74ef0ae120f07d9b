// Arguments are checked before they are sent: all invalid ones are refused, and no valid ones.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { determinantAt, isInvertibleAt } from '../../src/client/check/affine.js';
import { checkClipPlanes, MAX_PLANE_CONSTANT } from '../../src/client/check/planes.js';
import { checkSignal } from '../../src/client/check/signal.js';
import { readView } from '../../src/client/frame/view-table.js';
import { checkMotion, checkShapeOf, checkWays } from '../../src/client/query/sweep-options.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';
import { Random, SEED } from '../oracle/random.js';

describe('planes', () => {
  test(`are the same ones, scaled so that the largest part of a normal is in [1, 2), seed ${SEED}`, () => {
    const random = new Random(SEED);
    for (let i = 0; i < 200; i++) {
      const scale = 2 ** (random.integer(2000) - 1000);
      const given = Array.from({ length: 4 * (1 + random.integer(4)) }, () => random.range(-1, 1) * scale);
      const planes = checkClipPlanes('test', 'clip', given, 4);
      for (let at = 0; at < given.length; at += 4) {
        const largest = Math.max(...planes.subarray(at, at + 3).map(Math.abs));
        expect(largest).toBeGreaterThanOrEqual(1);
        expect(largest).toBeLessThan(2);
        const factor = largest / Math.max(...given.slice(at, at + 3).map(Math.abs));
        for (let k = 0; k < 4; k++) expect(planes[at + k], `${k} of plane ${at / 4}`).toBe(given[at + k] * factor);
      }
    }
    expect(checkClipPlanes('test', 'clip', [1e-300, 0, 0, 1e300], 1)[3]).toBe(MAX_PLANE_CONSTANT);
  });

  test.each([
    ['a number too few', [0, 0, 1]],
    ['a plane too many', [0, 0, 1, 0, 0, 0, 1, 0]],
    ['no normal', [0, 0, 0, 1]],
    ['what is not a number', [0, 0, 1, Number.NaN]],
    ['bytes without a type', new DataView(new ArrayBuffer(32))],
    ['what only looks like a list', { length: 4, 0: 0, 1: 0, 2: 1, 3: 0 }],
  ])('with %s are refused', (_, given) => {
    expect(() => checkClipPlanes('test', 'clip', given, 1)).toThrow(/^test: .*clip/);
  });
});

test('a signal is what can be listened to', () => {
  const like = { aborted: false, addEventListener() {}, removeEventListener() {} };
  for (const right of [undefined, new AbortController().signal, like]) {
    expect(() => checkSignal('test', right)).not.toThrow();
  }
  const wrong = Object.keys(like).map((name) => ({ ...like, [name]: undefined }));
  for (const each of [null, true, 'signal', {}, ...wrong]) {
    expect(() => checkSignal('test', each)).toThrow(/^test: signal .* an AbortSignal/);
  }
});

describe('a projection', () => {
  const read = (projection: number[]) =>
    readView('test', { projection, view: new Matrix4().elements, viewport: { width: 1, height: 1 } });

  test('of any order of axes, which can be inverted, is taken', () => {
    const orders = [0, 1, 2, 3].flatMap((a) =>
      [0, 1, 2, 3].flatMap((b) => [0, 1, 2, 3].map((c) => [a, b, c, 6 - a - b - c])),
    );
    const those = orders.filter((order) => new Set(order).size === 4);
    expect(those.length).toBe(24);
    for (const order of those) {
      const projection = new Array<number>(16).fill(0);
      order.forEach((row, column) => {
        projection[4 * column + row] = 1 + row;
      });
      expect(() => read(projection), String(order)).not.toThrow();
    }
  });

  test(`of which a column is a sum of others, or that loses an axis, is refused, seed ${SEED}`, () => {
    const random = new Random(SEED);
    for (let i = 0; i < 100; i++) {
      // Integers, whose determinant is exact.
      const projection = Array.from({ length: 16 }, () => random.integer(19) - 9);
      const [to, one, other] = [0, 1, 2, 3].map((k) => 4 * ((k + i) & 3));
      for (let k = 0; k < 4; k++) projection[to + k] = projection[one + k] - 2 * projection[other + k];
      if (i % 2 === 1) for (let k = 0; k < 4; k++) projection[4 * k + (i & 3)] = 0;
      expect(() => read(projection), projection.join()).toThrow(/the determinant of projection is -?0,/);
    }
  });
});

test('a view has a viewport', () => {
  const { elements } = new Matrix4();
  const view = { projection: elements, view: elements } as never;
  expect(() => readView('test', view)).toThrow('test: viewport is undefined, expected an object');
});

describe('ways', () => {
  const way = (): number[] => [0, 0, 9, 0, 0, 0, 1, 0, 0, -9, 0, 0.6, 0, 0.8];

  test('are copied as they are', () => {
    const ways = Float64Array.from([...way(), ...way()]);
    const copy = checkWays('test', ways);
    expect(copy).toEqual(ways);
    expect(copy.buffer).not.toBe(ways.buffer);
  });

  test.each([
    ...Array.from({ length: 28 }, (_, at) => [at, Number.NaN] as const),
    ...[0, 8, 16, 23].map((at) => [at, Number.POSITIVE_INFINITY] as const),
    ...[6, 11, 13, 20, 27].map((at) => [at, 0.5] as const),
  ])('whose number %i is %d are refused', (at, value) => {
    const ways = Float64Array.from([...way(), ...way()]);
    ways[at] = value;
    const first = at - (at % 7);
    expect(() => checkWays('test', ways)).toThrow(`ways[${first}…${first + 6}]`);
  });

  test('say of which shape they are, by a number that there is', () => {
    const shapes = [0, 1, 2].map((radius) => ({ type: 'sphere', radius: 1 + radius }) as const);
    const shapeOf = Uint8Array.of(2, 0, 1);
    expect(checkShapeOf('test', shapeOf, shapes, 3)).toEqual(Uint32Array.of(2, 0, 1));
    for (let at = 0; at < 3; at++) {
      const wrong = shapeOf.slice();
      wrong[at] = 3;
      expect(() => checkShapeOf('test', wrong, shapes, 3)).toThrow(`shapeOf[${at}] is 3`);
    }
    expect(() => checkShapeOf('test', shapeOf, shapes, 4)).toThrow(/the length of shapeOf is 3/);
    expect(() => checkShapeOf('test', undefined, shapes, 3)).toThrow(/shapeOf is undefined/);
    expect(checkShapeOf('test', undefined, shapes.slice(0, 1), 3)).toBeUndefined();
  });
});

test(`the motion between two matrices turns the one to the other, about any axis and by half a turn, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const half = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [Math.SQRT1_2, Math.SQRT1_2, 0],
    [0, Math.SQRT1_2, -Math.SQRT1_2],
    [Math.SQRT1_2, 0, Math.SQRT1_2],
  ].map(([x, y, z]) => new Quaternion(x, y, z, 0));
  const turns = [...half, ...Array.from({ length: 100 }, () => random.rotation())];
  // Half turns, repeated: which component of the quaternion is found first depends on rounding.
  for (let i = 0; i < 20; i++) turns.push(...half);
  for (const turn of turns) {
    // A matrix with a scale and a shear keeps them.
    const scale = new Vector3(random.range(0.2, 3), random.range(0.2, 3), random.range(0.2, 3));
    const from = new Matrix4().compose(new Vector3(), random.rotation(), scale);
    from.multiply(new Matrix4().makeRotationFromQuaternion(random.rotation())).setPosition(random.point(9));
    const way = random.point(9);
    const to = new Matrix4().makeRotationFromQuaternion(turn).multiply(from);
    to.setPosition(way.x + from.elements[12], way.y + from.elements[13], way.z + from.elements[14]);
    const { motion } = checkMotion('test', from.elements, to.elements, undefined);
    const [x, y, z] = motion.way;
    expect(Math.hypot(x - way.x, y - way.y, z - way.z)).toBeLessThan(1e-9);
    const found = new Quaternion(...motion.rotation);
    expect(Math.abs(found.length() - 1)).toBeLessThan(1e-9);
    expect(found.angleTo(turn)).toBeLessThan(1e-6);
  }
});

test.each([
  ['scaled', new Matrix4().makeScale(1, 1.001, 1)],
  ['mirrored', new Matrix4().makeScale(-1, 1, 1)],
  ['sheared', new Matrix4().makeShear(1e-3, 0, 0, 0, 0, 0)],
])('a motion to what is %s is none', (_, to) => {
  const check = () => checkMotion('test', new Matrix4().elements, to.elements, undefined);
  expect(check).toThrow(/to is .*, expected `from`, moved and turned/);
});

describe(`a matrix can be inverted where its columns are not in one plane, seed ${SEED}`, () => {
  test.each([1e-12, 1e-3, 1, 1e3, 1e9])('at a scale of %d', (scale) => {
    const random = new Random(SEED);
    let [flat, solid] = [0, 0];
    for (let i = 0; i < 500; i++) {
      const [a, b] = [random.direction(), random.direction()];
      const height = 10 ** random.range(-16, 0);
      const c = a.clone().multiplyScalar(random.range(-1, 1)).addScaledVector(b, random.range(-1, 1));
      c.addScaledVector(a.clone().cross(b), height);
      const sizes = [0, 1, 2].map(() => scale * random.range(0.1, 10));
      const matrix = new Matrix4().makeBasis(
        a.multiplyScalar(sizes[0]),
        b.multiplyScalar(sizes[1]),
        c.multiplyScalar(sizes[2]),
      );
      matrix.setPosition(random.point(9));
      const volume = a.clone().cross(b).dot(c) / (a.length() * b.length() * c.length());
      const part = Math.abs(volume) * 2 ** 40;
      if (part > 0.9 && part < 1.1) continue; // rounding decides
      expect(isInvertibleAt([7, ...matrix.elements], 1), `case ${i}`).toBe(part > 1);
      if (part > 1) solid++;
      else flat++;
      const rows = matrix.elements.filter((_, k) => k % 4 !== 3);
      expect(isInvertibleAt(rows, 0, 3)).toBe(part > 1);
      if (part > 1e6) expect(determinantAt(rows, 0, 3) / matrix.determinant()).toBeCloseTo(1, 6);
      for (let k = 0; k < 12; k++) {
        for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY])
          expect(isInvertibleAt(rows.with(k, wrong), 0, 3)).toBe(false);
      }
    }
    expect(Math.min(flat, solid)).toBeGreaterThan(50);
  });

  test('and its volume is a number', () => {
    const scaled = (scale: number) => isInvertibleAt(new Matrix4().makeScale(scale, scale, scale).elements, 0);
    expect([1e-110, 1e-101, 1e101, 1e110].map(scaled)).toEqual([false, true, true, false]);
  });
});

test('no object has the id 0, nor an id that is no number', () => {
  const table = new TransformTable();
  for (const id of [0, '0', null, undefined, {}, true, Number.NaN]) expect(table.has(id)).toBe(false);
  table.reserve(8);
  for (const id of [0, '0', null, undefined, {}, true, Number.NaN]) expect(table.has(id)).toBe(false);
});
