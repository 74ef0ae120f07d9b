import { type BuildingPart, building } from '../../fixtures/building.js';
import type { Triangles } from '../../oracle/meshes.js';

/**
 * The generated building, in which no parts merely touch; and the same for a native peer: one list of triangles, and 18 numbers
 * per part.
 */
export interface ClashWork {
  parts: BuildingPart[];
  mesh: Triangles;
  /** Per part: a matrix, the first triangle of its mesh, and the number of triangles. */
  items: Float64Array;
}

export function clashWork(count: number): ClashWork {
  const parts = building({ parts: count, joint: 0.01 });
  const firstTriangles = new Map<object, number>();
  const positions: number[] = [];
  const indices: number[] = [];
  const items = new Float64Array(18 * count);
  parts.forEach(({ mesh, matrix }, i) => {
    if (!firstTriangles.has(mesh)) {
      firstTriangles.set(mesh, indices.length / 3);
      const firstVertex = positions.length / 3;
      positions.push(...mesh.positions);
      for (const index of mesh.indices) indices.push(firstVertex + index);
    }
    items.set([...matrix, firstTriangles.get(mesh)!, mesh.indices.length / 3], 18 * i);
  });
  return { parts, mesh: { positions: Float32Array.from(positions), indices: Uint32Array.from(indices) }, items };
}
