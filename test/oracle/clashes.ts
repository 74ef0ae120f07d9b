// Clashes of parts by brute force in float64: all pairs, all triangles.
import { Box3, type Matrix4, Vector3 } from 'three';
import { triangleDistance } from './distances.js';
import { type Corners, trianglesIntersect } from './exact.js';
import type { Triangles } from './meshes.js';
import { ConvexSolid, penetration } from './penetration.js';
import { trianglesUnder } from './triangle-pairs.js';
import { windingNumber } from './winding.js';

/** A closed mesh in its placement. */
export class SolidPart {
  readonly corners: Corners[];
  readonly boxes: Box3[];
  readonly box = new Box3();
  readonly #mesh: Triangles;
  readonly #matrix: Matrix4;
  #solid: ConvexSolid | undefined;

  constructor(mesh: Triangles, matrix: Matrix4) {
    this.#mesh = mesh;
    this.#matrix = matrix;
    this.corners = trianglesUnder(mesh, matrix);
    this.boxes = this.corners.map((corners) => new Box3().setFromPoints([...corners]));
    for (const triangleBox of this.boxes) this.box.union(triangleBox);
  }

  /** The part as a solid, if the mesh is convex. */
  get solid(): ConvexSolid {
    this.#solid ??= new ConvexSolid({ shape: { type: 'mesh', mesh: 0 }, triangles: this.#mesh }, this.#matrix);
    return this.#solid;
  }

  holds(point: Vector3): boolean {
    const localPoint = point.clone().applyMatrix4(this.#matrix.clone().invert());
    return Math.abs(windingNumber(this.#mesh, localPoint)) > 0.5;
  }

  get corner(): Vector3 {
    return this.corners[0][0];
  }
}

/** How far two convex parts must be moved to separate them; at most 0 if they are separate. */
export function convexDepth(a: SolidPart, b: SolidPart): number {
  return penetration(a.solid, b.solid);
}

/** Returns whether any triangles intersect, exactly, or one part contains the other; b is moved by `offset` first. */
export function solidsMeet(a: SolidPart, b: SolidPart, offset = new Vector3()): boolean {
  const movedBox = new Box3();
  for (let j = 0; j < b.corners.length; j++) {
    movedBox.copy(b.boxes[j]).translate(offset);
    if (!movedBox.intersectsBox(a.box)) continue;
    const corners = b.corners[j].map((corner) => corner.clone().add(offset)) as unknown as Corners;
    for (let i = 0; i < a.corners.length; i++) {
      if (a.boxes[i].intersectsBox(movedBox) && trianglesIntersect(a.corners[i], corners)) return true;
    }
  }
  return a.holds(b.corner.clone().add(offset)) || b.holds(a.corner.clone().sub(offset));
}

/** Distance between two parts, or `maxDistance` if it is at least that; 0 if they meet. */
export function solidDistance(a: SolidPart, b: SolidPart, maxDistance: number): number {
  let minDistance = maxDistance;
  for (let i = 0; i < a.corners.length; i++) {
    if (boxGap(a.boxes[i], b.box) >= minDistance) continue;
    for (let j = 0; j < b.corners.length; j++) {
      if (boxGap(a.boxes[i], b.boxes[j]) < minDistance)
        minDistance = Math.min(minDistance, triangleDistance(a.corners[i], b.corners[j]));
    }
  }
  return minDistance > 0 && (a.holds(b.corner) || b.holds(a.corner)) ? 0 : minDistance;
}

export function boxGap(a: Box3, b: Box3): number {
  const axisGap = (axis: 'x' | 'y' | 'z') => Math.max(a.min[axis] - b.max[axis], b.min[axis] - a.max[axis], 0);
  return Math.hypot(axisGap('x'), axisGap('y'), axisGap('z'));
}

/** Returns whether each vertex of one is within the tolerance of a vertex of the other, and both have the same number of them. */
export function isSameGeometry(a: SolidPart, b: SolidPart, tolerance: number): boolean {
  const isNear = (p: SolidPart, q: SolidPart) =>
    p.corners.flat().every((corner) => q.corners.flat().some((other) => other.distanceTo(corner) <= tolerance));
  return a.corners.length === b.corners.length && isNear(a, b) && isNear(b, a);
}
