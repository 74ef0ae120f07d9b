// The contact that is currently being computed: the points of its manifold (layout.ts, CONTACT_*), the pairs of
// intersecting triangles (CROSSING_*), and the pairs of bones (BONE_PAIR_*). The code that computes a contact first
// calls `clearContact`.

import {
  BONE_PAIR_A, BONE_PAIR_B, BONE_PAIR_BYTES, CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT, CONTACT_POINT_BYTES,
  CROSSING_BYTES,
} from '../../../../shared/layout';
import { reserve } from '../../memory';

export let points: usize = 0;
export let pointCount: u32 = 0;
/** How many points fit at `points`. */
let pointCapacity: u32 = 0;
/** This module's own buffer, for points that were not assigned a destination. */
let ownPoints: usize = 0;
let ownCapacity: u32 = 0;
export let crossings: usize = 0;
export let crossingCount: u32 = 0;
export let bonePairs: usize = 0;
export let bonePairCount: u32 = 0;

export function clearContact(): void {
  pointCount = 0;
  crossingCount = 0;
  bonePairCount = 0;
}

/**
 * Sets where the next contact's points are written, and how many fit there. If there are more, all of them move to this
 * module's own buffer.
 */
export function setPointBuffer(at: usize, capacity: u32): void {
  points = at;
  pointCapacity = capacity;
}

/** Makes the next contact's points go to this module's own buffer. */
export function resetPointBuffer(): void {
  setPointBuffer(ownPoints, ownCapacity);
}

/** Makes room for `count` points. Throws OUT_OF_MEMORY. */
export function reservePoints(count: u32): void {
  if (count <= pointCapacity) return;
  const usedBytes = <usize>pointCount * CONTACT_POINT_BYTES;
  ownPoints = reserve(ownPoints, points == ownPoints ? usedBytes : 0, <u64>(2 * count) * CONTACT_POINT_BYTES);
  if (points != ownPoints) memory.copy(ownPoints, points, usedBytes);
  points = ownPoints;
  pointCapacity = ownCapacity = 2 * count;
}

/** Adds `count` to the number of points, after the caller has written the points behind the existing ones. */
// @ts-ignore: decorator
@inline
export function countWrittenPoints(count: u32): void {
  pointCount += count;
}

/** Adds a point, by its position, unit normal and depth in world space. Throws OUT_OF_MEMORY. */
export function addPoint(x: f64, y: f64, z: f64, normalX: f64, normalY: f64, normalZ: f64, depth: f64): void {
  const usedBytes = <usize>pointCount * CONTACT_POINT_BYTES;
  if (pointCount == pointCapacity) reservePoints(pointCount + 1);
  pointCount++;
  const at = points + usedBytes;
  store<f32>(at, <f32>x, CONTACT_POINT);
  store<f32>(at, <f32>y, CONTACT_POINT + 4);
  store<f32>(at, <f32>z, CONTACT_POINT + 8);
  store<f32>(at, <f32>normalX, CONTACT_NORMAL);
  store<f32>(at, <f32>normalY, CONTACT_NORMAL + 4);
  store<f32>(at, <f32>normalZ, CONTACT_NORMAL + 8);
  store<f32>(at, <f32>depth, CONTACT_DEPTH);
}

/**
 * Adds room for `count` crossings, which the caller must write. Returns the address of the first one. Throws
 * OUT_OF_MEMORY.
 */
export function addCrossings(count: u32): usize {
  const usedBytes = <usize>crossingCount * CROSSING_BYTES;
  crossings = reserve(crossings, usedBytes, <u64>usedBytes + <u64>count * CROSSING_BYTES);
  crossingCount += count;
  return crossings + usedBytes;
}

/** Adds two bones whose boxes overlap; -1 stands for an object without bones. Throws OUT_OF_MEMORY. */
export function addBonePair(a: i32, b: i32): void {
  const usedBytes = <usize>bonePairCount * BONE_PAIR_BYTES;
  bonePairs = reserve(bonePairs, usedBytes, <u64>usedBytes + BONE_PAIR_BYTES);
  bonePairCount++;
  store<i32>(bonePairs + usedBytes, a, BONE_PAIR_A);
  store<i32>(bonePairs + usedBytes, b, BONE_PAIR_B);
}
