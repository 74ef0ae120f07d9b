import type { Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** How often a mesh winds around a point: all solid angles, one by one (Van Oosterom and Strackee, 1983). */
export function windingNumber({ positions, indices }: Triangles, point: Vector3): number {
  let sum = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [3 * indices[i], 3 * indices[i + 1], 3 * indices[i + 2]];
    const [ax, ay, az] = [positions[a] - point.x, positions[a + 1] - point.y, positions[a + 2] - point.z];
    const [bx, by, bz] = [positions[b] - point.x, positions[b + 1] - point.y, positions[b + 2] - point.z];
    const [cx, cy, cz] = [positions[c] - point.x, positions[c + 1] - point.y, positions[c + 2] - point.z];
    const x = Math.sqrt(ax * ax + ay * ay + az * az);
    const y = Math.sqrt(bx * bx + by * by + bz * bz);
    const z = Math.sqrt(cx * cx + cy * cy + cz * cz);
    const volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
    const [ab, bc, ca] = [ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az];
    sum += 2 * Math.atan2(volume, x * y * z + ab * z + bc * x + ca * y);
  }
  return sum / (4 * Math.PI);
}
