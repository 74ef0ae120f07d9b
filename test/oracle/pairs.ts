import { depthInside, isNear, separation } from './convex.js';
import type { Placed } from './placed.js';

export interface OraclePair {
  a: number;
  b: number;
  /** See convex.ts; of the two shapes' nearest parts. Zero or less is contact. */
  separation: number;
  /** 0, 1: a inside b, 2: b inside a. */
  contained: 0 | 1 | 2;
  /** How far the inner one would have to move to change `contained`; Infinity where neither could hold the other. */
  containedMargin: number;
}

/** Every pair that is in contact or nearer than `tolerance` to it, by comparing all with all. Sorted by id. */
export function contacts(items: Iterable<Placed>, tolerance: number): OraclePair[] {
  const sorted = [...items].sort((a, b) => a.id - b.id);
  const pairs: OraclePair[] = [];
  for (let i = 0; i < sorted.length; i++) {
    for (let j = i + 1; j < sorted.length; j++) {
      const [a, b] = [sorted[i], sorted[j]];
      if (!isNear(a.bounds.aabb, b.bounds.aabb, 2 * tolerance)) continue;
      const distance = shapeSeparation(a, b, tolerance);
      if (distance <= tolerance) pairs.push({ a: a.id, b: b.id, separation: distance, ...containment(a, b) });
    }
  }
  return pairs;
}

/** As convex.ts has it, of the two nearest or deepest parts: whole boxes, single triangles. */
function shapeSeparation(a: Placed, b: Placed, tolerance: number): number {
  const partsB = b.partsNear(a.bounds.aabb, tolerance);
  let least = Infinity;
  for (const partA of a.partsNear(b.bounds.aabb, tolerance)) {
    for (const partB of partsB) {
      if (isNear(partA.aabb, partB.aabb, tolerance)) least = Math.min(least, separation(partA, partB, tolerance));
      if (least < -tolerance) return least; // beyond doubt: no need to know how deep
    }
  }
  return least;
}

/** Only a box holds things: a mesh is a surface. */
function containment(a: Placed, b: Placed): Pick<OraclePair, 'contained' | 'containedMargin'> {
  const aInB = b.shape.mesh ? -Infinity : depthInside(a.vertices, b.bounds);
  const bInA = a.shape.mesh ? -Infinity : depthInside(b.vertices, a.bounds);
  return {
    contained: aInB >= 0 ? 1 : bInA >= 0 ? 2 : 0,
    containedMargin: Math.min(Math.abs(aInB), Math.abs(bInA)),
  };
}
