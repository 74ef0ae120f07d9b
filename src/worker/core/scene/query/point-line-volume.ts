// Tests a tree of points or lines against a volume that planes and a lasso bound, as mesh-volume.ts tests a tree of
// triangles, with its nodes and stack. Each point and line is decided in float64: it is clipped by the planes, and its projection
// is compared with the lasso.

import { SIDE_DOUBLE } from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { addCorner, beginPolygon, clipByPlane } from '../../math/clip-polygon';
import { valueAt } from '../../math/plane';
import { LEAF, childCount, childOf, nodeAt } from '../../mesh/tree/layout';
import {
  LINE_END, LINE_Y, LINE_Z, NO_ELEMENT, POINT_Y, POINT_Z, PointLine, blockOf, elementsPerBlock, meshOf, elementIn,
} from '../../point-line/layout';
import { overlapsLasso } from './lasso';
import {
  childLimits, cutAwayBits, projectPolygon, enterMesh, enterNode, entryAt, outsideBits, planeAt, polygonIsEnclosed, push,
} from './mesh-volume';
import { CROSSING, INSIDE, LASSO, NONE, PLANES, clipLimits } from './volume';

/** Returns whether any point, or a point of a line, is in the volume. Throws OUT_OF_MEMORY. */
export function pointLineTouches(mesh: PointLine, m: Affine, limits: u64): bool {
  return touchesFrom(mesh, enterMesh(meshOf(mesh), m, limits, SIDE_DOUBLE, 0));
}

function touchesFrom(mesh: PointLine, crossed: u64): bool {
  if (crossed == 0) return true;
  let stackSize = push(0, 0, crossed);
  while (stackSize != 0) {
    const top = entryAt(--stackSize);
    const child = load<u32>(top);
    const nodeLimits = load<u64>(top, 8);
    if (child & LEAF) {
      if (blockTouches(mesh, child, nodeLimits)) return true;
      continue;
    }
    const node = nodeAt(meshOf(mesh), child);
    enterNode(node, nodeLimits);
    for (let i: u32 = 0; i < childCount(node); i++) {
      if (outsideBits & (1 << i)) continue;
      if (childLimits(i) == 0) return true;
      stackSize = push(stackSize, childOf(node, i), childLimits(i));
    }
  }
  return false;
}

/**
 * Returns whether all that is kept of points or lines is in the volume: INSIDE, or NONE if nothing is kept. Throws
 * OUT_OF_MEMORY.
 */
export function pointLineEnclosure(mesh: PointLine, m: Affine, limits: u64): u32 {
  const crossed = enterMesh(meshOf(mesh), m, limits, SIDE_DOUBLE, 0);
  if (!touchesFrom(mesh, crossed & clipLimits)) return NONE;
  let stackSize = push(0, 0, crossed);
  while (stackSize != 0) {
    const top = entryAt(--stackSize);
    const child = load<u32>(top);
    const nodeLimits = load<u64>(top, 8);
    if ((nodeLimits & ~clipLimits) == 0) continue;
    if (child & LEAF) {
      if (!blockIsEnclosed(mesh, child, nodeLimits)) return CROSSING;
      continue;
    }
    const node = nodeAt(meshOf(mesh), child);
    enterNode(node, nodeLimits);
    for (let i: u32 = 0; i < childCount(node); i++) {
      if (cutAwayBits & (1 << i)) continue;
      // A child outside is a counterexample if it is kept.
      const isOutside = (outsideBits & (1 << i)) != 0;
      if (isOutside && (childLimits(i) & clipLimits) == 0) return CROSSING;
      stackSize = push(stackSize, childOf(node, i), isOutside ? nodeLimits : childLimits(i));
    }
  }
  return INSIDE;
}

// The ends of an element; for a point, both are the same.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0, bx: f64 = 0, by: f64 = 0, bz: f64 = 0;

/** Takes an element of a block. Returns false if there is none. */
function loadElement(block: usize, lane: u32, size: u32): bool {
  if (elementIn(block, lane, size) == NO_ELEMENT) return false;
  const at = block + (<usize>lane << 2);
  ax = <f64>load<f32>(at);
  ay = <f64>load<f32>(at + (size == 1 ? POINT_Y : LINE_Y));
  az = <f64>load<f32>(at + (size == 1 ? POINT_Z : LINE_Z));
  bx = size == 1 ? ax : <f64>load<f32>(at, LINE_END);
  by = size == 1 ? ay : <f64>load<f32>(at, LINE_END + LINE_Y);
  bz = size == 1 ? az : <f64>load<f32>(at, LINE_END + LINE_Z);
  return true;
}

function blockTouches(mesh: PointLine, child: u32, limits: u64): bool {
  const block = blockOf(mesh, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
    if (loadElement(block, lane, mesh.size) && elementTouches(limits)) return true;
  }
  return false;
}

function blockIsEnclosed(mesh: PointLine, child: u32, limits: u64): bool {
  const block = blockOf(mesh, child);
  for (let lane: u32 = 0; lane < elementsPerBlock(mesh.size); lane++) {
    if (loadElement(block, lane, mesh.size) && !elementIsEnclosed(limits)) return false;
  }
  return true;
}

function elementTouches(limits: u64): bool {
  let crossed = limits & LASSO;
  for (let bits = limits & PLANES; bits != 0; bits &= bits - 1) {
    const plane = planeAt(<u32>ctz(bits));
    const a = valueAt(plane, ax, ay, az), b = valueAt(plane, bx, by, bz);
    if (a < 0 && b < 0) return false;
    if (a < 0 || b < 0) crossed |= <u64>1 << ctz(bits);
  }
  if (crossed == 0) return true;
  setPolygon();
  for (let bits = crossed & PLANES; bits != 0; bits &= bits - 1) if (!clipByPlane(planeAt(<u32>ctz(bits)))) return false;
  if (!(crossed & LASSO)) return true;
  projectPolygon();
  return overlapsLasso();
}

function elementIsEnclosed(limits: u64): bool {
  setPolygon();
  return polygonIsEnclosed(limits);
}

/** Makes the element a degenerate polygon, a line or a point. */
function setPolygon(): void {
  beginPolygon();
  addCorner(ax, ay, az);
  addCorner(bx, by, bz);
}
