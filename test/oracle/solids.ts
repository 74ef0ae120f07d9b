import { type Matrix4, Vector3 } from 'three';
import type { Triangles } from './meshes.js';

/** A convex set: all of centre + Σ x_i · columns_i for x in a domain that can be projected on. */
export interface Body {
  center: Vector3;
  columns: Vector3[];
  /** Moves x to the nearest one of the domain. */
  project: (x: number[]) => void;
  /** The largest of Σ x_i · c_i over the domain. */
  reach: (c: number[]) => number;
}

const clamp = (value: number) => Math.min(Math.max(value, -1), 1);
const norm = (x: number[]) => Math.hypot(...x);

/** The images of the cube, the unit ball and a capsule of radius 1 about z; `half` is that of its segment. */
export function cubeBody(matrix: Matrix4): Body {
  return {
    ...framed(matrix),
    project: (x) => {
      for (let i = 0; i < 3; i++) x[i] = clamp(x[i]);
    },
    reach: (c) => c.reduce((sum, value) => sum + Math.abs(value), 0),
  };
}

export function roundBody(matrix: Matrix4, half: number): Body {
  const { center, columns } = framed(matrix);
  return {
    center,
    columns: [...columns, columns[2].clone().multiplyScalar(half)],
    project: (x) => {
      const length = Math.max(Math.hypot(x[0], x[1], x[2]), 1);
      for (let i = 0; i < 3; i++) x[i] /= length;
      x[3] = clamp(x[3]);
    },
    reach: (c) => norm(c.slice(0, 3)) + Math.abs(c[3]),
  };
}

export function triangleBody(a: Vector3, b: Vector3, c: Vector3): Body {
  return {
    center: a,
    columns: [b.clone().sub(a), c.clone().sub(a)],
    project: (x) => {
      // Onto u, v >= 0 and u + v <= 1.
      const excess = Math.max(x[0] + x[1] - 1, 0) / 2;
      if (excess > 0) {
        const u = Math.min(Math.max(x[0] - excess, 0), 1);
        x[0] = u;
        x[1] = 1 - u;
      }
      x[0] = Math.min(Math.max(x[0], 0), 1);
      x[1] = Math.min(Math.max(x[1], 0), 1);
    },
    reach: ([u, v]) => Math.max(0, u, v),
  };
}

export function pointBody(point: Vector3): Body {
  return { center: point, columns: [], project: () => {}, reach: () => 0 };
}

function framed(matrix: Matrix4) {
  return {
    center: new Vector3().setFromMatrixPosition(matrix),
    columns: [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(matrix, i)),
  };
}

/** The parts of a mesh under a matrix. */
export function meshBodies({ positions, indices }: Triangles, matrix: Matrix4): Body[] {
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, t) =>
    triangleBody(corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)),
  );
}

/** How far a body reaches along n, of any length. */
export function support(body: Body, n: Vector3): number {
  return n.dot(body.center) + body.reach(body.columns.map((column) => n.dot(column)));
}

/** Whether they are farther apart than `distance` beyond doubt. */
export function farApart(a: Body, b: Body, distance: number): boolean {
  const reach = ({ columns }: Body) => columns.reduce((sum, column) => sum + column.length(), 0);
  return a.center.distanceTo(b.center) > reach(a) + reach(b) + distance;
}

/** Bounds of the distance of two bodies; negative `least` where they overlap by no more than that. */
export interface Gap {
  least: number;
  most: number;
  /** Unit, from a to b: the direction that proves `least`. */
  normal: Vector3;
}

/**
 * By accelerated projected gradients with restarts (Nesterov 1983; O'Donoghue and Candès 2015). Any two points of the
 * bodies bound the distance from above, and the gap between the two along any direction bounds it from below.
 */
export function gapBetween(a: Body, b: Body, precision: number): Gap {
  const columns = [...a.columns, ...b.columns.map((column) => column.clone().negate())];
  const step = 1 / columns.reduce((sum, column) => sum + column.lengthSq(), 1e-300);
  const offset = a.center.clone().sub(b.center);
  const gap: Gap = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY, normal: new Vector3() };
  let [x, next] = [columns.map(() => 0), columns.map(() => 0)];
  const ahead = x.slice();
  let momentum = 1;
  let last = Number.POSITIVE_INFINITY;
  const [force, between, n] = [new Vector3(), new Vector3(), new Vector3()];
  const way = (out: Vector3, at: number[]) => {
    out.copy(offset);
    for (let i = 0; i < at.length; i++) out.addScaledVector(columns[i], at[i]);
  };
  for (let round = 0; round < 5000; round++) {
    way(force, ahead);
    for (let i = 0; i < columns.length; i++) next[i] = ahead[i] - step * force.dot(columns[i]);
    const [left, right] = [next.slice(0, a.columns.length), next.slice(a.columns.length)];
    a.project(left);
    b.project(right);
    next.splice(0, next.length, ...left, ...right);
    way(between, next);
    const length = between.length();
    gap.most = Math.min(gap.most, length);
    if (length > 0) {
      n.copy(between).divideScalar(-length);
      const least = gapAlong(a, b, n);
      if (least > gap.least) {
        gap.least = least;
        gap.normal.copy(n);
      }
    }
    if (gap.most - gap.least <= precision || gap.most === 0 || gap.most <= precision / 10) break;
    const faster = (1 + Math.sqrt(1 + 4 * momentum ** 2)) / 2;
    const restart = length > last;
    for (let i = 0; i < next.length; i++) {
      ahead[i] = restart ? next[i] : next[i] + ((momentum - 1) / faster) * (next[i] - x[i]);
    }
    momentum = restart ? 1 : faster;
    last = length;
    [x, next] = [next, x];
  }
  return gap;
}

/**
 * The least distance of the parts of two things, or a bound of it from below; negative where they overlap. Whatever is
 * surely farther apart than `doubt` counts as infinitely far, and what surely overlaps by more ends the search.
 */
export function leastGap(a: readonly Body[], b: readonly Body[], doubt: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const p of a) {
    for (const q of b) {
      if (farApart(p, q, doubt)) continue;
      least = Math.min(least, gapBetween(p, q, 1e-7).least);
      if (least < -doubt) return least;
    }
  }
  return least;
}

/** How far b begins behind a along n, times its length. */
function gapAlong(a: Body, b: Body, n: Vector3): number {
  // About the middle of a, for the digits.
  const origin = n.dot(a.center);
  return -(support(b, n.clone().negate()) + origin) - (support(a, n) - origin);
}

/**
 * The largest gap along any direction near this one, for bodies that all but touch, where gradients vanish: over a
 * plane of directions that are not unit the gap is concave, so one search within another finds it.
 */
export function bestGap(a: Body, b: Body, start: Vector3): number {
  const u = new Vector3(...(Math.abs(start.x) < 0.7 ? [1, 0, 0] : [0, 1, 0])).cross(start).normalize();
  const v = new Vector3().crossVectors(start, u);
  return greatest((s) => greatest((t) => gapAlong(a, b, start.clone().addScaledVector(u, s).addScaledVector(v, t))));
}

/** Of a concave function, by golden sections (Kiefer, 1953). */
function greatest(value: (x: number) => number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-0.3, 0.3];
  let [x, y] = [high - ratio * (high - low), low + ratio * (high - low)];
  let [atX, atY] = [value(x), value(y)];
  while (high - low > 1e-9) {
    if (atX > atY) {
      [high, y, atY] = [y, x, atX];
      x = high - ratio * (high - low);
      atX = value(x);
    } else {
      [low, x, atX] = [x, y, atY];
      y = low + ratio * (high - low);
      atY = value(y);
    }
  }
  return Math.max(atX, atY);
}
