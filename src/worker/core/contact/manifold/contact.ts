// The contact that is being looked at: the points of its manifold (layout.ts, CONTACT_*), the pairs of triangles that
// meet (CROSSING_*), and the pairs of bones (BONE_PAIR_*). Who finds it begins with `clearContact`.

import {
  BONE_PAIR_A, BONE_PAIR_B, BONE_PAIR_BYTES, CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT, CONTACT_POINT_BYTES,
  CROSSING_BYTES,
} from '../../../../shared/layout';
import { reserve } from '../../memory';

export let points: usize = 0;
export let pointCount: u32 = 0;
/** How many points there is room for. */
let pointRoom: u32 = 0;
/** The room for points that were given no place. */
let own: usize = 0;
let ownRoom: u32 = 0;
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
 * Sets where the next contact's points begin, with room for so many. Where there are more, all of them move elsewhere.
 */
export function placePoints(at: usize, room: u32): void {
  points = at;
  pointRoom = room;
}

/** Puts the next contact's points into the room of this module. */
export function unplacePoints(): void {
  placePoints(own, ownRoom);
}

/** Makes room for so many points. Throws OUT_OF_MEMORY. */
export function reservePoints(room: u32): void {
  if (room <= pointRoom) return;
  const used = <usize>pointCount * CONTACT_POINT_BYTES;
  own = reserve(own, points == own ? used : 0, <u64>(2 * room) * CONTACT_POINT_BYTES);
  if (points != own) memory.copy(own, points, used);
  points = own;
  pointRoom = ownRoom = 2 * room;
}

/** Counts so many points more, which were written behind the others. */
// @ts-ignore: decorator
@inline
export function addWritten(count: u32): void {
  pointCount += count;
}

/** Adds a point, by its place, unit normal and depth in the world. Throws OUT_OF_MEMORY. */
export function addPoint(x: f64, y: f64, z: f64, normalX: f64, normalY: f64, normalZ: f64, depth: f64): void {
  const used = <usize>pointCount * CONTACT_POINT_BYTES;
  if (pointCount == pointRoom) reservePoints(pointCount + 1);
  pointCount++;
  const at = points + used;
  store<f32>(at, <f32>x, CONTACT_POINT);
  store<f32>(at, <f32>y, CONTACT_POINT + 4);
  store<f32>(at, <f32>z, CONTACT_POINT + 8);
  store<f32>(at, <f32>normalX, CONTACT_NORMAL);
  store<f32>(at, <f32>normalY, CONTACT_NORMAL + 4);
  store<f32>(at, <f32>normalZ, CONTACT_NORMAL + 8);
  store<f32>(at, <f32>depth, CONTACT_DEPTH);
}

/** Adds room for so many crossings, which the caller must write. Answers where they begin. Throws OUT_OF_MEMORY. */
export function addCrossings(count: u32): usize {
  const used = <usize>crossingCount * CROSSING_BYTES;
  crossings = reserve(crossings, used, <u64>used + <u64>count * CROSSING_BYTES);
  crossingCount += count;
  return crossings + used;
}

/** Adds two bones whose boxes meet; -1 stands for an object without bones. Throws OUT_OF_MEMORY. */
export function addBonePair(a: i32, b: i32): void {
  const used = <usize>bonePairCount * BONE_PAIR_BYTES;
  bonePairs = reserve(bonePairs, used, <u64>used + BONE_PAIR_BYTES);
  bonePairCount++;
  store<i32>(bonePairs + used, a, BONE_PAIR_A);
  store<i32>(bonePairs + used, b, BONE_PAIR_B);
}
