// Finds the closest point of a mesh of points or lines to a given point, in the world's metric, by branch and bound, as
// mesh/query/closest-point.ts does for a mesh of triangles; it uses that file's bounds of boxes. World units about the
// given point.

import { nearestOfSegment, nearestX, nearestY, nearestZ } from '../math/closest';
import {
  boundOf, closerThan, distances, isFarAway, setMaps, toWorld,
} from '../mesh/query/closest-point';
import { countLeaf, countNode, countTriangle } from '../mesh/tree/counters';
import { LEAF, MOST_WAITING, childMask, childOf, nodeAt } from '../mesh/tree/layout';
import { Affine } from '../math/affine';
import { greatestOf } from '../math/lanes';
import { LINE_END, LINE_Y, LINE_Z, NO_ELEMENT, POINT_Y, POINT_Z, PointLine, blockOf, elementsABlock, meshOf, numberIn } from './layout';
import { VECTOR_BYTES, WORD_BYTES } from '../sizes';

/** The closest point, in the world about the given point. */
export let closestX: f64 = 0, closestY: f64 = 0, closestZ: f64 = 0;
export let closestElement: i32 = -1;
export let closestDistance: f64 = 0;

/** The stack of children, with lower bounds of their distances: three of each depth and the last node's four. */
const stack: usize = memory.data(MOST_WAITING * 2 * WORD_BYTES, 16);
const keys: usize = memory.data(VECTOR_BYTES, 16);

/**
 * Finds the closest point. Returns whether there is one no farther than `limit`; `m` maps mesh space to the world about the
 * given point. Among elements at the same distance the one with the lowest number wins.
 */
export function closestOnPointLine(mesh: PointLine, m: Affine, limit: f64): bool {
  setMaps(meshOf(mesh), m);
  closestElement = -1;
  closestDistance = limit;
  let bound = boundOf(limit);
  let top = stack + 8;
  store<f32>(stack, -Infinity);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      if (searchBlock(mesh, blockOf(mesh, child), bound)) bound = boundOf(closestDistance);
      continue;
    }
    countNode();
    const node = nodeAt(meshOf(mesh), child);
    const near = distances(node);
    let bits = <u32>i32x4.bitmask(f32x4.le(near, f32x4.splat(bound))) & childMask(node);
    v128.store(keys, near);
    while (bits != 0) {
      // The farthest is pushed first, so that the nearest is popped next.
      const next = greatestOf(keys, bits);
      bits &= ~(1 << next);
      store<f32>(top, load<f32>(keys + (<usize>next << 2)));
      store<u32>(top, childOf(node, next), 4);
      top += 8;
    }
  }
  return closestElement >= 0;
}

/** Searches a block, four elements at a time. Returns whether a closer element was found. */
function searchBlock(mesh: PointLine, block: usize, bound: f32): bool {
  countLeaf();
  const isPoints = mesh.size == 1;
  let found = false;
  for (let first: u32 = 0; first < elementsABlock(mesh.size); first += 4) {
    const four = block + (<usize>first << 2);
    let bits: u32 = 15;
    if (!isFarAway()) {
      const y: usize = isPoints ? POINT_Y : LINE_Y, z: usize = isPoints ? POINT_Z : LINE_Z, end: usize = isPoints ? 0 : LINE_END;
      bits = closerThan(
        v128.load(four), v128.load(four + y), v128.load(four + z),
        v128.load(four + end), v128.load(four + y + end), v128.load(four + z + end), bound,
      );
    }
    for (; bits != 0; bits &= bits - 1) {
      const lane = first + ctz(bits);
      const number = numberIn(block, lane, mesh.size);
      if (number == NO_ELEMENT) continue;
      countTriangle();
      const distance = sqrt(isPoints ? squareOfPoint(block + (<usize>lane << 2)) : squareOfLine(block + (<usize>lane << 2)));
      if (!(distance <= closestDistance)) continue;
      if (distance == closestDistance && closestElement >= 0 && <u32>closestElement < number) continue;
      closestDistance = distance;
      closestElement = number;
      closestX = isPoints ? placeX : nearestX;
      closestY = isPoints ? placeY : nearestY;
      closestZ = isPoints ? placeZ : nearestZ;
      found = true;
    }
  }
  return found;
}

let placeX: f64 = 0, placeY: f64 = 0, placeZ: f64 = 0;

/** Maps a vertex from tree space to the world. */
// @ts-ignore: decorator
@inline
function place(x: f64, y: f64, z: f64): void {
  placeX = toWorld.xx * x + toWorld.yx * y + toWorld.zx * z + toWorld.tx;
  placeY = toWorld.xy * x + toWorld.yy * y + toWorld.zy * z + toWorld.ty;
  placeZ = toWorld.xz * x + toWorld.yz * y + toWorld.zz * z + toWorld.tz;
}

function squareOfPoint(at: usize): f64 {
  place(<f64>load<f32>(at), <f64>load<f32>(at, POINT_Y), <f64>load<f32>(at, POINT_Z));
  return placeX * placeX + placeY * placeY + placeZ * placeZ;
}

function squareOfLine(at: usize): f64 {
  place(<f64>load<f32>(at), <f64>load<f32>(at, LINE_Y), <f64>load<f32>(at, LINE_Z));
  const x = placeX, y = placeY, z = placeZ;
  place(<f64>load<f32>(at, LINE_END), <f64>load<f32>(at, LINE_END + LINE_Y), <f64>load<f32>(at, LINE_END + LINE_Z));
  return nearestOfSegment(x, y, z, placeX, placeY, placeZ);
}
