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

/** The fields of a hit, as far as it has any; at the end an object of extras, unknown to the type. */
export type PackedHit = ArrayLike<number>;

/** The fields of hits, one hit after the other, in a typed array if there are many; and the extras that hits refer to. */
export type PackedHits = readonly [fields: ArrayLike<number>, extras: readonly HitExtras[]];

/** The fields of a hit that few hits have, and that are no numbers. */
export type HitExtras = Pick<Hit, 'box' | 'snap'>;

/**
 * Fields per Hit: object, distance, point, normal, triangle, element, barycentric, bone, frame; then distanceToRay and
 * pixels, NaN if there are none, and the index of its extras. An object for each of 400,000 points blocked the page for one
 * and a half seconds.
 */
export const HIT_FIELDS = 18;

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

/**
 * Packs a hit; it ends with the last field that it has. An object of extras is at the index that refers to it. No hit has both a
 * box and a snap.
 */
export function packHit(hit: Omit<Hit, 'frame'>, frame: number): number[] {
  const { object, distance, point, normal, triangle, element, barycentric, bone, box, snap } = hit;
  const { distanceToRay = Number.NaN, pixels = Number.NaN } = hit;
  const numbers = [object, distance, ...point, ...normal, triangle, element, ...barycentric, bone, frame];
  const extras = box !== undefined ? { box } : snap !== undefined ? { snap } : undefined;
  if (extras) numbers.push(distanceToRay, pixels, HIT_FIELDS, extras as unknown as number);
  else if (pixels >= 0) numbers.push(distanceToRay, pixels);
  else if (distanceToRay >= 0) numbers.push(distanceToRay);
  return numbers;
}

/** Unpacks the hit that begins at index `at`; its extras are in a list, which for a single hit is that of its fields. */
export function unpackHit(n: PackedHit, at = 0, extras: ArrayLike<unknown> = n): Hit {
  const hit: Hit = {
    object: n[at],
    distance: n[at + 1],
    point: vectorAt(n, at + 2),
    normal: vectorAt(n, at + 5),
    triangle: n[at + 8],
    element: n[at + 9],
    barycentric: vectorAt(n, at + 10),
    bone: n[at + 13],
    frame: n[at + 14],
    ...(extras[n[at + 17]] as HitExtras | undefined),
  };
  if (n[at + 15] >= 0) hit.distanceToRay = n[at + 15];
  if (n[at + 16] >= 0) hit.pixels = n[at + 16];
  return hit;
}

export function packSweepHit(hit: Omit<SweepHit, 'frame'>, frame: number): number[] {
  return [hit.object, hit.time, ...hit.point, ...hit.normal, hit.triangle, hit.depth, frame];
}

/** Unpacks the hit of a sweep that begins at index `at`. */
export function unpackSweepHit(n: PackedHit, at = 0): SweepHit {
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
