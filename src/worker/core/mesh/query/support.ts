// The vertex of a mesh that lies farthest along a direction, in tree space: float32 skips what cannot be it, float64
// decides. Small meshes are read from end to end; for large ones the tree is traversed, farthest box first.

import { Rotation, rotationAt } from '../../math/quaternion';
import { plus, times } from '../../math/lanes';
import {
  Block, LEAF, MAX_STACK_ENTRIES, Mesh, Node, blockAt, childCount, childMask, childOf, filledLanes, maxBounds,
  isRotated, minBounds, nodeAt,
} from '../tree/layout';
import { VECTOR_BYTES, WORD_BYTES } from '../../sizes';

/** The result of the last query, in tree space. */
export let farthestX: f64 = 0;
export let farthestY: f64 = 0;
export let farthestZ: f64 = 0;

/** Up to this many blocks are read one after the other, without the tree. */
const FEW_BLOCKS: u32 = 48;
/** The float32 rounding error of a height, relative to the sum of the direction's magnitudes: tree space reaches to 2. */
const ROUNDING: f32 = 9.5367431640625e-7; // 2^-20

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const stack: usize = memory.data(MAX_STACK_ENTRIES * 2 * WORD_BYTES, 16);
const heights: usize = memory.data(VECTOR_BYTES, 16);

let x: f64 = 0, y: f64 = 0, z: f64 = 0;
/** The direction divided by its largest magnitude, so that neither it nor a height overflows. */
let x32: f32 = 0, y32: f32 = 0, z32: f32 = 0;
let bestHeight: f64 = 0;
/** A float32 height; vertices up to it are certainly no higher than `bestHeight`. */
let heightBound: f32 = 0;
let heightError: f32 = 0;

/** Finds the vertex that lies farthest along a direction, which must not be 0. Returns its height, direction · vertex. */
export function farthestVertex(mesh: Mesh, dx: f64, dy: f64, dz: f64): f64 {
  const largest = max(max(abs(dx), abs(dy)), abs(dz));
  // A mesh has at least one triangle, so something is found.
  bestHeight = -Infinity;
  heightBound = -Infinity;
  x = dx / largest; y = dy / largest; z = dz / largest;
  x32 = <f32>x; y32 = <f32>y; z32 = <f32>z;
  heightError = (abs(x32) + abs(y32) + abs(z32)) * ROUNDING;
  if (mesh.blockCount <= FEW_BLOCKS) {
    for (let index: u32 = 0; index < mesh.blockCount; index++) searchBlock(blockAt(mesh, index));
  } else descend(mesh);
  return bestHeight * largest;
}

function descend(mesh: Mesh): void {
  let top = stack + 8;
  store<f32>(stack, Infinity);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) < heightBound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      searchBlock(blockAt(mesh, child));
      continue;
    }
    const node = nodeAt(mesh, child);
    const highest = boxHeights(node);
    let bits = <u32>i32x4.bitmask(f32x4.ge(highest, f32x4.splat(heightBound))) & childMask(node);
    v128.store(heights, highest);
    while (bits != 0) {
      // The lowest is pushed first, so that the highest is popped next.
      let next = ctz(bits);
      for (let i = next + 1, count = childCount(node); i < count; i++) {
        if (bits & (1 << i) && heightAt(i) < heightAt(next)) next = i;
      }
      bits &= ~(1 << next);
      store<f32>(top, heightAt(next));
      store<u32>(top, childOf(node, next), 4);
      top += 8;
    }
  }
}

// @ts-ignore: decorator
@inline
function heightAt(i: u32): f32 {
  return load<f32>(heights + (<usize>i << 2));
}

/**
 * Returns an upper bound of the height of each child's box; the padding of the boxes covers float32 rounding of their
 * contents.
 */
function boxHeights(node: Node): v128 {
  let u = x32, v = y32, w = z32;
  if (isRotated(node)) {
    rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
    const r = rotation;
    u = r.xx * x32 + r.xy * y32 + r.xz * z32;
    v = r.yx * x32 + r.yy * y32 + r.yz * z32;
    w = r.zx * x32 + r.zy * y32 + r.zz * z32;
  }
  const along = plus(
    plus(times(u > 0 ? maxBounds(node, 0) : minBounds(node, 0), f32x4.splat(u)),
      times(v > 0 ? maxBounds(node, 1) : minBounds(node, 1), f32x4.splat(v))),
    times(w > 0 ? maxBounds(node, 2) : minBounds(node, 2), f32x4.splat(w)),
  );
  return plus(along, f32x4.splat(heightError * 4));
}

function searchBlock(block: Block): void {
  const filled = filledLanes(block);
  for (let at = changetype<usize>(block), end = at + 144; at < end; at += 48) {
    const height = plus(
      plus(times(v128.load(at), f32x4.splat(x32)), times(v128.load(at, 16), f32x4.splat(y32))),
      times(v128.load(at, 32), f32x4.splat(z32)),
    );
    let bits = <u32>i32x4.bitmask(f32x4.gt(height, f32x4.splat(heightBound))) & filled;
    while (bits != 0) {
      const from = at + (<usize>ctz(bits) << 2);
      bits &= bits - 1;
      const vx = <f64>load<f32>(from), vy = <f64>load<f32>(from, 16), vz = <f64>load<f32>(from, 32);
      const exact = x * vx + y * vy + z * vz;
      if (exact <= bestHeight) continue;
      bestHeight = exact;
      heightBound = <f32>exact - heightError;
      farthestX = vx; farthestY = vy; farthestZ = vz;
    }
  }
}
