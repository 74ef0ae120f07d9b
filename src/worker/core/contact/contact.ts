// The contact that is being looked at: the points of its manifold (layout.ts, CONTACT_*), and the pairs of triangles
// that meet (CROSSING_*). Who finds it begins with `clearContact`.

import {
  CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT, CONTACT_POINT_BYTES, CROSSING_A, CROSSING_B, CROSSING_BYTES,
  CROSSING_SEGMENT,
} from '../../../shared/layout';
import { reserve } from '../memory';

export let points: usize = 0;
export let pointCount: u32 = 0;
/** How many points there is room for. */
let pointRoom: u32 = 0;
export let crossings: usize = 0;
export let crossingCount: u32 = 0;

export function clearContact(): void {
  pointCount = 0;
  crossingCount = 0;
}

/** Place and unit normal in the world. Throws OUT_OF_MEMORY. */
export function addPoint(x: f64, y: f64, z: f64, normalX: f64, normalY: f64, normalZ: f64, depth: f64): void {
  const used = <usize>pointCount * CONTACT_POINT_BYTES;
  if (pointCount == pointRoom) {
    points = reserve(points, used, <u64>(2 * pointRoom + 4) * CONTACT_POINT_BYTES);
    pointRoom = 2 * pointRoom + 4;
  }
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
