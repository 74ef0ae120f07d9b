import type { Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** Winding number of a mesh around a point: the sum of all solid angles (Van Oosterom and Strackee, 1983). */
export function windingNumber({ positions, indices }: Triangles, point: Vector3): number {
  const { x: px, y: py, z: pz } = point;
  let sum = 0;
  // Avoids arrays, which took 2.6 times as long.
  for (let i = 0; i < indices.length; i += 3) {
    const a = 3 * indices[i];
    const b = 3 * indices[i + 1];
    const c = 3 * indices[i + 2];
    const ax = positions[a] - px;
    const ay = positions[a + 1] - py;
    const az = positions[a + 2] - pz;
    const bx = positions[b] - px;
    const by = positions[b + 1] - py;
    const bz = positions[b + 2] - pz;
    const cx = positions[c] - px;
    const cy = positions[c + 1] - py;
    const cz = positions[c + 2] - pz;
    const x = Math.sqrt(ax * ax + ay * ay + az * az);
    const y = Math.sqrt(bx * bx + by * by + bz * bz);
    const z = Math.sqrt(cx * cx + cy * cy + cz * cz);
    const volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
    const ab = ax * bx + ay * by + az * bz;
    const bc = bx * cx + by * cy + bz * cz;
    const ca = cx * ax + cy * ay + cz * az;
    sum += 2 * Math.atan2(volume, x * y * z + ab * z + bc * x + ca * y);
  }
  return sum / (4 * Math.PI);
}
