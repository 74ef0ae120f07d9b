// Finds the closest point of a mesh of points or lines to a given point, in the world's metric, by branch and bound, as
// mesh/query/closest-point.ts does for a mesh of triangles; it uses that file's stack and bounds of boxes. World units about the
// given point.

import { nearestOfSegment, nearestX, nearestY, nearestZ } from '../math/closest';
import {
  boxBoundOf, closerThan, isFarAway, pushCloser, setMaps, stack, toWorld,
} from '../mesh/query/closest-point';
import { countLeaf, countTriangle } from '../mesh/tree/counters';
import { LEAF, nodeAt } from '../mesh/tree/layout';
import { Affine } from '../math/affine';
import {
  LINE_END, LINE_Y, LINE_Z, NO_ELEMENT, POINT_Y, POINT_Z, PointLine, blockOf, elementsPerBlock, meshOf, elementIn,
} from './layout';
import { ax, ay, az, bx, by, bz, loadElement } from './placed-element';

/** The closest point, in the world about the given point. */
export let closestX: f64 = 0, closestY: f64 = 0, closestZ: f64 = 0;
export let closestElement: i32 = -1;
export let closestDistance: f64 = 0;

/**
 * Finds the closest point. Returns whether there is one no farther than `limit`; `m` maps mesh space to the world about the
 * given point. Among elements at the same distance the one with the lowest index wins.
 */
export function closestOnPointLine(mesh: PointLine, m: Affine, limit: f64): bool {
  setMaps(meshOf(mesh), m);
  closestElement = -1;
  closestDistance = limit;
  let bound = boxBoundOf(limit);
  let top = stack + 8;
  store<f32>(stack, -Infinity);
  store<u32>(stack, 0, 4);
  while (top != stack) {
    top -= 8;
    if (load<f32>(top) > bound) continue;
    const child = load<u32>(top, 4);
    if (child & LEAF) {
      if (searchBlock(mesh, blockOf(mesh, child), bound)) bound = boxBoundOf(closestDistance);
      continue;
    }
    top = pushCloser(top, nodeAt(meshOf(mesh), child), bound);
  }
  return closestElement >= 0;
}

/** Searches a block, four elements at a time. Returns whether a closer element was found. */
function searchBlock(mesh: PointLine, block: usize, bound: f32): bool {
  countLeaf();
  const isPoints = mesh.size == 1;
  let isCloser = false;
  for (let first: u32 = 0; first < elementsPerBlock(mesh.size); first += 4) {
    const group = block + (<usize>first << 2);
    let bits: u32 = 15;
    if (!isFarAway()) {
      const y: usize = isPoints ? POINT_Y : LINE_Y, z: usize = isPoints ? POINT_Z : LINE_Z, end: usize = isPoints ? 0 : LINE_END;
      bits = closerThan(
        v128.load(group), v128.load(group + y), v128.load(group + z),
        v128.load(group + end), v128.load(group + y + end), v128.load(group + z + end), bound,
      );
    }
    for (; bits != 0; bits &= bits - 1) {
      const lane = first + ctz(bits);
      const elementIndex = elementIn(block, lane, mesh.size);
      if (elementIndex == NO_ELEMENT) continue;
      countTriangle();
      loadElement(block + (<usize>lane << 2), isPoints, toWorld);
      const distance = sqrt(nearestOfSegment(ax, ay, az, bx, by, bz));
      if (!(distance <= closestDistance)) continue;
      if (distance == closestDistance && closestElement >= 0 && <u32>closestElement < elementIndex) continue;
      closestDistance = distance;
      closestElement = elementIndex;
      closestX = nearestX;
      closestY = nearestY;
      closestZ = nearestZ;
      isCloser = true;
    }
  }
  return isCloser;
}
