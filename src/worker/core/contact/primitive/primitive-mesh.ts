// Contact of a box, sphere or capsule with a mesh's surface, in regions: sets of connected triangles that a single
// translation moves out of the solid. The triangle with the greatest minimum translation distance of its own is the
// seed: all triangles that its translation, or slightly more, moves out as well belong to its region; the next seed is
// chosen among the others. So the floor and the wall of a corner are two regions. If the common normal of the triangles
// around the seed is a better direction for them, it becomes the region's.

import { SHAPE_BOX } from '../../../../shared/layout';
import { checkpoint } from '../../checkpoint';
import { Affine, determinant, relate } from '../../math/affine';
import { Triangle } from '../../math/triangles';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { areaX, areaY, areaZ, isCommon, sumAll, sumAround } from './projected-area';
import { CHUNK, CUBE, NONE, findOverlapping, overlappingAt, overlappingCount, triangleAt } from './overlapping-triangles';
import { nearestPlace, placeX, placeY, placeZ } from './segment-triangle';
import { THROUGH, triangleMtd, ownX, ownY, ownZ, exitOfBounds } from './triangle-mtd';
import { findComponents, componentAt, componentCount } from './components';
import { addRegionPoints } from './region-points';
import { behindX, behindY, behindZ, findNearest, isBehind, nearestTriangle } from './pseudonormal';
import { exitDistance, exitBound, half, normalDot, normalSquare, setSolid, setWay, unit, whole } from './penetration-direction';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** A region may move farther than its seed by this factor. */
const NEARLY: f64 = 1.25;
/** And by this much more, relative to the solid's size: the rounding error of touching. */
const TOUCH: f64 = 1e-9;
/** The most regions of one patch; the last one takes all remaining triangles. */
const MOST_REGIONS: u32 = 8;
/** Depths that differ by no more than this, relative to the solid's size, count as equal. */
const EQUAL: f64 = 1e-12;
/**
 * The squared cosine of the angle to a triangle's normal, 8 degrees, up to which a direction counts as perpendicular to
 * the triangle.
 */
const ACROSS: f64 = 0.98;
/**
 * The same, 1e-5 radians, for the direction to the nearest point: at a greater angle that point is on the triangle's
 * border.
 */
const UPRIGHT: f64 = 1 - 1e-10;

/** 1 if the direction in which the mesh moves is also the contact's normal, otherwise -1. */
let side: f64 = 1;
/** -1 if the map to the solid's space mirrors the mesh. */
let orientation: f64 = 1;
/** The patch's triangles that are not in a region yet. */
let rest: u32 = NONE;
let seed: u32 = 0;
let seedDepth: f64 = 0;

/**
 * Adds the points of each region of contact of a solid that touches a mesh. Normals point to the mesh if `toMesh`,
 * otherwise from it. Throws OUT_OF_MEMORY.
 */
export function primitiveMeshContact(solid: PlacedShape, mesh: PlacedShape, toMesh: bool): void {
  const surface = changetype<Mesh>(mesh.mesh);
  side = toMesh ? 1 : -1;
  setSolid(solid, solid.shape == SHAPE_BOX ? CUBE : solid.half);
  relate(map, mapOf(solid), mapOf(mesh));
  findOverlapping(surface, map, half, 4);
  // The test that found them touching may have rounded differently.
  if (overlappingCount == 0) findOverlapping(surface, map, half, 1e6);
  if (overlappingCount == 0) return;
  findComponents(surface);
  let sunk = NONE;
  if (surface.closed) {
    orientation = determinant(map) < 0 ? -1 : 1;
    findNearest(orientation);
    if (isBehind) sunk = nearestTriangle;
  }
  for (let i: u32 = 0; i < componentCount; i++) separate(componentAt(i), sunk);
}

/** Adds the points of a patch, region by region. `sunk` is the triangle behind which the solid's centre lies, or NONE. */
function separate(head: u32, sunk: u32): void {
  rest = head;
  if (sunk != NONE && contains(sunk)) takeRegion(chooseOutwards(sunk), sunk);
  for (let left = MOST_REGIONS; rest != NONE; left--) {
    findSeed();
    takeRegion(left == 1 ? chooseForAll() : chooseForSeed(), seed);
  }
}

function contains(triangle: u32): bool {
  for (let i = rest; i != NONE; i = overlappingAt(i).next) if (i == triangle) return true;
  return false;
}

/** Finds the triangle whose minimum translation distance is the greatest. */
function findSeed(): void {
  seed = rest;
  seedDepth = -1;
  for (let i = rest; i != NONE; checkpoint(2 * CHUNK)) i = findSeedAmong(i);
}

/** Continues the search of `findSeed` with the next triangles of a list. Returns the first triangle after these. */
function findSeedAmong(from: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    const at = i, met = overlappingAt(at);
    i = met.next;
    if (!met.isMeasured && exitOfBounds(triangleAt(at)) > seedDepth) {
      met.depth = triangleMtd(triangleAt(at));
      met.isMeasured = true;
    }
    if (!met.isMeasured || !(met.depth > seedDepth)) continue;
    seed = at;
    seedDepth = met.depth;
  }
  return i;
}

// --- the direction ---

// The best direction considered, as a normal in the solid's space; and how far the marked triangles must move along it.
let bestX: f64 = 0, bestY: f64 = 0, bestZ: f64 = 0;
let bestDepth: f64 = Infinity;

function consider(leader: u32, x: f64, y: f64, z: f64): void {
  if (x == 0 && y == 0 && z == 0) return;
  setWay(x, y, z);
  const limit = bestDepth * unit;
  depth = exitDistance(triangleAt(leader));
  for (let i = rest; i != NONE && depth < limit; checkpoint(2 * CHUNK)) i = leaveAmong(i, limit);
  if (!(depth < limit)) return;
  bestDepth = depth / unit;
  bestX = x;
  bestY = y;
  bestZ = z;
}

/** How far the triangles examined so far must move along the direction, in the solid's space. */
let depth: f64 = 0;

/**
 * Raises `depth` for the next triangles of a list that are marked as around the seed. Returns the first triangle after
 * these.
 */
function leaveAmong(from: u32, limit: f64): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE && depth < limit; n++) {
    const met = overlappingAt(i), triangle = triangleAt(i);
    i = met.next;
    if (!met.isAround) continue;
    const bound = exitBound(triangle);
    if (bound > depth + EQUAL) depth = max(depth, min(bound, exitDistance(triangle)));
  }
  return i;
}

/** Sets the best direction. Returns how far a triangle of the region may have to move along it, in the solid's space. */
function takeBest(): f64 {
  setWay(bestX, bestY, bestZ);
  return NEARLY * bestDepth * unit + TOUCH;
}

/**
 * Chooses the seed's own direction, or the common normal of the triangles around it if that is better for them. Returns
 * the same distance as `takeBest`.
 */
function chooseForSeed(): f64 {
  triangleMtd(triangleAt(seed));
  const x = ownX, y = ownY, z = ownZ;
  if (leadsAside(x, y, z)) {
    sumAround(rest, seed);
    bestDepth = Infinity;
    if (!goesOn(x, y, z)) consider(seed, x, y, z);
    considerArea();
    if (bestDepth < Infinity && (bestX != x || bestY != y || bestZ != z)) return takeBest();
  }
  setWay(x, y, z);
  return NEARLY * seedDepth * unit + TOUCH;
}

/**
 * Returns whether a direction may be that of the seed's edge or corner rather than its face, and so may lead into
 * neighbouring triangles.
 */
function leadsAside(x: f64, y: f64, z: f64): bool {
  if (overlappingAt(rest).next == NONE) return false;
  const t = triangleAt(seed);
  // The direction away from the nearest point is always free.
  if (half != CUBE && !(nearestPlace(half, t, THROUGH * THROUGH) < THROUGH * THROUGH)) return false;
  return !isAcross(t, x, y, z, ACROSS);
}

/**
 * Returns whether a direction, as a normal in the solid's space, is perpendicular to a triangle: `least` as in ACROSS.
 */
function isAcross(t: Triangle, x: f64, y: f64, z: f64, least: f64): bool {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const along = normalDot(x, y, z, nx, ny, nz);
  return along * along >= least * normalSquare(x, y, z) * normalSquare(nx, ny, nz);
}

/**
 * Returns whether the solid, on leaving the seed along a direction, would run into other triangles around it that reach
 * farther.
 */
function goesOn(x: f64, y: f64, z: f64): bool {
  setWay(x, y, z);
  const end = max(exitBound(triangleAt(seed)), whole()) + EQUAL;
  for (let i = rest; i != NONE; checkpoint(CHUNK)) {
    i = findBeyond(i, end);
    if (isBeyond) return true;
  }
  return false;
}

let isBeyond: bool = false;

/**
 * Sets `isBeyond` if one of the next marked triangles of a list reaches beyond `end`. Returns the first triangle after
 * those that were examined.
 */
function findBeyond(from: u32, end: f64): u32 {
  let i = from;
  isBeyond = false;
  for (let n = 0; n < CHUNK && i != NONE && !isBeyond; n++) {
    const met = overlappingAt(i);
    isBeyond = met.isAround && exitBound(triangleAt(i)) > end;
    i = met.next;
  }
  return i;
}

function considerArea(): void {
  if (!isCommon()) return;
  const x = areaX, y = areaY, z = areaZ;
  consider(seed, -x, -y, -z);
  consider(seed, x, y, z);
}

/** Chooses the direction for all remaining triangles. Returns Infinity, since all of them belong to the region. */
function chooseForAll(): f64 {
  triangleMtd(triangleAt(seed));
  sumAll(rest);
  bestDepth = Infinity;
  consider(seed, ownX, ownY, ownZ);
  considerArea();
  takeBest();
  return Infinity;
}

/**
 * Chooses the direction for a solid whose centre is behind the surface: the mesh moves back through it. Returns the same
 * distance as `takeBest`.
 */
function chooseOutwards(sunk: u32): f64 {
  const distance = sqrt(nearestPlace(half, triangleAt(sunk), Infinity));
  const reach = max(half, 0.0);
  sumAround(rest, sunk);
  bestDepth = Infinity;
  if (distance > THROUGH) consider(sunk, -placeX, -placeY, max(min(placeZ, reach), -reach) - placeZ);
  else consider(sunk, -behindX, -behindY, -behindZ);
  // If the nearest point is on an edge or corner of the surface, nothing is in the way of a ball that leaves straight
  // through it.
  const isWithin = half != 0 || !(distance > THROUGH) || isAcross(triangleAt(sunk), placeX, placeY, placeZ, UPRIGHT);
  if (isWithin && isCommon()) consider(sunk, -orientation * areaX, -orientation * areaY, -orientation * areaZ);
  return takeBest();
}

// --- the region ---

// The triangles that a region takes, and those that remain, in their order.
let region: u32 = NONE;
let left: u32 = NONE;
let lastLeft: u32 = NONE;

/**
 * Moves the triangles that leave the solid before `limit`, and `leader`, from `rest` to a region, and adds the region's
 * points.
 */
function takeRegion(limit: f64, leader: u32): void {
  region = left = lastLeft = NONE;
  depth = exitDistance(triangleAt(leader));
  for (let i = rest; i != NONE; checkpoint(2 * CHUNK)) i = takeAmong(i, limit, leader);
  if (lastLeft != NONE) overlappingAt(lastLeft).next = NONE;
  rest = left;
  addRegionPoints(region, leader, depth / unit, side);
}

/** Does the work of `takeRegion` for the next triangles of a list. Returns the first triangle after these. */
function takeAmong(from: u32, limit: f64, leader: u32): u32 {
  let i = from;
  for (let n = 0; n < CHUNK && i != NONE; n++) {
    const met = overlappingAt(i), triangle = triangleAt(i), next = met.next;
    const bound = exitBound(triangle);
    const way = bound > depth + EQUAL ? min(bound, exitDistance(triangle)) : min(bound, depth);
    if (way <= max(limit, depth) || i == leader) {
      depth = max(depth, way);
      met.next = region;
      region = i;
    } else {
      if (left == NONE) left = i;
      else overlappingAt(lastLeft).next = i;
      lastLeft = i;
    }
    i = next;
  }
  return i;
}
