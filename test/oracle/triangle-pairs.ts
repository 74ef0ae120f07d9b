import { Matrix4, Vector3 } from 'three';
import { type Corners, trianglesIntersect } from './exact.js';
import type { Triangles } from './meshes.js';

/** Every pair of triangles that intersect, a's and b's, sorted: all against all in exact arithmetic. `matrix` places b. */
export function trianglePairs(a: Triangles, b: Triangles, matrix: Matrix4): [number, number][] {
  const pairs: [number, number][] = [];
  const triangles = trianglesUnder(b, matrix).map(withBounds);
  trianglesUnder(a, new Matrix4()).forEach((p, i) => {
    const { low, high } = withBounds(p);
    triangles.forEach((q, j) => {
      if (low.x > q.high.x || low.y > q.high.y || low.z > q.high.z) return;
      if (high.x < q.low.x || high.y < q.low.y || high.z < q.low.z) return;
      if (trianglesIntersect(p, q.corners)) pairs.push([i, j]);
    });
  });
  return pairs;
}

/** The corners of all triangles under a matrix. */
export function trianglesUnder({ positions, indices }: Triangles, matrix: Matrix4): Corners[] {
  const corner = (i: number) => new Vector3().fromArray(positions, indices[i] * 3).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) => [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]);
}

function withBounds(corners: Corners) {
  const low = corners[0].clone();
  const high = corners[0].clone();
  for (const corner of corners) {
    low.min(corner);
    high.max(corner);
  }
  return { corners, low, high };
}
