// Which triangles of a mesh share an edge. Half edges are matched in lists at one end of their edge, at that of the
// fewer triangles: so however many triangles meet in a vertex, all lists together are linear in the edges of a surface
// (Chiba and Nishizeki, "Arboricity and Subgraph Listing Algorithms", 1985). Edges are the same where the positions of
// their ends are. Exact; where more than two triangles share an edge, those are neighbours that come first in the tree.

import { reserve } from '../../memory';
import { Mesh, blockAt, filledLanes, triangleOf } from '../tree/layout';
import { Derivation, meshOf, resultOf, vertexOf } from './derivation-state';
import { isShared, joinLinks } from './join-parts';
import { FAR, FAR_BYTES, NEIGHBOURS_BYTES, derivedOf, farAt, neighboursAt } from './derived-layout';

/** Stands for the slot beyond an edge that no other triangle has in the opposite direction. */
export const NO_NEIGHBOUR: u32 = 0xffffffff;

/** Marks a link that has the neighbour's slot; no mesh has that many slots. */
export const MATCHED: u32 = 0x80000000;
/**
 * The most edges that wait at one vertex and are looked at: a thousand triangles at the same place have no neighbours.
 */
const PATIENCE: u32 = 64;
/** The most slots from a triangle to a neighbour that 16 bits hold, 0 and FAR excepted. */
const REACH: i32 = 32767;

// --- in the mesh ---

/**
 * Answers the slot whose triangle is beyond edge 0 (a b), 1 (b c) or 2 (c a). The triangle may have no area since the
 * vertices moved: `isInTree` tells.
 */
// @ts-ignore: decorator
@inline
export function slotBeyond(mesh: Mesh, slot: u32, edge: u32): u32 {
  return slotBeyondIn(neighboursAt(derivedOf(mesh)), mesh, slot, edge);
}

/** Answers the same; `neighbours` is where those of the mesh begin, for who asks often. */
// @ts-ignore: decorator
@inline
export function slotBeyondIn(neighbours: usize, mesh: Mesh, slot: u32, edge: u32): u32 {
  const delta = load<i16>(neighbours + <usize>slot * NEIGHBOURS_BYTES + (<usize>edge << 1));
  if (delta == 0) return NO_NEIGHBOUR;
  return delta == FAR ? findFar(mesh, (slot << 2) + edge) : slot + <i32>delta;
}

/** Tells whether the triangle of a slot has an area. */
// @ts-ignore: decorator
@inline
export function isInTree(mesh: Mesh, slot: u32): bool {
  return triangleOf(blockAt(mesh, slot >> 2), slot & 3) >= 0;
}

/** Finds a far neighbour by bisection of the list. */
function findFar(mesh: Mesh, halfEdge: u32): u32 {
  const derived = derivedOf(mesh);
  const list = farAt(mesh, derived);
  let low: u32 = 0, high = derived.farCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = list + <usize>middle * FAR_BYTES;
    const key = load<u32>(at);
    if (key == halfEdge) return load<u32>(at, 4);
    if (key < halfEdge) low = middle + 1;
    else high = middle;
  }
  return NO_NEIGHBOUR;
}

/** Answers the address of the first corner's x in the slot's block. */
// @ts-ignore: decorator
@inline
export function cornersOf(mesh: Mesh, slot: u32): usize {
  return changetype<usize>(blockAt(mesh, slot >> 2)) + (<usize>(slot & 3) << 2);
}

// --- in a derivation ---

/** Answers the slot beyond an edge, or NO_NEIGHBOUR, after all edges were matched. */
// @ts-ignore: decorator
@inline
export function matchOf(d: Derivation, slot: u32, edge: u32): u32 {
  const link = load<u32>(d.links + (<usize>slot * 3 + edge << 2));
  return link & MATCHED ? link & ~MATCHED : NO_NEIGHBOUR;
}

export function beginMatching(d: Derivation): void {
  d.heads = reserve(d.heads, 0, <u64>d.vertexCount << 2);
  memory.fill(d.heads, 0, <usize>d.vertexCount << 2);
  d.links = reserve(d.links, 0, <u64>meshOf(d).blockCount * 48);
  if (d.part != 0) joinLinks(d, MATCHED);
}

/** Matches the edges of blocks from `start` to `end` with each other and with those before. */
export function matchBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      const a = vertexOf(d, slot, 0), b = vertexOf(d, slot, 1), c = vertexOf(d, slot, 2);
      matchEdge(d, slot, 0, a, b);
      matchEdge(d, slot, 1, b, c);
      matchEdge(d, slot, 2, c, a);
    }
  }
}

/** Matches an edge, if that is this builder's. */
// @ts-ignore: decorator
@inline
function matchEdge(d: Derivation, slot: u32, edge: u32, from: u32, to: u32): void {
  if (d.isPart) {
    if (isShared(d, from, to)) store<u32>(d.links + (<usize>slot * 3 + edge << 2), 0);
    else match(d, slot, edge, from, to);
  } else if (d.part == 0 || slot >> 2 < d.cutBlock || isShared(d, from, to)) match(d, slot, edge, from, to);
}

function match(d: Derivation, slot: u32, edge: u32, from: u32, to: u32): void {
  const degreeFrom = load<u32>(d.degrees + (<usize>from << 2)), degreeTo = load<u32>(d.degrees + (<usize>to << 2));
  const isAtFrom = degreeFrom < degreeTo || (degreeFrom == degreeTo && from < to);
  let at = d.heads + (<usize>(isAtFrom ? from : to) << 2);
  const own = d.links + (<usize>slot * 3 + edge << 2);
  for (let tried: u32 = 0; tried < PATIENCE; tried++) {
    if (tried == PATIENCE / 2 - 1) d.isCrowded = 1;
    const waiting = load<u32>(at);
    if (waiting == 0) {
      store<u32>(at, (slot << 2) + edge + 1);
      break;
    }
    const other = (waiting - 1) >> 2, otherEdge = (waiting - 1) & 3;
    const link = d.links + (<usize>other * 3 + otherEdge << 2);
    if (vertexOf(d, other, otherEdge) == to && vertexOf(d, other, otherEdge == 2 ? 0 : otherEdge + 1) == from) {
      store<u32>(at, load<u32>(link));
      store<u32>(link, MATCHED | slot);
      store<u32>(own, MATCHED | other);
      return;
    }
    at = link;
  }
  store<u32>(own, 0);
}

/** Counts edges without a neighbour, and neighbours too many slots away for 16 bits. */
export function countBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const slot = (index << 2) + <u32>ctz(lanes);
      for (let edge: u32 = 0; edge < 3; edge++) {
        const other = matchOf(d, slot, edge);
        if (other == NO_NEIGHBOUR) addOpen(d, triangleOf(blockAt(mesh, index), slot & 3) * 3 + edge);
        else if (isFar(slot, other)) d.farCount++;
      }
    }
  }
}

/** Counts an edge without a neighbour, and lists it by three times its triangle and its number there where that is asked for. */
function addOpen(d: Derivation, edge: u32): void {
  const used = <usize>(d.openCount++) << 2;
  if (!d.asksWhetherClosed) return;
  d.openEdges = reserve(d.openEdges, used, <u64>used + 4);
  store<u32>(d.openEdges + used, edge);
}

// @ts-ignore: decorator
@inline
function isFar(slot: u32, other: u32): bool {
  return abs(<i32>(other - slot)) > REACH;
}

/** Writes the neighbours of blocks from `start` to `end` into the result. */
export function writeNeighbours(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  const derived = resultOf(d);
  const far = farAt(mesh, derived);
  for (let index = start; index < end; index++) {
    const to = neighboursAt(derived) + <usize>index * 4 * NEIGHBOURS_BYTES;
    memory.fill(to, 0, 4 * NEIGHBOURS_BYTES);
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const lane = <u32>ctz(lanes), slot = (index << 2) + lane;
      for (let edge: u32 = 0; edge < 3; edge++) {
        const other = matchOf(d, slot, edge);
        if (other == NO_NEIGHBOUR) continue;
        const at = to + <usize>lane * NEIGHBOURS_BYTES + (<usize>edge << 1);
        if (!isFar(slot, other)) {
          store<i16>(at, <i16>(other - slot));
          continue;
        }
        store<i16>(at, FAR);
        store<u32>(far + <usize>d.farDone * FAR_BYTES, (slot << 2) + edge);
        store<u32>(far + <usize>d.farDone * FAR_BYTES, other, 4);
        d.farDone++;
      }
    }
  }
}
