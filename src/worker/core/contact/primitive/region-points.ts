// Chooses the points of a region of contact: points of the mesh inside the primitive.

import { checkpoint } from '../../checkpoint';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { addCorner, beginPolygon, cornerCount, cornerX, cornerY, cornerZ, clipByCube } from '../../math/clip-polygon';
import { Triangle } from '../../math/triangles';
import { addPoint } from '../manifold/contact';
import { BATCH_TRIANGLES, CUBE, NO_TRIANGLE, overlappingAt, triangleAt } from './overlapping-triangles';
import { nearestPointToSegment, nearestPointToEnd, pointX, pointY, pointZ } from './segment-triangle';
import {
  half, worldDirectionComponent, worldCoordinate, worldDirectionX, worldDirectionY, worldDirectionZ,
} from './penetration-direction';
import {
  beginReduction, isReductionEmpty, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';

/** Points that are nearer to each other than this, relative to the solid's size, count once. */
const POINT_TOLERANCE: f64 = 1e-4;

let depth: f64 = 0;
/** 1 if the contact's normal is the direction, -1 if it is opposite. */
let normalSign: f64 = 1;

/**
 * Adds the points of the triangles in the list that begins with `head`: for a ball the point of triangle `seed` that is
 * nearest to its centre; for a capsule the points that are farthest apart along it; for a box corners of the patch.
 * Throws OUT_OF_MEMORY.
 */
export function addRegionPoints(head: u32, seed: u32, regionDepth: f64, normalSide: f64): void {
  depth = regionDepth;
  normalSign = normalSide;
  if (half == CUBE) addPatchCorners(head);
  else if (half == 0) addNearest(seed);
  else addEnds(head, seed);
}

function addLocalPoint(x: f64, y: f64, z: f64): void {
  addPoint(
    worldCoordinate(x, y, z, 0), worldCoordinate(x, y, z, 1), worldCoordinate(x, y, z, 2), normalSign * worldDirectionX,
    normalSign * worldDirectionY, normalSign * worldDirectionZ, depth,
  );
}

function addNearest(seed: u32): void {
  nearestPointToSegment(half, triangleAt(seed), Infinity);
  addLocalPoint(pointX, pointY, pointZ);
}

// --- capsule ---

let lowestX: f64 = 0, lowestY: f64 = 0, lowestZ: f64 = 0;
let highestX: f64 = 0, highestY: f64 = 0, highestZ: f64 = 0;

function addEnds(head: u32, seed: u32): void {
  lowestZ = Infinity;
  highestZ = -Infinity;
  for (let i = head; i != NO_TRIANGLE; checkpoint(8 * BATCH_TRIANGLES)) i = includeBatch(i);
  if (lowestZ > highestZ) return addNearest(seed);
  addLocalPoint(lowestX, lowestY, lowestZ);
  if (highestZ - lowestZ > POINT_TOLERANCE * (1.0 + half)) addLocalPoint(highestX, highestY, highestZ);
}

function includeBatch(from: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    const triangle = triangleAt(i);
    i = overlappingAt(i).next;
    // None of its points can extend the current interval.
    if (
      min(min(triangle.az, triangle.bz), triangle.cz) >= lowestZ && max(max(triangle.az, triangle.bz), triangle.cz) <= highestZ
    ) continue;
    if (nearestPointToSegment(half, triangle, 1.0) < 1) includePoint();
    if (nearestPointToEnd(half, triangle) <= 1) includePoint();
    if (nearestPointToEnd(-half, triangle) <= 1) includePoint();
  }
  return i;
}

function includePoint(): void {
  if (pointZ < lowestZ) {
    lowestX = pointX;
    lowestY = pointY;
    lowestZ = pointZ;
  }
  if (pointZ > highestZ) {
    highestX = pointX;
    highestY = pointY;
    highestZ = pointZ;
  }
}

// --- box ---

// Vectors that map points of the solid's space to coordinates along two axes perpendicular to the direction.
let uX: f64 = 0, uY: f64 = 0, uZ: f64 = 0;
let vX: f64 = 0, vY: f64 = 0, vZ: f64 = 0;

function addPatchCorners(head: u32): void {
  setBasis(worldDirectionX, worldDirectionY, worldDirectionZ);
  uX = worldDirectionComponent(tangentX, tangentY, tangentZ, 0);
  uY = worldDirectionComponent(tangentX, tangentY, tangentZ, 1);
  uZ = worldDirectionComponent(tangentX, tangentY, tangentZ, 2);
  vX = worldDirectionComponent(bitangentX, bitangentY, bitangentZ, 0);
  vY = worldDirectionComponent(bitangentX, bitangentY, bitangentZ, 1);
  vZ = worldDirectionComponent(bitangentX, bitangentY, bitangentZ, 2);
  beginReduction();
  for (let i = head; i != NO_TRIANGLE; checkpoint(4 * BATCH_TRIANGLES)) i = offerBatch(i);
  // The triangles only touch, and clipping left nothing due to rounding.
  if (isReductionEmpty()) return addNearest(head);
  reduceToFour(POINT_TOLERANCE * (abs(uX) + abs(uY) + abs(uZ) + abs(vX) + abs(vY) + abs(vZ)));
  for (let i: u32 = 0; i < reducedCount; i++) addLocalPoint(reducedX(i), reducedY(i), reducedZ(i));
}

function offerBatch(from: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    offerTriangle(triangleAt(i));
    i = overlappingAt(i).next;
  }
  return i;
}

function offerTriangle(t: Triangle): void {
  if (isInCube(t.ax, t.ay, t.az) && isInCube(t.bx, t.by, t.bz) && isInCube(t.cx, t.cy, t.cz)) {
    offerCorner(t.ax, t.ay, t.az);
    offerCorner(t.bx, t.by, t.bz);
    offerCorner(t.cx, t.cy, t.cz);
    return;
  }
  beginPolygon();
  addCorner(t.ax, t.ay, t.az);
  addCorner(t.bx, t.by, t.bz);
  addCorner(t.cx, t.cy, t.cz);
  if (!clipByCube()) return;
  for (let i: u32 = 0; i < cornerCount; i++) offerCorner(cornerX(i), cornerY(i), cornerZ(i));
}

// @ts-ignore: decorator
@inline
function isInCube(x: f64, y: f64, z: f64): bool {
  return abs(x) <= 1 && abs(y) <= 1 && abs(z) <= 1;
}

// @ts-ignore: decorator
@inline
function offerCorner(x: f64, y: f64, z: f64): void {
  offerPoint(uX * x + uY * y + uZ * z, vX * x + vY * y + vZ * z, x, y, z);
}
