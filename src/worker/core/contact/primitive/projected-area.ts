// What triangles face in common: the sum of their areas' vectors, as a normal in the solid's space.

import { NONE, metAt, triangleAt } from '../met';
import { Triangle } from '../../math/triangles';
import { normalDot, normalSquare } from './penetration-direction';

export let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
/** Of the vectors' lengths. */
let sum: f64 = 0;

/** No triangle counts for more, as of a large one most is elsewhere: twice the area of a side of the cube [-1, 1]³. */
const MOST: f64 = 8;
/** Less of the lengths' sum than this is no direction in common. */
const COMMON: f64 = 0.3;
/** Squared cosine of the angle, 60 degrees, within which normals are alike. */
const ALIKE: f64 = 0.25;

let x: f64 = 0, y: f64 = 0, z: f64 = 0;

/** Twice a triangle's area, across it. */
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

/** Of all in the list, which are marked. */
export function sumAll(head: u32): void {
  clear();
  for (let i = head; i != NONE; i = metAt(i).next) {
    metAt(i).isAround = true;
    setNormal(triangleAt(i));
    add();
  }
}

/** Of those in the list that face about as one of them does, in the world; they are marked, others are not. */
export function sumAround(head: u32, one: u32): void {
  clear();
  setNormal(triangleAt(one));
  const nx = x, ny = y, nz = z, square = normalSquare(nx, ny, nz);
  for (let i = head; i != NONE; i = metAt(i).next) {
    setNormal(triangleAt(i));
    const dot = normalDot(nx, ny, nz, x, y, z);
    const isAround = i == one || (dot > 0 && dot * dot >= ALIKE * square * normalSquare(x, y, z));
    metAt(i).isAround = isAround;
    if (isAround) add();
  }
}

export function isCommon(): bool {
  return areaX * areaX + areaY * areaY + areaZ * areaZ > COMMON * COMMON * sum * sum;
}
