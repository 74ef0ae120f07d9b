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
export function intersectionSegment(p: Corners, q: Corners): [Vector3, Vector3] | null {
  const numbers = [...p, ...q].flatMap((corner) => corner.toArray());
  const bits = Math.max(...numbers.map(fractionBits));
  const integerPoint = (corner: Vector3) =>
    corner.toArray().map((component) => toInteger(component, bits)) as unknown as Point;
  const pointsP = p.map(integerPoint);
  const pointsQ = q.map(integerPoint);
  const endpoints = [...edgeEndsInside(pointsP, pointsQ, bits), ...edgeEndsInside(pointsQ, pointsP, bits)];
  if (endpoints.length === 0) return null;
  let farthest: [Vector3, Vector3] = [endpoints[0], endpoints[0]];
  for (const from of endpoints) {
    for (const to of endpoints) {
      if (from.distanceToSquared(to) > farthest[0].distanceToSquared(farthest[1])) farthest = [from, to];
    }
  }
  return farthest;
}

/** The endpoints of the parts of a triangle's edges that are inside the other triangle. */
function edgeEndsInside(triangle: Point[], other: Point[], bits: number): Vector3[] {
  return [0, 1, 2].flatMap((i) => {
    const u = triangle[i];
    const v = triangle[(i + 1) % 3];
    const span = edgeSpanInside(u, v, other);
    return span ? [span.low, span.high].map((parameter) => pointAt(u, v, parameter, bits)) : [];
  });
}

function edgeSpanInside(u: Point, v: Point, [a, b, c]: Point[]): Span | null {
  const normal = cross(minus(b, a), minus(c, a));
  // These must be non-negative: on the plane from both sides, and on the inner side of each edge.
  const planeSides = [normal, normal.map((component) => -component) as unknown as Point].map((n) => [n, a] as const);
  const edgeNormals = [
    [a, b],
    [b, c],
    [c, a],
  ].map(([r, s]) => [cross(normal, minus(s, r)), r] as const);
  const span: Span = { low: [0n, 1n], high: [1n, 1n] };
  for (const [n, point] of [...planeSides, ...edgeNormals]) {
    const heightU = dot(n, minus(u, point));
    const heightV = dot(n, minus(v, point));
    if (heightU < 0n && heightV < 0n) return null;
    if (heightU < 0n && isLess(span.low, [-heightU, heightV - heightU])) span.low = [-heightU, heightV - heightU];
    if (heightV < 0n && isLess([heightU, heightU - heightV], span.high)) span.high = [heightU, heightU - heightV];
  }
  return isLess(span.high, span.low) ? null : span;
}

function isLess([a, b]: readonly [bigint, bigint], [c, d]: readonly [bigint, bigint]): boolean {
  return a * d < c * b;
}

function pointAt(u: Point, v: Point, [numerator, denominator]: readonly [bigint, bigint], bits: number): Vector3 {
  const [x, y, z] = [0, 1, 2].map((axis) => {
    const scaled = u[axis] * denominator + (v[axis] - u[axis]) * numerator;
    return Number((scaled << 64n) / denominator) / 2 ** (64 + bits);
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

function toInteger(value: number, bits: number): bigint {
  return BigInt(value * 2 ** bits);
}
