// Tests two placed shapes for overlap, touching included. If one of them is round, the test is made in the space in
// which that one is the unit sphere or a capsule of radius 1: the other overlaps it if it is no farther than 1 from its
// centre or segment. Decided in float64; touching has a tolerance of the possible rounding error.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Affine, setRelative } from '../../math/affine';
import { APART, compareObbs } from '../../math/obb-sat-f64';
import { axisToSegment, axisToTriangle } from '../../math/closest';
import { ellipsoidToParallelogram, setEllipsoid } from '../../math/ellipsoid';
import { Triangle } from '../../math/triangles';
import { closestOnMesh } from '../../mesh/query/closest-point';
import { Mesh } from '../../mesh/tree/layout';
import { TOUCHING, Witness, meshMeetsCapsule, meshMeetsCube, meshesMeet } from '../../mesh/query/mesh-pair';
import { PlacedShape, mapOf } from '../../shape/placed-shape';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverseMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/**
 * Tests whether two shapes overlap: meshes are surfaces, all other shapes are solid. The witness is that of two meshes.
 */
export function shapesOverlap(a: PlacedShape, b: PlacedShape, witness: Witness): bool {
  if (a.shape == SHAPE_MESH && b.shape == SHAPE_MESH) {
    setRelative(map, mapOf(a), mapOf(b));
    return meshesMeet(changetype<Mesh>(a.mesh), changetype<Mesh>(b.mesh), map, witness);
  }
  if (a.shape == SHAPE_MESH) return meetsMesh(b, a);
  if (b.shape == SHAPE_MESH) return meetsMesh(a, b);
  if (a.shape == SHAPE_BOX && b.shape == SHAPE_BOX) return compareObbs(mapOf(a), mapOf(b)) != APART;
  if (a.shape == SHAPE_BOX) return roundMeetsBox(b, a);
  if (b.shape == SHAPE_BOX) return roundMeetsBox(a, b);
  return roundsMeet(a, b);
}

function meetsMesh(solid: PlacedShape, other: PlacedShape): bool {
  const mesh = changetype<Mesh>(other.mesh);
  setRelative(map, mapOf(solid), mapOf(other));
  if (solid.shape == SHAPE_BOX) return meshMeetsCube(mesh, map);
  if (solid.half == 0) {
    const x = max(abs(mesh.minX), abs(mesh.maxX)), y = max(abs(mesh.minY), abs(mesh.maxY));
    const z = max(abs(mesh.minZ), abs(mesh.maxZ));
    const maxCoordinate =
      (abs(map.xx) + abs(map.xy) + abs(map.xz)) * x + (abs(map.yx) + abs(map.yy) + abs(map.yz)) * y +
      (abs(map.zx) + abs(map.zy) + abs(map.zz)) * z + abs(map.tx) + abs(map.ty) + abs(map.tz);
    return closestOnMesh(mesh, map, 1.0 + TOUCHING + maxCoordinate * 8.881784197001252e-16, true); // 2^-50
  }
  scaleToCube(map, solid.half);
  return meshMeetsCapsule(mesh, map, solid.half);
}

/** Changes a map to a capsule's space into a map to the space of the cube around it. */
export function scaleToCube(m: Affine, half: f64): void {
  const scale = 1.0 / (1.0 + half);
  m.xz *= scale;
  m.yz *= scale;
  m.zz *= scale;
  m.tz *= scale;
}

/**
 * Tests whether a round shape meets a box: an end of its segment is in the box, or it is near enough to a face that an
 * end is on the outer side of.
 */
function roundMeetsBox(round: PlacedShape, box: PlacedShape): bool {
  setRelative(inverseMap, mapOf(box), mapOf(round));
  const half = round.half;
  const hx = half * inverseMap.zx, hy = half * inverseMap.zy, hz = half * inverseMap.zz;
  if (abs(inverseMap.tx - hx) <= 1 && abs(inverseMap.ty - hy) <= 1 && abs(inverseMap.tz - hz) <= 1) return true;
  if (abs(inverseMap.tx + hx) <= 1 && abs(inverseMap.ty + hy) <= 1 && abs(inverseMap.tz + hz) <= 1) return true;
  setRelative(map, mapOf(round), mapOf(box));
  const x = abs(map.tx) + abs(map.xx) + abs(map.yx) + abs(map.zx);
  const y = abs(map.ty) + abs(map.xy) + abs(map.yy) + abs(map.zy);
  const z = abs(map.tz) + abs(map.xz) + abs(map.yz) + abs(map.zz);
  const radius = 1.0 + TOUCHING + max(max(x, y), z) * 1.7763568394002505e-15; // 2^-49
  const limit = radius * radius;
  for (let axis: usize = 0; axis < 3; axis++) {
    const centre = load<f64>(changetype<usize>(inverseMap) + (axis << 3), offsetof<Affine>('tx'));
    const extent = half * abs(load<f64>(changetype<usize>(inverseMap) + (axis << 3), offsetof<Affine>('zx')));
    if (centre + extent > 1 && isFaceNear(axis, 1, half, limit)) return true;
    if (centre - extent < -1 && isFaceNear(axis, -1, half, limit)) return true;
  }
  return false;
}

function isFaceNear(axis: usize, side: f64, half: f64, limit: f64): bool {
  setCorner(0, axis, side, -1, -1);
  setCorner(24, axis, side, 1, -1);
  setCorner(48, axis, side, 1, 1);
  if (axisToTriangle(half, triangle, limit) <= limit) return true;
  setCorner(24, axis, side, -1, 1);
  return axisToTriangle(half, triangle, limit) <= limit;
}

function setCorner(at: usize, axis: usize, s: f64, t: f64, u: f64): void {
  const a = changetype<usize>(map) + axis * 24, b = changetype<usize>(map) + (axis == 2 ? 0 : axis * 24 + 24);
  const c = changetype<usize>(map) + (axis == 0 ? 48 : axis * 24 - 24), to = changetype<usize>(triangle) + at;
  store<f64>(to, map.tx + s * load<f64>(a) + t * load<f64>(b) + u * load<f64>(c));
  store<f64>(to, map.ty + s * load<f64>(a, 8) + t * load<f64>(b, 8) + u * load<f64>(c, 8), 8);
  store<f64>(to, map.tz + s * load<f64>(a, 16) + t * load<f64>(b, 16) + u * load<f64>(c, 16), 16);
}

function roundsMeet(a: PlacedShape, b: PlacedShape): bool {
  setRelative(map, mapOf(a), mapOf(b));
  const x = b.half * map.zx, y = b.half * map.zy, z = b.half * map.zz;
  const distance = sqrt(axisToSegment(a.half, map.tx - x, map.ty - y, map.tz - z, map.tx + x, map.ty + y, map.tz + z));
  setRadii(map);
  const touchDistance = 1.0 + TOUCHING + (abs(map.tx) + abs(map.ty) + abs(map.tz) + a.half) * 8.881784197001252e-16; // 2^-50
  if (distance <= touchDistance + innerRadius) return true;
  if (distance > touchDistance + outerRadius) return false;
  setEllipsoid(map);
  return ellipsoidToParallelogram(-map.tx, -map.ty, -map.tz, 0, 0, a.half, x, y, z) <= touchDistance * touchDistance;
}

/** The radii of a ball inside the unit ball's image, and of one around it. */
export let innerRadius: f64 = 0;
export let outerRadius: f64 = 0;

/** Sets the radii by Gershgorin's bounds of the squared singular values. */
export function setRadii(m: Affine): void {
  const xx = m.xx * m.xx + m.xy * m.xy + m.xz * m.xz, xy = abs(m.xx * m.yx + m.xy * m.yy + m.xz * m.yz);
  const yy = m.yx * m.yx + m.yy * m.yy + m.yz * m.yz, xz = abs(m.xx * m.zx + m.xy * m.zy + m.xz * m.zz);
  const zz = m.zx * m.zx + m.zy * m.zy + m.zz * m.zz, yz = abs(m.yx * m.zx + m.yy * m.zy + m.yz * m.zz);
  outerRadius = sqrt(max(max(xx + xy + xz, yy + xy + yz), zz + xz + yz));
  innerRadius = sqrt(max(min(min(xx - xy - xz, yy - xy - yz), zz - xz - yz), 0.0));
}
