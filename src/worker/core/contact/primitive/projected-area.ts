// Finds the common direction in which triangles face: the sum of their area vectors, as a normal in the primitive's
// space.

import { CHUNK, NONE, overlappingAt, triangleAt } from './overlapping-triangles';
import { checkpoint } from '../../checkpoint';
import { Triangle } from '../../math/triangles';
import { normalDot, normalSquare } from './penetration-direction';

export let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
/** The sum of the vectors' lengths. */
let sum: f64 = 0;

/**
 * A triangle counts for no more than this, since most of a large one is elsewhere: twice the area of a side of the cube
 * [-1, 1]³.
 */
const MOST: f64 = 8;
/** A sum that is shorter than this, relative to the sum of the lengths, is not a common direction. */
const COMMON: f64 = 0.3;
/** The squared cosine of the angle, 60 degrees, within which normals count as similar. */
const ALIKE: f64 = 0.25;

let x: f64 = 0, y: f64 = 0, z: f64 = 0;

/** Sets the area vector of a triangle: its normal, with twice its area as its length. */
function setNormal(t: Triangle): void {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  x = uy * vz - uz * vy;
  y = uz * vx - ux * vz;
  z = ux * vy - uy * vx;
}

function clear(): void {
  areaX = areaY = areaZ = sum = 0;
}

function add(): void {
  const length = sqrt(x * x + y * y + z * z);
  const scale = length > MOST ? MOST / length : 1.0;
  areaX += scale * x;
  areaY += scale * y;
  areaZ += scale * z;
  sum += scale * length;
}

/** Sums up all triangles of the list and marks them as around. */
export function sumAll(head: u32): void {
  clear();
  for (let i = head; i != NONE; checkpoint(CHUNK)) i = sumSome(i);
}

function sumSome(from: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    overlappingAt(i).isAround = true;
    setNormal(triangleAt(i));
    add();
    i = overlappingAt(i).next;
  }
  return i;
}

/**
 * Sums up the triangles of the list that face roughly the same way as `one` in world space. Marks these as around it,
 * and the others as not.
 */
export function sumAround(head: u32, one: u32): void {
  clear();
  setNormal(triangleAt(one));
  oneX = x;
  oneY = y;
  oneZ = z;
  oneSquare = normalSquare(x, y, z);
  for (let i = head; i != NONE; checkpoint(2 * CHUNK)) i = sumAlike(i, one);
}

let oneX: f64 = 0, oneY: f64 = 0, oneZ: f64 = 0;
let oneSquare: f64 = 0;

function sumAlike(from: u32, one: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    setNormal(triangleAt(i));
    const dot = normalDot(oneX, oneY, oneZ, x, y, z);
    const isAround = i == one || (dot > 0 && dot * dot >= ALIKE * oneSquare * normalSquare(x, y, z));
    overlappingAt(i).isAround = isAround;
    if (isAround) add();
    i = overlappingAt(i).next;
  }
  return i;
}

export function isCommon(): bool {
  return areaX * areaX + areaY * areaY + areaZ * areaZ > COMMON * COMMON * sum * sum;
}
