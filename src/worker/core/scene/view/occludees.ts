// Tests boxes against the depth buffer, and removes occluded objects from what a view sees.

import { Affine } from '../../math/affine';
import { Plane, valueAt } from '../../math/plane';
import { isCovered, pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { DEPTH_SLACK, screenW, screenX, screenY, screenZ } from '../../occlusion/draw-occluder';
import { VECTOR_BYTES } from '../../sizes';
import { Tree, blockAt, boundsAt, isEmpty, slotAt } from '../index/octree';
import {
  narrowW, narrowX, narrowY, narrowZ, originX, originY, originZ, picture, reach, seenLanes, view,
} from './occlusion-screen';
import { setBit } from './views';

/** The size in pixels below which an oriented box is not much smaller than the axis-aligned one. */
const SMALL: f64 = 4;
/** Half of the rounding error of some sums and products in float32, relative to their terms. */
const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21

const lowXs: usize = memory.data(VECTOR_BYTES, 16);
const lowYs: usize = memory.data(VECTOR_BYTES, 16);
const highXs: usize = memory.data(VECTOR_BYTES, 16);
const highYs: usize = memory.data(VECTOR_BYTES, 16);
const depths: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Marks the occluded objects of a tree. Visible objects are tested four at a time by their AABBs; those that pass are then
 * tested by their oriented bounds.
 */
export function hideIn(tree: Tree): void {
  if (isEmpty(tree)) return;
  for (let position: u32 = 0; position < tree.positions; position += 4) {
    const bits = seenLanes(tree, position);
    if (bits == 0) continue;
    const inFront = projectBlock(blockAt(tree, position));
    for (let rest = bits; rest != 0; rest &= rest - 1) {
      const lane = ctz(rest), at = <usize>lane << 2;
      const slot = slotAt(tree, position + lane);
      if (!(inFront & (1 << lane))) {
        if (isHidden(boundsAt(tree, position + lane))) hide(slot);
        continue;
      }
      const lowX = <f64>load<f32>(lowXs + at), highX = <f64>load<f32>(highXs + at);
      const lowY = <f64>load<f32>(lowYs + at), highY = <f64>load<f32>(highYs + at);
      if (
        isRectangleHidden(lowX, lowY, highX, highY, <f64>load<f32>(depths + at)) ||
        ((highX - lowX > SMALL || highY - lowY > SMALL) && isHidden(boundsAt(tree, position + lane)))
      ) hide(slot);
    }
  }
}

function hide(slot: u32): void {
  const word = <usize>(slot >> 5) << 2, bit: u32 = 1 << (slot & 31);
  store<u32>(view.inside + word, load<u32>(view.inside + word) & ~bit);
  store<u32>(view.crossing + word, load<u32>(view.crossing + word) & ~bit);
  setBit(view.occluded, slot);
}

/**
 * Finds the rectangles and nearest depths of four boxes. Returns a bit mask of those that are completely in front of the eye.
 */
function projectBlock(block: usize): u32 {
  const ox = f32x4.splat(originX), oy = f32x4.splat(originY), oz = f32x4.splat(originZ);
  const x0 = f32x4.sub(v128.load(block), ox), x1 = f32x4.sub(v128.load(block, 48), ox);
  const y0 = f32x4.sub(v128.load(block, 16), oy), y1 = f32x4.sub(v128.load(block, 64), oy);
  const z0 = f32x4.sub(v128.load(block, 32), oz), z1 = f32x4.sub(v128.load(block, 80), oz);
  const far = f32x4.add(
    f32x4.add(f32x4.max(f32x4.abs(x0), f32x4.abs(x1)), f32x4.max(f32x4.abs(y0), f32x4.abs(y1))),
    f32x4.max(f32x4.abs(z0), f32x4.abs(z1)),
  );
  const rounding = f32x4.splat(ROUNDING);
  const isPerspective = picture.isPerspective;
  let least = f32x4.splat(Infinity);
  let lowX = least, lowY = least, highX = f32x4.splat(-Infinity), highY = highX;
  for (let k = 0; k < 4; k++) {
    const y = k & 1 ? y1 : y0, z = k & 2 ? z1 : z0;
    let w0 = f32x4.splat(1), w1 = w0;
    if (isPerspective) {
      const w = f32x4.add(
        f32x4.add(f32x4.mul(y, f32x4.splat(narrowW.y)), f32x4.mul(z, f32x4.splat(narrowW.z))), f32x4.splat(narrowW.w),
      );
      w0 = f32x4.add(w, f32x4.mul(x0, f32x4.splat(narrowW.x)));
      w1 = f32x4.add(w, f32x4.mul(x1, f32x4.splat(narrowW.x)));
      least = f32x4.pmin(least, f32x4.pmin(w0, w1));
      w0 = f32x4.div(f32x4.splat(1), w0);
      w1 = f32x4.div(f32x4.splat(1), w1);
    }
    const u = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(narrowX.y)), f32x4.mul(z, f32x4.splat(narrowX.z))), f32x4.splat(narrowX.w),
    );
    const v = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(narrowY.y)), f32x4.mul(z, f32x4.splat(narrowY.z))), f32x4.splat(narrowY.w),
    );
    const u0 = f32x4.mul(f32x4.add(u, f32x4.mul(x0, f32x4.splat(narrowX.x))), w0);
    const u1 = f32x4.mul(f32x4.add(u, f32x4.mul(x1, f32x4.splat(narrowX.x))), w1);
    const v0 = f32x4.mul(f32x4.add(v, f32x4.mul(x0, f32x4.splat(narrowY.x))), w0);
    const v1 = f32x4.mul(f32x4.add(v, f32x4.mul(x1, f32x4.splat(narrowY.x))), w1);
    lowX = f32x4.pmin(lowX, f32x4.pmin(u0, u1));
    highX = f32x4.pmax(highX, f32x4.pmax(u0, u1));
    lowY = f32x4.pmin(lowY, f32x4.pmin(v0, v1));
    highY = f32x4.pmax(highY, f32x4.pmax(v0, v1));
  }
  let depth: v128, error: v128;
  if (isPerspective) {
    const errorW = f32x4.mul(f32x4.add(f32x4.mul(far, f32x4.splat(narrowW.largest)), f32x4.splat(abs(narrowW.w))), rounding);
    least = f32x4.sub(least, errorW);
    depth = f32x4.div(f32x4.splat(1), least);
    // The error of x / w has two parts: that of x, and x / w times that of w.
    const widest = f32x4.max(f32x4.max(f32x4.abs(lowX), f32x4.abs(highX)), f32x4.max(f32x4.abs(lowY), f32x4.abs(highY)));
    error = f32x4.mul(f32x4.mul(f32x4.add(errorOf(far), f32x4.mul(widest, errorW)), depth), f32x4.splat(2));
  } else {
    least = f32x4.splat(1);
    const a = f32x4.max(f32x4.mul(x0, f32x4.splat(narrowZ.x)), f32x4.mul(x1, f32x4.splat(narrowZ.x)));
    const b = f32x4.max(f32x4.mul(y0, f32x4.splat(narrowZ.y)), f32x4.mul(y1, f32x4.splat(narrowZ.y)));
    const c = f32x4.max(f32x4.mul(z0, f32x4.splat(narrowZ.z)), f32x4.mul(z1, f32x4.splat(narrowZ.z)));
    const terms = f32x4.add(f32x4.mul(far, f32x4.splat(narrowZ.largest)), f32x4.splat(abs(narrowZ.w)));
    depth = f32x4.add(f32x4.add(f32x4.add(a, b), f32x4.add(c, f32x4.splat(narrowZ.w))), f32x4.mul(terms, rounding));
    error = f32x4.mul(errorOf(far), f32x4.splat(2));
  }
  v128.store(lowXs, f32x4.sub(lowX, error));
  v128.store(highXs, f32x4.add(highX, error));
  v128.store(lowYs, f32x4.sub(lowY, error));
  v128.store(highYs, f32x4.add(highY, error));
  v128.store(depths, depth);
  return i32x4.bitmask(f32x4.gt(least, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function errorOf(far: v128): v128 {
  const gradient = f32x4.mul(far, f32x4.splat(max(narrowX.largest, narrowY.largest)));
  return f32x4.mul(f32x4.add(gradient, f32x4.splat(max(abs(narrowX.w), abs(narrowY.w)))), f32x4.splat(ROUNDING));
}

/** Returns whether oriented bounds are occluded, by their corners in float64. */
export function isHidden(b: Affine): bool {
  const x = screenX, y = screenY, z = screenZ, w = screenW;
  const middleX = valueAt(x, b.tx, b.ty, b.tz), middleY = valueAt(y, b.tx, b.ty, b.tz);
  const middleZ = valueAt(z, b.tx, b.ty, b.tz), middleW = valueAt(w, b.tx, b.ty, b.tz);
  const wx = along(w, b.xx, b.xy, b.xz), wy = along(w, b.yx, b.yy, b.yz), wz = along(w, b.zx, b.zy, b.zz);
  if (!(middleW - abs(wx) - abs(wy) - abs(wz) > 0)) return false;
  const xx = along(x, b.xx, b.xy, b.xz), xy = along(x, b.yx, b.yy, b.yz), xz = along(x, b.zx, b.zy, b.zz);
  const yx = along(y, b.xx, b.xy, b.xz), yy = along(y, b.yx, b.yy, b.yz), yz = along(y, b.zx, b.zy, b.zz);
  const zx = along(z, b.xx, b.xy, b.xz), zy = along(z, b.yx, b.yy, b.yz), zz = along(z, b.zx, b.zy, b.zz);
  let lowX = Infinity, lowY = Infinity, highX = -Infinity, highY = -Infinity, depth = -Infinity;
  for (let corner = 0; corner < 8; corner++) {
    const s: f64 = corner & 1 ? 1 : -1, t: f64 = corner & 2 ? 1 : -1, u: f64 = corner & 4 ? 1 : -1;
    const over = 1.0 / (middleW + s * wx + t * wy + u * wz);
    const px = (middleX + s * xx + t * xy + u * xz) * over, py = (middleY + s * yx + t * yy + u * yz) * over;
    lowX = min(lowX, px);
    highX = max(highX, px);
    lowY = min(lowY, py);
    highY = max(highY, py);
    depth = max(depth, (middleZ + s * zx + t * zy + u * zz) * over);
  }
  return isRectangleHidden(lowX, lowY, highX, highY, depth);
}

// @ts-ignore: decorator
@inline
function along(plane: Plane, x: f64, y: f64, z: f64): f64 {
  return plane.x * x + plane.y * y + plane.z * z;
}

/** Returns whether all of a rectangle within the picture is covered nearer than a depth. */
function isRectangleHidden(lowX: f64, lowY: f64, highX: f64, highY: f64, depth: f64): bool {
  const x0 = lowX - reach, y0 = lowY - reach, x1 = highX + reach, y1 = highY + reach;
  const width = <f64>pixelsWide, height = <f64>pixelsHigh;
  if (picture.isLasting) {
    if (!(x0 >= 0 && y0 >= 0 && x1 < width && y1 < height)) return false;
  } else if (!(x1 >= 0 && y1 >= 0 && x0 < width && y0 < height)) return false;
  const nearest = <f32>(depth + abs(depth) * DEPTH_SLACK + picture.bias);
  return isCovered(
    <i32>max(x0, 0.0), <i32>max(y0, 0.0), <i32>min(x1, width - 1), <i32>min(y1, height - 1), nearest,
  );
}
