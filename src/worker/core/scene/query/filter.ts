// What the query under way asks of objects.

import {
  FILTER_IGNORE, FILTER_IGNORE_COUNT, FILTER_LAYERS, FILTER_PRECISION, FILTER_SIDE,
} from '../../../../shared/layout';

export let layers: u32 = 0;
/** SIDE_* */
export let sides: u32 = 0;
/** PRECISION_* */
export let precision: u32 = 0;
let ignored: usize = 0;
let ignoredCount: u32 = 0;
let passedOver: u32 = 0;

/** Takes over a filter (layout.ts, FILTER_*). */
export function setFilter(at: usize): void {
  layers = load<u32>(at, FILTER_LAYERS);
  sides = load<u32>(at, FILTER_SIDE);
  precision = load<u32>(at, FILTER_PRECISION);
  ignored = load<u32>(at, FILTER_IGNORE);
  ignoredCount = load<u32>(at, FILTER_IGNORE_COUNT);
  passedOver = 0;
}

/** One more that is ignored, instead of the last such; 0 for none. */
export function passOver(id: u32): void {
  passedOver = id;
}

/** By halving: a scene with materials of different sides ignores thousands. */
export function isIgnored(id: u32): bool {
  if (id == passedOver) return true;
  let low: u32 = 0, high = ignoredCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = load<u32>(ignored + (<usize>middle << 2));
    if (other == id) return true;
    if (other < id) low = middle + 1;
    else high = middle;
  }
  return false;
}
