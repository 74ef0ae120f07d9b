// A convex polygon in space that is clipped by planes (Sutherland and Hodgman, "Reentrant Polygon Clipping", 1974),
// in float64.

import { PLANE_BYTES, Plane, valueAt } from './plane';

const CORNER_BYTES: usize = 24;
/** At most four corners to begin with, and one more for each of 56 planes, a cube's six and a strip's two: 68. */
const MAX_CORNERS: i32 = 68;

let corners: usize = memory.data(MAX_CORNERS * <i32>CORNER_BYTES, 16);
let clippedCorners: usize = memory.data(MAX_CORNERS * <i32>CORNER_BYTES, 16);
export let cornerCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function cornerX(i: u32): f64 { return load<f64>(corners + i * <u32>CORNER_BYTES); }
// @ts-ignore: decorator
@inline
export function cornerY(i: u32): f64 { return load<f64>(corners + i * <u32>CORNER_BYTES, 8); }
// @ts-ignore: decorator
@inline
export function cornerZ(i: u32): f64 { return load<f64>(corners + i * <u32>CORNER_BYTES, 16); }

export function beginPolygon(): void {
  cornerCount = 0;
}

export function addCorner(x: f64, y: f64, z: f64): void {
  writeCorner(corners, cornerCount++, x, y, z);
}

// @ts-ignore: decorator
@inline
function writeCorner(list: usize, i: u32, x: f64, y: f64, z: f64): void {
  const at = list + i * <u32>CORNER_BYTES;
  store<f64>(at, x);
  store<f64>(at, y, 8);
  store<f64>(at, z, 16);
}

/** Clips the polygon to the plane's inner side, the plane itself included. Returns false if nothing is left. */
export function clipByPlane(plane: Plane): bool {
  const count = cornerCount;
  if (count == 0) return false;
  let keptCount: u32 = 0;
  let px = cornerX(count - 1), py = cornerY(count - 1), pz = cornerZ(count - 1);
  let p = valueAt(plane, px, py, pz);
  for (let i: u32 = 0; i < count; i++) {
    const qx = cornerX(i), qy = cornerY(i), qz = cornerZ(i);
    const q = valueAt(plane, qx, qy, qz);
    if ((p < 0 && q > 0) || (p > 0 && q < 0)) {
      const t = p / (p - q);
      writeCorner(clippedCorners, keptCount++, px + t * (qx - px), py + t * (qy - py), pz + t * (qz - pz));
    }
    if (q >= 0) writeCorner(clippedCorners, keptCount++, qx, qy, qz);
    px = qx; py = qy; pz = qz;
    p = q;
  }
  const other = corners;
  corners = clippedCorners;
  clippedCorners = other;
  cornerCount = keptCount;
  return keptCount != 0;
}

/** How far a point may be beyond the cube's faces: tolerates rounding when touching. */
const CUBE_TOLERANCE: f64 = 1e-10;

const cubePlanes: usize = memory.data(6 * <i32>PLANE_BYTES, 16);
for (let i: usize = 0; i < 6; i++) {
  store<f64>(cubePlanes + i * PLANE_BYTES + (i >> 1 << 3), i & 1 ? 1 : -1);
  store<f64>(cubePlanes + i * PLANE_BYTES, 1.0 + CUBE_TOLERANCE, offsetof<Plane>('w'));
}

/** Clips the polygon to the cube [-1, 1]³, except for a tiny slack. Returns false if nothing is left. */
export function clipByCube(): bool {
  for (let i: usize = 0; i < 6; i++) if (!clipByPlane(changetype<Plane>(cubePlanes + i * PLANE_BYTES))) return false;
  return true;
}
