// Welds the corners of a mesh: those at the same position become one vertex; and unites the vertices of each triangle.
// Exact; tree space.

import { mix } from '../../math/hash';
import { allocate, reserve } from '../../memory';
import { blockAt, filledLanes, triangleOf } from '../tree/layout';
import { uniteVertices } from './connected-parts';
import { Derivation, STEP, meshOf } from './derivation-state';

export const VERTEX_BYTES: usize = 16;

export function beginWeld(d: Derivation): void {
  const mesh = meshOf(d);
  const corners = mesh.keptCount * 3;
  // A mesh with more vertices than corners has many that no triangle uses.
  const isByIndex = mesh.indexed != 0 && mesh.vertexCount <= corners;
  if (d.corners == 0) d.corners = allocate(<u64>mesh.blockCount * 48);
  let capacity: u32 = 16;
  const maxVertices: u64 = isByIndex ? mesh.vertexCount : corners;
  while (<u64>capacity < maxVertices) capacity <<= 1;
  d.tableMask = capacity - 1;
  // The table is followed by the filter, with at least eight bits per vertex: less than one lookup in eight is in vain.
  d.table = allocate(<u64>capacity * 5);
  memory.fill(d.table, 0, <usize>capacity * 5);
  d.addedVertices = allocate(STEP * 48);
  if (!isByIndex) return;
  d.vertexOfIndex = allocate(<u64>mesh.vertexCount << 2);
  memory.fill(d.vertexOfIndex, 0, <usize>mesh.vertexCount << 2);
}

/**
 * Welds the corners of blocks from `start` to `end`, at most STEP, and unites the vertices of their triangles. First,
 * each index without a vertex, or each corner of a mesh without indices, gets one; then those at the same position
 * become one. As two separate loops, this takes four fifths of the time.
 */
export function weldBlocks(d: Derivation, start: u32, end: u32): void {
  const first = d.vertexCount, maxCount = first + (end - start) * 12;
  d.vertices = reserve(d.vertices, <usize>first * VERTEX_BYTES, <u64>maxCount * VERTEX_BYTES);
  d.next = reserve(d.next, <usize>first << 2, <u64>maxCount << 2);
  d.parents = reserve(d.parents, <usize>first << 2, <u64>maxCount << 2);
  const count = addCorners(d, start, end, first);
  insertVertices(d, first, count);
  uniteCorners(d, start, end, first, count);
}

/**
 * Adds a vertex for each index without one, or for each corner of a mesh without indices, from `first` on. Returns how
 * many.
 */
function addCorners(d: Derivation, start: u32, end: u32, first: u32): u32 {
  const mesh = meshOf(d);
  const indices = changetype<usize>(mesh) + mesh.indices, vertexOfIndex = d.vertexOfIndex, corners = d.corners,
    addedVertices = d.addedVertices;
  let position = d.vertices + <usize>first * VERTEX_BYTES, count: u32 = 0;
  for (let index = start; index < end; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      const lane = <u32>ctz(lanes);
      let at = changetype<usize>(block) + (<usize>lane << 2);
      const to = corners + <usize>((index << 2) + lane) * 12;
      const from = d.areIndices ? to : indices + <usize>triangleOf(block, lane) * 12;
      for (let k: usize = 0; k < 12; k += 4, at += 48) {
        if (vertexOfIndex != 0) {
          const i = load<u32>(from + k), vertexAddress = vertexOfIndex + (<usize>i << 2), vertex = load<u32>(vertexAddress);
          if (vertex != 0) {
            store<u32>(to + k, vertex - 1);
            continue;
          }
          store<u32>(addedVertices + (<usize>count << 2), i);
          store<u32>(vertexAddress, first + count + 1);
        }
        store<u32>(to + k, first + count++);
        v128.store(position, f32x4.add(f32x4(load<f32>(at), load<f32>(at, 16), load<f32>(at, 32), 0), f32x4.splat(0)));
        position += VERTEX_BYTES;
      }
    }
  }
  return count;
}

/** Replaces vertices that were welded to others, and unites those of each triangle. */
function uniteCorners(d: Derivation, start: u32, end: u32, first: u32, count: u32): void {
  const mesh = meshOf(d), corners = d.corners, addedVertices = d.addedVertices;
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      const at = corners + <usize>((index << 2) + <u32>ctz(lanes)) * 12;
      if (d.vertexCount < first + count) {
        for (let k: usize = 0; k < 12; k += 4) {
          const i = load<u32>(at + k) - first;
          if (i < count) store<u32>(at + k, load<u32>(addedVertices + (<usize>i << 2)));
        }
      }
      const a = load<u32>(at);
      uniteVertices(d, a, load<u32>(at, 4));
      uniteVertices(d, a, load<u32>(at, 8));
    }
  }
}

/**
 * Inserts `count` vertices from `first` on into the table, except for those at the position of another one. Sets `addedVertices`
 * to the resulting vertex of each.
 */
function insertVertices(d: Derivation, first: u32, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const position = v128.load(d.vertices + <usize>(first + i) * VERTEX_BYTES);
    let entry = findVertex(d, position);
    if (entry == 0) {
      const vertex = <usize>d.vertexCount, head = d.table + (<usize>(<u32>hash & d.tableMask) << 2), byte = filterByte(d);
      v128.store(d.vertices + vertex * VERTEX_BYTES, position);
      store<u32>(d.next + (vertex << 2), load<u32>(head));
      store<u32>(d.parents + (vertex << 2), <u32>vertex);
      entry = ++d.vertexCount;
      store<u32>(head, entry);
      store<u8>(byte, <u8>(<u32>load<u8>(byte) | filterBit()));
    }
    const at = d.addedVertices + (<usize>i << 2);
    if (d.vertexOfIndex != 0) store<u32>(d.vertexOfIndex + (<usize>load<u32>(at) << 2), entry);
    store<u32>(at, entry - 1);
  }
}

/** The hash of the last position that was looked up. */
let hash: u64 = 0;

/** Returns the address of the filter's byte for the hash. */
// @ts-ignore: decorator
@inline
function filterByte(d: Derivation): usize {
  return d.table + (<usize>d.tableMask + 1 << 2) + <usize>(<u32>(hash >> 35) & d.tableMask);
}

// @ts-ignore: decorator
@inline
function filterBit(): u32 {
  return 1 << (<u32>(hash >> 32) & 7);
}

/** Returns one more than the vertex at a position; 0 if there is none. */
export function findVertex(d: Derivation, position: v128): u32 {
  hash = mix(mix(<u64>i64x2.extract_lane(position, 0)) + <u64>i64x2.extract_lane(position, 1));
  // Most positions are new. The filter tells so from the nearer caches, and no load of the table has to be waited for:
  // the corners of the full dragon are welded in 0.8 of the time of open addressing, on a busy machine.
  if ((<u32>load<u8>(filterByte(d)) & filterBit()) == 0) return 0;
  let entry = load<u32>(d.table + (<usize>(<u32>hash & d.tableMask) << 2));
  while (entry != 0) {
    if (i32x4.all_true(f32x4.eq(v128.load(d.vertices + <usize>(entry - 1) * VERTEX_BYTES), position))) break;
    entry = load<u32>(d.next + (<usize>(entry - 1) << 2));
  }
  return entry;
}
