// Connectivity of a mesh's triangles by position, without the core: slow and simple.
import type { Triangles } from './meshes.js';

/** A number for each distinct position, by corner. */
export function weldedCorners({ positions, indices }: Triangles): number[] {
  const idByPosition = new Map<string, number>();
  return Array.from(indices, (index) => {
    const key = [0, 1, 2].map((k) => positions[3 * index + k] + 0).join();
    if (!idByPosition.has(key)) idByPosition.set(key, idByPosition.size);
    return idByPosition.get(key)!;
  });
}

/** Number of half-edges from one vertex to another, by `from,to`. */
export function halfEdges(corners: number[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < corners.length; i++) {
    const key = `${corners[i]},${corners[i % 3 === 2 ? i - 2 : i + 1]}`;
    counts.set(key, 1 + (counts.get(key) ?? 0));
  }
  return counts;
}

/** The lowest triangle of each triangle's connected part. */
export function partsOfTriangles(corners: number[]): number[] {
  const count = corners.length / 3;
  const trianglesByVertex = new Map<number, number[]>();
  corners.forEach((vertex, i) => {
    trianglesByVertex.set(vertex, [...(trianglesByVertex.get(vertex) ?? []), Math.floor(i / 3)]);
  });
  const parts = new Array<number>(count).fill(-1);
  for (let first = 0; first < count; first++) {
    const stack = parts[first] < 0 ? [first] : [];
    for (let t = stack.pop(); t !== undefined; t = stack.pop()) {
      if (parts[t] >= 0) continue;
      parts[t] = first;
      for (let k = 0; k < 3; k++) stack.push(...trianglesByVertex.get(corners[3 * t + k])!);
    }
  }
  return parts;
}

/** The maximum distance of a vertex in front of a face, relative to the mesh's size; faces that point inwards are flipped first. */
export function convexityError({ positions, indices }: Triangles): number {
  const positionAt = (i: number) => [positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]];
  const vertices = [...new Set(indices)].map(positionAt);
  const center = [0, 1, 2].map((k) => vertices.reduce((sum, v) => sum + v[k], 0) / vertices.length);
  const size = Math.max(...vertices.map((v) => Math.hypot(v[0] - center[0], v[1] - center[1], v[2] - center[2])));
  let maxHeight = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [positionAt(indices[i]), positionAt(indices[i + 1]), positionAt(indices[i + 2])];
    const e = [0, 1, 2].map((k) => b[k] - a[k]);
    const f = [0, 1, 2].map((k) => c[k] - a[k]);
    let n = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
    const height = (v: number[]) => n[0] * (v[0] - a[0]) + n[1] * (v[1] - a[1]) + n[2] * (v[2] - a[2]);
    const length = Math.hypot(...n) * (height(center) > 0 ? -1 : 1);
    n = n.map((x) => x / length);
    for (const vertex of vertices) maxHeight = Math.max(maxHeight, height(vertex));
  }
  return maxHeight / size;
}
