// A ray in the world, the parts of it that planes keep, and the distance of its nearest hit.
//
// float64 places a point to 2⁻⁵³ of its distance: from 10¹² radii away that is 10⁻⁴ of a radius, more than boxes are
// padded by. So a ray from far away starts again from a point near the scene, and near the object, that is computed
// with twice the digits. The ray itself stays the given one, to the last bit of its direction.

import { clearHits } from '../../hits';
import { coordinateAt, low, twoProduct } from '../../math/two-term';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import { NEAREST } from '../../mesh/query/ray';
import { ClipSet, RayPart, askedPlanes, isClipped, keptPart, ownSetOf } from './clipping';

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
export let movedBy: f64 = 0;
export let mode: u32 = NEAREST;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundDistance: f64 = 0;

/** Sets a ray that has hit nothing yet. Its direction must not be zero. */
export function beginRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32,
): void {
  originX = ox; originY = oy; originZ = oz;
  setDirection(dx, dy, dz);
  movedBy = 0;
  tMin = from;
  tMax = to;
  mode = asked;
  clearHits();
  foundObject = 0;
  foundDistance = to;
}

/** The limits of squared lengths that neither overflow nor vanish. */
const LEAST_SQUARE: f64 = 1e-280;
const GREATEST_SQUARE: f64 = 1e280;

// @ts-ignore: decorator
@inline
function setDirection(x: f64, y: f64, z: f64): void {
  let square = x * x + y * y + z * z;
  let a = x, b = y, c = z;
  if (!(square > LEAST_SQUARE && square < GREATEST_SQUARE)) {
    // A power of two scales the largest to about 1, exactly; in two steps, since its reciprocal may be too large for
    // one.
    const largest = max(max(abs(x), abs(y)), abs(z));
    const half = scaleFor(exponentFor(largest) / 2), rest = scaleFor(exponentFor(largest) - exponentFor(largest) / 2);
    a = x * half * rest;
    b = y * half * rest;
    c = z * half * rest;
    square = a * a + b * b + c * c;
  }
  unit = 1.0 / sqrt(square);
  wayX = a; wayY = b; wayZ = c;
  directionX = a * unit;
  directionY = b * unit;
  directionZ = c * unit;
}

/** The direction before rounding: unit · way. */
let unit: f64 = 0;
let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;

/** Finds the rounding error of the direction, which only rays from far away need. */
export function findDirectionLow(): void {
  twoProduct(wayX, unit);
  directionLowX = low;
  twoProduct(wayY, unit);
  directionLowY = low;
  twoProduct(wayZ, unit);
  directionLowZ = low;
}

/**
 * An object this many times its size away is tested from a nearer point of the ray: float64 is off by 2⁻³² sizes there.
 */
export const FAR: f64 = 1048576.0; // 2^20
/** The origin stays beyond this, since coordinateAt would overflow. */
export const TOO_FAR: f64 = 1e290;

/**
 * Moves the origin to the ray's nearest point to a given point, if the origin is far away from it compared with
 * `reach`.
 */
export function approach(x: f64, y: f64, z: f64, reach: f64): void {
  const fromX = originX - x, fromY = originY - y, fromZ = originZ - z;
  const away = abs(fromX) + abs(fromY) + abs(fromZ);
  if (!(away > FAR * reach && away < TOO_FAR)) return;
  findDirectionLow();
  movedBy = -(fromX * directionX + fromY * directionY + fromZ * directionZ);
  originX = coordinateAt(originX, 0, movedBy, directionX, directionLowX);
  originY = coordinateAt(originY, 0, movedBy, directionY, directionLowY);
  originZ = coordinateAt(originZ, 0, movedBy, directionZ, directionLowZ);
  tMin -= movedBy;
  tMax -= movedBy;
  foundDistance -= movedBy;
}

/** The part of the ray that the query's planes keep, and the part that an object's own planes keep. */
const askedPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
const ownPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
/** The set for which `ownPart` was computed; null if it is not of this ray. */
let ownPartOf: ClipSet | null = null;

/** The interval of the ray before it was clipped. */
let wholeFrom: f64 = 0, wholeTo: f64 = 0;

/** Shortens the ray to what the query's planes keep of it. Returns false if nothing is left. */
export function clipRay(): bool {
  ownPartOf = null;
  if (!isClipped) return true;
  wholeFrom = tMin;
  wholeTo = tMax;
  keptPart(askedPart, askedPlanes, originX, originY, originZ, directionX, directionY, directionZ);
  tMin = max(tMin, askedPart.from);
  tMax = min(tMax, askedPart.to);
  foundDistance = min(foundDistance, tMax);
  return tMin <= foundDistance;
}

/** Restores the ray's length before clipping, except beyond its nearest hit. */
export function unclipRay(): void {
  if (!isClipped) return;
  tMin = wholeFrom;
  tMax = wholeTo;
  if (foundObject == 0) foundDistance = wholeTo;
}

/** Returns the distance of the nearest hit from the ray's original origin. */
export function hitDistance(): f64 {
  return movedBy + foundDistance;
}

// The part of the ray that is cast at an object: the first of up to three that planes leave of it, and its end without
// the cuts. The query's planes may cut one part out of the ray, and the object's own planes another.
export let partFrom: f64 = 0, partTo: f64 = 0, end: f64 = 0;
/** The next cut, and the one after it; infinite if there is none. */
export let cutFrom: f64 = 0, cutTo: f64 = Infinity, otherFrom: f64 = 0, otherTo: f64 = 0;

/** Takes the ray as a whole, as clipped by the query's planes. */
// @ts-ignore: decorator
@inline
export function beginPart(): void {
  partFrom = tMin;
  partTo = foundDistance;
  cutTo = Infinity;
}

/** Shortens the ray to the first part that all planes leave of it for an object. */
export function cutOut(id: u32): void {
  end = partTo;
  cutFrom = isClipped ? askedPart.cutFrom : Infinity;
  cutTo = isClipped ? askedPart.cutTo : Infinity;
  otherFrom = otherTo = Infinity;
  const own = ownSetOf(id);
  if (own !== null) {
    if (own !== ownPartOf) keptPart(ownPart, own, originX, originY, originZ, directionX, directionY, directionZ);
    ownPartOf = own;
    partFrom = max(partFrom, ownPart.from);
    end = min(end, ownPart.to);
    otherFrom = max(cutFrom, ownPart.cutFrom);
    otherTo = cutFrom > ownPart.cutFrom ? cutTo : ownPart.cutTo;
    cutTo = cutFrom > ownPart.cutFrom ? ownPart.cutTo : cutTo;
    cutFrom = min(cutFrom, ownPart.cutFrom);
  }
  partTo = min(end, cutFrom);
}

/** Proceeds to the part beyond the next cut. Returns false if the nearest hit is before it. */
export function goBeyondCut(): bool {
  end = min(end, foundDistance);
  partFrom = max(partFrom, cutTo);
  cutFrom = otherFrom;
  cutTo = otherTo;
  otherFrom = otherTo = Infinity;
  partTo = min(end, cutFrom);
  return partFrom <= end;
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
