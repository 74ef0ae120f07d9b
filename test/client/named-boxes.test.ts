// Boxes named by the caller: which are accepted, which are refused, and which are equal.
import { expect, test } from 'vitest';
import {
  areSameBoxes,
  checkBoxable,
  checkBoxes,
  checkRotation,
  NO_BOXES,
  numberedBoxes,
  packBoxes,
  unpackBoxes,
} from '../../src/client/scene/named-boxes.js';

const HALF = [1, 2, 3];
const box = (name: string, more: object = {}) => ({ name, halfExtents: HALF, ...more });
const check = (given: unknown) => checkBoxes('addMesh', 'boxes', given);

test('boxes are copied, completed and frozen', () => {
  const turn = [0, 0.6, 0, 0.8];
  const boxes = check([
    box('a'),
    box('b', { center: [4, 5, 6], rotation: turn }),
    box('c', { halfExtents: [0, 0, 0] }),
  ]);
  const plain = { center: [0, 0, 0], rotation: [0, 0, 0, 1] };
  expect(boxes).toEqual([
    { name: 'a', halfExtents: HALF, ...plain },
    { name: 'b', halfExtents: HALF, center: [4, 5, 6], rotation: turn },
    { name: 'c', halfExtents: [0, 0, 0], ...plain },
  ]);
  expect(Object.isFrozen(boxes) && boxes.every(Object.isFrozen)).toBe(true);
  expect(check([])).toBe(NO_BOXES);
  expect(check(Array.from({ length: 256 }, (_, i) => box(`${i}`))).length).toBe(256);
  expect(check([box('n'.repeat(256))])[0].name.length).toBe(256);
});

test.each<[unknown, string]>([
  [3, 'boxes is 3, expected an array of boxes'],
  [{ length: 0 }, 'boxes is [], expected an array of boxes'],
  [Array(257), 'the length of boxes is 257, expected at most 256'],
  [[3], 'boxes[0] is 3, expected an object'],
  [
    [box('a', { size: 1 })],
    'boxes[0] has the unknown key "size", expected some of name, center, halfExtents, rotation',
  ],
  [[box('')], 'boxes[0].name is "", expected a string of 1 to 256 characters'],
  [[box('n'.repeat(257))], 'expected a string of 1 to 256 characters'],
  [[box(['a'] as never)], 'boxes[0].name is ["a"], expected a string'],
  [[box('a'), box('b'), box('a')], 'boxes[2].name is "a", expected a name that no other box has'],
  [[box('a', { halfExtents: [1, -1, 1] })], 'boxes[0].halfExtents is [1, -1, 1], expected three numbers >= 0'],
  [[box('a', { halfExtents: undefined })], 'boxes[0].halfExtents is undefined, expected 3 numbers'],
  [[box('a', { center: [0, 0, Number.NaN] })], 'boxes[0].center[2] is NaN, expected a finite number'],
  [[box('a', { rotation: [0, 0, 0, 1.1] })], 'boxes[0].rotation is [0, 0, 0, 1.1], expected a unit quaternion xyzw'],
])('%j are refused', (given, message) => {
  expect(() => check(given)).toThrow(message);
});

test('a rotation is made a unit as far as float32 holds one, and no farther', () => {
  for (const length of [1 - 9e-6, 1, 1 + 9e-6]) {
    const rotation = checkRotation('call', 'x', [0.6 * length, 0, 0, -0.8 * length]);
    expect(Math.hypot(...rotation)).toBeCloseTo(1, 15);
    expect(rotation[0]).toBeCloseTo(0.6, 15);
    expect(rotation[3]).toBeCloseTo(-0.8, 15);
  }
  for (const length of [0, 1 - 2e-5, 1 + 2e-5]) {
    expect(() => checkRotation('call', 'x', [0.6 * length, 0, 0, 0.8 * length])).toThrow('a unit quaternion xyzw');
  }
});

test('boxes stand for triangles that nothing moves', () => {
  checkBoxable('call', [], { topology: 'triangles', bones: 0, morphs: 0 });
  const cases = [
    [{ topology: 'lines', bones: 0, morphs: 0 }, 'none for a mesh of lines'],
    [{ topology: 'triangles', bones: 1, morphs: 0 }, 'none for a mesh that bones or morph targets move'],
    [{ topology: 'triangles', bones: 0, morphs: 1 }, 'none for a mesh that bones or morph targets move'],
  ] as const;
  for (const [info, message] of cases) {
    expect(() => checkBoxable('call', [1], info)).toThrow(`call: boxes is [1], expected ${message}`);
  }
});

test('they are packed once, and unpacked as they were', () => {
  const boxes = check([box('a', { center: [4, 5, 6] }), box('b', { rotation: [0, 1, 0, 0] })]);
  const pack = packBoxes(boxes)!;
  expect(packBoxes(boxes)).toBe(pack);
  expect(pack.names).toEqual(['a', 'b']);
  expect(Array.from(pack.records)).toEqual([...[4, 5, 6, 1, 2, 3, 0, 0, 0, 1], ...[0, 0, 0, 1, 2, 3, 0, 1, 0, 0]]);
  expect(packBoxes(NO_BOXES)).toBeUndefined();
  expect(unpackBoxes('loadMesh', pack)).toEqual(boxes);
  expect(numberedBoxes(pack.records)).toEqual(boxes.map((each, i) => ({ ...each, name: `box ${i + 1}` })));
  const damaged = 'loadMesh: the boxes that are baked with the mesh were changed';
  expect(() => unpackBoxes('loadMesh', null)).toThrow(damaged);
  const twice = { names: ['a', 'a'], records: pack.records };
  expect(() => unpackBoxes('loadMesh', twice)).toThrow(`${damaged}: loadMesh: boxes[1].name is "a", expected a name`);
});

test('they are the same where names and numbers are', () => {
  const packOf = (...given: object[]) => packBoxes(check(given))!;
  const one = packOf(box('a'), box('b'));
  expect(areSameBoxes(one, packOf(box('a'), box('b')))).toBe(true);
  expect(areSameBoxes(undefined, undefined)).toBe(true);
  const others = [
    undefined,
    packOf(box('a')),
    packOf(box('a'), box('c')),
    packOf(box('a'), box('b', { center: [1, 0, 0] })),
  ];
  for (const other of others) {
    expect(areSameBoxes(one, other)).toBe(false);
    expect(areSameBoxes(other, one)).toBe(false);
  }
});
