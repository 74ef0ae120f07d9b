// What was found of the pairs: this frame's in one pool while the last frame's is there as well, in another.

import { CONTACT_POINT_BYTES, CROSSING_BYTES } from '../../../shared/layout';
import { reserve } from '../memory';
import { crossingCount, crossings, pointCount, points } from './contact';

/** Head of a record; its points follow, then its crossings. */
@unmanaged
export class Kept {
  points: u32;
  crossings: u32;
}

const HEAD: usize = 8;
/** Of a pair of which nothing is kept. */
export const NOTHING: u32 = 0xffffffff;

let pool: usize = 0;
let next: usize = 0;
let nextUsed: usize = 0;
/** Of all records of the pool that is made. */
export let keptPoints: u32 = 0;
export let keptCrossings: u32 = 0;

/** Begins the pool of a frame. */
export function beginPool(): void {
  nextUsed = 0;
  keptPoints = 0;
  keptCrossings = 0;
}

/** Keeps the contact that was found; answers its record. Throws OUT_OF_MEMORY. */
export function keepContact(): u32 {
  if (pointCount == 0 && crossingCount == 0) return NOTHING;
  const at = append(pointCount, crossingCount);
  const kept = changetype<Kept>(next + at);
  // Few words, for which memory.copy, a call, takes longer.
  const to = pointsOf(kept);
  const end = <usize>pointCount * CONTACT_POINT_BYTES;
  for (let i: usize = 0; i < end; i += 4) store<u32>(to + i, load<u32>(points + i));
  if (crossingCount != 0) memory.copy(crossingsOf(kept), crossings, <usize>crossingCount * CROSSING_BYTES);
  return <u32>at;
}

/** Takes a record of the last frame over; answers the new one. Throws OUT_OF_MEMORY. */
export function carryContact(record: u32): u32 {
  if (record == NOTHING) return NOTHING;
  const old = keptAt(record);
  const at = append(old.points, old.crossings);
  memory.copy(next + at, changetype<usize>(old), bytesOf(old.points, old.crossings));
  return <u32>at;
}

/** The pool that was made becomes the one that `keptAt` reads. */
export function takePool(): void {
  const last = pool;
  pool = next;
  next = last;
}

// @ts-ignore: decorator
@inline
export function keptAt(record: u32): Kept {
  return changetype<Kept>(pool + record);
}

// @ts-ignore: decorator
@inline
export function pointsOf(kept: Kept): usize {
  return changetype<usize>(kept) + HEAD;
}

// @ts-ignore: decorator
@inline
export function crossingsOf(kept: Kept): usize {
  return pointsOf(kept) + <usize>kept.points * CONTACT_POINT_BYTES;
}

function bytesOf(points: u32, crossings: u32): usize {
  return HEAD + <usize>points * CONTACT_POINT_BYTES + <usize>crossings * CROSSING_BYTES;
}

function append(points: u32, crossings: u32): usize {
  const at = nextUsed;
  const bytes = bytesOf(points, crossings);
  next = reserve(next, at, <u64>at + bytes);
  nextUsed = at + bytes;
  keptPoints += points;
  keptCrossings += crossings;
  const kept = changetype<Kept>(next + at);
  kept.points = points;
  kept.crossings = crossings;
  return at;
}
