import { MESH_CHECKED } from '../../../../shared/layout';
import { Mesh } from './layout';

const PRIME_1: u32 = 2654435761;
const PRIME_2: u32 = 2246822519;
const PRIME_3: u32 = 3266489917;
const PRIME_4: u32 = 668265263;
const ROUND_BYTES: usize = 64;

/**
 * Sums up all bytes behind the checksum itself, as little-endian words, by the steps of xxHash32 (Collet 2012) with 16
 * lanes, as only chains that do not wait for each other keep up with memory. Lane i begins as i; each 64 bytes give
 * every lane one word: lane = rotl(lane + word · PRIME_2, 13) · PRIME_1. Then, beginning with the number of bytes, the
 * lanes in order and the words that are left are taken up by hash = rotl(hash + word · PRIME_3, 17) · PRIME_4.
 *
 * Every step can be undone, so a change within one word always changes the result; any other change does but for one in
 * 2³².
 */
export function checksum(mesh: Mesh): u32 {
  let at = changetype<usize>(mesh) + MESH_CHECKED;
  const end = changetype<usize>(mesh) + mesh.bytes;
  let a = i32x4(0, 1, 2, 3), b = i32x4(4, 5, 6, 7), c = i32x4(8, 9, 10, 11), d = i32x4(12, 13, 14, 15);
  for (; at + ROUND_BYTES <= end; at += ROUND_BYTES) {
    a = round(a, v128.load(at));
    b = round(b, v128.load(at, 16));
    c = round(c, v128.load(at, 32));
    d = round(d, v128.load(at, 48));
  }
  let hash = absorbLanes(absorbLanes(absorbLanes(absorbLanes(mesh.bytes, a), b), c), d);
  for (; at < end; at += 4) hash = absorb(hash, load<u32>(at));
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

function absorbLanes(hash: u32, lanes: v128): u32 {
  return absorb(
    absorb(
      absorb(absorb(hash, i32x4.extract_lane(lanes, 0)), i32x4.extract_lane(lanes, 1)),
      i32x4.extract_lane(lanes, 2),
    ),
    i32x4.extract_lane(lanes, 3),
  );
}
