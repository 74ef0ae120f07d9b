import { v4, v5 } from 'uuid';
import { expect, test } from 'vitest';
import { NameUuids } from '../../src/clash/name-uuid.js';
import { Random, SEED } from '../oracle/random.js';

test(`UUIDs of names are those of the package uuid, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const characters = ['a', 'B', '0', '"', ' ', 'é', '中', '😀', '\u0000'];
  for (let i = 0; i < 3000; i++) {
    const namespace = v4();
    // All lengths around multiples of SHA-1's block size, and some far beyond.
    const length = i < 500 ? i % 250 : random.integer(i % 100 === 0 ? 5000 : 120);
    const name = Array.from({ length }, () => (i < 500 ? 'x' : random.pick(characters))).join('');
    const uuids = new NameUuids(namespace);
    expect(uuids.of(name)).toBe(v5(name, namespace));
    expect(uuids.of('again')).toBe(v5('again', namespace));
  }
});
