import { depthInside, separation } from './convex.js';
import type { PlacedShape } from './placed.js';

export interface OraclePair {
  a: number;
  b: number;
  /** See convex.ts; between the closest parts of the two shapes. Zero or less means contact. */
  separation: number;
  /** 0, 1: a inside b, 2: b inside a. */
  contained: 0 | 1 | 2;
  /** How far the inner one would have to move to change `contained`; Infinity if neither can contain the other. */
  containedMargin: number;
}

/** Every pair in contact or closer to it than `tolerance`, by comparing all with all. Sorted by id. */
export function findContacts(items: Iterable<PlacedShape>, tolerance: number): OraclePair[] {
  const sorted = [...items].sort((a, b) => a.id - b.id);
  const boxes = boxesOf(sorted);
  const pairs: OraclePair[] = [];
  for (let i = 0; i < sorted.length; i++) {
    for (let j = i + 1; j < sorted.length; j++) {
      if (!areBoxesNear(boxes, i, boxes, j, 2 * tolerance)) continue;
      const a = sorted[i];
      const b = sorted[j];
      const distance = shapeSeparation(a, b, tolerance);
      if (distance <= tolerance) pairs.push({ a: a.id, b: b.id, separation: distance, ...containment(a, b) });
    }
  }
  return pairs;
}

/** The bounding box of each, six numbers: minimum x, y and z, then maximum. */
function boxesOf(items: readonly PlacedShape[]): Float64Array {
  const boxes = new Float64Array(6 * items.length);
  items.forEach(({ bounds: { aabb } }, i) => {
    aabb.min.toArray(boxes, 6 * i);
    aabb.max.toArray(boxes, 6 * i + 3);
  });
  return boxes;
}

/** Returns whether box `i` of one list and box `j` of another are within this distance in every coordinate. */
function areBoxesNear(boxes: Float64Array, i: number, otherBoxes: Float64Array, j: number, distance: number): boolean {
  for (let axis = 0; axis < 3; axis++) {
    if (boxes[6 * i + axis] - distance > otherBoxes[6 * j + 3 + axis]) return false;
    if (otherBoxes[6 * j + axis] - distance > boxes[6 * i + 3 + axis]) return false;
  }
  return true;
}

/** As in convex.ts, for the two closest or deepest parts: whole boxes, or single triangles. */
function shapeSeparation(a: PlacedShape, b: PlacedShape, tolerance: number): number {
  const partsA = a.partsNear(b.bounds.aabb, tolerance);
  const partsB = b.partsNear(a.bounds.aabb, tolerance);
  const boxesA = a.partBoxes;
  const boxesB = b.partBoxes;
  let minSeparation = Infinity;
  for (const i of partsA) {
    for (const j of partsB) {
      if (!areBoxesNear(boxesA, i, boxesB, j, tolerance)) continue;
      minSeparation = Math.min(minSeparation, separation(a.part(i), b.part(j), tolerance));
      if (minSeparation < -tolerance) return minSeparation; // certain: the exact depth is not needed
    }
  }
  return minSeparation;
}

/** Only a box contains objects: a mesh is a surface. */
function containment(a: PlacedShape, b: PlacedShape): Pick<OraclePair, 'contained' | 'containedMargin'> {
  const aInB = b.shape.mesh ? -Infinity : depthInside(a.vertices, b.bounds);
  const bInA = a.shape.mesh ? -Infinity : depthInside(b.vertices, a.bounds);
  return {
    contained: aInB >= 0 ? 1 : bInA >= 0 ? 2 : 0,
    containedMargin: Math.min(Math.abs(aInB), Math.abs(bInA)),
  };
}
