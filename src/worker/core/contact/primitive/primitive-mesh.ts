// Contact of a box, sphere or capsule with a mesh's surface, in regions: triangles that hang together, and that one
// move takes out of the solid. The triangle that must go farthest on the shortest way of its own leads: what its way
// takes out as well, or nearly so, is of its region; the next of the others leads another one. So the floor and the
// wall of a corner are two regions. Where those around the triangle have a better way, on their common normal, that
// is the region's.

import { SHAPE_BOX } from '../../../../shared/layout';
import { Affine, determinant, relate } from '../../math/affine';
import { Mesh } from '../../mesh/tree/layout';
import { Solid, mapOf } from '../../shape/placed-shape';
import { areaX, areaY, areaZ, isCommon, sumAll, sumAround } from './projected-area';
import { CUBE, NONE, findMet, metAt, metCount, triangleAt } from '../met';
import { nearestPlace, placeX, placeY, placeZ } from './segment-triangle';
import { THROUGH, ownExit, ownX, ownY, ownZ, exitOfBounds } from './triangle-mtd';
import { findPatches, patchAt, patchCount } from './components';
import { addRegionPoints } from './region-points';
import { behindX, behindY, behindZ, findNearest, isBehind, nearestTriangle } from './pseudonormal';
import { exit, exitBound, half, normalDot, normalSquare, setSolid, setWay, unit, whole } from './penetration-direction';

const map = changetype<Affine>(memory.data(96, 16));

/** How much farther than its leading triangle a region may have to go. */
const NEARLY: f64 = 1.25;
/** And that much, of the solid's size: what rounding makes of touching. */
const TOUCH: f64 = 1e-9;
/** Of one patch; the last one takes all that is left. */
const MOST_REGIONS: u32 = 8;
/** Depths that differ by no more, of the solid's size, are not told apart. */
const EQUAL: f64 = 1e-12;
/** Squared cosine of the angle with its normal, 8 degrees, up to which a way is across a triangle. */
const ACROSS: f64 = 0.98;

/** 1 where the way, on which the mesh moves, is also the contact's normal. */
let side: f64 = 1;
/** -1 where the map to the solid's space turns the mesh inside out. */
let orientation: f64 = 1;
/** The patch's triangles that are in no region yet. */
let rest: u32 = NONE;
let seed: u32 = 0;
let seedDepth: f64 = 0;

/** A solid that meets a mesh: adds the points of each region of contact. Normals lead to the mesh, or from it. */
export function solidSurfaceContact(solid: Solid, mesh: Solid, toMesh: bool): void {
  const surface = changetype<Mesh>(mesh.mesh);
  side = toMesh ? 1 : -1;
  setSolid(solid, solid.shape == SHAPE_BOX ? CUBE : solid.half);
  relate(map, mapOf(solid), mapOf(mesh));
  findMet(surface, map, half, 4);
  // Whoever decided that they touch may have rounded otherwise.
  if (metCount == 0) findMet(surface, map, half, 1e6);
  if (metCount == 0) return;
  findPatches();
  let sunk = NONE;
  if (surface.closed) {
    orientation = determinant(map) < 0 ? -1 : 1;
    findNearest(orientation);
    if (isBehind) sunk = nearestTriangle;
  }
  for (let i: u32 = 0; i < patchCount; i++) separate(patchAt(i), sunk);
}

/** Adds the points of a patch. `sunk` is the triangle behind which the solid has sunk. */
function separate(head: u32, sunk: u32): void {
  rest = head;
  if (sunk != NONE && contains(sunk)) takeRegion(chooseOutwards(sunk), sunk);
  for (let left = MOST_REGIONS; rest != NONE; left--) {
    findSeed();
    takeRegion(left == 1 ? chooseForAll() : chooseForSeed(), seed);
  }
}

function contains(triangle: u32): bool {
  for (let i = rest; i != NONE; i = metAt(i).next) if (i == triangle) return true;
  return false;
}

/** The triangle with the longest shortest way. */
function findSeed(): void {
  seed = rest;
  seedDepth = -1;
  for (let i = rest; i != NONE; i = metAt(i).next) {
    const met = metAt(i);
    if (!met.isMeasured && exitOfBounds(triangleAt(i)) > seedDepth) {
      met.depth = ownExit(triangleAt(i));
      met.isMeasured = true;
    }
    if (!met.isMeasured || !(met.depth > seedDepth)) continue;
    seed = i;
    seedDepth = met.depth;
  }
}

// --- the way ---

// The best of those that were considered, as a normal in the solid's space; and how far those around must go on it.
let bestX: f64 = 0, bestY: f64 = 0, bestZ: f64 = 0;
let bestDepth: f64 = Infinity;

function consider(leader: u32, x: f64, y: f64, z: f64): void {
  if (x == 0 && y == 0 && z == 0) return;
  setWay(x, y, z);
  const limit = bestDepth * unit;
  let depth = exit(triangleAt(leader));
  for (let i = rest; i != NONE && depth < limit; i = metAt(i).next) {
    if (!metAt(i).isAround) continue;
    const bound = exitBound(triangleAt(i));
    if (bound > depth + EQUAL) depth = max(depth, min(bound, exit(triangleAt(i))));
  }
  if (!(depth < limit)) return;
  bestDepth = depth / unit;
  bestX = x;
  bestY = y;
  bestZ = z;
}

/** Sets the way that was best; answers how far a triangle of the region may have to go on it, in the solid's space. */
function takeBest(): f64 {
  setWay(bestX, bestY, bestZ);
  return NEARLY * bestDepth * unit + TOUCH;
}

/** The same of the leading triangle's own way, or of the normal of those around it where that is better for them. */
function chooseForSeed(): f64 {
  ownExit(triangleAt(seed));
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

/** Whether that way may lead past the triangle's neighbours, as it is not across it. */
function leadsAside(x: f64, y: f64, z: f64): bool {
  if (metAt(rest).next == NONE) return false;
  const t = triangleAt(seed);
  // Away from the nearest place nothing is in the way.
  if (half != CUBE && !(nearestPlace(half, t, THROUGH * THROUGH) < THROUGH * THROUGH)) return false;
  const ux = t.bx - t.ax, uy = t.by - t.ay, uz = t.bz - t.az;
  const vx = t.cx - t.ax, vy = t.cy - t.ay, vz = t.cz - t.az;
  const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const along = normalDot(x, y, z, nx, ny, nz);
  return !(along * along >= ACROSS * normalSquare(x, y, z) * normalSquare(nx, ny, nz));
}

/** Whether on that way the solid leaves the triangle for others around it, that reach farther where it goes. */
function goesOn(x: f64, y: f64, z: f64): bool {
  setWay(x, y, z);
  const end = max(exitBound(triangleAt(seed)), whole()) + EQUAL;
  for (let i = rest; i != NONE; i = metAt(i).next) if (metAt(i).isAround && exitBound(triangleAt(i)) > end) return true;
  return false;
}

function considerArea(): void {
  if (!isCommon()) return;
  const x = areaX, y = areaY, z = areaZ;
  consider(seed, -x, -y, -z);
  consider(seed, x, y, z);
}

/** The same for all that is left. */
function chooseForAll(): f64 {
  ownExit(triangleAt(seed));
  sumAll(rest);
  bestDepth = Infinity;
  consider(seed, ownX, ownY, ownZ);
  considerArea();
  takeBest();
  return Infinity;
}

/** The same for a solid whose middle is behind the surface: the mesh moves back through it. */
function chooseOutwards(sunk: u32): f64 {
  const distance = sqrt(nearestPlace(half, triangleAt(sunk), Infinity));
  const reach = max(half, 0.0);
  sumAround(rest, sunk);
  bestDepth = Infinity;
  if (distance > THROUGH) consider(sunk, -placeX, -placeY, max(min(placeZ, reach), -reach) - placeZ);
  else consider(sunk, -behindX, -behindY, -behindZ);
  if (half != 0 && isCommon()) consider(sunk, -orientation * areaX, -orientation * areaY, -orientation * areaZ);
  return takeBest();
}

// --- the region ---

/** Takes all that leave the solid before `limit`, and `leader`, out of the rest, and adds their points. */
function takeRegion(limit: f64, leader: u32): void {
  let region: u32 = NONE, left: u32 = NONE, lastLeft: u32 = NONE;
  let depth = exit(triangleAt(leader));
  for (let i = rest; i != NONE; ) {
    const met = metAt(i), triangle = triangleAt(i), next = met.next;
    const bound = exitBound(triangle);
    const way = bound > depth + EQUAL ? min(bound, exit(triangle)) : min(bound, depth);
    if (way <= max(limit, depth) || i == leader) {
      depth = max(depth, way);
      met.next = region;
      region = i;
    } else {
      if (left == NONE) left = i;
      else metAt(lastLeft).next = i;
      lastLeft = i;
    }
    i = next;
  }
  if (lastLeft != NONE) metAt(lastLeft).next = NONE;
  rest = left;
  addRegionPoints(region, leader, depth / unit, side);
}
