// Returns whether any vertex of a mesh is in front of one of up to four planes. The tree is traversed once for all of
// them: planes of neighbouring faces visit the same nodes. float32 skips what cannot be in front, float64 decides. Tree
// space.

import { plus, times } from '../../math/lanes';
import { Rotation, rotationAt } from '../../math/quaternion';
import {
  Block, LEAF, MAX_STACK_ENTRIES, Mesh, Node, blockAt, childMask, childOf, filledLanes, maxBounds, isRotated, minBounds,
  nodeAt,
} from '../tree/layout';
import { WORD_BYTES } from '../../sizes';

export const MAX_PLANES: u32 = 4;

/** A plane, and its float32 bounds. */
@unmanaged
class Plane {
  /** The unit normal, and the limit of the height along it. */
  x: f64; y: f64; z: f64;
  height: f64;
  x32: f32; y32: f32; z32: f32;
  /** The height minus the float32 rounding error of the height of a corner, and of that of a box. */
  cornerLimit: f32; boxLimit: f32;
  pad: f32;
}

/**
 * The rounding error of a height in float32, relative to the sum of the normal's magnitudes: tree space reaches to 2.
 */
const ROUNDING: f64 = 9.5367431640625e-7; // 2^-20
/** The additional error from rotating the normal into a node's space and decoding the bounds, in the same measure. */
const BOX_ROUNDINGS: f64 = 4;

const PLANE_BYTES: usize = offsetof<Plane>();
const planes: usize = memory.data(4 * <i32>offsetof<Plane>(), 16);
let planeCount: u32 = 0;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const stack: usize = memory.data(MAX_STACK_ENTRIES * WORD_BYTES, 16);

// @ts-ignore: decorator
@inline
function planeAt(i: u32): Plane {
  return changetype<Plane>(planes + <usize>i * PLANE_BYTES);
}

export function clearPlanes(): void {
  planeCount = 0;
}

/** Adds a plane; at most MOST_PLANES are possible. */
export function addPlane(x: f64, y: f64, z: f64, height: f64): void {
  const p = planeAt(planeCount++);
  const heightError = (abs(x) + abs(y) + abs(z)) * ROUNDING;
  p.x = x; p.y = y; p.z = z;
  p.height = height;
  p.x32 = <f32>x; p.y32 = <f32>y; p.z32 = <f32>z;
  p.cornerLimit = <f32>(height - heightError);
  p.boxLimit = <f32>(height - BOX_ROUNDINGS * heightError);
}

/** Returns whether any vertex is in front of any of the planes. */
export function hasVertexBeyond(mesh: Mesh): bool {
  if (planeCount == 0) return false;
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const node = nodeAt(mesh, load<u32>(top));
    for (let bits = childrenBeyond(node); bits != 0; bits &= bits - 1) {
      const child = childOf(node, <u32>ctz(bits));
      if (child & LEAF) {
        if (isBlockBeyond(blockAt(mesh, child))) return true;
      } else {
        store<u32>(top, child);
        top += 4;
      }
    }
  }
  return false;
}

/** Returns the children whose boxes reach beyond a plane, a bit each. */
function childrenBeyond(node: Node): u32 {
  const minX = minBounds(node, 0), minY = minBounds(node, 1), minZ = minBounds(node, 2);
  const maxX = maxBounds(node, 0), maxY = maxBounds(node, 1), maxZ = maxBounds(node, 2);
  const isNodeRotated = isRotated(node);
  if (isNodeRotated) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  const r = rotation;
  let beyond = i32x4.splat(0);
  for (let i: u32 = 0; i < planeCount; i++) {
    const p = planeAt(i);
    let x = p.x32, y = p.y32, z = p.z32;
    if (isNodeRotated) {
      x = r.xx * p.x32 + r.xy * p.y32 + r.xz * p.z32;
      y = r.yx * p.x32 + r.yy * p.y32 + r.yz * p.z32;
      z = r.zx * p.x32 + r.zy * p.y32 + r.zz * p.z32;
    }
    const u = f32x4.splat(x), v = f32x4.splat(y), w = f32x4.splat(z);
    const boxHeights = plus(
      plus(f32x4.pmax(times(minX, u), times(maxX, u)), f32x4.pmax(times(minY, v), times(maxY, v))),
      f32x4.pmax(times(minZ, w), times(maxZ, w)),
    );
    beyond = v128.or(beyond, f32x4.gt(boxHeights, f32x4.splat(p.boxLimit)));
  }
  return <u32>i32x4.bitmask(beyond) & childMask(node);
}

function isBlockBeyond(block: Block): bool {
  const filled = filledLanes(block);
  for (let i: u32 = 0; i < planeCount; i++) {
    const p = planeAt(i);
    const u = f32x4.splat(p.x32), v = f32x4.splat(p.y32), w = f32x4.splat(p.z32);
    for (let at = changetype<usize>(block), end = at + 144; at < end; at += 48) {
      const height = plus(plus(times(v128.load(at), u), times(v128.load(at, 16), v)), times(v128.load(at, 32), w));
      let bits = <u32>i32x4.bitmask(f32x4.gt(height, f32x4.splat(p.cornerLimit))) & filled;
      for (; bits != 0; bits &= bits - 1) {
        const from = at + (<usize>ctz(bits) << 2);
        const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
        if (p.x * x + p.y * y + p.z * z > p.height) return true;
      }
    }
  }
  return false;
}
