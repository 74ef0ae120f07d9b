// The contact that is being looked at: the points of its manifold (layout.ts, CONTACT_*), and the pairs of triangles
// that meet (CROSSING_*). Who finds it begins with `clearContact`.

import {
  CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT, CONTACT_POINT_BYTES, CROSSING_A, CROSSING_B, CROSSING_BYTES,
  CROSSING_SEGMENT,
} from '../../../../shared/layout';
import { reserve } from '../../memory';

export let points: usize = 0;
export let pointCount: u32 = 0;
/** How many points there is room for. */
let pointRoom: u32 = 0;
/** Where points are that nobody gave a place. */
let own: usize = 0;
let ownRoom: u32 = 0;
export let crossings: usize = 0;
export let crossingCount: u32 = 0;

export function clearContact(): void {
  pointCount = 0;
  crossingCount = 0;
}

/** Where the next contact's points begin, with room for so many. More of them move elsewhere. */
export function placePoints(at: usize, room: u32): void {
  points = at;
  pointRoom = room;
  pointCount = 0;
}

/** The next contact's points are where nobody else's are. */
export function unplacePoints(): void {
  placePoints(own, ownRoom);
}

/** Makes room for so many. Throws OUT_OF_MEMORY. */
export function reservePoints(room: u32): void {
  if (room <= pointRoom) return;
  const used = <usize>pointCount * CONTACT_POINT_BYTES;
  own = reserve(own, points == own ? used : 0, <u64>(2 * room) * CONTACT_POINT_BYTES);
  if (points != own) memory.copy(own, points, used);
  points = own;
  pointRoom = ownRoom = 2 * room;
}

/** So many more were written behind the others. */
// @ts-ignore: decorator
@inline
export function addWritten(count: u32): void {
  pointCount += count;
}

/** Place and unit normal in the world. Throws OUT_OF_MEMORY. */
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

/** The two ends of where triangle `a` of the first mesh and `b` of the second cut each other. Throws OUT_OF_MEMORY. */
export function addCrossing(a: u32, b: u32, fromX: f64, fromY: f64, fromZ: f64, toX: f64, toY: f64, toZ: f64): void {
  const used = <usize>crossingCount * CROSSING_BYTES;
  crossings = reserve(crossings, used, <u64>used + CROSSING_BYTES);
  crossingCount++;
  const at = crossings + used;
  store<u32>(at, a, CROSSING_A);
  store<u32>(at, b, CROSSING_B);
  store<f32>(at, <f32>fromX, CROSSING_SEGMENT);
  store<f32>(at, <f32>fromY, CROSSING_SEGMENT + 4);
  store<f32>(at, <f32>fromZ, CROSSING_SEGMENT + 8);
  store<f32>(at, <f32>toX, CROSSING_SEGMENT + 12);
  store<f32>(at, <f32>toY, CROSSING_SEGMENT + 16);
  store<f32>(at, <f32>toZ, CROSSING_SEGMENT + 20);
}
