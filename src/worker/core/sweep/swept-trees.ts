// Finds the pairs of triangles of two meshes that may meet while the first moves along a straight line: traverses both
// trees at once, tests their oriented boxes by separating axes with time intervals (swept-sat.ts), depth first and the
// soonest first, with the best time as bound. float64, world units about a common origin. Conservative: boxes are
// inflated for the rounding of the nodes' rotations.

import { checkpoint } from '../checkpoint';
import { Affine } from '../math/affine';
import { Rotation, setIdentityRotation } from '../math/quaternion';
import { countLeaf, countNode } from '../mesh/tree/counters';
import {
  Block, LEAF, Mesh, Node, blockAt, childCount, childOf, filledLanes, maxBounds, minBounds, nodeAt, rotationOfNode, treeScale,
} from '../mesh/tree/layout';
import { reserve } from '../memory';
import { POLYTOPE_BYTES, Polytope, satSweep, satTime } from './swept-sat';
import { F64_BYTES, VECTOR_BYTES } from '../sizes';

/** Gets the addresses of two triangles (swept-tree.ts). Returns the time until which others matter. */
export type PairVisitor = (a: usize, b: usize) => f64;

/** A pair of boxes on the stack: nodes or blocks; their boxes in the world follow. */
@unmanaged
class BoxPair {
  a: u32;
  b: u32;
  /** The earliest time at which the boxes meet. */
  time: f64;
}

const BOX_PAIR_BYTES: usize = offsetof<BoxPair>() + 2 * POLYTOPE_BYTES;
/** Inflation of boxes in tree space for the rounding of their rotation. */
const ROTATION_MARGIN: f64 = 4e-6;

let stack: usize = 0;
let stackBytes: usize = 0;

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const bounds: usize = memory.data(6 * VECTOR_BYTES, 16);
/** The children of the opened node, as boxes. */
const children: usize = memory.data(4 * <i32>POLYTOPE_BYTES, 16);
const times: usize = memory.data(4 * F64_BYTES, 16);
const parentPair: usize = memory.data(<i32>BOX_PAIR_BYTES, 16);

/**
 * Visits the pairs of triangles that may meet while the first mesh moves from one time to another. The maps lead from
 * tree spaces to the world at the first of these times; the translation is that of a unit of time. The first mesh is
 * inflated by `inflation`. Contacts after `timeLimit`, which visits may reduce, are ignored. Returns its last value. Throws
 * OUT_OF_MEMORY.
 */
export function sweepTrees(
  a: Mesh, mapA: Affine, b: Mesh, mapB: Affine, x: f64, y: f64, z: f64, fromTime: f64, toTime: f64, inflation: f64,
  timeLimit: f64, visit: PairVisitor,
): f64 {
  const length = sqrt(x * x + y * y + z * z);
  let latestTime = timeLimit;
  stackBytes = 0;
  setRootBox(parentA(), a, mapA);
  setRootBox(parentB(), b, mapB);
  const inflated = max(inflation, 1e-300);
  if (!satSweep(parentA(), parentB(), x, y, z, length, min(toTime, latestTime) - fromTime, inflated)) return latestTime;
  pushBoxPair(0, 0, fromTime, changetype<usize>(parentA()), changetype<usize>(parentB()));
  while (stackBytes != 0) {
    stackBytes -= BOX_PAIR_BYTES;
    const boxPair = changetype<BoxPair>(stack + stackBytes);
    if (boxPair.time > latestTime) continue;
    countNode();
    checkpoint(WORK_PER_PAIR);
    memory.copy(parentPair, changetype<usize>(boxPair), BOX_PAIR_BYTES);
    const linkA = changetype<BoxPair>(parentPair).a, linkB = changetype<BoxPair>(parentPair).b;
    if (linkA & linkB & LEAF) {
      latestTime = visitPairs(blockAt(a, linkA), blockAt(b, linkB), latestTime, visit);
      continue;
    }
    // The larger of the two is opened.
    const opensA = linkB & LEAF ? true : linkA & LEAF ? false : sizeSquaredOf(parentA()) >= sizeSquaredOf(parentB());
    const node = opensA ? nodeAt(a, linkA) : nodeAt(b, linkB);
    setChildBoxes(node, opensA ? mapA : mapB);
    let bits: u32 = 0;
    for (let i: u32 = 0, count = childCount(node); i < count; i++) {
      const boxA = opensA ? childAt(i) : parentA(), boxB = opensA ? parentB() : childAt(i);
      if (!satSweep(boxA, boxB, x, y, z, length, min(toTime, latestTime) - fromTime, inflated)) continue;
      bits |= 1 << i;
      store<f64>(times + (<usize>i << 3), fromTime + max(satTime, 0));
    }
    while (bits != 0) {
      // The latest is pushed first, so that the soonest is popped next.
      const next = latestOf(bits);
      bits &= ~(1 << next);
      const link = childOf(node, next), box = changetype<usize>(childAt(next)), time = timeAt(next);
      if (opensA) pushBoxPair(link, linkB, time, box, changetype<usize>(parentB()));
      else pushBoxPair(linkA, link, time, changetype<usize>(parentA()), box);
    }
  }
  return latestTime;
}

/** Visits all pairs of triangles of two blocks. Returns the time until which others matter. */
function visitPairs(a: Block, b: Block, timeLimit: f64, visit: PairVisitor): f64 {
  let latestTime = timeLimit;
  for (let i = filledLanes(a); i != 0; i &= i - 1) {
    for (let j = filledLanes(b); j != 0; j &= j - 1) {
      latestTime = min(latestTime, visit(changetype<usize>(a) + (<usize>ctz(i) << 2), changetype<usize>(b) +
        (<usize>ctz(j) << 2)));
    }
  }
  return latestTime;
}

// @ts-ignore: decorator
@inline
function timeAt(child: u32): f64 { return load<f64>(times + (<usize>child << 3)); }

/** Returns the child with the latest time, the first of equals. */
// @ts-ignore: decorator
@inline
function latestOf(bits: u32): u32 {
  let latest = ctz(bits);
  for (let remaining = bits & (bits - 1); remaining != 0; remaining &= remaining - 1) {
    if (timeAt(ctz(remaining)) > timeAt(latest)) latest = ctz(remaining);
  }
  return latest;
}

/** The work of a pair of boxes (checkpoint.ts). */
const WORK_PER_PAIR: i32 = 16;

// @ts-ignore: decorator
@inline
function parentA(): Polytope { return changetype<Polytope>(parentPair + offsetof<BoxPair>()); }
// @ts-ignore: decorator
@inline
function parentB(): Polytope { return changetype<Polytope>(parentPair + offsetof<BoxPair>() + POLYTOPE_BYTES); }
// @ts-ignore: decorator
@inline
function childAt(i: u32): Polytope { return changetype<Polytope>(children + <usize>i * POLYTOPE_BYTES); }

function pushBoxPair(a: u32, b: u32, time: f64, boxA: usize, boxB: usize): void {
  stack = reserve(stack, stackBytes, <u64>stackBytes + BOX_PAIR_BYTES);
  const boxPair = changetype<BoxPair>(stack + stackBytes);
  boxPair.a = a;
  boxPair.b = b;
  boxPair.time = time;
  memory.copy(stack + stackBytes + offsetof<BoxPair>(), boxA, POLYTOPE_BYTES);
  memory.copy(stack + stackBytes + offsetof<BoxPair>() + POLYTOPE_BYTES, boxB, POLYTOPE_BYTES);
  stackBytes += BOX_PAIR_BYTES;
}

function sizeSquaredOf(p: Polytope): f64 {
  return (
    p.e0X * p.e0X + p.e0Y * p.e0Y + p.e0Z * p.e0Z + p.e1X * p.e1X + p.e1Y * p.e1Y + p.e1Z * p.e1Z +
    p.e2X * p.e2X + p.e2Y * p.e2Y + p.e2Z * p.e2Z
  );
}

function setRootBox(out: Polytope, mesh: Mesh, m: Affine): void {
  const scale = treeScale(mesh);
  setIdentityRotation(rotation);
  setMappedBox(
    out, m, (mesh.minX - mesh.offsetX) * scale, (mesh.maxX - mesh.offsetX) * scale,
    (mesh.minY - mesh.offsetY) * scale, (mesh.maxY - mesh.offsetY) * scale,
    (mesh.minZ - mesh.offsetZ) * scale, (mesh.maxZ - mesh.offsetZ) * scale,
  );
}

function setChildBoxes(node: Node, m: Affine): void {
  rotationOfNode(rotation, node);
  for (let axis: usize = 0; axis < 3; axis++) {
    v128.store(bounds + axis * 32, minBounds(node, axis));
    v128.store(bounds + axis * 32 + 16, maxBounds(node, axis));
  }
  for (let i: u32 = 0, count = childCount(node); i < count; i++) {
    const at = bounds + (<usize>i << 2);
    setMappedBox(
      childAt(i), m, <f64>load<f32>(at), <f64>load<f32>(at, 16), <f64>load<f32>(at, 32), <f64>load<f32>(at, 48),
      <f64>load<f32>(at, 64), <f64>load<f32>(at, 80),
    );
  }
}

/** Sets a box given in the frame of `rotation`, mapped to the world. */
function setMappedBox(
  out: Polytope, m: Affine, minX: f64, maxX: f64, minY: f64, maxY: f64, minZ: f64, maxZ: f64,
): void {
  const r = rotation;
  const hx = 0.5 * (maxX - minX) + ROTATION_MARGIN, hy = 0.5 * (maxY - minY) + ROTATION_MARGIN,
    hz = 0.5 * (maxZ - minZ) + ROTATION_MARGIN;
  const cx = 0.5 * (maxX + minX), cy = 0.5 * (maxY + minY), cz = 0.5 * (maxZ + minZ);
  const xx = <f64>r.xx, xy = <f64>r.xy, xz = <f64>r.xz, yx = <f64>r.yx, yy = <f64>r.yy, yz = <f64>r.yz;
  const zx = <f64>r.zx, zy = <f64>r.zy, zz = <f64>r.zz;
  const px = cx * xx + cy * yx + cz * zx, py = cx * xy + cy * yy + cz * zy, pz = cx * xz + cy * yz + cz * zz;
  out.x = m.xx * px + m.yx * py + m.zx * pz + m.tx;
  out.y = m.xy * px + m.yy * py + m.zy * pz + m.ty;
  out.z = m.xz * px + m.yz * py + m.zz * pz + m.tz;
  out.e0X = (m.xx * xx + m.yx * xy + m.zx * xz) * hx;
  out.e0Y = (m.xy * xx + m.yy * xy + m.zy * xz) * hx;
  out.e0Z = (m.xz * xx + m.yz * xy + m.zz * xz) * hx;
  out.e1X = (m.xx * yx + m.yx * yy + m.zx * yz) * hy;
  out.e1Y = (m.xy * yx + m.yy * yy + m.zy * yz) * hy;
  out.e1Z = (m.xz * yx + m.yz * yy + m.zz * yz) * hy;
  out.e2X = (m.xx * zx + m.yx * zy + m.zx * zz) * hz;
  out.e2Y = (m.xy * zx + m.yy * zy + m.zy * zz) * hz;
  out.e2Z = (m.xz * zx + m.yz * zy + m.zz * zz) * hz;
  out.isTriangle = 0;
}
