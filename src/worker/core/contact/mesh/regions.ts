// Regions of contact between two surfaces (Redon and Lin, "A Fast Method for Local Penetration Depth Computation",
// 2006): a region is one curve in which the meshes intersect, or several around the same pocket, with the pockets, the
// triangles of each mesh that lie inside of the other one there. Curves are sets of segments that follow one another;
// pockets are filled from the clipped triangles over the edges that are inside. What is inside is decided in float64
// by the nearest segments, with a vote where a mesh intersects itself or covers a place twice.

import { checkpoint } from '../../checkpoint';
import { NO_NEIGHBOUR, isInTree, slotBeyond } from '../../mesh/topology/adjacency';
import { beginSets, rootOf, unite } from '../../math/union-find';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { ANY_EDGE, IntersectionSegment, isTouch, segmentAt, segmentCount } from './intersection-segments';
import {
  ClippedTriangle, NO_SEGMENT, Side, addInterior, clippedAt, interiorAt, knownAt, placeCorner, reserveInterior, setKnown,
  sideAt, writeInterior,
} from './clipped-triangles';
import { PLACE_BYTES } from '../../sizes';

/** The segments, sorted by region, u32 each. */
export let regionSegments: usize = 0;
/** Where the segments of each region begin in `regionSegments`, u32 each; one entry more than there are regions. */
export let segmentStarts: usize = 0;
export let regionCount: u32 = 0;
/** The slots of interior triangles of both sides, sorted by region, and where each region's begin. */
export let interiorSlots0: usize = 0, interiorSlots1: usize = 0;
export let interiorStarts0: usize = 0, interiorStarts1: usize = 0;
/** Whether all pockets were filled, as none was too large. */
export let hasAllPockets: bool = true;

/**
 * The number of clipped and interior triangles of a side beyond which the meshes count as one region, whose depth is
 * the global one.
 */
const MOST_TRIANGLES: u32 = 1 << 16;

/** Which way both surfaces face in each region, 1 or -1: two f64 each. */
let senses: usize = 0;
/** Sets of segments: u32 each, as math/union-find.ts has them. */
let curves: usize = 0;

/** What a segment counts for in checkpoints. */
const WORK_OF_SEGMENT: i32 = 8;

/** Finds the regions of all segments. Throws OUT_OF_MEMORY. */
export function findRegions(): void {
  const a = sideAt(0), b = sideAt(1);
  hasAllPockets = true;
  curves = reserve(curves, 0, <u64>segmentCount << 2);
  beginSets(curves, segmentCount);
  for (let i: u32 = 0; i < segmentCount; i++) {
    joinNeighbours(i, a, b);
    checkpoint(WORK_OF_SEGMENT);
  }
  numberRegions();
  findSenses(a, b);
  checkpoint(<i32>segmentCount);
  fillPockets(0);
  fillPockets(1);
  checkpoint(<i32>(a.interiorCount + b.interiorCount));
  renumberRegions();
  sortSegments();
  interiorStarts0 = reserve(interiorStarts0, 0, <u64>(regionCount + 2) << 2);
  interiorStarts1 = reserve(interiorStarts1, 0, <u64>(regionCount + 2) << 2);
  interiorSlots0 = reserve(interiorSlots0, 0, <u64>a.interiorCount << 2);
  interiorSlots1 = reserve(interiorSlots1, 0, <u64>b.interiorCount << 2);
  sortInterior(a, interiorStarts0, interiorSlots0);
  sortInterior(b, interiorStarts1, interiorSlots1);
}

// --- curves ---

/** Joins a segment with those that follow it, beyond the edges that its ends are on. */
function joinNeighbours(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const isKnown = joinBeyond(index, segment, segment.edgeP, a, b) && joinBeyond(index, segment, segment.edgeQ, a, b);
  if (!isKnown) joinAll(index, a, b);
}

/**
 * Joins the segment beyond an edge, in the same triangle of the other mesh. Answers false where it is not known which
 * segment that is.
 */
// @ts-ignore: decorator
@inline
function joinBeyond(index: u32, segment: IntersectionSegment, edge: u32, a: Side, b: Side): bool {
  if (edge == ANY_EDGE) return false;
  const isOfA = edge < 3;
  const side = isOfA ? a : b;
  const slot = clippedAt(side, isOfA ? segment.a : segment.b).slot;
  // What is clipped has an area.
  const neighbour = slotBeyond(changetype<Mesh>(side.mesh), slot, isOfA ? edge : edge - 3);
  if (neighbour == NO_NEIGHBOUR) return false;
  const known = knownAt(side, neighbour);
  if (known == 0) return false;
  const found = isOfA ? segmentOf(a, b, known - 1, segment.b) : segmentOf(a, b, segment.a, known - 1);
  if (found == NO_SEGMENT) return false;
  unite(curves, index, found);
  return true;
}

/**
 * Joins the segments beyond any edge of one triangle, in the same triangle of the other mesh, or in its neighbour too.
 */
function joinAll(index: u32, a: Side, b: Side): void {
  const segment = segmentAt(index);
  const slotA = clippedAt(a, segment.a).slot, slotB = clippedAt(b, segment.b).slot;
  for (let i: u32 = 0; i < 3; i++) {
    const other = clippedBeyond(a, slotA, i);
    if (other == NO_SEGMENT) continue;
    let found = segmentOf(a, b, other, segment.b);
    if (found != NO_SEGMENT) {
      uniteEnds(index, found);
      continue;
    }
    for (let j: u32 = 0; j < 3; j++) {
      const too = clippedBeyond(b, slotB, j);
      if (too == NO_SEGMENT) continue;
      found = segmentOf(a, b, other, too);
      if (found != NO_SEGMENT) uniteEnds(index, found);
    }
  }
  for (let j: u32 = 0; j < 3; j++) {
    const other = clippedBeyond(b, slotB, j);
    if (other == NO_SEGMENT) continue;
    const found = segmentOf(a, b, segment.a, other);
    if (found != NO_SEGMENT) uniteEnds(index, found);
  }
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

// @ts-ignore: decorator
@inline
function square(x: f64, y: f64, z: f64): f64 {
  return x * x + y * y + z * z;
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

/** Answers the segment of two triangles, found in the shorter of their lists; NO_SEGMENT where there is none. */
function segmentOf(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
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

function numberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < segmentCount; i++) {
    const root = rootOf(curves, i);
    segmentAt(i).region = root == i ? regionCount++ : segmentAt(root).region;
  }
}

/**
 * Numbers the regions anew after some were joined. No region gets a higher number, as roots are the least of their
 * sets.
 */
function renumberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < segmentCount; i++) {
    const segment = segmentAt(i), root = rootOf(curves, i);
    if (root == i) {
      v128.store(senses + (<usize>regionCount << 4), v128.load(senses + (<usize>segment.region << 4)));
      segment.region = regionCount++;
    } else segment.region = segmentAt(root).region;
  }
}

// --- inside ---

/**
 * Finds which side of a mesh that encloses nothing counts as its inside: the one on which less of the other mesh is,
 * away from the other's middle.
 */
function findSenses(a: Side, b: Side): void {
  senses = reserve(senses, 0, <u64>regionCount << 4);
  for (let i: u32 = 0; i < regionCount; i++) v128.store(senses + (<usize>i << 4), f64x2.splat(0));
  if (a.facing == 0 || b.facing == 0) {
    for (let i: u32 = 0; i < segmentCount; i++) {
      const segment = segmentAt(i);
      const p = clippedAt(a, segment.a), q = clippedAt(b, segment.b);
      const x = 0.5 * (segment.px + segment.qx), y = 0.5 * (segment.py + segment.qy);
      const z = 0.5 * (segment.pz + segment.qz);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const length = sqrt(dx * dx + dy * dy + dz * dz);
      const at = senses + (<usize>segment.region << 4);
      const ofA = (b.middleX - x) * p.nx + (b.middleY - y) * p.ny + (b.middleZ - z) * p.nz;
      const ofB = (a.middleX - x) * q.nx + (a.middleY - y) * q.ny + (a.middleZ - z) * q.nz;
      store<f64>(at, load<f64>(at) + length * ofA);
      store<f64>(at, load<f64>(at, 8) + length * ofB, 8);
    }
  }
  for (let i: u32 = 0; i < regionCount; i++) {
    const at = senses + (<usize>i << 4);
    store<f64>(at, a.facing == 0 && load<f64>(at) < 0 ? -1 : 1);
    store<f64>(at, b.facing == 0 && load<f64>(at, 8) < 0 ? -1 : 1, 8);
  }
}

/** Answers 1, or -1 where a side's normals at a segment lead to what counts as its inside. */
// @ts-ignore: decorator
@inline
export function senseOf(segment: IntersectionSegment, side: u32): f64 {
  return load<f64>(senses + (<usize>segment.region << 4) + (<usize>side << 3));
}

/** The segment that decided where `isInside` was asked. */
let nearest: u32 = NO_SEGMENT;
/** Whether no segment decided, as all votes cancel out. */
let isUndecided: bool = false;

/** Squared distances whose ratio is no greater than this differ by rounding alone. */
const SAME: f64 = 1 + 1e-9;
/** Votes whose sum is less than this, relative to the largest vote, cancel out but for rounding. */
const EVEN: f64 = 1e-9;
/**
 * The squared sine of the angle with a plane up to which a place is on the plane: on the curve itself nothing decides.
 */
const ON_PLANE: f64 = 1e-12;

/**
 * Tells whether a place on a clipped triangle is inside of the other mesh: by the nearest of the triangle's segments.
 * Where several are as near, as they end at the same place or lie on one another, each counts by how far the place
 * is from its line: at a sharp corner, the place may be before one line and behind the other, and is on the side of
 * the one farther off. Where they cancel out, as at the two sides of a fin without a thickness, segments farther away
 * decide.
 */
function isInside(own: u32, triangle: ClippedTriangle, x: f64, y: f64, z: f64): bool {
  isUndecided = false;
  let from = -1.0;
  while (true) {
    let least = Infinity;
    let sum: f64 = 0, most: f64 = 0;
    let found = NO_SEGMENT;
    // The nearest one so far, while no other is as near: it votes when one comes, or at the end.
    let alone = NO_SEGMENT;
    let aloneX: f64 = 0, aloneY: f64 = 0, aloneZ: f64 = 0;
    for (let i = triangle.firstSegment; i != NO_SEGMENT; ) {
      const segment = segmentAt(i);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const wx = x - segment.px, wy = y - segment.py, wz = z - segment.pz;
      const whole = square(dx, dy, dz);
      const t = whole > 0 ? min(max((wx * dx + wy * dy + wz * dz) / whole, 0.0), 1.0) : 0.0;
      const rx = wx - t * dx, ry = wy - t * dy, rz = wz - t * dz;
      const distance = rx * rx + ry * ry + rz * rz;
      if (distance > from && distance <= least * SAME) {
        if (distance * SAME < least) {
          sum = most = 0;
          found = alone = i;
          aloneX = rx; aloneY = ry; aloneZ = rz;
        } else {
          if (alone != NO_SEGMENT) {
            sum = voteOf(own, triangle, alone, aloneX, aloneY, aloneZ);
            most = abs(sum);
            alone = NO_SEGMENT;
          }
          const vote = voteOf(own, triangle, i, rx, ry, rz);
          sum += vote;
          most = max(most, abs(vote));
          if (found == NO_SEGMENT || vote > 0) found = i;
        }
        least = min(least, distance);
      }
      i = own == 0 ? segment.nextA : segment.nextB;
    }
    if (alone != NO_SEGMENT) {
      sum = voteOf(own, triangle, alone, aloneX, aloneY, aloneZ);
      most = abs(sum);
    }
    nearest = found;
    if (abs(sum) > most * EVEN) return sum > 0;
    if (least == Infinity) {
      isUndecided = true;
      return false;
    }
    from = least * SAME;
  }
}

/**
 * Answers how far a place on a triangle is from the line of one of its segments, negative where it is outside of what the
 * other triangle of the segment bounds; 0 where it is on its plane. (rx, ry, rz) is where it is, from the nearest place of
 * the segment on.
 */
// @ts-ignore: decorator
@inline
function voteOf(own: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - own), own == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * senseOf(segment, 1 - own);
  const sine = height * height > square(rx, ry, rz) * ON_PLANE ? sineOf(triangle, plane) : 0;
  return sine > 0 ? -height / sine : 0;
}

/**
 * Answers the sine of the angle at which two triangles intersect: the height over the one is this part of the distance
 * from the segment in the other.
 */
function sineOf(p: ClippedTriangle, q: ClippedTriangle): f64 {
  const x = p.ny * q.nz - p.nz * q.ny, y = p.nz * q.nx - p.nx * q.nz, z = p.nx * q.ny - p.ny * q.nx;
  return sqrt(x * x + y * y + z * z);
}

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

// --- pockets ---

/** Fills pockets from the clipped triangles over the edges that are inside. Joins the curves around a pocket. */
function fillPockets(own: u32): void {
  const side = sideAt(own), mesh = changetype<Mesh>(side.mesh);
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
        if (segment != NO_SEGMENT) unite(curves, nearest, segment);
      }
    }
    if (side.clippedCount + side.interiorCount > MOST_TRIANGLES) {
      hasAllPockets = false;
      return;
    }
  }
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
    // In locals, as each place of what is written next would otherwise wait for the last write.
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
        unite(curves, segment, nearest);
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
  if (rootOf(curves, triangle.firstSegment) == rootOf(curves, other.firstSegment)) return;
  setMiddleOfClipped(triangle, edge);
  if (!isInside(own, triangle, middleX, middleY, middleZ)) return;
  const one = nearest;
  if (isInside(own, other, middleX, middleY, middleZ)) unite(curves, one, nearest);
}

// --- by region: counting sorts ---

function sortSegments(): void {
  segmentStarts = reserve(segmentStarts, 0, <u64>(regionCount + 2) << 2);
  regionSegments = reserve(regionSegments, 0, <u64>segmentCount << 2);
  memory.fill(segmentStarts, 0, <usize>(regionCount + 2) << 2);
  for (let i: u32 = 0; i < segmentCount; i++) count(segmentStarts, segmentAt(i).region);
  accumulate(segmentStarts);
  for (let i: u32 = 0; i < segmentCount; i++) place(segmentStarts, regionSegments, segmentAt(i).region, i);
}

function sortInterior(side: Side, starts: usize, slots: usize): void {
  memory.fill(starts, 0, <usize>(regionCount + 2) << 2);
  for (let i: u32 = 0; i < side.interiorCount; i++) {
    const segment = interiorAt(side, i).segment;
    if (segment != NO_SEGMENT) count(starts, segmentAt(segment).region);
  }
  accumulate(starts);
  for (let i: u32 = 0; i < side.interiorCount; i++) {
    const triangle = interiorAt(side, i);
    if (triangle.segment != NO_SEGMENT) place(starts, slots, segmentAt(triangle.segment).region, triangle.slot);
  }
}

// Counts one place late, so that `place` leaves every start where it belongs.
function count(starts: usize, region: u32): void {
  const at = starts + (<usize>region << 2);
  store<u32>(at, load<u32>(at, 4) + 1, 4);
}

function accumulate(starts: usize): void {
  let sum: u32 = 0;
  for (let i: u32 = 1; i <= regionCount; i++) {
    const at = starts + (<usize>i << 2);
    const own = load<u32>(at);
    store<u32>(at, sum);
    sum += own;
  }
}

function place(starts: usize, list: usize, region: u32, value: u32): void {
  const at = starts + (<usize>region << 2);
  const to = load<u32>(at, 4);
  store<u32>(at, to + 1, 4);
  store<u32>(list + (<usize>to << 2), value);
}
