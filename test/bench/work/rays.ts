import { PerspectiveCamera, Vector3 } from 'three';
import { boundsOf } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

/** Eight numbers per ray: origin, tMin, direction, tMax. From a sphere around the points' box to random points in the box. */
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

/** Eight numbers per ray: one through the centre of each pixel, row by row, of a camera that sees all of the points. */
export function cameraRays(positions: Float32Array, width: number, height: number): Float32Array {
  const box = boundsOf(positions);
  const center = box.getCenter(new Vector3());
  const size = box.getSize(new Vector3()).length();
  const camera = new PerspectiveCamera(40, width / height, 0.01 * size, 10 * size);
  camera.position.set(0.5, 0.3, 0.9).multiplyScalar(size).add(center);
  camera.lookAt(center);
  camera.updateMatrixWorld();
  const rays = new Float32Array(width * height * 8);
  const direction = new Vector3();
  for (let at = 0, pixel = 0; at < rays.length; at += 8, pixel++) {
    const x = (pixel % width) + 0.5;
    const y = Math.floor(pixel / width) + 0.5;
    direction
      .set((2 * x) / width - 1, 1 - (2 * y) / height, 0.5)
      .unproject(camera)
      .sub(camera.position)
      .normalize();
    camera.position.toArray(rays, at);
    direction.toArray(rays, at + 4);
    rays[at + 7] = Infinity;
  }
  return rays;
}

/** A checksum of the first fraction of the distances; Infinity is a miss. */
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
