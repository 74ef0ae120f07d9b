// Clipping planes: what they cut away of the world does not exist for a query. The query brings the planes: its own, and
// those of the objects' clip sets, by their numbers, so that moving planes change no object. A set cuts away what is
// behind any of its union planes, and what is behind all of its intersection planes. Points on a plane are kept, as far
// as float64 can tell. World units.
//
// A ray needs no clipped triangles: half-spaces are convex, so that union planes leave one interval of it, and
// intersection planes remove one interval from it (Cyrus and Beck, "Generalized two- and three-dimensional clipping",
// 1978).

import { CLIP_SET_BYTES, FILTER_CLIP_PLANES, FILTER_CLIP_SETS, FILTER_CLIP_SET_COUNT } from '../../../../shared/layout';
import { PLANE_BYTES, Plane } from '../../math/plane';
import { clipSetOf, slotOf } from '../objects';

/** A set of planes, laid out as in layout.ts: CLIP_SET_*. */
@unmanaged
export class ClipSet {
  first: u32;
  unionCount: u32;
  intersectionCount: u32;
  pad: u32;
}

const NO_PLANES: usize = memory.data(CLIP_SET_BYTES, 16);
let planes: usize = 0;
/** The query's planes, followed by those of the objects' sets. */
let sets: usize = NO_PLANES;
let setCount: u32 = 0;
/** The planes of the current query. */
export let queryPlanes: ClipSet = changetype<ClipSet>(NO_PLANES);
/** Whether the query has planes of its own. */
export let isClipped: bool = false;

// @ts-ignore: decorator
@inline
export function planeOf(set: ClipSet, i: u32): Plane {
  return changetype<Plane>(planes + (set.first + i) * <u32>PLANE_BYTES);
}

/** Takes over the planes of a filter (layout.ts, FILTER_*), which are read for as long as the query lasts. */
export function setClipping(filter: usize): void {
  planes = load<u32>(filter, FILTER_CLIP_PLANES);
  setCount = load<u32>(filter, FILTER_CLIP_SET_COUNT);
  sets = setCount != 0 ? <usize>load<u32>(filter, FILTER_CLIP_SETS) : NO_PLANES;
  queryPlanes = changetype<ClipSet>(sets);
  isClipped = (queryPlanes.unionCount | queryPlanes.intersectionCount) != 0;
}

/** Returns whether some objects may have planes of their own. */
// @ts-ignore: decorator
@inline
export function hasObjectSets(): bool {
  return setCount > 1;
}

/** Returns the set of an object's own planes; null if it has none. */
export function objectSetOf(id: u32): ClipSet | null {
  return setCount <= 1 ? null : setOf(clipSetOf(slotOf(id)));
}

/** Returns the clip set of an index; null if the query has none of that index. */
export function setOf(index: u32): ClipSet | null {
  return index == 0 || index >= setCount ? null : changetype<ClipSet>(sets + index * CLIP_SET_BYTES);
}

/** Returns whether the query's planes keep a point. */
export function keepsPoint(x: f64, y: f64, z: f64): bool {
  return !isClipped || setKeepsPoint(queryPlanes, x, y, z);
}

/** Returns whether a point of an object is kept by all planes. */
export function objectKeepsPoint(id: u32, x: f64, y: f64, z: f64): bool {
  if (!keepsPoint(x, y, z)) return false;
  const objectSet = objectSetOf(id);
  return objectSet === null || setKeepsPoint(objectSet, x, y, z);
}

/** Returns whether a set of planes keeps a point. */
function setKeepsPoint(set: ClipSet, x: f64, y: f64, z: f64): bool {
  const unionCount = set.unionCount, count = unionCount + set.intersectionCount;
  for (let i: u32 = 0; i < count; i++) {
    if (valueAtPoint(planeOf(set, i), x, y, z) < 0 == i < unionCount) return i >= unionCount;
  }
  return count == unionCount;
}

/**
 * The rounding of a plane's value at a point, relative to the sum of its terms: seven roundings of 2⁻⁵³ for the value,
 * three for the point as a sum, about fifteen for the hit of a ray in the mesh's own space.
 */
const ROUNDING: f64 = 3.552713678800501e-15; // 2^-48

/** Returns a plane's value at a point; 0 if rounding alone may make it negative. */
export function valueAtPoint(plane: Plane, x: f64, y: f64, z: f64): f64 {
  const a = plane.x * x, b = plane.y * y, c = plane.z * z, w = plane.w, value = a + b + c + w;
  return value < 0 && value >= -ROUNDING * (abs(a) + abs(b) + abs(c) + abs(w)) ? 0 : value;
}

/**
 * A part of a ray: the interval between two values of t, without the interval between two others; these two are
 * excluded.
 */
@unmanaged
export class RayPart {
  from: f64; to: f64;
  /** Both are infinite if nothing is removed. */
  cutFrom: f64; cutTo: f64;
}

/** Sets the part of a ray that a set of planes keeps. The direction is unit. */
export function findKeptPart(out: RayPart, set: ClipSet, ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64): void {
  const count = set.unionCount + set.intersectionCount;
  out.from = -Infinity;
  out.to = out.cutTo = Infinity;
  out.cutFrom = set.intersectionCount == 0 ? Infinity : -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    intersectPlane(planeOf(set, i), ox, oy, oz, dx, dy, dz);
    if (i < set.unionCount) {
      if (slope > 0) out.from = max(out.from, crossingT);
      else if (slope < 0) out.to = min(out.to, crossingT);
      else if (!isKept) out.to = -Infinity;
    } else if (slope > 0) out.cutTo = min(out.cutTo, crossingT);
    else if (slope < 0) out.cutFrom = max(out.cutFrom, crossingT);
    else if (isKept) out.cutFrom = Infinity;
  }
  if (!(out.cutFrom < out.cutTo)) out.cutFrom = out.cutTo = Infinity;
}

// Where a ray intersects a plane: the part beyond `crossingT` is kept if `slope` is positive, the part before it if `slope` is
// negative, and all or nothing if the two are parallel.
let slope: f64 = 0;
let crossingT: f64 = 0;
let isKept: bool = false;

/** Finds where the plane's value along the ray, plus the possible rounding error, is 0. */
function intersectPlane(plane: Plane, ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64): void {
  const a = plane.x * ox, b = plane.y * oy, c = plane.z * oz, w = plane.w;
  const e = plane.x * dx, f = plane.y * dy, g = plane.z * dz;
  // The largest possible value at the origin, and the largest error of the slope.
  const maxValue = a + b + c + w + ROUNDING * (abs(a) + abs(b) + abs(c) + abs(w));
  const slopeError = ROUNDING * (abs(e) + abs(f) + abs(g));
  slope = e + f + g;
  if (abs(slope) <= slopeError) {
    slope = 0;
    isKept = maxValue >= 0;
    return;
  }
  // maxValue + t · slope + |t| · slopeError = 0: the value falls more slowly both forwards and backwards.
  const isAhead = maxValue >= 0 == slope < 0;
  crossingT = -maxValue / (isAhead ? slope + slopeError : slope - slopeError);
}
