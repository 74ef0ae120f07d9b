import { orient2d, orient3d } from 'robust-predicates';
import type { Vector3 } from 'three';

export type Corners = readonly [Vector3, Vector3, Vector3];

/**
 * Returns whether two triangles with non-zero area have a common point. Exact: it only uses the signs of orientations, in
 * adaptive precision (Shewchuk 1997).
 */
export function trianglesIntersect(a: Corners, b: Corners): boolean {
  return (
    edgesOf(a).some(([p, q]) => segmentIntersectsTriangle(p, q, b)) ||
    edgesOf(b).some(([p, q]) => segmentIntersectsTriangle(p, q, a))
  );
}

function edgesOf([a, b, c]: Corners): [Vector3, Vector3][] {
  return [
    [a, b],
    [b, c],
    [c, a],
  ];
}

function segmentIntersectsTriangle(p: Vector3, q: Vector3, triangle: Corners): boolean {
  const [a, b, c] = triangle;
  const [sideP, sideQ] = [sideOfPlane(a, b, c, p), sideOfPlane(a, b, c, q)];
  if (sideP === 0 && sideQ === 0) return segmentIntersectsInPlane(p, q, triangle);
  if (sideP === sideQ) return false;
  const signs = edgesOf(triangle).map(([from, to]) => sideOfPlane(p, q, from, to));
  return signs.every((sign) => sign >= 0) || signs.every((sign) => sign <= 0);
}

function segmentIntersectsInPlane(p: Vector3, q: Vector3, triangle: Corners): boolean {
  const [a, b, c] = triangle;
  const planes = [
    ['x', 'y'],
    ['y', 'z'],
    ['z', 'x'],
  ] as const;
  const [u, v] = planes.find(([u, v]) => orientation(a, b, c, u, v) !== 0)!;
  const isInside = (point: Vector3) => {
    const signs = edgesOf(triangle).map(([from, to]) => orientation(from, to, point, u, v));
    return signs.every((sign) => sign >= 0) || signs.every((sign) => sign <= 0);
  };
  return isInside(p) || isInside(q) || edgesOf(triangle).some(([from, to]) => segmentsIntersect(p, q, from, to, u, v));
}

function segmentsIntersect(p: Vector3, q: Vector3, r: Vector3, s: Vector3, u: Axis, v: Axis): boolean {
  const [pqr, pqs, rsp, rsq] = [
    orientation(p, q, r, u, v),
    orientation(p, q, s, u, v),
    orientation(r, s, p, u, v),
    orientation(r, s, q, u, v),
  ];
  if (pqr * pqs < 0 && rsp * rsq < 0) return true;
  return (
    (pqr === 0 && isBetween(p, q, r, u, v)) ||
    (pqs === 0 && isBetween(p, q, s, u, v)) ||
    (rsp === 0 && isBetween(r, s, p, u, v)) ||
    (rsq === 0 && isBetween(r, s, q, u, v))
  );
}

/** For a point on the line through p and q. */
function isBetween(p: Vector3, q: Vector3, point: Vector3, u: Axis, v: Axis): boolean {
  return [u, v].every((axis) => (point[axis] - p[axis]) * (point[axis] - q[axis]) <= 0);
}

type Axis = 'x' | 'y' | 'z';

function orientation(a: Vector3, b: Vector3, c: Vector3, u: Axis, v: Axis): number {
  return Math.sign(orient2d(a[u], a[v], b[u], b[v], c[u], c[v]));
}

/** Side of the plane through a, b, c. */
function sideOfPlane(a: Vector3, b: Vector3, c: Vector3, d: Vector3): number {
  return Math.sign(orient3d(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z));
}
