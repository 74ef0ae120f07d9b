import { type Plane, Vector3 } from 'three';
import type { HalfSpace } from './half-spaces.js';

/** Clipping planes of a query, or of a material or renderer of three's. */
export interface Clipping {
  planes: readonly Plane[];
  /** Like three's `clipIntersection`. */
  isIntersection: boolean;
}

/** n · p + d of each plane, in the form that a query takes. */
export const clipOf = ({ planes }: Clipping): number[] =>
  planes.flatMap(({ normal, constant }) => [...normal.toArray(), constant]);

/**
 * Returns whether a point is kept; null if it is closer to a plane than rounding can tell. `error` is the error of the point's
 * position, in world space.
 */
export function isKept(point: Vector3, { planes, isIntersection }: Clipping, error: number): boolean | null {
  const sides = planes.map((plane) => {
    const height = plane.distanceToPoint(point) / plane.normal.length();
    return Math.abs(height) <= error ? null : height > 0;
  });
  if (planes.length === 0) return true;
  const decidingSide = !isIntersection; // one plane that the point is behind clips it, or one that it is in front of keeps it
  if (sides.includes(!decidingSide)) return !decidingSide;
  return sides.includes(null) ? null : decidingSide;
}

/** Error of a point on a ray as computed in float64: 2⁻⁴⁶ of all values that it was computed from. */
export function positionError(...points: readonly Vector3[]): number {
  const origin = new Vector3();
  return 2 ** -46 * points.reduce((sum, point) => sum + point.distanceTo(origin), 0);
}

/** The part of the world that is kept, as a union of convex parts, by half-spaces with unit normals. */
export function keptParts({ planes, isIntersection }: Clipping): HalfSpace[][] {
  const halfSpaces = planes.map((plane): HalfSpace => {
    const { normal, constant } = plane.clone().normalize();
    return [normal.x, normal.y, normal.z, constant];
  });
  return isIntersection && halfSpaces.length > 0 ? halfSpaces.map((halfSpace) => [halfSpace]) : [halfSpaces];
}
