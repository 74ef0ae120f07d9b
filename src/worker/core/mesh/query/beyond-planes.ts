// Returns whether any vertex of a mesh is in front of one of up to four planes. The tree is traversed once for all of
// them: planes of neighbouring faces visit the same nodes. float32 skips what cannot be in front, float64 decides. Tree
// space.

import { plus, times } from '../../math/lanes';
import { Rotation, rotationAt } from '../../math/quaternion';
import {
  Block, LEAF, MOST_WAITING, Mesh, Node, blockAt, childMask, childOf, filledLanes, highBounds, isRotated, lowBounds,
  nodeAt,
} from '../tree/layout';
import { WORD_BYTES } from '../../sizes';

export const MOST_PLANES: u32 = 4;

/** A plane, and its float32 bounds. */
@unmanaged
class Plane {
  /** The unit normal, and the limit of the height along it. */
  x: f64; y: f64; z: f64;
  height: f64;
  shortX: f32; shortY: f32; shortZ: f32;
  /** The height minus the float32 rounding error of the height of a corner, and of that of a box. */
  ofCorners: f32; ofBoxes: f32;
  pad: f32;
}

/**
 * The rounding error of a height in float32, relative to the sum of the normal's magnitudes: tree space reaches to 2.
 */
const ROUNDING: f64 = 9.5367431640625e-7; // 2^-20
/** The additional error from rotating the normal into a node's space and decoding the bounds, in the same measure. */
const OF_BOXES: f64 = 4;

const PLANE_BYTES: usize = offsetof<Plane>();
const planes: usize = memory.data(4 * <i32>offsetof<Plane>(), 16);
let planeCount: u32 = 0;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const stack: usize = memory.data(MOST_WAITING * WORD_BYTES, 16);

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
  const blur = (abs(x) + abs(y) + abs(z)) * ROUNDING;
  p.x = x; p.y = y; p.z = z;
  p.height = height;
  p.shortX = <f32>x; p.shortY = <f32>y; p.shortZ = <f32>z;
  p.ofCorners = <f32>(height - blur);
  p.ofBoxes = <f32>(height - OF_BOXES * blur);
}

/** Returns whether any vertex is in front of any of the planes. */
export function isAnyBeyond(mesh: Mesh): bool {
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
  const lowX = lowBounds(node, 0), lowY = lowBounds(node, 1), lowZ = lowBounds(node, 2);
  const highX = highBounds(node, 0), highY = highBounds(node, 1), highZ = highBounds(node, 2);
  const turned = isRotated(node);
  if (turned) rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  const r = rotation;
  let beyond = i32x4.splat(0);
  for (let i: u32 = 0; i < planeCount; i++) {
    const p = planeAt(i);
    let x = p.shortX, y = p.shortY, z = p.shortZ;
    if (turned) {
      x = r.xx * p.shortX + r.xy * p.shortY + r.xz * p.shortZ;
      y = r.yx * p.shortX + r.yy * p.shortY + r.yz * p.shortZ;
      z = r.zx * p.shortX + r.zy * p.shortY + r.zz * p.shortZ;
    }
    const u = f32x4.splat(x), v = f32x4.splat(y), w = f32x4.splat(z);
    const reach = plus(
      plus(f32x4.pmax(times(lowX, u), times(highX, u)), f32x4.pmax(times(lowY, v), times(highY, v))),
      f32x4.pmax(times(lowZ, w), times(highZ, w)),
    );
    beyond = v128.or(beyond, f32x4.gt(reach, f32x4.splat(p.ofBoxes)));
  }
  return <u32>i32x4.bitmask(beyond) & childMask(node);
}

function isBlockBeyond(block: Block): bool {
  const filled = filledLanes(block);
  for (let i: u32 = 0; i < planeCount; i++) {
    const p = planeAt(i);
    const u = f32x4.splat(p.shortX), v = f32x4.splat(p.shortY), w = f32x4.splat(p.shortZ);
    for (let at = changetype<usize>(block), end = at + 144; at < end; at += 48) {
      const height = plus(plus(times(v128.load(at), u), times(v128.load(at, 16), v)), times(v128.load(at, 32), w));
      let bits = <u32>i32x4.bitmask(f32x4.gt(height, f32x4.splat(p.ofCorners))) & filled;
      for (; bits != 0; bits &= bits - 1) {
        const from = at + (<usize>ctz(bits) << 2);
        const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
        if (p.x * x + p.y * y + p.z * z > p.height) return true;
      }
    }
  }
  return false;
}
