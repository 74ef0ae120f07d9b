import type { Matrix4, Vector3 } from 'three';

/** x · p + y · p + z · p + w: non-negative inside. The normal may have any length. */
export type HalfSpace = readonly [x: number, y: number, z: number, w: number];

const valueAt = ([x, y, z, w]: HalfSpace, p: Vector3) => x * p.x + y * p.y + z * p.z + w;

/**
 * Returns whether a triangle has a point in all half-spaces. In barycentric coordinates these are half-planes: if they have a
 * common point in the triangle, they also have one at an intersection of two of all the lines.
 */
export function triangleIntersects(corners: readonly Vector3[], halfSpaces: readonly HalfSpace[]): boolean {
  const [p, q, r] = corners;
  const lines = [1, 0, 0, 0, 1, 0, -1, -1, 1];
  let isInsideAll = true;
  for (const halfSpace of halfSpaces) {
    const a = valueAt(halfSpace, p);
    const b = valueAt(halfSpace, q);
    const c = valueAt(halfSpace, r);
    if (a < 0 && b < 0 && c < 0) return false;
    if (a >= 0 && b >= 0 && c >= 0) continue;
    isInsideAll = false;
    const size = Math.max(Math.abs(a), Math.abs(b), Math.abs(c));
    lines.push((b - a) / size, (c - a) / size, a / size);
  }
  if (isInsideAll) return true;
  for (let i = 0; i < lines.length; i += 3) {
    for (let j = 0; j < i; j += 3) {
      const a = lines[i];
      const b = lines[i + 1];
      const c = lines[i + 2];
      const d = lines[j];
      const e = lines[j + 1];
      const f = lines[j + 2];
      const determinant = a * e - b * d;
      if (Math.abs(determinant) < 1e-13) continue;
      const u = (b * f - c * e) / determinant;
      const v = (c * d - a * f) / determinant;
      if (isInsideOthers(lines, u, v, i, j)) return true;
    }
  }
  return false;
}

/** Returns whether a point is on the inner side of all lines, three numbers each, except the two that it is on. */
function isInsideOthers(lines: readonly number[], u: number, v: number, i: number, j: number): boolean {
  for (let k = 0; k < lines.length; k += 3) {
    if (k !== i && k !== j && lines[k] * u + lines[k + 1] * v + lines[k + 2] < 0) return false;
  }
  return true;
}

export function triangleIsInside(corners: readonly Vector3[], halfSpaces: readonly HalfSpace[]): boolean {
  return halfSpaces.every((halfSpace) => corners.every((corner) => valueAt(halfSpace, corner) >= 0));
}

/** In its own space, a solid is the cube of half size 1, or all points within distance 1 of a segment of the z axis. */
export type UnitShape = 'cube' | { half: number };

/** Transforms half-spaces into the space that the matrix maps from, with unit normals. */
function toLocal(halfSpaces: readonly HalfSpace[], matrix: Matrix4): HalfSpace[] {
  const m = matrix.elements;
  return halfSpaces.map(([x, y, z, w]) => {
    const column = (i: number) => x * m[i] + y * m[i + 1] + z * m[i + 2];
    const normal = [column(0), column(4), column(8)];
    const length = Math.hypot(...normal);
    return [normal[0] / length, normal[1] / length, normal[2] / length, (column(12) + w) / length];
  });
}

const extentOf = (shape: UnitShape, [x, y, z]: HalfSpace) =>
  shape === 'cube' ? Math.abs(x) + Math.abs(y) + Math.abs(z) : 1 + shape.half * Math.abs(z);

export function solidIsInside(shape: UnitShape, matrix: Matrix4, halfSpaces: readonly HalfSpace[]): boolean {
  return toLocal(halfSpaces, matrix).every((halfSpace) => halfSpace[3] >= extentOf(shape, halfSpace));
}

/** Returns whether a solid has a point in all half-spaces. */
export function solidIntersects(shape: UnitShape, matrix: Matrix4, halfSpaces: readonly HalfSpace[]): boolean {
  const local = toLocal(halfSpaces, matrix);
  if (local.some((halfSpace) => halfSpace[3] < -extentOf(shape, halfSpace))) return false;
  const crossing = local.filter((halfSpace) => halfSpace[3] < extentOf(shape, halfSpace));
  if (crossing.every((halfSpace) => halfSpace[3] >= 0)) return true;
  if (shape === 'cube') return isFeasible([...crossing, ...CUBE]);
  const distance = (z: number) => distanceTo(crossing.map(([a, b, c, w]) => [a, b, c, w + c * z]));
  // Bisection, since the function is convex along the segment.
  let [min, max] = [-shape.half, shape.half];
  for (let i = 0; i < 45 && max > min; i++) {
    const p = min + (max - min) / 3;
    const q = max - (max - min) / 3;
    const distanceP = distance(p);
    const distanceQ = distance(q);
    if (distanceP <= 1 || distanceQ <= 1) return true;
    if (distanceP < distanceQ) max = q;
    else min = p;
  }
  return distance(0.5 * (min + max)) <= 1;
}

const CUBE: HalfSpace[] = [
  [1, 0, 0, 1],
  [-1, 0, 0, 1],
  [0, 1, 0, 1],
  [0, -1, 0, 1],
  [0, 0, 1, 1],
  [0, 0, -1, 1],
];

type Point = [number, number, number];

/** If a bounded set of half-spaces has a common point, it has one at an intersection of three planes. */
function isFeasible(halfSpaces: readonly HalfSpace[]): boolean {
  for (let i = 0; i < halfSpaces.length; i++) {
    for (let j = 0; j < i; j++) {
      for (let k = 0; k < j; k++) {
        const planes = [halfSpaces[i], halfSpaces[j], halfSpaces[k]];
        const point = intersectPlanes(planes[0], planes[1], planes[2]);
        if (point && isInOthers(point, halfSpaces, planes)) return true;
      }
    }
  }
  return false;
}

/** Distance from the origin to the intersection of the half-spaces: the closest point is on at most three planes. */
function distanceTo(halfSpaces: readonly HalfSpace[]): number {
  if (halfSpaces.every((halfSpace) => halfSpace[3] >= 0)) return 0;
  let minDistance = Number.POSITIVE_INFINITY;
  const tryPlanes = (planes: HalfSpace[]) => {
    const [a, b, c] = planes;
    const point = planes.length === 3 ? intersectPlanes(a, b, c) : closestPointOf(planes);
    if (!point) return;
    const distance = Math.sqrt(point[0] ** 2 + point[1] ** 2 + point[2] ** 2);
    if (distance < minDistance && isInOthers(point, halfSpaces, planes)) minDistance = distance;
  };
  halfSpaces.forEach((a, i) => {
    tryPlanes([a]);
    halfSpaces.slice(0, i).forEach((b, j) => {
      tryPlanes([a, b]);
      for (const c of halfSpaces.slice(0, j)) tryPlanes([a, b, c]);
    });
  });
  return minDistance;
}

const heightAt = ([x, y, z, w]: HalfSpace, p: Point) => x * p[0] + y * p[1] + z * p[2] + w;
const dot = (a: HalfSpace, b: HalfSpace) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

function isInOthers(point: Point, halfSpaces: readonly HalfSpace[], planes: readonly HalfSpace[]): boolean {
  for (const halfSpace of halfSpaces) if (heightAt(halfSpace, point) < 0 && !planes.includes(halfSpace)) return false;
  return true;
}

/** The intersection of three planes with unit normals, by Cramer's rule; null if their normals are nearly coplanar. */
function intersectPlanes(a: HalfSpace, b: HalfSpace, c: HalfSpace): Point | null {
  // Cross products of b and c, c and a, a and b.
  const bcX = b[1] * c[2] - b[2] * c[1];
  const bcY = b[2] * c[0] - b[0] * c[2];
  const bcZ = b[0] * c[1] - b[1] * c[0];
  const caX = c[1] * a[2] - c[2] * a[1];
  const caY = c[2] * a[0] - c[0] * a[2];
  const caZ = c[0] * a[1] - c[1] * a[0];
  const abX = a[1] * b[2] - a[2] * b[1];
  const abY = a[2] * b[0] - a[0] * b[2];
  const abZ = a[0] * b[1] - a[1] * b[0];
  const determinant = a[0] * bcX + a[1] * bcY + a[2] * bcZ;
  const crossLengthSquared = abX * abX + abY * abY + abZ * abZ;
  if (crossLengthSquared < 1e-12 || determinant * determinant < 1e-12 * crossLengthSquared) return null;
  return [
    -(a[3] * bcX + b[3] * caX + c[3] * abX) / determinant,
    -(a[3] * bcY + b[3] * caY + c[3] * abY) / determinant,
    -(a[3] * bcZ + b[3] * caZ + c[3] * abZ) / determinant,
  ];
}

/** The point of one or two planes that is closest to the origin, by their Gram matrix. */
function closestPointOf(planes: readonly HalfSpace[]): Point | null {
  const rows = planes.map((a) => [...planes.map((b) => dot(a, b)), -a[3]]);
  const n = planes.length;
  for (let i = 0; i < n; i++) {
    const pivot = rows.slice(i).reduce((best, row) => (Math.abs(row[i]) > Math.abs(best[i]) ? row : best));
    if (Math.abs(pivot[i]) < 1e-12) return null;
    rows[rows.indexOf(pivot)] = rows[i];
    rows[i] = pivot;
    for (let r = 0; r < n; r++) {
      if (r === i) continue;
      const factor = rows[r][i] / pivot[i];
      for (let c = i; c <= n; c++) rows[r][c] -= factor * pivot[c];
    }
  }
  const weights = rows.map((row, i) => row[n] / row[i]);
  const coordinate = (axis: number) => planes.reduce((total, plane, i) => total + weights[i] * plane[axis], 0);
  return [coordinate(0), coordinate(1), coordinate(2)];
}
