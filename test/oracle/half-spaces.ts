import type { Matrix4, Vector3 } from 'three';

/** x · p + y · p + z · p + w: at least 0 inside. Of any length. */
export type HalfSpace = readonly [x: number, y: number, z: number, w: number];

const valueAt = ([x, y, z, w]: HalfSpace, p: Vector3) => x * p.x + y * p.y + z * p.z + w;

/**
 * Whether a triangle has a point in all half-spaces. In its barycentric coordinates these are half-planes: if they have
 * a point in common with it, then also one where two of all the lines cross.
 */
export function triangleIsMet(corners: readonly Vector3[], halfSpaces: readonly HalfSpace[]): boolean {
  const lines = [
    [1, 0, 0],
    [0, 1, 0],
    [-1, -1, 1],
  ];
  let holdsAll = true;
  for (const half of halfSpaces) {
    const [a, b, c] = corners.map((corner) => valueAt(half, corner));
    if (a < 0 && b < 0 && c < 0) return false;
    if (a >= 0 && b >= 0 && c >= 0) continue;
    holdsAll = false;
    const size = Math.max(Math.abs(a), Math.abs(b), Math.abs(c));
    lines.push([(b - a) / size, (c - a) / size, a / size]);
  }
  if (holdsAll) return true;
  for (let i = 0; i < lines.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b, c] = lines[i];
      const [d, e, f] = lines[j];
      const determinant = a * e - b * d;
      if (Math.abs(determinant) < 1e-13) continue;
      const [u, v] = [(b * f - c * e) / determinant, (c * d - a * f) / determinant];
      if (lines.every(([x, y, w], k) => k === i || k === j || x * u + y * v + w >= 0)) return true;
    }
  }
  return false;
}

export function triangleIsIn(corners: readonly Vector3[], halfSpaces: readonly HalfSpace[]): boolean {
  return halfSpaces.every((half) => corners.every((corner) => valueAt(half, corner) >= 0));
}

/** In a solid's own space it is the cube of half size 1, or all that is no farther than 1 from a part of the z axis. */
export type OwnShape = 'cube' | { half: number };

/** The half-spaces in the space that the matrix maps from, with unit normals. */
function pulledBack(halfSpaces: readonly HalfSpace[], matrix: Matrix4): HalfSpace[] {
  const m = matrix.elements;
  return halfSpaces.map(([x, y, z, w]) => {
    const column = (i: number) => x * m[i] + y * m[i + 1] + z * m[i + 2];
    const normal = [column(0), column(4), column(8)];
    const length = Math.hypot(...normal);
    return [normal[0] / length, normal[1] / length, normal[2] / length, (column(12) + w) / length];
  });
}

const reachOf = (shape: OwnShape, [x, y, z]: HalfSpace) =>
  shape === 'cube' ? Math.abs(x) + Math.abs(y) + Math.abs(z) : 1 + shape.half * Math.abs(z);

export function solidIsIn(shape: OwnShape, matrix: Matrix4, halfSpaces: readonly HalfSpace[]): boolean {
  return pulledBack(halfSpaces, matrix).every((half) => half[3] >= reachOf(shape, half));
}

/** Whether a solid has a point in all half-spaces. */
export function solidIsMet(shape: OwnShape, matrix: Matrix4, halfSpaces: readonly HalfSpace[]): boolean {
  const local = pulledBack(halfSpaces, matrix);
  if (local.some((half) => half[3] < -reachOf(shape, half))) return false;
  const crossing = local.filter((half) => half[3] < reachOf(shape, half));
  if (crossing.every((half) => half[3] >= 0)) return true;
  if (shape === 'cube') return isFeasible([...crossing, ...CUBE]);
  const distance = (z: number) => distanceTo(crossing.map(([a, b, c, w]) => [a, b, c, w + c * z]));
  // Convex along the segment: what is left of it halves.
  let [low, high] = [-shape.half, shape.half];
  for (let i = 0; i < 45 && high > low; i++) {
    const [p, q] = [low + (high - low) / 3, high - (high - low) / 3];
    const [atP, atQ] = [distance(p), distance(q)];
    if (atP <= 1 || atQ <= 1) return true;
    if (atP < atQ) high = q;
    else low = p;
  }
  return distance(0.5 * (low + high)) <= 1;
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

/** A bounded set of half-spaces has a point in common if there is one where three planes cross. */
function isFeasible(halfSpaces: readonly HalfSpace[]): boolean {
  for (let i = 0; i < halfSpaces.length; i++) {
    for (let j = 0; j < i; j++) {
      for (let k = 0; k < j; k++) {
        const point = crossingOf([halfSpaces[i], halfSpaces[j], halfSpaces[k]]);
        if (!point) continue;
        if (halfSpaces.every((half, n) => n === i || n === j || n === k || heightOf(half, point) >= 0)) return true;
      }
    }
  }
  return false;
}

/** From the origin to the half-spaces' common part: the nearest point lies on three planes at most. */
function distanceTo(halfSpaces: readonly HalfSpace[]): number {
  if (halfSpaces.every((half) => half[3] >= 0)) return 0;
  let best = Number.POSITIVE_INFINITY;
  const offer = (planes: HalfSpace[]) => {
    const point = crossingOf(planes);
    if (!point) return;
    const distance = Math.hypot(...point);
    if (distance >= best) return;
    if (halfSpaces.every((half) => planes.includes(half) || heightOf(half, point) >= 0)) best = distance;
  };
  halfSpaces.forEach((a, i) => {
    offer([a]);
    halfSpaces.slice(0, i).forEach((b, j) => {
      offer([a, b]);
      for (const c of halfSpaces.slice(0, j)) offer([a, b, c]);
    });
  });
  return best;
}

const heightOf = ([x, y, z, w]: HalfSpace, p: Point) => x * p[0] + y * p[1] + z * p[2] + w;
const dot = (a: HalfSpace, b: HalfSpace) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** The point of one, two or three planes that is nearest to the origin, by their Gram matrix. */
function crossingOf(planes: readonly HalfSpace[]): Point | null {
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
  const sum = (axis: number) => planes.reduce((total, plane, i) => total + weights[i] * plane[axis], 0);
  return [sum(0), sum(1), sum(2)];
}
