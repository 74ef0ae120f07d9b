import { Quaternion, type Vector3 } from 'three';
import type { Random } from '../../oracle/random.js';
import type { Checksum } from '../harness.js';

/** Capsules on straight ways, turned anyhow. */
export interface Ways {
  radius: number;
  /** Half of the capsule's segment, which is along its y axis. */
  half: number;
  /** As `sweepMany` takes them: 14 numbers each. */
  numbers: Float64Array;
}

/** Ways that begin in a cube about the origin, which is `size` wide, and are between two lengths. */
export function randomWays(
  random: Random,
  count: number,
  {
    center,
    size,
    shortest,
    longest,
    radius,
  }: { center: Vector3; size: Vector3; shortest: number; longest: number; radius: number },
): Ways {
  const numbers = new Float64Array(14 * count);
  const turn = new Quaternion();
  for (let i = 0; i < count; i++) {
    const from = random.point(0.5).multiply(size).add(center);
    const to = random.direction().multiplyScalar(random.logRange(shortest, longest)).add(from);
    turn.copy(random.rotation());
    numbers.set([...from.toArray(), ...turn.toArray(), ...to.toArray(), ...turn.toArray()], 14 * i);
  }
  return { radius, half: radius, numbers };
}

/** How many meet something, and the sum of the times of the first `part`; none is Infinity. */
export function wayChecksum(times: ArrayLike<number>, part = 1): Checksum {
  let hits = 0;
  let sum = 0;
  for (let i = 0; i < Math.floor(times.length * part); i++) {
    if (!(times[i] <= 1)) continue;
    hits++;
    sum += times[i];
  }
  return { hits, times: sum };
}
