/** Hashes up to three words to one (the finaliser of MurmurHash3, Austin Appleby). */
export function hashOf(a: number, b: number, c = 0): number {
  let h = Math.imul(a, 0xcc9e2d51) ^ Math.imul((b << 13) | (b >>> 19), 0x1b873593) ^ Math.imul(c, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
