// Tests whether a solid and a triangle are separate, in the space in which the solid is the cube, the unit ball or a capsule of
// radius 1 about z: by separating axes, and by a search along the capsule's segment.
import { type Matrix4, Triangle, Vector3 } from 'three';
import type { Triangles } from './meshes.js';
import { frameOf, type SolidShape } from './shapes.js';

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

export class OracleSolid {
  /** Matrix from its own space to world space, and its inverse. */
  readonly matrix: Matrix4;
  readonly inverse: Matrix4;
  /** Half length of a capsule's segment; null for a box. */
  readonly half: number | null;

  constructor(shape: SolidShape, placement: Matrix4) {
    const { matrix, half } = frameOf(shape);
    this.matrix = placement.clone().multiply(matrix);
    this.inverse = this.matrix.clone().invert();
    this.half = shape.type === 'box' ? null : half;
  }

  /** A mesh's triangles in the solid's space that may be within `margin` of it. */
  triangles({ positions, indices }: Triangles, placement: Matrix4, margin: number): Triangle[] {
    const toSolid = this.inverse.clone().multiply(placement);
    const corners = Array.from({ length: positions.length / 3 }, (_, i) =>
      new Vector3().fromArray(positions, 3 * i).applyMatrix4(toSolid),
    );
    const extent = new Vector3(1, 1, 1 + (this.half ?? 0)).addScalar(margin);
    const nearTriangles: Triangle[] = [];
    for (let i = 0; i < indices.length; i += 3) {
      const [a, b, c] = [corners[indices[i]], corners[indices[i + 1]], corners[indices[i + 2]]];
      const min = a.clone().min(b).min(c);
      const max = a.clone().max(b).max(c);
      if (min.x > extent.x || min.y > extent.y || min.z > extent.z) continue;
      if (max.x < -extent.x || max.y < -extent.y || max.z < -extent.z) continue;
      nearTriangles.push(new Triangle(a, b, c));
    }
    return nearTriangles;
  }

  /** Converts a world direction into the solid's space. */
  way(direction: Vector3): Vector3 {
    const linear = this.inverse.clone().setPosition(0, 0, 0);
    return direction.clone().applyMatrix4(linear);
  }

  /** Distance between the two; negative if they overlap. In units of the solid's space. */
  separation(triangle: Triangle): number {
    return this.half === null ? cubeGap(triangle) : roundGap(triangle, this.half);
  }

  /** Distance of a world point outside the solid, in units of its space. */
  beyond(point: Vector3): number {
    const { x, y, z } = point.clone().applyMatrix4(this.inverse);
    if (this.half === null) return Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) - 1;
    return Math.hypot(x, y, Math.max(Math.abs(z) - this.half, 0)) - 1;
  }
}

export function moveTriangle({ a, b, c }: Triangle, offset: Vector3): Triangle {
  return new Triangle(a.clone().add(offset), b.clone().add(offset), c.clone().add(offset));
}

function cubeGap({ a, b, c }: Triangle): number {
  const edges = [b.clone().sub(a), c.clone().sub(b), a.clone().sub(c)];
  const axes = [...AXES, edges[0].clone().cross(edges[1])];
  for (const edge of edges) for (const axis of AXES) axes.push(edge.clone().cross(axis));
  let gap = Number.NEGATIVE_INFINITY;
  for (const axis of axes) {
    const length = axis.length();
    if (length === 0) continue;
    axis.divideScalar(length);
    const projections = [a.dot(axis), b.dot(axis), c.dot(axis)];
    const extent = Math.abs(axis.x) + Math.abs(axis.y) + Math.abs(axis.z);
    gap = Math.max(gap, Math.min(...projections) - extent, -Math.max(...projections) - extent);
  }
  return gap;
}

function roundGap(triangle: Triangle, half: number): number {
  const [center, target] = [new Vector3(), new Vector3()];
  const distance = (z: number) => triangle.closestPointToPoint(center.set(0, 0, z), target).distanceTo(center);
  // The distance is convex along the segment.
  let [min, max] = [-half, half];
  for (let i = 0; half > 0 && i < 80; i++) {
    const [p, q] = [min + (max - min) / 3, max - (max - min) / 3];
    if (distance(p) < distance(q)) max = q;
    else min = p;
  }
  return Math.min(distance((min + max) / 2), distance(min), distance(max)) - 1;
}
