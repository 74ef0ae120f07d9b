// Tests whether a shape lies in a box, sphere or capsule as a whole, its surface included. Exact except for the
// tolerance of touching; an ellipsoid in a round shape is decided by local maxima of the distance.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Affine, setRelative } from '../../math/affine';
import { axisToPoint } from '../../math/closest';
import { axisOf, setEllipsoid } from '../../math/ellipsoid';
import { Mesh } from '../../mesh/tree/layout';
import { TOUCHING, meshInsideCapsule, meshInsideCube } from '../../mesh/query/mesh-pair';
import { innerRadius, outerRadius, setRadii, scaleToCube } from './overlap-tests';
import { PlacedShape, mapOf } from '../../shape/placed-shape';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const LIMIT: f64 = 1.0 + TOUCHING;

/** Tests whether all of a is in b; it may touch b's surface. A mesh b contains nothing: it is a surface. */
export function isInside(a: PlacedShape, b: PlacedShape): bool {
  if (b.shape == SHAPE_MESH) return false;
  setRelative(map, mapOf(b), mapOf(a));
  if (b.shape == SHAPE_BOX) return isInCube(a);
  if (a.shape == SHAPE_MESH) {
    scaleToCube(map, b.half);
    return meshInsideCapsule(changetype<Mesh>(a.mesh), map, b.half);
  }
  if (a.shape == SHAPE_BOX) return areCornersInside(b.half);
  setRadii(map);
  const x = a.half * map.zx, y = a.half * map.zy, z = a.half * map.zz;
  return (
    isEllipsoidInside(map.tx + x, map.ty + y, map.tz + z, b.half) &&
    (a.half == 0 || isEllipsoidInside(map.tx - x, map.ty - y, map.tz - z, b.half))
  );
}

function isInCube(a: PlacedShape): bool {
  if (a.shape == SHAPE_MESH) return meshInsideCube(changetype<Mesh>(a.mesh), map);
  const isBox = a.shape == SHAPE_BOX;
  return (
    abs(map.tx) + extentAlong(map.xx, map.yx, map.zx, isBox, a.half) <= LIMIT &&
    abs(map.ty) + extentAlong(map.xy, map.yy, map.zy, isBox, a.half) <= LIMIT &&
    abs(map.tz) + extentAlong(map.xz, map.yz, map.zz, isBox, a.half) <= LIMIT
  );
}

/** Returns the extent of the cube, or of a capsule, along an axis. */
function extentAlong(x: f64, y: f64, z: f64, isBox: bool, half: f64): f64 {
  return isBox ? abs(x) + abs(y) + abs(z) : half * abs(z) + sqrt(x * x + y * y + z * z);
}

function areCornersInside(half: f64): bool {
  for (let corner = 0; corner < 8; corner++) {
    const sx: f64 = corner & 1 ? 1 : -1, sy: f64 = corner & 2 ? 1 : -1, sz: f64 = corner & 4 ? 1 : -1;
    const x = map.tx + sx * map.xx + sy * map.yx + sz * map.zx;
    const y = map.ty + sx * map.xy + sy * map.yy + sz * map.zy;
    const z = map.tz + sx * map.xz + sy * map.yz + sz * map.zz;
    if (axisToPoint(half, x, y, z) > LIMIT * LIMIT) return false;
  }
  return true;
}

/** Tests whether the map's image of the unit ball, moved to this centre, is in the round shape. */
function isEllipsoidInside(x: f64, y: f64, z: f64, half: f64): bool {
  const distance = sqrt(axisToPoint(half, x, y, z));
  if (distance + outerRadius <= LIMIT) return true;
  if (distance + innerRadius > LIMIT) return false;
  // Climbs from both ends of each of its axes to the point that is farthest from the capsule's segment.
  setEllipsoid(map);
  for (let axis: usize = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      const u = side * axisOf(axis, 0), v = side * axisOf(axis, 1), w = side * axisOf(axis, 2);
      if (maxDistance(x, y, z, half, u, v, w) > LIMIT) return false;
    }
  }
  return true;
}

/**
 * Finds a local maximum of the distance from the segment, which is convex: each step goes to the point that is farthest
 * in the direction of the gradient at the last point (as in Frank and Wolfe, "An Algorithm for Quadratic Programming",
 * 1956), which is never nearer.
 */
function maxDistance(x: f64, y: f64, z: f64, half: f64, u: f64, v: f64, w: f64): f64 {
  let best: f64 = 0;
  for (let step = 0; step < 200; step++) {
    const dx = x + map.xx * u + map.yx * v + map.zx * w;
    const dy = y + map.xy * u + map.yy * v + map.zy * w;
    const oz = z + map.xz * u + map.yz * v + map.zz * w;
    const dz = oz - max(min(oz, half), -half);
    const distance = sqrt(dx * dx + dy * dy + dz * dz);
    if (distance > LIMIT || distance <= best * (1.0 + 1e-15)) return max(distance, best);
    best = distance;
    const gx = map.xx * dx + map.xy * dy + map.xz * dz;
    const gy = map.yx * dx + map.yy * dy + map.yz * dz;
    const gz = map.zx * dx + map.zy * dy + map.zz * dz;
    const length = sqrt(gx * gx + gy * gy + gz * gz);
    if (length == 0) return best;
    u = gx / length;
    v = gy / length;
    w = gz / length;
  }
  return best;
}
