// The bounds of blocks of triangles, along the axes or in a rotated frame, for builds and for poses. Exact.

import { Rotation } from '../../math/quaternion';
import { BLOCK_BYTES } from './layout';

/** The bounds that were computed last: the least coordinates, as xyz, and the greatest. */
export let boundsMin: v128 = i32x4.splat(0);
export let boundsMax: v128 = i32x4.splat(0);

/** Sets the bounds to those of a block. */
// @ts-ignore: decorator
@inline
export function boundBlock(block: usize): void {
  const ax = v128.load(block), ay = v128.load(block, 16), az = v128.load(block, 32);
  const bx = v128.load(block, 48), by = v128.load(block, 64), bz = v128.load(block, 80);
  const cx = v128.load(block, 96), cy = v128.load(block, 112), cz = v128.load(block, 128);
  boundsMin = minOfEach(
    f32x4.pmin(f32x4.pmin(ax, bx), cx), f32x4.pmin(f32x4.pmin(ay, by), cy), f32x4.pmin(f32x4.pmin(az, bz), cz),
  );
  boundsMax = maxOfEach(
    f32x4.pmax(f32x4.pmax(ax, bx), cx), f32x4.pmax(f32x4.pmax(ay, by), cy), f32x4.pmax(f32x4.pmax(az, bz), cz),
  );
}

/** Sets the bounds to those of all blocks from `first` to before `end`, in a rotated frame. */
export function boundRotatedBlocks(rotation: Rotation, first: usize, end: usize): void {
  const xx = f32x4.splat(rotation.xx), xy = f32x4.splat(rotation.xy), xz = f32x4.splat(rotation.xz);
  const yx = f32x4.splat(rotation.yx), yy = f32x4.splat(rotation.yy), yz = f32x4.splat(rotation.yz);
  const zx = f32x4.splat(rotation.zx), zy = f32x4.splat(rotation.zy), zz = f32x4.splat(rotation.zz);
  let minX = f32x4.splat(Infinity), minY = minX, minZ = minX;
  let maxX = f32x4.splat(-Infinity), maxY = maxX, maxZ = maxX;
  for (let block = first; block < end; block += BLOCK_BYTES) {
    // Three corners, each as x, y and z of four lanes.
    for (let corner = block; corner < block + 144; corner += 48) {
      const px = v128.load(corner), py = v128.load(corner, 16), pz = v128.load(corner, 32);
      const x = f32x4.add(f32x4.add(f32x4.mul(xx, px), f32x4.mul(xy, py)), f32x4.mul(xz, pz));
      const y = f32x4.add(f32x4.add(f32x4.mul(yx, px), f32x4.mul(yy, py)), f32x4.mul(yz, pz));
      const z = f32x4.add(f32x4.add(f32x4.mul(zx, px), f32x4.mul(zy, py)), f32x4.mul(zz, pz));
      minX = f32x4.pmin(minX, x); maxX = f32x4.pmax(maxX, x);
      minY = f32x4.pmin(minY, y); maxY = f32x4.pmax(maxY, y);
      minZ = f32x4.pmin(minZ, z); maxZ = f32x4.pmax(maxZ, z);
    }
  }
  boundsMin = minOfEach(minX, minY, minZ);
  boundsMax = maxOfEach(maxX, maxY, maxZ);
}

/** Returns the least lane of each of x, y and z, as xyz. */
// @ts-ignore: decorator
@inline
export function minOfEach(x: v128, y: v128, z: v128): v128 {
  const xy = f32x4.pmin(v128.shuffle<f32>(x, y, 0, 4, 1, 5), v128.shuffle<f32>(x, y, 2, 6, 3, 7));
  const zz = f32x4.pmin(v128.shuffle<f32>(z, z, 0, 0, 1, 1), v128.shuffle<f32>(z, z, 2, 2, 3, 3));
  return f32x4.pmin(v128.shuffle<f32>(xy, zz, 0, 1, 4, 5), v128.shuffle<f32>(xy, zz, 2, 3, 6, 7));
}

/** Returns the greatest lane of each of x, y and z, as xyz. */
// @ts-ignore: decorator
@inline
export function maxOfEach(x: v128, y: v128, z: v128): v128 {
  const xy = f32x4.pmax(v128.shuffle<f32>(x, y, 0, 4, 1, 5), v128.shuffle<f32>(x, y, 2, 6, 3, 7));
  const zz = f32x4.pmax(v128.shuffle<f32>(z, z, 0, 0, 1, 1), v128.shuffle<f32>(z, z, 2, 2, 3, 3));
  return f32x4.pmax(v128.shuffle<f32>(xy, zz, 0, 1, 4, 5), v128.shuffle<f32>(xy, zz, 2, 3, 6, 7));
}

/** Writes the bounds as box `i` of four: low x, y and z at `boxes`, the high ones after them, with a box in each lane. */
// @ts-ignore: decorator
@inline
export function storeBounds(boxes: usize, i: u32): void {
  const at = boxes + (<usize>i << 2);
  v128.store32_lane(at, boundsMin, 0); v128.store32_lane(at, boundsMin, 1, 16); v128.store32_lane(at, boundsMin, 2, 32);
  v128.store32_lane(at, boundsMax, 0, 48); v128.store32_lane(at, boundsMax, 1, 64); v128.store32_lane(at, boundsMax, 2, 80);
}

/** Sets the bounds to the given ones. */
// @ts-ignore: decorator
@inline
export function setBounds(newMin: v128, newMax: v128): void {
  boundsMin = newMin;
  boundsMax = newMax;
}
