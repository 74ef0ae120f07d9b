// Pockets: the triangles of a mesh that lie entirely inside the other one, found by a flood fill of the surface from the
// clipped triangles, across those edges that are inside (inside.ts). A pocket joins the curves around it.

import { NO_NEIGHBOUR, isInTree, adjacentSlotIn } from '../../mesh/topology/adjacency';
import { FRESH } from '../../mesh/topology/derived';
import { derivedOf, neighboursAt } from '../../mesh/topology/derived-layout';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import {
  ClippedTriangle, NO_SEGMENT, Side, addInterior, clippedAt, interiorAt, slotEntryAt, writeCorner, reserveInterior, setSlotEntry,
  sideAt,
} from './clipped-triangles';
import { curveOf, joinCurves } from './curves';
import { isInside, isUndecided, decidingSegment } from './inside';
import { POSITION_BYTES } from '../../sizes';

/**
 * The number of clipped and interior triangles of a side beyond which the meshes count as one region with the global
 * depth.
 */
const MAX_TRIANGLES: u32 = 1 << 16;

/** A pocket: a range of interior triangles, and a segment of the curve around them. */
@unmanaged
export class Pocket {
  segment: u32;
  /** The first interior triangle, and the one after the last. */
  from: u32;
  end: u32;
}

const POCKET_BYTES: usize = offsetof<Pocket>();

// @ts-ignore: decorator
@inline
export function pocketAt(side: Side, index: u32): Pocket {
  return changetype<Pocket>(<usize>side.pockets + index * <u32>POCKET_BYTES);
}

/**
 * Fills the pockets of a side, starting from the clipped triangles across the edges that are inside. Joins the curves
 * around each pocket. Returns false if one is too large. Throws OUT_OF_MEMORY.
 */
export function fillPockets(sideIndex: u32): bool {
  const side = sideAt(sideIndex), mesh = changetype<Mesh>(side.mesh);
  const neighbours = neighboursAt(derivedOf(mesh));
  // A neighbour can only have no area if vertices have moved since the neighbours were found. Skipping that check, which
  // costs a cache line per neighbour, makes 200 manifolds of two dragons take 0.985 of the time.
  const isFresh = mesh.derivedState == FRESH;
  side.pocketCount = 0;
  for (let i: u32 = 0; i < side.clippedCount; i++) {
    const triangle = clippedAt(side, i);
    for (let edge: u32 = 0; edge < 3; edge++) {
      const slot = adjacentSlotIn(neighbours, mesh, triangle.slot, edge);
      if (slot == NO_NEIGHBOUR) continue;
      const entry = slotEntryAt(side, slot);
      if (entry - 1 >= side.clippedCount) crossEdge(sideIndex, side, neighbours, isFresh, i, edge, slot, entry);
      else if (entry - 1 > i) joinAcross(sideIndex, triangle, clippedAt(side, entry - 1), edge);
    }
    if (side.clippedCount + side.interiorCount > MAX_TRIANGLES) return false;
  }
  return true;
}

/**
 * Crosses an edge of a clipped triangle: fills the pocket beyond, or joins its curve to that of the interior triangle
 * there.
 */
function crossEdge(
  sideIndex: u32, side: Side, neighbours: usize, isFresh: bool, index: u32, edge: u32, slot: u32, entry: u32,
): void {
  const triangle = clippedAt(side, index);
  if (entry == 0 && !isFresh && !isInTree(changetype<Mesh>(side.mesh), slot)) return;
  // The fill of its pocket has already tested this edge from the other side, unless the pocket had taken in the triangle
  // before.
  if (entry != 0 && triangle.pocketSegment == NO_SEGMENT) return;
  setClippedMidpoint(triangle, edge);
  if (!isInside(sideIndex, triangle, midpointX, midpointY, midpointZ)) return;
  if (entry == 0) {
    fillPocket(sideIndex, side, neighbours, isFresh, slot, decidingSegment);
    return;
  }
  const segment = segmentOfPocket(side, entry - side.clippedCount - 1);
  if (segment != NO_SEGMENT) joinCurves(decidingSegment, segment);
}

/** Returns a segment of the curve around the pocket of an interior triangle; NO_SEGMENT if that pocket was given up. */
function segmentOfPocket(side: Side, index: u32): u32 {
  for (let i = side.pocketCount; i-- != 0; ) {
    const pocket = pocketAt(side, i);
    if (pocket.from <= index && index < pocket.end) return pocket.segment;
  }
  return NO_SEGMENT;
}

/** The indices of the clipped triangles that the pocket has taken in, u32 each. */
let absorbedTriangles: usize = 0;
let absorbedCount: u32 = 0;

/** Adds a clipped triangle to those that the pocket has taken in. Throws OUT_OF_MEMORY. */
function absorbTriangle(index: u32): void {
  const used = <usize>absorbedCount << 2;
  absorbedTriangles = reserve(absorbedTriangles, used, <u64>used + 4);
  store<u32>(absorbedTriangles + used, index);
  absorbedCount++;
}

/** If outside edges outnumber inside edges by this many, it is not a pocket. */
const MAX_OUTSIDE_LEAD = 3;

/**
 * Fills one pocket from one of its triangles. In a mesh that intersects itself or has overlapping layers, an edge may
 * wrongly seem to be inside: if more edges around the triangles are outside than inside, they are not a pocket. The list
 * of interior triangles serves as the queue; the clipped ones that were taken in are visited once it is empty.
 */
function fillPocket(sideIndex: u32, side: Side, neighbours: usize, isFresh: bool, first: u32, segment: u32): void {
  const clippedCount = side.clippedCount, mesh = changetype<Mesh>(side.mesh);
  const from = side.interiorCount;
  let votes = 0;
  absorbedCount = 0;
  reserveInterior(side);
  addInterior(side, first);
  for (let i = from, k: u32 = 0; ; ) {
    let count = side.interiorCount;
    let slot: u32 = 0;
    if (i < count) slot = load<u32>(interiorAt(side, i++));
    else if (k < absorbedCount) slot = clippedAt(side, load<u32>(absorbedTriangles + (<usize>(k++) << 2))).slot;
    else break;
    reserveInterior(side);
    for (let edge: u32 = 0; edge < 3; edge++) {
      const neighbour = adjacentSlotIn(neighbours, mesh, slot, edge);
      if (neighbour == NO_NEIGHBOUR) continue;
      const entry = slotEntryAt(side, neighbour);
      // One comparison covers unknown and interior triangles.
      if (entry - 1 >= clippedCount) {
        // Branchless, since it is unpredictable whether the triangle is known.
        const isNew = <u32>(entry == 0) & <u32>(isFresh || isInTree(mesh, neighbour));
        store<u32>(interiorAt(side, count), neighbour);
        setSlotEntry(side, neighbour, select(clippedCount + count + 1, entry, isNew));
        count += isNew;
        continue;
      }
      const triangle = clippedAt(side, entry - 1);
      if (triangle.pocketSegment != NO_SEGMENT) continue;
      setSlotMidpoint(side, slot, edge);
      if (isInside(sideIndex, triangle, midpointX, midpointY, midpointZ)) {
        votes++;
        joinCurves(segment, decidingSegment);
      } else if (isUndecided) {
        triangle.pocketSegment = segment;
        side.interiorCount = count; // it may throw
        absorbTriangle(entry - 1);
      } else votes--;
    }
    side.interiorCount = count;
    if (votes <= -MAX_OUTSIDE_LEAD || clippedCount + count > MAX_TRIANGLES) break;
  }
  if (votes < 0) releaseAbsorbed(side);
  else addPocket(side, segment, from);
}

/** Adds the interior triangles from `from` on as a pocket. Throws OUT_OF_MEMORY. */
function addPocket(side: Side, segment: u32, from: u32): void {
  const used = <usize>side.pocketCount * POCKET_BYTES;
  side.pockets = <u32>reserve(side.pockets, used, <u64>used + POCKET_BYTES);
  const pocket = pocketAt(side, side.pocketCount++);
  pocket.segment = segment;
  pocket.from = from;
  pocket.end = side.interiorCount;
}

/**
 * Releases the clipped triangles that were taken in, since this is not a pocket. Interior triangles without a pocket
 * belong to no region.
 */
function releaseAbsorbed(side: Side): void {
  for (let i: u32 = 0; i < absorbedCount; i++) {
    clippedAt(side, load<u32>(absorbedTriangles + (<usize>i << 2))).pocketSegment = NO_SEGMENT;
  }
}

/** Joins two curves that are separated only by an edge that is inside. */
function joinAcross(sideIndex: u32, triangle: ClippedTriangle, other: ClippedTriangle, edge: u32): void {
  if (curveOf(triangle.firstSegment) == curveOf(other.firstSegment)) return;
  setClippedMidpoint(triangle, edge);
  if (!isInside(sideIndex, triangle, midpointX, midpointY, midpointZ)) return;
  const firstSegment = decidingSegment;
  if (isInside(sideIndex, other, midpointX, midpointY, midpointZ)) joinCurves(firstSegment, decidingSegment);
}

// --- midpoints of edges ---

/** The midpoint of an edge. */
let midpointX: f64 = 0, midpointY: f64 = 0, midpointZ: f64 = 0;

function setMidpoint(from: usize, to: usize): void {
  midpointX = 0.5 * (load<f64>(from) + load<f64>(to));
  midpointY = 0.5 * (load<f64>(from, 8) + load<f64>(to, 8));
  midpointZ = 0.5 * (load<f64>(from, 16) + load<f64>(to, 16));
}

/** Sets the midpoint of edge 0, 1 or 2 of a clipped triangle. */
function setClippedMidpoint(triangle: ClippedTriangle, edge: u32): void {
  const corners = changetype<usize>(triangle) + offsetof<ClippedTriangle>('ax');
  setMidpoint(corners + <usize>edge * 24, corners + (edge == 2 ? 0 : <usize>edge * 24 + 24));
}

const edgeEnds: usize = memory.data(2 * POSITION_BYTES, 16);

/** Sets the midpoint of edge 0, 1 or 2 of any triangle, by its slot. */
function setSlotMidpoint(side: Side, slot: u32, edge: u32): void {
  writeCorner(edgeEnds, side, slot, edge);
  writeCorner(edgeEnds + 24, side, slot, edge == 2 ? 0 : edge + 1);
  setMidpoint(edgeEnds, edgeEnds + 24);
}
