// Finds the common direction in which triangles face: the sum of their area vectors, as a normal in the primitive's
// space.

import { BATCH_TRIANGLES, NO_TRIANGLE, overlappingAt, triangleAt } from './overlapping-triangles';
import { checkpoint } from '../../checkpoint';
import { Triangle } from '../../math/triangles';
import { worldNormalDot, normalLengthSquared } from './penetration-direction';

export let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
/** The sum of the vectors' lengths. */
let lengthSum: f64 = 0;

/**
 * A triangle counts for no more than this, since most of a large one is elsewhere: twice the area of a side of the cube
 * [-1, 1]³.
 */
const MAX_AREA: f64 = 8;
/** A sum that is shorter than this, relative to the sum of the lengths, is not a common direction. */
const MIN_COMMON_RATIO: f64 = 0.3;
/** The squared cosine of the angle, 60 degrees, within which normals count as similar. */
const SIMILAR_COSINE_SQUARED: f64 = 0.25;

let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;

/** Sets the area vector of a triangle: its normal, with twice its area as its length. */
function setNormal(t: Triangle): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  normalX = uy * vz - uz * vy;
  normalY = uz * vx - ux * vz;
  normalZ = ux * vy - uy * vx;
}

function clearSum(): void {
  areaX = areaY = areaZ = lengthSum = 0;
}

function addNormal(): void {
  const length = sqrt(normalX * normalX + normalY * normalY + normalZ * normalZ);
  const scale = length > MAX_AREA ? MAX_AREA / length : 1.0;
  areaX += scale * normalX;
  areaY += scale * normalY;
  areaZ += scale * normalZ;
  lengthSum += scale * length;
}

/** Sums up all triangles of the list and marks them as facing alike. */
export function sumAll(head: u32): void {
  clearSum();
  for (let i = head; i != NO_TRIANGLE; checkpoint(BATCH_TRIANGLES)) i = sumBatch(i);
}

function sumBatch(from: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    overlappingAt(i).isFacingAlike = true;
    setNormal(triangleAt(i));
    addNormal();
    i = overlappingAt(i).next;
  }
  return i;
}

/**
 * Sums up the triangles of the list that face roughly the same way as `reference` in world space. Marks these as facing alike,
 * and the others as not.
 */
export function sumAlike(head: u32, reference: u32): void {
  clearSum();
  setNormal(triangleAt(reference));
  referenceX = normalX;
  referenceY = normalY;
  referenceZ = normalZ;
  referenceLengthSquared = normalLengthSquared(normalX, normalY, normalZ);
  for (let i = head; i != NO_TRIANGLE; checkpoint(2 * BATCH_TRIANGLES)) i = sumAlikeBatch(i, reference);
}

let referenceX: f64 = 0, referenceY: f64 = 0, referenceZ: f64 = 0;
let referenceLengthSquared: f64 = 0;

function sumAlikeBatch(from: u32, reference: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    setNormal(triangleAt(i));
    const dot = worldNormalDot(referenceX, referenceY, referenceZ, normalX, normalY, normalZ);
    const isFacingAlike = i == reference || (dot > 0 &&
      dot * dot >= SIMILAR_COSINE_SQUARED * referenceLengthSquared * normalLengthSquared(normalX, normalY, normalZ));
    overlappingAt(i).isFacingAlike = isFacingAlike;
    if (isFacingAlike) addNormal();
    i = overlappingAt(i).next;
  }
  return i;
}

export function hasCommonDirection(): bool {
  return areaX * areaX + areaY * areaY + areaZ * areaZ > MIN_COMMON_RATIO * MIN_COMMON_RATIO * lengthSum * lengthSum;
}
