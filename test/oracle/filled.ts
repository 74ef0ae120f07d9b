import { Box3, type Matrix4, Vector3 } from 'three';
import { type Corners, trianglesIntersect } from './exact.js';
import type { Triangles } from './meshes.js';
import { windingNumber } from './winding.js';

/** A mesh with its connected parts, one by one, under a matrix. */
export interface MeshWithParts {
  whole: Triangles;
  parts: readonly Triangles[];
  matrix: Matrix4;
}

/** Returns whether any pair of triangles intersects, touching included. */
export function surfacesIntersect(a: MeshWithParts, b: MeshWithParts): boolean {
  const [first, second] = [placedTriangles(a), placedTriangles(b)];
  return first.some((p) => second.some((q) => p.box.intersectsBox(q.box) && trianglesIntersect(p.corners, q.corners)));
}

/**
 * Returns how many parts of `inner` are inside `outer`, given that their surfaces do not intersect: by sums of all solid angles.
 */
export function partsInside(inner: MeshWithParts, outer: MeshWithParts): number {
  const innerToOuter = outer.matrix.clone().invert().multiply(inner.matrix);
  return inner.parts.filter(({ positions }) => {
    const step = 3 * Math.ceil(positions.length / 3 / 4);
    const results = new Set<boolean>();
    for (let i = 0; i < positions.length; i += step) {
      const point = new Vector3().fromArray(positions, i).applyMatrix4(innerToOuter);
      results.add(Math.abs(windingNumber(outer.whole, point)) > 0.5);
    }
    if (results.size !== 1) throw new Error('a part is inside and outside, expected surfaces that do not meet');
    return results.has(true);
  }).length;
}

function placedTriangles({ whole: { positions, indices }, matrix }: MeshWithParts): { corners: Corners; box: Box3 }[] {
  const vertexAt = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) => {
    const corners = [vertexAt(3 * t), vertexAt(3 * t + 1), vertexAt(3 * t + 2)] as const;
    return { corners, box: new Box3().setFromPoints([...corners]) };
  });
}
