import { Box3, type Matrix4, Vector3 } from 'three';
import { type Corners, trianglesMeet } from './exact.js';
import type { Triangles } from './meshes.js';
import { windingNumber } from './winding.js';

/** A mesh with its connected parts, one by one, under a matrix. */
export interface Filled {
  whole: Triangles;
  parts: readonly Triangles[];
  matrix: Matrix4;
}

/** Returns whether any pair of triangles intersects, touching included. */
export function surfacesMeet(a: Filled, b: Filled): boolean {
  const [first, second] = [cornersOf(a), cornersOf(b)];
  return first.some((p) => second.some((q) => p.box.intersectsBox(q.box) && trianglesMeet(p.corners, q.corners)));
}

/**
 * Returns how many parts of `inner` are inside `outer`, given that their surfaces do not intersect: by sums of all solid angles.
 */
export function partsInside(inner: Filled, outer: Filled): number {
  const back = outer.matrix.clone().invert().multiply(inner.matrix);
  return inner.parts.filter(({ positions }) => {
    const step = 3 * Math.ceil(positions.length / 3 / 4);
    const answers = new Set<boolean>();
    for (let i = 0; i < positions.length; i += step) {
      const point = new Vector3().fromArray(positions, i).applyMatrix4(back);
      answers.add(Math.abs(windingNumber(outer.whole, point)) > 0.5);
    }
    if (answers.size !== 1) throw new Error('a part is inside and outside, expected surfaces that do not meet');
    return answers.has(true);
  }).length;
}

function cornersOf({ whole: { positions, indices }, matrix }: Filled): { corners: Corners; box: Box3 }[] {
  const at = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) => {
    const corners = [at(3 * t), at(3 * t + 1), at(3 * t + 2)] as const;
    return { corners, box: new Box3().setFromPoints([...corners]) };
  });
}
