import { Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** How often a mesh winds around a point: all solid angles, one by one (Van Oosterom and Strackee, 1983). */
export function windingNumber({ positions, indices }: Triangles, point: Vector3): number {
  const [a, b, c, normal] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  let sum = 0;
  for (let i = 0; i < indices.length; i += 3) {
    a.fromArray(positions, 3 * indices[i]).sub(point);
    b.fromArray(positions, 3 * indices[i + 1]).sub(point);
    c.fromArray(positions, 3 * indices[i + 2]).sub(point);
    const [x, y, z] = [a.length(), b.length(), c.length()];
    const below = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
    sum += 2 * Math.atan2(a.dot(normal.crossVectors(b, c)), below);
  }
  return sum / (4 * Math.PI);
}
