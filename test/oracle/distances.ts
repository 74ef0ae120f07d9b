// Distances of triangles in float64, by brute force: all corners against all faces, all edges against all edges.
import { Line3, Triangle, Vector3 } from 'three';
import { type Corners, trianglesIntersect } from './exact.js';
import { type ConvexSet, gapBetween, sizeOf, support } from './solids.js';

/** The distance of two triangles; 0 if they intersect, tested exactly. */
export function triangleDistance(a: Corners, b: Corners): number {
  if (trianglesIntersect(a, b)) return 0;
  let minDistance = Number.POSITIVE_INFINITY;
  const closest = new Vector3();
  for (const [corners, faceCorners] of [
    [a, b],
    [b, a],
  ] as const) {
    const face = new Triangle(...faceCorners);
    if (face.getArea() === 0) continue;
    for (const corner of corners)
      minDistance = Math.min(minDistance, face.closestPointToPoint(corner, closest).distanceTo(corner));
  }
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++)
      minDistance = Math.min(minDistance, segmentDistance(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
  }
  return minDistance;
}

/** By the four ends, and by the closest points of the two lines. */
function segmentDistance(a: Vector3, b: Vector3, c: Vector3, d: Vector3): number {
  const closest = new Vector3();
  const distanceToLine = (p: Vector3, from: Vector3, to: Vector3) =>
    new Line3(from, to).closestPointToPoint(p, true, closest).distanceTo(p);
  const distances = pairOf(a, b).map((p) => (c.equals(d) ? c.distanceTo(p) : distanceToLine(p, c, d)));
  distances.push(...pairOf(c, d).map((p) => (a.equals(b) ? a.distanceTo(p) : distanceToLine(p, a, b))));
  const e = b.clone().sub(a);
  const f = d.clone().sub(c);
  const w = a.clone().sub(c);
  const normal = new Vector3().crossVectors(e, f);
  const lengthSquared = normal.lengthSq();
  if (lengthSquared > 0) {
    const s = new Vector3().crossVectors(f, w).dot(normal) / lengthSquared;
    const t = new Vector3().crossVectors(e, w).dot(normal) / lengthSquared;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
      distances.push(a.clone().addScaledVector(e, s).distanceTo(c.clone().addScaledVector(f, t)));
    }
  }
  return Math.min(...distances);
}

const pairOf = (a: Vector3, b: Vector3) => [a, b];

/** A part of an object, with its corners if it is a triangle. */
export interface Part {
  body: ConvexSet;
  corners?: Corners;
}

/** The minimum distance between the parts of two objects, or `maxDistance` if it is certainly at least that. */
export function minimumDistance(a: readonly Part[], b: readonly Part[], maxDistance: number): number {
  let minDistance = Number.POSITIVE_INFINITY;
  const [boundsA, boundsB] = [a, b].map((parts) => parts.map(boundsOf));
  a.forEach((p, i) => {
    b.forEach((q, j) => {
      if (boundsGap(boundsA[i], boundsB[j]) >= Math.min(minDistance, maxDistance)) return;
      const distance =
        p.corners && q.corners
          ? triangleDistance(p.corners, q.corners)
          : gapBetween(p.body, q.body, Math.max(maxDistance, boundsA[i].size + boundsB[j].size) * 1e-10).most;
      minDistance = Math.min(minDistance, distance);
    });
  });
  return minDistance;
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
function boundsGap(a: Bounds, b: Bounds): number {
  let distanceSquared = 0;
  for (let k = 0; k < 3; k++) {
    const gap = Math.max(a.low[k] - b.high[k], b.low[k] - a.high[k], 0);
    distanceSquared += gap * gap;
  }
  return Math.sqrt(distanceSquared);
}
