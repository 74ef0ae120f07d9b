import { CollisionError } from '../shared/errors.js';
import { NO_OBJECT } from '../shared/ids.js';
import { RAY_NUMBERS, WAY_NUMBERS } from '../shared/layout.js';
import type { Filter } from '../shared/protocol.js';
import type { RayHits, SweepHits } from '../shared/types.js';
import { type CoreSweepHit, manyHits } from './binding/hits.js';
import type { ManySweeps, WayHits } from './binding/many-ways.js';
import type { CoreRays } from './binding/rays.js';
import type { CoreSweeps } from './binding/sweeps.js';
import type { PairQuestions } from './pair-questions.js';
import type { Slices } from './slices.js';
import { orderOfWays } from './way-order.js';

// Rays and ways per block at first, between two readings of the clock. Then the block size is adjusted so that a block takes
// between a quarter of a millisecond and one: a capsule among boxes takes 2 µs, a mesh that turns past another one a thousand
// times as long.
const RAYS_AT_ONCE = 1024;
const WAYS_AT_ONCE = 16;
const LEAST_MS = 0.25;
const MOST_MS = 1;

/** A single sweep of many cannot be dropped. */
const NO_CALL = 0;

/** Casts many rays, in slices. */
export async function raycastMany(
  core: CoreRays,
  rays: Float32Array,
  filter: Filter,
  slices: Slices,
): Promise<Omit<RayHits, 'frame'>> {
  const count = rays.length / RAY_NUMBERS;
  const hits = manyHits(count);
  await inBlocks(0, count, RAYS_AT_ONCE, slices, (first, end) => {
    const some = rays.subarray(RAY_NUMBERS * first, RAY_NUMBERS * end);
    checkRays(some, first);
    return core.raycastMany(some, filter, slices.end, hits, first).done; // the rest are asked again
  });
  return { ...hits, ms: slices.ms };
}

/** Validates the rays of a block, whose first ray has number `first`. Throws INVALID_ARGUMENT. */
function checkRays(rays: Float32Array, first: number): void {
  for (let i = 0; i < rays.length; i += RAY_NUMBERS) {
    const tMin = rays[i + 3];
    const tMax = rays[i + 7];
    const reach = Math.abs(rays[i + 4]) + Math.abs(rays[i + 5]) + Math.abs(rays[i + 6]);
    const sum = rays[i] + rays[i + 1] + rays[i + 2] + tMin + reach;
    if (!(Number.isFinite(sum) && reach > 0 && 0 <= tMin && tMin <= tMax)) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `ray ${first + i / RAY_NUMBERS} is ${rays.subarray(i, i + RAY_NUMBERS).join(', ')}; expected origin, tMin, direction, tMax: ` +
          'finite, direction not zero, 0 <= tMin <= tMax <= Infinity',
      );
    }
  }
}

/** This many ways are sorted at once, which takes half a millisecond. */
const ORDERED = 1 << 14;

/** Sweeps along many ways, in slices; a single way may take several. */
export async function sweepMany(
  sweeps: CoreSweeps,
  pairs: PairQuestions,
  asked: ManySweeps,
  slices: Slices,
): Promise<Omit<SweepHits, 'frame'>> {
  const count = asked.ways.length / WAY_NUMBERS;
  const hits = noHits(count);
  for (let first = 0; first < count; first += ORDERED) {
    if (slices.isOver) await slices.next();
    const order = orderOfWays(asked.ways, first, Math.min(first + ORDERED, count));
    await sweepInOrder(sweeps, pairs, asked, order, hits, slices);
  }
  return { ...hits, ms: slices.ms };
}

function noHits(count: number): WayHits {
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
  sweeps: CoreSweeps,
  pairs: PairQuestions,
  asked: ManySweeps,
  order: Uint32Array,
  hits: WayHits,
  slices: Slices,
): Promise<void> {
  const { shapes, ways, shapeOf, tolerance, filter } = asked;
  const sweepAlone = async (i: number): Promise<void> => {
    const way = ways.subarray(WAY_NUMBERS * i, WAY_NUMBERS * (i + 1));
    const kept = sweeps.keepWay(shapes[shapeOf?.[i] ?? 0], way, tolerance, filter);
    const note = ([hit]: CoreSweepHit[], ms: number): number => {
      hits.objects[i] = hit?.object ?? NO_OBJECT;
      hits.times[i] = hit?.time ?? Number.POSITIVE_INFINITY;
      hits.triangles[i] = hit?.triangle ?? -1;
      hits.depths[i] = hit?.depth ?? 0;
      hits.points.set(hit?.point ?? [0, 0, 0], 3 * i);
      hits.normals.set(hit?.normal ?? [0, 0, 0], 3 * i);
      return ms;
    };
    const answer = pairs.sweep(NO_CALL, kept, note, Math.max(slices.end - performance.now(), 0));
    if (typeof answer !== 'number') await slices.during(answer);
  };
  for (let first = 0; first < order.length; ) {
    first = await inBlocks(first, order.length, WAYS_AT_ONCE, slices, (start, end) =>
      sweeps.sweepMany(asked, order.subarray(start, end), hits, slices.end),
    );
    if (first < order.length) await sweepAlone(order[first++]);
  }
}

/**
 * Asks for the answers block by block. `ask` returns how many of a block are done when the slice is over: one block may take a
 * thousand times as long as the previous one. Returns where it ended: at the count, or after the first n of a block for which
 * `ask` returned -1 - n.
 */
async function inBlocks(
  from: number,
  count: number,
  atFirst: number,
  slices: Slices,
  ask: (first: number, end: number) => number,
): Promise<number> {
  let atOnce = atFirst;
  for (let first = from; first < count; ) {
    if (slices.isOver) await slices.next();
    const start = performance.now();
    const end = Math.min(first + atOnce, count);
    const done = ask(first, end);
    if (done < 0) return first - 1 - done;
    first += done;
    const ms = performance.now() - start;
    if (ms < LEAST_MS) atOnce *= 2;
    else if (ms > MOST_MS) atOnce = Math.max(1, atOnce >> 1);
  }
  return count;
}
