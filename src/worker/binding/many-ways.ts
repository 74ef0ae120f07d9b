import { WAY_NUMBERS } from '../../shared/layout.js';
import type { Filter } from '../../shared/protocol.js';
import type { SweepHits } from '../../shared/types.js';
import type { PlacedDescription } from './descriptions.js';

/** What is asked about many ways. */
export interface ManySweeps {
  shapes: PlacedDescription[];
  ways: Float64Array;
  /** The number of each way's shape; absent where all have the first. */
  shapeOf: Uint32Array | undefined;
  tolerance: number;
  filter: Filter;
}

/** What was found on each way. */
export type WayHits = Omit<SweepHits, 'frame' | 'ms'>;

// Loops of single numbers, each over arrays of one type: functions for arrays of any type, with a copy for each array, took a
// tenth of the time of 10,000 capsules among 10,000 boxes.

/** Copies the ways whose numbers `order` has, one behind the other. */
export function gatherWays(to: Float64Array, ways: Float64Array, order: Uint32Array): void {
  let at = 0;
  for (let i = 0; i < order.length; i++) {
    const from = WAY_NUMBERS * order[i];
    for (let k = 0; k < WAY_NUMBERS; k++) to[at++] = ways[from + k];
  }
}

/** Puts what was found on these ways where their numbers say. */
export function scatterHits(all: WayHits, order: Uint32Array, found: WayHits): void {
  const { objects, times, points, normals, triangles, depths } = found;
  for (let i = 0; i < order.length; i++) {
    const way = order[i];
    all.objects[way] = objects[i];
    all.times[way] = times[i];
    all.triangles[way] = triangles[i];
    all.depths[way] = depths[i];
    for (let k = 0; k < 3; k++) {
      all.points[3 * way + k] = points[3 * i + k];
      all.normals[3 * way + k] = normals[3 * i + k];
    }
  }
}
