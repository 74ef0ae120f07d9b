// Contact of a box, sphere or capsule with a mesh's surface, in regions: sets of connected triangles that a single
// translation moves out of the solid. The triangle with the greatest minimum translation distance of its own is the
// seed: all triangles that its translation, or slightly more, moves out as well belong to its region; the next seed is
// chosen among the others. So the floor and the wall of a corner are two regions. If the common normal of the triangles
// around the seed is a better direction for them, it becomes the region's.

import { SHAPE_BOX } from '../../../../shared/layout';
import { checkpoint } from '../../checkpoint';
import { Affine, determinant, setRelative } from '../../math/affine';
import { Triangle } from '../../math/triangles';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { areaX, areaY, areaZ, hasCommonDirection, sumAll, sumAlike } from './projected-area';
import {
  BATCH_TRIANGLES, CUBE, NO_TRIANGLE, findOverlapping, overlappingAt, overlappingCount, triangleAt,
} from './overlapping-triangles';
import { nearestPointToSegment, pointX, pointY, pointZ } from './segment-triangle';
import { THROUGH_DISTANCE, triangleMtd, mtdX, mtdY, mtdZ, mtdBound } from './triangle-mtd';
import { findComponents, componentAt, componentCount } from './components';
import { addRegionPoints } from './region-points';
import { pseudonormalX, pseudonormalY, pseudonormalZ, findNearest, isBehind, nearestTriangle } from './pseudonormal';
import {
  exitDistance, exitBound, half, worldNormalDot, normalLengthSquared, setSolid, setDirection, localPerWorld, fullExtent,
} from './penetration-direction';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** A region may move farther than its seed by this factor. */
const REGION_FACTOR: f64 = 1.25;
/** And by this much more, relative to the solid's size: the rounding error of touching. */
const TOUCH_ROUNDING: f64 = 1e-9;
/** The most regions of one patch; the last one takes all remaining triangles. */
const MAX_REGIONS: u32 = 8;
/** Depths that differ by no more than this, relative to the solid's size, count as equal. */
const DEPTH_TOLERANCE: f64 = 1e-12;
/**
 * The squared cosine of the angle to a triangle's normal, 8 degrees, up to which a direction counts as perpendicular to
 * the triangle.
 */
const PERPENDICULAR_COSINE_SQUARED: f64 = 0.98;
/**
 * The same, 1e-5 radians, for the direction to the nearest point: at a greater angle that point is on the triangle's
 * border.
 */
const INNER_COSINE_SQUARED: f64 = 1 - 1e-10;

/** 1 if the direction in which the mesh moves is also the contact's normal, otherwise -1. */
let normalSign: f64 = 1;
/** -1 if the map to the solid's space mirrors the mesh. */
let orientation: f64 = 1;
/** The patch's triangles that are not in a region yet. */
let remaining: u32 = NO_TRIANGLE;
let seed: u32 = 0;
let seedDepth: f64 = 0;

/**
 * Adds the points of each region of contact of a solid that touches a mesh. Normals point to the mesh if `toMesh`,
 * otherwise from it. Throws OUT_OF_MEMORY.
 */
export function primitiveMeshContact(solid: PlacedShape, mesh: PlacedShape, toMesh: bool): void {
  const surface = changetype<Mesh>(mesh.mesh);
  normalSign = toMesh ? 1 : -1;
  setSolid(solid, solid.shape == SHAPE_BOX ? CUBE : solid.half);
  setRelative(map, mapOf(solid), mapOf(mesh));
  findOverlapping(surface, map, half, 4);
  // The test that found them touching may have rounded differently.
  if (overlappingCount == 0) findOverlapping(surface, map, half, 1e6);
  if (overlappingCount == 0) return;
  findComponents(surface);
  let frontTriangle = NO_TRIANGLE;
  if (surface.closed) {
    orientation = determinant(map) < 0 ? -1 : 1;
    findNearest(orientation);
    if (isBehind) frontTriangle = nearestTriangle;
  }
  for (let i: u32 = 0; i < componentCount; i++) addRegions(componentAt(i), frontTriangle);
}

/**
 * Adds the points of a patch, region by region. `frontTriangle` is the triangle behind which the solid's centre lies, or
 * NO_TRIANGLE.
 */
function addRegions(head: u32, frontTriangle: u32): void {
  remaining = head;
  if (frontTriangle != NO_TRIANGLE && isRemaining(frontTriangle)) extractRegion(chooseOutwards(frontTriangle), frontTriangle);
  for (let regionsLeft = MAX_REGIONS; remaining != NO_TRIANGLE; regionsLeft--) {
    findSeed();
    extractRegion(regionsLeft == 1 ? chooseForAll() : chooseForSeed(), seed);
  }
}

function isRemaining(triangle: u32): bool {
  for (let i = remaining; i != NO_TRIANGLE; i = overlappingAt(i).next) if (i == triangle) return true;
  return false;
}

/** Finds the triangle whose minimum translation distance is the greatest. */
function findSeed(): void {
  seed = remaining;
  seedDepth = -1;
  for (let i = remaining; i != NO_TRIANGLE; checkpoint(2 * BATCH_TRIANGLES)) i = findSeedInBatch(i);
}

/** Continues the search of `findSeed` with the next triangles of a list. Returns the first triangle after these. */
function findSeedInBatch(from: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    const at = i, overlapping = overlappingAt(at);
    i = overlapping.next;
    if (!overlapping.isMeasured && mtdBound(triangleAt(at)) > seedDepth) {
      overlapping.depth = triangleMtd(triangleAt(at));
      overlapping.isMeasured = true;
    }
    if (!overlapping.isMeasured || !(overlapping.depth > seedDepth)) continue;
    seed = at;
    seedDepth = overlapping.depth;
  }
  return i;
}

// --- the direction ---

// The best direction considered, as a normal in the solid's space; and how far the marked triangles must move along it.
let bestX: f64 = 0, bestY: f64 = 0, bestZ: f64 = 0;
let bestDepth: f64 = Infinity;

function tryDirection(requiredTriangle: u32, x: f64, y: f64, z: f64): void {
  setDirection(x, y, z);
  const limit = bestDepth * localPerWorld;
  depth = exitDistance(triangleAt(requiredTriangle));
  for (let i = remaining; i != NO_TRIANGLE && depth < limit; checkpoint(2 * BATCH_TRIANGLES)) i = raiseDepthInBatch(i, limit);
  if (!(depth < limit)) return;
  bestDepth = depth / localPerWorld;
  bestX = x;
  bestY = y;
  bestZ = z;
}

/** How far the triangles examined so far must move along the direction, in the solid's space. */
let depth: f64 = 0;

/**
 * Raises `depth` for the next triangles of a list that are marked as facing like the seed. Returns the first triangle after
 * these.
 */
function raiseDepthInBatch(from: u32, limit: f64): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE && depth < limit; n++) {
    const overlapping = overlappingAt(i), triangle = triangleAt(i);
    i = overlapping.next;
    if (!overlapping.isFacingAlike) continue;
    const bound = exitBound(triangle);
    if (bound > depth + DEPTH_TOLERANCE) depth = max(depth, min(bound, exitDistance(triangle)));
  }
  return i;
}

/** Sets the best direction. Returns how far a triangle of the region may have to move along it, in the solid's space. */
function useBestDirection(): f64 {
  setDirection(bestX, bestY, bestZ);
  return REGION_FACTOR * bestDepth * localPerWorld + TOUCH_ROUNDING;
}

/**
 * Chooses the seed's own direction, or the common normal of the triangles around it if that is better for them. Returns
 * the same distance as `useBestDirection`.
 */
function chooseForSeed(): f64 {
  triangleMtd(triangleAt(seed));
  const x = mtdX, y = mtdY, z = mtdZ;
  if (mayLeadIntoNeighbours(x, y, z)) {
    sumAlike(remaining, seed);
    bestDepth = Infinity;
    if (!runsIntoOthers(x, y, z)) tryDirection(seed, x, y, z);
    tryAreaDirection();
    if (bestDepth < Infinity && (bestX != x || bestY != y || bestZ != z)) return useBestDirection();
  }
  setDirection(x, y, z);
  return REGION_FACTOR * seedDepth * localPerWorld + TOUCH_ROUNDING;
}

/**
 * Returns whether a direction may be that of the seed's edge or corner rather than its face, and so may lead into
 * neighbouring triangles.
 */
function mayLeadIntoNeighbours(x: f64, y: f64, z: f64): bool {
  if (overlappingAt(remaining).next == NO_TRIANGLE) return false;
  const t = triangleAt(seed);
  // The direction away from the nearest point is always free.
  if (half != CUBE && !(nearestPointToSegment(half, t, THROUGH_DISTANCE * THROUGH_DISTANCE) < THROUGH_DISTANCE *
    THROUGH_DISTANCE)) return false;
  return !isPerpendicular(t, x, y, z, PERPENDICULAR_COSINE_SQUARED);
}

/**
 * Returns whether a direction, as a normal in the solid's space, is perpendicular to a triangle: `minCosineSquared` as in
 * PERPENDICULAR_COSINE_SQUARED.
 */
function isPerpendicular(t: Triangle, x: f64, y: f64, z: f64, minCosineSquared: f64): bool {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const cosineTerm = worldNormalDot(x, y, z, nx, ny, nz);
  return cosineTerm * cosineTerm >= minCosineSquared * normalLengthSquared(x, y, z) * normalLengthSquared(nx, ny, nz);
}

/**
 * Returns whether the solid, on leaving the seed along a direction, would run into other triangles around it that reach
 * farther.
 */
function runsIntoOthers(x: f64, y: f64, z: f64): bool {
  setDirection(x, y, z);
  const maxExit = max(exitBound(triangleAt(seed)), fullExtent()) + DEPTH_TOLERANCE;
  for (let i = remaining; i != NO_TRIANGLE; checkpoint(BATCH_TRIANGLES)) {
    i = findBeyondInBatch(i, maxExit);
    if (isBeyond) return true;
  }
  return false;
}

let isBeyond: bool = false;

/**
 * Sets `isBeyond` if one of the next marked triangles of a list reaches beyond `maxExit`. Returns the first triangle after
 * those that were examined.
 */
function findBeyondInBatch(from: u32, maxExit: f64): u32 {
  let i = from;
  isBeyond = false;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE && !isBeyond; n++) {
    const overlapping = overlappingAt(i);
    isBeyond = overlapping.isFacingAlike && exitBound(triangleAt(i)) > maxExit;
    i = overlapping.next;
  }
  return i;
}

function tryAreaDirection(): void {
  if (!hasCommonDirection()) return;
  const x = areaX, y = areaY, z = areaZ;
  tryDirection(seed, -x, -y, -z);
  tryDirection(seed, x, y, z);
}

/** Chooses the direction for all remaining triangles. Returns Infinity, since all of them belong to the region. */
function chooseForAll(): f64 {
  triangleMtd(triangleAt(seed));
  sumAll(remaining);
  bestDepth = Infinity;
  tryDirection(seed, mtdX, mtdY, mtdZ);
  tryAreaDirection();
  useBestDirection();
  return Infinity;
}

/**
 * Chooses the direction for a solid whose centre is behind the surface: the mesh moves back through it. Returns the same
 * distance as `useBestDirection`.
 */
function chooseOutwards(frontTriangle: u32): f64 {
  const distance = sqrt(nearestPointToSegment(half, triangleAt(frontTriangle), Infinity));
  const segmentHalf = max(half, 0.0);
  sumAlike(remaining, frontTriangle);
  bestDepth = Infinity;
  if (distance > THROUGH_DISTANCE)
    tryDirection(frontTriangle, -pointX, -pointY, max(min(pointZ, segmentHalf), -segmentHalf) - pointZ);
  else tryDirection(frontTriangle, -pseudonormalX, -pseudonormalY, -pseudonormalZ);
  // If the nearest point is on an edge or corner of the surface, nothing is in the way of a ball that leaves straight
  // through it.
  const isInFace = half != 0 || !(distance > THROUGH_DISTANCE) ||
    isPerpendicular(triangleAt(frontTriangle), pointX, pointY, pointZ, INNER_COSINE_SQUARED);
  if (isInFace && hasCommonDirection())
    tryDirection(frontTriangle, -orientation * areaX, -orientation * areaY, -orientation * areaZ);
  return useBestDirection();
}

// --- the region ---

// The triangles that a region takes, and those that remain, in their order.
let region: u32 = NO_TRIANGLE;
let remainingHead: u32 = NO_TRIANGLE;
let remainingTail: u32 = NO_TRIANGLE;

/**
 * Moves the triangles that leave the solid before `limit`, and `requiredTriangle`, from `remaining` to a region, and adds the
 * region's points.
 */
function extractRegion(limit: f64, requiredTriangle: u32): void {
  region = remainingHead = remainingTail = NO_TRIANGLE;
  depth = exitDistance(triangleAt(requiredTriangle));
  for (let i = remaining; i != NO_TRIANGLE; checkpoint(2 * BATCH_TRIANGLES)) i = extractBatch(i, limit, requiredTriangle);
  if (remainingTail != NO_TRIANGLE) overlappingAt(remainingTail).next = NO_TRIANGLE;
  remaining = remainingHead;
  addRegionPoints(region, requiredTriangle, depth / localPerWorld, normalSign);
}

/** Does the work of `extractRegion` for the next triangles of a list. Returns the first triangle after these. */
function extractBatch(from: u32, limit: f64, requiredTriangle: u32): u32 {
  let i = from;
  for (let n = 0; n < BATCH_TRIANGLES && i != NO_TRIANGLE; n++) {
    const overlapping = overlappingAt(i), triangle = triangleAt(i), next = overlapping.next;
    const bound = exitBound(triangle);
    const exitDepth = bound > depth + DEPTH_TOLERANCE ? min(bound, exitDistance(triangle)) : min(bound, depth);
    if (exitDepth <= max(limit, depth) || i == requiredTriangle) {
      depth = max(depth, exitDepth);
      overlapping.next = region;
      region = i;
    } else {
      if (remainingHead == NO_TRIANGLE) remainingHead = i;
      else overlappingAt(remainingTail).next = i;
      remainingTail = i;
    }
    i = next;
  }
  return i;
}
