// The volume of a query: the inner side of planes and, if there is a lasso, what is drawn inside it. Some planes clip the
// world itself (clipping.ts): what is behind these does not exist. For each box, the descent keeps which limits still
// cross it, so that no limit is tested again in its subtree.

import { Affine } from '../../math/affine';
import { PLANE_BYTES, Plane, combineUnit, valueAt } from '../../math/plane';
import { farPlane, nearPlane, clipW, clipX, clipY } from '../view/projection';
import { RECT_INSIDE, RECT_OUTSIDE, rectState, setLasso } from './lasso';

/** The bit of the lasso among the limits that cross a box; the lower bits are those of the planes. */
export const LASSO: u64 = 0x4000000000000000;
export const PLANES: u64 = 0x3fffffffffffffff;
// How the part of an object that the clipping planes keep lies relative to a volume.
export const NONE: u32 = 0;
export const CROSSING: u32 = 1;
export const INSIDE: u32 = 2;

/** The limits of a box that has no point in the volume. */
export const OUTSIDE: u64 = 0x8000000000000000;

/**
 * The most planes of a volume, of 62 bits below LASSO: 32 of a frustum or 6 of a region, 16 clipping planes of a query,
 * and 1 of its intersection planes; or, for a region, an object's own 32.
 */
export const MAX_PLANES: i32 = 56;
let planes: usize = memory.data(MAX_PLANES * <i32>PLANE_BYTES, 16);
let savedPlanes: usize = memory.data(MAX_PLANES * <i32>PLANE_BYTES, 16);
let planeCount: u32 = 0;
/** The bits of the planes that clip the world. */
export let clipLimits: u64 = 0;
let hasLasso: bool = false;
let savedPlaneCount: u32 = 0;
let savedHasLasso: bool = false;
let savedClipLimits: u64 = 0;

// @ts-ignore: decorator
@inline
export function volumePlane(i: u32): Plane {
  return changetype<Plane>(planes + i * <u32>PLANE_BYTES);
}

export function beginVolume(): void {
  planeCount = 0;
  clipLimits = 0;
  hasLasso = false;
}

/** Sets the volume aside and begins another one, or takes back the one that was set aside. */
export function swapVolumes(): void {
  const planesAside = planes, countAside = planeCount, lassoAside = hasLasso, clipsAside = clipLimits;
  planes = savedPlanes;
  planeCount = savedPlaneCount;
  hasLasso = savedHasLasso;
  clipLimits = savedClipLimits;
  savedPlanes = planesAside;
  savedPlaneCount = countAside;
  savedHasLasso = lassoAside;
  savedClipLimits = clipsAside;
}

/** Adds the plane of a function that is positive on the inner side; none if it has no gradient. */
export function addPlane(x: f64, y: f64, z: f64, w: f64): void {
  const length = sqrt(x * x + y * y + z * z);
  if (!(length > 0)) return;
  const plane = volumePlane(planeCount++), scale = 1.0 / length;
  plane.x = x * scale;
  plane.y = y * scale;
  plane.z = z * scale;
  plane.w = w * scale;
}

/** Adds the plane s · a + t · b, with a unit normal inwards. Returns false if it has no normal. */
export function addVolumePlane(s: f64, a: Plane, t: f64, b: Plane): bool {
  if (!combineUnit(volumePlane(planeCount), s, a, t, b)) return false;
  planeCount++;
  return true;
}

/** Adds a plane that clips the world. Returns its bit. */
export function addClipPlane(plane: Plane): u64 {
  const bit = <u64>1 << planeCount;
  addPlane(plane.x, plane.y, plane.z, plane.w);
  clipLimits |= bit;
  return bit;
}

/** Returns the number of planes. */
export function volumePlaneCount(): u32 {
  return planeCount;
}

/** Removes the planes that were added last, so that `count` remain. */
export function dropPlanes(count: u32): void {
  planeCount = count;
  clipLimits &= (<u64>1 << count) - 1;
}

/**
 * Adds planes 0 to 3 around what is drawn in a rectangle, in clip space over w; `limitDepth` adds near and far. A
 * rectangle too thin for float64, such as that of a click, is made a millionth of a pixel wide.
 */
export function addRectangle(minX: f64, minY: f64, maxX: f64, maxY: f64): void {
  const x = maxX - minX < MIN_WIDTH ? MIN_WIDTH : 0, y = maxY - minY < MIN_WIDTH ? MIN_WIDTH : 0;
  addVolumePlane(1, clipX, x - minX, clipW);
  addVolumePlane(-1, clipX, x + maxX, clipW);
  addVolumePlane(1, clipY, y - minY, clipW);
  addVolumePlane(-1, clipY, y + maxY, clipW);
}

export const MIN_WIDTH: f64 = 9.313225746154785e-10; // 2^-30

export function limitDepth(): void {
  addVolumePlane(1, nearPlane, 0, nearPlane);
  addVolumePlane(1, farPlane, 0, farPlane);
}

export function limitToLasso(vertices: usize, count: u32): void {
  setLasso(vertices, count);
  hasLasso = true;
}

/** Returns all limits that may cross a box. */
export function allLimits(): u64 {
  return ((<u64>1 << planeCount) - 1) | (hasLasso ? LASSO : 0);
}

/** Returns whether a point is in the volume. */
export function volumeContains(x: f64, y: f64, z: f64): bool {
  for (let i: u32 = 0; i < planeCount; i++) if (valueAt(volumePlane(i), x, y, z) < 0) return false;
  return true;
}

/** Finds which of `limits` cross the image of the cube [-1, 1]³; OUTSIDE if it has no point in the volume. */
export function boxLimits(m: Affine, limits: u64): u64 {
  let crossed = limits & LASSO;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const i = <u32>ctz(bits);
    const p = volumePlane(i);
    const distance = valueAt(p, m.tx, m.ty, m.tz);
    const radius =
      abs(p.x * m.xx + p.y * m.xy + p.z * m.xz) +
      abs(p.x * m.yx + p.y * m.yy + p.z * m.yz) +
      abs(p.x * m.zx + p.y * m.zy + p.z * m.zz);
    if (distance < -radius) return OUTSIDE;
    if (distance < radius) crossed |= <u64>1 << i;
  }
  if (!(crossed & LASSO) || !projectBox(m)) return crossed;
  const state = rectState(projectedMinX, projectedMinY, projectedMaxX, projectedMaxY);
  return state == RECT_OUTSIDE ? OUTSIDE : state == RECT_INSIDE ? crossed & ~LASSO : crossed;
}

// The bounding rectangle of a box as it is drawn.
export let projectedMinX: f64 = 0, projectedMinY: f64 = 0, projectedMaxX: f64 = 0, projectedMaxY: f64 = 0;

/**
 * Finds the bounding rectangle of a box as it is drawn. Returns false for a box with a corner on the eye's plane or
 * behind it, since no rectangle can bound its projection.
 */
export function projectBox(m: Affine): bool {
  projectedMinX = projectedMinY = Infinity;
  projectedMaxX = projectedMaxY = -Infinity;
  for (let corner: u32 = 0; corner < 8; corner++) {
    const sx: f64 = corner & 1 ? 1 : -1, sy: f64 = corner & 2 ? 1 : -1, sz: f64 = corner & 4 ? 1 : -1;
    const px = m.tx + sx * m.xx + sy * m.yx + sz * m.zx;
    const py = m.ty + sx * m.xy + sy * m.yy + sz * m.zy;
    const pz = m.tz + sx * m.xz + sy * m.yz + sz * m.zz;
    const w = valueAt(clipW, px, py, pz);
    if (!(w > 0)) return false;
    const x = valueAt(clipX, px, py, pz) / w, y = valueAt(clipY, px, py, pz) / w;
    projectedMinX = min(projectedMinX, x); projectedMaxX = max(projectedMaxX, x);
    projectedMinY = min(projectedMinY, y); projectedMaxY = max(projectedMaxY, y);
  }
  return true;
}
