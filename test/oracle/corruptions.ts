import * as layout from '../../src/shared/layout.js';
import type { Random } from './random.js';

/** Returns a damaged copy, which may by chance equal the original. */
export type Corruption = (random: Random, original: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;

const HOSTILE_WORDS = [0, 1, 2, 0x7f, 0xffff, 0x7f800000, 0x7fc00000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff];
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];

export const CORRUPTIONS: Record<string, Corruption> = {
  truncated: (random, original) => original.slice(0, random.integer(original.length)),
  'truncated by a little': (random, original) => original.slice(0, original.length - 1 - random.integer(64)),
  extended: (random, original) => {
    const longer = new Uint8Array(original.length + 1 + random.integer(300));
    longer.set(original);
    return longer;
  },
  'one bit': (random, original) => flipBits(random, original, 1),
  'some bits': (random, original) => flipBits(random, original, 2 + random.integer(30)),
  'a range filled': (random, original) => {
    const copy = original.slice();
    const [start, end] = randomRange(random, copy.length);
    return copy.fill(random.pick([0, 0, 0xff, random.integer(256)]), start, end);
  },
  'ranges swapped': (random, original) => {
    const copy = original.slice();
    const length = 4 * (1 + random.integer(40));
    const [a, b] = [alignedOffset(random, copy.length - length), alignedOffset(random, copy.length - length)];
    copy.set(original.subarray(a, a + length), b);
    copy.set(original.subarray(b, b + length), a);
    return copy;
  },
  'a range moved': (random, original) => {
    const copy = original.slice();
    const [start, end] = randomRange(random, copy.length);
    return copy.copyWithin(alignedOffset(random, copy.length - (end - start)), start, end);
  },
  'random bytes': (random) => Uint8Array.from({ length: random.integer(2000) }, () => random.integer(256)),
  'random bytes behind the header': (random, original) =>
    original.map((byte, i) => (i < layout.MESH_HEADER_BYTES ? byte : random.integer(256))),
  'a picture': (random) =>
    Uint8Array.from({ length: 16 + random.integer(2000) }, (_, i) => PNG[i] ?? random.integer(256)),
  'another version': (random, original) =>
    withWord(
      original,
      layout.MESH_VERSION,
      random.pick([0, layout.MESH_VERSION_VALUE - 1, layout.MESH_VERSION_VALUE + 1]),
    ),
  'a word of the header': (random, original) =>
    withWord(original, alignedOffset(random, layout.MESH_HEADER_BYTES), hostileWord(random, original)),
  'words anywhere': (random, original) => {
    let copy = original.slice();
    for (let i = 1 + random.integer(4); i > 0; i--) {
      copy = withWord(copy, alignedOffset(random, copy.length), hostileWord(random, original));
    }
    return copy;
  },
};

/** A forger's attempts: an extreme value, a value off by a little, a word from elsewhere, a flat triangle, a link. */
function hostileWord(random: Random, original: Uint8Array<ArrayBuffer>): number {
  const words = new DataView(original.buffer);
  const word = words.getUint32(alignedOffset(random, original.length), true);
  return random.pick([
    random.pick(HOSTILE_WORDS),
    word,
    word + random.integer(5) - 2,
    random.integer(300),
    0x80000000 + random.integer(300),
    0x40000000 + random.integer(32) * 0x1000000 + random.integer(300),
  ]);
}

function withWord(original: Uint8Array<ArrayBuffer>, offset: number, value: number): Uint8Array<ArrayBuffer> {
  const copy = original.slice();
  new DataView(copy.buffer).setUint32(offset, value, true);
  return copy;
}

function flipBits(random: Random, original: Uint8Array<ArrayBuffer>, count: number): Uint8Array<ArrayBuffer> {
  const copy = original.slice();
  for (let i = 0; i < count; i++) copy[random.integer(copy.length)] ^= 1 << random.integer(8);
  return copy;
}

/** A multiple of 4 below `length`. */
function alignedOffset(random: Random, length: number): number {
  return 4 * random.integer(length / 4);
}

function randomRange(random: Random, length: number): [start: number, end: number] {
  const start = random.integer(length);
  return [start, Math.min(length, start + Math.ceil(random.logRange(1, length)))];
}
