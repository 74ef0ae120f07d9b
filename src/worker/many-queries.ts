import { RAY_NUMBERS, WAY_NUMBERS } from '../shared/layout.js';
import type { Filter } from '../shared/protocol.js';
import type { RayHits, SweepHits } from '../shared/types.js';
import type { PlacedDescription } from './binding/core.js';
import type { CoreQueries } from './binding/queries.js';
import type { Slices } from './slices.js';

// What is asked between two readings of the clock, at first; then it is so much that it takes between a quarter of a
// millisecond and one: a capsule among boxes takes 2 µs, a mesh that turns past another one a thousand times as long.
const RAYS_AT_ONCE = 1024;
const WAYS_AT_ONCE = 16;
const LEAST_MS = 0.25;
const MOST_MS = 1;

/** What is asked about many ways. */
export interface ManySweeps {
  shapes: PlacedDescription[];
  ways: Float64Array;
  shapeOf: Uint32Array | undefined;
  tolerance: number;
  filter: Filter;
}

/** Casts many rays, in slices. */
export async function raycastMany(
  queries: CoreQueries,
  rays: Float32Array,
  filter: Filter,
  slices: Slices,
): Promise<Omit<RayHits, 'frame'>> {
  const count = rays.length / RAY_NUMBERS;
  const hits = {
    objects: new Uint32Array(count),
    distances: new Float64Array(count),
    triangles: new Int32Array(count),
    elements: new Int32Array(count),
    bones: new Int32Array(count),
    barycentrics: new Float32Array(3 * count),
  };
  await inBlocks(hits, count, RAYS_AT_ONCE, slices, (first, end) =>
    queries.raycastMany(rays.subarray(RAY_NUMBERS * first, RAY_NUMBERS * end), filter),
  );
  return { ...hits, ms: slices.ms };
}

/** Sweeps along many ways, in slices. */
export async function sweepMany(
  queries: CoreQueries,
  { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
  slices: Slices,
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
  await inBlocks(hits, count, WAYS_AT_ONCE, slices, (first, end) => {
    const some = ways.subarray(WAY_NUMBERS * first, WAY_NUMBERS * end);
    return queries.sweepMany(shapes, some, shapeOf?.subarray(first, end), tolerance, filter);
  });
  return { ...hits, ms: slices.ms };
}

/** Asks for a block of answers after the other, and puts each block's arrays into those of all. */
async function inBlocks<Arrays extends Record<keyof Arrays, Float32Array | Float64Array | Int32Array | Uint32Array>>(
  all: Arrays,
  count: number,
  atFirst: number,
  slices: Slices,
  ask: (first: number, end: number) => Arrays,
): Promise<void> {
  let atOnce = atFirst;
  for (let first = 0; first < count; ) {
    if (slices.isOver) await slices.next();
    const start = performance.now();
    const end = Math.min(first + atOnce, count);
    const found = ask(first, end);
    for (const key of Object.keys(all) as (keyof Arrays)[]) all[key].set(found[key], first * (all[key].length / count));
    const ms = performance.now() - start;
    if (ms < LEAST_MS) atOnce *= 2;
    else if (ms > MOST_MS) atOnce = Math.max(1, atOnce >> 1);
    first = end;
  }
}
