// The axes of the boxes by which two features are measured.

import type { Vec3 } from '../../shared/types.js';
import type { MeasuredFeature } from './features.js';
import type { Axes } from './part-tree.js';

const X: Vec3 = [1, 0, 0];
const Y: Vec3 = [0, 1, 0];
/** A vector is degenerate, and has no direction, if it is no longer than this. */
const MIN_LENGTH = 1e-4;

/**
 * Returns axes along which the boxes of the two features' parts are tight: the normal of a face, and axes perpendicular
 * to it and to the other feature's. `v` and `w` are their unit normals, or directions; null without any.
 */
export function axesOf(a: MeasuredFeature, v: Vec3 | null, b: MeasuredFeature, w: Vec3 | null): Axes {
  const isByFirst = a.kind === 'face' || b.kind !== 'face';
  const [{ kind, corners }, normal, other] = isByFirst ? [a, v, w] : [b, w, v];
  if (!normal) return [...X, ...Y, 0, 0, 1];
  const [x, y, z] = corners;
  const side = kind === 'face' ? unit([corners[3] - x, corners[4] - y, corners[5] - z], 0) : null;
  const candidates = [other && cross(normal, other), side && cross(normal, side), cross(normal, X), cross(normal, Y)];
  const u = candidates.map((each) => each && unit(each, MIN_LENGTH)).find((each) => each)!;
  return [...u, ...cross(normal, u), ...normal];
}

/** Returns the normalized vector; null if it is no longer than `minLength`. */
function unit([x, y, z]: Vec3, minLength: number): Vec3 | null {
  const length = Math.hypot(x, y, z);
  return length > minLength ? [x / length, y / length, z / length] : null;
}

export function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
