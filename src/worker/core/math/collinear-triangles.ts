// Triangles with collinear corners, as placing a sliver may produce them: segments, or points if all corners coincide.
// Each case is decided by its dimension, exactly on float64 coordinates: a segment against a triangle by the side on
// which each edge passes it (Segura and Feito, "Algorithms to Test Ray-Triangle Intersection", 2001), coplanar cases by
// separating lines, collinear ones by the order of their ends. Corners are given by their addresses.

import { CORNER_BYTES, orient2d, orient3dAt } from './predicates';
import { isOneSide } from './signs';

/** Returns whether three points are not collinear, exactly. Coordinates must be finite. */
export function hasArea(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): bool {
  return (
    orient2d(ax, ay, bx, by, cx, cy) != 0.0 ||
    orient2d(ay, az, by, bz, cy, cz) != 0.0 ||
    orient2d(az, ax, bz, bx, cz, cx) != 0.0
  );
}

/** Returns whether the corners of a triangle are collinear. */
export function isCollinear(triangle: usize): bool {
  const a = triangle, b = triangle + CORNER_BYTES, c = b + CORNER_BYTES;
  return !hasArea(
    load<f64>(a), load<f64>(a, 8), load<f64>(a, 16), load<f64>(b), load<f64>(b, 8), load<f64>(b, 16),
    load<f64>(c), load<f64>(c, 8), load<f64>(c, 16),
  );
}

/**
 * Returns whether a point precedes another one in the lexicographic order of x, y and z, which is a direction of the line
 * through both.
 */
export function precedes(a: usize, b: usize): bool {
  const ax = load<f64>(a), bx = load<f64>(b);
  if (ax != bx) return ax < bx;
  const ay = load<f64>(a, 8), by = load<f64>(b, 8);
  return ay != by ? ay < by : load<f64>(a, 16) < load<f64>(b, 16);
}

/** Returns the end of a collinear triangle that comes first. */
export function firstEnd(triangle: usize): usize {
  const b = triangle + CORNER_BYTES, c = b + CORNER_BYTES;
  const first = precedes(b, triangle) ? b : triangle;
  return precedes(c, first) ? c : first;
}

/** Returns the end of a collinear triangle that comes last: the same point if the triangle is a point. */
export function lastEnd(triangle: usize): usize {
  const b = triangle + CORNER_BYTES, c = b + CORNER_BYTES;
  const last = precedes(triangle, b) ? b : triangle;
  return precedes(last, c) ? c : last;
}

/** Offsets of the two coordinates that `chooseAxes` has chosen. */
export let axisU: usize = 0, axisV: usize = 8;

/** Chooses the two coordinates in which three points span the largest area. Returns whether they span any. */
export function chooseAxes(a: usize, b: usize, c: usize): bool {
  const x = abs(orientIn(8, 16, a, b, c)), y = abs(orientIn(16, 0, a, b, c)), z = abs(orientIn(0, 8, a, b, c));
  const isX = x >= y && x >= z, isY = !isX && y >= z;
  axisU = isX ? 8 : isY ? 16 : 0;
  axisV = isX ? 16 : isY ? 0 : 8;
  return x != 0 || y != 0 || z != 0;
}

// @ts-ignore: decorator
@inline
function orientIn(u: usize, v: usize, a: usize, b: usize, c: usize): f64 {
  return orient2d(load<f64>(a + u), load<f64>(a + v), load<f64>(b + u), load<f64>(b + v), load<f64>(c + u), load<f64>(c + v));
}

function orient(a: usize, b: usize, c: usize): f64 {
  return orientIn(axisU, axisV, a, b, c);
}

/** Returns whether two triangles, at least one of which is collinear, share a point. Touching counts. */
export function collinearIntersect(p: usize, q: usize): bool {
  const isSegmentP = isCollinear(p), isSegmentQ = isCollinear(q);
  if (isSegmentP && isSegmentQ) return segmentsIntersect(firstEnd(p), lastEnd(p), firstEnd(q), lastEnd(q));
  return isSegmentP
    ? segmentIntersectsTriangle(firstEnd(p), lastEnd(p), q, q + CORNER_BYTES, q + 2 * CORNER_BYTES)
    : segmentIntersectsTriangle(firstEnd(q), lastEnd(q), p, p + CORNER_BYTES, p + 2 * CORNER_BYTES);
}

/** Tests a segment from r to s, or a point if they coincide, against a triangle that has an area. */
function segmentIntersectsTriangle(r: usize, s: usize, a: usize, b: usize, c: usize): bool {
  const heightR = orient3dAt(a, b, c, r), heightS = orient3dAt(a, b, c, s);
  if (isOneSide(heightR, heightS, heightR)) return false;
  if (heightR == 0 && heightS == 0) {
    chooseAxes(a, b, c);
    const orientation = orient(a, b, c);
    return !(
      isOutsideEdge(orientation, a, b, r, s) || isOutsideEdge(orientation, b, c, r, s) ||
        isOutsideEdge(orientation, c, a, r, s) ||
      isOneSide(orient(r, s, a), orient(r, s, b), orient(r, s, c))
    );
  }
  const ab = orient3dAt(r, s, a, b), bc = orient3dAt(r, s, b, c), ca = orient3dAt(r, s, c, a);
  return !((ab < 0 || bc < 0 || ca < 0) && (ab > 0 || bc > 0 || ca > 0));
}

/** Returns whether a segment in the plane of a triangle is strictly on the outer side of an edge. */
// @ts-ignore: decorator
@inline
function isOutsideEdge(orientation: f64, a: usize, b: usize, r: usize, s: usize): bool {
  const atR = orient(a, b, r), atS = orient(a, b, s);
  return orientation > 0 ? atR < 0 && atS < 0 : atR > 0 && atS > 0;
}

/** Tests two segments, or points, whose ends are in order. */
function segmentsIntersect(p: usize, q: usize, r: usize, s: usize): bool {
  if (orient3dAt(p, q, r, s) != 0) return false;
  if (!chooseCommonAxes(p, q, r, s)) return !precedes(q, r) && !precedes(s, p);
  const atR = orient(p, q, r), atS = orient(p, q, s), atP = orient(r, s, p), atQ = orient(r, s, q);
  return !(isOneSide(atR, atS, atR) || isOneSide(atP, atQ, atP));
}

/** Chooses axes for two coplanar segments; returns false if all four ends are collinear. */
export function chooseCommonAxes(p: usize, q: usize, r: usize, s: usize): bool {
  return chooseAxes(p, q, r) || chooseAxes(p, q, s) || chooseAxes(r, s, p) || chooseAxes(r, s, q);
}
