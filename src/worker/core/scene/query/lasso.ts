// A polygon on the screen, in clip space over w. It may have thousands of edges and intersect itself; the even-odd rule
// defines its inside. Its edges are a chain, and consecutive edges are near each other: a binary tree of bounding boxes
// over runs of the chain needs no sorting.

import { reserve } from '../../memory';

/** How many edges a leaf has. */
const EDGES_PER_LEAF: u32 = 4;
/** The bytes of a box: min x, min y, max x, max y. */
const BOX_BYTES: usize = 32;

export const RECT_OUTSIDE: u32 = 0;
export const RECT_CROSSING: u32 = 1;
export const RECT_INSIDE: u32 = 2;

let vertices: usize = 0;
let edgeCount: u32 = 0;
/**
 * The tree is laid out as a heap: the children of node i are 2 i and 2 i + 1, the root is 1; leaves start at `leafCount`.
 */
let boxes: usize = 0;
let leafCount: u32 = 1;

// @ts-ignore: decorator
@inline
function boxOf(node: u32): usize { return boxes + node * <u32>BOX_BYTES; }

/** Returns the start of an edge; the last edge leads back to vertex 0. */
// @ts-ignore: decorator
@inline
export function startX(edge: u32): f64 { return load<f64>(vertices + (<usize>edge << 4)); }
// @ts-ignore: decorator
@inline
export function startY(edge: u32): f64 { return load<f64>(vertices + (<usize>edge << 4), 8); }
// @ts-ignore: decorator
@inline
export function endX(edge: u32): f64 { return startX(edge + 1 == edgeCount ? 0 : edge + 1); }
// @ts-ignore: decorator
@inline
export function endY(edge: u32): f64 { return startY(edge + 1 == edgeCount ? 0 : edge + 1); }

/** Sets the polygon: two f64 per vertex, which are read for as long as the query lasts. Throws OUT_OF_MEMORY. */
export function setLasso(address: usize, vertexCount: u32): void {
  vertices = address;
  edgeCount = vertexCount;
  leafCount = 1;
  while (leafCount * EDGES_PER_LEAF < edgeCount) leafCount <<= 1;
  boxes = reserve(boxes, 0, <u64>leafCount * 2 * BOX_BYTES);
  for (let leaf: u32 = 0; leaf < leafCount; leaf++) {
    let minX = Infinity, minY = Infinity, maxX = -Infinity, maxY = -Infinity;
    for (let edge = leaf * EDGES_PER_LEAF; edge < min(edgeCount, leaf * EDGES_PER_LEAF + EDGES_PER_LEAF); edge++) {
      minX = min(minX, min(startX(edge), endX(edge))); maxX = max(maxX, max(startX(edge), endX(edge)));
      minY = min(minY, min(startY(edge), endY(edge))); maxY = max(maxY, max(startY(edge), endY(edge)));
    }
    setBox(leafCount + leaf, minX, minY, maxX, maxY);
  }
  for (let node = leafCount - 1; node > 0; node--) {
    const a = boxOf(2 * node), b = boxOf(2 * node + 1);
    setBox(
      node, min(load<f64>(a), load<f64>(b)), min(load<f64>(a, 8), load<f64>(b, 8)),
      max(load<f64>(a, 16), load<f64>(b, 16)), max(load<f64>(a, 24), load<f64>(b, 24)),
    );
  }
}

function setBox(node: u32, minX: f64, minY: f64, maxX: f64, maxY: f64): void {
  const box = boxOf(node);
  store<f64>(box, minX);
  store<f64>(box, minY, 8);
  store<f64>(box, maxX, 16);
  store<f64>(box, maxY, 24);
}

/** Returns whether a point is inside: a line from it towards +x crosses an odd number of edges. */
export function lassoContains(x: f64, y: f64): bool {
  return (countCrossings(1, 0, leafCount * EDGES_PER_LEAF, x, y) & 1) != 0;
}

/** Counts crossings with the edges [from, to), which are those of the node's subtree. */
function countCrossings(node: u32, from: u32, to: u32, x: f64, y: f64): u32 {
  const box = boxOf(node);
  if (load<f64>(box, 8) > y || load<f64>(box, 24) <= y || load<f64>(box, 16) < x) return 0;
  if (load<f64>(box) > x) {
    // All of the run is to the right: only the parity of its crossings matters, which its two ends decide.
    return startY(from) > y != endY(min(to, edgeCount) - 1) > y ? 1 : 0;
  }
  if (node < leafCount) {
    const middle = (from + to) >> 1;
    return countCrossings(2 * node, from, middle, x, y) + countCrossings(2 * node + 1, middle, to, x, y);
  }
  let sum: u32 = 0;
  for (let edge = from; edge < min(to, edgeCount); edge++) {
    const y0 = startY(edge), y1 = endY(edge);
    if (y0 > y == y1 > y) continue;
    const x0 = startX(edge);
    if (x < x0 + (y - y0) / (y1 - y0) * (endX(edge) - x0)) sum++;
  }
  return sum;
}

// --- intersections with the edges ---

// The rectangle to be tested, or that of the polygon.
let minX: f64 = 0, minY: f64 = 0, maxX: f64 = 0, maxY: f64 = 0;

/** Returns whether a rectangle is wholly inside, wholly outside, or crossed by an edge (RECT_*). */
export function rectState(x0: f64, y0: f64, x1: f64, y1: f64): u32 {
  beginScreenPolygon();
  addScreenPoint(x0, y0);
  addScreenPoint(x1, y0);
  addScreenPoint(x1, y1);
  addScreenPoint(x0, y1);
  if (intersectsEdges()) return RECT_CROSSING;
  return lassoContains(x0, y0) ? RECT_INSIDE : RECT_OUTSIDE;
}

/** The most corners of a clipped polygon, as math/clip-polygon.ts produces them. */
const MAX_POINTS: i32 = 68;
/** A convex polygon on the screen; it may be degenerate, a line or a point. */
const points: usize = memory.data(MAX_POINTS * 16, 16);
let pointCount: u32 = 0;

export function beginScreenPolygon(): void {
  pointCount = 0;
  minX = minY = Infinity;
  maxX = maxY = -Infinity;
}

export function addScreenPoint(x: f64, y: f64): void {
  const at = points + (<usize>pointCount << 4);
  pointCount++;
  store<f64>(at, x);
  store<f64>(at, y, 8);
  minX = min(minX, x); maxX = max(maxX, x);
  minY = min(minY, y); maxY = max(maxY, y);
}

/** Returns whether the convex polygon has a point in common with an edge. */
function intersectsEdges(): bool {
  return intersectsBelow(1, 0, leafCount * EDGES_PER_LEAF);
}

/** Returns whether any part of the convex polygon is inside the lasso. */
export function overlapsLasso(): bool {
  return intersectsEdges() || lassoContains(load<f64>(points), load<f64>(points, 8));
}

/** Returns whether all of the convex polygon is inside the lasso. */
export function isInLasso(): bool {
  return !intersectsEdges() && lassoContains(load<f64>(points), load<f64>(points, 8));
}

// @ts-ignore: decorator
@inline
function isBeside(box: usize): bool {
  return load<f64>(box) > maxX || load<f64>(box, 8) > maxY || load<f64>(box, 16) < minX || load<f64>(box, 24) < minY;
}

function intersectsBelow(node: u32, from: u32, to: u32): bool {
  if (isBeside(boxOf(node))) return false;
  if (node < leafCount) {
    const middle = (from + to) >> 1;
    return intersectsBelow(2 * node, from, middle) || intersectsBelow(2 * node + 1, middle, to);
  }
  for (let edge = from; edge < min(to, edgeCount); edge++) {
    if (edgeIntersects(startX(edge), startY(edge), endX(edge), endY(edge))) return true;
  }
  return false;
}

/**
 * Returns whether an edge of the lasso intersects the convex polygon. Tests the separating axes: x and y, the edge's
 * normal, and those of the polygon's sides.
 */
function edgeIntersects(px: f64, py: f64, qx: f64, qy: f64): bool {
  if (max(px, qx) < minX || min(px, qx) > maxX || max(py, qy) < minY || min(py, qy) > maxY) return false;
  if (separates(qy - py, px - qx, px, py, qx, qy)) return false;
  let previous = points + (<usize>(pointCount - 1) << 4);
  for (let i: u32 = 0; i < pointCount; i++) {
    const next = points + (<usize>i << 4);
    const nx = load<f64>(next, 8) - load<f64>(previous, 8), ny = load<f64>(previous) - load<f64>(next);
    if (separates(nx, ny, px, py, qx, qy)) return false;
    previous = next;
  }
  return true;
}

function separates(nx: f64, ny: f64, px: f64, py: f64, qx: f64, qy: f64): bool {
  // Relative to a point of the edge, so that points on a common line compare as equal.
  const q = (qx - px) * nx + (qy - py) * ny;
  const from = min<f64>(0, q), to = max<f64>(0, q);
  let minValue = Infinity, maxValue = -Infinity;
  for (let i: u32 = 0; i < pointCount; i++) {
    const at = points + (<usize>i << 4);
    const value = (load<f64>(at) - px) * nx + (load<f64>(at, 8) - py) * ny;
    minValue = min(minValue, value);
    maxValue = max(maxValue, value);
  }
  return minValue > to || maxValue < from;
}

// --- edges near a rectangle ---

let nearEdges: usize = 0;
let nearEdgeCount: u32 = 0;

/** Lists the edges whose bounding rectangle overlaps this one. Returns their number. Throws OUT_OF_MEMORY. */
export function findEdgesNear(x0: f64, y0: f64, x1: f64, y1: f64): u32 {
  minX = x0; minY = y0; maxX = x1; maxY = y1;
  nearEdges = reserve(nearEdges, 0, <u64>edgeCount << 2);
  nearEdgeCount = 0;
  findEdgesBelow(1, 0, leafCount * EDGES_PER_LEAF);
  return nearEdgeCount;
}

export function nearEdgeAt(i: u32): u32 {
  return load<u32>(nearEdges + (<usize>i << 2));
}

function findEdgesBelow(node: u32, from: u32, to: u32): void {
  if (isBeside(boxOf(node))) return;
  if (node < leafCount) {
    const middle = (from + to) >> 1;
    findEdgesBelow(2 * node, from, middle);
    findEdgesBelow(2 * node + 1, middle, to);
    return;
  }
  for (let edge = from; edge < min(to, edgeCount); edge++) {
    if (max(startX(edge), endX(edge)) < minX || min(startX(edge), endX(edge)) > maxX) continue;
    if (max(startY(edge), endY(edge)) < minY || min(startY(edge), endY(edge)) > maxY) continue;
    store<u32>(nearEdges + (<usize>nearEdgeCount << 2), edge);
    nearEdgeCount++;
  }
}
