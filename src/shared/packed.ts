// Rays and hits as they travel between the threads: as lists of numbers, because the structured clone of an object takes several
// times as long. In Node, a pick takes 24 µs at best, and took 27 with objects; 9,000 hits take 8 ms, and took 48.
import type { Hit, Ray, SweepHit, Vec3 } from './types.js';

/** A ray that may hit points and lines by where they are drawn, instead of within a threshold. */
export interface PickRay extends Ray {
  cone?: Cone;
}

/**
 * The region that is drawn within a circle about a point of the screen: where a² + b² ≤ radius², by three affine functions
 * of a point, relative to the ray's origin. Ten numbers: the gradients of a and b, which are 0 all along the ray; the gradient of
 * that radius, and its value at the origin.
 */
export type Cone = readonly number[];

/** Origin, direction, tMin and tMax; then the cone, if there is one. */
export type PackedRay = readonly number[];

/**
 * The fields of hits, one hit after the other; a typed array if there are many hits without extras. An object of extras takes the
 * place of a number, unknown to the type.
 */
export type PackedHits = ArrayLike<number>;

/** The fields of a hit that few hits have. */
export type HitExtras = Pick<Hit, 'distanceToRay' | 'pixels' | 'box' | 'snap'>;

/** Fields per Hit: object, distance, point, normal, triangle, element, barycentric, bone, frame; then an object of extras, or 0. */
export const HIT_FIELDS = 16;

/** Numbers per SweepHit: object, time, point, normal, triangle, depth, frame. */
export const SWEEP_HIT_FIELDS = 11;

export function packRay({
  origin,
  direction,
  tMin = 0,
  tMax = Number.POSITIVE_INFINITY,
  cone = [],
}: PickRay): PackedRay {
  return [...origin, ...direction, tMin, tMax, ...cone];
}

export function unpackRay(numbers: PackedRay): PickRay {
  const [, , , , , , tMin, tMax, ...cone] = numbers;
  const ray = { origin: vectorAt(numbers, 0), direction: vectorAt(numbers, 3), tMin, tMax };
  return cone.length > 0 ? { ...ray, cone } : ray;
}

export function packHit(hit: Omit<Hit, 'frame'>, frame: number): number[] {
  const { object, distance, point, normal, triangle, element, barycentric, bone, ...extras } = hit;
  const numbers = [object, distance, ...point, ...normal, triangle, element, ...barycentric, bone, frame];
  return hasExtras(extras) ? [...numbers, extras as unknown as number] : numbers;
}

export function hasExtras(hit: HitExtras): boolean {
  return 'distanceToRay' in hit || 'pixels' in hit || 'box' in hit || 'snap' in hit;
}

/** Unpacks the hit that begins at index `at`. */
export function unpackHit(n: PackedHits, at = 0): Hit {
  return {
    object: n[at],
    distance: n[at + 1],
    point: vectorAt(n, at + 2),
    normal: vectorAt(n, at + 5),
    triangle: n[at + 8],
    element: n[at + 9],
    barycentric: vectorAt(n, at + 10),
    bone: n[at + 13],
    frame: n[at + 14],
    ...(n[at + 15] as unknown as HitExtras), // spreading a number adds nothing
  };
}

export function packSweepHit(hit: Omit<SweepHit, 'frame'>, frame: number): number[] {
  return [hit.object, hit.time, ...hit.point, ...hit.normal, hit.triangle, hit.depth, frame];
}

/** Unpacks the hit of a sweep that begins at index `at`. */
export function unpackSweepHit(n: PackedHits, at = 0): SweepHit {
  return {
    object: n[at],
    time: n[at + 1],
    point: vectorAt(n, at + 2),
    normal: vectorAt(n, at + 5),
    triangle: n[at + 8],
    depth: n[at + 9],
    frame: n[at + 10],
  };
}

function vectorAt(numbers: ArrayLike<number>, at: number): Vec3 {
  return [numbers[at], numbers[at + 1], numbers[at + 2]];
}
