import type { Vec3 } from '../../shared/types.js';
import { throwInvalid } from '../check/validate.js';
import { axesOf, cross } from './box-axes.js';
import { ClosestPointsSearch } from './closest-points.js';
import { type Measurable, type MeasuredFeature, readFeature } from './features.js';
import { rootOf, visitNearPairs } from './part-tree.js';

/** The distance and the angle of two features. Lengths are world units. */
export interface Measure {
  /** How far they are from each other; 0 if they meet. */
  distance: number;
  /** Where they are closest, or meet. */
  pointA: Vec3;
  pointB: Vec3;
  /**
   * Radians, 0 to π / 2: between the lines of two edges, the line of an edge and the plane of a face, or the planes of two faces.
   * Null if one is a point, or has no length or area.
   */
  angle: number | null;
  /** The distance between the planes of two faces that are parallel within a ten-thousandth of a radian; else null. */
  gap: number | null;
}

/** Radians within which faces count as parallel: rounding of float32 vertices rotates a face by less than this. */
const PARALLEL_TOLERANCE = 1e-4;

/**
 * Measures two features: points, edges and faces in any combination. Everything is computed in float64 relative to the first one,
 * so that it is as exact a million units from the origin as near it. Throws INVALID_ARGUMENT.
 *
 * ```ts
 * const a = await service.pick(x1, y1, { snap: ['vertex', 'edge', 'face'] });
 * const b = await service.pick(x2, y2, { snap: ['vertex', 'edge', 'face'] });
 * if (a && b) console.log(measure(a, b).distance);
 * ```
 */
export function measure(a: Measurable, b: Measurable): Measure {
  const first = readFeature('measure', 'a', a);
  const second = readFeature('measure', 'b', b);
  const origin = first.corners.slice(0, 3);
  subtractOrigin(first.corners, origin);
  subtractOrigin(second.corners, origin);
  const closest = new ClosestPointsSearch();
  const [v, w] = [directionOf(first), directionOf(second)];
  const axes = axesOf(first, v, second, w);
  const [rootA, rootB] = [first, second].map(({ kind, corners }) => rootOf(corners, SIZES[kind], axes));
  visitNearPairs(rootA, rootB, closest, (i, k) => addPair(closest, first, i, second, k));
  const { square } = closest;
  if (!(square < Infinity)) throwInvalid('measure', 'b', b, 'what is less than 1e154 away from `a`');
  const toWorld = ([x, y, z]: Vec3): Vec3 => [x + origin[0], y + origin[1], z + origin[2]];
  const angle = v && w ? angleOf(first.kind, v, second.kind, w) : null;
  const areParallel = first.kind === 'face' && second.kind === 'face' && angle !== null && angle <= PARALLEL_TOLERANCE;
  return {
    distance: Math.sqrt(square),
    pointA: toWorld(closest.a),
    pointB: toWorld(closest.b),
    angle,
    gap: areParallel ? gapOf(first, v!, second, w!) : null,
  };
}

/** Numbers of a part: a point, an edge or a triangle. */
const SIZES = { point: 3, edge: 6, face: 9 } as const;

function subtractOrigin(corners: Float64Array, origin: Float64Array): void {
  for (let i = 0; i < corners.length; i++) corners[i] -= origin[i % 3];
}

function addPair(closest: ClosestPointsSearch, a: MeasuredFeature, i: number, b: MeasuredFeature, k: number): void {
  const [s, t] = [a.corners, b.corners];
  const [m, n] = [SIZES[a.kind], SIZES[b.kind]];
  for (const [p, q] of SIDES[a.kind]) {
    for (const [r, u] of SIDES[b.kind]) {
      if (m === 3) closest.pointSegment(s, i, t, k + r, k + u);
      else if (n === 3) closest.pointSegment(t, k, s, i + p, i + q, true);
      else closest.segments(s, i + p, i + q, t, k + r, k + u);
    }
  }
  if (n === 9) for (const [p, q] of SIDES[a.kind]) closest.overTriangle(s, i + p, i + q, t, k);
  if (m === 9) for (const [r, u] of SIDES[b.kind]) closest.overTriangle(t, k + r, k + u, s, i, true);
}

/** The offsets of the ends of each side in a part; a point has one side of length 0. */
const SIDES = {
  point: [[0, 0]],
  edge: [[0, 3]],
  face: [
    [0, 3],
    [3, 6],
    [6, 0],
  ],
} as const;

/** Returns the unit direction of an edge or the unit normal of a face; null without any. */
function directionOf({ kind, corners }: MeasuredFeature): Vec3 | null {
  if (kind === 'point') return null;
  let sum: Vec3 = [0, 0, 0];
  if (kind === 'edge') {
    sum = [corners[3] - corners[0], corners[4] - corners[1], corners[5] - corners[2]];
  } else {
    for (let i = 0; i < corners.length; i += 9) {
      const at = (k: number): Vec3 => [
        corners[i + k] - corners[i],
        corners[i + k + 1] - corners[i + 1],
        corners[i + k + 2] - corners[i + 2],
      ];
      const normal = cross(at(3), at(6));
      const sign = dot(normal, sum) < 0 ? -1 : 1;
      sum = [sum[0] + sign * normal[0], sum[1] + sign * normal[1], sum[2] + sign * normal[2]];
    }
  }
  const length = Math.hypot(...sum);
  return length > 0 ? [sum[0] / length, sum[1] / length, sum[2] / length] : null;
}

function angleOf(a: MeasuredFeature['kind'], v: Vec3, b: MeasuredFeature['kind'], w: Vec3): number {
  const [sine, cosine] = [Math.hypot(...cross(v, w)), Math.abs(dot(v, w))];
  return a === b ? Math.atan2(sine, cosine) : Math.atan2(cosine, sine);
}

/** Returns the distance between the planes of two faces, along the mean of both normals, between their centroids. */
function gapOf(a: MeasuredFeature, v: Vec3, b: MeasuredFeature, w: Vec3): number {
  const sign = dot(v, w) < 0 ? -1 : 1;
  const normal: Vec3 = [v[0] + sign * w[0], v[1] + sign * w[1], v[2] + sign * w[2]];
  const [p, q] = [centroidOf(a), centroidOf(b)];
  return Math.abs(dot(normal, [q[0] - p[0], q[1] - p[1], q[2] - p[2]])) / Math.hypot(...normal);
}

function centroidOf({ corners }: MeasuredFeature): Vec3 {
  const sum: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < corners.length; i++) sum[i % 3] += corners[i];
  return [(3 * sum[0]) / corners.length, (3 * sum[1]) / corners.length, (3 * sum[2]) / corners.length];
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
