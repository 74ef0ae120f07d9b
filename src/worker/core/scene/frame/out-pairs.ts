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
  NO_CONTACT, bonePairsOf, crossingsOf, contactRecordAt, totalBonePairCount, totalCrossingCount, totalPointCount, pointsOf,
} from '../../contact/manifold/pool';
import { now } from '../../host';
import { Pair, pairIn } from '../pairs/pair-list';
import { arePairsUnchanged, countPairs, countWaiting, ended, endedCount, newPairs } from '../pairs/pairs';
import { recordIn } from '../pairs/record-list';
import { isAnyReaching } from '../motions';
import { append, out } from './out';

export const PAIRS_OUT_PARTS = 21;

/** How many pairs are written between two readings of the clock: about 0.5 ms if each has four points. */
const PAIRS_PER_READING: u32 = 1 << 12;

// Addresses of the parts of the pairs.
let pairList: usize = 0, count: u32 = 0;
let a: usize = 0, b: usize = 0, groupA: usize = 0, groupB: usize = 0;
let begun: usize = 0, contained: usize = 0, stale: usize = 0, times: usize = 0;
let pointStarts: usize = 0, positions: usize = 0, normals: usize = 0, depths: usize = 0;
let triangleStarts: usize = 0, triangles: usize = 0, segments: usize = 0;
let boneStarts: usize = 0, bones: usize = 0;
let endedA: usize = 0, endedB: usize = 0, endedGroupA: usize = 0, endedGroupB: usize = 0;
// Progress of the writing.
let pairsDone: u32 = 0, endedDone: u32 = 0;
let pointsDone: usize = 0, crossingsDone: usize = 0, bonePairsDone: usize = 0;

/** Returns how many bytes the pairs will take in the answer. */
export function pairsOutBytes(): u64 {
  return (
    <u64>countPairs() * (hasTimes() ? 35 : 31) + 20 + <u64>endedCount * 16 + <u64>totalPointCount * CONTACT_POINT_BYTES +
    <u64>totalCrossingCount * CROSSING_BYTES + <u64>totalBonePairCount * BONE_PAIR_BYTES
  );
}

/** Begins to write the new pairs, for which there must be room. `writePairs` must follow until it is done. */
export function beginWritingPairs(): void {
  pairList = newPairs();
  count = countPairs();
  a = addPart(OUT_PAIR_A, count << 2);
  b = addPart(OUT_PAIR_B, count << 2);
  groupA = addPart(OUT_PAIR_GROUP_A, count << 2);
  groupB = addPart(OUT_PAIR_GROUP_B, count << 2);
  begun = addPart(OUT_PAIR_BEGUN, count);
  contained = addPart(OUT_PAIR_CONTAINED, count);
  stale = addPart(OUT_PAIR_STALE, count);
  times = hasTimes() ? addPart(OUT_PAIR_TIME, count << 2) : 0;
  endedA = addPart(OUT_ENDED_A, endedCount << 2);
  endedB = addPart(OUT_ENDED_B, endedCount << 2);
  endedGroupA = addPart(OUT_ENDED_GROUP_A, endedCount << 2);
  endedGroupB = addPart(OUT_ENDED_GROUP_B, endedCount << 2);
  pointStarts = addPart(OUT_PAIR_START, (count + 1) << 2);
  // Vector stores reach 4 bytes beyond the last point of a part.
  positions = addPart(OUT_POINTS, totalPointCount * 12 + 4);
  normals = addPart(OUT_NORMALS, totalPointCount * 12 + 4);
  depths = addPart(OUT_DEPTHS, totalPointCount << 2);
  triangleStarts = addPart(OUT_TRIANGLE_START, (count + 1) << 2);
  triangles = addPart(OUT_TRIANGLES, totalCrossingCount << 3);
  segments = addPart(OUT_SEGMENTS, totalCrossingCount * 24);
  boneStarts = addPart(OUT_BONE_START, (count + 1) << 2);
  bones = addPart(OUT_BONES, totalBonePairCount * BONE_PAIR_BYTES);
  store<u32>(out, count, OUT_PAIR_COUNT);
  store<u32>(out, countWaiting(), OUT_WAITING);
  store<u32>(out, endedCount, OUT_ENDED_COUNT);
  store<u32>(out, totalPointCount, OUT_POINT_COUNT);
  store<u32>(out, totalCrossingCount, OUT_TRIANGLE_COUNT);
  store<u32>(out, totalBonePairCount, OUT_BONE_COUNT);
  pairsDone = endedDone = 0;
  pointsDone = crossingsDone = bonePairsDone = 0;
}

/** Writes the pairs until the slice ends. Returns whether that is done. */
export function writePairs(sliceEnd: f64): bool {
  while (pairsDone < count) {
    const end = min(count, pairsDone + PAIRS_PER_READING);
    writeObjects(end);
    writePoints(end);
    writeCrossings(end);
    writeBonePairs(end);
    pairsDone = end;
    if (pairsDone < count && now() >= sliceEnd) return false;
  }
  while (endedDone < endedCount) {
    writeEnded(min(endedCount, endedDone + PAIRS_PER_READING));
    if (endedDone < endedCount && now() >= sliceEnd) return false;
  }
  store<u32>(pointStarts + (<usize>count << 2), <u32>pointsDone);
  store<u32>(triangleStarts + (<usize>count << 2), <u32>crossingsDone);
  store<u32>(boneStarts + (<usize>count << 2), <u32>bonePairsDone);
  return true;
}

function writeObjects(end: usize): void {
  const begunMask: u8 = arePairsUnchanged() ? 0 : 1;
  for (let i: usize = pairsDone; i < end; i++) {
    const pair = pairIn(pairList, <u32>i);
    store<u32>(a + (i << 2), pair.a);
    store<u32>(b + (i << 2), pair.b);
    store<u32>(groupA + (i << 2), pair.groupA);
    store<u32>(groupB + (i << 2), pair.groupB);
    store<u8>(begun + i, pair.begun & begunMask);
    store<u8>(contained + i, pair.contained);
    store<u8>(stale + i, pair.stale);
  }
  if (times == 0) return;
  for (let i: usize = pairsDone; i < end; i++) store<f32>(times + (i << 2), pairIn(pairList, <u32>i).time);
}

/** Returns whether pairs may have met before the end of their motion. */
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
  let pointIndex = pointsDone;
  for (let i: usize = pairsDone; i < end; i++) {
    store<u32>(pointStarts + (i << 2), <u32>pointIndex);
    const pair = pairIn(pairList, <u32>i);
    let from = pointsOf(contactRecordAt(pair.contact));
    for (const pointsEnd = pointIndex + pair.points; pointIndex < pointsEnd; pointIndex++) {
      const normalAndDepth = v128.load(from, CONTACT_NORMAL);
      v128.store(positions + pointIndex * 12, v128.load(from, CONTACT_POINT));
      v128.store(normals + pointIndex * 12, normalAndDepth);
      v128.store32_lane(depths + (pointIndex << 2), normalAndDepth, 3);
      from += CONTACT_POINT_BYTES;
    }
  }
  pointsDone = pointIndex;
}

function writeCrossings(end: usize): void {
  // If no pair has crossings, the pool is not read a second time.
  if (totalCrossingCount == 0) {
    memory.fill(triangleStarts + (<usize>pairsDone << 2), 0, (end - pairsDone) << 2);
    return;
  }
  let crossingIndex = crossingsDone;
  for (let i: usize = pairsDone; i < end; i++) {
    store<u32>(triangleStarts + (i << 2), <u32>crossingIndex);
    const contactIndex = pairIn(pairList, <u32>i).contact;
    if (contactIndex == NO_CONTACT) continue;
    const contactRecord = contactRecordAt(contactIndex);
    let from = crossingsOf(contactRecord);
    for (const crossingsEnd = crossingIndex + contactRecord.crossings; crossingIndex < crossingsEnd; crossingIndex++) {
      store<u64>(triangles + (crossingIndex << 3), load<u64>(from, CROSSING_A));
      memory.copy(segments + crossingIndex * 24, from + CROSSING_SEGMENT, 24);
      from += CROSSING_BYTES;
    }
  }
  crossingsDone = crossingIndex;
}

function writeBonePairs(end: usize): void {
  // Most scenes have no bone pairs; then no contact is read.
  if (totalBonePairCount == 0) {
    memory.fill(boneStarts + (<usize>pairsDone << 2), 0, (end - pairsDone) << 2);
    return;
  }
  let bonePairIndex = bonePairsDone;
  for (let i: usize = pairsDone; i < end; i++) {
    store<u32>(boneStarts + (i << 2), <u32>bonePairIndex);
    const contactIndex = pairIn(pairList, <u32>i).contact;
    if (contactIndex == NO_CONTACT) continue;
    const contactRecord = contactRecordAt(contactIndex);
    memory.copy(bones + bonePairIndex * BONE_PAIR_BYTES, bonePairsOf(contactRecord),
      <usize>contactRecord.bonePairs * BONE_PAIR_BYTES);
    bonePairIndex += contactRecord.bonePairs;
  }
  bonePairsDone = bonePairIndex;
}

/**
 * Adds a part of this many bytes to the buffer and writes its offset to the header's word at `headerOffset`. Returns its
 * address.
 */
function addPart(headerOffset: usize, bytes: usize): usize {
  const offset = append(bytes);
  store<u32>(out + headerOffset, offset);
  return out + offset;
}
