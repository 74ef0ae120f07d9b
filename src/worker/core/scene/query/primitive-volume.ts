// Tests solids against the volume of a query. A solid that no wall of the volume intersects is wholly inside or wholly
// outside, since it is connected; one point of it decides. A wall is the part of a plane that other planes bound: a
// convex polygon in the solid's own space (shape/placed-shape.ts), where it is compared with the cube, the unit sphere
// or the capsule of radius 1.

import { SHAPE_BOX, SHAPE_CAPSULE } from '../../../../shared/layout';
import { addCorner, beginPolygon, clipByPlane } from '../../math/clip-polygon';
import { PLANE_BYTES, Plane, combine, normalise, pullBack, valueAt } from '../../math/plane';
import { Affine } from '../../math/affine';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { endX, endY, findEdgesNear, nearEdgeAt, lassoContains, startX, startY } from './lasso';
import { clipW, clipX, clipY } from '../view/projection';
import { segmentToPolygon, nearestX, nearestY, nearestZ } from './polygon-distance';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import {
  CROSSING, INSIDE, LASSO, MAX_PLANES, NONE, PLANES, MIN_WIDTH, clipLimits, projectBox, projectedMaxX, projectedMaxY,
  projectedMinX, projectedMinY, volumePlane,
} from './volume';

// In the solid's space: the planes with unit normals, and x, y and w of clip space.
const planes: usize = memory.data(MAX_PLANES * <i32>PLANE_BYTES, 16);
const localClipX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localClipY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localClipW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const wall = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const endPlane = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
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

function enterShape(shape: PlacedShape, crossed: u64): void {
  solid = shape;
  limits = crossed;
  const map = mapOf(shape);
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    pullBack(plane, volumePlane(<u32>ctz(bits)), map);
    normalise(plane);
  }
  if (!(limits & LASSO)) return;
  pullBack(localClipX, clipX, map);
  pullBack(localClipY, clipY, map);
  pullBack(localClipW, clipW, map);
}

/** Returns the extent of the solid along a unit direction. */
function extentAlong(n: Plane): f64 {
  if (solid.shape == SHAPE_BOX) return abs(n.x) + abs(n.y) + abs(n.z);
  return solid.shape == SHAPE_CAPSULE ? 1.0 + solid.half * abs(n.z) : 1.0;
}

/**
 * Counts the planes of `crossed` that cross a solid other than a mesh, each tested alone, without those that clip the
 * world. Returns -1 if the solid is outside any plane.
 */
export function planesCrossing(shape: PlacedShape, crossed: u64): i32 {
  enterShape(shape, crossed);
  let count = 0;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    const radius = extentAlong(plane);
    if (plane.w < -radius) return -1;
    if (plane.w < radius && !(clipLimits & (<u64>1 << ctz(bits)))) count++;
  }
  return count;
}

/** Returns whether a solid other than a mesh has a point in the volume. */
export function shapeTouches(shape: PlacedShape, crossed: u64): bool {
  enterShape(shape, crossed);
  if (!touchesPlanes()) return false;
  // The part of the solid that the planes keep is connected: one point of it decides for all, if no edge's wall divides
  // it.
  return !(limits & LASSO) || isProjectedInside(pointX, pointY, pointZ) || intersectsLassoWall();
}

/**
 * Returns whether all that is kept of a solid other than a mesh is in the volume: INSIDE, or NONE if nothing is kept.
 */
export function shapeEnclosure(shape: PlacedShape, crossed: u64): u32 {
  enterShape(shape, crossed);
  const clips = crossed & clipLimits;
  limits = clips;
  if (!touchesPlanes()) return NONE;
  for (let bits = crossed & PLANES & ~clips; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w >= extentAlong(plane)) continue;
    if (clips == 0) return CROSSING;
    // Part of what is kept may be on the outer side of the plane.
    flip(plane);
    limits = clips | (<u64>1 << ctz(bits));
    const isCrossed = touchesPlanes();
    flip(plane);
    if (isCrossed) return CROSSING;
  }
  limits = crossed;
  if (!(limits & LASSO)) return INSIDE;
  return touchesPlanes() && isProjectedInside(pointX, pointY, pointZ) && !intersectsLassoWall() ? INSIDE : CROSSING;
}

function flip(plane: Plane): void {
  for (let i: usize = 0; i < PLANE_BYTES; i += 8) {
    const at = changetype<usize>(plane) + i;
    store<f64>(at, -load<f64>(at));
  }
}

// A point of the solid on the inner side of all planes.
let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;

function touchesPlanes(): bool {
  let containsCentre = true;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w < 0) containsCentre = false;
    if (plane.w < -extentAlong(plane)) return false;
  }
  pointX = pointY = pointZ = 0;
  if (containsCentre) return true;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane.w > extentAlong(plane)) continue;
    beginWall(plane);
    if (!cutByPlanes(plane) || !wallIntersects(plane)) continue;
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
  const ux = tangentX * size, uy = tangentY * size, uz = tangentZ * size;
  const vx = bitangentX * size, vy = bitangentY * size, vz = bitangentZ * size;
  const x = -plane.w * nx, y = -plane.w * ny, z = -plane.w * nz;
  beginPolygon();
  addCorner(x - ux - vx, y - uy - vy, z - uz - vz);
  addCorner(x + ux - vx, y + uy - vy, z + uz - vz);
  addCorner(x + ux + vx, y + uy + vy, z + uz + vz);
  addCorner(x - ux + vx, y - uy + vy, z - uz + vz);
}

/** Clips the polygon by all planes except its own. Returns whether anything is left. */
function cutByPlanes(ownPlane: Plane): bool {
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    if (plane != ownPlane && !clipByPlane(plane)) return false;
  }
  return true;
}

/** Returns whether the wall, given by the current polygon, intersects the solid; nearest* is then a common point. */
function wallIntersects(plane: Plane): bool {
  if (solid.shape != SHAPE_BOX) return segmentToPolygon(plane, solid.half) <= 1;
  for (let axis = 0; axis < 6; axis++) {
    const sign: f64 = axis & 1 ? 1 : -1;
    face.x = axis >> 1 == 0 ? sign : 0;
    face.y = axis >> 1 == 1 ? sign : 0;
    face.z = axis >> 1 == 2 ? sign : 0;
    face.w = 1;
    if (!clipByPlane(face)) return false;
  }
  segmentToPolygon(plane, 0);
  return true;
}

// --- the lasso ---

function isProjectedInside(x: f64, y: f64, z: f64): bool {
  const w = valueAt(localClipW, x, y, z);
  return w > 0 && lassoContains(valueAt(localClipX, x, y, z) / w, valueAt(localClipY, x, y, z) / w);
}

/** Returns whether the wall behind an edge of the lasso, as seen from the eye, intersects the solid. */
function intersectsLassoWall(): bool {
  // The cube around the solid.
  const map = mapOf(solid);
  memory.copy(changetype<usize>(box), changetype<usize>(map), 96);
  box.zx *= 1.0 + solid.half;
  box.zy *= 1.0 + solid.half;
  box.zz *= 1.0 + solid.half;
  const count = projectBox(box)
    ? findEdgesNear(projectedMinX, projectedMinY, projectedMaxX, projectedMaxY)
    : findEdgesNear(-Infinity, -Infinity, Infinity, Infinity);
  for (let i: u32 = 0; i < count; i++) if (edgeWallIntersects(nearEdgeAt(i))) return true;
  return false;
}

function edgeWallIntersects(edge: u32): bool {
  const x0 = startX(edge), y0 = startY(edge), y1 = endY(edge);
  // An edge of no length is a point; it is given a minimal length.
  const x1 = endX(edge) == x0 && y1 == y0 ? x0 + MIN_WIDTH : endX(edge);
  const dx = x1 - x0, dy = y1 - y0;
  // dy (x - x0 w) - dx (y - y0 w) = 0 is the edge's line, at all depths.
  combine(wall, dy, localClipX, -dx, localClipY);
  combine(wall, 1, wall, dx * y0 - dy * x0, localClipW);
  normalise(wall);
  if (abs(wall.w) > extentAlong(wall)) return false;
  beginWall(wall);
  combine(endPlane, dx, localClipX, dy, localClipY);
  combine(endPlane, 1, endPlane, -(dx * x0 + dy * y0), localClipW);
  if (!clipByPlane(endPlane)) return false;
  combine(endPlane, -dx, localClipX, -dy, localClipY);
  combine(endPlane, 1, endPlane, dx * x1 + dy * y1, localClipW);
  return clipByPlane(endPlane) && cutByPlanes(wall) && wallIntersects(wall);
}
