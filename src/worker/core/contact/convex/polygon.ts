// Convex polygons in a plane, counterclockwise. A polygon of two corners is a segment, of one corner a point.

import {
  beginReduction, offerPoint, reduceToFour, reducedCount, reducedX, reducedY,
} from '../manifold/manifold-reduction';

@unmanaged
export class Polygon {
  count: u32;
  pad: u32;
}

/** The most corners of a polygon when it is built; clipping adds at most as many as the other polygon has. */
export const MAX_CORNERS: u32 = 16;
export const POLYGON_BYTES: usize = 8 + 16 * 80;

const clipped = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));

// @ts-ignore: decorator
@inline
export function cornerX(p: Polygon, i: u32): f64 { return load<f64>(changetype<usize>(p) + (<usize>i << 4), 8); }
// @ts-ignore: decorator
@inline
export function cornerY(p: Polygon, i: u32): f64 { return load<f64>(changetype<usize>(p) + (<usize>i << 4), 16); }

export function addCorner(p: Polygon, x: f64, y: f64): void {
  const at = changetype<usize>(p) + (<usize>p.count << 4);
  store<f64>(at, x, 8);
  store<f64>(at, y, 16);
  p.count++;
}

// @ts-ignore: decorator
@inline
export function cross(ax: f64, ay: f64, bx: f64, by: f64): f64 {
  return ax * by - ay * bx;
}

function copyPolygon(to: Polygon, from: Polygon): void {
  memory.copy(changetype<usize>(to), changetype<usize>(from), 8 + (<usize>from.count << 4));
}

/**
 * Sets `out` to the intersection of two polygons. It is empty only if the two are disjoint, possibly by rounding alone.
 * `out` may be neither of the two.
 */
export function intersectPolygons(out: Polygon, p: Polygon, q: Polygon): void {
  if (p.count <= 1 || q.count <= 1) copyPolygon(out, p.count <= 1 ? p : q);
  else if (q.count > 2) clip(out, p, q);
  else if (p.count > 2) clip(out, q, p);
  else intersectSegments(out, p, q);
}

/** Clips p by a polygon, edge by edge (Sutherland and Hodgman, "Reentrant polygon clipping", 1974). */
function clip(out: Polygon, p: Polygon, clipper: Polygon): void {
  let from = p, to = clipped, other = out;
  for (let k: u32 = 0; k < clipper.count; k++) {
    const next = k + 1 == clipper.count ? 0 : k + 1;
    const x = cornerX(clipper, k), y = cornerY(clipper, k);
    clipByLine(to, from, x, y, cornerX(clipper, next) - x, cornerY(clipper, next) - y);
    from = to;
    to = other;
    other = from;
  }
  if (from != out) copyPolygon(out, from);
}

/** Sets `clipped` to the part of p on the left of the line through (x, y) along (ux, uy). */
function clipByLine(clipped: Polygon, p: Polygon, x: f64, y: f64, ux: f64, uy: f64): void {
  const count = p.count;
  clipped.count = 0;
  if (count == 0) return;
  if (count == 2) {
    // A segment has one edge, not one in each direction.
    const first = cross(ux, uy, cornerX(p, 0) - x, cornerY(p, 0) - y);
    if (first >= 0) addCorner(clipped, cornerX(p, 0), cornerY(p, 0));
  }
  const last = count == 2 ? 0 : count - 1;
  let fromX = cornerX(p, last), fromY = cornerY(p, last);
  let from = cross(ux, uy, fromX - x, fromY - y);
  for (let i: u32 = count == 2 ? 1 : 0; i < count; i++) {
    const toX = cornerX(p, i), toY = cornerY(p, i);
    const to = cross(ux, uy, toX - x, toY - y);
    if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
      const t = from / (from - to);
      addCorner(clipped, fromX + t * (toX - fromX), fromY + t * (toY - fromY));
    }
    if (to >= 0) addCorner(clipped, toX, toY);
    fromX = toX; fromY = toY;
    from = to;
  }
}

/** Sets `out` to the point where two segments cross, or to their common part if they are parallel to within 1e-6. */
function intersectSegments(out: Polygon, p: Polygon, q: Polygon): void {
  const x = cornerX(p, 0), y = cornerY(p, 0), ux = cornerX(p, 1) - x, uy = cornerY(p, 1) - y;
  const zx = cornerX(q, 0), zy = cornerY(q, 0), vx = cornerX(q, 1) - zx, vy = cornerY(q, 1) - zy;
  const crossProduct = cross(ux, uy, vx, vy);
  const lengthSquared = ux * ux + uy * uy;
  out.count = 0;
  if (crossProduct * crossProduct > 1e-12 * lengthSquared * (vx * vx + vy * vy)) {
    const t = min(max(cross(zx - x, zy - y, vx, vy) / crossProduct, 0.0), 1.0);
    addCorner(out, x + t * ux, y + t * uy);
    return;
  }
  const first = ((zx - x) * ux + (zy - y) * uy) / lengthSquared, second = first + (vx * ux + vy * uy) / lengthSquared;
  const start = max(min(first, second), 0.0), end = min(max(first, second), 1.0);
  addCorner(out, x + start * ux, y + start * uy);
  if (end > start) addCorner(out, x + end * ux, y + end * uy);
}

/** Reduces a polygon to at most four corners. */
export function reducePolygon(p: Polygon): void {
  if (p.count <= 4) return;
  beginReduction();
  for (let i: u32 = 0; i < p.count; i++) offerPoint(cornerX(p, i), cornerY(p, i), cornerX(p, i), cornerY(p, i), 0);
  reduceToFour(0);
  p.count = 0;
  for (let i: u32 = 0; i < reducedCount; i++) addCorner(p, reducedX(i), reducedY(i));
}
