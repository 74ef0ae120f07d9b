// The curves in which two meshes intersect, as sets of segments that follow one another: beyond the edge that the end of a
// segment is on, the next one is of the neighbour of one triangle and the same triangle of the other mesh. Where rounding
// leaves the edge open, all neighbours are asked, and ends of segments must be in the same place.

import { NO_NEIGHBOUR, slotBeyond } from '../../mesh/topology/adjacency';
import { beginSets, rootOf, unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { ANY_EDGE, IntersectionSegment, isTouch, segmentAt, segmentCount } from './intersection-segments';
import { ClippedTriangle, NO_SEGMENT, Side, clippedAt, knownAt, sideAt } from './clipped-triangles';
import { sineOf, square } from './inside';

/** Sets of segments: u32 each, as math/union-find.ts has them. */
let curves: usize = 0;

/**
 * Holds for each segment one more than its next, 0 where that is not known; and in the highest bit whether it is the next of
 * another one.
 */
let nexts: usize = 0;
const IS_NEXT: u32 = 1 << 31;

// @ts-ignore: decorator
@inline
function nextAt(index: u32): usize {
  return nexts + (<usize>index << 2);
}

/**
 * One more than the segment of each two clipped triangles, 0 where there is none: a row of u32 for each one of side 0. Segments
 * were looked for along the lists of their triangles: of two elbows of 284 triangles in the same place, each triangle meets a
 * dozen and each segment asks for the neighbours of both. With the table, 39 such pairs join their curves in a third of the
 * time, and the manifolds of a building's 11,000 clashes take 442 instead of 473 ms of processor time.
 */
let table: usize = 0;
/** The entries of a row, 0 where there is no table. */
let rowLength: u32 = 0;
/** There is no table where it has more entries than this, or more than this for each segment: to clear it is no work then. */
const MOST_ENTRIES: u64 = 1 << 18;
const ENTRIES_OF_SEGMENT: u64 = 64;

/** Makes a curve of each segment. Throws OUT_OF_MEMORY. */
export function beginCurves(): void {
  curves = reserve(curves, 0, <u64>segmentCount << 2);
  beginSets(curves, segmentCount);
  nexts = reserve(nexts, 0, <u64>segmentCount << 2);
  memory.fill(nexts, 0, <usize>segmentCount << 2);
  rowLength = sideAt(1).clippedCount;
  const entries = <u64>sideAt(0).clippedCount * rowLength;
  if (entries > min(MOST_ENTRIES, ENTRIES_OF_SEGMENT * segmentCount)) {
    rowLength = 0;
    return;
  }
  table = reserve(table, 0, entries << 2);
  memory.fill(table, 0, <usize>entries << 2);
  for (let i: u32 = 0; i < segmentCount; i++) store<u32>(entryOf(segmentAt(i).a, segmentAt(i).b), i + 1);
}

/** Answers where the table has the segment of two triangles. */
// @ts-ignore: decorator
@inline
function entryOf(a: u32, b: u32): usize {
  return table + ((<usize>a * rowLength + b) << 2);
}

/** Joins the curves of two segments. */
export function joinCurves(i: u32, j: u32): void {
  unite(curves, i, j);
}

/** Answers the segment of the least number in the curve of a segment. */
export function curveOf(segment: u32): u32 {
  return rootOf(curves, segment);
}

/**
 * Joins a segment with the one beyond the edge that its end q is on. Neighbours share an edge in opposite directions, and segments
 * lead along the cross product of the normals of both sides: so the end p of that one is on the same edge, and need not be asked.
 * Where two lead to each other, as rounding has turned a short one around, neither is known. To ask at one end alone, and to offer
 * ends to manifolds once, takes those of two dragons 0.96 of the time.
 */
export function joinNext(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const found = segmentBeyond(segment, segment.edgeQ, a, b);
  if (found == NO_SEGMENT) return;
  unite(curves, index, found);
  const at = nextAt(index), other = nextAt(found), itsNext = load<u32>(other);
  const isMutual = (itsNext & ~IS_NEXT) == index + 1;
  store<u32>(at, isMutual ? 0 : (load<u32>(at) & IS_NEXT) | (found + 1));
  store<u32>(other, isMutual ? 0 : itsNext | IS_NEXT);
}

/** Joins a segment with the one beyond its end p, where it is the next of none, and with all around it where one is not known. */
export function joinRest(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  let isKnown = hasNext(index) && segment.edgeP != ANY_EDGE;
  if (isKnown && !(load<u32>(nextAt(index)) & IS_NEXT)) {
    const found = segmentBeyond(segment, segment.edgeP, a, b);
    isKnown = found != NO_SEGMENT;
    if (isKnown) unite(curves, index, found);
  }
  if (!isKnown) joinAll(index, a, b);
}

/** Tells whether the next segment is known, which begins where this one ends. */
// @ts-ignore: decorator
@inline
export function hasNext(index: u32): bool {
  return (load<u32>(nextAt(index)) & ~IS_NEXT) != 0;
}

/** Answers the segment beyond an edge, in the same triangle of the other mesh; NO_SEGMENT where it is not known which that is. */
// @ts-ignore: decorator
@inline
function segmentBeyond(segment: IntersectionSegment, edge: u32, a: Side, b: Side): u32 {
  if (edge == ANY_EDGE) return NO_SEGMENT;
  const isOfA = edge < 3;
  const side = isOfA ? a : b;
  const slot = clippedAt(side, isOfA ? segment.a : segment.b).slot;
  // What is clipped has an area.
  const neighbour = slotBeyond(changetype<Mesh>(side.mesh), slot, isOfA ? edge : edge - 3);
  if (neighbour == NO_NEIGHBOUR) return NO_SEGMENT;
  const known = knownAt(side, neighbour);
  if (known == 0) return NO_SEGMENT;
  return isOfA ? segmentOf(a, b, known - 1, segment.b) : segmentOf(a, b, segment.a, known - 1);
}

/**
 * Joins the segments beyond any edge of one triangle, in the same triangle of the other mesh, or in its neighbour too.
 */
function joinAll(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const slotA = clippedAt(a, segment.a).slot, slotB = clippedAt(b, segment.b).slot;
  const first = clippedBeyond(b, slotB, 0), second = clippedBeyond(b, slotB, 1), third = clippedBeyond(b, slotB, 2);
  for (let i: u32 = 0; i < 3; i++) {
    const other = clippedBeyond(a, slotA, i);
    if (other == NO_SEGMENT || joinOther(index, a, b, other, segment.b)) continue;
    joinOther(index, a, b, other, first);
    joinOther(index, a, b, other, second);
    joinOther(index, a, b, other, third);
  }
  joinOther(index, a, b, segment.a, first);
  joinOther(index, a, b, segment.a, second);
  joinOther(index, a, b, segment.a, third);
}

/** Joins the segment of two clipped triangles, of which the second may be NO_SEGMENT. Answers whether there is one. */
function joinOther(index: u32, a: Side, b: Side, ofA: u32, ofB: u32): bool {
  if (ofB == NO_SEGMENT) return false;
  const found = segmentOf(a, b, ofA, ofB);
  if (found == NO_SEGMENT) return false;
  // Most were joined from their other end, or by way of others: then no ends need to be compared. In a building of 4,000
  // parts, 33,000 ends are, and 142,000 were.
  if (curveOf(found) != curveOf(index)) uniteEnds(index, found);
  return true;
}

/**
 * How near ends of segments must be to be the same place, relative to the triangles' size, where these are at a right
 * angle.
 */
const SAME_END: f64 = 1e-6;

/**
 * Unites the segments of neighbours that are both clipped, if perhaps by different curves, far from the edge that they
 * share: the curve is the same where the segments have an end in common. At a small angle, rounding moves ends by more.
 * Segments that are mere touches have no ends to compare.
 */
function uniteEnds(i: u32, j: u32): void {
  if (!isTouch()) {
    const p = segmentAt(i), q = segmentAt(j);
    const a = clippedAt(sideAt(0), p.a), b = clippedAt(sideAt(1), p.b);
    const most = (sizeOf(a) + sizeOf(b)) * SAME_END * SAME_END, apart = gapBetween(p, q);
    if (apart > most) {
      const sine = min(sineOf(a, b), sineOf(clippedAt(sideAt(0), q.a), clippedAt(sideAt(1), q.b)));
      if (apart * sine * sine > most) return;
    }
  }
  unite(curves, i, j);
}

/** Answers the squared distance of the two nearest ends of two segments. */
function gapBetween(p: IntersectionSegment, q: IntersectionSegment): f64 {
  return min(
    min(square(p.px - q.px, p.py - q.py, p.pz - q.pz), square(p.px - q.qx, p.py - q.qy, p.pz - q.qz)),
    min(square(p.qx - q.px, p.qy - q.py, p.qz - q.pz), square(p.qx - q.qx, p.qy - q.qy, p.qz - q.qz)),
  );
}

function sizeOf(t: ClippedTriangle): f64 {
  return square(t.bx - t.ax, t.by - t.ay, t.bz - t.az) + square(t.cx - t.ax, t.cy - t.ay, t.cz - t.az);
}

/** Answers the triangle beyond an edge where it is clipped too, else NO_SEGMENT. */
// @ts-ignore: decorator
@inline
function clippedBeyond(side: Side, slot: u32, edge: u32): u32 {
  const neighbour = slotBeyond(changetype<Mesh>(side.mesh), slot, edge);
  if (neighbour == NO_NEIGHBOUR) return NO_SEGMENT;
  const known = knownAt(side, neighbour);
  return known == 0 || known > side.clippedCount ? NO_SEGMENT : known - 1;
}

/** Answers the segment of two triangles, without a table found in the shorter of their lists; NO_SEGMENT where there is none. */
// @ts-ignore: decorator
@inline
function segmentOf(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
  // There is no segment -1 but this one.
  return rowLength != 0 ? load<u32>(entryOf(a, b)) - 1 : segmentInLists(sideA, sideB, a, b);
}

function segmentInLists(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
  let i = clippedAt(sideA, a).firstSegment, j = clippedAt(sideB, b).firstSegment;
  while (i != NO_SEGMENT && j != NO_SEGMENT) {
    const ofA = segmentAt(i), ofB = segmentAt(j);
    if (ofA.b == b) return i;
    if (ofB.a == a) return j;
    i = ofA.nextA;
    j = ofB.nextB;
  }
  return NO_SEGMENT;
}
