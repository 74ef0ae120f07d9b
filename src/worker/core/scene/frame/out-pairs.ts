// The pairs and what is known of them, in the buffer out.

import {
  BONE_PAIR_BYTES, CONTACT_NORMAL, CONTACT_POINT, CONTACT_POINT_BYTES, CROSSING_A, CROSSING_BYTES,
  CROSSING_SEGMENT, OUT_BONES, OUT_BONE_COUNT, OUT_BONE_START,
  OUT_DEPTHS, OUT_ENDED_A, OUT_ENDED_B, OUT_ENDED_COUNT, OUT_ENDED_GROUP_A, OUT_ENDED_GROUP_B, OUT_NORMALS, OUT_PAIR_A,
  OUT_PAIR_B, OUT_PAIR_BEGUN, OUT_PAIR_CONTAINED, OUT_PAIR_COUNT, OUT_PAIR_GROUP_A, OUT_PAIR_GROUP_B, OUT_PAIR_STALE,
  OUT_PAIR_START, OUT_PAIR_TIME, OUT_POINTS, OUT_POINT_COUNT, OUT_SEGMENTS, OUT_TRIANGLES, OUT_TRIANGLE_COUNT, OUT_TRIANGLE_START,
  OUT_WAITING,
} from '../../../../shared/layout';
import {
  NOTHING, bonePairsOf, crossingsOf, keptAt, keptBonePairs, keptCrossings, keptPoints, pointsOf,
} from '../../contact/manifold/pool';
import { isAnyReaching } from '../ways';
import { append, out } from './out';
import { pairIn } from '../pairs/pair-list';
import { countPairs, ended, endedCount, pairCount, pairs, waitingCount } from '../pairs/pairs';

export const PAIRS_OUT_PARTS = 21;

/** Answers how many bytes the pairs will take in the answer. */
export function pairsOutBytes(): u64 {
  return (
    <u64>countPairs() * (hasTimes() ? 35 : 31) + 20 + <u64>endedCount * 16 + <u64>keptPoints * CONTACT_POINT_BYTES +
    <u64>keptCrossings * CROSSING_BYTES + <u64>keptBonePairs * BONE_PAIR_BYTES
  );
}

export function writePairs(): void {
  const a = part(OUT_PAIR_A, pairCount << 2), b = part(OUT_PAIR_B, pairCount << 2);
  const groupA = part(OUT_PAIR_GROUP_A, pairCount << 2), groupB = part(OUT_PAIR_GROUP_B, pairCount << 2);
  const begun = part(OUT_PAIR_BEGUN, pairCount), contained = part(OUT_PAIR_CONTAINED, pairCount);
  const stale = part(OUT_PAIR_STALE, pairCount);
  for (let i: usize = 0; i < pairCount; i++) {
    const pair = pairIn(pairs, <u32>i);
    store<u32>(a + (i << 2), pair.a);
    store<u32>(b + (i << 2), pair.b);
    store<u32>(groupA + (i << 2), pair.groupA);
    store<u32>(groupB + (i << 2), pair.groupB);
    store<u8>(begun + i, <u8>pair.begun);
    store<u8>(contained + i, <u8>pair.contained);
    store<u8>(stale + i, <u8>pair.stale);
  }
  writeTimes();
  store<u32>(out, pairCount, OUT_PAIR_COUNT);
  store<u32>(out, waitingCount, OUT_WAITING);
  writeEnded();
  writePoints();
  writeCrossings();
  writeBonePairs();
}

/** Tells whether pairs may have met before the end of their way. */
function hasTimes(): bool {
  return isAnyReaching;
}

function writeTimes(): void {
  if (!hasTimes()) {
    store<u32>(out, 0, OUT_PAIR_TIME);
    return;
  }
  const times = part(OUT_PAIR_TIME, pairCount << 2);
  for (let i: usize = 0; i < pairCount; i++) store<f32>(times + (i << 2), pairIn(pairs, <u32>i).time);
}

function writeEnded(): void {
  const a = part(OUT_ENDED_A, endedCount << 2), b = part(OUT_ENDED_B, endedCount << 2);
  const groupA = part(OUT_ENDED_GROUP_A, endedCount << 2), groupB = part(OUT_ENDED_GROUP_B, endedCount << 2);
  for (let i: usize = 0; i < endedCount; i++) {
    const pair = pairIn(ended, <u32>i);
    store<u32>(a + (i << 2), pair.a);
    store<u32>(b + (i << 2), pair.b);
    store<u32>(groupA + (i << 2), pair.groupA);
    store<u32>(groupB + (i << 2), pair.groupB);
  }
  store<u32>(out, endedCount, OUT_ENDED_COUNT);
}

function writePoints(): void {
  const start = part(OUT_PAIR_START, (pairCount + 1) << 2);
  // Vectors reach 4 bytes beyond the last point of a part.
  const places = part(OUT_POINTS, keptPoints * 12 + 4), normals = part(OUT_NORMALS, keptPoints * 12 + 4);
  const depths = part(OUT_DEPTHS, keptPoints << 2);
  let count: usize = 0;
  for (let i: usize = 0; i < pairCount; i++) {
    store<u32>(start + (i << 2), <u32>count);
    const pair = pairIn(pairs, <u32>i);
    let from = pointsOf(keptAt(pair.contact));
    for (const end = count + pair.points; count < end; count++) {
      const behind = v128.load(from, CONTACT_NORMAL);
      v128.store(places + count * 12, v128.load(from, CONTACT_POINT));
      v128.store(normals + count * 12, behind);
      v128.store32_lane(depths + (count << 2), behind, 3);
      from += CONTACT_POINT_BYTES;
    }
  }
  store<u32>(start + (<usize>pairCount << 2), <u32>count);
  store<u32>(out, <u32>count, OUT_POINT_COUNT);
}

function writeCrossings(): void {
  const start = part(OUT_TRIANGLE_START, (pairCount + 1) << 2);
  const triangles = part(OUT_TRIANGLES, keptCrossings << 3), segments = part(OUT_SEGMENTS, keptCrossings * 24);
  let count: usize = 0;
  // Where no pair has crossings, the pool is not read a second time.
  if (keptCrossings == 0) memory.fill(start, 0, <usize>pairCount << 2);
  for (let i: usize = 0; i < pairCount && keptCrossings != 0; i++) {
    store<u32>(start + (i << 2), <u32>count);
    const record = pairIn(pairs, <u32>i).contact;
    if (record == NOTHING) continue;
    const kept = keptAt(record);
    let from = crossingsOf(kept);
    for (const end = count + kept.crossings; count < end; count++) {
      store<u64>(triangles + (count << 3), load<u64>(from, CROSSING_A));
      memory.copy(segments + count * 24, from + CROSSING_SEGMENT, 24);
      from += CROSSING_BYTES;
    }
  }
  store<u32>(start + (<usize>pairCount << 2), <u32>count);
  store<u32>(out, <u32>count, OUT_TRIANGLE_COUNT);
}

function writeBonePairs(): void {
  const start = part(OUT_BONE_START, (pairCount + 1) << 2);
  const bones = part(OUT_BONES, keptBonePairs * BONE_PAIR_BYTES);
  store<u32>(out, keptBonePairs, OUT_BONE_COUNT);
  if (keptBonePairs == 0) {
    // Most scenes have none, and then no contact is read.
    memory.fill(start, 0, (<usize>pairCount + 1) << 2);
    return;
  }
  let count: usize = 0;
  for (let i: usize = 0; i < pairCount; i++) {
    store<u32>(start + (i << 2), <u32>count);
    const record = pairIn(pairs, <u32>i).contact;
    if (record == NOTHING) continue;
    const kept = keptAt(record);
    memory.copy(bones + count * BONE_PAIR_BYTES, bonePairsOf(kept), <usize>kept.bonePairs * BONE_PAIR_BYTES);
    count += kept.bonePairs;
  }
  store<u32>(start + (<usize>pairCount << 2), <u32>count);
}

/**
 * Adds a part of so many bytes to the buffer and writes its offset to the header's word at `word`. Answers its address.
 */
function part(word: usize, bytes: usize): usize {
  const offset = append(bytes);
  store<u32>(out + word, offset);
  return out + offset;
}
