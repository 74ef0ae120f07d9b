// A derivation that two builders share. The second one welds, unites and matches the triangles of the second part of a
// tree, except for edges with an end that may also be in the first part. The first builder welds its own triangles, then
// joins the others: vertices get the same numbers, and triangles the same neighbours, as from a single builder.

import { unite } from '../../math/union-find';
import { allocate, release, reserve } from '../../memory';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf } from './derivation-state';
import { VERTEX_BYTES, findVertex } from './weld';

/** The state of the second part, in one piece of memory. It is followed by: vertices, parents, corners, links. */
@unmanaged
class PartDerived {
  vertexCount: u32;
  blockCount: u32;
  /** The size of the whole piece, at the same offset as in a mesh. */
  bytes: u32;
  /** 1 if more edges were pending at a vertex than half of MAX_EXAMINED_EDGES. */
  isCrowded: u32;
}

/** The bytes of the corners of a block, and of its links. */
const BLOCK_CORNERS_BYTES: usize = 48;
/** The bounds of a range of the first part: low and high. */
const BOX_BYTES: usize = 32;
/** Set in the last lane of a vertex that both parts may have. */
const IS_SHARED: f32 = 1;

// @ts-ignore: decorator
@inline
function vertexAt(vertices: usize, i: u32): usize {
  return vertices + <usize>i * VERTEX_BYTES;
}

// @ts-ignore: decorator
@inline
function isMarked(d: Derivation, vertex: u32): bool {
  return load<f32>(vertexAt(d.vertices, vertex), 12) != 0;
}

/** Marks the vertices of a second part that lie in the bounds of the first part's ranges. */
export function markShared(d: Derivation): void {
  for (let i: u32 = 0; i < d.vertexCount; i++) {
    const at = vertexAt(d.vertices, i), p = v128.load(at);
    for (let box = d.firstPartBoxes, end = box + <usize>d.firstPartBoxCount * BOX_BYTES; box < end; box += BOX_BYTES) {
      const within = v128.and(f32x4.ge(p, v128.load(box)), f32x4.le(p, v128.load(box, 16)));
      if ((i32x4.bitmask(within) & 7) == 7) store<f32>(at, IS_SHARED, 12);
    }
  }
}

/** Returns whether an edge is matched by the first builder only, because the first part may have it. */
// @ts-ignore: decorator
@inline
export function isShared(d: Derivation, a: u32, b: u32): bool {
  return a < d.firstVertexCount || b < d.firstVertexCount || isMarked(d, a) || isMarked(d, b);
}

/** Packs the state of a second part into one piece of memory. Throws OUT_OF_MEMORY. */
export function packPart(d: Derivation): usize {
  const count = d.vertexCount, blockCount = meshOf(d).blockCount;
  const bytes = <u64>offsetof<PartDerived>() + <u64>count * (VERTEX_BYTES + 4) + <u64>blockCount * (2 * BLOCK_CORNERS_BYTES);
  const address = allocate(bytes), part = changetype<PartDerived>(address);
  part.vertexCount = count;
  part.blockCount = blockCount;
  part.bytes = <u32>bytes;
  part.isCrowded = d.isCrowded;
  const vertices = verticesOf(part), words = <usize>count << 2, corners = <usize>blockCount * BLOCK_CORNERS_BYTES;
  memory.copy(vertices, d.vertices, <usize>count * VERTEX_BYTES);
  memory.copy(parentsOf(part), d.parents, words);
  memory.copy(cornersOf(part), d.corners, corners);
  memory.copy(cornersOf(part) + corners, d.links, corners);
  return address;
}

// @ts-ignore: decorator
@inline
function verticesOf(part: PartDerived): usize {
  return changetype<usize>(part) + offsetof<PartDerived>();
}

// @ts-ignore: decorator
@inline
function parentsOf(part: PartDerived): usize {
  return vertexAt(verticesOf(part), part.vertexCount);
}

// @ts-ignore: decorator
@inline
function cornersOf(part: PartDerived): usize {
  return parentsOf(part) + (<usize>part.vertexCount << 2);
}

// @ts-ignore: decorator
@inline
function partOf(d: Derivation): PartDerived {
  return changetype<PartDerived>(d.secondPart);
}

/**
 * Joins the vertices and the corners of a second part, which the derivation frees, after those of the first are welded.
 * Throws OUT_OF_MEMORY; the derivation then continues without it.
 */
export function joinPart(d: Derivation, address: usize): void {
  const part = changetype<PartDerived>(address), mesh = meshOf(d), count = part.vertexCount;
  const map = allocate(<u64>count << 2), firstCount = d.vertexCount;
  d.partVertexMap = map;
  d.vertices = reserve(d.vertices, <usize>firstCount * VERTEX_BYTES, (<u64>firstCount + count) * VERTEX_BYTES);
  d.parents = reserve(d.parents, <usize>firstCount << 2, (<u64>firstCount + count) << 2);
  d.secondPart = address;
  d.firstVertexCount = firstCount;
  for (let i: u32 = 0; i < count; i++) {
    const at = vertexAt(verticesOf(part), i);
    let vertex = load<f32>(at, 12) != 0 ? findVertex(d, f32x4.replace_lane(v128.load(at), 3, 0)) : 0;
    if (vertex == 0) {
      v128.store(vertexAt(d.vertices, d.vertexCount), v128.load(at));
      store<u32>(d.parents + (<usize>d.vertexCount << 2), d.vertexCount);
      vertex = ++d.vertexCount;
    }
    store<u32>(map + (<usize>i << 2), vertex - 1);
  }
  for (let i: u32 = 0; i < count; i++) {
    unite(d.parents, mapped(d, i), mapped(d, load<u32>(parentsOf(part) + (<usize>i << 2))));
  }
  const from = cornersOf(part), shift = (<usize>d.cutBlock) * BLOCK_CORNERS_BYTES;
  for (let index: u32 = 0; index < part.blockCount; index++) {
    for (let lanes = filledLanes(blockAt(mesh, d.cutBlock + index)); lanes != 0; lanes &= lanes - 1) {
      const at = <usize>((index << 2) + <u32>ctz(lanes)) * 12;
      for (let k: usize = 0; k < 12; k += 4) store<u32>(d.corners + shift + at + k, mapped(d, load<u32>(from + at + k)));
    }
  }
}

// @ts-ignore: decorator
@inline
function mapped(d: Derivation, vertex: u32): u32 {
  return load<u32>(d.partVertexMap + (<usize>vertex << 2));
}

/** Takes over the neighbours that the second builder has found. */
export function joinLinks(d: Derivation, matched: u32): void {
  const part = partOf(d), bytes = <usize>part.blockCount * BLOCK_CORNERS_BYTES;
  let at = cornersOf(part) + bytes, to = d.links + (<usize>d.cutBlock) * BLOCK_CORNERS_BYTES;
  for (const end = at + bytes; at < end; at += 4, to += 4) {
    const link = load<u32>(at);
    store<u32>(to, link & matched ? link + (d.cutBlock << 2) : 0);
  }
  d.isCrowded = part.isCrowded;
}

/** Frees the second part, and clears the marks of vertices that both parts may have. */
export function freePart(d: Derivation): void {
  release(d.partVertexMap);
  release(d.secondPart);
  d.partVertexMap = d.secondPart = 0;
  for (let i = d.firstVertexCount; i < d.vertexCount; i++) store<f32>(vertexAt(d.vertices, i), 0, 12);
  d.firstVertexCount = 0;
}
