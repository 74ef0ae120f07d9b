// Tests boxes against the depth buffer, and removes occluded objects from what a view sees.

import { Affine } from '../../math/affine';
import { Plane, valueAt } from '../../math/plane';
import { isCovered, pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { DEPTH_SLACK, screenW, screenX, screenY, screenZ } from '../../occlusion/draw-occluder';
import { VECTOR_BYTES } from '../../sizes';
import { Tree, blockAt, boundsAt, isEmpty, slotAt } from '../index/octree';
import {
  screenW32, screenX32, screenY32, screenZ32, originX, originY, originZ, camera, pixelMargin, visibleLanes, view,
} from './occlusion-screen';
import { setBit } from './views';

/** The size in pixels below which an oriented box is not much smaller than the axis-aligned one. */
const SMALL: f64 = 4;
/** Half of the rounding error of some sums and products in float32, relative to their terms. */
const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21

const minXs: usize = memory.data(VECTOR_BYTES, 16);
const minYs: usize = memory.data(VECTOR_BYTES, 16);
const maxXs: usize = memory.data(VECTOR_BYTES, 16);
const maxYs: usize = memory.data(VECTOR_BYTES, 16);
const depths: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Marks the occluded objects of a tree. Visible objects are tested four at a time by their AABBs; those that pass are then
 * tested by their oriented bounds.
 */
export function hideOccluded(tree: Tree): void {
  if (isEmpty(tree)) return;
  for (let position: u32 = 0; position < tree.positions; position += 4) {
    const bits = visibleLanes(tree, position);
    if (bits == 0) continue;
    const inFrontBits = projectBlock(blockAt(tree, position));
    for (let rest = bits; rest != 0; rest &= rest - 1) {
      const lane = ctz(rest), at = <usize>lane << 2;
      const slot = slotAt(tree, position + lane);
      if (!(inFrontBits & (1 << lane))) {
        if (isHidden(boundsAt(tree, position + lane))) hide(slot);
        continue;
      }
      const minX = <f64>load<f32>(minXs + at), maxX = <f64>load<f32>(maxXs + at);
      const minY = <f64>load<f32>(minYs + at), maxY = <f64>load<f32>(maxYs + at);
      if (
        isRectangleHidden(minX, minY, maxX, maxY, <f64>load<f32>(depths + at)) ||
        ((maxX - minX > SMALL || maxY - minY > SMALL) && isHidden(boundsAt(tree, position + lane)))
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
  const maxOffset = f32x4.add(
    f32x4.add(f32x4.max(f32x4.abs(x0), f32x4.abs(x1)), f32x4.max(f32x4.abs(y0), f32x4.abs(y1))),
    f32x4.max(f32x4.abs(z0), f32x4.abs(z1)),
  );
  const rounding = f32x4.splat(ROUNDING);
  const isPerspective = camera.isPerspective;
  let minW = f32x4.splat(Infinity);
  let minX = minW, minY = minW, maxX = f32x4.splat(-Infinity), maxY = maxX;
  for (let k = 0; k < 4; k++) {
    const y = k & 1 ? y1 : y0, z = k & 2 ? z1 : z0;
    let w0 = f32x4.splat(1), w1 = w0;
    if (isPerspective) {
      const w = f32x4.add(
        f32x4.add(f32x4.mul(y, f32x4.splat(screenW32.y)), f32x4.mul(z, f32x4.splat(screenW32.z))), f32x4.splat(screenW32.w),
      );
      w0 = f32x4.add(w, f32x4.mul(x0, f32x4.splat(screenW32.x)));
      w1 = f32x4.add(w, f32x4.mul(x1, f32x4.splat(screenW32.x)));
      minW = f32x4.pmin(minW, f32x4.pmin(w0, w1));
      w0 = f32x4.div(f32x4.splat(1), w0);
      w1 = f32x4.div(f32x4.splat(1), w1);
    }
    const u = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(screenX32.y)), f32x4.mul(z, f32x4.splat(screenX32.z))), f32x4.splat(screenX32.w),
    );
    const v = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(screenY32.y)), f32x4.mul(z, f32x4.splat(screenY32.z))), f32x4.splat(screenY32.w),
    );
    const u0 = f32x4.mul(f32x4.add(u, f32x4.mul(x0, f32x4.splat(screenX32.x))), w0);
    const u1 = f32x4.mul(f32x4.add(u, f32x4.mul(x1, f32x4.splat(screenX32.x))), w1);
    const v0 = f32x4.mul(f32x4.add(v, f32x4.mul(x0, f32x4.splat(screenY32.x))), w0);
    const v1 = f32x4.mul(f32x4.add(v, f32x4.mul(x1, f32x4.splat(screenY32.x))), w1);
    minX = f32x4.pmin(minX, f32x4.pmin(u0, u1));
    maxX = f32x4.pmax(maxX, f32x4.pmax(u0, u1));
    minY = f32x4.pmin(minY, f32x4.pmin(v0, v1));
    maxY = f32x4.pmax(maxY, f32x4.pmax(v0, v1));
  }
  let depth: v128, error: v128;
  if (isPerspective) {
    const errorW = f32x4.mul(f32x4.add(f32x4.mul(maxOffset, f32x4.splat(screenW32.largest)), f32x4.splat(abs(screenW32.w))),
      rounding);
    minW = f32x4.sub(minW, errorW);
    depth = f32x4.div(f32x4.splat(1), minW);
    // The error of x / w has two parts: that of x, and x / w times that of w.
    const maxCoordinate = f32x4.max(f32x4.max(f32x4.abs(minX), f32x4.abs(maxX)), f32x4.max(f32x4.abs(minY), f32x4.abs(maxY)));
    error = f32x4.mul(f32x4.mul(f32x4.add(errorOf(maxOffset), f32x4.mul(maxCoordinate, errorW)), depth), f32x4.splat(2));
  } else {
    minW = f32x4.splat(1);
    const a = f32x4.max(f32x4.mul(x0, f32x4.splat(screenZ32.x)), f32x4.mul(x1, f32x4.splat(screenZ32.x)));
    const b = f32x4.max(f32x4.mul(y0, f32x4.splat(screenZ32.y)), f32x4.mul(y1, f32x4.splat(screenZ32.y)));
    const c = f32x4.max(f32x4.mul(z0, f32x4.splat(screenZ32.z)), f32x4.mul(z1, f32x4.splat(screenZ32.z)));
    const terms = f32x4.add(f32x4.mul(maxOffset, f32x4.splat(screenZ32.largest)), f32x4.splat(abs(screenZ32.w)));
    depth = f32x4.add(f32x4.add(f32x4.add(a, b), f32x4.add(c, f32x4.splat(screenZ32.w))), f32x4.mul(terms, rounding));
    error = f32x4.mul(errorOf(maxOffset), f32x4.splat(2));
  }
  v128.store(minXs, f32x4.sub(minX, error));
  v128.store(maxXs, f32x4.add(maxX, error));
  v128.store(minYs, f32x4.sub(minY, error));
  v128.store(maxYs, f32x4.add(maxY, error));
  v128.store(depths, depth);
  return i32x4.bitmask(f32x4.gt(minW, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function errorOf(maxOffset: v128): v128 {
  const gradient = f32x4.mul(maxOffset, f32x4.splat(max(screenX32.largest, screenY32.largest)));
  return f32x4.mul(f32x4.add(gradient, f32x4.splat(max(abs(screenX32.w), abs(screenY32.w)))), f32x4.splat(ROUNDING));
}

/** Returns whether oriented bounds are occluded, by their corners in float64. */
export function isHidden(b: Affine): bool {
  const x = screenX, y = screenY, z = screenZ, w = screenW;
  const centerX = valueAt(x, b.tx, b.ty, b.tz), centerY = valueAt(y, b.tx, b.ty, b.tz);
  const centerZ = valueAt(z, b.tx, b.ty, b.tz), centerW = valueAt(w, b.tx, b.ty, b.tz);
  const wx = dotNormal(w, b.xx, b.xy, b.xz), wy = dotNormal(w, b.yx, b.yy, b.yz), wz = dotNormal(w, b.zx, b.zy, b.zz);
  if (!(centerW - abs(wx) - abs(wy) - abs(wz) > 0)) return false;
  const xx = dotNormal(x, b.xx, b.xy, b.xz), xy = dotNormal(x, b.yx, b.yy, b.yz), xz = dotNormal(x, b.zx, b.zy, b.zz);
  const yx = dotNormal(y, b.xx, b.xy, b.xz), yy = dotNormal(y, b.yx, b.yy, b.yz), yz = dotNormal(y, b.zx, b.zy, b.zz);
  const zx = dotNormal(z, b.xx, b.xy, b.xz), zy = dotNormal(z, b.yx, b.yy, b.yz), zz = dotNormal(z, b.zx, b.zy, b.zz);
  let minX = Infinity, minY = Infinity, maxX = -Infinity, maxY = -Infinity, depth = -Infinity;
  for (let corner = 0; corner < 8; corner++) {
    const s: f64 = corner & 1 ? 1 : -1, t: f64 = corner & 2 ? 1 : -1, u: f64 = corner & 4 ? 1 : -1;
    const inverseW = 1.0 / (centerW + s * wx + t * wy + u * wz);
    const px = (centerX + s * xx + t * xy + u * xz) * inverseW, py = (centerY + s * yx + t * yy + u * yz) * inverseW;
    minX = min(minX, px);
    maxX = max(maxX, px);
    minY = min(minY, py);
    maxY = max(maxY, py);
    depth = max(depth, (centerZ + s * zx + t * zy + u * zz) * inverseW);
  }
  return isRectangleHidden(minX, minY, maxX, maxY, depth);
}

// @ts-ignore: decorator
@inline
function dotNormal(plane: Plane, x: f64, y: f64, z: f64): f64 {
  return plane.x * x + plane.y * y + plane.z * z;
}

/** Returns whether all of a rectangle within the image is covered nearer than a depth. */
function isRectangleHidden(minX: f64, minY: f64, maxX: f64, maxY: f64, depth: f64): bool {
  const x0 = minX - pixelMargin, y0 = minY - pixelMargin, x1 = maxX + pixelMargin, y1 = maxY + pixelMargin;
  const width = <f64>pixelsWide, height = <f64>pixelsHigh;
  if (camera.isLasting) {
    if (!(x0 >= 0 && y0 >= 0 && x1 < width && y1 < height)) return false;
  } else if (!(x1 >= 0 && y1 >= 0 && x0 < width && y0 < height)) return false;
  const nearestDepth = <f32>(depth + abs(depth) * DEPTH_SLACK + camera.bias);
  return isCovered(
    <i32>max(x0, 0.0), <i32>max(y0, 0.0), <i32>min(x1, width - 1), <i32>min(y1, height - 1), nearestDepth,
  );
}
