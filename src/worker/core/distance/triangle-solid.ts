// Distance between a triangle and a placed box, sphere or capsule, all of which are solid: boxes by their faces, spheres and
// capsules whose map keeps them round by their segment and radius, others as ellipsoids and sums of an ellipsoid with a
// segment (math/ellipsoid.ts). Everything is in float64, about an origin that triangle and solid share. A segment or a point
// is a triangle with repeated corners.

import { SHAPE_BOX } from '../../../shared/layout';
import { Affine, invert } from '../math/affine';
import {
  ellipsoidToParallelogram, ellipsoidToTriangle, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ,
} from '../math/ellipsoid';
import { distanceOfTriangles, nearestX, nearestY, nearestZ, otherX, otherY, otherZ } from '../math/triangle-triangle-distance';
import { Triangle } from '../math/triangles';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import { F64_BYTES } from '../sizes';

/** The closest points of the triangle and of the solid; a common point if they meet. */
export let triangleX: f64 = 0, triangleY: f64 = 0, triangleZ: f64 = 0;
export let solidX: f64 = 0, solidY: f64 = 0, solidZ: f64 = 0;

/** The kinds of solid, by how they are measured. */
export const BOX: u32 = 0;
export const ROUND: u32 = 1;
export const ELLIPTIC: u32 = 2;

/** A box, or half of a segment with the ball around it, about the common origin. */
@unmanaged
export class Solid {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  x: f64; y: f64; z: f64;
  inverseXx: f64; inverseXy: f64; inverseXz: f64;
  inverseYx: f64; inverseYy: f64; inverseYz: f64;
  inverseZx: f64; inverseZy: f64; inverseZz: f64;
  inverseX: f64; inverseY: f64; inverseZ: f64;
  /** Half of the segment; 0 for a sphere and a box. */
  halfX: f64; halfY: f64; halfZ: f64;
  radius: f64;
  kind: u32;
}

// @ts-ignore: decorator
@inline
export function frameOf(solid: Solid): Affine {
  return changetype<Affine>(changetype<usize>(solid));
}

/**
 * Tolerance for a map that keeps a ball round: its columns have equal lengths and right angles up to this, relative to their
 * squares.
 */
const ROUND_TOLERANCE: f64 = 1e-14;

/** Sets a solid from a shape that is not a mesh, relative to a position in the world. */
export function setSolid(out: Solid, shape: PlacedShape, x: f64, y: f64, z: f64): void {
  memory.copy(changetype<usize>(out), changetype<usize>(mapOf(shape)), offsetof<Affine>());
  out.x -= x;
  out.y -= y;
  out.z -= z;
  out.halfX = out.zx * shape.half;
  out.halfY = out.zy * shape.half;
  out.halfZ = out.zz * shape.half;
  out.radius = 0;
  if (shape.shape == SHAPE_BOX) {
    out.kind = BOX;
    invert(changetype<Affine>(changetype<usize>(out) + offsetof<Solid>('inverseXx')), frameOf(out));
    return;
  }
  const aa = out.xx * out.xx + out.xy * out.xy + out.xz * out.xz, tolerance = ROUND_TOLERANCE * aa;
  const isRound =
    abs(out.yx * out.yx + out.yy * out.yy + out.yz * out.yz - aa) <= tolerance &&
    abs(out.zx * out.zx + out.zy * out.zy + out.zz * out.zz - aa) <= tolerance &&
    abs(out.xx * out.yx + out.xy * out.yy + out.xz * out.yz) <= tolerance &&
    abs(out.xx * out.zx + out.xy * out.zy + out.xz * out.zz) <= tolerance &&
    abs(out.yx * out.zx + out.yy * out.zy + out.yz * out.zz) <= tolerance;
  out.kind = isRound ? ROUND : ELLIPTIC;
  if (isRound) out.radius = sqrt(aa);
}

const solidPart = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const movedTriangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** Returns the distance of a triangle from a solid, 0 if they meet, and sets the closest points. */
export function triangleToSolid(t: Triangle, solid: Solid): f64 {
  if (solid.kind == BOX) return triangleToBox(t, solid);
  if (solid.kind == ROUND) return triangleToRound(t, solid);
  return triangleToElliptic(t, solid);
}

/** Sets a triangle to a solid's segment. */
export function setAxis(out: Triangle, solid: Solid): void {
  out.ax = solid.x - solid.halfX; out.ay = solid.y - solid.halfY; out.az = solid.z - solid.halfZ;
  out.bx = out.cx = solid.x + solid.halfX;
  out.by = out.cy = solid.y + solid.halfY;
  out.bz = out.cz = solid.z + solid.halfZ;
}

function triangleToRound(t: Triangle, solid: Solid): f64 {
  setAxis(solidPart, solid);
  const axisDistance = distanceOfTriangles(t, solidPart);
  triangleX = nearestX; triangleY = nearestY; triangleZ = nearestZ;
  return setPointOnBall(axisDistance, solid.radius, nearestX, nearestY, nearestZ, otherX, otherY, otherZ);
}

/**
 * Sets the solid's point to where the segment from the first point to the last, `distanceToCenter` long, enters a ball about the
 * last. Returns the distance to there; 0 if the ball contains the first point, which is then the solid's point.
 */
function setPointOnBall(distanceToCenter: f64, radius: f64, x: f64, y: f64, z: f64, cx: f64, cy: f64, cz: f64): f64 {
  if (distanceToCenter <= radius) {
    solidX = x; solidY = y; solidZ = z;
    return 0;
  }
  const fraction = radius / distanceToCenter;
  solidX = cx + (x - cx) * fraction;
  solidY = cy + (y - cy) * fraction;
  solidZ = cz + (z - cz) * fraction;
  return distanceToCenter - radius;
}

// --- a box ---

/** The coordinates of the triangle's corners in the box, three each. */
const localCorners: usize = memory.data(9 * F64_BYTES, 16);

function triangleToBox(t: Triangle, box: Solid): f64 {
  for (let at: usize = 0; at < 72; at += 24) {
    const from = changetype<usize>(t) + at;
    const x = load<f64>(from) - box.x, y = load<f64>(from, 8) - box.y, z = load<f64>(from, 16) - box.z;
    const u = box.inverseXx * x + box.inverseYx * y + box.inverseZx * z;
    const v = box.inverseXy * x + box.inverseYy * y + box.inverseZy * z;
    const w = box.inverseXz * x + box.inverseYz * y + box.inverseZz * z;
    if (abs(u) <= 1 && abs(v) <= 1 && abs(w) <= 1) {
      setCommonPoint(load<f64>(from), load<f64>(from, 8), load<f64>(from, 16));
      return 0;
    }
    store<f64>(localCorners + at, u);
    store<f64>(localCorners + at, v, 8);
    store<f64>(localCorners + at, w, 16);
  }
  // A triangle that does not reach beyond a face is not closest to it, and does not pass through it.
  let minDistance = Infinity;
  for (let axis: usize = 0; axis < 3; axis++) {
    const p = load<f64>(localCorners + (axis << 3)), q = load<f64>(localCorners + (axis << 3), 24),
      r = load<f64>(localCorners + (axis << 3), 48);
    if (max(max(p, q), r) >= 1) minDistance = triangleToFace(t, box, axis, 1, minDistance);
    if (min(min(p, q), r) <= -1) minDistance = triangleToFace(t, box, axis, -1, minDistance);
  }
  return minDistance;
}

function setCommonPoint(x: f64, y: f64, z: f64): void {
  triangleX = solidX = x;
  triangleY = solidY = y;
  triangleZ = solidZ = z;
}

/** Records the distance from a face, as two triangles, if it is the smallest so far. Returns the smallest. */
function triangleToFace(t: Triangle, box: Solid, axis: usize, side: f64, minDistance: f64): f64 {
  setFace(solidPart, box, axis, side, 1);
  minDistance = recordFace(t, minDistance);
  setFace(solidPart, box, axis, side, -1);
  return recordFace(t, minDistance);
}

function recordFace(t: Triangle, minDistance: f64): f64 {
  if (minDistance == 0) return 0;
  const faceDistance = distanceOfTriangles(t, solidPart);
  if (!(faceDistance < minDistance)) return minDistance;
  triangleX = nearestX; triangleY = nearestY; triangleZ = nearestZ;
  solidX = otherX; solidY = otherY; solidZ = otherZ;
  return faceDistance;
}

/**
 * Sets one of the two triangles (`half` 1 or -1) of a box's face perpendicular to an axis (0 … 2), on one side (1 or -1).
 */
export function setFace(out: Triangle, box: Solid, axis: usize, side: f64, half: f64): void {
  const axisU: usize = axis == 2 ? 0 : axis + 1, axisV: usize = axis == 0 ? 2 : axis - 1;
  setFaceCorner(changetype<usize>(out), box, axis, side, axisU, -1, axisV, -1);
  setFaceCorner(changetype<usize>(out) + 24, box, axis, side, axisU, half, axisV, -half);
  setFaceCorner(changetype<usize>(out) + 48, box, axis, side, axisU, 1, axisV, 1);
}

function setFaceCorner(to: usize, box: Solid, axis: usize, s: f64, axisU: usize, u: f64, axisV: usize, v: f64): void {
  const at = changetype<usize>(box), a = at + axis * 24, b = at + axisU * 24, c = at + axisV * 24;
  store<f64>(to, box.x + s * load<f64>(a) + u * load<f64>(b) + v * load<f64>(c));
  store<f64>(to, box.y + s * load<f64>(a, 8) + u * load<f64>(b, 8) + v * load<f64>(c, 8), 8);
  store<f64>(to, box.z + s * load<f64>(a, 16) + u * load<f64>(b, 16) + v * load<f64>(c, 16), 16);
}

// --- an ellipsoid, or its sum with a segment ---

let minDistanceSquared: f64 = 0;
let bestFootX: f64 = 0, bestFootY: f64 = 0, bestFootZ: f64 = 0, bestSurfaceX: f64 = 0, bestSurfaceY: f64 = 0,
  bestSurfaceZ: f64 = 0;

/**
 * Returns the distance between a triangle and the sum of an ellipsoid and a segment: that of the ellipsoid and the
 * triangle's sum with the segment, a prism, whose faces are tested.
 */
function triangleToElliptic(t: Triangle, solid: Solid): f64 {
  setEllipsoid(frameOf(solid));
  const hx = solid.halfX, hy = solid.halfY, hz = solid.halfZ;
  const hasNoSegment = hx == 0 && hy == 0 && hz == 0;
  if (!hasNoSegment) {
    setAxis(solidPart, solid);
    if (distanceOfTriangles(t, solidPart) == 0) {
      setCommonPoint(nearestX, nearestY, nearestZ);
      return 0;
    }
  }
  minDistanceSquared = Infinity;
  measureFace(t, solid, hx, hy, hz);
  if (!hasNoSegment) {
    measureFace(t, solid, -hx, -hy, -hz);
    measureSide(t.ax, t.ay, t.az, t.bx, t.by, t.bz, solid);
    measureSide(t.bx, t.by, t.bz, t.cx, t.cy, t.cz, solid);
    measureSide(t.cx, t.cy, t.cz, t.ax, t.ay, t.az, solid);
  }
  // The foot is a point of the triangle, moved along the segment.
  if (hasNoSegment) {
    triangleX = bestFootX + solid.x; triangleY = bestFootY + solid.y; triangleZ = bestFootZ + solid.z;
  } else {
    const x = bestFootX + solid.x, y = bestFootY + solid.y, z = bestFootZ + solid.z;
    solidPart.ax = x - hx; solidPart.ay = y - hy; solidPart.az = z - hz;
    solidPart.bx = solidPart.cx = x + hx; solidPart.by = solidPart.cy = y + hy; solidPart.bz = solidPart.cz = z + hz;
    distanceOfTriangles(t, solidPart);
    triangleX = nearestX; triangleY = nearestY; triangleZ = nearestZ;
  }
  solidX = triangleX + (bestSurfaceX - bestFootX);
  solidY = triangleY + (bestSurfaceY - bestFootY);
  solidZ = triangleZ + (bestSurfaceZ - bestFootZ);
  return sqrt(minDistanceSquared);
}

function measureFace(t: Triangle, solid: Solid, hx: f64, hy: f64, hz: f64): void {
  const x = hx - solid.x, y = hy - solid.y, z = hz - solid.z;
  movedTriangle.ax = t.ax + x; movedTriangle.ay = t.ay + y; movedTriangle.az = t.az + z;
  movedTriangle.bx = t.bx + x; movedTriangle.by = t.by + y; movedTriangle.bz = t.bz + z;
  movedTriangle.cx = t.cx + x; movedTriangle.cy = t.cy + y; movedTriangle.cz = t.cz + z;
  recordResult(ellipsoidToTriangle(movedTriangle));
}

function measureSide(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, solid: Solid): void {
  recordResult(ellipsoidToParallelogram(
    0.5 * (ax + bx) - solid.x, 0.5 * (ay + by) - solid.y, 0.5 * (az + bz) - solid.z,
    0.5 * (bx - ax), 0.5 * (by - ay), 0.5 * (bz - az), solid.halfX, solid.halfY, solid.halfZ,
  ));
}

/** Records the last result if it is the smallest so far. */
function recordResult(distanceSquared: f64): void {
  if (!(distanceSquared < minDistanceSquared)) return;
  minDistanceSquared = distanceSquared;
  bestFootX = footX; bestFootY = footY; bestFootZ = footZ;
  bestSurfaceX = surfaceX; bestSurfaceY = surfaceY; bestSurfaceZ = surfaceZ;
}
