// The outlines that a section has found: their points, the triangle of the segment that begins at each, and an
// OUTLINE_* record (layout.ts) per outline.

import {
  OUTLINE_BYTES, OUTLINE_CLOSED, OUTLINE_END, OUTLINE_OBJECT, OUTLINE_START,
} from '../../../shared/layout';
import { capacityOf, release, reserve } from '../memory';

let points: usize = 0;
let triangles: usize = 0;
let pointCount: u32 = 0;
let pointCapacity: u32 = 0;
let records: usize = 0;
let outlineCount: u32 = 0;
/** The object that the outlines belong to, and the first point of the current outline. */
let outlinedObject: u32 = 0;
let start: u32 = 0;

const POINT_BYTES: usize = 24;
/** The first allocation has room for this many points: a section with fewer does not move them. */
const FIRST_POINTS: u64 = 4096;

export function clearOutlines(): void {
  pointCount = outlineCount = 0;
}

/** Frees the memory. */
export function freeOutlines(): void {
  release(points);
  release(triangles);
  release(records);
  points = triangles = records = 0;
  pointCapacity = 0;
  clearOutlines();
}

export function setOutlinedObject(id: u32): void {
  outlinedObject = id;
}

export function beginOutline(): void {
  start = pointCount;
}

/** Adds a point, and the triangle of the segment after it; segments of length 0 are omitted. Throws OUT_OF_MEMORY. */
export function addPoint(x: f64, y: f64, z: f64, triangle: i32): void {
  if (pointCount > start && isPointAt(pointCount - 1, x, y, z)) {
    store<i32>(triangles + (<usize>(pointCount - 1) << 2), triangle);
    return;
  }
  if (pointCount == pointCapacity) growPoints();
  const at = points + <usize>pointCount * POINT_BYTES;
  store<f64>(at, x);
  store<f64>(at, y, 8);
  store<f64>(at, z, 16);
  store<i32>(triangles + (<usize>pointCount << 2), triangle);
  pointCount++;
}

function growPoints(): void {
  const minCapacity = max<u64>(pointCount + 1, FIRST_POINTS);
  points = reserve(points, <usize>pointCount * POINT_BYTES, minCapacity * POINT_BYTES);
  triangles = reserve(triangles, <usize>pointCount << 2, minCapacity << 2);
  pointCapacity = <u32>min(capacityOf(points) / POINT_BYTES, capacityOf(triangles) >> 2);
}

// @ts-ignore: decorator
@inline
function isPointAt(point: u32, x: f64, y: f64, z: f64): bool {
  const at = points + <usize>point * POINT_BYTES;
  return load<f64>(at) == x && load<f64>(at, 8) == y && load<f64>(at, 16) == z;
}

/** Ends an outline. An outline of a single point is dropped. Throws OUT_OF_MEMORY. */
export function endOutline(isClosed: bool): void {
  const first = points + <usize>start * POINT_BYTES;
  if (isClosed) {
    while (pointCount > start + 1 && isPointAt(pointCount - 1, load<f64>(first), load<f64>(first, 8), load<f64>(first, 16))) {
      pointCount--;
    }
  }
  if (pointCount < start + 2) {
    pointCount = start;
    return;
  }
  records = reserve(records, <usize>outlineCount * OUTLINE_BYTES, <u64>(outlineCount + 1) * OUTLINE_BYTES);
  const record = records + <usize>outlineCount * OUTLINE_BYTES;
  store<u32>(record, outlinedObject, OUTLINE_OBJECT);
  store<u32>(record, start, OUTLINE_START);
  store<u32>(record, pointCount, OUTLINE_END);
  store<u32>(record, isClosed ? 1 : 0, OUTLINE_CLOSED);
  outlineCount++;
}

/** Returns the address of the outlines, OUTLINE_* each. */
export function outlines(): usize {
  return records;
}

export function countOutlines(): u32 {
  return outlineCount;
}

/** Returns the address of the points, three f64 each. */
export function outlinePoints(): usize {
  return points;
}

export function countOutlinePoints(): u32 {
  return pointCount;
}

/** Returns the address of the triangles, an i32 per point: -1 if no triangle's segment begins there. */
export function outlineTriangles(): usize {
  return triangles;
}
