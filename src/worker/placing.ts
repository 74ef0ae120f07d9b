import { CollisionError } from '../shared/errors.js';
import type { Motion } from '../shared/protocol.js';
import type { Placement } from '../shared/types.js';
import type { CoreSweepHit } from './binding/hits.js';
import type { Slices } from './slices.js';

/** A sweep on no way says what overlaps, and how deep. */
export const STILL: Motion = { way: [0, 0, 0], rotation: [0, 0, 0, 1], tolerance: 0 };
/** How often a shape is pushed: in a corner, what one wall pushes it into another one pushes it out of, by less each time. */
const MOST_PUSHES = 64;
/** By how much more than the depth it is pushed: depths of some shapes are float32. */
const BEYOND = 1e-6;
/** The rounding of a place, relative to its coordinates. */
const ROUNDING = 2 ** -50;

/**
 * Pushes a shape out of all that it overlaps, each time out of what it is deepest in by the shortest way, until it is free, in
 * slices: `overlapsAt` tells what it overlaps somewhere. Rejects with INVALID_ARGUMENT where it never is.
 */
export async function place(
  given: ArrayLike<number>,
  slices: Slices,
  overlapsAt: (matrix: number[]) => CoreSweepHit[] | Promise<CoreSweepHit[]>,
): Promise<Omit<Placement, 'frame'>> {
  const start = Array.from(given);
  const matrix = start.slice();
  const left = new Set<number>();
  for (let pushes = 0; ; pushes++) {
    if (slices.isOver) await slices.next();
    const hits = overlapsAt(matrix.slice());
    const overlaps = (Array.isArray(hits) ? hits : await hits).filter(({ depth }) => depth > 0);
    if (overlaps.length === 0) break;
    const { object, normal, depth } = overlaps.reduce((best, each) => (each.depth > best.depth ? each : best));
    if (pushes === MOST_PUSHES) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `place: matrix is still ${depth} deep in object ${object} after ${pushes} pushes, expected a place that the shape ` +
          'can be pushed out of',
      );
    }
    left.add(object);
    const rounding = ROUNDING * Math.max(Math.abs(matrix[12]), Math.abs(matrix[13]), Math.abs(matrix[14]));
    for (let i = 0; i < 3; i++) matrix[12 + i] += normal[i] * (depth * (1 + BEYOND) + rounding);
  }
  const way = [matrix[12] - start[12], matrix[13] - start[13], matrix[14] - start[14]] as const;
  return { matrix, way, objects: Uint32Array.from(left).sort() };
}
