import { orient2d, orient3d } from 'robust-predicates';
import type { Vector3 } from 'three';

export type Corners = readonly [Vector3, Vector3, Vector3];

/**
 * Returns whether two triangles with non-zero area have a common point. Exact: it only uses the signs of orientations, in
 * adaptive precision (Shewchuk 1997).
 */
export function trianglesMeet(a: Corners, b: Corners): boolean {
  return sides(a).some(([p, q]) => segmentMeets(p, q, b)) || sides(b).some(([p, q]) => segmentMeets(p, q, a));
}

function sides([a, b, c]: Corners): [Vector3, Vector3][] {
  return [
    [a, b],
    [b, c],
    [c, a],
  ];
}

function segmentMeets(p: Vector3, q: Vector3, triangle: Corners): boolean {
  const [a, b, c] = triangle;
  const [sideP, sideQ] = [side(a, b, c, p), side(a, b, c, q)];
  if (sideP === 0 && sideQ === 0) return segmentMeetsInPlane(p, q, triangle);
  if (sideP === sideQ) return false;
  const around = sides(triangle).map(([from, to]) => side(p, q, from, to));
  return around.every((sign) => sign >= 0) || around.every((sign) => sign <= 0);
}

function segmentMeetsInPlane(p: Vector3, q: Vector3, triangle: Corners): boolean {
  const [a, b, c] = triangle;
  const planes = [
    ['x', 'y'],
    ['y', 'z'],
    ['z', 'x'],
  ] as const;
  const [u, v] = planes.find(([u, v]) => turn(a, b, c, u, v) !== 0)!;
  const isInside = (point: Vector3) => {
    const turns = sides(triangle).map(([from, to]) => turn(from, to, point, u, v));
    return turns.every((sign) => sign >= 0) || turns.every((sign) => sign <= 0);
  };
  return isInside(p) || isInside(q) || sides(triangle).some(([from, to]) => segmentsMeet(p, q, from, to, u, v));
}

function segmentsMeet(p: Vector3, q: Vector3, r: Vector3, s: Vector3, u: Axis, v: Axis): boolean {
  const [pqr, pqs, rsp, rsq] = [turn(p, q, r, u, v), turn(p, q, s, u, v), turn(r, s, p, u, v), turn(r, s, q, u, v)];
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

function turn(a: Vector3, b: Vector3, c: Vector3, u: Axis, v: Axis): number {
  return Math.sign(orient2d(a[u], a[v], b[u], b[v], c[u], c[v]));
}

/** Side of the plane through a, b, c. */
function side(a: Vector3, b: Vector3, c: Vector3, d: Vector3): number {
  return Math.sign(orient3d(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z));
}
