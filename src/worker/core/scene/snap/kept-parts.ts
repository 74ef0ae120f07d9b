// What the planes of a query and those of an object's clip set leave of a segment: parts of it, each from one share of its length
// to another, 0 at its start and 1 at its end.

import { Plane } from '../../math/plane';
import { ClipSet, askedPlanes, planeOf, setOf, valueAtPoint } from '../query/clipping';

/** Two sets each leave two parts of one at most. */
const MOST_PARTS: u32 = 4;
const parts: usize = memory.data(<i32>MOST_PARTS * 16, 16);
const before: usize = memory.data(<i32>MOST_PARTS * 16, 16);
export let partCount: u32 = 0;

export function partFrom(i: u32): f64 {
  return load<f64>(parts + (<usize>i << 4));
}

export function partTo(i: u32): f64 {
  return load<f64>(parts + (<usize>i << 4), 8);
}

/** Finds the parts that are left of a segment of an object with a clip set of that number. */
export function keepParts(clipSet: u32, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  partCount = 0;
  add(0, 1);
  keepBySet(askedPlanes, ax, ay, az, bx, by, bz);
  const own = setOf(clipSet);
  if (own !== null) keepBySet(own, ax, ay, az, bx, by, bz);
}

function add(from: f64, to: f64): void {
  store<f64>(parts + (<usize>partCount << 4), from);
  store<f64>(parts + (<usize>partCount << 4), to, 8);
  partCount++;
}

function keepBySet(set: ClipSet, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  const unionCount = set.unionCount, count = unionCount + set.intersectionCount;
  let low: f64 = 0, high: f64 = 1;
  // What all of the others cut away together.
  let cutFrom: f64 = count > unionCount ? 0 : 1, cutTo = 1 - cutFrom;
  for (let i: u32 = 0; i < count; i++) {
    const plane: Plane = planeOf(set, i), from = valueAtPoint(plane, ax, ay, az), to = valueAtPoint(plane, bx, by, bz);
    const crossing = from / (from - to);
    if (i < unionCount) {
      if (from < 0) low = to < 0 ? 2 : max(low, crossing);
      else if (to < 0) high = min(high, crossing);
    } else if (from >= 0 && to >= 0) {
      cutFrom = 1;
      cutTo = 0;
    } else if (from >= 0) {
      cutFrom = max(cutFrom, crossing);
    } else if (to >= 0) {
      cutTo = min(cutTo, crossing);
    }
  }
  const given = partCount;
  memory.copy(before, parts, MOST_PARTS * 16);
  partCount = 0;
  for (let i: usize = 0; i < given; i++) {
    const s = max(load<f64>(before + (i << 4)), low), t = min(load<f64>(before + (i << 4), 8), high);
    if (!(s <= t)) continue;
    if (!(cutFrom < cutTo)) {
      add(s, t);
      continue;
    }
    if (s <= min(t, cutFrom) && (cutFrom > 0 || s > 0)) add(s, min(t, cutFrom));
    if (max(s, cutTo) <= t && (cutTo < 1 || t < 1)) add(max(s, cutTo), t);
  }
}
