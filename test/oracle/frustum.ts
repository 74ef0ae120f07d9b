import { Matrix4, Plane, Vector3 } from 'three';
import type { Convex } from './convex.js';

export type FrustumState = 'outside' | 'crossing' | 'inside';

/**
 * Planes that point inwards (Gribb and Hartmann, Fast extraction of viewing frustum planes, 2001). Reversed depth swaps near and
 * far, and bounds the same volume. A plane at infinity is left out.
 */
export function frustumPlanes(
  projection: ArrayLike<number>,
  view: ArrayLike<number>,
  depth: 'webgl' | 'webgpu' = 'webgl',
): Plane[] {
  const clip = new Matrix4().fromArray(projection).multiply(new Matrix4().fromArray(view)).elements;
  const plane = (row: number, sign: number, wWeight = 1) => {
    const component = (column: number) => sign * clip[4 * column + row] + wWeight * clip[4 * column + 3];
    return new Plane(new Vector3(component(0), component(1), component(2)), component(3));
  };
  const near = depth === 'webgl' ? plane(2, 1) : plane(2, 1, 0);
  const planes = [plane(0, 1), plane(0, -1), plane(1, 1), plane(1, -1), near, plane(2, -1)];
  return planes.filter((p) => p.normal.length() > 1e-12 * Math.abs(p.constant)).map((p) => p.normalize());
}

/** Also returns how far the nearest plane would have to move to change the result. */
export function frustumState(body: Convex, planes: readonly Plane[]): { state: FrustumState; margin: number } {
  let [minOfMaxima, minHeight] = [Infinity, Infinity];
  for (const plane of planes) {
    let maxHeight = -Infinity;
    for (const vertex of body.vertices) {
      const height = plane.distanceToPoint(vertex);
      maxHeight = Math.max(maxHeight, height);
      minHeight = Math.min(minHeight, height);
    }
    minOfMaxima = Math.min(minOfMaxima, maxHeight);
  }
  if (minOfMaxima < 0) return { state: 'outside', margin: -minOfMaxima };
  if (minHeight >= 0) return { state: 'inside', margin: minHeight };
  return { state: 'crossing', margin: Math.min(minOfMaxima, -minHeight) };
}

/**
 * Returns whether any part of a triangle is on the inner side of all planes (Sutherland and Hodgman, Reentrant polygon clipping,
 * 1974).
 */
export function isTriangleInside(corners: readonly Vector3[], planes: readonly Plane[]): boolean {
  let polygon = corners;
  for (const plane of planes) {
    const heights = polygon.map((corner) => plane.distanceToPoint(corner));
    if (heights.every((height) => height >= 0)) continue;
    polygon = polygon.flatMap((corner, i) => {
      const j = (i + 1) % polygon.length;
      const keptCorners = heights[i] >= 0 ? [corner] : [];
      const isCrossed = heights[i] >= 0 !== heights[j] >= 0;
      return isCrossed
        ? [...keptCorners, corner.clone().lerp(polygon[j], heights[i] / (heights[i] - heights[j]))]
        : keptCorners;
    });
    if (polygon.length === 0) return false;
  }
  return true;
}
