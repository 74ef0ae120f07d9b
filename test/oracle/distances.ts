// Distances of triangles in float64, by brute force: all corners against all faces, all edges against all edges.
import { Line3, Triangle, Vector3 } from 'three';
import { type Corners, trianglesMeet } from './exact.js';
import { type Body, gapBetween, sizeOf, support } from './solids.js';

/** The distance of two triangles; 0 if they intersect, tested exactly. */
export function triangleDistance(a: Corners, b: Corners): number {
  if (trianglesMeet(a, b)) return 0;
  let least = Number.POSITIVE_INFINITY;
  const near = new Vector3();
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const face = new Triangle(...other);
    if (face.getArea() === 0) continue;
    for (const corner of one) least = Math.min(least, face.closestPointToPoint(corner, near).distanceTo(corner));
  }
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) least = Math.min(least, segmentDistance(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
  }
  return least;
}

/** By the four ends, and by the closest points of the two lines. */
function segmentDistance(a: Vector3, b: Vector3, c: Vector3, d: Vector3): number {
  const near = new Vector3();
  const toLine = (p: Vector3, from: Vector3, to: Vector3) =>
    new Line3(from, to).closestPointToPoint(p, true, near).distanceTo(p);
  const ends = both(a, b).map((p) => (c.equals(d) ? c.distanceTo(p) : toLine(p, c, d)));
  ends.push(...both(c, d).map((p) => (a.equals(b) ? a.distanceTo(p) : toLine(p, a, b))));
  const e = b.clone().sub(a);
  const f = d.clone().sub(c);
  const w = a.clone().sub(c);
  const across = new Vector3().crossVectors(e, f);
  const square = across.lengthSq();
  if (square > 0) {
    const s = new Vector3().crossVectors(f, w).dot(across) / square;
    const t = new Vector3().crossVectors(e, w).dot(across) / square;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
      ends.push(a.clone().addScaledVector(e, s).distanceTo(c.clone().addScaledVector(f, t)));
    }
  }
  return Math.min(...ends);
}

const both = (a: Vector3, b: Vector3) => [a, b];

/** A part of an object, with its corners if it is a triangle. */
export interface Part {
  body: Body;
  corners?: Corners;
}

/** The minimum distance between the parts of two objects, or `enough` if it is certainly at least that. */
export function leastDistance(a: readonly Part[], b: readonly Part[], enough: number): number {
  let least = Number.POSITIVE_INFINITY;
  const [boundsA, boundsB] = [a, b].map((parts) => parts.map(boundsOf));
  a.forEach((p, i) => {
    b.forEach((q, j) => {
      if (gapOf(boundsA[i], boundsB[j]) >= Math.min(least, enough)) return;
      const found =
        p.corners && q.corners
          ? triangleDistance(p.corners, q.corners)
          : gapBetween(p.body, q.body, Math.max(enough, boundsA[i].size + boundsB[j].size) * 1e-10).most;
      least = Math.min(least, found);
    });
  });
  return least;
}

interface Bounds {
  low: number[];
  high: number[];
  size: number;
}

/** Bounds of a part along each axis, slightly expanded for rounding. */
function boundsOf({ body }: Part): Bounds {
  const size = sizeOf(body);
  const slack = 1e-14 * (size + body.center.length());
  return {
    low: AXES.map((axis) => -support(body, axis.clone().negate()) - slack),
    high: AXES.map((axis) => support(body, axis) + slack),
    size,
  };
}

const AXES = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];

/** A lower bound of the distance between two parts. */
function gapOf(a: Bounds, b: Bounds): number {
  let square = 0;
  for (let k = 0; k < 3; k++) {
    const gap = Math.max(a.low[k] - b.high[k], b.low[k] - a.high[k], 0);
    square += gap * gap;
  }
  return Math.sqrt(square);
}
