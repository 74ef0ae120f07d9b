import { type Plane, Vector3 } from 'three';
import type { HalfSpace } from './half-spaces.js';

/** What a query, a material or a renderer of three's cuts away. */
export interface Cut {
  planes: readonly Plane[];
  /** As three's `clipIntersection`. */
  isIntersection: boolean;
}

/** n · p + d of each plane, as a query takes them. */
export const clipOf = ({ planes }: Cut): number[] =>
  planes.flatMap(({ normal, constant }) => [...normal.toArray(), constant]);

/**
 * Whether a point is kept; null where it is nearer to a plane than rounding can tell. `blur` is how far the point may be
 * off, in the world.
 */
export function isKept(point: Vector3, { planes, isIntersection }: Cut, blur: number): boolean | null {
  const sides = planes.map((plane) => {
    const height = plane.distanceToPoint(point) / plane.normal.length();
    return Math.abs(height) <= blur ? null : height > 0;
  });
  if (planes.length === 0) return true;
  const decides = !isIntersection; // one plane behind cuts, or one before keeps
  if (sides.includes(!decides)) return !decides;
  return sides.includes(null) ? null : decides;
}

/** How far a point of a ray may be off that float64 has computed, 2⁻⁴⁶ of all that it was computed from. */
export function blurOf(...places: readonly Vector3[]): number {
  const zero = new Vector3();
  return 2 ** -46 * places.reduce((sum, place) => sum + place.distanceTo(zero), 0);
}

/** What is kept of the world as the union of convex parts, by half-spaces with unit normals. */
export function keptParts({ planes, isIntersection }: Cut): HalfSpace[][] {
  const halves = planes.map((plane): HalfSpace => {
    const { normal, constant } = plane.clone().normalize();
    return [normal.x, normal.y, normal.z, constant];
  });
  return isIntersection && halves.length > 0 ? halves.map((half) => [half]) : [halves];
}
