// Welds the corners of a mesh: those in one place are one vertex. Exact; tree space.

import { mix } from '../../math/hash';
import { allocate, reserve } from '../../memory';
import { blockAt, filledLanes, triangleOf } from '../tree/layout';
import { Derivation, meshOf } from './derivation-state';

export const VERTEX_BYTES: usize = 16;

export function beginWeld(d: Derivation): void {
  const mesh = meshOf(d);
  const corners = mesh.keptCount * 3;
  // A mesh with more vertices than corners has many that no triangle has.
  const isByIndex = mesh.indexed != 0 && mesh.vertexCount <= corners;
  if (d.corners == 0) d.corners = allocate(<u64>mesh.blockCount * 48);
  let capacity: u32 = 16;
  const most: u64 = isByIndex ? mesh.vertexCount : corners;
  while (<u64>capacity < most) capacity <<= 1;
  d.tableMask = capacity - 1;
  // Behind the table is the filter, with eight bits for each vertex at least: less than one in eight is looked for in vain.
  d.table = allocate(<u64>capacity * 5);
  memory.fill(d.table, 0, <usize>capacity * 5);
  if (!isByIndex) return;
  d.vertices = allocate(<u64>mesh.vertexCount * VERTEX_BYTES);
  d.known = allocate(<u64>mesh.vertexCount << 2);
  memory.fill(d.known, 0, <usize>mesh.vertexCount << 2);
}

/** Welds the corners of blocks from `start` to `end`. */
export function weldBlocks(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  const indices = changetype<usize>(mesh) + mesh.indices;
  for (let index = start; index < end; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      const lane = <u32>ctz(lanes);
      const at = changetype<usize>(block) + (<usize>lane << 2);
      const to = d.corners + <usize>((index << 2) + lane) * 12;
      const from = indices + <usize>triangleOf(block, lane) * 12;
      for (let k: usize = 0; k < 3; k++) {
        let vertex: u32;
        if (d.known == 0) vertex = weld(d, at + k * 48);
        else vertex = weldIndexed(d, load<u32>((d.areIndices ? to : from) + (k << 2)), at + k * 48);
        store<u32>(to + (k << 2), vertex);
      }
    }
  }
}

function weldIndexed(d: Derivation, index: u32, corner: usize): u32 {
  const at = d.known + (<usize>index << 2);
  const known = load<u32>(at);
  if (known != 0) return known - 1;
  const vertex = weld(d, corner);
  store<u32>(at, vertex + 1);
  return vertex;
}

/** Answers the vertex at a corner's place: a new one the first time. */
function weld(d: Derivation, corner: usize): u32 {
  const position = f32x4.add(
    f32x4(load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), 0), f32x4.splat(0),
  );
  const entry = findVertex(d, position);
  if (entry != 0) return entry - 1;
  const vertex = d.vertexCount;
  d.vertices = reserve(d.vertices, <usize>vertex * VERTEX_BYTES, (<u64>vertex + 1) * VERTEX_BYTES);
  v128.store(d.vertices + <usize>vertex * VERTEX_BYTES, position);
  d.next = reserve(d.next, <usize>vertex << 2, (<u64>vertex + 1) << 2);
  const head = d.table + (<usize>(<u32>hash & d.tableMask) << 2);
  store<u32>(d.next + (<usize>vertex << 2), load<u32>(head));
  store<u32>(head, vertex + 1);
  const byte = filterByte(d);
  store<u8>(byte, <u8>(<u32>load<u8>(byte) | filterBit()));
  d.vertexCount = vertex + 1;
  return vertex;
}

/** The hash of the position that was looked for last. */
let hash: u64 = 0;

/** Answers where the filter has the bit of the hash. */
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

/** Answers the vertex at a place, and 1; 0 where there is none. */
export function findVertex(d: Derivation, position: v128): u32 {
  hash = mix(mix(<u64>i64x2.extract_lane(position, 0)) + <u64>i64x2.extract_lane(position, 1));
  // Most are new. That the filter says from the nearer caches, and nothing waits then for what the table has: the corners of the full
  // dragon are welded in 0.8 of the time that open addressing takes, on a busy machine.
  if ((<u32>load<u8>(filterByte(d)) & filterBit()) == 0) return 0;
  let entry = load<u32>(d.table + (<usize>(<u32>hash & d.tableMask) << 2));
  while (entry != 0) {
    if (i32x4.all_true(f32x4.eq(v128.load(d.vertices + <usize>(entry - 1) * VERTEX_BYTES), position))) break;
    entry = load<u32>(d.next + (<usize>(entry - 1) << 2));
  }
  return entry;
}
