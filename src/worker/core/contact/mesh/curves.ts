// The curves in which two meshes intersect, as sets of connected segments. The segment that follows across the edge on
// which a segment ends belongs to the neighbour of one triangle and the same triangle of the other mesh. If rounding
// leaves the edge ambiguous, all neighbours are tried, and the ends of the segments must coincide.

import { NO_NEIGHBOUR, adjacentSlot } from '../../mesh/topology/adjacency';
import { makeSets, rootOf, unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { ANY_EDGE, IntersectionSegment, areTouchPoints, segmentAt, segmentCount } from './intersection-segments';
import { ClippedTriangle, NO_SEGMENT, Side, clippedAt, slotEntryAt, sideAt } from './clipped-triangles';
import { sineOf, lengthSquaredOf } from './inside';

/** Union-find sets of segments: u32 each, as in math/union-find.ts. */
let curves: usize = 0;

/**
 * For each segment one more than the index of the next segment, 0 if that is not known; the highest bit is set if the
 * segment is the next of another one.
 */
let nextSegments: usize = 0;
const IS_NEXT: u32 = 1 << 31;

// @ts-ignore: decorator
@inline
function nextEntryAt(index: u32): usize {
  return nextSegments + (<usize>index << 2);
}

/**
 * One more than the index of the segment of each pair of clipped triangles, 0 if they have none: a row of u32 per
 * triangle of side 0. Without it, segments are searched in the lists of their triangles: for two elbows of 284 triangles
 * in the same place, each triangle intersects a dozen others and each segment queries the neighbours of both. With the
 * table, 39 such pairs join their curves in a third of the time, and the manifolds of a building's 11,000 clashes take
 * 442 instead of 473 ms of processor time.
 */
let segmentTable: usize = 0;
/** The number of entries of a row, 0 if there is no table. */
let rowLength: u32 = 0;
/**
 * The table is omitted if it would have more entries than this, or more than this per segment, so that clearing it
 * remains cheap.
 */
const MAX_ENTRIES: u64 = 1 << 18;
const ENTRIES_PER_SEGMENT: u64 = 64;

/** Makes each segment a curve of its own. Throws OUT_OF_MEMORY. */
export function beginCurves(): void {
  curves = reserve(curves, 0, <u64>segmentCount << 2);
  makeSets(curves, segmentCount);
  nextSegments = reserve(nextSegments, 0, <u64>segmentCount << 2);
  memory.fill(nextSegments, 0, <usize>segmentCount << 2);
  rowLength = sideAt(1).clippedCount;
  const entries = <u64>sideAt(0).clippedCount * rowLength;
  if (entries > min(MAX_ENTRIES, ENTRIES_PER_SEGMENT * segmentCount)) {
    rowLength = 0;
    return;
  }
  segmentTable = reserve(segmentTable, 0, entries << 2);
  memory.fill(segmentTable, 0, <usize>entries << 2);
  for (let i: u32 = 0; i < segmentCount; i++) store<u32>(tableEntryAt(segmentAt(i).a, segmentAt(i).b), i + 1);
}

/** Returns the address of the table's entry for two triangles. */
// @ts-ignore: decorator
@inline
function tableEntryAt(a: u32, b: u32): usize {
  return segmentTable + ((<usize>a * rowLength + b) << 2);
}

/** Joins the curves of two segments. */
export function joinCurves(i: u32, j: u32): void {
  unite(curves, i, j);
}

/** Returns the lowest index of all segments in the curve of a segment. */
export function curveOf(segment: u32): u32 {
  return rootOf(curves, segment);
}

/**
 * Joins a segment with the next one, across the edge on which its end q lies. Neighbours share an edge in opposite
 * directions, and segments are oriented along the cross product of the normals of both sides. So the end p of the next
 * segment is on the same edge and need not be queried. If two segments lead to each other, because rounding has reversed
 * a short one, neither has a known next. Querying one end only, and offering each end to manifolds once, makes the
 * manifolds of two dragons take 0.96 of the time.
 */
export function joinNext(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const next = segmentAcross(segment, segment.edgeQ, a, b);
  if (next == NO_SEGMENT) return;
  unite(curves, index, next);
  const entryAddress = nextEntryAt(index), nextEntryAddress = nextEntryAt(next), followingEntry = load<u32>(nextEntryAddress);
  const isMutual = (followingEntry & ~IS_NEXT) == index + 1;
  store<u32>(entryAddress, isMutual ? 0 : (load<u32>(entryAddress) & IS_NEXT) | (next + 1));
  store<u32>(nextEntryAddress, isMutual ? 0 : followingEntry | IS_NEXT);
}

/**
 * Joins a segment with the one across its end p, if it is the next of no other, and with all adjacent segments if one of
 * its two neighbours is not known.
 */
export function joinRest(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  let isKnown = hasNext(index) && segment.edgeP != ANY_EDGE;
  if (isKnown && !(load<u32>(nextEntryAt(index)) & IS_NEXT)) {
    const previous = segmentAcross(segment, segment.edgeP, a, b);
    isKnown = previous != NO_SEGMENT;
    if (isKnown) unite(curves, index, previous);
  }
  if (!isKnown) joinAll(index, a, b);
}

/** Returns whether the next segment is known, which begins where this one ends. */
// @ts-ignore: decorator
@inline
export function hasNext(index: u32): bool {
  return (load<u32>(nextEntryAt(index)) & ~IS_NEXT) != 0;
}

/** Returns the segment across an edge, in the same triangle of the other mesh; NO_SEGMENT if it is not known. */
// @ts-ignore: decorator
@inline
function segmentAcross(segment: IntersectionSegment, edge: u32, a: Side, b: Side): u32 {
  if (edge == ANY_EDGE) return NO_SEGMENT;
  const isOfA = edge < 3;
  const side = isOfA ? a : b;
  const slot = clippedAt(side, isOfA ? segment.a : segment.b).slot;
  // The clipped triangle has an area.
  const neighbour = adjacentSlot(changetype<Mesh>(side.mesh), slot, isOfA ? edge : edge - 3);
  if (neighbour == NO_NEIGHBOUR) return NO_SEGMENT;
  const entry = slotEntryAt(side, neighbour);
  if (entry == 0) return NO_SEGMENT;
  return isOfA ? segmentOf(a, b, entry - 1, segment.b) : segmentOf(a, b, segment.a, entry - 1);
}

/**
 * Joins the segments across any edge of one triangle, in the same triangle of the other mesh, or in a neighbour of that
 * one too.
 */
function joinAll(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const slotA = clippedAt(a, segment.a).slot, slotB = clippedAt(b, segment.b).slot;
  const first = clippedAcross(b, slotB, 0), second = clippedAcross(b, slotB, 1), third = clippedAcross(b, slotB, 2);
  for (let i: u32 = 0; i < 3; i++) {
    const other = clippedAcross(a, slotA, i);
    if (other == NO_SEGMENT || joinPair(index, a, b, other, segment.b)) continue;
    joinPair(index, a, b, other, first);
    joinPair(index, a, b, other, second);
    joinPair(index, a, b, other, third);
  }
  joinPair(index, a, b, segment.a, first);
  joinPair(index, a, b, segment.a, second);
  joinPair(index, a, b, segment.a, third);
}

/**
 * Joins the segment of two clipped triangles, of which the second may be NO_SEGMENT. Returns whether they have a
 * segment.
 */
function joinPair(index: u32, a: Side, b: Side, ofA: u32, ofB: u32): bool {
  if (ofB == NO_SEGMENT) return false;
  const otherSegment = segmentOf(a, b, ofA, ofB);
  if (otherSegment == NO_SEGMENT) return false;
  // Most were joined from their other end, or through other segments: their ends need not be compared. In a building of
  // 4,000 parts, 33,000 comparisons of ends remain of 142,000.
  if (curveOf(otherSegment) != curveOf(index)) joinIfEndsMeet(index, otherSegment);
  return true;
}

/**
 * How near the ends of two segments must be to count as the same point, relative to the triangles' size, if the
 * triangles are at a right angle.
 */
const END_TOLERANCE: f64 = 1e-6;

/**
 * Joins two segments if they have an end in common. The triangles of both segments are clipped neighbours, but possibly
 * clipped by different curves, far from their common edge. At a small angle, rounding moves ends by more. Segments that
 * are mere touches have no ends to compare.
 */
function joinIfEndsMeet(i: u32, j: u32): void {
  if (!areTouchPoints()) {
    const p = segmentAt(i), q = segmentAt(j);
    const a = clippedAt(sideAt(0), p.a), b = clippedAt(sideAt(1), p.b);
    const toleranceSquared = (sizeSquaredOf(a) + sizeSquaredOf(b)) * END_TOLERANCE * END_TOLERANCE,
      gapSquared = endGapSquared(p, q);
    if (gapSquared > toleranceSquared) {
      const sine = min(sineOf(a, b), sineOf(clippedAt(sideAt(0), q.a), clippedAt(sideAt(1), q.b)));
      if (gapSquared * sine * sine > toleranceSquared) return;
    }
  }
  unite(curves, i, j);
}

/** Returns the squared distance of the two nearest ends of two segments. */
function endGapSquared(p: IntersectionSegment, q: IntersectionSegment): f64 {
  return min(
    min(lengthSquaredOf(p.px - q.px, p.py - q.py, p.pz - q.pz), lengthSquaredOf(p.px - q.qx, p.py - q.qy, p.pz - q.qz)),
    min(lengthSquaredOf(p.qx - q.px, p.qy - q.py, p.qz - q.pz), lengthSquaredOf(p.qx - q.qx, p.qy - q.qy, p.qz - q.qz)),
  );
}

function sizeSquaredOf(t: ClippedTriangle): f64 {
  return lengthSquaredOf(t.bx - t.ax, t.by - t.ay, t.bz - t.az) + lengthSquaredOf(t.cx - t.ax, t.cy - t.ay, t.cz - t.az);
}

/** Returns the index of the clipped triangle across an edge, NO_SEGMENT if that triangle is not clipped. */
// @ts-ignore: decorator
@inline
function clippedAcross(side: Side, slot: u32, edge: u32): u32 {
  const neighbour = adjacentSlot(changetype<Mesh>(side.mesh), slot, edge);
  if (neighbour == NO_NEIGHBOUR) return NO_SEGMENT;
  const entry = slotEntryAt(side, neighbour);
  return entry == 0 || entry > side.clippedCount ? NO_SEGMENT : entry - 1;
}

/**
 * Returns the segment of two triangles, NO_SEGMENT if they have none; without a table, it searches the lists of both
 * until the shorter one ends.
 */
// @ts-ignore: decorator
@inline
function segmentOf(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
  // An entry of 0 becomes -1, which is NO_SEGMENT.
  return rowLength != 0 ? load<u32>(tableEntryAt(a, b)) - 1 : searchSegmentLists(sideA, sideB, a, b);
}

function searchSegmentLists(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
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
