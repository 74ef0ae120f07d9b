import { NO_OBJECT } from '../shared/ids.js';
import { RAY_NUMBERS, WAY_NUMBERS } from '../shared/layout.js';
import type { Filter } from '../shared/protocol.js';
import type { RayHits, SweepHits } from '../shared/types.js';
import type { PlacedDescription } from './binding/core.js';
import type { CoreSweepHit } from './binding/hits.js';
import type { CoreQueries } from './binding/queries.js';
import type { PairQuestions } from './pair-questions.js';
import type { Slices } from './slices.js';
import { orderOfWays, reorder } from './way-order.js';

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
  await inBlocks(hits, 0, count, RAYS_AT_ONCE, slices, (first, end) =>
    queries.raycastMany(rays.subarray(RAY_NUMBERS * first, RAY_NUMBERS * end), filter),
  );
  return { ...hits, ms: slices.ms };
}

/** So many ways are put in order at once, which takes half a millisecond. */
const ORDERED = 1 << 14;

/** Sweeps along many ways, in slices, of which one way may take several. */
export async function sweepMany(
  queries: CoreQueries,
  pairs: PairQuestions,
  asked: ManySweeps,
  slices: Slices,
): Promise<Omit<SweepHits, 'frame'>> {
  const { ways, shapeOf } = asked;
  const count = ways.length / WAY_NUMBERS;
  const hits = noHits(count);
  for (let first = 0; first < count; first += ORDERED) {
    if (slices.isOver) await slices.next();
    const end = Math.min(first + ORDERED, count);
    const some = ways.subarray(WAY_NUMBERS * first, WAY_NUMBERS * end);
    const order = orderOfWays(some);
    const sorted = reorder(some, order);
    const shapes = shapeOf && reorder(shapeOf.subarray(first, end), order);
    const found = await sweepInOrder(queries, pairs, { ...asked, ways: sorted, shapeOf: shapes }, slices);
    for (const key of Object.keys(hits) as (keyof typeof hits)[]) {
      hits[key].set(reorder(found[key], order, true), first * (hits[key].length / count));
    }
  }
  return { ...hits, ms: slices.ms };
}

function noHits(count: number) {
  return {
    objects: new Uint32Array(count),
    times: new Float64Array(count),
    points: new Float64Array(3 * count),
    normals: new Float32Array(3 * count),
    triangles: new Int32Array(count),
    depths: new Float64Array(count),
  };
}

async function sweepInOrder(
  queries: CoreQueries,
  pairs: PairQuestions,
  { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
  slices: Slices,
): Promise<ReturnType<typeof noHits>> {
  const count = ways.length / WAY_NUMBERS;
  const hits = noHits(count);
  const sweepAlone = async (i: number): Promise<void> => {
    const way = ways.subarray(WAY_NUMBERS * i, WAY_NUMBERS * (i + 1));
    const kept = queries.keepWay(shapes[shapeOf?.[i] ?? 0], way, tolerance, filter);
    const note = ([hit]: CoreSweepHit[], ms: number): number => {
      hits.objects[i] = hit?.object ?? NO_OBJECT;
      hits.times[i] = hit?.time ?? Number.POSITIVE_INFINITY;
      hits.triangles[i] = hit?.triangle ?? -1;
      hits.depths[i] = hit?.depth ?? 0;
      hits.points.set(hit?.point ?? [0, 0, 0], 3 * i);
      hits.normals.set(hit?.normal ?? [0, 0, 0], 3 * i);
      return ms;
    };
    const answer = pairs.sweep(kept, note, Math.max(slices.end - performance.now(), 0));
    if (typeof answer !== 'number') await slices.during(answer);
  };
  for (let first = 0; first < count; ) {
    const from = first;
    first = await inBlocks(hits, from, count, WAYS_AT_ONCE, slices, (start, end) => {
      const some = ways.subarray(WAY_NUMBERS * start, WAY_NUMBERS * end);
      return queries.sweepMany(shapes, some, shapeOf?.subarray(start, end), tolerance, filter);
    });
    if (first < count) await sweepAlone(first++);
  }
  return hits;
}

type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array;

/**
 * Asks for a block of answers after the other, and puts each block's arrays into those of all. Answers where it ended: at
 * the count, or where a block was not `done`.
 */
async function inBlocks<Arrays extends Record<keyof Arrays, Numbers>>(
  all: Arrays,
  from: number,
  count: number,
  atFirst: number,
  slices: Slices,
  ask: (first: number, end: number) => Arrays & { done?: number },
): Promise<number> {
  let atOnce = atFirst;
  for (let first = from; first < count; ) {
    if (slices.isOver) await slices.next();
    const start = performance.now();
    const end = Math.min(first + atOnce, count);
    const found = ask(first, end);
    for (const key of Object.keys(all) as (keyof Arrays)[]) all[key].set(found[key], first * (all[key].length / count));
    const ms = performance.now() - start;
    if (ms < LEAST_MS) atOnce *= 2;
    else if (ms > MOST_MS) atOnce = Math.max(1, atOnce >> 1);
    first += found.done ?? end - first;
    if (first < end) return first;
  }
  return count;
}
