import { Vector3 } from 'three';
import type { Corners } from './exact.js';

/** A point in integer coordinates of a common unit. */
type Point = readonly [bigint, bigint, bigint];

/** A part of an edge: its start and end parameter, as numerator and positive denominator. */
interface Span {
  low: [bigint, bigint];
  high: [bigint, bigint];
}

/**
 * The two farthest points of the intersection of two triangles, both the same if they only touch, or null if they are disjoint.
 * Computed in rational arithmetic: exact on the float64 coordinates except for the result's own rounding.
 */
export function cutOf(p: Corners, q: Corners): [Vector3, Vector3] | null {
  const numbers = [...p, ...q].flatMap((corner) => corner.toArray());
  const bits = Math.max(...numbers.map(fractionBits));
  const whole = (corner: Vector3) => corner.toArray().map((of) => wholeNumber(of, bits)) as unknown as Point;
  const first = p.map(whole);
  const second = q.map(whole);
  const shared = [...edgesIn(first, second, bits), ...edgesIn(second, first, bits)];
  if (shared.length === 0) return null;
  let farthest: [Vector3, Vector3] = [shared[0], shared[0]];
  for (const from of shared) {
    for (const to of shared) {
      if (from.distanceToSquared(to) > farthest[0].distanceToSquared(farthest[1])) farthest = [from, to];
    }
  }
  return farthest;
}

/** The endpoints of the parts of a triangle's edges that are inside the other triangle. */
function edgesIn(triangle: Point[], other: Point[], bits: number): Vector3[] {
  return [0, 1, 2].flatMap((i) => {
    const u = triangle[i];
    const v = triangle[(i + 1) % 3];
    const span = spanIn(u, v, other);
    return span ? [span.low, span.high].map((at) => pointAt(u, v, at, bits)) : [];
  });
}

function spanIn(u: Point, v: Point, [a, b, c]: Point[]): Span | null {
  const normal = cross(minus(b, a), minus(c, a));
  // These must be non-negative: on the plane from both sides, and on the inner side of each edge.
  const limits = [normal, normal.map((of) => -of) as unknown as Point].map((n) => [n, a] as const);
  const inward = [
    [a, b],
    [b, c],
    [c, a],
  ].map(([r, s]) => [cross(normal, minus(s, r)), r] as const);
  const span: Span = { low: [0n, 1n], high: [1n, 1n] };
  for (const [n, place] of [...limits, ...inward]) {
    const atU = dot(n, minus(u, place));
    const atV = dot(n, minus(v, place));
    if (atU < 0n && atV < 0n) return null;
    if (atU < 0n && isLess(span.low, [-atU, atV - atU])) span.low = [-atU, atV - atU];
    if (atV < 0n && isLess([atU, atU - atV], span.high)) span.high = [atU, atU - atV];
  }
  return isLess(span.high, span.low) ? null : span;
}

function isLess([a, b]: readonly [bigint, bigint], [c, d]: readonly [bigint, bigint]): boolean {
  return a * d < c * b;
}

function pointAt(u: Point, v: Point, [part, whole]: readonly [bigint, bigint], bits: number): Vector3 {
  const [x, y, z] = [0, 1, 2].map((axis) => {
    const exact = u[axis] * whole + (v[axis] - u[axis]) * part;
    return Number((exact << 64n) / whole) / 2 ** (64 + bits);
  });
  return new Vector3(x, y, z);
}

function minus(a: Point, b: Point): Point {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function cross(a: Point, b: Point): Point {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function dot(a: Point, b: Point): bigint {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Number of fractional binary digits of a number. */
function fractionBits(value: number): number {
  let bits = 0;
  while (!Number.isInteger(value)) {
    value *= 2;
    bits++;
  }
  return bits;
}

function wholeNumber(value: number, bits: number): bigint {
  return BigInt(value * 2 ** bits);
}
