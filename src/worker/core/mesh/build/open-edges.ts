// Analyses why a mesh is open: finds the edges that have more triangles on one side than on the other, and the smallest
// weld distance that would close the mesh. Edges are the same if the positions of their ends are; a hash of both ends
// represents them. It works in steps.
//
// Edges of triangles in the tree that have been matched (topology/adjacency.ts) have one triangle on each side. So only
// unmatched edges and those of triangles without an area are counted: of a terrain a thousandth of its edges.
//
// Welding maps vertices to fewer of them, which keeps opposite edges opposite. So if one distance closes the mesh, every
// greater one does, too, and the least is found by bisection; and only the open edges matter.

import { mix } from '../../math/hash';
import { allocate, release, reserve } from '../../memory';
import { Derivation } from '../topology/derivation-state';
import { Mesh } from '../tree/layout';
import { Weld, beginWeld, clusterOf, freeWeld, reserveTables, reserveWeld, stepWeld } from './weld';

@unmanaged
export class OpenEdges {
  positions: usize;
  indices: usize;
  /**
   * The edges of triangles in the tree that are examined, u32 each: three times the triangle plus the edge's number
   * there.
   */
  edges: usize;
  edgeCount: u32;
  /** The triangles without an area, u32 each. */
  flatCount: u32;
  flatTriangles: usize;
  /** The number of open edges; and the lowest of them, as three times its triangle plus its number there. */
  openCount: u32;
  exampleEdge: u32;
  /** The weld distance that closes the mesh, 0 if there is none. */
  closingDistance: f64;

  phase: u32;
  cursor: u32;
  /**
   * A hash table of edges: of a fraction of them per pass, so that it takes no more memory than the pending edges did, or
   * MIN_TABLE_ENTRIES.
   */
  table: usize;
  tableMask: u32;
  pass: u32;
  passShift: u32;
  // The ends of the open edges, f32 xyz each, two per edge; and the edges' surplus, i32.
  ends: usize;
  surplus: usize;
  listedCount: u32;
  pad: u32;
  welding: usize;
  // The distance that is tried, and the bounds between which the least one lies: one that closes the mesh and one that
  // does not.
  triedDistance: f64;
  minDistance: f64;
  maxDistance: f64;
  extent: f64;
}

@unmanaged
class Edge {
  hash: u64;
  /** The number of triangles on one side minus that on the other. */
  surplus: i32;
  edgeIndex: u32;
}

const PHASE_CLEAR = 0;
const PHASE_COUNT = 1;
const PHASE_LIST = 2;
const PHASE_WELD = 3;
const PHASE_DONE = 4;

/** Edges are examined in several passes only if the table would have more entries than this, 16 bytes each. */
const MIN_TABLE_ENTRIES: u32 = 1 << 21;
/** If more edges are open, no distance is searched: such a mesh is not open because of a seam. */
const MAX_SEAM_EDGES: u32 = 1 << 16;
/** The greatest distance that is tried, relative to the mesh's extent. */
const MAX_WELD_FRACTION: f64 = 0.0009765625; // 2^-10
/** The least distance is found to within one percent. */
const PRECISION: f64 = 1.01;
const EDGES_PER_STEP: u32 = 4096;
const ENTRIES_PER_STEP: u32 = 2048;
/** How many entries of the new table are cleared in a step, which takes some 0.1 ms. */
const CLEARED_PER_STEP: u32 = 65536;

export const OPEN_EDGES_BYTES: usize = offsetof<OpenEdges>();

/**
 * Begins with the unmatched edges that a derivation has found, and triangles without an area, of a mesh with the given
 * largest extent. Throws OUT_OF_MEMORY.
 */
export function beginOpenEdges(
  open: OpenEdges, positions: usize, indices: usize, d: Derivation, flatTriangles: usize, flatCount: u32, extent: f64,
): void {
  open.positions = positions;
  open.indices = indices;
  open.edges = d.openEdges;
  open.edgeCount = d.openCount;
  open.flatTriangles = flatTriangles;
  open.flatCount = flatCount;
  open.extent = extent;
  open.exampleEdge = 0xffffffff;
  // At most half full, if all edges differ.
  let size: u64 = 64;
  while (size < (<u64>open.edgeCount + 3 * <u64>flatCount) * 2) size <<= 1;
  // As many passes for ten times as many edges: two entries are as large as the pending edges of a vertex were.
  const maxSize = max<u32>(MIN_TABLE_ENTRIES, d.vertexCount << 1);
  for (; size > maxSize; size >>= 1) open.passShift++;
  open.tableMask = <u32>size - 1;
  open.table = allocate(size * offsetof<Edge>());
  clearTable(open);
}

function clearTable(open: OpenEdges): void {
  const size = open.tableMask + 1, end = min<u32>(open.cursor + CLEARED_PER_STEP, size);
  memory.fill(open.table + <usize>open.cursor * offsetof<Edge>(), 0, <usize>(end - open.cursor) * offsetof<Edge>());
  open.cursor = end;
  if (end < size) return;
  open.cursor = 0;
  open.phase = PHASE_COUNT;
}

export function freeOpenEdges(open: OpenEdges): void {
  release(open.table);
  release(open.ends);
  release(open.surplus);
  freeWeld(changetype<Weld>(open.welding));
  open.table = open.ends = open.surplus = open.welding = 0;
}

/** Does one step of the work. Returns whether all is done. Throws OUT_OF_MEMORY. */
export function stepOpenEdges(open: OpenEdges): bool {
  if (open.phase == PHASE_CLEAR) clearTable(open);
  else if (open.phase == PHASE_COUNT) countEdges(open);
  else if (open.phase == PHASE_LIST) listEdges(open);
  else if (open.phase == PHASE_WELD) stepDistanceSearch(open);
  return open.phase == PHASE_DONE;
}

// @ts-ignore: decorator
@inline
function cornerAt(open: OpenEdges, triangle: u32, k: u32): usize {
  const i = triangle * 3 + k;
  const vertex = open.indices == 0 ? i : load<u32>(open.indices + (<usize>i << 2));
  return open.positions + <usize>vertex * 12;
}

function countEdges(open: OpenEdges): void {
  const totalCount = open.edgeCount + 3 * open.flatCount, end = min<u32>(open.cursor + EDGES_PER_STEP, totalCount);
  for (let i = open.cursor; i < end; i++) {
    const edge = i < open.edgeCount ? load<u32>(open.edges + (<usize>i << 2)) : flatEdge(open, i - open.edgeCount);
    const triangle = edge / 3, k = edge % 3;
    const from = positionHash(cornerAt(open, triangle, k)), to = positionHash(cornerAt(open, triangle, k == 2 ? 0 : k + 1));
    countEdge(open, from, to, edge);
  }
  open.cursor = end;
  if (end < totalCount) return;
  open.cursor = 0;
  open.phase = PHASE_LIST;
}

function flatEdge(open: OpenEdges, i: u32): u32 {
  return load<u32>(open.flatTriangles + (<usize>(i / 3) << 2)) * 3 + (i % 3);
}

function countEdge(open: OpenEdges, from: u64, to: u64, edgeIndex: u32): void {
  if (from == to) return;
  const hash = mix(from + to) | 1; // 0 is an empty slot
  if ((<u32>(hash >> 40) & ((1 << open.passShift) - 1)) != open.pass) return;
  let slot = <u32>(hash >> 1) & open.tableMask;
  while (true) {
    const edge = changetype<Edge>(open.table + <usize>slot * offsetof<Edge>());
    if (edge.hash == 0) {
      edge.hash = hash;
      edge.edgeIndex = edgeIndex;
    }
    if (edge.hash == hash) {
      edge.edgeIndex = min(edge.edgeIndex, edgeIndex);
      edge.surplus += from < to ? 1 : -1;
      return;
    }
    slot = (slot + 1) & open.tableMask;
  }
}

/** Takes the open edges of a pass from the table, and clears it. */
function listEdges(open: OpenEdges): void {
  const last = open.tableMask;
  const end = min<u32>(open.cursor + ENTRIES_PER_STEP, last + 1);
  for (let slot = open.cursor; slot < end; slot++) {
    const edge = changetype<Edge>(open.table + <usize>slot * offsetof<Edge>());
    if (edge.surplus != 0) addOpenEdge(open, edge);
    edge.hash = 0;
    edge.surplus = 0;
  }
  open.cursor = end;
  if (end <= last) return;
  open.cursor = 0;
  open.pass++;
  if (open.pass < <u32>1 << open.passShift) open.phase = PHASE_COUNT;
  else beginDistanceSearch(open);
}

function addOpenEdge(open: OpenEdges, edge: Edge): void {
  open.openCount++;
  open.exampleEdge = min(open.exampleEdge, edge.edgeIndex);
  if (open.openCount > MAX_SEAM_EDGES) return;
  const used = <usize>open.listedCount;
  open.ends = reserve(open.ends, used * 24, <u64>(used + 1) * 24 + 4); // a point is read as four numbers
  open.surplus = reserve(open.surplus, used << 2, <u64>(used + 1) << 2);
  open.listedCount++;
  const triangle = edge.edgeIndex / 3, k = edge.edgeIndex % 3;
  const from = cornerAt(open, triangle, k), to = cornerAt(open, triangle, k == 2 ? 0 : k + 1);
  copyPoint(open.ends + used * 24, from);
  copyPoint(open.ends + used * 24 + 12, to);
  const isForward = positionHash(from) < positionHash(to);
  store<i32>(open.surplus + (used << 2), isForward ? edge.surplus : -edge.surplus);
}

/** Copies a point; zeros lose their sign. */
function copyPoint(to: usize, from: usize): void {
  for (let at: usize = 0; at < 12; at += 4) store<f32>(to + at, load<f32>(from + at) + <f32>0);
}

function beginDistanceSearch(open: OpenEdges): void {
  release(open.table);
  open.table = 0;
  open.phase = PHASE_DONE;
  if (open.openCount > MAX_SEAM_EDGES || open.openCount == 0) return;
  const weld = reserveWeld(open.listedCount << 1);
  open.welding = changetype<usize>(weld);
  reserveTables(weld);
  open.phase = PHASE_WELD;
  open.minDistance = MIN_DISTANCE;
  open.maxDistance = open.extent * MAX_WELD_FRACTION;
  open.triedDistance = open.maxDistance;
  if (open.maxDistance <= open.minDistance) open.phase = PHASE_DONE;
  else beginWeld(weld, open.ends, open.triedDistance, true);
}

/** The least difference of two different float32. */
const MIN_DISTANCE: f64 = 1.401298464324817e-45; // 2^-149

function stepDistanceSearch(open: OpenEdges): void {
  const weld = changetype<Weld>(open.welding);
  if (!stepWeld(weld)) return;
  if (closes(open, weld)) open.maxDistance = open.triedDistance;
  else if (open.triedDistance == open.maxDistance) {
    open.phase = PHASE_DONE; // not even the widest distance closes it
    return;
  } else open.minDistance = open.triedDistance;
  if (open.maxDistance > open.minDistance * PRECISION) {
    open.triedDistance = sqrt(open.minDistance) * sqrt(open.maxDistance);
    beginWeld(weld, open.ends, open.triedDistance, true);
    return;
  }
  open.phase = PHASE_DONE;
  if (open.triedDistance != open.maxDistance) {
    // Welds once more by the distance that was the last to close it, to check whether that collapses edges.
    open.triedDistance = open.maxDistance;
    open.phase = PHASE_WELD;
    open.minDistance = open.maxDistance;
    beginWeld(weld, open.ends, open.triedDistance, true);
    return;
  }
  if (!collapses(open, weld)) open.closingDistance = open.maxDistance;
}

/** Hashes a position of 12 bytes; zeros have no sign. Two positions have the same hash with a probability of 2⁻⁶⁴. */
function positionHash(at: usize): u64 {
  return mix(mix(mix(word(at) | (word(at + 4) << 32)) + 0x9e3779b97f4a7c15) + word(at + 8));
}

// @ts-ignore: decorator
@inline
function word(at: usize): u64 {
  return <u64>reinterpret<u32>(load<f32>(at) + <f32>0);
}

/**
 * Returns whether the open edges cancel out when their ends are welded. Each adds determinants of hashes of its ends,
 * which cancel for the two directions of an edge (an incremental multiset hash: Clarke, Devadas, van Dijk, Gassend and
 * Suh, "Incremental Multiset Hash Functions and Their Application to Memory Integrity Checking", 2003): the sum is 0 if
 * all edges cancel out, and practically never otherwise.
 */
function closes(open: OpenEdges, weld: Weld): bool {
  let sum0: u64 = 0, sum1: u64 = 0;
  for (let i: u32 = 0; i < open.listedCount; i++) {
    const u = mix(<u64>clusterOf(weld, i << 1) + 1), v = mix(<u64>clusterOf(weld, (i << 1) + 1) + 1);
    const surplus = <i64>load<i32>(open.surplus + (<usize>i << 2));
    sum0 += <u64>surplus * (u * mix(~v) - v * mix(~u));
    sum1 += <u64>surplus * (mix(~u) * mix(rotl<u64>(v, 32)) - mix(~v) * mix(rotl<u64>(u, 32)));
  }
  return (sum0 | sum1) == 0;
}

/** Returns whether most open edges have collapsed to points: then a hole was drawn together, not a seam closed. */
function collapses(open: OpenEdges, weld: Weld): bool {
  let collapsed: u32 = 0;
  for (let i: u32 = 0; i < open.listedCount; i++) {
    if (clusterOf(weld, i << 1) == clusterOf(weld, (i << 1) + 1)) collapsed++;
  }
  return collapsed * 2 > open.listedCount;
}

/** Writes the results to the mesh's header. */
export function writeOpenEdges(open: OpenEdges, mesh: Mesh): void {
  mesh.closed = open.openCount == 0 ? 1 : 0;
  if (mesh.closed) return;
  mesh.openEdges = open.openCount;
  mesh.closingWeld = open.closingDistance;
  const triangle = open.exampleEdge / 3, k = open.exampleEdge % 3;
  mesh.openTriangle = triangle;
  mesh.openEdge = k;
  const from = cornerAt(open, triangle, k), to = cornerAt(open, triangle, k == 2 ? 0 : k + 1);
  memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('openFromX'), from, 12);
  memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('openToX'), to, 12);
}
