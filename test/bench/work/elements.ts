import type { MeshData } from 'collision-worker';
import type { Random } from '../../oracle/random.js';

export type Elements = MeshData & { topology: 'points' | 'lines' };

/** A point scan of a bumpy ball, or as many short lines on it. */
export function bumpyBall(random: Random, topology: Elements['topology'], count: number): Elements {
  const size = topology === 'points' ? 1 : 2;
  const positions = new Float32Array(3 * size * count);
  for (let i = 0; i < count; i++) {
    const point = random.direction();
    const bumps = 0.1 * Math.sin(5 * point.x) * Math.cos(7 * point.y);
    point.multiplyScalar(1 + bumps + random.range(-0.001, 0.001)).toArray(positions, 3 * size * i);
    if (size === 2) point.add(random.point(0.01)).toArray(positions, 6 * i + 3);
  }
  return { topology, positions };
}
