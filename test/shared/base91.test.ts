import { expect, test } from 'vitest';
import { toBase91 } from '../../scripts/base91.mjs';
import { fromBase91 } from '../../src/shared/base91.js';
import { Random, SEED } from '../oracle/random.js';

test('takes two digits for each 13 bits, none of which a string escapes', () => {
  const every = toBase91(Uint8Array.from({ length: 65_536 }, (_, i) => i ^ (i >> 8)));
  expect(every).toHaveLength(Math.ceil((65_536 * 8) / 13) * 2);
  expect(every).toMatch(/^[^"`$\\\n\r]+$/);
});

test(`bytes of any number come back, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (let length = 0; length < 100; length++) {
    const bytes = Uint8Array.from({ length }, () => random.pick([0, 255, random.integer(256)]));
    expect(fromBase91(toBase91(bytes), length)).toEqual(bytes);
  }
});
