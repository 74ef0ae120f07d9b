import { expect, test } from 'vitest';
import { toZ85 } from '../../scripts/z85.mjs';
import { fromZ85 } from '../../src/worker/z85.js';
import { Random, SEED } from '../oracle/random.js';

test('is what the specification gives as its example', () => {
  expect(toZ85(Uint8Array.of(0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b))).toBe('HelloWorld');
});

test(`bytes of any number come back, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let length = 0; length < 100; length++) {
    const bytes = Uint8Array.from({ length }, () => random.pick([0, 255, random.integer(256)]));
    expect(fromZ85(toZ85(bytes), length)).toEqual(bytes);
  }
});
