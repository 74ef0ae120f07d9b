// The checksum of baked data, which is summed up in steps.

import { MESH_CHECKED } from '../../../../shared/layout';
import { Mesh } from './layout';

const PRIME_1: u32 = 2654435761;
const PRIME_2: u32 = 2246822519;
const PRIME_3: u32 = 3266489917;
const PRIME_4: u32 = 668265263;
export const ROUND_BYTES: u32 = 64;

/** A sum so far. Its 16 lanes, u32 each, follow. */
@unmanaged
export class Checksum {
  /** The bytes from here to `end` are still to be summed up. */
  at: u32;
  end: u32;
  pad0: u32; pad1: u32;
}

const LANES: usize = offsetof<Checksum>();
export const CHECKSUM_BYTES: usize = LANES + ROUND_BYTES;

/**
 * Begins to sum up all bytes behind the checksum itself, as little-endian words, by the steps of xxHash32 (Collet 2012) with 16
 * lanes, as only chains that do not wait for each other keep up with memory. Lane i begins as i; each 64 bytes give
 * every lane one word: lane = rotl(lane + word · PRIME_2, 13) · PRIME_1. Then, beginning with the number of bytes, the
 * lanes in order and the words that are left are taken up by hash = rotl(hash + word · PRIME_3, 17) · PRIME_4.
 *
 * Every step can be undone, so a change within one word always changes the result; any other change does but for one in
 * 2³².
 */
export function beginChecksum(sum: Checksum, mesh: Mesh): void {
  sum.at = <u32>changetype<usize>(mesh) + MESH_CHECKED;
  sum.end = <u32>changetype<usize>(mesh) + mesh.bytes;
  const lanes = changetype<usize>(sum) + LANES;
  for (let i: u32 = 0; i < 16; i++) store<u32>(lanes + (<usize>i << 2), i);
}

/** Sums up `bytes` bytes more, or what is left. Answers whether that was all but for less than a round. */
export function sumUp(sum: Checksum, bytes: u32): bool {
  let at = <usize>sum.at;
  const end = at + min<usize>(bytes, <usize>sum.end - at) / ROUND_BYTES * ROUND_BYTES;
  const lanes = changetype<usize>(sum) + LANES;
  let a = v128.load(lanes), b = v128.load(lanes, 16), c = v128.load(lanes, 32), d = v128.load(lanes, 48);
  for (; at < end; at += ROUND_BYTES) {
    a = round(a, v128.load(at));
    b = round(b, v128.load(at, 16));
    c = round(c, v128.load(at, 32));
    d = round(d, v128.load(at, 48));
  }
  v128.store(lanes, a);
  v128.store(lanes, b, 16);
  v128.store(lanes, c, 32);
  v128.store(lanes, d, 48);
  sum.at = <u32>end;
  return <usize>sum.end - end < ROUND_BYTES;
}

/** Answers the checksum, when `sumUp` has summed up all. */
export function endChecksum(sum: Checksum, mesh: Mesh): u32 {
  const lanes = changetype<usize>(sum) + LANES;
  let hash = mesh.bytes;
  for (let lane = lanes; lane < lanes + ROUND_BYTES; lane += 4) hash = absorb(hash, load<u32>(lane));
  for (let at = <usize>sum.at; at < <usize>sum.end; at += 4) hash = absorb(hash, load<u32>(at));
  hash = (hash ^ (hash >> 15)) * PRIME_2;
  return hash ^ (hash >> 13);
}

// @ts-ignore: decorator
@inline
function round(lanes: v128, words: v128): v128 {
  const sum = i32x4.add(lanes, i32x4.mul(words, i32x4.splat(PRIME_2)));
  return i32x4.mul(v128.or(i32x4.shl(sum, 13), i32x4.shr_u(sum, 19)), i32x4.splat(PRIME_1));
}

function absorb(hash: u32, word: u32): u32 {
  return rotl<u32>(hash + word * PRIME_3, 17) * PRIME_4;
}
