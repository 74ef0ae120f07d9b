// What each check accepts, and its message for everything else: every index of an array, and every bound.
import { describe, expect, test } from 'vitest';
import { determinantAt, isAffine, isInvertibleAt } from '../../src/client/check/affine.js';
import * as validate from '../../src/client/check/validate.js';
import { CollisionError } from '../../src/shared/errors.js';
import { Random, SEED } from '../oracle/random.js';

const NO_NUMBERS = ['1', null, undefined, true, {}, 1n, Symbol.iterator];
const NOT_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(CollisionError.is(error)).toBe(true);
    expect((error as CollisionError).code).toBe('INVALID_ARGUMENT');
    return (error as CollisionError).message;
  }
  return 'passed';
}

/** Sixteen numbers of an affine matrix, all different where they may be. */
const affine = (): number[] => [2, 3, 5, 0, 7, 11, 13, 0, 17, 19, -23, 0, 29, 31, 37, 1];

describe('a number', () => {
  const { checkFinite, checkAtLeastZero, checkPositive, checkNumber, checkInteger, checkBits } = validate;
  const checks: [string, (value: unknown) => number, number[], unknown[], string][] = [
    ['finite', (v) => checkFinite('call', 'x', v), [0, -1, 1e308], NOT_FINITE, 'a finite number'],
    [
      'not below zero',
      (v) => checkAtLeastZero('call', 'x', v),
      [0, 1e308],
      [-1e-300, ...NOT_FINITE],
      'a finite number >= 0',
    ],
    ['above zero', (v) => checkPositive('call', 'x', v), [1e-300, 9], [0, -1, ...NOT_FINITE], 'a finite number > 0'],
    ['of a lowest value', (v) => checkNumber('call', 'x', v, 3, 'three'), [3, Infinity], [2.99, Number.NaN], 'three'],
    [
      'whole',
      (v) => checkInteger('call', 'x', v, -2, 5),
      [-2, 0, 5],
      [-3, 6, 0.5, ...NOT_FINITE],
      'an integer in -2 … 5',
    ],
    [
      'of bits',
      (v) => checkBits('call', 'x', v) | 0,
      [0, -1, -0x80000000],
      [-0x80000001, 2 ** 32, 0.5],
      'an integer in',
    ],
  ];
  test.each(checks)('%s', (_, check, good, bad, expected) => {
    for (const value of good) expect(check(value)).toBe(value);
    for (const value of [...bad, ...NO_NUMBERS]) {
      const message = messageOf(() => check(value));
      expect(message).toContain(`call: x is ${validate.describeValue(value)}, expected ${expected}`);
    }
  });

  test('is shown in few words, whatever it is instead', () => {
    // three's vectors have a function of this name.
    for (const given of [{ length: () => 1 }, { length: 'two' }, { length: null }, {}]) {
      expect(validate.describeValue(given)).toBe('an object');
    }
    expect(validate.describeValue({ length: 5 })).toBe('an Object of length 5');
  });

  test('of bits comes out without a sign', () => {
    expect(checkBits('call', 'x', -1)).toBe(0xffffffff);
    expect(checkBits('call', 'x', 0xffffffff)).toBe(0xffffffff);
  });
});

test('a flag, and a word of some', () => {
  for (const value of [true, false]) expect(validate.checkBoolean('call', 'x', value)).toBe(value);
  for (const value of [0, 1, 'true', null]) {
    expect(messageOf(() => validate.checkBoolean('call', 'x', value))).toContain('expected a boolean');
  }
  expect(validate.checkOneOf('call', 'x', 'b', ['a', 'b'])).toBe('b');
  for (const value of ['c', ['a'], new String('a')]) {
    expect(messageOf(() => validate.checkOneOf('call', 'x', value, ['a', 'b']))).toMatch(/expected one of "a", "b"$/);
  }
});

describe('numbers in a row', () => {
  test('are copied, and each that is not finite is named', () => {
    const given = Object.freeze([4, 5, 6]);
    expect(validate.checkVec3('call', 'x', given)).toEqual([4, 5, 6]);
    expect(validate.checkNumbers('call', 'x', given, 3)).not.toBe(given);
    expect(validate.checkNumbers('call', 'x', { length: 2, 0: 7, 1: 8 }, 2)).toEqual([7, 8]);
    for (let i = 0; i < 3; i++) {
      for (const value of NOT_FINITE) {
        const said = messageOf(() => validate.checkVec3('call', 'x', Object.assign([4, 5, 6], { [i]: value })));
        expect(said).toBe(`call: x[${i}] is ${value}, expected a finite number`);
      }
      for (const value of NO_NUMBERS) {
        const said = messageOf(() => validate.checkVec3('call', 'x', Object.assign([4, 5, 6], { [i]: value })));
        expect(said).toMatch(/^call: x is \[.*\], expected 3 numbers$/);
      }
    }
    for (const value of [[4, 5], [4, 5, 6, 7], 'abc', 3, null, undefined]) {
      expect(messageOf(() => validate.checkVec3('call', 'x', value))).toMatch(/expected 3 numbers$/);
    }
  });

  test('that throw are told of by what they throw', () => {
    const given = {
      length: 3,
      0: 1,
      2: 1,
      get 1() {
        throw new Error('no');
      },
    };
    expect(messageOf(() => validate.checkVec3('call', 'x', given))).toBe('call: x cannot be read: Error: no');
    const matrix = Object.defineProperty(affine(), 5, {
      get: () => {
        throw new Error('no');
      },
    });
    expect(messageOf(() => new validate.MatrixReader().read('call', 'x', matrix))).toBe(
      'call: x cannot be read: Error: no',
    );
  });
});

describe('a matrix', () => {
  test('is read number by number, and again into the same array', () => {
    const reader = new validate.MatrixReader();
    const read = reader.read('call', 'x', affine());
    expect(Array.from(read)).toEqual(affine());
    expect(reader.read('call', 'x', affine())).toBe(read);
    for (let i = 0; i < 16; i++) {
      for (const value of NO_NUMBERS) {
        const matrix = Object.assign(affine(), { [i]: value }) as number[];
        expect(messageOf(() => reader.read('call', 'x', matrix))).toBe(
          'call: x is an Array of length 16, expected 16 numbers',
        );
        expect(messageOf(() => validate.checkMatrix('call', 'x', matrix))).toContain('expected 16 numbers');
      }
      // Any number will do here.
      expect(reader.read('call', 'x', Object.assign(affine(), { [i]: Number.NaN }))[i]).toBeNaN();
      const said = messageOf(() => validate.checkMatrix('call', 'x', Object.assign(affine(), { [i]: Number.NaN })));
      expect(said).toBe(`call: x[${i}] is NaN, expected a finite number`);
    }
    for (const value of [affine().slice(1), [...affine(), 1], null, undefined, 3]) {
      expect(messageOf(() => reader.read('call', 'x', value as never))).toMatch(/expected 16 numbers$/);
    }
  });

  test('that reads another one meanwhile is not written over', () => {
    const reader = new validate.MatrixReader();
    const other = affine().map((value) => value + 1);
    const matrix = Object.defineProperty(affine(), 15, {
      get: () => {
        reader.read('call', 'y', other);
        return 1;
      },
    });
    expect(Array.from(reader.read('call', 'x', matrix))).toEqual(affine());
  });

  test('of another bottom row is refused, but for what is told of as not finite', () => {
    const reader = new validate.MatrixReader();
    for (const i of [3, 7, 11, 15]) {
      const matrix = Object.assign(affine(), { [i]: 0.5 });
      const row = [0, 0, 0, 1].map((value, k) => (4 * k + 3 === i ? 0.5 : value));
      const expected = `call: the bottom row of x is [${row.join(', ')}], expected 0, 0, 0, 1`;
      expect(messageOf(() => reader.readAffine('call', 'x', matrix))).toBe(expected);
      expect(messageOf(() => validate.checkMatrix('call', 'x', matrix))).toBe(expected);
      // At an offset in an array of several.
      expect(isAffine([9, ...matrix], 1)).toBe(false);
      for (let k = 0; k < 15; k++) {
        if (k % 4 === 3) continue;
        expect(isAffine([9, ...Object.assign(matrix.slice(), { [k]: Number.NaN })], 1), `${i} and ${k}`).toBe(true);
      }
      for (const k of [3, 7, 11])
        if (k !== i) expect(isAffine(Object.assign(matrix.slice(), { [k]: NaN }), 0)).toBe(false);
      expect(isAffine([...matrix, Number.NaN], 0)).toBe(false);
      expect(isAffine([Number.NaN, ...matrix], 1)).toBe(false);
    }
    for (const corner of [1 + 1e-12, 1 - 1e-12]) expect(isAffine([...affine().slice(0, 15), corner], 0)).toBe(true);
    for (const corner of [1 + 1e-8, 1 - 1e-8, -1]) expect(isAffine([...affine().slice(0, 15), corner], 0)).toBe(false);
    expect(Array.from(reader.readAffine('call', 'x', affine()))).toEqual(affine());
    expect(validate.checkMatrix('call', 'x', affine())).toEqual(affine());
  });

  test('of no volume is refused by its determinant', () => {
    const flat = affine();
    flat.splice(8, 3, 2 + 7, 3 + 11, 5 + 13);
    expect(messageOf(() => validate.checkMatrix('call', 'x', flat))).toBe(
      'call: x has the determinant 0, expected an invertible matrix',
    );
  });

  test('has as many numbers as its id wants', () => {
    validate.checkLengths('call', new Uint32Array(2), new Float32Array(32));
    for (const length of [0, 16, 31, 33]) {
      const said = messageOf(() => validate.checkLengths('call', new Uint32Array(2), new Float32Array(length)));
      expect(said).toBe(`call: the length of matrices is ${length}, expected 16 for each of 2 ids`);
    }
  });
});

describe(`a matrix's volume, seed ${SEED}`, () => {
  /** Columns at a stride, behind some other numbers. */
  const placed = (columns: number[][], stride: number, before: number): number[] =>
    [Array(before).fill(77), ...columns.map((column) => [...column, ...Array(stride - 3).fill(55)])].flat();
  const random = new Random(SEED);
  const columns = (): number[][] => [0, 1, 2, 3].map(() => random.direction().toArray());

  test('is that of its columns, wherever these lie', () => {
    for (let round = 0; round < 20; round++) {
      const [a, b, c, t] = columns();
      const [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = [a, b, c];
      const truth = ax * by * cz + bx * cy * az + cx * ay * bz - cx * by * az - bx * ay * cz - ax * cy * bz;
      for (const stride of [3, 4]) {
        const m = placed([a, b, c, t], stride, round);
        expect(determinantAt(m, round, stride)).toBeCloseTo(truth, 13);
        expect(isInvertibleAt(m, round, stride)).toBe(true);
        if (stride === 4) expect(determinantAt(m, round)).toBe(determinantAt(m, round, 4));
      }
    }
  });

  test('is none where a number is not finite, or the columns are in one plane or one line', () => {
    for (const stride of [3, 4]) {
      for (let i = 0; i < 12; i++) {
        for (const value of NOT_FINITE) {
          const all = columns();
          all[Math.floor(i / 3)][i % 3] = value;
          expect(isInvertibleAt(placed(all, stride, 2), 2, stride), `${i}, ${value}`).toBe(false);
        }
      }
      for (let flat = 0; flat < 3; flat++) {
        const all = columns();
        const [one, other] = [all[(flat + 1) % 3], all[(flat + 2) % 3]];
        for (const share of [0, 0.5, -1]) {
          all[flat] = one.map((value, k) => share * value + (share === 0 ? 0 : other[k]));
          for (const scale of [1e-45, 1e-20, 1, 1e20, 1e45]) {
            const scaled = all.map((column) => column.map((value) => value * scale));
            expect(isInvertibleAt(placed(scaled, stride, 2), 2, stride)).toBe(false);
          }
        }
      }
    }
  });

  test('does not depend on its scale, up to where it overflows', () => {
    const near = columns();
    // Nearly in one plane, but off by more than rounding.
    near[2] = near[0].map((value, k) => value + near[1][k] + 1e-9 * random.direction().toArray()[k]);
    for (const all of [columns(), near]) {
      for (const scale of [1e-90, 1e-40, 1e-20, 1, 1e20, 1e40, 1e90]) {
        const scaled = all.map((column) => column.map((value) => value * scale));
        expect(isInvertibleAt(placed(scaled, 4, 0), 0), String(scale)).toBe(true);
      }
      for (const scale of [1e-120, 1e120]) {
        const scaled = all.map((column) => column.map((value) => value * scale));
        expect(isInvertibleAt(placed(scaled, 4, 0), 0), String(scale)).toBe(false);
      }
      // One column may be as long as the others are short.
      for (let long = 0; long < 3; long++) {
        const uneven = all.map((column, k) => column.map((value) => value * (k === long ? 1e60 : 1e-30)));
        expect(isInvertibleAt(placed(uneven, 4, 0), 0)).toBe(true);
      }
    }
  });
});

describe('options', () => {
  test('are copied with all that is known, each read once', () => {
    let reads = 0;
    const options = {
      get a() {
        reads++;
        return 1;
      },
    };
    expect(validate.readOptions('call', 'options', options, ['a', 'b'] as never, ['c'])).toEqual({
      a: 1,
      b: undefined,
      c: undefined,
    });
    expect(reads).toBe(1);
    expect(validate.readOptions('call', 'options', { c: 2 } as object, ['a'], ['c'])).toEqual({ a: undefined, c: 2 });
    expect(validate.readOptions('call', 'options', undefined, ['a'])).toEqual({});
    const inherited = Object.create({ a: 4 });
    expect(validate.readOptions('call', 'options', inherited, ['a'])).toEqual({ a: 4 });
    expect(validate.readOptions('call', 'options', Object.create(null), ['a'])).toEqual({ a: undefined });
    // Of a class, properties that are not enumerable are read, since its getters are not.
    class Options {
      get a() {
        return 5;
      }
    }
    expect(validate.readOptions('call', 'options', new Options(), ['a'])).toEqual({ a: 5 });
    // Of a plain object, only its own properties.
    expect(validate.readOptions('call', 'options', { b: 1 } as object, ['a', 'b'])).toStrictEqual({ b: 1 });
  });

  test('of an unknown key, own or inherited, are refused', () => {
    const said = `call: options has the unknown key "z", expected some of a, b`;
    for (const options of [{ z: 1 }, Object.create({ z: 1 }), Object.assign(Object.create(null), { a: 1, z: 1 })]) {
      expect(messageOf(() => validate.readOptions('call', 'options', options, ['a', 'b'], ['c']))).toBe(said);
    }
  });

  test('that are no object are refused', () => {
    for (const options of [null, 3, 'a', [], new Float32Array(1), new DataView(new ArrayBuffer(1))]) {
      expect(messageOf(() => validate.readOptions('call', 'options', options as never, ['a']))).toMatch(
        /expected an object$/,
      );
    }
  });

  test('with prototypes without end are refused', () => {
    const chain = (length: number): object => {
      let link = Object.create(null);
      for (let i = 1; i < length; i++) link = Object.create(link);
      return link;
    };
    expect(validate.readOptions('call', 'options', chain(1000), ['a'])).toEqual({ a: undefined });
    expect(messageOf(() => validate.readOptions('call', 'options', chain(1001), ['a']))).toBe(
      'call: options cannot be read: Error: its chain of prototypes has more than 1000 links',
    );
  });

  test('that throw are told of; an error of ours goes on itself', () => {
    const thrown = [new Error('no'), new DOMException('no', 'AbortError'), { a: 1 }, 'no', null, undefined, 7];
    const said = ['Error: no', 'AbortError: no', 'an object', '"no"', 'null', 'undefined', '7'];
    thrown.forEach((cause, i) => {
      const options = {
        get a() {
          throw cause;
        },
      };
      try {
        validate.readOptions('call', 'options', options, ['a']);
        expect.unreachable();
      } catch (error) {
        expect((error as Error).message).toBe(`call: options cannot be read: ${said[i]}`);
        expect((error as Error).cause).toBe(cause);
      }
    });
    const own = new CollisionError('DISPOSED', 'gone');
    const options = {
      get a() {
        throw own;
      },
    };
    expect(() => validate.readOptions('call', 'options', options, ['a'])).toThrow(own);
    const bad = new Error('no');
    bad.toString = () => {
      throw bad;
    };
    expect(validate.reasonOf(bad)).toBe('an error that cannot be read');
  });
});
