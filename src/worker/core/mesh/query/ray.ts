// Ray against OBB tree: depth-first, the nearest child first.

import { HIT_BARYCENTRIC, HIT_DISTANCE, HIT_NORMAL, HIT_TRIANGLE } from '../../../../shared/layout';
import { newHit } from '../../hits';
import { roundUp } from '../../math/interval';
import { BLOCK_BYTES, Block, LEAF, Mesh, NODE_BYTES, Node, childOf, isRotated, linkOf, triangleOf } from '../tree/layout';
import { countLeaf, countNode, countTriangle } from '../tree/counters';
import { keyOf, sortedEntries, pendingKeys } from './entry-keys';
import {
  MeshRay, setUpRay, entriesOf, findNormal, hitNormalX, hitNormalY, hitNormalZ, mayHit, intersectTriangle, rotatedEntriesOf,
  setSides,
} from './mesh-ray';

export { hitNormalX, hitNormalY, hitNormalZ };

// Modes of a ray query.
export const NEAREST: u32 = 0;
export const ANY: u32 = 1;
export const ALL: u32 = 2;

const ray = changetype<MeshRay>(memory.data(<i32>offsetof<MeshRay>(), 64));

// The last hit. Returned through these variables rather than a copy, since far more rays miss a tree than hit it.
export let hitTriangle: i32 = -1;
export let hitU: f64 = 0;
export let hitV: f64 = 0;
export let hitW: f64 = 0;

/**
 * The stack of pending children: the distance at which each is entered, with its index in the lowest bits, and its
 * parent.
 */
const PARENTS_OFFSET: usize = 1024;
const stack: usize = memory.data(2 * <i32>PARENTS_OFFSET, 16);

/**
 * Finds the nearest hit with tMin ≤ t ≤ tMax and returns its t, or Infinity. The ray is in mesh space with a direction
 * of any length: t is in units of it. `sides` is SIDE_*, except for triangles with other sides in `list` (face-sides.ts,
 * or 0). ANY returns the first hit that is found. ALL returns Infinity: every hit becomes a record in hits.ts, with all
 * data that is known here.
 */
export function castRay(
  mesh: Mesh,
  ox: f64, oy: f64, oz: f64,
  dx: f64, dy: f64, dz: f64,
  tMin: f64, tMax: f64,
  sides: u32, list: usize, mode: u32,
): f64 {
  if (!setUpRay(ray, mesh, ox, oy, oz, dx, dy, dz, tMin, tMax)) return Infinity;
  setSides(sides, list);
  const rayAddress = changetype<usize>(ray);
  const point = v128.load(rayAddress), unitDirection = ray.unitDirection, inverse = ray.inverse;
  const nearSwizzle: usize = ray.nearSwizzle;
  const nearX = v128.load(nearSwizzle), nearY = v128.load(nearSwizzle, 16), nearZ = v128.load(nearSwizzle, 32);
  let maxKey = keyOf(ray.limit);
  let best: f64 = Infinity;
  let bestBlock: usize = 0;
  let bestLane: i32 = 0;

  const nodes = changetype<usize>(mesh) + mesh.nodes;
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  let top = stack;
  let child: u32 = 0;
  while (true) {
    if (!(child & LEAF)) {
      countNode();
      const address = nodes + child * <u32>NODE_BYTES;
      const node = changetype<Node>(address);
      const children = node.children, leaves = node.blocks;
      const limit = v128.load32_splat(rayAddress, offsetof<MeshRay>('limit'));
      let entries: v128;
      if (isRotated(node)) entries = rotatedEntriesOf(address, children, point, unitDirection, limit);
      else entries = entriesOf(address, children, point, inverse, nearX, nearY, nearZ, limit);
      const missedChildren = i32x4.bitmask(entries);
      if (missedChildren != 15) {
        const keys = sortedEntries(entries);
        // Pushes all but the nearest, the farthest at the bottom; what is written above the top is overwritten later.
        const pendingCount: usize = 3 - popcnt(missedChildren);
        v128.store(top, pendingKeys(keys, pendingCount));
        v128.store(top, i32x4.splat(child), PARENTS_OFFSET);
        top += pendingCount << 2;
        child = linkOf(children, leaves, i32x4.extract_lane(keys, 0) & 3);
        continue;
      }
    } else {
      countLeaf();
      const block = blocks + (child & ~LEAF) * <u32>BLOCK_BYTES;
      for (let bits = mayHit(block, ray); bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        if (triangleOf(changetype<Block>(block), lane) < 0) continue;
        countTriangle();
        const t = intersectTriangle(ray, block, lane);
        if (t == Infinity) continue;
        if (mode == ALL) {
          findNormal(block, lane);
          addHit(t);
          continue;
        }
        best = t;
        bestBlock = block;
        bestLane = lane;
        if (mode == ANY) {
          top = stack;
          break;
        }
        ray.end = t;
        ray.limit = roundUp((t - ray.tEntry) * ray.length);
        maxKey = keyOf(ray.limit);
      }
    }
    let key: u32;
    do {
      if (top == stack) {
        if (best != Infinity) storeHit(bestBlock, bestLane);
        return best;
      }
      top -= 4;
      key = load<u32>(top);
    } while (key > maxKey);
    const parent = changetype<Node>(nodes + load<u32>(top, PARENTS_OFFSET) * <u32>NODE_BYTES);
    child = childOf(parent, key & 3);
  }
}

function storeHit(block: usize, lane: i32): void {
  findNormal(block, lane);
  hitTriangle = ray.hitTriangle;
  hitU = ray.hitU;
  hitV = ray.hitV;
  hitW = ray.hitW;
}

/** Adds the last hit as a record, whose normal is in mesh space. */
function addHit(t: f64): void {
  const hit = newHit();
  store<i32>(hit, ray.hitTriangle, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, hitNormalX, HIT_NORMAL);
  store<f64>(hit, hitNormalY, HIT_NORMAL + 8);
  store<f64>(hit, hitNormalZ, HIT_NORMAL + 16);
  store<f64>(hit, ray.hitU, HIT_BARYCENTRIC);
  store<f64>(hit, ray.hitV, HIT_BARYCENTRIC + 8);
  store<f64>(hit, ray.hitW, HIT_BARYCENTRIC + 16);
  ray.hitTriangle = -1; // otherwise, of two hits at the end of the ray, the first would rule out the second
}
