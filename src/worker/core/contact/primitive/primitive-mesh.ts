// Contact of a box, sphere or capsule with a mesh's surface, in regions: triangles that hang together, and that one
// move takes out of the solid. The triangle that must go farthest on the shortest way of its own leads: what its way
// takes out as well, or nearly so, is of its region; the next of the others leads another one. So the floor and the
// wall of a corner are two regions. Where those around the triangle have a better way, on their common normal, that
// is the region's.

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

/** A region may have to go so much farther than its leading triangle. */
const NEARLY: f64 = 1.25;
/** And by this more, relative to the solid's size: what rounding makes of touching. */
const TOUCH: f64 = 1e-9;
/** The most regions of one patch; the last one takes all that is left. */
const MOST_REGIONS: u32 = 8;
/** Depths that differ by no more, of the solid's size, are not told apart. */
const EQUAL: f64 = 1e-12;
/**
 * Squared cosine of the angle with a triangle's normal, 8 degrees, up to which a direction leads across the triangle.
 */
const ACROSS: f64 = 0.98;
/** The same, 1e-5 radians, for a direction to the nearest place: beyond it that is on the border of the triangle. */
const UPRIGHT: f64 = 1 - 1e-10;

/** 1 where the direction in which the mesh moves is also the contact's normal, else -1. */
let side: f64 = 1;
/** -1 where the map to the solid's space turns the mesh inside out. */
let orientation: f64 = 1;
/** The patch's triangles that are in no region yet. */
let rest: u32 = NONE;
let seed: u32 = 0;
let seedDepth: f64 = 0;

/**
 * Adds the points of each region of contact of a solid that meets a mesh. Normals lead to the mesh where `toMesh`, else
 * from it. Throws OUT_OF_MEMORY.
 */
export function primitiveMeshContact(solid: PlacedShape, mesh: PlacedShape, toMesh: bool): void {
  const surface = changetype<Mesh>(mesh.mesh);
  side = toMesh ? 1 : -1;
  setSolid(solid, solid.shape == SHAPE_BOX ? CUBE : solid.half);
  relate(map, mapOf(solid), mapOf(mesh));
  findOverlapping(surface, map, half, 4);
  // Whoever decided that they touch may have rounded otherwise.
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

/** Adds the points of a patch, region by region. `sunk` is the triangle behind which the solid has sunk. */
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

/** Continues the search of `findSeed` among the next triangles of a list. Answers the first triangle behind these. */
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

// --- the way ---

// The best of those that were considered, as a normal in the solid's space; and how far those around must go on it.
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

/** How far the triangles that were looked at must move along the direction, in the solid's space. */
let depth: f64 = 0;

/**
 * Raises `depth` for the next triangles of a list that are marked as around. Answers the first triangle behind these.
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

/**
 * Sets the best direction. Answers how far a triangle of the region may have to move along it, in the solid's space.
 */
function takeBest(): f64 {
  setWay(bestX, bestY, bestZ);
  return NEARLY * bestDepth * unit + TOUCH;
}

/**
 * Chooses the leading triangle's own direction, or the common normal of the triangles around it where that is better
 * for them. Answers what `takeBest` does.
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

/** Tells whether a direction may lead past the leading triangle's neighbours, as it is not across the triangle. */
function leadsAside(x: f64, y: f64, z: f64): bool {
  if (overlappingAt(rest).next == NONE) return false;
  const t = triangleAt(seed);
  // Away from the nearest place nothing is in the way.
  if (half != CUBE && !(nearestPlace(half, t, THROUGH * THROUGH) < THROUGH * THROUGH)) return false;
  return !isAcross(t, x, y, z, ACROSS);
}

/** Tells whether a direction, as a normal in the solid's space, leads across a triangle: `least` as ACROSS. */
function isAcross(t: Triangle, x: f64, y: f64, z: f64, least: f64): bool {
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const along = normalDot(x, y, z, nx, ny, nz);
  return along * along >= least * normalSquare(x, y, z) * normalSquare(nx, ny, nz);
}

/**
 * Tells whether along a direction the solid leaves the leading triangle only to run into others around it that reach
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
 * Finds whether one of the next triangles of a list that are around reaches beyond `end`. Answers the first triangle
 * behind these.
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

/** Chooses the direction for all triangles that are left. Answers Infinity, as all of them are of the region. */
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
 * Chooses the direction for a solid whose middle is behind the surface: the mesh moves back through it. Answers what
 * `takeBest` does.
 */
function chooseOutwards(sunk: u32): f64 {
  const distance = sqrt(nearestPlace(half, triangleAt(sunk), Infinity));
  const reach = max(half, 0.0);
  sumAround(rest, sunk);
  bestDepth = Infinity;
  if (distance > THROUGH) consider(sunk, -placeX, -placeY, max(min(placeZ, reach), -reach) - placeZ);
  else consider(sunk, -behindX, -behindY, -behindZ);
  // The nearest corner or edge of the surface is in nobody's way: there a ball leaves straight.
  const isWithin = half != 0 || !(distance > THROUGH) || isAcross(triangleAt(sunk), placeX, placeY, placeZ, UPRIGHT);
  if (isWithin && isCommon()) consider(sunk, -orientation * areaX, -orientation * areaY, -orientation * areaZ);
  return takeBest();
}

// --- the region ---

// The triangles that a region takes, and those that it leaves, in their order.
let region: u32 = NONE;
let left: u32 = NONE;
let lastLeft: u32 = NONE;

/**
 * Moves the triangles that leave the solid before `limit`, and `leader`, from the rest to a region, and adds the
 * region's points.
 */
function takeRegion(limit: f64, leader: u32): void {
  region = left = lastLeft = NONE;
  depth = exitDistance(triangleAt(leader));
  for (let i = rest; i != NONE; checkpoint(2 * CHUNK)) i = takeAmong(i, limit, leader);
  if (lastLeft != NONE) overlappingAt(lastLeft).next = NONE;
  rest = left;
  addRegionPoints(region, leader, depth / unit, side);
}

/**
 * Takes triangles out of the next ones of a list, as `takeRegion` does of the rest. Answers the first triangle behind
 * these.
 */
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
