import { Matrix4, Vector3 } from 'three';
import { boundsOf } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

/**
 * Random poses, 16 numbers each, column-major: a mesh rotated about the centre of its box, and moved in a random direction by 0.1
 * to 0.9 of the box's diagonal, unless other bounds are given.
 */
export function posesOf(
  random: Random,
  positions: Float32Array,
  count: number,
  minDistance = 0.1,
  maxDistance = 0.9,
): Float64Array {
  const box = boundsOf(positions);
  const center = box.getCenter(new Vector3());
  const diagonal = box.getSize(new Vector3()).length();
  const poses = new Float64Array(16 * count);
  const toOrigin = new Matrix4().makeTranslation(center.clone().negate());
  for (let i = 0; i < count; i++) {
    const position = random
      .direction()
      .multiplyScalar(random.range(minDistance, maxDistance) * diagonal)
      .add(center);
    random
      .placement(position)
      .multiply(toOrigin)
      .toArray(poses, 16 * i);
  }
  return poses;
}

/** The same, moved by 1 to 2 times the diagonal, so that the meshes are disjoint at every rotation. */
export function posesApart(random: Random, positions: Float32Array, count: number): Float64Array {
  return posesOf(random, positions, count, 1, 2);
}

/** A checksum of the number of pairs per pose: their sum, and a sum in which each pose has its own weight. */
export function poseChecksum(counts: Float64Array) {
  return {
    pairs: counts.reduce((sum, count) => sum + count, 0),
    weighted: counts.reduce((sum, count, i) => sum + count * (i + 1), 0),
  };
}

/** Sums up the first fraction `part` of some numbers. */
export function sumOfFirst(numbers: Float64Array, part: number): number {
  return numbers.subarray(0, Math.round(part * numbers.length)).reduce((sum, each) => sum + each, 0);
}
