// The triangles of a mesh that a box, sphere or capsule meets, in the space in which that is the cube [-1, 1]³, the
// unit ball, or a capsule of radius 1 about the z axis.

import { Affine } from '../math/affine';
import { axisToTriangle } from '../math/closest';
import { Triangle, triangleMeetsCube } from '../math/triangles';
import {
  LEAF, Mesh, NODE_BYTES, Node, blockAt, childOf, filledLanes, nodeAt, placeTree, setUnitNode,
} from '../mesh/tree/layout';
import { Relation, overlapping } from '../mesh/query/obb-sat-4x4';
import { TOUCHING } from '../mesh/query/mesh-pair';
import { reserve } from '../memory';
import { mayBeMet, setQuick } from './primitive/triangle-prefilter';

/** Half of the segment of what is no capsule but the cube. */
export const CUBE: f64 = -1;
/** No index of a triangle. */
export const NONE: u32 = 0xffffffff;

@unmanaged
export class Met {
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  cx: f64; cy: f64; cz: f64;
  /** How far the triangle must move, in the world, to leave the solid; until `isMeasured`, no farther than this. */
  depth: f64;
  /** The next one of the list that it is in. */
  next: u32;
  /** Of a patch: an earlier one, or itself (patches.ts). */
  parent: u32;
  isMeasured: bool;
  /** Faces about as another one that was asked for (area.ts). */
  isAround: bool;
}

export const MET_BYTES: usize = 96;

let met: usize = 0;
export let metCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function metAt(index: u32): Met {
  return changetype<Met>(met + <usize>index * MET_BYTES);
}

// @ts-ignore: decorator
@inline
export function triangleAt(index: u32): Triangle {
  return changetype<Triangle>(met + <usize>index * MET_BYTES);
}

const map = changetype<Affine>(memory.data(96, 16)); // tree space to the solid's
const relation = changetype<Relation>(memory.data(48, 16));
/** A node whose one box is [-1, 1]³. */
const cube = changetype<Node>(memory.data(<i32>NODE_BYTES, 64));
setUnitNode(cube);
let stack: usize = 0;

/**
 * Finds them; `m` maps mesh space to the solid's. Touching counts, and of what is round also to be no farther away than
 * `slack` times what rounding may make of it. Throws OUT_OF_MEMORY.
 */
export function findMet(mesh: Mesh, m: Affine, half: f64, slack: f64): void {
  metCount = 0;
  placeTree(map, mesh, m);
  setRelation(half);
  setQuick(map, half);
  let waiting = push(0, 0);
  while (waiting != 0) {
    const node = nodeAt(mesh, load<u32>(stack + (<usize>(--waiting) << 2)));
    for (let bits = overlapping(relation, cube, node, 1, 15); bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (!(child & LEAF)) {
        waiting = push(waiting, child);
        continue;
      }
      const block = blockAt(mesh, child);
      for (let lanes = filledLanes(block) & mayBeMet(block); lanes != 0; lanes &= lanes - 1) {
        addIfMet(changetype<usize>(block) + (<usize>ctz(lanes) << 2), half, slack);
      }
    }
  }
}

function push(waiting: u32, child: u32): u32 {
  stack = reserve(stack, <usize>waiting << 2, <u64>(waiting + 1) << 2);
  store<u32>(stack + (<usize>waiting << 2), child);
  return waiting + 1;
}

/** For the boxes of the tree: a capsule's space is shortened to that of the cube about it. */
function setRelation(half: f64): void {
  const shorter = half > 0 ? 1.0 / (1.0 + half) : 1.0;
  relation.x = f32x4(<f32>map.xx, <f32>map.yx, <f32>map.zx, <f32>map.tx);
  relation.y = f32x4(<f32>map.xy, <f32>map.yy, <f32>map.zy, <f32>map.ty);
  relation.z = f32x4(
    <f32>(map.xz * shorter), <f32>(map.yz * shorter), <f32>(map.zz * shorter), <f32>(map.tz * shorter),
  );
}

function addIfMet(from: usize, half: f64, slack: f64): void {
  met = reserve(met, <usize>metCount * MET_BYTES, <u64>(metCount + 1) * MET_BYTES);
  const triangle = triangleAt(metCount);
  for (let k: usize = 0; k < 3; k++) mapCorner(from + k * 48, changetype<usize>(triangle) + k * 24);
  const x = max(max(abs(triangle.ax), abs(triangle.bx)), abs(triangle.cx));
  const y = max(max(abs(triangle.ay), abs(triangle.by)), abs(triangle.cy));
  const z = max(max(abs(triangle.az), abs(triangle.bz)), abs(triangle.cz));
  const size = max(max(x, y), z);
  if (half == CUBE) {
    if (!triangleMeetsCube(triangle)) return;
  } else {
    const radius = 1.0 + slack * (TOUCHING + size * 1.7763568394002505e-15); // 2^-49
    if (!(axisToTriangle(half, triangle, radius * radius) <= radius * radius)) return;
  }
  metAt(metCount++).isMeasured = false;
}

/** No -0 is left, so that the same places have the same bits. */
// @ts-ignore: decorator
@inline
function mapCorner(from: usize, to: usize): void {
  const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
  store<f64>(to, map.xx * x + map.yx * y + map.zx * z + map.tx + 0.0);
  store<f64>(to, map.xy * x + map.yy * y + map.zy * z + map.ty + 0.0, 8);
  store<f64>(to, map.xz * x + map.yz * y + map.zz * z + map.tz + 0.0, 16);
}
