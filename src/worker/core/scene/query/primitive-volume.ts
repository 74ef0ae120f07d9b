// Tests solids against the volume of a query. A solid that no wall of the volume intersects is wholly inside or wholly
// outside, since it is connected; one point of it decides. A wall is the part of a plane that other planes bound: a
// convex polygon in the solid's own space (shape/placed-shape.ts), where it is compared with the cube, the unit sphere
// or the capsule of radius 1.

import { SHAPE_BOX, SHAPE_CAPSULE } from '../../../../shared/layout';
import { addCorner, beginPolygon, cut } from '../../math/clip-polygon';
import { PLANE_BYTES, Plane, combine, normalise, pullBack, valueAt } from '../../math/plane';
import { Affine } from '../../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { endX, endY, findEdges, foundEdge, lassoHolds, startX, startY } from './lasso';
import { clipW, clipX, clipY } from '../view/projection';
import { approach, nearestX, nearestY, nearestZ } from './polygon-distance';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import {
  CROSSING, INSIDE, LASSO, MOST_PLANES, NONE, PLANES, THINNEST, clipLimits, drawBox, drawnHighX, drawnHighY, drawnLowX,
  drawnLowY, volumePlane,
} from './volume';

// In the solid's space: the planes with unit normals, and x, y and w of clip space.
const planes: usize = memory.data(MOST_PLANES * <i32>PLANE_BYTES, 16);
const drawnX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const drawnY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const drawnW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const wall = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const end = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const face = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

let solid: PlacedShape = changetype<PlacedShape>(0);
/** The limits that may cross the solid. */
let limits: u64 = 0;

// @ts-ignore: decorator
@inline
function planeAt(i: u32): Plane {
  return changetype<Plane>(planes + i * <u32>PLANE_BYTES);
}

function enter(asked: PlacedShape, crossed: u64): void {
  solid = asked;
  limits = crossed;
  const map = mapOf(asked);
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    pullBack(plane, volumePlane(<u32>ctz(bits)), map);
    normalise(plane);
  }
  if (!(limits & LASSO)) return;
  pullBack(drawnX, clipX, map);
  pullBack(drawnY, clipY, map);
  pullBack(drawnW, clipW, map);
}

/** Returns the extent of the solid along a unit direction. */
function reach(n: Plane): f64 {
  if (solid.shape == SHAPE_BOX) return abs(n.x) + abs(n.y) + abs(n.z);
  return solid.shape == SHAPE_CAPSULE ? 1.0 + solid.half * abs(n.z) : 1.0;
}

/**
 * Counts the planes of `crossed` that cross a solid other than a mesh, each tested alone, without those that clip the
 * world. Returns -1 if the solid is outside any plane.
 */
export function planesCrossing(asked: PlacedShape, crossed: u64): i32 {
  enter(asked, crossed);
  let count = 0;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    const radius = reach(plane);
    if (plane.w < -radius) return -1;
    if (plane.w < radius && !(clipLimits & (<u64>1 << ctz(bits)))) count++;
  }
  return count;
}

/** Returns whether a solid other than a mesh has a point in the volume. */
export function shapeTouches(asked: PlacedShape, crossed: u64): bool {
  enter(asked, crossed);
  if (!touchesPlanes()) return false;
  // The part of the solid that the planes keep is connected: one point of it decides for all, if no edge's wall divides
  // it.
  return !(limits & LASSO) || isDrawnInside(pointX, pointY, pointZ) || meetsLassoWall();
}

/**
 * Returns whether all that is kept of a solid other than a mesh is in the volume: INSIDE, or NONE if nothing is kept.
 */
export function shapeEnclosure(asked: PlacedShape, crossed: u64): u32 {
  enter(asked, crossed);
  const clips = crossed & clipLimits;
  limits = clips;
  if (!touchesPlanes()) return NONE;
  for (let bits = crossed & PLANES & ~clips; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w >= reach(plane)) continue;
    if (clips == 0) return CROSSING;
    // Part of what is kept may be on the outer side of the plane.
    turn(plane);
    limits = clips | (<u64>1 << ctz(bits));
    const isCrossed = touchesPlanes();
    turn(plane);
    if (isCrossed) return CROSSING;
  }
  limits = crossed;
  if (!(limits & LASSO)) return INSIDE;
  return touchesPlanes() && isDrawnInside(pointX, pointY, pointZ) && !meetsLassoWall() ? INSIDE : CROSSING;
}

function turn(plane: Plane): void {
  for (let i: usize = 0; i < PLANE_BYTES; i += 8) {
    const at = changetype<usize>(plane) + i;
    store<f64>(at, -load<f64>(at));
  }
}

// A point of the solid on the inner side of all planes.
let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

function touchesPlanes(): bool {
  let holdsCentre = true;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w < 0) holdsCentre = false;
    if (plane.w < -reach(plane)) return false;
  }
  pointX = pointY = pointZ = 0;
  if (holdsCentre) return true;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w > reach(plane)) continue;
    beginWall(plane);
    if (!cutByPlanes(plane) || !wallMeets(plane)) continue;
    pointX = nearestX;
    pointY = nearestY;
    pointZ = nearestZ;
    return true;
  }
  return false;
}

/** Sets the polygon to the part of a plane near the solid: a square around the foot of the perpendicular. */
function beginWall(plane: Plane): void {
  const nx = plane.x, ny = plane.y, nz = plane.z;
  const size = solid.shape == SHAPE_BOX ? 1.75 : 1.01 + solid.half; // a cube's corners are at 1.74
  setBasis(nx, ny, nz);
  const ux = firstX * size, uy = firstY * size, uz = firstZ * size;
  const vx = secondX * size, vy = secondY * size, vz = secondZ * size;
  const x = -plane.w * nx, y = -plane.w * ny, z = -plane.w * nz;
  beginPolygon();
  addCorner(x - ux - vx, y - uy - vy, z - uz - vz);
  addCorner(x + ux - vx, y + uy - vy, z + uz - vz);
  addCorner(x + ux + vx, y + uy + vy, z + uz + vz);
  addCorner(x - ux + vx, y - uy + vy, z - uz + vz);
}

/** Clips the polygon by all planes except its own. Returns whether anything is left. */
function cutByPlanes(own: Plane): bool {
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane != own && !cut(plane)) return false;
  }
  return true;
}

/** Returns whether the wall, given by the current polygon, intersects the solid; nearest* is then a common point. */
function wallMeets(plane: Plane): bool {
  if (solid.shape != SHAPE_BOX) return approach(plane, solid.half) <= 1;
  for (let axis = 0; axis < 6; axis++) {
    const sign: f64 = axis & 1 ? 1 : -1;
    face.x = axis >> 1 == 0 ? sign : 0;
    face.y = axis >> 1 == 1 ? sign : 0;
    face.z = axis >> 1 == 2 ? sign : 0;
    face.w = 1;
    if (!cut(face)) return false;
  }
  approach(plane, 0);
  return true;
}

// --- the lasso ---

function isDrawnInside(x: f64, y: f64, z: f64): bool {
  const w = valueAt(drawnW, x, y, z);
  return w > 0 && lassoHolds(valueAt(drawnX, x, y, z) / w, valueAt(drawnY, x, y, z) / w);
}

/** Returns whether the wall behind an edge of the lasso, as seen from the eye, intersects the solid. */
function meetsLassoWall(): bool {
  // The cube around the solid.
  const map = mapOf(solid);
  memory.copy(changetype<usize>(box), changetype<usize>(map), 96);
  box.zx *= 1.0 + solid.half;
  box.zy *= 1.0 + solid.half;
  box.zz *= 1.0 + solid.half;
  const count = drawBox(box)
    ? findEdges(drawnLowX, drawnLowY, drawnHighX, drawnHighY)
    : findEdges(-Infinity, -Infinity, Infinity, Infinity);
  for (let i: u32 = 0; i < count; i++) if (edgeWallMeets(foundEdge(i))) return true;
  return false;
}

function edgeWallMeets(edge: u32): bool {
  const x0 = startX(edge), y0 = startY(edge), y1 = endY(edge);
  // An edge of no length is a point; it is given a minimal length.
  const x1 = endX(edge) == x0 && y1 == y0 ? x0 + THINNEST : endX(edge);
  const dx = x1 - x0, dy = y1 - y0;
  // dy (x - x0 w) - dx (y - y0 w) = 0 is the edge's line, at all depths.
  combine(wall, dy, drawnX, -dx, drawnY);
  combine(wall, 1, wall, dx * y0 - dy * x0, drawnW);
  normalise(wall);
  if (abs(wall.w) > reach(wall)) return false;
  beginWall(wall);
  combine(end, dx, drawnX, dy, drawnY);
  combine(end, 1, end, -(dx * x0 + dy * y0), drawnW);
  if (!cut(end)) return false;
  combine(end, -dx, drawnX, -dy, drawnY);
  combine(end, 1, end, dx * x1 + dy * y1, drawnW);
  return cut(end) && cutByPlanes(wall) && wallMeets(wall);
}
