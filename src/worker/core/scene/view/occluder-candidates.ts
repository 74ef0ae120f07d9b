// Chooses the objects that may occlude others from a view: those that are large on its screen, the largest first.

import { reserve } from '../../memory';
import { pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import { VECTOR_BYTES } from '../../sizes';
import { TREE_COUNT, blockAt, isEmpty, slotAt, treeOf } from '../index/octree';
import {
  LinearF32, screenW32, screenX32, screenY32, originX, originY, originZ, camera, visibleLanes, view,
} from './occlusion-screen';

/** An object that is fewer pixels of the depth buffer across occludes next to nothing. */
const MIN_PIXELS: f32 = 8;

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
  const pixelsPerUnit = <f32>(view.pixelsPerUnit * <f64>pixelsWide / camera.width);
  for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) {
    const tree = treeOf(treeIndex);
    if (isEmpty(tree)) continue;
    for (let position: u32 = 0; position < tree.positions; position += 4) {
      let bits = visibleLanes(tree, position);
      if (bits == 0) continue;
      const block = blockAt(tree, position);
      const minX = v128.load(block), minY = v128.load(block, 16), minZ = v128.load(block, 32);
      const maxX = v128.load(block, 48), maxY = v128.load(block, 64), maxZ = v128.load(block, 80);
      const extent = f32x4.add(f32x4.add(f32x4.sub(maxX, minX), f32x4.sub(maxY, minY)), f32x4.sub(maxZ, minZ));
      let depth = f32x4.splat(1);
      if (camera.isPerspective) {
        // The depth of the box's centre.
        const half = f32x4.splat(0.5);
        const x = f32x4.sub(f32x4.mul(f32x4.add(minX, maxX), half), f32x4.splat(originX));
        const y = f32x4.sub(f32x4.mul(f32x4.add(minY, maxY), half), f32x4.splat(originY));
        const z = f32x4.sub(f32x4.mul(f32x4.add(minZ, maxZ), half), f32x4.splat(originZ));
        depth = f32x4.add(f32x4.add(f32x4.mul(x, f32x4.splat(screenW32.x)), f32x4.mul(y, f32x4.splat(screenW32.y))),
          f32x4.add(f32x4.mul(z, f32x4.splat(screenW32.z)), f32x4.splat(screenW32.w)));
        depth = f32x4.max(depth, f32x4.mul(extent, f32x4.splat(0.125)));
      }
      const size = f32x4.div(f32x4.mul(extent, f32x4.splat(pixelsPerUnit)), depth);
      bits &= i32x4.bitmask(f32x4.ge(size, f32x4.splat(MIN_PIXELS)));
      if (bits == 0) continue;
      bits &= lanesInImage(minX, minY, minZ, maxX, maxY, maxZ);
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
        const bucketAddress = buckets + (<usize>bucket << 2);
        store<u32>(bucketAddress, load<u32>(bucketAddress) + 1);
      }
    }
  }
  // Largest first.
  sorted = reserve(sorted, 0, <u64>max<u32>(candidateCount, 1) << 2);
  let end: u32 = 0;
  for (let bucket: i32 = BUCKETS - 1; bucket >= 0; bucket--) {
    const bucketAddress = buckets + (<usize>bucket << 2);
    const start = end;
    end += load<u32>(bucketAddress);
    store<u32>(bucketAddress, start);
  }
  for (let i: u32 = 0; i < candidateCount; i++) {
    const at = candidates + (<usize>i << 3), bucketAddress = buckets + (<usize>load<u32>(at, 4) << 2);
    store<u32>(sorted + (<usize>load<u32>(bucketAddress) << 2), load<u32>(at));
    store<u32>(bucketAddress, load<u32>(bucketAddress) + 1);
  }
}

/** The sides of the image, and the plane through the eye: four f32 each, a normal and its constant, inwards. */
const SIDES: i32 = 5;
const sides: usize = memory.data(SIDES * VECTOR_BYTES, 16);

function setSides(): void {
  setSide(0, screenX32, 1, 0);
  setSide(1, screenX32, -1, <f32>pixelsWide);
  setSide(2, screenY32, 1, 0);
  setSide(3, screenY32, -1, <f32>pixelsHigh);
  setSide(4, screenW32, 1, 0);
}

function setSide(i: usize, axis: LinearF32, sign: f32, size: f32): void {
  const at = sides + (i << 4);
  store<f32>(at, size * screenW32.x + sign * axis.x);
  store<f32>(at, size * screenW32.y + sign * axis.y, 4);
  store<f32>(at, size * screenW32.z + sign * axis.z, 8);
  store<f32>(at, size * screenW32.w + sign * axis.w, 12);
}

/**
 * Returns a bit mask of the boxes of a block that reach into the image, approximately: a view that is enlarged by how fast its
 * camera turns sees thousands of objects beside it and behind the eye, which occlude nothing and would displace those that do.
 */
function lanesInImage(minX: v128, minY: v128, minZ: v128, maxX: v128, maxY: v128, maxZ: v128): u32 {
  const ox = f32x4.splat(originX), oy = f32x4.splat(originY), oz = f32x4.splat(originZ);
  let bits: u32 = 15;
  for (let i: usize = 0; i < <usize>SIDES; i++) {
    const at = sides + (i << 4);
    const x = load<f32>(at), y = load<f32>(at, 4), z = load<f32>(at, 8);
    const farX = f32x4.sub(x > 0 ? maxX : minX, ox), farY = f32x4.sub(y > 0 ? maxY : minY, oy);
    const farZ = f32x4.sub(z > 0 ? maxZ : minZ, oz);
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
