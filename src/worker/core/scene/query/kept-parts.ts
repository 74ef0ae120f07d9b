// The parts of a segment that the planes of a query and those of an object's clip set keep: each part runs from one fraction of
// its length to another, 0 at its start and 1 at its end.

import { Plane } from '../../math/plane';
import { ClipSet, queryPlanes, isClipped, planeOf, valueAtPoint } from './clipping';

/** Each of the two sets leaves at most two parts of one. */
const MAX_PARTS: u32 = 4;
const parts: usize = memory.data(<i32>MAX_PARTS * 16, 16);
const previousParts: usize = memory.data(<i32>MAX_PARTS * 16, 16);
export let partCount: u32 = 0;

export function partFrom(i: u32): f64 {
  return load<f64>(parts + (<usize>i << 4));
}

export function partTo(i: u32): f64 {
  return load<f64>(parts + (<usize>i << 4), 8);
}

/** Keeps a segment as a whole. */
export function keepWhole(): void {
  partCount = 0;
  addPart(0, 1);
}

/** Finds the parts that are kept of a segment between two points in the world; `objectSet`: its object's clip set, or null. */
export function findKeptParts(objectSet: ClipSet | null, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  keepWhole();
  if (isClipped) clipToSet(queryPlanes, ax, ay, az, bx, by, bz);
  if (objectSet !== null) clipToSet(objectSet, ax, ay, az, bx, by, bz);
}

function addPart(from: f64, to: f64): void {
  store<f64>(parts + (<usize>partCount << 4), from);
  store<f64>(parts + (<usize>partCount << 4), to, 8);
  partCount++;
}

function clipToSet(set: ClipSet, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  const unionCount = set.unionCount, count = unionCount + set.intersectionCount;
  let start: f64 = 0, end: f64 = 1;
  // The interval that all intersection planes cut away together.
  let cutFrom: f64 = count > unionCount ? 0 : 1, cutTo = 1 - cutFrom;
  for (let i: u32 = 0; i < count; i++) {
    const plane: Plane = planeOf(set, i), from = valueAtPoint(plane, ax, ay, az), to = valueAtPoint(plane, bx, by, bz);
    const crossing = from / (from - to);
    if (i < unionCount) {
      if (from < 0) start = to < 0 ? 2 : max(start, crossing);
      else if (to < 0) end = min(end, crossing);
    } else if (from >= 0 && to >= 0) {
      cutFrom = 1;
      cutTo = 0;
    } else if (from >= 0) {
      cutFrom = max(cutFrom, crossing);
    } else if (to >= 0) {
      cutTo = min(cutTo, crossing);
    }
  }
  clipToInterval(start, end, cutFrom, cutTo);
}

/** Clips all parts to an interval, and cuts another one out of them unless it is empty. */
function clipToInterval(start: f64, end: f64, cutFrom: f64, cutTo: f64): void {
  const previousCount = partCount;
  memory.copy(previousParts, parts, MAX_PARTS * 16);
  partCount = 0;
  for (let i: usize = 0; i < previousCount; i++) {
    const s = max(load<f64>(previousParts + (i << 4)), start), t = min(load<f64>(previousParts + (i << 4), 8), end);
    if (!(s <= t)) continue;
    if (!(cutFrom < cutTo)) {
      addPart(s, t);
      continue;
    }
    if (s <= min(t, cutFrom) && (cutFrom > 0 || s > 0)) addPart(s, min(t, cutFrom));
    if (max(s, cutTo) <= t && (cutTo < 1 || t < 1)) addPart(max(s, cutTo), t);
  }
}
