// Chooses the points of a region of contact: points of the mesh inside the primitive.

import { checkpoint } from '../../checkpoint';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { addCorner, beginPolygon, cornerCount, cornerX, cornerY, cornerZ, cutByCube } from '../../math/clip-polygon';
import { Triangle } from '../../math/triangles';
import { addPoint } from '../manifold/contact';
import { CHUNK, CUBE, NONE, overlappingAt, triangleAt } from './overlapping-triangles';
import { nearestPlace, nearestToEnd, placeX, placeY, placeZ } from './segment-triangle';
import { half, measureAlong, placeOf, worldX, worldY, worldZ } from './penetration-direction';
import {
  beginReduction, isReductionEmpty, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';

/** Points that are nearer to each other than this, relative to the solid's size, count once. */
const SAME: f64 = 1e-4;

let depth: f64 = 0;
/** 1 if the contact's normal is the direction, -1 if it is opposite. */
let side: f64 = 1;

/**
 * Adds the points of the triangles in the list that begins with `head`: for a ball the point of triangle `seed` that is
 * nearest to its centre; for a capsule the points that are farthest apart along it; for a box corners of the patch.
 * Throws OUT_OF_MEMORY.
 */
export function addRegionPoints(head: u32, seed: u32, regionDepth: f64, normalSide: f64): void {
  depth = regionDepth;
  side = normalSide;
  if (half == CUBE) addPatch(head);
  else if (half == 0) addNearest(seed);
  else addEnds(head, seed);
}

function addPlace(x: f64, y: f64, z: f64): void {
  addPoint(
    placeOf(x, y, z, 0), placeOf(x, y, z, 1), placeOf(x, y, z, 2), side * worldX, side * worldY, side * worldZ, depth,
  );
}

function addNearest(seed: u32): void {
  nearestPlace(half, triangleAt(seed), Infinity);
  addPlace(placeX, placeY, placeZ);
}

// --- capsule ---

let lowX: f64 = 0, lowY: f64 = 0, lowZ: f64 = 0;
let highX: f64 = 0, highY: f64 = 0, highZ: f64 = 0;

function addEnds(head: u32, seed: u32): void {
  lowZ = Infinity;
  highZ = -Infinity;
  for (let i = head; i != NONE; checkpoint(8 * CHUNK)) i = includeSome(i);
  if (lowZ > highZ) return addNearest(seed);
  addPlace(lowX, lowY, lowZ);
  if (highZ - lowZ > SAME * (1.0 + half)) addPlace(highX, highY, highZ);
}

function includeSome(from: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    const triangle = triangleAt(i);
    i = overlappingAt(i).next;
    // None of its points can extend the current interval.
    if (
      min(min(triangle.az, triangle.bz), triangle.cz) >= lowZ && max(max(triangle.az, triangle.bz), triangle.cz) <= highZ
    ) continue;
    if (nearestPlace(half, triangle, 1.0) < 1) includePlace();
    if (nearestToEnd(half, triangle) <= 1) includePlace();
    if (nearestToEnd(-half, triangle) <= 1) includePlace();
  }
  return i;
}

function includePlace(): void {
  if (placeZ < lowZ) {
    lowX = placeX;
    lowY = placeY;
    lowZ = placeZ;
  }
  if (placeZ > highZ) {
    highX = placeX;
    highY = placeY;
    highZ = placeZ;
  }
}

// --- box ---

// Vectors that map points of the solid's space to coordinates along two axes perpendicular to the direction.
let uX: f64 = 0, uY: f64 = 0, uZ: f64 = 0;
let vX: f64 = 0, vY: f64 = 0, vZ: f64 = 0;

function addPatch(head: u32): void {
  setBasis(worldX, worldY, worldZ);
  uX = measureAlong(firstX, firstY, firstZ, 0);
  uY = measureAlong(firstX, firstY, firstZ, 1);
  uZ = measureAlong(firstX, firstY, firstZ, 2);
  vX = measureAlong(secondX, secondY, secondZ, 0);
  vY = measureAlong(secondX, secondY, secondZ, 1);
  vZ = measureAlong(secondX, secondY, secondZ, 2);
  beginReduction();
  for (let i = head; i != NONE; checkpoint(4 * CHUNK)) i = offerSome(i);
  // The triangles only touch, and clipping left nothing due to rounding.
  if (isReductionEmpty()) return addNearest(head);
  reduceToFour(SAME * (abs(uX) + abs(uY) + abs(uZ) + abs(vX) + abs(vY) + abs(vZ)));
  for (let i: u32 = 0; i < reducedCount; i++) addPlace(reducedX(i), reducedY(i), reducedZ(i));
}

function offerSome(from: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    offerTriangle(triangleAt(i));
    i = overlappingAt(i).next;
  }
  return i;
}

function offerTriangle(t: Triangle): void {
  if (isIn(t.ax, t.ay, t.az) && isIn(t.bx, t.by, t.bz) && isIn(t.cx, t.cy, t.cz)) {
    offer(t.ax, t.ay, t.az);
    offer(t.bx, t.by, t.bz);
    offer(t.cx, t.cy, t.cz);
    return;
  }
  beginPolygon();
  addCorner(t.ax, t.ay, t.az);
  addCorner(t.bx, t.by, t.bz);
  addCorner(t.cx, t.cy, t.cz);
  if (!cutByCube()) return;
  for (let i: u32 = 0; i < cornerCount; i++) offer(cornerX(i), cornerY(i), cornerZ(i));
}

// @ts-ignore: decorator
@inline
function isIn(x: f64, y: f64, z: f64): bool {
  return abs(x) <= 1 && abs(y) <= 1 && abs(z) <= 1;
}

// @ts-ignore: decorator
@inline
function offer(x: f64, y: f64, z: f64): void {
  offerPoint(uX * x + uY * y + uZ * z, vX * x + vY * y + vZ * z, x, y, z);
}
