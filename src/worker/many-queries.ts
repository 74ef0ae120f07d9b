import { CollisionError } from '../shared/errors.js';
import { NO_OBJECT } from '../shared/ids.js';
import { RAY_NUMBERS, WAY_NUMBERS } from '../shared/layout.js';
import type { Filter } from '../shared/protocol.js';
import type { RayHits, SweepHits } from '../shared/types.js';
import { allocateRayHits, type CoreSweepHit } from './binding/hits.js';
import type { ManySweeps, WayHits } from './binding/many-motions.js';
import type { CoreRays } from './binding/rays.js';
import type { CoreSweeps } from './binding/sweeps.js';
import { orderOfWays } from './motion-order.js';
import type { PairQueries } from './pair-queries.js';
import type { Slices } from './slices.js';

// Rays and ways per block at first, between two readings of the clock. Then the block size is adjusted so that a block takes
// between a quarter of a millisecond and one: a capsule among boxes takes 2 µs, a mesh that turns past another one a thousand
// times as long.
const RAYS_PER_BLOCK = 1024;
const WAYS_PER_BLOCK = 16;
const MIN_BLOCK_MS = 0.25;
const MAX_BLOCK_MS = 1;

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
  const hits = allocateRayHits(count);
  await inBlocks(0, count, RAYS_PER_BLOCK, slices, (first, end) => {
    const block = rays.subarray(RAY_NUMBERS * first, RAY_NUMBERS * end);
    checkRays(block, first);
    return core.raycastMany(block, filter, slices.end, hits, first).done; // the rest are asked again
  });
  return { ...hits, ms: slices.ms };
}

/** Validates the rays of a block, whose first ray has number `first`. Throws INVALID_ARGUMENT. */
function checkRays(rays: Float32Array, first: number): void {
  for (let i = 0; i < rays.length; i += RAY_NUMBERS) {
    const tMin = rays[i + 3];
    const tMax = rays[i + 7];
    const directionSum = Math.abs(rays[i + 4]) + Math.abs(rays[i + 5]) + Math.abs(rays[i + 6]);
    const sum = rays[i] + rays[i + 1] + rays[i + 2] + tMin + directionSum;
    if (!(Number.isFinite(sum) && directionSum > 0 && 0 <= tMin && tMin <= tMax)) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `ray ${first + i / RAY_NUMBERS} is ${rays.subarray(i, i + RAY_NUMBERS).join(', ')}; expected origin, tMin, direction, tMax: ` +
          'finite, direction not zero, 0 <= tMin <= tMax <= Infinity',
      );
    }
  }
}

/** This many ways are sorted at once, which takes half a millisecond. */
const WAYS_PER_SORT = 1 << 14;

/** Sweeps along many ways, in slices; a single way may take several. */
export async function sweepMany(
  sweeps: CoreSweeps,
  pairs: PairQueries,
  request: ManySweeps,
  slices: Slices,
): Promise<Omit<SweepHits, 'frame'>> {
  const count = request.ways.length / WAY_NUMBERS;
  const hits = allocateWayHits(count);
  for (let first = 0; first < count; first += WAYS_PER_SORT) {
    if (slices.isOver) await slices.next();
    const order = orderOfWays(request.ways, first, Math.min(first + WAYS_PER_SORT, count));
    await sweepInOrder(sweeps, pairs, request, order, hits, slices);
  }
  return { ...hits, ms: slices.ms };
}

function allocateWayHits(count: number): WayHits {
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
  pairs: PairQueries,
  request: ManySweeps,
  order: Uint32Array,
  hits: WayHits,
  slices: Slices,
): Promise<void> {
  const { shapes, ways, shapeOf, tolerance, filter } = request;
  const sweepAlone = async (i: number): Promise<void> => {
    const way = ways.subarray(WAY_NUMBERS * i, WAY_NUMBERS * (i + 1));
    const snapshot = sweeps.keepWay(shapes[shapeOf?.[i] ?? 0], way, tolerance, filter);
    const writeHit = ([hit]: CoreSweepHit[], ms: number): number => {
      hits.objects[i] = hit?.object ?? NO_OBJECT;
      hits.times[i] = hit?.time ?? Number.POSITIVE_INFINITY;
      hits.triangles[i] = hit?.triangle ?? -1;
      hits.depths[i] = hit?.depth ?? 0;
      hits.points.set(hit?.point ?? [0, 0, 0], 3 * i);
      hits.normals.set(hit?.normal ?? [0, 0, 0], 3 * i);
      return ms;
    };
    const answer = pairs.sweep(NO_CALL, snapshot, writeHit, Math.max(slices.end - performance.now(), 0));
    if (typeof answer !== 'number') await slices.waitFor(answer);
  };
  for (let first = 0; first < order.length; ) {
    first = await inBlocks(first, order.length, WAYS_PER_BLOCK, slices, (start, end) =>
      sweeps.sweepMany(request, order.subarray(start, end), hits, slices.end),
    );
    if (first < order.length) await sweepAlone(order[first++]);
  }
}

/**
 * Runs block by block. `runBlock` returns how many of a block are done when the slice is over: one block may
 * take a thousand times as long as the previous one. Returns where it ended: at the count, or after the first n of a block
 * for which `runBlock` returned -1 - n.
 */
async function inBlocks(
  from: number,
  count: number,
  initialBlockSize: number,
  slices: Slices,
  runBlock: (first: number, end: number) => number,
): Promise<number> {
  let blockSize = initialBlockSize;
  for (let first = from; first < count; ) {
    if (slices.isOver) await slices.next();
    const start = performance.now();
    const end = Math.min(first + blockSize, count);
    const done = runBlock(first, end);
    if (done < 0) return first - 1 - done;
    first += done;
    const ms = performance.now() - start;
    if (ms < MIN_BLOCK_MS) blockSize *= 2;
    else if (ms > MAX_BLOCK_MS) blockSize = Math.max(1, blockSize >> 1);
  }
  return count;
}
