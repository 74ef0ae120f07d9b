// Pairs and their contact data in the output buffer. They are written in slices: a million pairs with four points each take 50
// ms.

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
import { now } from '../../host';
import { Pair, pairIn } from '../pairs/pair-list';
import { arePairsKept, countPairs, countWaiting, ended, endedCount, pairsToBe } from '../pairs/pairs';
import { recordIn } from '../pairs/record-list';
import { isAnyReaching } from '../ways';
import { append, out } from './out';

export const PAIRS_OUT_PARTS = 21;

/** How many pairs are written between two readings of the clock: about 0.5 ms if each has four points. */
const AT_ONCE: u32 = 1 << 12;

// Addresses of the parts of the pairs.
let list: usize = 0, count: u32 = 0;
let a: usize = 0, b: usize = 0, groupA: usize = 0, groupB: usize = 0;
let begun: usize = 0, contained: usize = 0, stale: usize = 0, times: usize = 0;
let start: usize = 0, places: usize = 0, normals: usize = 0, depths: usize = 0;
let triangleStart: usize = 0, triangles: usize = 0, segments: usize = 0;
let boneStart: usize = 0, bones: usize = 0;
let endedA: usize = 0, endedB: usize = 0, endedGroupA: usize = 0, endedGroupB: usize = 0;
// Progress of the writing.
let done: u32 = 0, endedDone: u32 = 0;
let points: usize = 0, crossings: usize = 0, bonePairs: usize = 0;

/** Returns how many bytes the pairs will take in the answer. */
export function pairsOutBytes(): u64 {
  return (
    <u64>countPairs() * (hasTimes() ? 35 : 31) + 20 + <u64>endedCount * 16 + <u64>keptPoints * CONTACT_POINT_BYTES +
    <u64>keptCrossings * CROSSING_BYTES + <u64>keptBonePairs * BONE_PAIR_BYTES
  );
}

/** Begins to write the new pairs, for which there must be room. `writePairs` must follow until it is done. */
export function beginWritingPairs(): void {
  list = pairsToBe();
  count = countPairs();
  a = part(OUT_PAIR_A, count << 2);
  b = part(OUT_PAIR_B, count << 2);
  groupA = part(OUT_PAIR_GROUP_A, count << 2);
  groupB = part(OUT_PAIR_GROUP_B, count << 2);
  begun = part(OUT_PAIR_BEGUN, count);
  contained = part(OUT_PAIR_CONTAINED, count);
  stale = part(OUT_PAIR_STALE, count);
  times = hasTimes() ? part(OUT_PAIR_TIME, count << 2) : 0;
  endedA = part(OUT_ENDED_A, endedCount << 2);
  endedB = part(OUT_ENDED_B, endedCount << 2);
  endedGroupA = part(OUT_ENDED_GROUP_A, endedCount << 2);
  endedGroupB = part(OUT_ENDED_GROUP_B, endedCount << 2);
  start = part(OUT_PAIR_START, (count + 1) << 2);
  // Vector stores reach 4 bytes beyond the last point of a part.
  places = part(OUT_POINTS, keptPoints * 12 + 4);
  normals = part(OUT_NORMALS, keptPoints * 12 + 4);
  depths = part(OUT_DEPTHS, keptPoints << 2);
  triangleStart = part(OUT_TRIANGLE_START, (count + 1) << 2);
  triangles = part(OUT_TRIANGLES, keptCrossings << 3);
  segments = part(OUT_SEGMENTS, keptCrossings * 24);
  boneStart = part(OUT_BONE_START, (count + 1) << 2);
  bones = part(OUT_BONES, keptBonePairs * BONE_PAIR_BYTES);
  store<u32>(out, count, OUT_PAIR_COUNT);
  store<u32>(out, countWaiting(), OUT_WAITING);
  store<u32>(out, endedCount, OUT_ENDED_COUNT);
  store<u32>(out, keptPoints, OUT_POINT_COUNT);
  store<u32>(out, keptCrossings, OUT_TRIANGLE_COUNT);
  store<u32>(out, keptBonePairs, OUT_BONE_COUNT);
  done = endedDone = 0;
  points = crossings = bonePairs = 0;
}

/** Writes the pairs until the slice ends. Returns whether that is done. */
export function writePairs(sliceEnd: f64): bool {
  while (done < count) {
    const end = min(count, done + AT_ONCE);
    writeObjects(end);
    writePoints(end);
    writeCrossings(end);
    writeBonePairs(end);
    done = end;
    if (done < count && now() >= sliceEnd) return false;
  }
  while (endedDone < endedCount) {
    writeEnded(min(endedCount, endedDone + AT_ONCE));
    if (endedDone < endedCount && now() >= sliceEnd) return false;
  }
  store<u32>(start + (<usize>count << 2), <u32>points);
  store<u32>(triangleStart + (<usize>count << 2), <u32>crossings);
  store<u32>(boneStart + (<usize>count << 2), <u32>bonePairs);
  return true;
}

function writeObjects(end: usize): void {
  const isBegun: u8 = arePairsKept() ? 0 : 1;
  for (let i: usize = done; i < end; i++) {
    const pair = pairIn(list, <u32>i);
    store<u32>(a + (i << 2), pair.a);
    store<u32>(b + (i << 2), pair.b);
    store<u32>(groupA + (i << 2), pair.groupA);
    store<u32>(groupB + (i << 2), pair.groupB);
    store<u8>(begun + i, pair.begun & isBegun);
    store<u8>(contained + i, pair.contained);
    store<u8>(stale + i, pair.stale);
  }
  if (times == 0) return;
  for (let i: usize = done; i < end; i++) store<f32>(times + (i << 2), pairIn(list, <u32>i).time);
}

/** Returns whether pairs may have met before the end of their way. */
function hasTimes(): bool {
  return isAnyReaching;
}

function writeEnded(end: usize): void {
  for (let i: usize = endedDone; i < end; i++) {
    const pair = changetype<Pair>(recordIn<Pair>(ended, <u32>i));
    store<u32>(endedA + (i << 2), pair.a);
    store<u32>(endedB + (i << 2), pair.b);
    store<u32>(endedGroupA + (i << 2), pair.groupA);
    store<u32>(endedGroupB + (i << 2), pair.groupB);
  }
  endedDone = <u32>end;
}

function writePoints(end: usize): void {
  let count = points;
  for (let i: usize = done; i < end; i++) {
    store<u32>(start + (i << 2), <u32>count);
    const pair = pairIn(list, <u32>i);
    let from = pointsOf(keptAt(pair.contact));
    for (const last = count + pair.points; count < last; count++) {
      const behind = v128.load(from, CONTACT_NORMAL);
      v128.store(places + count * 12, v128.load(from, CONTACT_POINT));
      v128.store(normals + count * 12, behind);
      v128.store32_lane(depths + (count << 2), behind, 3);
      from += CONTACT_POINT_BYTES;
    }
  }
  points = count;
}

function writeCrossings(end: usize): void {
  // If no pair has crossings, the pool is not read a second time.
  if (keptCrossings == 0) {
    memory.fill(triangleStart + (<usize>done << 2), 0, (end - done) << 2);
    return;
  }
  let count = crossings;
  for (let i: usize = done; i < end; i++) {
    store<u32>(triangleStart + (i << 2), <u32>count);
    const record = pairIn(list, <u32>i).contact;
    if (record == NOTHING) continue;
    const kept = keptAt(record);
    let from = crossingsOf(kept);
    for (const last = count + kept.crossings; count < last; count++) {
      store<u64>(triangles + (count << 3), load<u64>(from, CROSSING_A));
      memory.copy(segments + count * 24, from + CROSSING_SEGMENT, 24);
      from += CROSSING_BYTES;
    }
  }
  crossings = count;
}

function writeBonePairs(end: usize): void {
  // Most scenes have no bone pairs; then no contact is read.
  if (keptBonePairs == 0) {
    memory.fill(boneStart + (<usize>done << 2), 0, (end - done) << 2);
    return;
  }
  let count = bonePairs;
  for (let i: usize = done; i < end; i++) {
    store<u32>(boneStart + (i << 2), <u32>count);
    const record = pairIn(list, <u32>i).contact;
    if (record == NOTHING) continue;
    const kept = keptAt(record);
    memory.copy(bones + count * BONE_PAIR_BYTES, bonePairsOf(kept), <usize>kept.bonePairs * BONE_PAIR_BYTES);
    count += kept.bonePairs;
  }
  bonePairs = count;
}

/** Adds a part of this many bytes to the buffer and writes its offset to the header's word at `word`. Returns its address. */
function part(word: usize, bytes: usize): usize {
  const offset = append(bytes);
  store<u32>(out + word, offset);
  return out + offset;
}
