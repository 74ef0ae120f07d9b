// What keeps a mesh open: its edges that have more triangles on one side than on the other, and the smallest distance
// within which welding vertices would close it. Edges are the same where the positions of their ends are; a hash of
// both ends stands for them, as in topology/closed.ts. It works in steps.
//
// Welding maps vertices to fewer of them, which keeps opposite edges opposite. So what is closed by one distance is
// closed by every greater one, and the least is found by halving; and only the open edges matter.

import { mix } from '../../math/hash';
import { allocate, release, reserve } from '../../memory';
import { EdgeSum, isClosed, positionHash } from '../topology/closed';
import { Weld, beginWeld, clusterOf, freeWeld, reserveTables, reserveWeld, stepWeld } from './weld';

@unmanaged
export class OpenEdges {
  positions: usize;
  indices: usize;
  vertexCount: u32;
  triangleCount: u32;
  /** How many open edges there are; and the lowest of them, as three times its triangle and its number there. */
  count: u32;
  example: u32;
  /** The distance whose weld closes the mesh, 0 where none does. */
  weld: f64;

  phase: u32;
  cursor: u32;
  /** The edges by their hash: a part of them at a time, so that the table never exceeds MOST_ENTRIES. */
  table: usize;
  tableMask: u32;
  pass: u32;
  passShift: u32;
  // The ends of the open edges, f32 xyz each, two for an edge; and the edges' surplus, i32.
  ends: usize;
  surplus: usize;
  ended: u32;
  pad: u32;
  clusters: usize;
  // The distance that is tried, within which it closes and within which it does not.
  tried: f64;
  low: f64;
  high: f64;
  extent: f64;
}

@unmanaged
class Edge {
  hash: u64;
  /** The number of triangles on the one side less that on the other. */
  surplus: i32;
  corner: u32;
}

const PHASE_COUNT = 0;
const PHASE_LIST = 1;
const PHASE_WELD = 2;
const PHASE_DONE = 3;

/** The most edges in the table, 16 bytes each. */
const MOST_ENTRIES: u32 = 1 << 21;
/** Where more edges are open, no distance is looked for: it is no seam that keeps such a mesh open. */
const MOST_SEAMS: u32 = 1 << 16;
/** No distance is looked for beyond this part of the mesh's extent. */
const WIDEST: f64 = 0.0009765625; // 2^-10
/** The least distance is found to one part in a hundred. */
const PRECISION: f64 = 1.01;
const TRIANGLES_A_STEP: u32 = 2048;
const POINTS_A_STEP: u32 = 2048;

export const OPEN_EDGES_BYTES: usize = offsetof<OpenEdges>();

/** Begins with the triangles of a mesh, whose largest extent is given. Throws OUT_OF_MEMORY. */
export function beginOpenEdges(
  open: OpenEdges, positions: usize, indices: usize, vertexCount: u32, triangleCount: u32, extent: f64,
): void {
  open.positions = positions;
  open.indices = indices;
  open.vertexCount = vertexCount;
  open.triangleCount = triangleCount;
  open.extent = extent;
  open.example = 0xffffffff;
  // Half full at most, if all edges differ.
  let size: u64 = 64;
  while (size < <u64>triangleCount * 6) size <<= 1;
  for (; size > MOST_ENTRIES; size >>= 1) open.passShift++;
  open.tableMask = <u32>size - 1;
  open.table = allocate(size * offsetof<Edge>());
  memory.fill(open.table, 0, <usize>size * offsetof<Edge>());
}

export function freeOpenEdges(open: OpenEdges): void {
  release(open.table);
  release(open.ends);
  release(open.surplus);
  freeWeld(changetype<Weld>(open.clusters));
  open.table = open.ends = open.surplus = open.clusters = 0;
}

/** Continues with a part of the work. Answers whether all is done. Throws OUT_OF_MEMORY. */
export function stepOpenEdges(open: OpenEdges): bool {
  if (open.phase == PHASE_COUNT) countEdges(open);
  else if (open.phase == PHASE_LIST) listEdges(open);
  else if (open.phase == PHASE_WELD) tryWeld(open);
  return open.phase == PHASE_DONE;
}

// @ts-ignore: decorator
@inline
function cornerAt(open: OpenEdges, triangle: u32, k: u32): usize {
  const i = triangle * 3 + k;
  const vertex = open.indices == 0 ? i : load<u32>(open.indices + (<usize>i << 2));
  return open.positions + <usize>vertex * 12;
}

// @ts-ignore: decorator
@inline
function isFinite3(at: usize): bool {
  const sum = load<f32>(at) * 0 + load<f32>(at, 4) * 0 + load<f32>(at, 8) * 0;
  return sum == 0;
}

function countEdges(open: OpenEdges): void {
  const end = min<u32>(open.cursor + TRIANGLES_A_STEP, open.triangleCount);
  for (let t = open.cursor; t < end; t++) {
    const a = cornerAt(open, t, 0), b = cornerAt(open, t, 1), c = cornerAt(open, t, 2);
    if (!(isFinite3(a) && isFinite3(b) && isFinite3(c))) continue;
    const ha = positionHash(a), hb = positionHash(b), hc = positionHash(c);
    countEdge(open, ha, hb, t * 3);
    countEdge(open, hb, hc, t * 3 + 1);
    countEdge(open, hc, ha, t * 3 + 2);
  }
  open.cursor = end;
  if (end < open.triangleCount) return;
  open.cursor = 0;
  open.phase = PHASE_LIST;
}

function countEdge(open: OpenEdges, from: u64, to: u64, corner: u32): void {
  if (from == to) return;
  const hash = mix(from + to) | 1; // 0 is an empty place
  if ((<u32>(hash >> 40) & ((1 << open.passShift) - 1)) != open.pass) return;
  let place = <u32>(hash >> 1) & open.tableMask;
  while (true) {
    const edge = changetype<Edge>(open.table + <usize>place * offsetof<Edge>());
    if (edge.hash == 0) {
      edge.hash = hash;
      edge.corner = corner;
    }
    if (edge.hash == hash) {
      edge.surplus += from < to ? 1 : -1;
      return;
    }
    place = (place + 1) & open.tableMask;
  }
}

/** Takes the open edges of a pass out of the table. */
function listEdges(open: OpenEdges): void {
  const last = open.tableMask;
  const end = min<u32>(open.cursor + POINTS_A_STEP, last + 1);
  for (let place = open.cursor; place < end; place++) {
    const edge = changetype<Edge>(open.table + <usize>place * offsetof<Edge>());
    if (edge.surplus != 0) addOpenEdge(open, edge);
    edge.hash = 0;
    edge.surplus = 0;
  }
  open.cursor = end;
  if (end <= last) return;
  open.cursor = 0;
  open.pass++;
  if (open.pass < <u32>1 << open.passShift) open.phase = PHASE_COUNT;
  else beginTrying(open);
}

function addOpenEdge(open: OpenEdges, edge: Edge): void {
  open.count++;
  open.example = min(open.example, edge.corner);
  if (open.count > MOST_SEAMS) return;
  const used = <usize>open.ended;
  open.ends = reserve(open.ends, used * 24, <u64>(used + 1) * 24);
  open.surplus = reserve(open.surplus, used << 2, <u64>(used + 1) << 2);
  open.ended++;
  const triangle = edge.corner / 3, k = edge.corner % 3;
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

function beginTrying(open: OpenEdges): void {
  release(open.table);
  open.table = 0;
  open.phase = PHASE_DONE;
  if (open.count > MOST_SEAMS || open.count == 0) return;
  const weld = reserveWeld(open.ended << 1);
  open.clusters = changetype<usize>(weld);
  reserveTables(weld);
  open.phase = PHASE_WELD;
  open.low = LEAST;
  open.high = open.extent * WIDEST;
  open.tried = open.high;
  if (open.high <= open.low) open.phase = PHASE_DONE;
  else beginWeld(weld, open.ends, open.tried, true);
}

/** The least difference of two float32 that differ. */
const LEAST: f64 = 1.401298464324817e-45; // 2^-149

function tryWeld(open: OpenEdges): void {
  const weld = changetype<Weld>(open.clusters);
  if (!stepWeld(weld, POINTS_A_STEP)) return;
  if (closes(open, weld)) open.high = open.tried;
  else if (open.tried == open.high) {
    open.phase = PHASE_DONE; // not even the widest
    return;
  } else open.low = open.tried;
  if (open.high > open.low * PRECISION) {
    open.tried = sqrt(open.low) * sqrt(open.high);
    beginWeld(weld, open.ends, open.tried, true);
    return;
  }
  open.phase = PHASE_DONE;
  if (open.tried != open.high) {
    // What the last that closed has collapsed is to be seen.
    open.tried = open.high;
    open.phase = PHASE_WELD;
    open.low = open.high;
    beginWeld(weld, open.ends, open.tried, true);
    return;
  }
  if (!collapses(open, weld)) open.weld = open.high;
}

/** Tells whether the open edges cancel when their ends are welded. */
function closes(open: OpenEdges, weld: Weld): bool {
  sum.one = sum.other = 0;
  for (let i: u32 = 0; i < open.ended; i++) {
    const u = mix(<u64>clusterOf(weld, i << 1) + 1), v = mix(<u64>clusterOf(weld, (i << 1) + 1) + 1);
    const surplus = <i64>load<i32>(open.surplus + (<usize>i << 2));
    sum.one += <u64>surplus * (u * mix(~v) - v * mix(~u));
    sum.other += <u64>surplus * (mix(~u) * mix(rotl<u64>(v, 32)) - mix(~v) * mix(rotl<u64>(u, 32)));
  }
  return isClosed(sum);
}

const sum = changetype<EdgeSum>(memory.data(<i32>offsetof<EdgeSum>(), 16));

/** Tells whether most open edges have become points: then it is a hole that was drawn together, and no seam. */
function collapses(open: OpenEdges, weld: Weld): bool {
  let collapsed: u32 = 0;
  for (let i: u32 = 0; i < open.ended; i++) {
    if (clusterOf(weld, i << 1) == clusterOf(weld, (i << 1) + 1)) collapsed++;
  }
  return collapsed * 2 > open.ended;
}
