import { CollisionError } from '../shared/errors.js';
import type { Motion } from '../shared/protocol.js';
import type { Placement } from '../shared/types.js';
import type { CoreSweepHit } from './binding/hits.js';
import type { Slices } from './slices.js';

/** A sweep without a motion reports the overlaps and their depths. */
export const NO_MOTION: Motion = { way: [0, 0, 0], rotation: [0, 0, 0, 1], tolerance: 0 };
/** Number of pushes at most. In a corner, one wall pushes a shape into another, which pushes it back, by less each time. */
const MAX_PUSHES = 64;
/** Relative excess of a push over the depth, since the depths of some shapes are float32. */
const PUSH_EXCESS = 1e-6;
/** Rounding error of a position, relative to its coordinates. */
const ROUNDING = 2 ** -50;

/**
 * Pushes a shape out of everything that it overlaps, in slices: each time out of the object in which it is deepest, along the
 * shortest way, until it is free. `overlapsAt` returns what the shape overlaps at a pose. Rejects with INVALID_ARGUMENT if it
 * never gets free.
 */
export async function place(
  initialMatrix: ArrayLike<number>,
  slices: Slices,
  overlapsAt: (matrix: number[]) => CoreSweepHit[] | Promise<CoreSweepHit[]>,
): Promise<Omit<Placement, 'frame'>> {
  const start = Array.from(initialMatrix);
  const matrix = start.slice();
  const overlappedObjects = new Set<number>();
  for (let pushes = 0; ; pushes++) {
    if (slices.isOver) await slices.next();
    const hits = overlapsAt(matrix.slice());
    const overlaps = (Array.isArray(hits) ? hits : await hits).filter(({ depth }) => depth > 0);
    if (overlaps.length === 0) break;
    const { object, normal, depth } = overlaps.reduce((best, each) => (each.depth > best.depth ? each : best));
    if (pushes === MAX_PUSHES) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `place: matrix is still ${depth} deep in object ${object} after ${pushes} pushes, expected a place that the shape ` +
          'can be pushed out of',
      );
    }
    overlappedObjects.add(object);
    const rounding = ROUNDING * Math.max(Math.abs(matrix[12]), Math.abs(matrix[13]), Math.abs(matrix[14]));
    for (let i = 0; i < 3; i++) matrix[12 + i] += normal[i] * (depth * (1 + PUSH_EXCESS) + rounding);
  }
  const way = [matrix[12] - start[12], matrix[13] - start[13], matrix[14] - start[14]] as const;
  return { matrix, way, objects: Uint32Array.from(overlappedObjects).sort() };
}
