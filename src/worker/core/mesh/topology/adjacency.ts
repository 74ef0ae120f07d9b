// Which triangles of a mesh share an edge, and whether they enclose anything. Triangles go by slots here: four times
// the block's index and the lane. Edges are the same where the positions of their ends are.

import { allocate, release } from '../../memory';
import { BLOCK_BYTES, Mesh, blockAt, triangleOf } from '../tree/layout';

/** Beyond an edge that no other triangle has in the opposite direction. */
export const NO_NEIGHBOUR: u32 = 0xffffffff;

/** f64: 1 where the faces turn out, -1 where they turn in, 0 where there is no inside. Then three u32 each slot. */
const HEAD: usize = 16;
const SLOT_BYTES: usize = 12;

/**
 * The neighbours, found when first asked for (Euler's directed edges in a hash table). Throws OUT_OF_MEMORY; the mesh
 * is as it was then.
 */
export function adjacencyOf(mesh: Mesh): usize {
  if (mesh.adjacency != 0) return mesh.adjacency;
  const slots = mesh.blockCount << 2;
  let size: u32 = 16;
  while (size < slots * 4) size <<= 1;
  release(edges); // where memory ran out the last time
  edges = 0;
  edges = allocate(<u64>size << 2);
  const table = allocate(HEAD + <u64>slots * SLOT_BYTES);
  memory.fill(table + HEAD, 0xff, <usize>slots * SLOT_BYTES);
  memory.fill(edges, 0xff, <usize>size << 2);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(blockAt(mesh, index), lane) >= 0) join(mesh, table, (index << 2) + lane, size - 1);
    }
  }
  release(edges);
  edges = 0;
  store<f64>(table, facingOf(mesh));
  mesh.adjacency = <u32>table;
  return table;
}

/** Which triangle is beyond edge 0 (a b), 1 (b c) or 2 (c a). */
// @ts-ignore: decorator
@inline
export function neighbourOf(adjacency: usize, slot: u32, edge: u32): u32 {
  return load<u32>(adjacency + HEAD + <usize>slot * SLOT_BYTES + (<usize>edge << 2));
}

/** 1 where the faces turn out of what they enclose, -1 where they turn into it, 0 where they enclose nothing. */
// @ts-ignore: decorator
@inline
export function facing(adjacency: usize): f64 {
  return load<f64>(adjacency);
}

// Slots and edges that wait for their other side, by the hash of both ends; open addressing.
let edges: usize = 0;
/** Of entries with the same hash that are looked at: a thousand triangles at the same place are nobody's neighbours. */
const PATIENCE: u32 = 64;

function join(mesh: Mesh, table: usize, slot: u32, mask: u32): void {
  const at = cornersOf(mesh, slot);
  const a = hashOf(at), b = hashOf(at + 48), c = hashOf(at + 96);
  joinEdge(mesh, table, slot, 0, a + b, mask);
  joinEdge(mesh, table, slot, 1, b + c, mask);
  joinEdge(mesh, table, slot, 2, c + a, mask);
}

function joinEdge(mesh: Mesh, table: usize, slot: u32, edge: u32, hash: u32, mask: u32): void {
  const from = cornersOf(mesh, slot) + <usize>edge * 48;
  const to = cornersOf(mesh, slot) + (edge == 2 ? 0 : <usize>edge * 48 + 48);
  let place = (hash ^ (hash >> 15)) & mask;
  for (let tried: u32 = 0; tried < PATIENCE; tried++) {
    const entry = load<u32>(edges + (<usize>place << 2));
    if (entry == NO_NEIGHBOUR) {
      store<u32>(edges + (<usize>place << 2), (slot << 2) + edge);
      return;
    }
    const other = entry >> 2, otherEdge = entry & 3;
    const otherFrom = cornersOf(mesh, other) + <usize>otherEdge * 48;
    const otherTo = cornersOf(mesh, other) + (otherEdge == 2 ? 0 : <usize>otherEdge * 48 + 48);
    if (neighbourOf(table, other, otherEdge) == NO_NEIGHBOUR && isSame(from, otherTo) && isSame(to, otherFrom)) {
      store<u32>(table + HEAD + <usize>slot * SLOT_BYTES + (<usize>edge << 2), other);
      store<u32>(table + HEAD + <usize>other * SLOT_BYTES + (<usize>otherEdge << 2), slot);
      return;
    }
    place = (place + 1) & mask;
  }
}

/** Of the first corner's x in the slot's block. */
// @ts-ignore: decorator
@inline
export function cornersOf(mesh: Mesh, slot: u32): usize {
  return changetype<usize>(mesh) + mesh.blocks + (slot >> 2) * <u32>BLOCK_BYTES + (<usize>(slot & 3) << 2);
}

// @ts-ignore: decorator
@inline
function isSame(p: usize, q: usize): bool {
  return load<f32>(p) == load<f32>(q) && load<f32>(p, 16) == load<f32>(q, 16) && load<f32>(p, 32) == load<f32>(q, 32);
}

/** Of a corner's position; -0 is 0. */
// @ts-ignore: decorator
@inline
function hashOf(at: usize): u32 {
  let hash = reinterpret<u32>(load<f32>(at) + <f32>0) * 0x9e3779b1;
  hash = ((hash ^ (hash >> 15)) + reinterpret<u32>(load<f32>(at, 16) + <f32>0)) * 0x85ebca77;
  hash = ((hash ^ (hash >> 13)) + reinterpret<u32>(load<f32>(at, 32) + <f32>0)) * 0xc2b2ae3d;
  return hash ^ (hash >> 16);
}

/**
 * The areas' vectors of what is closed sum up to nothing; of a surface that has holes, to no more than these. Its faces
 * turn out where its volume is positive.
 */
const HOLES: f64 = 0.05;

function facingOf(mesh: Mesh): f64 {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0, area: f64 = 0, volume: f64 = 0;
  // About a corner of the mesh, so that no digits are lost to a place far away.
  const origin = cornersOf(mesh, 0);
  const ox = <f64>load<f32>(origin), oy = <f64>load<f32>(origin, 16), oz = <f64>load<f32>(origin, 32);
  for (let slot: u32 = 0, end = mesh.blockCount << 2; slot < end; slot++) {
    if (triangleOf(blockAt(mesh, slot >> 2), slot & 3) < 0) continue;
    const at = cornersOf(mesh, slot);
    const ax = <f64>load<f32>(at) - ox, ay = <f64>load<f32>(at, 16) - oy, az = <f64>load<f32>(at, 32) - oz;
    const ex = <f64>load<f32>(at, 48) - ox - ax;
    const ey = <f64>load<f32>(at, 64) - oy - ay;
    const ez = <f64>load<f32>(at, 80) - oz - az;
    const fx = <f64>load<f32>(at, 96) - ox - ax;
    const fy = <f64>load<f32>(at, 112) - oy - ay;
    const fz = <f64>load<f32>(at, 128) - oz - az;
    const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
    x += nx;
    y += ny;
    z += nz;
    area += sqrt(nx * nx + ny * ny + nz * nz);
    volume += nx * ax + ny * ay + nz * az;
  }
  if (sqrt(x * x + y * y + z * z) > HOLES * area || volume == 0) return 0;
  return volume > 0 ? 1 : -1;
}
