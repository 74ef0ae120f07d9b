// The filter of the current query: layers, sides, precision, and which ids it ignores.

import {
  FILTER_IGNORE, FILTER_IGNORE_COUNT, FILTER_LAYERS, FILTER_OWN_COUNT, FILTER_OWN_IDS, FILTER_OWN_THRESHOLDS,
  FILTER_PRECISION, FILTER_SIDE, FILTER_THRESHOLD, FLAG_FACE_SIDES, FLAG_PICKABLE, FLAG_SIDE, SIDE_DOUBLE, SIDE_OWN,
} from '../../../../shared/layout';
import { Proxy } from '../../shape/proxy';
import { setClipping } from './clipping';
import { itemAt, slotOf } from '../objects';

export let layers: u32 = 0;
/** The requested sides: SIDE_*; SIDE_OWN for those that each object shows. */
let sides: u32 = 0;
/** The requested precision: PRECISION_*. */
export let precision: u32 = 0;
/** The distance from a ray within which points and lines are hit, in world units. */
export let threshold: f64 = 0;
/**
 * How many objects have a threshold of their own; their ids, ascending, and the thresholds in the objects' own units.
 */
export let thresholdCount: u32 = 0;
let thresholdIds: usize = 0;
let objectThresholds: usize = 0;
let ignoredIds: usize = 0;
let ignoredCount: u32 = 0;
let ignoredObject: u32 = 0;

/** Takes over a filter (layout.ts, FILTER_*). */
export function setFilter(at: usize): void {
  layers = load<u32>(at, FILTER_LAYERS);
  sides = load<u32>(at, FILTER_SIDE);
  precision = load<u32>(at, FILTER_PRECISION);
  ignoredIds = load<u32>(at, FILTER_IGNORE);
  ignoredCount = load<u32>(at, FILTER_IGNORE_COUNT);
  threshold = load<f64>(at, FILTER_THRESHOLD);
  thresholdCount = load<u32>(at, FILTER_OWN_COUNT);
  thresholdIds = load<u32>(at, FILTER_OWN_IDS);
  objectThresholds = load<u32>(at, FILTER_OWN_THRESHOLDS);
  ignoredObject = 0;
  setClipping(at);
}

/** Returns the id of the object with the i-th threshold of its own. */
export function thresholdIdAt(i: u32): u32 {
  return load<u32>(thresholdIds + (<usize>i << 2));
}

export function objectThresholdAt(i: u32): f64 {
  return load<f64>(objectThresholds + (<usize>i << 3));
}

/** Returns whether an object has a threshold of its own. */
export function hasObjectThreshold(id: u32): bool {
  return thresholdCount != 0 && includesId(thresholdIds, thresholdCount, id);
}

/** Ignores one more object, instead of the last one set here; 0 for none. */
export function setIgnoredObject(id: u32): void {
  ignoredObject = id;
}

/** Returns which sides of an object the query can hit (SIDE_*): 0 if the object is invisible to it. */
// @ts-ignore: decorator
@inline
export function sidesOf(proxy: Proxy): u32 {
  const flags: u32 = proxy.flags;
  if (!(proxy.layers & layers) || !(flags & FLAG_PICKABLE)) return 0;
  return sides != SIDE_OWN ? sides : (flags / FLAG_SIDE) & SIDE_DOUBLE;
}

/** Returns which triangles of an object's mesh the query can hit from other sides (face-sides.ts); 0 for none. */
// @ts-ignore: decorator
@inline
export function faceSidesOf(proxy: Proxy): usize {
  if (sides != SIDE_OWN || !(proxy.flags & FLAG_FACE_SIDES)) return 0;
  return itemAt(slotOf(proxy.id)).faceSides;
}

/** Returns whether an id is ignored. */
export function isIgnored(id: u32): bool {
  return id == ignoredObject || includesId(ignoredIds, ignoredCount, id);
}

/** Returns whether an id is in an ascending list, by binary search, since the list may have thousands. */
function includesId(ids: usize, count: u32, id: u32): bool {
  let low: u32 = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = load<u32>(ids + (<usize>middle << 2));
    if (other == id) return true;
    if (other < id) low = middle + 1;
    else high = middle;
  }
  return false;
}
