import { WAY_NUMBERS } from '../shared/layout.js';
import type { Filter } from '../shared/protocol.js';
import type { SweepHits } from '../shared/types.js';
import type { PlacedDescription } from './binding/core.js';
import type { CoreQueries } from './binding/queries.js';

/** Ways between two readings of the clock: some 0.1 to 2 ms. */
const AT_ONCE = 64;

/** What is asked about many ways. */
export interface ManySweeps {
  shapes: PlacedDescription[];
  ways: Float64Array;
  shapeOf: Uint32Array | undefined;
  tolerance: number;
  filter: Filter;
}

/** Sweeps along many ways. Works for `sliceMs` at a time, between which `pause` has messages served. */
export async function sweepMany(
  queries: CoreQueries,
  { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
  sliceMs: number,
  pause: () => Promise<void>,
): Promise<Omit<SweepHits, 'frame'>> {
  const count = ways.length / WAY_NUMBERS;
  const hits = {
    objects: new Uint32Array(count),
    times: new Float64Array(count),
    points: new Float64Array(3 * count),
    normals: new Float32Array(3 * count),
    triangles: new Int32Array(count),
    depths: new Float64Array(count),
  };
  let ms = 0;
  let start = performance.now();
  for (let first = 0; first < count; first += AT_ONCE) {
    if (performance.now() - start >= sliceMs) {
      ms += performance.now() - start;
      await pause();
      start = performance.now();
    }
    const end = Math.min(first + AT_ONCE, count);
    const some = ways.subarray(WAY_NUMBERS * first, WAY_NUMBERS * end);
    const found = queries.sweepMany(shapes, some, shapeOf?.subarray(first, end), tolerance, filter);
    hits.objects.set(found.objects, first);
    hits.times.set(found.times, first);
    hits.points.set(found.points, 3 * first);
    hits.normals.set(found.normals, 3 * first);
    hits.triangles.set(found.triangles, first);
    hits.depths.set(found.depths, first);
  }
  return { ...hits, ms: ms + performance.now() - start };
}
