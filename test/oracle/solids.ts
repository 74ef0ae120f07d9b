import { type Matrix4, Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** A convex set: all points centre + Σ x_i · columns_i for x in a domain that can be projected onto. */
export interface ConvexSet {
  center: Vector3;
  columns: Vector3[];
  /** Moves the x that begin at an index to the nearest point of the domain. */
  project: (x: number[], at: number) => void;
  /** Extent of the set from its centre along n, times the length of n. */
  reach: (n: Vector3) => number;
}

const clamp = (value: number) => Math.min(Math.max(value, -1), 1);
const norm = (x: number, y: number, z: number) => Math.sqrt(x * x + y * y + z * z);

/** Images of the cube, the unit ball and a capsule of radius 1 about z; `half` is half the length of its segment. */
export function cubeBody(matrix: Matrix4): ConvexSet {
  const { center, columns } = frameOf(matrix);
  const [u, v, w] = columns;
  return {
    center,
    columns,
    project: (x, at) => {
      for (let i = at; i < at + 3; i++) x[i] = clamp(x[i]);
    },
    reach: (n) => Math.abs(n.dot(u)) + Math.abs(n.dot(v)) + Math.abs(n.dot(w)),
  };
}

export function roundBody(matrix: Matrix4, half: number): ConvexSet {
  const { center, columns } = frameOf(matrix);
  const [u, v, w] = columns;
  const axis = w.clone().multiplyScalar(half);
  return {
    center,
    columns: [...columns, axis],
    project: (x, at) => {
      const length = Math.max(norm(x[at], x[at + 1], x[at + 2]), 1);
      for (let i = at; i < at + 3; i++) x[i] /= length;
      x[at + 3] = clamp(x[at + 3]);
    },
    reach: (n) => norm(n.dot(u), n.dot(v), n.dot(w)) + Math.abs(n.dot(axis)),
  };
}

export function triangleBody(a: Vector3, b: Vector3, c: Vector3): ConvexSet {
  const u = b.clone().sub(a);
  const v = c.clone().sub(a);
  return {
    center: a,
    columns: [u, v],
    project: (x, at) => {
      // Projects onto x0, x1 >= 0 and x0 + x1 <= 1.
      const excess = Math.max(x[at] + x[at + 1] - 1, 0) / 2;
      if (excess > 0) {
        x[at] = Math.min(Math.max(x[at] - excess, 0), 1);
        x[at + 1] = 1 - x[at];
      }
      x[at] = Math.min(Math.max(x[at], 0), 1);
      x[at + 1] = Math.min(Math.max(x[at + 1], 0), 1);
    },
    reach: (n) => Math.max(0, n.dot(u), n.dot(v)),
  };
}

export function pointBody(point: Vector3): ConvexSet {
  return { center: point, columns: [], project: () => {}, reach: () => 0 };
}

function frameOf(matrix: Matrix4) {
  return {
    center: new Vector3().setFromMatrixPosition(matrix),
    columns: [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(matrix, i)),
  };
}

/** The parts of a mesh under a matrix. */
export function meshBodies({ positions, indices }: Triangles, matrix: Matrix4): ConvexSet[] {
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) =>
    triangleBody(corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)),
  );
}

/** Support function of a body along n, of any length. */
export function support(body: ConvexSet, n: Vector3): number {
  return n.dot(body.center) + body.reach(n);
}

/** Returns whether they are certainly farther apart than `distance`. */
export function areFarApart(a: ConvexSet, b: ConvexSet, distance: number): boolean {
  return a.center.distanceTo(b.center) > sizeOf(a) + sizeOf(b) + distance;
}

/** An upper bound of the distance of a body's points from its centre. */
export function sizeOf({ columns }: ConvexSet): number {
  let sum = 0;
  for (const column of columns) sum += column.length();
  return sum;
}

/** Bounds of the distance of two bodies; negative `least` if they overlap by at most that. */
export interface Gap {
  least: number;
  most: number;
  /** Unit vector from a to b: the direction that proves `least`. */
  normal: Vector3;
}

/**
 * Accelerated projected gradients with restarts (Nesterov 1983; O'Donoghue and Candès 2015). Any two points of the bodies bound
 * the distance from above, and the gap between the bodies along any direction bounds it from below.
 */
export function gapBetween(a: ConvexSet, b: ConvexSet, precision: number): Gap {
  const columns = [...a.columns, ...b.columns.map((column) => column.clone().negate())];
  const step = 1 / columns.reduce((sum, column) => sum + column.lengthSq(), 1e-300);
  const offset = a.center.clone().sub(b.center);
  const gap: Gap = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY, normal: new Vector3() };
  let [x, next] = [columns.map(() => 0), columns.map(() => 0)];
  const extrapolated = x.slice();
  let momentum = 1;
  let previousLength = Number.POSITIVE_INFINITY;
  const [gradient, difference, n] = [new Vector3(), new Vector3(), new Vector3()];
  const differenceAt = (out: Vector3, coefficients: number[]) => {
    let { x, y, z } = offset;
    for (let i = 0; i < coefficients.length; i++) {
      x += columns[i].x * coefficients[i];
      y += columns[i].y * coefficients[i];
      z += columns[i].z * coefficients[i];
    }
    out.set(x, y, z);
  };
  for (let round = 0; round < 5000; round++) {
    differenceAt(gradient, extrapolated);
    for (let i = 0; i < columns.length; i++) next[i] = extrapolated[i] - step * gradient.dot(columns[i]);
    a.project(next, 0);
    b.project(next, a.columns.length);
    differenceAt(difference, next);
    const length = difference.length();
    gap.most = Math.min(gap.most, length);
    if (length > 0) {
      n.copy(difference).divideScalar(-length);
      const least = gapAlong(a, b, n);
      if (least > gap.least) {
        gap.least = least;
        gap.normal.copy(n);
      }
    }
    if (gap.most - gap.least <= precision || gap.most === 0 || gap.most <= precision / 10) break;
    const nextMomentum = (1 + Math.sqrt(1 + 4 * momentum ** 2)) / 2;
    const isRestart = length > previousLength;
    for (let i = 0; i < next.length; i++) {
      extrapolated[i] = isRestart ? next[i] : next[i] + ((momentum - 1) / nextMomentum) * (next[i] - x[i]);
    }
    momentum = isRestart ? 1 : nextMomentum;
    previousLength = length;
    [x, next] = [next, x];
  }
  return gap;
}

/**
 * The minimum distance between the parts of two objects, or a lower bound of it; negative if they overlap. Parts that are
 * certainly farther apart than `tolerance` count as infinitely far, and an overlap that is certainly deeper ends the search.
 */
export function minimumGap(a: readonly ConvexSet[], b: readonly ConvexSet[], tolerance: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const p of a) {
    for (const q of b) {
      if (areFarApart(p, q, tolerance)) continue;
      least = Math.min(least, gapBetween(p, q, 1e-7).least);
      if (least < -tolerance) return least;
    }
  }
  return least;
}

/** Gap between a and b along n, times the length of n. */
function gapAlong(a: ConvexSet, b: ConvexSet, n: Vector3): number {
  // Relative to the centre of a, for precision.
  const origin = n.dot(a.center);
  return -(support(b, n.clone().negate()) + origin) - (support(a, n) - origin);
}

/**
 * The largest gap along any direction near this one, for bodies that almost touch, where gradients vanish: over a plane of
 * non-unit directions the gap is concave, so nested searches find it.
 */
export function largestGap(a: ConvexSet, b: ConvexSet, start: Vector3): number {
  const u = new Vector3(...(Math.abs(start.x) < 0.7 ? [1, 0, 0] : [0, 1, 0])).cross(start).normalize();
  const v = new Vector3().crossVectors(start, u);
  return findMaximum((s) =>
    findMaximum((t) => gapAlong(a, b, start.clone().addScaledVector(u, s).addScaledVector(v, t))),
  );
}

/** Maximum of a concave function, by golden section search (Kiefer, 1953). */
function findMaximum(value: (x: number) => number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [min, max] = [-0.3, 0.3];
  let [x, y] = [max - ratio * (max - min), min + ratio * (max - min)];
  let [valueX, valueY] = [value(x), value(y)];
  while (max - min > 1e-9) {
    if (valueX > valueY) {
      [max, y, valueY] = [y, x, valueX];
      x = max - ratio * (max - min);
      valueX = value(x);
    } else {
      [min, x, valueX] = [x, y, valueY];
      y = min + ratio * (max - min);
      valueY = value(y);
    }
  }
  return Math.max(valueX, valueY);
}
