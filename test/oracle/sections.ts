import { type Matrix4, Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** The segment in which a plane cuts a triangle. */
export interface SectionSegment {
  triangle: number;
  from: Vector3;
  to: Vector3;
}

/**
 * Cuts every triangle of a placed mesh with a plane n · p + d, in float64, if it has vertices on both sides; 0 counts as in
 * front. `tolerance` is the distance of a vertex from the plane within which rounding decides on the side.
 */
export function cutTriangles(
  { positions, indices }: Triangles,
  matrix: Matrix4,
  plane: readonly number[],
  tolerance: number,
): { sure: SectionSegment[]; doubtful: Set<number> } {
  const normal = new Vector3(plane[0], plane[1], plane[2]);
  const sure: SectionSegment[] = [];
  const doubtful = new Set<number>();
  const corner = (i: number) =>
    new Vector3(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]).applyMatrix4(matrix);
  for (let t = 0; t < indices.length / 3; t++) {
    const corners = [0, 1, 2].map((c) => corner(indices[3 * t + c]));
    const values = corners.map((p) => normal.dot(p) + plane[3]);
    if (values.some((value) => Math.abs(value) <= tolerance * normal.length())) {
      doubtful.add(t);
      continue;
    }
    const ends: Vector3[] = [];
    for (let c = 0; c < 3; c++) {
      const [p, q] = [corners[c], corners[(c + 1) % 3]];
      const [s, u] = [values[c], values[(c + 1) % 3]];
      if (s >= 0 !== u >= 0) ends.push(p.clone().lerp(q, s / (s - u)));
    }
    if (ends.length === 2) sure.push({ triangle: t, from: ends[0], to: ends[1] });
  }
  return { sure, doubtful };
}

/** Winding number of a loop around a point, both in two coordinates: by the crossings of a ray to the right. */
export function loopWinding(loop: readonly (readonly [number, number])[], [x, y]: readonly [number, number]): number {
  let turns = 0;
  for (let i = 0; i < loop.length; i++) {
    const [ax, ay] = loop[i];
    const [bx, by] = loop[(i + 1) % loop.length];
    if (ay <= y === by <= y) continue;
    if (ax + ((y - ay) / (by - ay)) * (bx - ax) > x) turns += ay < by ? 1 : -1;
  }
  return turns;
}

type Loop = readonly (readonly [number, number])[];

/** Projects points, xyz each, into 2D coordinates in a plane, relative to one of them. */
export function flatLoop(points: Float64Array, start: number, end: number, normal: Vector3, origin: number): Loop {
  const n = normal.clone().normalize();
  const u = new Vector3(0.3, -0.7, 0.5).cross(n).normalize();
  const v = n.clone().cross(u);
  const first = new Vector3().fromArray(points, 3 * origin);
  return Array.from({ length: end - start }, (_, i) => {
    const p = new Vector3().fromArray(points, 3 * (start + i)).sub(first);
    return [p.dot(u), p.dot(v)] as const;
  });
}

export function loopArea(loop: Loop): number {
  return loop.reduce((sum, [x, y], i) => {
    const [s, t] = loop[(i + 1) % loop.length];
    return sum + (x * t - s * y) / 2;
  }, 0);
}

/** The midpoint of a loop's longest side. */
export function longestSideMidpoint(loop: Loop): readonly [number, number] {
  let [midpoint, maxLength] = [loop[0], -1];
  for (let i = 0; i < loop.length; i++) {
    const [[ax, ay], [bx, by]] = [loop[i], loop[(i + 1) % loop.length]];
    const length = Math.hypot(bx - ax, by - ay);
    if (length <= maxLength) continue;
    maxLength = length;
    midpoint = [(ax + bx) / 2, (ay + by) / 2];
  }
  return midpoint;
}
