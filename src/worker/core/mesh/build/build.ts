// Builds a baked mesh in steps, so that whoever runs it can do other things in between.

import { MESH_MAGIC_VALUE, MESH_VERSION_VALUE, MESH_HEADER_BYTES } from '../../../../shared/layout';
import { now, outOfMemory } from '../../host';
import { allocate, release, reserve } from '../../memory';
import { hasArea } from '../../math/triangles';
import { EdgeSum, addEdges, isClosed } from '../topology/closed';
import { treeCost } from '../tree/cost';
import { SUBTREE_BYTES, fitNode } from './fit-rotation';
import { BLOCK_BYTES, Block, MAX_NODES, Mesh, NODE_BYTES, Node, setChildren } from '../tree/layout';
import {
  SPACE_BYTES, Space, chooseOffset, clearBounds, exponentFor, include, largestCoordinate, scaleFor,
} from '../tree/tree-space';
import { PRIMITIVE_BYTES, primitiveAt, split } from './binned-sah';

const LEAF_SIZE: u32 = 4;
/** Below this depth ranges are halved, so that a tree's depth is bounded for any input. */
const DEPTH_LIMIT: u32 = 48;

const PHASE_SCAN = 0;
const PHASE_PLACE = 1;
const PHASE_SPLIT = 2;
const PHASE_FIT = 3;
const PHASE_DONE = 4;

export const BUILD_BAD_INDEX = 1;
export const BUILD_EMPTY = 2;

@unmanaged
export class Build {
  positions: usize; // f32 xyz per vertex
  indices: usize; // u32, three per triangle; 0 without
  vertexCount: u32;
  triangleCount: u32;
  error: u32; // BUILD_*, with the culprit beside it
  culprit: u32;
  phase: u32;
  cursor: u32;
  kept: u32;
  placed: u32; // triangles that have found their leaf
  primitives: usize;
  nodes: usize;
  nodeCount: u32;
  blocks: usize;
  blockCount: u32;
  subtrees: usize;
  stack: usize;
  stackCount: u32;
  mesh: usize;
  exponent: i32;
  pad: u32;
  extent: f32; // the largest coordinate in tree space
  areas: f64; // half of all boxes'
  edgesOne: u64; edgesOther: u64; // EdgeSum
  offsetX: f64; offsetY: f64; offsetZ: f64; // Space
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
}

// @ts-ignore: decorator
@inline
function spaceOf(build: Build): Space {
  return changetype<Space>(changetype<usize>(build) + offsetof<Build>('offsetX'));
}

// @ts-ignore: decorator
@inline
function edgesOf(build: Build): EdgeSum {
  return changetype<EdgeSum>(changetype<usize>(build) + offsetof<Build>('edgesOne'));
}

/** A range of primitives that waits to become a node. */
@unmanaged
class Range {
  start: u32;
  end: u32;
  depth: u32;
  node: u32; // the node's index
}

const RANGE_BYTES: usize = 16;

/** `reserveBuild` follows, then the caller fills positions and indices, then `stepBuild`. */
export function beginBuild(vertexCount: u32, triangleCount: u32): Build {
  const build = changetype<Build>(allocate(offsetof<Build>()));
  memory.fill(changetype<usize>(build), 0, offsetof<Build>());
  build.vertexCount = vertexCount;
  build.triangleCount = triangleCount;
  clearBounds(spaceOf(build));
  return build;
}

/** Allocates what the build needs to start; apart from beginBuild so that running out of memory can be undone. */
export function reserveBuild(build: Build, indexed: bool): void {
  build.positions = allocate(<u64>build.vertexCount * 12 + 16);
  if (indexed) build.indices = allocate(<u64>build.triangleCount * 12);
  build.primitives = allocate(<u64>build.triangleCount * PRIMITIVE_BYTES);
}

export function freeBuild(build: Build): void {
  release(build.positions);
  release(build.indices);
  freeScratch(build);
  release(build.mesh);
  release(changetype<usize>(build));
}

function freeScratch(build: Build): void {
  release(build.primitives);
  release(build.nodes);
  release(build.blocks);
  release(build.subtrees);
  release(build.stack);
  build.primitives = 0;
  build.nodes = 0;
  build.blocks = 0;
  build.subtrees = 0;
  build.stack = 0;
}

/** Works until the clock shows `until`; answers the fraction done, or -1 when the data are bad. */
export function stepBuild(build: Build, until: f64): f64 {
  do {
    if (build.phase == PHASE_SCAN) scan(build);
    else if (build.phase == PHASE_PLACE) place(build);
    else if (build.phase == PHASE_SPLIT) splitSome(build);
    else if (build.phase == PHASE_FIT) fitSome(build);
    if (build.error != 0) return -1;
  } while (build.phase != PHASE_DONE && now() < until);
  return fraction(build);
}

function fraction(build: Build): f64 {
  const n = <f64>build.triangleCount;
  if (build.phase == PHASE_SCAN) return (0.05 * <f64>build.cursor) / n;
  if (build.phase == PHASE_PLACE) return 0.05 + 0.05 * (1.0 - <f64>build.cursor / <f64>build.kept);
  if (build.phase == PHASE_SPLIT) return 0.1 + (0.4 * <f64>build.placed) / <f64>build.kept;
  if (build.phase == PHASE_FIT) return 0.5 + 0.49 * (1.0 - <f64>build.cursor / <f64>build.nodeCount);
  return 1;
}

// @ts-ignore: decorator
@inline
function corner(build: Build, triangle: u32, k: u32): u32 {
  const i = triangle * 3 + k;
  return build.indices == 0 ? i : load<u32>(build.indices + (<usize>i << 2));
}

// @ts-ignore: decorator
@inline
function vertexAt(build: Build, vertex: u32): usize {
  return build.positions + <usize>vertex * 12;
}

// @ts-ignore: decorator
@inline
function coordinate(build: Build, vertex: u32, axis: usize): f64 {
  return <f64>load<f32>(vertexAt(build, vertex) + (axis << 2));
}

/**
 * Finds the triangles that have an area, and the bounds of those; their indices wait where primitives will be. Whether
 * the mesh is closed, those without an area say as well.
 */
function scan(build: Build): void {
  const end = min<u32>(build.cursor + 4096, build.triangleCount);
  for (let t = build.cursor; t < end; t++) {
    const a = corner(build, t, 0), b = corner(build, t, 1), c = corner(build, t, 2);
    if (max(max(a, b), c) >= build.vertexCount) {
      build.error = BUILD_BAD_INDEX;
      build.culprit = t * 3 + (a >= build.vertexCount ? 0 : b >= build.vertexCount ? 1 : 2);
      return;
    }
    const ax = coordinate(build, a, 0), ay = coordinate(build, a, 1), az = coordinate(build, a, 2);
    const bx = coordinate(build, b, 0), by = coordinate(build, b, 1), bz = coordinate(build, b, 2);
    const cx = coordinate(build, c, 0), cy = coordinate(build, c, 1), cz = coordinate(build, c, 2);
    const total = ax + ay + az + bx + by + bz + cx + cy + cz;
    if (total - total != 0.0) continue;
    addEdges(edgesOf(build), vertexAt(build, a), vertexAt(build, b), vertexAt(build, c));
    if (!hasArea(ax, ay, az, bx, by, bz, cx, cy, cz)) continue;
    store<u32>(build.primitives + (build.kept++ << 2), t);
    include(spaceOf(build), ax, ay, az, bx, by, bz, cx, cy, cz);
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  if (build.kept == 0) {
    build.error = BUILD_EMPTY;
    return;
  }
  chooseOffset(spaceOf(build));
  const largest = largestCoordinate(spaceOf(build));
  build.exponent = exponentFor(largest);
  build.extent = <f32>(largest * scaleFor(build.exponent));
  build.phase = PHASE_PLACE;
  build.cursor = build.kept;
}

// @ts-ignore: decorator
@inline
function vertexInTree(build: Build, vertex: u32, scale: f64): v128 {
  const x = <f32>((coordinate(build, vertex, 0) - build.offsetX) * scale);
  const y = <f32>((coordinate(build, vertex, 1) - build.offsetY) * scale);
  const z = <f32>((coordinate(build, vertex, 2) - build.offsetZ) * scale);
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(0), 0, x), 1, y), 2, z);
}

/** Primitives from the waiting indices, last first: a primitive is larger than the index it may overwrite. */
function place(build: Build): void {
  const scale = scaleFor(build.exponent);
  const stop = build.cursor > 4096 ? build.cursor - 4096 : 0;
  for (let i = build.cursor; i > stop; ) {
    i--;
    const t = load<u32>(build.primitives + (<usize>i << 2));
    const a = vertexInTree(build, corner(build, t, 0), scale);
    const b = vertexInTree(build, corner(build, t, 1), scale);
    const c = vertexInTree(build, corner(build, t, 2), scale);
    const p = primitiveAt(build.primitives, i);
    p.low = i32x4.replace_lane(f32x4.pmin(f32x4.pmin(a, b), c), 3, t);
    p.high = f32x4.pmax(f32x4.pmax(a, b), c);
  }
  build.cursor = stop;
  if (stop > 0) return;
  build.phase = PHASE_SPLIT;
  build.stack = allocate(RANGE_BYTES * 1024);
  build.nodes = allocate(NODE_BYTES);
  build.subtrees = allocate(SUBTREE_BYTES);
  build.nodeCount = 1;
  push(build, 0, build.kept, 0, 0);
}

function push(build: Build, start: u32, end: u32, depth: u32, node: u32): void {
  build.stack = reserve(build.stack, <usize>build.stackCount * RANGE_BYTES, <u64>(build.stackCount + 1) * RANGE_BYTES);
  const range = changetype<Range>(build.stack + build.stackCount++ * <u32>RANGE_BYTES);
  range.start = start;
  range.end = end;
  range.depth = depth;
  range.node = node;
}

const cuts: usize = memory.data(5 * 4, 4);

function splitSome(build: Build): void {
  let work: u32 = 0;
  while (build.stackCount > 0 && work < 4096) {
    const range = changetype<Range>(build.stack + --build.stackCount * <u32>RANGE_BYTES);
    work += range.end - range.start;
    makeNode(build, range.start, range.end, range.depth, range.node);
  }
  if (build.stackCount > 0) return;
  build.phase = PHASE_FIT;
  build.cursor = build.nodeCount;
}

/** One node: its range is cut in two, and the part that promises most again, until there are four. */
function makeNode(build: Build, start: u32, end: u32, depth: u32, index: u32): void {
  store<u32>(cuts, start);
  store<u32>(cuts, end, 4);
  let parts = 1;
  while (parts < 4) {
    // The widest range stands for the most expensive one: both agree nearly always, and no areas are needed.
    let widest = -1;
    let size: u32 = LEAF_SIZE;
    for (let i = 0; i < parts; i++) {
      const n = partSize(i);
      if (n > size) {
        size = n;
        widest = i;
      }
    }
    if (widest < 0) break;
    const at = cuts + (<usize>widest << 2);
    const cut = split(build.primitives, load<u32>(at), load<u32>(at, 4), depth >= DEPTH_LIMIT);
    memory.copy(at + 8, at + 4, <usize>(parts - widest) << 2);
    store<u32>(at, cut, 4);
    parts++;
  }

  // Nodes first, then leaves; of each kind the indices follow one another.
  let inner: u32 = 0;
  for (let i = 0; i < parts; i++) if (partSize(i) > LEAF_SIZE) inner++;
  const firstNode = build.nodeCount;
  build.nodeCount += inner;
  if (build.nodeCount > MAX_NODES) outOfMemory(<f64>build.nodeCount * NODE_BYTES);
  build.nodes = reserve(build.nodes, <usize>firstNode * NODE_BYTES, <u64>build.nodeCount * NODE_BYTES);
  build.subtrees = reserve(build.subtrees, <usize>firstNode * SUBTREE_BYTES, <u64>build.nodeCount * SUBTREE_BYTES);
  const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
  setChildren(node, inner, parts, firstNode, build.blockCount);
  let next = firstNode;
  for (let i = 0; i < parts; i++) {
    const from = load<u32>(cuts + (<usize>i << 2));
    const to = load<u32>(cuts + (<usize>(i + 1) << 2));
    if (to - from <= LEAF_SIZE) writeBlock(build, from, to);
    else push(build, from, to, depth + 1, next++);
  }
}

// @ts-ignore: decorator
@inline
function partSize(i: i32): u32 {
  return load<u32>(cuts + (<usize>(i + 1) << 2)) - load<u32>(cuts + (<usize>i << 2));
}

function writeBlock(build: Build, from: u32, to: u32): void {
  const index = build.blockCount++;
  build.blocks = reserve(build.blocks, <usize>index * BLOCK_BYTES, <u64>build.blockCount * BLOCK_BYTES);
  const block = build.blocks + index * <u32>BLOCK_BYTES;
  const scale = scaleFor(build.exponent);
  for (let lane: u32 = 0; lane < 4; lane++) {
    const filled = from + lane < to;
    const t = i32x4.extract_lane(primitiveAt(build.primitives, filled ? from + lane : from).low, 3);
    const at = block + (<usize>lane << 2);
    for (let k: u32 = 0; k < 3; k++) {
      const v = vertexInTree(build, corner(build, t, filled ? k : 0), scale);
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 0));
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 1), 16);
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 2), 32);
    }
    store<i32>(at, filled ? t : -1, offsetof<Block>('triangle0'));
  }
  build.placed += to - from;
}

function fitSome(build: Build): void {
  const stop = build.cursor > 64 ? build.cursor - 64 : 0;
  while (build.cursor > stop) {
    const index = --build.cursor;
    const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
    build.areas += fitNode(node, index, build.blocks, build.subtrees, build.extent);
  }
  if (build.cursor > 0) return;
  assemble(build);
  build.phase = PHASE_DONE;
}

/** One relocatable piece: header, nodes, blocks, indices. */
function assemble(build: Build): void {
  const nodeBytes = build.nodeCount * <u32>NODE_BYTES;
  const blockBytes = build.blockCount * <u32>BLOCK_BYTES;
  const indexBytes: u32 = build.indices == 0 ? 0 : build.triangleCount * 12;
  const bytes: u64 = <u64>MESH_HEADER_BYTES + nodeBytes + blockBytes + indexBytes;
  const address = allocate(bytes);
  const mesh = changetype<Mesh>(address);
  build.mesh = address;
  memory.fill(address, 0, MESH_HEADER_BYTES);
  mesh.magic = MESH_MAGIC_VALUE;
  mesh.version = MESH_VERSION_VALUE;
  mesh.bytes = <u32>bytes;
  mesh.nodeCount = build.nodeCount;
  mesh.blockCount = build.blockCount;
  mesh.triangleCount = build.triangleCount;
  mesh.keptCount = build.kept;
  mesh.vertexCount = build.vertexCount;
  mesh.indexed = build.indices == 0 ? 0 : 1;
  mesh.nodes = MESH_HEADER_BYTES;
  mesh.blocks = mesh.nodes + nodeBytes;
  mesh.indices = mesh.blocks + blockBytes;
  mesh.exponent = build.exponent;
  mesh.closed = isClosed(edgesOf(build)) ? 1 : 0;
  memory.copy(address + offsetof<Mesh>('offsetX'), changetype<usize>(spaceOf(build)), SPACE_BYTES);
  mesh.builtCost = treeCost(spaceOf(build), scaleFor(build.exponent), build.areas);
  mesh.cost = mesh.builtCost;
  memory.copy(address + mesh.nodes, build.nodes, nodeBytes);
  memory.copy(address + mesh.blocks, build.blocks, blockBytes);
  if (indexBytes > 0) memory.copy(address + mesh.indices, build.indices, indexBytes);
  freeScratch(build);
}
