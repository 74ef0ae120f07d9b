import { WAY_NUMBERS } from '../../shared/layout.js';
import type { Filter } from '../../shared/protocol.js';
import type { SweepHits } from '../../shared/types.js';
import type { PlacedDescription } from './descriptions.js';

/** A request to sweep along many ways. */
export interface ManySweeps {
  shapes: PlacedDescription[];
  ways: Float64Array;
  /** Index of each way's shape; absent if all have the first. */
  shapeOf: Uint32Array | undefined;
  tolerance: number;
  filter: Filter;
}

/** The hits of many ways. */
export type WayHits = Omit<SweepHits, 'frame' | 'ms'>;

// Plain loops over single numbers, each over arrays of one type: functions that take arrays of any type, and copy per array,
// took a tenth of the time of 10,000 capsules among 10,000 boxes.

/** Copies the ways with the numbers in `order`, one behind the other. */
export function gatherWays(target: Float64Array, ways: Float64Array, order: Uint32Array): void {
  let at = 0;
  for (let i = 0; i < order.length; i++) {
    const from = WAY_NUMBERS * order[i];
    for (let k = 0; k < WAY_NUMBERS; k++) target[at++] = ways[from + k];
  }
}

/** Writes the hits of these ways to the places that their numbers give. */
export function scatterHits(target: WayHits, order: Uint32Array, source: WayHits): void {
  const { objects, times, points, normals, triangles, depths } = source;
  for (let i = 0; i < order.length; i++) {
    const way = order[i];
    target.objects[way] = objects[i];
    target.times[way] = times[i];
    target.triangles[way] = triangles[i];
    target.depths[way] = depths[i];
    for (let k = 0; k < 3; k++) {
      target.points[3 * way + k] = points[3 * i + k];
      target.normals[3 * way + k] = normals[3 * i + k];
    }
  }
}
