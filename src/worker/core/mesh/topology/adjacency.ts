// Finds the triangles of a mesh that share an edge. A half edge is stored at the vertex of its edge with the higher
// number until the opposite one comes: vertices of many triangles come early, so few half edges are pending at any
// vertex, and those that are near in the tree are near in memory. Four are compared at a time, without unpredictable
// branches: edges of the full dragon are matched in half the time that lists take. Half edges that do not fit are
// pending in a list at the vertex. If such a list becomes long, all edges are matched again in lists only, at the vertex
// with fewer triangles: so however many triangles meet in a vertex, the total length of all lists is linear in the edges
// of a surface (Chiba and Nishizeki, "Arboricity and Subgraph Listing Algorithms", 1985). Edges are the same if the
// positions of their ends are. Exact; if more than two triangles share an edge, those that come first in the tree are
// neighbours.

import { allocate, reserve } from '../../memory';
import { Mesh, blockAt, filledLanes, triangleOf } from '../tree/layout';
import { Derivation, freePending, meshOf, resultOf, vertexOf } from './derivation-state';
import { listPart } from './connected-parts';
import { isShared, joinLinks } from './join-parts';
import {
  FAR_NEIGHBOUR, FAR_NEIGHBOUR_BYTES, NEIGHBOURS_BYTES, derivedBytes, derivedOf, farNeighboursAt, neighboursAt,
} from './derived-layout';

/** Denotes that no other triangle has the edge in the opposite direction. */
export const NO_NEIGHBOUR: u32 = 0xffffffff;

/** Marks a link that contains the neighbour's slot; no mesh has that many slots. */
const MATCHED: u32 = 0x80000000;
/** The most pending edges that are examined at one vertex: a thousand triangles in the same place have no neighbours. */
const MAX_EXAMINED_EDGES: u32 = 64;
// Derivation.matching.
/** Edges are pending at the vertex of the higher number. */
const BY_NUMBER: u32 = 0;
/** The triangles of each vertex are counted. */
const COUNTING: u32 = 1;
/** Edges are pending at the vertex with fewer triangles, in lists only. */
const BY_DEGREE: u32 = 2;

/** How many vertices are prepared at a time: 36 KB. */
const VERTICES_PER_CLEAR: usize = 1024;
/**
 * The bytes of the first pending edges of a vertex: for each of four, the other vertex plus 1, shifted left by one, with
 * the direction in the lowest bit, 0 if unused; then their half edges, three times the slot plus the edge.
 */
const PENDING_EDGES_BYTES: usize = 32;
/** The largest difference of the slots of neighbours that fits into 16 bits, excluding 0 and FAR_NEIGHBOUR. */
const MAX_NEAR_DELTA: i32 = 32767;

// --- queries of a mesh ---

/**
 * Returns the slot of the triangle across edge 0 (a b), 1 (b c) or 2 (c a). That triangle may have lost its area since
 * vertices moved: see `isInTree`.
 */
// @ts-ignore: decorator
@inline
export function adjacentSlot(mesh: Mesh, slot: u32, edge: u32): u32 {
  return adjacentSlotIn(neighboursAt(derivedOf(mesh)), mesh, slot, edge);
}

/** Returns the same, given the address of the mesh's neighbours, for frequent calls. */
// @ts-ignore: decorator
@inline
export function adjacentSlotIn(neighbours: usize, mesh: Mesh, slot: u32, edge: u32): u32 {
  const delta = load<i16>(neighbours + <usize>slot * NEIGHBOURS_BYTES + (<usize>edge << 1));
  if (delta == 0) return NO_NEIGHBOUR;
  return delta == FAR_NEIGHBOUR ? findFar(mesh, (slot << 2) + edge) : slot + <i32>delta;
}

/** Returns whether the triangle of a slot has an area. */
// @ts-ignore: decorator
@inline
export function isInTree(mesh: Mesh, slot: u32): bool {
  return triangleOf(blockAt(mesh, slot >> 2), slot & 3) >= 0;
}

/** Finds a far neighbour by bisection of the list. */
function findFar(mesh: Mesh, halfEdge: u32): u32 {
  const derived = derivedOf(mesh);
  const list = farNeighboursAt(mesh, derived);
  let low: u32 = 0, high = derived.farCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = list + <usize>middle * FAR_NEIGHBOUR_BYTES;
    const key = load<u32>(at);
    if (key == halfEdge) return load<u32>(at, 4);
    if (key < halfEdge) low = middle + 1;
    else high = middle;
  }
  return NO_NEIGHBOUR;
}

/** Returns the address of the first corner's x in the slot's block. */
// @ts-ignore: decorator
@inline
export function cornersOf(mesh: Mesh, slot: u32): usize {
  return changetype<usize>(blockAt(mesh, slot >> 2)) + (<usize>(slot & 3) << 2);
}

// --- derivation ---

/** Returns the slot across an edge, or NO_NEIGHBOUR, after all edges were matched. */
// @ts-ignore: decorator
@inline
export function matchOf(d: Derivation, slot: u32, edge: u32): u32 {
  const link = load<u32>(d.links + (<usize>slot * 3 + edge << 2));
  return link & MATCHED ? link & ~MATCHED : NO_NEIGHBOUR;
}

export function beginMatching(d: Derivation): void {
  d.heads = reserve(d.heads, 0, <u64>d.vertexCount << 2);
  d.pendingEdges = reserve(d.pendingEdges, 0, <u64>d.vertexCount * PENDING_EDGES_BYTES);
  d.clearedCount = 0;
  d.links = reserve(d.links, 0, <u64>meshOf(d).blockCount * 48);
  if (d.secondPart != 0) joinLinks(d, MATCHED);
  if (d.matching != COUNTING) return;
  d.degrees = allocate(<u64>d.vertexCount << 2);
  memory.fill(d.degrees, 0, <usize>d.vertexCount << 2);
}

/** Prepares the entries of more vertices just before they are needed, so that they are in the nearest cache. */
function clearMore(d: Derivation): void {
  const start = <usize>d.clearedCount, count = min<usize>(VERTICES_PER_CLEAR, <usize>d.vertexCount - start);
  memory.fill(d.pendingEdges + start * PENDING_EDGES_BYTES, 0, count * PENDING_EDGES_BYTES);
  memory.fill(d.heads + (start << 2), 0, count << 2);
  d.clearedCount += <u32>count;
}

/** Matches the edges of blocks from `start` to `end` with each other and with earlier ones. */
export function matchBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    if (d.secondPart == 0 || index < d.cutBlock) clearLinks(d, index);
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      const a = vertexOf(d, slot, 0), b = vertexOf(d, slot, 1), c = vertexOf(d, slot, 2);
      if (d.matching == COUNTING) {
        increment(d, a);
        increment(d, b);
        increment(d, c);
        continue;
      }
      // A triangle has at most three new vertices.
      if (max(max(a, b), c) >= d.clearedCount) clearMore(d);
      listPart(d, slot, a);
      let from = a;
      for (let edge: u32 = 0; edge < 3; edge++) {
        const to = edge == 0 ? b : edge == 1 ? c : a;
        if (isMatchedHere(d, slot, edge, from, to)) match(d, slot, edge, from, to);
        from = to;
      }
    }
  }
}

function increment(d: Derivation, vertex: u32): void {
  const at = d.degrees + (<usize>vertex << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** Returns whether all edges must be matched again; `wasJoined`: another builder had matched some of them. */
export function mustRematch(d: Derivation, wasJoined: bool): bool {
  if (d.matching == COUNTING) d.matching = BY_DEGREE;
  else if (!d.isCrowded || d.matching == BY_DEGREE) return false;
  // If a joined part is crowded as well, match by number once more first: two builders may have examined other pending
  // edges than one would.
  else if (!wasJoined) d.matching = COUNTING;
  d.isCrowded = 0;
  return true;
}

/** Returns whether this builder matches the edge. */
// @ts-ignore: decorator
@inline
function isMatchedHere(d: Derivation, slot: u32, edge: u32, from: u32, to: u32): bool {
  if (d.isPart) {
    if (!isShared(d, from, to)) return true;
    store<u32>(d.links + (<usize>slot * 3 + edge << 2), 0);
    return false;
  }
  return d.secondPart == 0 || slot >> 2 < d.cutBlock || isShared(d, from, to);
}

/**
 * Matches an edge with the opposite one, or stores it as pending. The same lines do both, without branches: the stores
 * of the one have no effect for the other.
 */
// @ts-ignore: decorator
@inline
function match(d: Derivation, slot: u32, edge: u32, from: u32, to: u32): void {
  const halfEdge = slot * 3 + edge, ownLink = d.links + (<usize>halfEdge << 2);
  const end = max(from, to), key = (min(from, to) + 1 << 1) + u32(from < to);
  const at = d.pendingEdges + <usize>end * PENDING_EDGES_BYTES, keys = v128.load(at);
  const oppositeLanes = i32x4.bitmask(i32x4.eq(keys, i32x4.splat(key ^ 1))), hasOpposite = oppositeLanes != 0;
  const lanes = select(oppositeLanes, i32x4.bitmask(i32x4.eq(keys, i32x4.splat(0))), hasOpposite);
  // Of two equal half edges the first is matched first, so everything behind an equal one goes to the lists, too.
  const equalEdges = i32x4.bitmask(i32x4.eq(keys, i32x4.splat(key))) | load<u32>(d.heads + (<usize>end << 2));
  if (lanes == 0 || select(0, equalEdges, hasOpposite) != 0 || from == to || d.matching != BY_NUMBER) {
    matchListed(d, slot, edge, from, to);
    return;
  }
  const lane = <u32>ctz(lanes), other = load<u32>(at + (<usize>lane << 2), 16);
  const isLane = i32x4.eq(i32x4(0, 1, 2, 3), i32x4.splat(lane));
  v128.store(at, v128.bitselect(i32x4.splat(select(0, key, hasOpposite)), keys, isLane));
  store<u32>(at + (<usize>lane << 2), halfEdge, 16);
  store<u32>(ownLink, select(MATCHED | other / 3, 0, hasOpposite));
  store<u32>(select(d.links + (<usize>other << 2), ownLink, hasOpposite), select(MATCHED | slot, 0, hasOpposite));
}

/** Matches an edge whose opposite half edge may be pending in a list, after all those stored at the vertex itself. */
function matchListed(d: Derivation, slot: u32, edge: u32, from: u32, to: u32): void {
  const degreeFrom = load<u32>(d.degrees + (<usize>from << 2)), degreeTo = load<u32>(d.degrees + (<usize>to << 2));
  const isAtFrom = d.matching == BY_DEGREE ? degreeFrom < degreeTo || (degreeFrom == degreeTo && from < to) : from > to;
  let at = d.heads + (<usize>(isAtFrom ? from : to) << 2);
  const ownLink = d.links + (<usize>slot * 3 + edge << 2);
  for (let examined: u32 = 0; examined < MAX_EXAMINED_EDGES; examined++) {
    if (examined == MAX_EXAMINED_EDGES / 2 - 1) d.isCrowded = 1;
    const pending = load<u32>(at);
    if (pending == 0) {
      store<u32>(at, (slot << 2) + edge + 1);
      break;
    }
    const other = (pending - 1) >> 2, otherEdge = (pending - 1) & 3;
    const link = d.links + (<usize>other * 3 + otherEdge << 2);
    if (vertexOf(d, other, otherEdge) == to && vertexOf(d, other, otherEdge == 2 ? 0 : otherEdge + 1) == from) {
      store<u32>(at, load<u32>(link));
      store<u32>(link, MATCHED | slot);
      store<u32>(ownLink, MATCHED | other);
      return;
    }
    at = link;
  }
  store<u32>(ownLink, 0);
}

// The links of a block are three vectors of four.

/** Returns links from slots, beginning with a block's first one plus `laneOffsets`, to themselves. */
// @ts-ignore: decorator
@inline
function ownLinks(index: u32, laneOffsets: v128): v128 {
  return i32x4.add(i32x4.splat(index << 2 | MATCHED), laneOffsets);
}

/** Links the slots of a block to themselves; slots without a triangle keep this. */
function clearLinks(d: Derivation, index: u32): void {
  const at = d.links + <usize>index * 48;
  v128.store(at, ownLinks(index, i32x4(0, 0, 0, 1)));
  v128.store(at, ownLinks(index, i32x4(1, 1, 2, 2)), 16);
  v128.store(at, ownLinks(index, i32x4(2, 3, 3, 3)), 32);
}

/** Returns the difference of slots for each link; 0 if it leads nowhere. */
// @ts-ignore: decorator
@inline
function stepsOf(links: v128, index: u32, laneOffsets: v128): v128 {
  return v128.and(i32x4.sub(links, ownLinks(index, laneOffsets)), i32x4.shr_s(links, 31));
}

// @ts-ignore: decorator
@inline
function isFar(steps: v128): v128 {
  return i32x4.gt_s(i32x4.abs(steps), i32x4.splat(MAX_NEAR_DELTA));
}

// @ts-ignore: decorator
@inline
function bitsOf(a: v128, b: v128, c: v128): u32 {
  return i32x4.bitmask(a) | i32x4.bitmask(b) << 4 | i32x4.bitmask(c) << 8;
}

/** Frees the pending edges, and allocates a result that only has the neighbours. Throws OUT_OF_MEMORY. */
export function beginNeighbours(d: Derivation): void {
  freePending(d);
  d.result = allocate(derivedBytes(meshOf(d), 0, 0, 0));
}

/**
 * Writes the neighbours of blocks from `start` to `end` into the result. Lists neighbours that are too many slots away
 * for 16 bits, and edges without a neighbour.
 */
export function writeNeighbours(d: Derivation, start: u32, end: u32): void {
  let to = neighboursAt(resultOf(d)) + <usize>start * 4 * NEIGHBOURS_BYTES;
  for (let index = start, at = d.links + <usize>start * 48; index < end; index++, at += 48, to += 4 * NEIGHBOURS_BYTES) {
    const first = v128.load(at), middle = v128.load(at, 16), last = v128.load(at, 32);
    const a = stepsOf(first, index, i32x4(0, 0, 0, 1)), b = stepsOf(middle, index, i32x4(1, 1, 2, 2));
    const c = stepsOf(last, index, i32x4(2, 3, 3, 3));
    v128.store(to, i16x8.narrow_i32x4_s(a, b));
    v128.store64_lane(to, i16x8.narrow_i32x4_s(c, c), 0, 16);
    const farBits = bitsOf(isFar(a), isFar(b), isFar(c)), listedBits = farBits | ~bitsOf(first, middle, last) & 0xfff;
    for (let remaining = listedBits; remaining != 0; remaining &= remaining - 1) {
      const halfEdge = <u32>ctz(remaining), lane = halfEdge / 3, edge = halfEdge % 3;
      if (farBits >> halfEdge & 1) {
        store<i16>(to + <usize>(halfEdge << 1), FAR_NEIGHBOUR);
        addFar(d, (index << 4) + (lane << 2) + edge, load<u32>(at + <usize>(halfEdge << 2)) & ~MATCHED);
      } else addOpen(d, triangleOf(blockAt(meshOf(d), index), lane) * 3 + edge);
    }
  }
}

/** Lists a neighbour that does not fit into 16 bits. */
function addFar(d: Derivation, halfEdge: u32, slot: u32): void {
  const used = <usize>(d.farCount++) * FAR_NEIGHBOUR_BYTES;
  d.farNeighbours = reserve(d.farNeighbours, used, <u64>used + FAR_NEIGHBOUR_BYTES);
  store<u32>(d.farNeighbours + used, halfEdge);
  store<u32>(d.farNeighbours + used, slot, 4);
}

/** Counts an edge without a neighbour, and lists it, if requested, as three times its triangle plus its number there. */
function addOpen(d: Derivation, edge: u32): void {
  const used = <usize>(d.openCount++) << 2;
  if (!d.asksWhetherClosed) return;
  d.openEdges = reserve(d.openEdges, used, <u64>used + 4);
  store<u32>(d.openEdges + used, edge);
}
