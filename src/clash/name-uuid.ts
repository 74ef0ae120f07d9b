// UUIDs of names (RFC 9562, version 5): SHA-1 (FIPS 180-4) of a namespace and the name. The platform has no synchronous
// SHA-1 in all places, and the package `uuid` took 12 µs for each, which was a tenth of the time of a report;
// this code took 2 µs, and takes half of that since each kind of round has its own loop.

/** Bytes of a block of SHA-1; the last block ends with the length in bits, in eight bytes. */
const BLOCK = 64;
const LENGTH_BYTES = 8;

const encoder = new TextEncoder();
const words = new Int32Array(80);
/** The state between two blocks, and finally the digest. */
const state = new Int32Array(5);
/** The ASCII codes of hexadecimal digits. */
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const DASH = '-'.charCodeAt(0);
/** The ASCII codes of a UUID: making a string from a plain array takes half of the time. */
const text: number[] = new Array(36).fill(DASH);

/** Makes UUIDs of names in a namespace, which is itself a UUID. */
export class NameUuids {
  readonly #namespace: Uint8Array;
  #bytes = new Uint8Array(8 * BLOCK);
  #view = new DataView(this.#bytes.buffer);

  constructor(namespace: string) {
    this.#namespace = Uint8Array.from(namespace.replaceAll('-', '').match(/../g)!, (each) => Number.parseInt(each, 16));
  }

  of(name: string): string {
    const namespaceBytes = this.#namespace.length;
    // A UTF-16 code takes three bytes at most.
    const maxBytes = namespaceBytes + 3 * name.length + 1 + LENGTH_BYTES + BLOCK;
    if (maxBytes > this.#bytes.length) {
      this.#bytes = new Uint8Array(2 * maxBytes);
      this.#view = new DataView(this.#bytes.buffer);
    }
    const bytes = this.#bytes;
    for (let i = 0; i < namespaceBytes; i++) bytes[i] = this.#namespace[i];
    const length = namespaceBytes + encode(name, bytes, namespaceBytes);
    const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK) * BLOCK;
    bytes.fill(0, length, end);
    bytes[length] = 0x80;
    this.#view.setUint32(end - 4, 8 * length);
    digest(this.#view, end);
    return textOfState();
  }
}

/** Writes a text as UTF-8 and returns how many bytes it takes: calling the encoder takes longer than writing ASCII. */
function encode(name: string, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code > 0x7f) return encoder.encodeInto(name, bytes.subarray(at)).written;
    bytes[at + i] = code;
  }
  return name.length;
}

/** Sets the state to the digest of padded blocks. */
function digest(blocks: DataView, end: number): void {
  state[0] = 0x67452301;
  state[1] = 0xefcdab89;
  state[2] = 0x98badcfe;
  state[3] = 0x10325476;
  state[4] = 0xc3d2e1f0;
  for (let at = 0; at < end; at += BLOCK) digestBlock(blocks, at);
}

/** Each kind of round has its own loop, since a branch in each round took twice the time. */
function digestBlock(blocks: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(at + 4 * i);
  for (let i = 16; i < 80; i++) words[i] = rotateLeft(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let next = 0;
  for (let i = 0; i < 20; i++) {
    next = (rotateLeft(a, 5) + ((b & c) | (~b & d)) + e + 0x5a827999 + words[i]) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  for (let i = 20; i < 40; i++) {
    next = (rotateLeft(a, 5) + (b ^ c ^ d) + e + 0x6ed9eba1 + words[i]) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  for (let i = 40; i < 60; i++) {
    next = (rotateLeft(a, 5) + ((b & c) | (b & d) | (c & d)) + e + 0x8f1bbcdc + words[i]) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  for (let i = 60; i < 80; i++) {
    next = (rotateLeft(a, 5) + (b ^ c ^ d) + e + 0xca62c1d6 + words[i]) | 0;
    e = d;
    d = c;
    c = rotateLeft(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Writes the first 16 bytes of the state as a UUID, with its version and variant. */
function textOfState(): string {
  state[1] = (state[1] & 0xffff0fff) | 0x5000;
  state[2] = (state[2] & 0x3fffffff) | 0x80000000;
  let to = 0;
  for (let i = 0; i < 16; i++) {
    if (i > 3 && i < 11 && i % 2 === 0) to++;
    const byte = state[i >> 2] >>> (24 - 8 * (i & 3));
    text[to++] = DIGITS[(byte >>> 4) & 15];
    text[to++] = DIGITS[byte & 15];
  }
  // A flat string: one that is concatenated has to be flattened later.
  return String.fromCharCode.apply(null, text);
}
