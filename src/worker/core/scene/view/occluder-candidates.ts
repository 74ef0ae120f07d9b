// Chooses the objects that may occlude others from a view: those that are large on its screen, the largest first.

import { reserve } from '../../memory';
import { pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { VECTOR_BYTES } from '../../sizes';
import { TREE_COUNT, blockAt, isEmpty, slotAt, treeOf } from '../index/octree';
import {
  Narrow, narrowW, narrowX, narrowY, originX, originY, originZ, picture, seenLanes, view,
} from './occlusion-screen';

/** An object that is fewer pixels of the depth buffer across occludes next to nothing. */
const LEAST_PIXELS: f32 = 8;

/** The possible occluders: slots, and their sizes on the screen. */
let candidates: usize = 0;
export let candidateCount: u32 = 0;
let sorted: usize = 0;
/** Sizes are distinguished by quarters of a power of two. */
const BUCKETS: u32 = 1024;
const buckets: usize = memory.data(<i32>BUCKETS * 4, 16);
const sizes: usize = memory.data(VECTOR_BYTES, 16);

export function chooseOccluders(): void {
  candidateCount = 0;
  setSides();
  memory.fill(buckets, 0, BUCKETS << 2);
  const pixels = <f32>(view.pixelsPerUnit * <f64>pixelsWide / picture.width);
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = treeOf(which);
    if (isEmpty(tree)) continue;
    for (let position: u32 = 0; position < tree.positions; position += 4) {
      let bits = seenLanes(tree, position);
      if (bits == 0) continue;
      const block = blockAt(tree, position);
      const lowX = v128.load(block), lowY = v128.load(block, 16), lowZ = v128.load(block, 32);
      const highX = v128.load(block, 48), highY = v128.load(block, 64), highZ = v128.load(block, 80);
      const extent = f32x4.add(f32x4.add(f32x4.sub(highX, lowX), f32x4.sub(highY, lowY)), f32x4.sub(highZ, lowZ));
      let depth = f32x4.splat(1);
      if (picture.isPerspective) {
        // The depth of the box's centre.
        const half = f32x4.splat(0.5);
        const x = f32x4.sub(f32x4.mul(f32x4.add(lowX, highX), half), f32x4.splat(originX));
        const y = f32x4.sub(f32x4.mul(f32x4.add(lowY, highY), half), f32x4.splat(originY));
        const z = f32x4.sub(f32x4.mul(f32x4.add(lowZ, highZ), half), f32x4.splat(originZ));
        depth = f32x4.add(f32x4.add(f32x4.mul(x, f32x4.splat(narrowW.x)), f32x4.mul(y, f32x4.splat(narrowW.y))),
          f32x4.add(f32x4.mul(z, f32x4.splat(narrowW.z)), f32x4.splat(narrowW.w)));
        depth = f32x4.max(depth, f32x4.mul(extent, f32x4.splat(0.125)));
      }
      const size = f32x4.div(f32x4.mul(extent, f32x4.splat(pixels)), depth);
      bits &= i32x4.bitmask(f32x4.ge(size, f32x4.splat(LEAST_PIXELS)));
      if (bits == 0) continue;
      bits &= lanesInPicture(lowX, lowY, lowZ, highX, highY, highZ);
      if (bits == 0) continue;
      v128.store(sizes, size);
      for (; bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        const slot = slotAt(tree, position + lane);
        const bucket = bucketOf(load<f32>(sizes + (<usize>lane << 2)));
        candidates = reserve(candidates, <usize>candidateCount << 3, <u64>(candidateCount + 1) << 3);
        const at = candidates + (<usize>candidateCount << 3);
        candidateCount++;
        store<u32>(at, slot);
        store<u32>(at, bucket, 4);
        const count = buckets + (<usize>bucket << 2);
        store<u32>(count, load<u32>(count) + 1);
      }
    }
  }
  // Largest first.
  sorted = reserve(sorted, 0, <u64>max<u32>(candidateCount, 1) << 2);
  let end: u32 = 0;
  for (let bucket: i32 = BUCKETS - 1; bucket >= 0; bucket--) {
    const count = buckets + (<usize>bucket << 2);
    const begin = end;
    end += load<u32>(count);
    store<u32>(count, begin);
  }
  for (let i: u32 = 0; i < candidateCount; i++) {
    const at = candidates + (<usize>i << 3), place = buckets + (<usize>load<u32>(at, 4) << 2);
    store<u32>(sorted + (<usize>load<u32>(place) << 2), load<u32>(at));
    store<u32>(place, load<u32>(place) + 1);
  }
}

/** The sides of the picture, and the plane through the eye: four f32 each, a normal and its constant, inwards. */
const SIDES: i32 = 5;
const sides: usize = memory.data(SIDES * VECTOR_BYTES, 16);

function setSides(): void {
  setSide(0, narrowX, 1, 0);
  setSide(1, narrowX, -1, <f32>pixelsWide);
  setSide(2, narrowY, 1, 0);
  setSide(3, narrowY, -1, <f32>pixelsHigh);
  setSide(4, narrowW, 1, 0);
}

function setSide(i: usize, axis: Narrow, sign: f32, size: f32): void {
  const at = sides + (i << 4);
  store<f32>(at, size * narrowW.x + sign * axis.x);
  store<f32>(at, size * narrowW.y + sign * axis.y, 4);
  store<f32>(at, size * narrowW.z + sign * axis.z, 8);
  store<f32>(at, size * narrowW.w + sign * axis.w, 12);
}

/**
 * Returns a bit mask of the boxes of a block that reach into the picture, approximately: a view that is enlarged by how fast its
 * camera turns sees thousands of objects beside it and behind the eye, which occlude nothing and would displace those that do.
 */
function lanesInPicture(lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128): u32 {
  const ox = f32x4.splat(originX), oy = f32x4.splat(originY), oz = f32x4.splat(originZ);
  let bits: u32 = 15;
  for (let i: usize = 0; i < <usize>SIDES; i++) {
    const at = sides + (i << 4);
    const x = load<f32>(at), y = load<f32>(at, 4), z = load<f32>(at, 8);
    const farX = f32x4.sub(x > 0 ? highX : lowX, ox), farY = f32x4.sub(y > 0 ? highY : lowY, oy);
    const farZ = f32x4.sub(z > 0 ? highZ : lowZ, oz);
    const value = f32x4.add(
      f32x4.add(f32x4.mul(farX, f32x4.splat(x)), f32x4.mul(farY, f32x4.splat(y))),
      f32x4.add(f32x4.mul(farZ, f32x4.splat(z)), f32x4.splat(load<f32>(at, 12))),
    );
    bits &= i32x4.bitmask(f32x4.ge(value, f32x4.splat(0)));
  }
  return bits;
}

// @ts-ignore: decorator
@inline
function bucketOf(size: f32): u32 {
  return min<u32>(reinterpret<u32>(size) >> 21, BUCKETS - 1);
}

/** Returns the slot of a candidate; larger ones come first. */
// @ts-ignore: decorator
@inline
export function candidateAt(i: u32): u32 {
  return load<u32>(sorted + (<usize>i << 2));
}
