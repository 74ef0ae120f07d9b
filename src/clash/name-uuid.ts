// UUIDs of names (RFC 9562, version 5): SHA-1 (FIPS 180-4) of a namespace and the name. The platform has no SHA-1 that
// answers at once in all places, and the package `uuid` took 12 µs for each, which was a tenth of all that a report takes;
// these take 2 µs.

/** Bytes of a block of SHA-1; the last one ends with the length in bits, in eight bytes. */
const BLOCK = 64;
const LENGTH_BYTES = 8;

const encoder = new TextEncoder();
const words = new Int32Array(80);
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Makes UUIDs of names in a namespace, which is itself a UUID. */
export class NameUuids {
  readonly #namespace: Uint8Array;
  #bytes = new Uint8Array(8 * BLOCK);
  #view = new DataView(this.#bytes.buffer);

  constructor(namespace: string) {
    this.#namespace = Uint8Array.from(namespace.replaceAll('-', '').match(/../g)!, (each) => Number.parseInt(each, 16));
  }

  of(name: string): string {
    const first = this.#namespace.length;
    // A UTF-16 code takes three bytes at most.
    this.#makeRoom(first + 3 * name.length + 1 + LENGTH_BYTES + BLOCK);
    this.#bytes.set(this.#namespace);
    const length = first + encoder.encodeInto(name, this.#bytes.subarray(first)).written;
    const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK) * BLOCK;
    this.#bytes.fill(0, length, end);
    this.#bytes[length] = 0x80;
    this.#view.setUint32(end - 4, 8 * length);
    return textOf(sha1(this.#view, end));
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    this.#bytes = new Uint8Array(2 * bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** Answers the first 16 bytes of the digest of padded blocks, as four words. */
function sha1(blocks: DataView, end: number): [number, number, number, number] {
  let [h0, h1, h2, h3, h4] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
  for (let at = 0; at < end; at += BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(at + 4 * i);
    for (let i = 16; i < 80; i++) words[i] = rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    let [a, b, c, d, e] = [h0, h1, h2, h3, h4];
    for (let i = 0; i < 80; i++) {
      const next = (rotated(a, 5) + mixed(i, b, c, d) + e + words[i]) | 0;
      e = d;
      d = c;
      c = rotated(b, 30);
      b = a;
      a = next;
    }
    h0 = (h0 + a) | 0;
    h1 = (h1 + b) | 0;
    h2 = (h2 + c) | 0;
    h3 = (h3 + d) | 0;
    h4 = (h4 + e) | 0;
  }
  return [h0, h1, h2, h3];
}

/** Answers the function of a round with its constant. */
function mixed(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Writes a UUID with its version and variant. */
function textOf([a, b, c, d]: readonly [number, number, number, number]): string {
  const version = (b & 0xffff0fff) | 0x5000;
  const variant = (c & 0x3fffffff) | 0x80000000;
  return `${hex(a >>> 16)}${hex(a)}-${hex(version >>> 16)}-${hex(version)}-${hex(variant >>> 16)}-${hex(variant)}${hex(d >>> 16)}${hex(d)}`;
}

/** Writes the lower 16 bits. */
function hex(word: number): string {
  return HEX[(word >>> 8) & 255] + HEX[word & 255];
}
