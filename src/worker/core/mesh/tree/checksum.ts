// The checksum of baked data, computed in steps.

import { MESH_CHECKED } from '../../../../shared/layout';
import { Mesh } from './layout';

const PRIME_2: u32 = 2246822519;
const PRIME_3: u32 = 3266489917;
const PRIME_4: u32 = 668265263;
export const ROUND_BYTES: u32 = 64;

/** A checksum in progress. Its four vectors follow, and after them their sums. */
@unmanaged
export class Checksum {
  /** The bytes from here to `end` remain to be summed up. */
  at: u32;
  end: u32;
  pad0: u32; pad1: u32;
}

const LANES: usize = offsetof<Checksum>();
export const CHECKSUM_BYTES: usize = LANES + 2 * ROUND_BYTES;

/**
 * Begins the checksum of all bytes behind the checksum itself, as little-endian words, by two sums (Fletcher 1982) of
 * four vectors of four words: multiplications take three times as long, while everything else that is done on loading
 * memory that was just copied runs at memory speed. Word i of the 16 of the vectors starts as i, those of their sums as
 * 0. Each round of 64 bytes rotates every vector by five bytes (byte k becomes byte k + 11 modulo 16), adds four words
 * to it, and adds it to its sum. The rotation moves the highest bit of a word to where it carries: without it, the
 * position of two changed highest bits would not matter.
 *
 * Then, beginning with the number of bytes, the words of the vectors and sums in order and the remaining words are
 * absorbed by hash = rotl(hash + word · PRIME_3, 17) · PRIME_4 (xxHash32, Collet 2012). A change of the data goes
 * unnoticed with a probability of one in 2³².
 */
export function beginChecksum(sum: Checksum, mesh: Mesh): void {
  sum.at = <u32>changetype<usize>(mesh) + MESH_CHECKED;
  sum.end = <u32>changetype<usize>(mesh) + mesh.bytes;
  const lanes = changetype<usize>(sum) + LANES;
  for (let i: u32 = 0; i < 32; i++) store<u32>(lanes + (<usize>i << 2), i < 16 ? i : 0);
}

/** Sums up to `bytes` more bytes. Returns whether less than a round remains. */
export function sumUp(sum: Checksum, bytes: u32): bool {
  let at = <usize>sum.at;
  const end = at + min<usize>(bytes, <usize>sum.end - at) / ROUND_BYTES * ROUND_BYTES;
  const lanes = changetype<usize>(sum) + LANES;
  let a = v128.load(lanes), b = v128.load(lanes, 16), c = v128.load(lanes, 32), d = v128.load(lanes, 48);
  let e = v128.load(lanes, 64), f = v128.load(lanes, 80), g = v128.load(lanes, 96), h = v128.load(lanes, 112);
  for (; at < end; at += ROUND_BYTES) {
    a = i32x4.add(rotated(a), v128.load(at));
    b = i32x4.add(rotated(b), v128.load(at, 16));
    c = i32x4.add(rotated(c), v128.load(at, 32));
    d = i32x4.add(rotated(d), v128.load(at, 48));
    e = i32x4.add(e, a);
    f = i32x4.add(f, b);
    g = i32x4.add(g, c);
    h = i32x4.add(h, d);
  }
  v128.store(lanes, a); v128.store(lanes, b, 16); v128.store(lanes, c, 32); v128.store(lanes, d, 48);
  v128.store(lanes, e, 64); v128.store(lanes, f, 80); v128.store(lanes, g, 96); v128.store(lanes, h, 112);
  sum.at = <u32>end;
  return <usize>sum.end - end < ROUND_BYTES;
}

/** Returns the checksum, after `sumUp` has summed up everything. */
export function endChecksum(sum: Checksum, mesh: Mesh): u32 {
  const lanes = changetype<usize>(sum) + LANES;
  let hash = mesh.bytes;
  for (let lane = lanes; lane < lanes + 2 * ROUND_BYTES; lane += 4) hash = absorb(hash, load<u32>(lane));
  for (let at = <usize>sum.at; at < <usize>sum.end; at += 4) hash = absorb(hash, load<u32>(at));
  hash = (hash ^ (hash >> 15)) * PRIME_2;
  return hash ^ (hash >> 13);
}

// @ts-ignore: decorator
@inline
function rotated(v: v128): v128 {
  return i8x16.shuffle(v, v, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4);
}

function absorb(hash: u32, word: u32): u32 {
  return rotl<u32>(hash + word * PRIME_3, 17) * PRIME_4;
}
