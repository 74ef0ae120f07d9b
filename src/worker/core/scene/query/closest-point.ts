// Finds the nearest point of a placed shape to a given one, and whether the shape contains that. Spheres and capsules
// are ellipsoids and their sweeps (math/ellipsoid.ts), boxes are six pairs of triangles (Ericson, "Real-Time Collision
// Detection", 2005, 5.1), meshes use their tree (mesh/query/closest-point.ts). All in float64, in world units relative
// to the given point.

import { SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE } from '../../../../shared/layout';
import { Affine, copy, invert } from '../../math/affine';
import { axisToPoint, nearestOfTriangle, nearestX, nearestY, nearestZ } from '../../math/closest';
import {
  ellipsoidToPoint, ellipsoidToSegment, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ,
} from '../../math/ellipsoid';
import { Triangle } from '../../math/triangles';
import {
  closestDistance, closestOnMesh, closestTriangle, closestX, closestY, closestZ,
} from '../../mesh/query/closest-point';
import { Mesh } from '../../mesh/tree/layout';
import * as pointLine from '../../point-line/closest-point';
import { PointLine } from '../../point-line/layout';
import { TOUCHING } from '../../mesh/query/mesh-pair';
import { isInsideByWinding } from '../../mesh/query/winding-number';
import { outerRadius, setRadii } from '../pairs/overlap-tests';
import { PlacedShape, mapOf } from '../../shape/placed-shape';

/**
 * The nearest point, relative to the given one; its triangle, -1 for shapes other than meshes and for the inside of a
 * mesh; and its element, which may also be a point or a line.
 */
export let closestPointX: f64 = 0;
export let closestPointY: f64 = 0;
export let closestPointZ: f64 = 0;
export let closestPointTriangle: i32 = -1;
export let closestPointElement: i32 = -1;

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** Far more than the rounding error of the sums that bound a distance, and too little to matter. */
const SAFETY_FACTOR: f64 = 1.000000000001;

/**
 * Measures the distance of a solid from the point, in the world, and sets the nearest point. May return Infinity if the
 * distance is more than `limit`. Throws OUT_OF_MEMORY.
 */
export function distanceTo(solid: PlacedShape, x: f64, y: f64, z: f64, limit: f64): f64 {
  closestPointTriangle = closestPointElement = -1;
  if (solid.shape == SHAPE_POINT_LINE) return distanceToPointLine(solid, x, y, z, limit);
  if (solid.shape == SHAPE_MESH) {
    if (!solid.filled || !containsPoint(solid, x, y, z)) return distanceToMesh(solid, x, y, z, limit);
    closestPointX = closestPointY = closestPointZ = 0;
    return 0;
  }
  const cx = x - solid.tx, cy = y - solid.ty, cz = z - solid.tz;
  if (solid.shape == SHAPE_BOX) return sqrt(boxToPoint(solid, cx, cy, cz));
  setRadii(mapOf(solid));
  if (sqrt(cx * cx + cy * cy + cz * cz) > (limit + outerRadius * (1.0 + solid.half)) * SAFETY_FACTOR) return Infinity;
  setEllipsoid(mapOf(solid));
  const distanceSquared = solid.shape == SHAPE_SPHERE
    ? ellipsoidToPoint(cx, cy, cz)
    : ellipsoidToSegment(cx, cy, cz, solid.half * solid.zx, solid.half * solid.zy, solid.half * solid.zz);
  closestPointX = surfaceX - footX;
  closestPointY = surfaceY - footY;
  closestPointZ = surfaceZ - footZ;
  return sqrt(distanceSquared);
}

function distanceToMesh(solid: PlacedShape, x: f64, y: f64, z: f64, limit: f64): f64 {
  copy(map, mapOf(solid));
  map.tx -= x;
  map.ty -= y;
  map.tz -= z;
  if (!closestOnMesh(changetype<Mesh>(solid.mesh), map, limit, false)) return Infinity;
  closestPointTriangle = closestPointElement = closestTriangle;
  closestPointX = closestX;
  closestPointY = closestY;
  closestPointZ = closestZ;
  return closestDistance;
}

function distanceToPointLine(solid: PlacedShape, x: f64, y: f64, z: f64, limit: f64): f64 {
  copy(map, mapOf(solid));
  map.tx -= x;
  map.ty -= y;
  map.tz -= z;
  if (!pointLine.closestOnPointLine(changetype<PointLine>(<usize>solid.mesh), map, limit)) return Infinity;
  closestPointElement = pointLine.closestElement;
  closestPointX = pointLine.closestX;
  closestPointY = pointLine.closestY;
  closestPointZ = pointLine.closestZ;
  return pointLine.closestDistance;
}

/**
 * Finds the nearest point of a box to the point: tests the faces whose outer side the point is on, as two triangles
 * each. Returns the squared distance.
 */
function boxToPoint(box: PlacedShape, cx: f64, cy: f64, cz: f64): f64 {
  invert(inverse, mapOf(box));
  const u = inverse.xx * cx + inverse.yx * cy + inverse.zx * cz;
  const v = inverse.xy * cx + inverse.yy * cy + inverse.zy * cz;
  const w = inverse.xz * cx + inverse.yz * cy + inverse.zz * cz;
  closestPointX = closestPointY = closestPointZ = 0;
  if (abs(u) <= 1 && abs(v) <= 1 && abs(w) <= 1) return 0;
  let minDistanceSquared = Infinity;
  if (abs(u) > 1)
    minDistanceSquared = min(minDistanceSquared, faceToPoint(box, cx, cy, cz, 0, 24, 48, u < 0 ? -1 : 1, minDistanceSquared));
  if (abs(v) > 1)
    minDistanceSquared = min(minDistanceSquared, faceToPoint(box, cx, cy, cz, 24, 48, 0, v < 0 ? -1 : 1, minDistanceSquared));
  if (abs(w) > 1)
    minDistanceSquared = min(minDistanceSquared, faceToPoint(box, cx, cy, cz, 48, 0, 24, w < 0 ? -1 : 1, minDistanceSquared));
  return minDistanceSquared;
}

/**
 * Takes a face's nearest point if its squared distance is less than `limitSquared`. Returns its squared distance. Columns of
 * the map are given by their offsets: the normal's, then the face's two.
 */
function faceToPoint(
  box: PlacedShape, cx: f64, cy: f64, cz: f64, normalColumn: usize, columnA: usize, columnB: usize, side: f64, limitSquared: f64,
): f64 {
  const at = changetype<usize>(box);
  const mx = side * load<f64>(at + normalColumn) - cx;
  const my = side * load<f64>(at + normalColumn, 8) - cy;
  const mz = side * load<f64>(at + normalColumn, 16) - cz;
  const ax = load<f64>(at + columnA), ay = load<f64>(at + columnA, 8), az = load<f64>(at + columnA, 16);
  const bx = load<f64>(at + columnB), by = load<f64>(at + columnB, 8), bz = load<f64>(at + columnB, 16);
  triangle.ax = mx - ax - bx; triangle.ay = my - ay - by; triangle.az = mz - az - bz;
  triangle.bx = mx + ax - bx; triangle.by = my + ay - by; triangle.bz = mz + az - bz;
  triangle.cx = mx + ax + bx; triangle.cy = my + ay + by; triangle.cz = mz + az + bz;
  let minDistanceSquared = testTriangle(limitSquared);
  triangle.bx = mx - ax + bx; triangle.by = my - ay + by; triangle.bz = mz - az + bz;
  minDistanceSquared = min(minDistanceSquared, testTriangle(min(limitSquared, minDistanceSquared)));
  return minDistanceSquared;
}

function testTriangle(limitSquared: f64): f64 {
  const distanceSquared = nearestOfTriangle(triangle, limitSquared);
  if (!(distanceSquared < limitSquared)) return distanceSquared;
  closestPointX = nearestX;
  closestPointY = nearestY;
  closestPointZ = nearestZ;
  return distanceSquared;
}

/**
 * Returns whether the point is in the solid, including its surface; for a mesh by its winding number. The test allows
 * for the rounding of the coordinates in float64. Throws OUT_OF_MEMORY.
 */
export function containsPoint(solid: PlacedShape, x: f64, y: f64, z: f64): bool {
  if (solid.shape == SHAPE_POINT_LINE) return false;
  invert(inverse, mapOf(solid));
  const cx = x - solid.tx, cy = y - solid.ty, cz = z - solid.tz;
  const u = inverse.xx * cx + inverse.yx * cy + inverse.zx * cz;
  const v = inverse.xy * cx + inverse.yy * cy + inverse.zy * cz;
  const w = inverse.xz * cx + inverse.yz * cy + inverse.zz * cz;
  const rounding =
    uncertaintyOf(x, solid.tx, inverse.xx, inverse.xy, inverse.xz) +
    uncertaintyOf(y, solid.ty, inverse.yx, inverse.yy, inverse.yz) +
    uncertaintyOf(z, solid.tz, inverse.zx, inverse.zy, inverse.zz);
  if (solid.shape == SHAPE_MESH) return isInsideByWinding(changetype<Mesh>(solid.mesh), u, v, w, rounding);
  const limit = 1.0 + TOUCHING + rounding;
  if (solid.shape == SHAPE_BOX) return abs(u) <= limit && abs(v) <= limit && abs(w) <= limit;
  return axisToPoint(solid.half, u, v, w) <= limit * limit;
}

/**
 * The rounding of a coordinate and of the operations on it, relative to the coordinate: 2^-51, four units in the last
 * place.
 */
const COORDINATE_ROUNDING: f64 = 4.440892098500626e-16;

/**
 * Returns a bound of how far the rounding of one coordinate of point and position may move the point, in the solid's
 * space.
 */
// @ts-ignore: decorator
@inline
function uncertaintyOf(coordinate: f64, origin: f64, x: f64, y: f64, z: f64): f64 {
  return (abs(coordinate) + abs(origin)) * (abs(x) + abs(y) + abs(z)) * COORDINATE_ROUNDING;
}
