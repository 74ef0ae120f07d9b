// Pockets: the triangles of a mesh that lie inside of the other one as a whole, found by filling the surface from the clipped
// triangles over the edges that are inside (inside.ts). A pocket joins the curves around it.

import { NO_NEIGHBOUR, isInTree, slotBeyond } from '../../mesh/topology/adjacency';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import {
  ClippedTriangle, NO_SEGMENT, Side, addInterior, clippedAt, interiorAt, knownAt, placeCorner, reserveInterior, setKnown,
  sideAt, writeInterior,
} from './clipped-triangles';
import { curveOf, joinCurves } from './curves';
import { isInside, isUndecided, nearest } from './inside';
import { PLACE_BYTES } from '../../sizes';

/**
 * The number of clipped and interior triangles of a side beyond which the meshes count as one region, whose depth is
 * the global one.
 */
const MOST_TRIANGLES: u32 = 1 << 16;

/** A pocket: interior triangles that follow one another, and a segment of the curve around them. */
@unmanaged
export class Pocket {
  segment: u32;
  /** The first interior triangle, and the one behind the last. */
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
 * Fills pockets of a side from the clipped triangles over the edges that are inside. Joins the curves around a pocket. Answers
 * false where one is too large. Throws OUT_OF_MEMORY.
 */
export function fillPockets(own: u32): bool {
  const side = sideAt(own), mesh = changetype<Mesh>(side.mesh);
  side.pocketCount = 0;
  for (let i: u32 = 0; i < side.clippedCount; i++) {
    const triangle = clippedAt(side, i);
    for (let edge: u32 = 0; edge < 3; edge++) {
      const slot = slotBeyond(mesh, triangle.slot, edge);
      if (slot == NO_NEIGHBOUR) continue;
      const known = knownAt(side, slot);
      if (known == 0 && !isInTree(mesh, slot)) continue;
      if (known != 0 && known <= side.clippedCount) {
        if (known - 1 > i) joinAcross(own, triangle, clippedAt(side, known - 1), edge);
        continue;
      }
      // Filling its pocket asked about this edge from its other side, unless the pocket took in the triangle before.
      if (known != 0 && triangle.pocketSegment == NO_SEGMENT) continue;
      setMiddleOfClipped(triangle, edge);
      if (!isInside(own, triangle, middleX, middleY, middleZ)) continue;
      if (known == 0) fillPocket(own, side, slot, nearest);
      else {
        const segment = interiorAt(side, known - side.clippedCount - 1).segment;
        if (segment != NO_SEGMENT) joinCurves(nearest, segment);
      }
    }
    if (side.clippedCount + side.interiorCount > MOST_TRIANGLES) return false;
  }
  return true;
}

/** The slots of a pocket, u32 each; the neighbours of the later ones are still to be looked at. */
let queue: usize = 0;
let queued: u32 = 0;
/** How many slots there is room for. */
let queueRoom: u32 = 0;

/** Makes room for three slots more: the neighbours of a triangle. Throws OUT_OF_MEMORY. */
// @ts-ignore: decorator
@inline
function reserveQueue(): void {
  if (queued + 3 > queueRoom) growQueue();
}

/** Slots for which there is room at first: the pockets of a shallow contact. */
const LEAST_QUEUE: u32 = 256;

function growQueue(): void {
  const room = max(2 * queueRoom, LEAST_QUEUE);
  queue = reserve(queue, <usize>queued << 2, <u64>room << 2);
  queueRoom = room;
}

// @ts-ignore: decorator
@inline
function push(slot: u32): void {
  store<u32>(queue + (<usize>queued << 2), slot);
  queued++;
}

/** Where so many more edges are outside than inside, it is no pocket. */
const DOUBT = 3;

/**
 * Fills one pocket from one of its triangles. In a mesh that intersects itself or covers a place twice, an edge may
 * look inside that is not: where more edges around the triangles are outside than inside, they are no pocket.
 */
function fillPocket(own: u32, side: Side, first: u32, segment: u32): void {
  const clippedCount = side.clippedCount, mesh = changetype<Mesh>(side.mesh);
  const from = side.interiorCount;
  let votes = 0;
  queued = 0;
  reserveQueue();
  reserveInterior(side);
  addInterior(side, first, segment);
  push(first);
  for (let i: u32 = 0; i < queued; i++) {
    const slot = load<u32>(queue + (<usize>i << 2));
    reserveQueue();
    reserveInterior(side);
    // These are locals, as each place of what is written next would otherwise wait for the last write.
    let last = queued, count = side.interiorCount;
    for (let edge: u32 = 0; edge < 3; edge++) {
      const beyond = slotBeyond(mesh, slot, edge);
      if (beyond == NO_NEIGHBOUR) continue;
      const known = knownAt(side, beyond);
      if (known == 0 || known > clippedCount) {
        // Without a branch, as no processor can predict whether it is known.
        const isNew = <u32>(known == 0) & <u32>isInTree(mesh, beyond);
        writeInterior(side, count, beyond, segment);
        setKnown(side, beyond, select(clippedCount + count + 1, known, isNew));
        store<u32>(queue + (<usize>last << 2), beyond);
        count += isNew;
        last += isNew;
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
        store<u32>(queue + (<usize>(last++) << 2), beyond);
      } else votes--;
    }
    queued = last;
    side.interiorCount = count;
    if (votes <= -DOUBT || clippedCount + count > MOST_TRIANGLES) break;
  }
  if (votes < 0) emptyPocket(side);
  else addPocket(side, segment, from);
}

/** Notes the interior triangles from `from` on as a pocket. Throws OUT_OF_MEMORY. */
function addPocket(side: Side, segment: u32, from: u32): void {
  const used = <usize>side.pocketCount * POCKET_BYTES;
  side.pockets = <u32>reserve(side.pockets, used, <u64>used + POCKET_BYTES);
  const pocket = pocketAt(side, side.pocketCount++);
  pocket.segment = segment;
  pocket.from = from;
  pocket.end = side.interiorCount;
}

/** Gives up all triangles that were queued, as they are no pocket. */
function emptyPocket(side: Side): void {
  for (let i: u32 = 0; i < queued; i++) {
    const known = knownAt(side, load<u32>(queue + (<usize>i << 2)));
    if (known > side.clippedCount) interiorAt(side, known - side.clippedCount - 1).segment = NO_SEGMENT;
    else clippedAt(side, known - 1).pocketSegment = NO_SEGMENT;
  }
}

/** Joins two curves that have nothing but an edge of a pocket between them. */
function joinAcross(own: u32, triangle: ClippedTriangle, other: ClippedTriangle, edge: u32): void {
  if (curveOf(triangle.firstSegment) == curveOf(other.firstSegment)) return;
  setMiddleOfClipped(triangle, edge);
  if (!isInside(own, triangle, middleX, middleY, middleZ)) return;
  const one = nearest;
  if (isInside(own, other, middleX, middleY, middleZ)) joinCurves(one, nearest);
}

// --- the middles of edges ---

/** The middle of an edge. */
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

function setMiddle(from: usize, to: usize): void {
  middleX = 0.5 * (load<f64>(from) + load<f64>(to));
  middleY = 0.5 * (load<f64>(from, 8) + load<f64>(to, 8));
  middleZ = 0.5 * (load<f64>(from, 16) + load<f64>(to, 16));
}

/** Sets the middle of edge 0, 1 or 2 of a clipped triangle. */
function setMiddleOfClipped(triangle: ClippedTriangle, edge: u32): void {
  const corners = changetype<usize>(triangle) + offsetof<ClippedTriangle>('ax');
  setMiddle(corners + <usize>edge * 24, corners + (edge == 2 ? 0 : <usize>edge * 24 + 24));
}

const ends: usize = memory.data(2 * PLACE_BYTES, 16);

/** Sets the middle of edge 0, 1 or 2 of any triangle, by its slot. */
function setMiddleOfSlot(side: Side, slot: u32, edge: u32): void {
  placeCorner(ends, side, slot, edge);
  placeCorner(ends + 24, side, slot, edge == 2 ? 0 : edge + 1);
  setMiddle(ends, ends + 24);
}
