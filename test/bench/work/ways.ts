import { Quaternion, type Vector3 } from 'three';
import type { Random } from '../../oracle/random.js';
import type { Checksum } from '../harness.js';

/** Randomly rotated capsules on straight paths. */
export interface Sweeps {
  radius: number;
  /** Half the length of the capsule's segment, which is along its y axis. */
  half: number;
  /** In the layout of `sweepMany`: 14 numbers each. */
  numbers: Float64Array;
}

/** Paths that start in a cube of side `size` about the origin, with lengths between two bounds. */
export function randomSweeps(
  random: Random,
  count: number,
  {
    center,
    size,
    shortest,
    longest,
    radius,
  }: { center: Vector3; size: Vector3; shortest: number; longest: number; radius: number },
): Sweeps {
  const numbers = new Float64Array(14 * count);
  const rotation = new Quaternion();
  for (let i = 0; i < count; i++) {
    const start = random.point(0.5).multiply(size).add(center);
    const end = random.direction().multiplyScalar(random.logRange(shortest, longest)).add(start);
    rotation.copy(random.rotation());
    numbers.set([...start.toArray(), ...rotation.toArray(), ...end.toArray(), ...rotation.toArray()], 14 * i);
  }
  return { radius, half: radius, numbers };
}

/** The number of paths that hit, and the sum of the times of the first fraction `part`; Infinity is a miss. */
export function sweepChecksum(times: ArrayLike<number>, part = 1): Checksum {
  let hits = 0;
  let sum = 0;
  for (let i = 0; i < Math.floor(times.length * part); i++) {
    if (!(times[i] <= 1)) continue;
    hits++;
    sum += times[i];
  }
  return { hits, times: sum };
}
