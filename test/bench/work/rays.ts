import { Vector3 } from 'three';
import { boundsOf } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

/** Eight per ray: origin, tMin, direction, tMax. From a sphere around the box of the points to anywhere in the box. */
export function raysAround(random: Random, positions: Float32Array, count: number): Float32Array {
  const box = boundsOf(positions);
  const center = box.getCenter(new Vector3());
  const radius = box.getSize(new Vector3()).length();
  const rays = new Float32Array(count * 8);
  for (let i = 0; i < count; i++) {
    const origin = random.direction().multiplyScalar(radius).add(center);
    const target = new Vector3(
      random.range(box.min.x, box.max.x),
      random.range(box.min.y, box.max.y),
      random.range(box.min.z, box.max.z),
    );
    origin.toArray(rays, i * 8);
    target
      .sub(origin)
      .normalize()
      .toArray(rays, i * 8 + 4);
    rays[i * 8 + 7] = Infinity;
  }
  return rays;
}

/** Of the first of the distances; Infinity is a miss. */
export function rayChecksum(distances: Float64Array, part: number) {
  const count = Math.round(distances.length * part);
  let hits = 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    if (distances[i] === Infinity) continue;
    hits++;
    sum += distances[i];
  }
  return { hits, distances: sum };
}
