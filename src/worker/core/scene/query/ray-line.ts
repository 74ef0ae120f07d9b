// A ray in the world, the parts of it that planes keep, and the distance of its nearest hit.
//
// float64 places a point to 2⁻⁵³ of its distance: from 10¹² radii away that is 10⁻⁴ of a radius, more than boxes are
// padded by. So a ray from far away starts again from a point near the scene, and near the object, that is computed
// with twice the digits. The ray itself stays the given one, to the last bit of its direction.

import { clearHits } from '../../hits';
import { coordinateAt, roundingError, twoProduct } from '../../math/two-term';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import { NEAREST } from '../../mesh/query/ray';
import { ClipSet, RayPart, queryPlanes, isClipped, findKeptPart, objectSetOf } from './clipping';

// The ray: in the world, with a unit direction. Its origin may have been moved along it, and all distances are from the
// moved origin.
export let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let tMin: f64 = 0;
/** The end of the ray, regardless of its nearest hit. */
export let tMax: f64 = 0;
/** The rounding error of the direction, to be added to it; valid after a call of `findDirectionLow`. */
export let directionLowX: f64 = 0, directionLowY: f64 = 0, directionLowZ: f64 = 0;
/** How far the origin was moved along the ray. */
export let originShift: f64 = 0;
export let mode: u32 = NEAREST;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundDistance: f64 = 0;

/** Sets a ray that has hit nothing yet. Its direction must not be zero. */
export function beginRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  hitMode: u32,
): void {
  originX = ox; originY = oy; originZ = oz;
  setDirection(dx, dy, dz);
  originShift = 0;
  tMin = from;
  tMax = to;
  mode = hitMode;
  clearHits();
  foundObject = 0;
  foundDistance = to;
}

/** The limits of squared lengths that neither overflow nor vanish. */
const MIN_LENGTH_SQUARED: f64 = 1e-280;
const MAX_LENGTH_SQUARED: f64 = 1e280;

// @ts-ignore: decorator
@inline
function setDirection(x: f64, y: f64, z: f64): void {
  let lengthSquared = x * x + y * y + z * z;
  let a = x, b = y, c = z;
  if (!(lengthSquared > MIN_LENGTH_SQUARED && lengthSquared < MAX_LENGTH_SQUARED)) {
    // A power of two scales the largest to about 1, exactly; in two steps, since its reciprocal may be too large for
    // one.
    const largest = max(max(abs(x), abs(y)), abs(z));
    const half = scaleFor(exponentFor(largest) / 2), rest = scaleFor(exponentFor(largest) - exponentFor(largest) / 2);
    a = x * half * rest;
    b = y * half * rest;
    c = z * half * rest;
    lengthSquared = a * a + b * b + c * c;
  }
  inverseLength = 1.0 / sqrt(lengthSquared);
  rawDirectionX = a; rawDirectionY = b; rawDirectionZ = c;
  directionX = a * inverseLength;
  directionY = b * inverseLength;
  directionZ = c * inverseLength;
}

/** The direction before rounding: inverseLength · rawDirection. */
let inverseLength: f64 = 0;
let rawDirectionX: f64 = 0, rawDirectionY: f64 = 0, rawDirectionZ: f64 = 0;

/** Finds the rounding error of the direction, which only rays from far away need. */
export function findDirectionLow(): void {
  twoProduct(rawDirectionX, inverseLength);
  directionLowX = roundingError;
  twoProduct(rawDirectionY, inverseLength);
  directionLowY = roundingError;
  twoProduct(rawDirectionZ, inverseLength);
  directionLowZ = roundingError;
}

/**
 * An object this many times its size away is tested from a nearer point of the ray: float64 is off by 2⁻³² sizes there.
 */
export const FAR_RATIO: f64 = 1048576.0; // 2^20
/** The origin stays beyond this, since coordinateAt would overflow. */
export const MAX_DISTANCE: f64 = 1e290;

/**
 * Moves the origin to the ray's nearest point to a given point, if the origin is far away from it compared with
 * `extent`.
 */
export function moveOriginNear(x: f64, y: f64, z: f64, extent: f64): void {
  const offsetX = originX - x, offsetY = originY - y, offsetZ = originZ - z;
  const distance = abs(offsetX) + abs(offsetY) + abs(offsetZ);
  if (!(distance > FAR_RATIO * extent && distance < MAX_DISTANCE)) return;
  findDirectionLow();
  originShift = -(offsetX * directionX + offsetY * directionY + offsetZ * directionZ);
  originX = coordinateAt(originX, 0, originShift, directionX, directionLowX);
  originY = coordinateAt(originY, 0, originShift, directionY, directionLowY);
  originZ = coordinateAt(originZ, 0, originShift, directionZ, directionLowZ);
  tMin -= originShift;
  tMax -= originShift;
  foundDistance -= originShift;
}

/** The part of the ray that the query's planes keep, and the part that an object's own planes keep. */
const queryPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
const objectPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
/** The set for which `objectPart` was computed; null if it is not of this ray. */
let objectPartSet: ClipSet | null = null;

/** The interval of the ray before it was clipped. */
let unclippedFrom: f64 = 0, unclippedTo: f64 = 0;

/** Shortens the ray to what the query's planes keep of it. Returns false if nothing is left. */
export function clipRay(): bool {
  objectPartSet = null;
  if (!isClipped) return true;
  unclippedFrom = tMin;
  unclippedTo = tMax;
  findKeptPart(queryPart, queryPlanes, originX, originY, originZ, directionX, directionY, directionZ);
  tMin = max(tMin, queryPart.from);
  tMax = min(tMax, queryPart.to);
  foundDistance = min(foundDistance, tMax);
  return tMin <= foundDistance;
}

/** Restores the ray's length before clipping, except beyond its nearest hit. */
export function unclipRay(): void {
  if (!isClipped) return;
  tMin = unclippedFrom;
  tMax = unclippedTo;
  if (foundObject == 0) foundDistance = unclippedTo;
}

/** Returns the distance of the nearest hit from the ray's original origin. */
export function hitDistance(): f64 {
  return originShift + foundDistance;
}

// The part of the ray that is cast at an object: the first of up to three that planes leave of it, and its end without
// the cuts. The query's planes may cut one part out of the ray, and the object's own planes another.
export let partFrom: f64 = 0, partTo: f64 = 0, uncutEnd: f64 = 0;
/** The next cut, and the one after it; infinite if there is none. */
export let cutFrom: f64 = 0, cutTo: f64 = Infinity, secondCutFrom: f64 = 0, secondCutTo: f64 = 0;

/** Takes the ray as a whole, as clipped by the query's planes. */
// @ts-ignore: decorator
@inline
export function beginPart(): void {
  partFrom = tMin;
  partTo = foundDistance;
  cutTo = Infinity;
}

/** Shortens the ray to the first part that all planes leave of it for an object. */
export function applyCuts(id: u32): void {
  uncutEnd = partTo;
  cutFrom = isClipped ? queryPart.cutFrom : Infinity;
  cutTo = isClipped ? queryPart.cutTo : Infinity;
  secondCutFrom = secondCutTo = Infinity;
  const objectSet = objectSetOf(id);
  if (objectSet !== null) {
    if (objectSet !== objectPartSet)
      findKeptPart(objectPart, objectSet, originX, originY, originZ, directionX, directionY, directionZ);
    objectPartSet = objectSet;
    partFrom = max(partFrom, objectPart.from);
    uncutEnd = min(uncutEnd, objectPart.to);
    secondCutFrom = max(cutFrom, objectPart.cutFrom);
    secondCutTo = cutFrom > objectPart.cutFrom ? cutTo : objectPart.cutTo;
    cutTo = cutFrom > objectPart.cutFrom ? objectPart.cutTo : cutTo;
    cutFrom = min(cutFrom, objectPart.cutFrom);
  }
  partTo = min(uncutEnd, cutFrom);
}

/** Proceeds to the part beyond the next cut. Returns false if the nearest hit is before it. */
export function advancePastCut(): bool {
  uncutEnd = min(uncutEnd, foundDistance);
  partFrom = max(partFrom, cutTo);
  cutFrom = secondCutFrom;
  cutTo = secondCutTo;
  secondCutFrom = secondCutTo = Infinity;
  partTo = min(uncutEnd, cutFrom);
  return partFrom <= uncutEnd;
}

/** Returns whether a hit of an object at t is nearer than the nearest one so far. */
export function isNearer(id: u32, t: f64): bool {
  return t < foundDistance || (t == foundDistance && (foundObject == 0 || id < foundObject));
}

/** Ends the ray at its nearest hit so far. */
// @ts-ignore: decorator
@inline
export function endAtHit(id: u32, t: f64): void {
  foundObject = id;
  foundDistance = t;
}
