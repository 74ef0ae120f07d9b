// Pockets: the triangles of a mesh that lie entirely inside the other one, found by a flood fill of the surface from the
// clipped triangles, across those edges that are inside (inside.ts). A pocket joins the curves around it.

import { NO_NEIGHBOUR, isInTree, slotBeyondIn } from '../../mesh/topology/adjacency';
import { FRESH } from '../../mesh/topology/derived';
import { derivedOf, neighboursAt } from '../../mesh/topology/derived-layout';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import {
  ClippedTriangle, NO_SEGMENT, Side, addInterior, clippedAt, interiorAt, knownAt, placeCorner, reserveInterior, setKnown,
  sideAt,
} from './clipped-triangles';
import { curveOf, joinCurves } from './curves';
import { isInside, isUndecided, nearest } from './inside';
import { PLACE_BYTES } from '../../sizes';

/**
 * The number of clipped and interior triangles of a side beyond which the meshes count as one region with the global
 * depth.
 */
const MOST_TRIANGLES: u32 = 1 << 16;

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
export function fillPockets(own: u32): bool {
  const side = sideAt(own), mesh = changetype<Mesh>(side.mesh);
  const neighbours = neighboursAt(derivedOf(mesh));
  // A neighbour can only have no area if vertices have moved since the neighbours were found. Skipping that check, which
  // costs a cache line per neighbour, makes 200 manifolds of two dragons take 0.985 of the time.
  const isFresh = mesh.derivedState == FRESH;
  side.pocketCount = 0;
  for (let i: u32 = 0; i < side.clippedCount; i++) {
    const triangle = clippedAt(side, i);
    for (let edge: u32 = 0; edge < 3; edge++) {
      const slot = slotBeyondIn(neighbours, mesh, triangle.slot, edge);
      if (slot == NO_NEIGHBOUR) continue;
      const known = knownAt(side, slot);
      if (known - 1 >= side.clippedCount) goOver(own, side, neighbours, isFresh, i, edge, slot, known);
      else if (known - 1 > i) joinAcross(own, triangle, clippedAt(side, known - 1), edge);
    }
    if (side.clippedCount + side.interiorCount > MOST_TRIANGLES) return false;
  }
  return true;
}

/**
 * Crosses an edge of a clipped triangle: fills the pocket beyond, or joins its curve to that of the interior triangle
 * there.
 */
function goOver(
  own: u32, side: Side, neighbours: usize, isFresh: bool, index: u32, edge: u32, slot: u32, known: u32,
): void {
  const triangle = clippedAt(side, index);
  if (known == 0 && !isFresh && !isInTree(changetype<Mesh>(side.mesh), slot)) return;
  // The fill of its pocket has already tested this edge from the other side, unless the pocket had taken in the triangle
  // before.
  if (known != 0 && triangle.pocketSegment == NO_SEGMENT) return;
  setMiddleOfClipped(triangle, edge);
  if (!isInside(own, triangle, middleX, middleY, middleZ)) return;
  if (known == 0) {
    fillPocket(own, side, neighbours, isFresh, slot, nearest);
    return;
  }
  const segment = segmentAround(side, known - side.clippedCount - 1);
  if (segment != NO_SEGMENT) joinCurves(nearest, segment);
}

/** Returns a segment of the curve around the pocket of an interior triangle; NO_SEGMENT if that pocket was given up. */
function segmentAround(side: Side, index: u32): u32 {
  for (let i = side.pocketCount; i-- != 0; ) {
    const pocket = pocketAt(side, i);
    if (pocket.from <= index && index < pocket.end) return pocket.segment;
  }
  return NO_SEGMENT;
}

/** The indices of the clipped triangles that the pocket has taken in, u32 each. */
let taken: usize = 0;
let takenCount: u32 = 0;

/** Adds a clipped triangle to those that the pocket has taken in. Throws OUT_OF_MEMORY. */
function take(index: u32): void {
  const used = <usize>takenCount << 2;
  taken = reserve(taken, used, <u64>used + 4);
  store<u32>(taken + used, index);
  takenCount++;
}

/** If outside edges outnumber inside edges by this many, it is not a pocket. */
const DOUBT = 3;

/**
 * Fills one pocket from one of its triangles. In a mesh that intersects itself or has overlapping layers, an edge may
 * wrongly seem to be inside: if more edges around the triangles are outside than inside, they are not a pocket. The list
 * of interior triangles serves as the queue; the clipped ones that were taken in are visited once it is empty.
 */
function fillPocket(own: u32, side: Side, neighbours: usize, isFresh: bool, first: u32, segment: u32): void {
  const clippedCount = side.clippedCount, mesh = changetype<Mesh>(side.mesh);
  const from = side.interiorCount;
  let votes = 0;
  takenCount = 0;
  reserveInterior(side);
  addInterior(side, first);
  for (let i = from, k: u32 = 0; ; ) {
    let count = side.interiorCount;
    let slot: u32 = 0;
    if (i < count) slot = load<u32>(interiorAt(side, i++));
    else if (k < takenCount) slot = clippedAt(side, load<u32>(taken + (<usize>(k++) << 2))).slot;
    else break;
    reserveInterior(side);
    for (let edge: u32 = 0; edge < 3; edge++) {
      const beyond = slotBeyondIn(neighbours, mesh, slot, edge);
      if (beyond == NO_NEIGHBOUR) continue;
      const known = knownAt(side, beyond);
      // One comparison covers unknown and interior triangles.
      if (known - 1 >= clippedCount) {
        // Branchless, since it is unpredictable whether the triangle is known.
        const isNew = <u32>(known == 0) & <u32>(isFresh || isInTree(mesh, beyond));
        store<u32>(interiorAt(side, count), beyond);
        setKnown(side, beyond, select(clippedCount + count + 1, known, isNew));
        count += isNew;
        continue;
      }
      const triangle = clippedAt(side, known - 1);
      if (triangle.pocketSegment != NO_SEGMENT) continue;
      setMiddleOfSlot(side, slot, edge);
      if (isInside(own, triangle, middleX, middleY, middleZ)) {
        votes++;
        joinCurves(segment, nearest);
      } else if (isUndecided) {
        triangle.pocketSegment = segment;
        take(known - 1);
      } else votes--;
    }
    side.interiorCount = count;
    if (votes <= -DOUBT || clippedCount + count > MOST_TRIANGLES) break;
  }
  if (votes < 0) giveUp(side);
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
function giveUp(side: Side): void {
  for (let i: u32 = 0; i < takenCount; i++) {
    clippedAt(side, load<u32>(taken + (<usize>i << 2))).pocketSegment = NO_SEGMENT;
  }
}

/** Joins two curves that are separated only by an edge that is inside. */
function joinAcross(own: u32, triangle: ClippedTriangle, other: ClippedTriangle, edge: u32): void {
  if (curveOf(triangle.firstSegment) == curveOf(other.firstSegment)) return;
  setMiddleOfClipped(triangle, edge);
  if (!isInside(own, triangle, middleX, middleY, middleZ)) return;
  const one = nearest;
  if (isInside(own, other, middleX, middleY, middleZ)) joinCurves(one, nearest);
}

// --- midpoints of edges ---

/** The midpoint of an edge. */
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

function setMiddle(from: usize, to: usize): void {
  middleX = 0.5 * (load<f64>(from) + load<f64>(to));
  middleY = 0.5 * (load<f64>(from, 8) + load<f64>(to, 8));
  middleZ = 0.5 * (load<f64>(from, 16) + load<f64>(to, 16));
}

/** Sets the midpoint of edge 0, 1 or 2 of a clipped triangle. */
function setMiddleOfClipped(triangle: ClippedTriangle, edge: u32): void {
  const corners = changetype<usize>(triangle) + offsetof<ClippedTriangle>('ax');
  setMiddle(corners + <usize>edge * 24, corners + (edge == 2 ? 0 : <usize>edge * 24 + 24));
}

const ends: usize = memory.data(2 * PLACE_BYTES, 16);

/** Sets the midpoint of edge 0, 1 or 2 of any triangle, by its slot. */
function setMiddleOfSlot(side: Side, slot: u32, edge: u32): void {
  placeCorner(ends, side, slot, edge);
  placeCorner(ends + 24, side, slot, edge == 2 ? 0 : edge + 1);
  setMiddle(ends, ends + 24);
}
