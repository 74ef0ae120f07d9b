// Cuts boxes, spheres and capsules under any affine map with a plane. A box's outline is that of its twelve triangles. A round
// shape is convex, so its outline is star-shaped about any inner point of the plane: rays in as many directions as requested hit
// it once each, in the shape's own space.

import { Affine } from '../math/affine';
import { Plane, pullBack } from '../math/plane';
import { addSegment, beginSegments } from './crossings';
import { addPoint, beginOutline, endOutline } from './outlines';

const localPlane = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

/** The corners of the faces of a cube, three bits each (x, y, z, lowest bit first), counter-clockwise from outside. */
const FACES: usize = memory.data<u8>([0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6]);

/** Cuts the image of the cube [-1, 1]³, into segments without a triangle. Throws OUT_OF_MEMORY. */
export function cutBox(map: Affine, plane: Plane): void {
  beginSegments(localPlane, map);
  pullBack(localPlane, plane, map);
  const isMirrored = determinant(map) < 0;
  for (let face: usize = 0; face < 24; face += 4) {
    // The crossed edges of the face, each as its upper corner and its lower one, three bits each; 0 for none.
    let down: u32 = 0, up: u32 = 0;
    for (let i: usize = 0; i < 4; i++) {
      const a = load<u8>(FACES + face + i), b = load<u8>(FACES + face + ((i + 1) & 3));
      const isAbove = heightOf(a) >= 0;
      if (isAbove == heightOf(b) >= 0) continue;
      if (isAbove) down = a | (b << 3);
      else up = b | (a << 3);
    }
    if (down == 0) continue;
    const from = isMirrored ? up : down, to = isMirrored ? down : up;
    addSegment(edge(from), edgeRest(from), edge(to), edgeRest(to), -1);
  }
}

// @ts-ignore: decorator
@inline
function edge(corners: u32): v128 {
  return f32x4(<f32>coordinateOf(corners, 1), <f32>coordinateOf(corners, 2), <f32>coordinateOf(corners, 4),
    <f32>coordinateOf(corners, 8));
}

// @ts-ignore: decorator
@inline
function edgeRest(corners: u32): u64 {
  return i64x2.extract_lane(f32x4(<f32>coordinateOf(corners, 16), <f32>coordinateOf(corners, 32), 0, 0), 0);
}

function determinant(m: Affine): f64 {
  return (
    m.xx * (m.yy * m.zz - m.yz * m.zy) - m.yx * (m.xy * m.zz - m.xz * m.zy) + m.zx * (m.xy * m.yz - m.xz * m.yy)
  );
}

// @ts-ignore: decorator
@inline
function coordinateOf(corner: u32, bit: u32): f64 {
  return corner & bit ? 1 : -1;
}

function heightOf(corner: u32): f64 {
  return localPlane.x * coordinateOf(corner, 1) + localPlane.y * coordinateOf(corner, 2) +
    localPlane.z * coordinateOf(corner, 4) + localPlane.w;
}

/**
 * Cuts the image of a capsule of radius 1 about the z axis from -half to half, of a sphere if half is 0: an outline of `count`
 * points, counter-clockwise from in front of the plane; cosine and sine are those of 1 / `count` of a turn. Throws OUT_OF_MEMORY.
 */
export function cutRound(map: Affine, half: f64, plane: Plane, count: u32, cosine: f64, sine: f64): void {
  pullBack(localPlane, plane, map);
  const length = sqrt(localPlane.x * localPlane.x + localPlane.y * localPlane.y + localPlane.z * localPlane.z);
  if (!(length > 0)) return;
  const nx = localPlane.x / length, ny = localPlane.y / length, nz = localPlane.z / length, w = localPlane.w / length;
  // The centre: take the middle of the part of the axis that is within a radius of the plane, and project it to the plane. It is
  // inside, or nothing is cut. If the axis is parallel to the plane, that part is all of it: from one end, the other one would
  // get few points.
  const z0 = (-1 - w) / nz, z1 = (1 - w) / nz;
  const z = 0.5 * (max(min(z0, z1), -half) + min(max(z0, z1), half));
  const height = nz * z + w;
  if (!(abs(height) < 1)) return;
  const cx = -nx * height, cy = -ny * height, cz = z - nz * height;
  // Two directions in the plane, the second one a quarter turn from the first about the normal in the world.
  const sign: f64 = determinant(map) < 0 ? -1 : 1;
  let ux: f64 = 0, uy: f64 = 0, uz: f64 = 0;
  if (abs(nx) <= abs(ny) && abs(nx) <= abs(nz)) { uy = -nz; uz = ny; }
  else if (abs(ny) <= abs(nz)) { ux = nz; uz = -nx; }
  else { ux = -ny; uy = nx; }
  const scale = 1.0 / sqrt(ux * ux + uy * uy + uz * uz);
  ux *= scale; uy *= scale; uz *= scale;
  const vx = (ny * uz - nz * uy) * sign, vy = (nz * ux - nx * uz) * sign, vz = (nx * uy - ny * ux) * sign;
  beginOutline();
  let c: f64 = 1, s: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const dx = c * ux + s * vx, dy = c * uy + s * vy, dz = c * uz + s * vz;
    const t = exitParameter(cx, cy, cz, dx, dy, dz, half);
    const px = cx + t * dx, py = cy + t * dy, pz = cz + t * dz;
    addPoint(
      map.xx * px + map.yx * py + map.zx * pz + map.tx,
      map.xy * px + map.yy * py + map.zy * pz + map.ty,
      map.xz * px + map.yz * py + map.zz * pz + map.tz, -1,
    );
    const nextCosine = c * cosine - s * sine;
    s = s * cosine + c * sine;
    c = nextCosine;
  }
  endOutline(true);
}

/** Returns where a ray from a point inside of the capsule leaves it; its direction is unit up to rounding. */
function exitParameter(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, half: f64): f64 {
  // The cylinder first: a² t² + 2 b t + c = 0.
  const a = dx * dx + dy * dy, b = x * dx + y * dy, c = x * x + y * y - 1;
  const t = a > 0 ? (-b + sqrt(max(b * b - a * c, 0))) / a : Infinity;
  const exitZ = dz == 0 ? z : z + t * dz;
  if (abs(exitZ) <= half) return t;
  const end = exitZ > 0 ? half : -half;
  const e = z - end, f = b + e * dz, g = x * x + y * y + e * e - 1;
  return -f + sqrt(max(f * f - g, 0));
}
