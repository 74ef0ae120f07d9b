// Builds a baked mesh in steps, so that whoever runs it can do other things in between.

import { MESH_MAGIC_VALUE, MESH_VERSION_VALUE, MESH_HEADER_BYTES } from '../../../../shared/layout';
import { now, outOfMemory } from '../../host';
import { allocate, release, reserve } from '../../memory';
import { hasArea } from '../../math/collinear-triangles';
import { EdgeSum, addEdges, isClosed } from '../topology/closed';
import { beginDerivation, stepDerivation } from '../topology/derivation';
import { Derivation, freeDerivation } from '../topology/derivation-state';
import { packDerived } from '../topology/pack';
import { treeCost } from '../tree/cost';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, takeSums } from '../tree/dipoles';
import { OPEN_EDGES_BYTES, OpenEdges, beginOpenEdges, freeOpenEdges, stepOpenEdges } from './open-edges';
import {
  LEAST_WELD, Weld, beginWeld, clusterOf, freeWeld, isTaken, reserveTables, reserveWeld, stepWeld, takePoint,
} from './weld';
import { EXTREMES_BYTES, SUBTREE_BYTES, fitNode } from './fit-rotation';
import { DeformBuild, areAbsolute, freeDeform, reserveDeform, stepDeform } from './bake-deform';
import { deformBytes } from '../tree/deform-layout';
import {
  BLOCK_BYTES, Block, DIPOLE_BYTES, MAX_NODES, Mesh, NODE_BYTES, Node, dipolesOffset, setChildren,
} from '../tree/layout';
import {
  SPACE_BYTES, Space, chooseOffset, clearBounds, exponentFor, include, largestCoordinate, scaleFor,
} from '../tree/tree-space';
import { CENTRES_BYTES, Centres, PRIMITIVE_BYTES, boundCentres, primitiveAt, split } from './binned-sah';

const LEAF_SIZE: u32 = 4;
/** Ranges are halved from this depth on, so that a tree's depth is bounded for any input. */
const DEPTH_LIMIT: u32 = 48;

const PHASE_TAKE = 0;
const PHASE_WELD = 1;
const PHASE_JOIN = 2;
const PHASE_SCAN = 3;
const PHASE_OPEN = 4;
const PHASE_PLACE = 5;
const PHASE_SPLIT = 6;
const PHASE_FIT = 7;
const PHASE_DEFORM = 8;
const PHASE_SUM = 9;
const PHASE_DERIVE = 10;
const PHASE_DONE = 11;

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
  extremes: usize;
  stack: usize;
  stackCount: u32;
  mesh: usize;
  exponent: i32;
  welding: usize; // Weld, 0 where nothing is welded
  open: usize; // OpenEdges, 0 of a closed mesh
  weld: f64;
  extent: f32; // the largest coordinate in tree space
  areas: f64; // half of all boxes'
  derived: f64; // fraction of the derivation that is done
  edgesOne: u64; edgesOther: u64; // EdgeSum
  offsetX: f64; offsetY: f64; offsetZ: f64; // Space
  lowX: f64; lowY: f64; lowZ: f64;
  highX: f64; highY: f64; highZ: f64;
  sums: usize;
  derivation: usize;
  deform: usize; // DeformBuild, 0 where the mesh cannot be deformed
  /** Of those that are kept, as a pose may give them one: triangles without an area. */
  flat: u32;
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
  low: v128; // Centres
  high: v128;
}

const RANGE_BYTES: usize = offsetof<Range>();

// @ts-ignore: decorator
@inline
function centresOf(range: Range): Centres {
  return changetype<Centres>(changetype<usize>(range) + offsetof<Range>('low'));
}

/**
 * Begins a build. `reserveBuild` must follow, then the caller fills positions and indices, then `stepBuild`. Throws
 * OUT_OF_MEMORY.
 */
export function beginBuild(vertexCount: u32, triangleCount: u32, weld: f64): Build {
  const build = changetype<Build>(allocate(offsetof<Build>()));
  memory.fill(changetype<usize>(build), 0, offsetof<Build>());
  build.vertexCount = vertexCount;
  build.triangleCount = triangleCount;
  build.weld = weld;
  build.phase = weld > LEAST_WELD ? PHASE_TAKE : PHASE_SCAN;
  clearBounds(spaceOf(build));
  return build;
}

/**
 * Allocates what the build needs to start. This is apart from beginBuild so that running out of memory can be undone.
 * Throws OUT_OF_MEMORY.
 */
export function reserveBuild(build: Build, indexed: bool): void {
  build.positions = allocate(<u64>build.vertexCount * 12 + 16);
  if (indexed) build.indices = allocate(<u64>build.triangleCount * 12);
  build.primitives = allocate(<u64>build.triangleCount * PRIMITIVE_BYTES);
  if (build.phase == PHASE_SCAN) return;
  const welding = reserveWeld(build.vertexCount);
  build.welding = changetype<usize>(welding);
  reserveTables(welding);
}

/** Allocates what else the caller must fill for a mesh that can be deformed. Throws OUT_OF_MEMORY. */
export function reserveBuildDeform(build: Build, boneCount: u32, targetCount: u32, areRelative: bool): void {
  build.deform = allocate(offsetof<DeformBuild>());
  const deform = changetype<DeformBuild>(build.deform);
  reserveDeform(deform, build.vertexCount, boneCount, targetCount, areRelative);
  deform.positions = build.positions;
}

export function freeBuild(build: Build): void {
  freeDeforming(build);
  release(build.positions);
  release(build.indices);
  freeScratch(build);
  release(build.mesh);
  release(changetype<usize>(build));
}

function freeDeforming(build: Build): void {
  if (build.deform == 0) return;
  freeDeform(changetype<DeformBuild>(build.deform));
  release(build.deform);
  build.deform = 0;
}

function freeScratch(build: Build): void {
  freeWelding(build);
  freeOpen(build);
  release(build.primitives);
  release(build.nodes);
  release(build.blocks);
  release(build.subtrees);
  release(build.extremes);
  release(build.stack);
  release(build.sums);
  if (build.derivation != 0) freeDerivation(changetype<Derivation>(build.derivation));
  build.sums = 0;
  build.derivation = 0;
  build.primitives = 0;
  build.nodes = 0;
  build.blocks = 0;
  build.subtrees = 0;
  build.extremes = 0;
  build.stack = 0;
}

function freeWelding(build: Build): void {
  freeWeld(changetype<Weld>(build.welding));
  build.welding = 0;
}

function freeOpen(build: Build): void {
  if (build.open == 0) return;
  freeOpenEdges(changetype<OpenEdges>(build.open));
  release(build.open);
  build.open = 0;
}

/** Works until the clock shows `until`. Answers the fraction done, or -1 when the data are bad. */
export function stepBuild(build: Build, until: f64): f64 {
  do {
    if (build.phase == PHASE_TAKE) take(build);
    else if (build.phase == PHASE_WELD) weld(build);
    else if (build.phase == PHASE_JOIN) join(build);
    else if (build.phase == PHASE_SCAN) scan(build);
    else if (build.phase == PHASE_OPEN) findOpenEdges(build);
    else if (build.phase == PHASE_PLACE) place(build);
    else if (build.phase == PHASE_SPLIT) splitSome(build);
    else if (build.phase == PHASE_FIT) fitSome(build);
    else if (build.phase == PHASE_DEFORM) deformSome(build);
    else if (build.phase == PHASE_SUM) sumSome(build);
    else if (build.phase == PHASE_DERIVE) deriveSome(build, until);
    if (build.error != 0) return -1;
  } while (build.phase != PHASE_DONE && now() < until);
  return fraction(build);
}

function fraction(build: Build): f64 {
  const n = <f64>build.triangleCount;
  if (build.phase < <u32>PHASE_SCAN) return 0;
  if (build.phase == PHASE_OPEN) return 0.05;
  if (build.phase == PHASE_SCAN) return (0.05 * <f64>build.cursor) / n;
  if (build.phase == PHASE_PLACE) return 0.05 + 0.05 * (1.0 - <f64>build.cursor / <f64>build.kept);
  if (build.phase == PHASE_SPLIT) return 0.1 + (0.3 * <f64>build.placed) / <f64>build.kept;
  if (build.phase == PHASE_FIT) return 0.4 + 0.35 * (1.0 - <f64>build.cursor / <f64>build.nodeCount);
  if (build.phase == PHASE_DEFORM) return 0.75;
  if (build.phase == PHASE_SUM) return 0.75 + 0.05 * (1.0 - <f64>build.cursor / <f64>build.nodeCount);
  if (build.phase == PHASE_DERIVE) return 0.8 + 0.19 * build.derived;
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

// --- welding ---

const TRIANGLES_A_STEP: u32 = 4096;

/**
 * Lets the finite vertices of triangles be welded, and no others: nothing is to be joined by way of vertices without a
 * place.
 */
function take(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  if (build.cursor == 0) beginWeld(welding, build.positions, build.weld, false);
  const end = min<u32>(build.cursor + TRIANGLES_A_STEP, build.triangleCount);
  for (let t = build.cursor; t < end; t++) {
    for (let k: u32 = 0; k < 3; k++) {
      const vertex = corner(build, t, k);
      if (vertex >= build.vertexCount) continue; // which the scan will say
      const sum = coordinate(build, vertex, 0) + coordinate(build, vertex, 1) + coordinate(build, vertex, 2);
      if (sum - sum == 0.0) takePoint(welding, vertex);
    }
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  build.cursor = 0;
  build.phase = PHASE_WELD;
}

function weld(build: Build): void {
  if (stepWeld(changetype<Weld>(build.welding), TRIANGLES_A_STEP)) build.phase = PHASE_JOIN;
}

/**
 * Gives every corner the first vertex of its cluster, so that all that is made of the mesh sees it welded: the tree,
 * what is closed, connected or inside, and vertices that move later. Hits are off by no more than vertices are moved.
 */
function join(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  const end = min<u32>(build.cursor + TRIANGLES_A_STEP, build.triangleCount);
  for (let i: usize = <usize>build.cursor * 3; i < <usize>end * 3; i++) {
    const vertex = load<u32>(build.indices + (i << 2));
    if (vertex >= build.vertexCount || !isTaken(welding, vertex)) continue;
    store<u32>(build.indices + (i << 2), clusterOf(welding, vertex));
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  freeWelding(build);
  build.cursor = 0;
  build.phase = PHASE_SCAN;
}

function findOpenEdges(build: Build): void {
  if (!stepOpenEdges(changetype<OpenEdges>(build.open))) return;
  build.phase = PHASE_PLACE;
  build.cursor = build.kept;
}

/** Begins to look for the edges that keep the mesh open. */
function beginOpen(build: Build): void {
  build.open = allocate(OPEN_EDGES_BYTES);
  memory.fill(build.open, 0, OPEN_EDGES_BYTES);
  const space = spaceOf(build);
  const extent = max(max(space.highX - space.lowX, space.highY - space.lowY), space.highZ - space.lowZ);
  const open = changetype<OpenEdges>(build.open);
  beginOpenEdges(open, build.positions, build.indices, build.vertexCount, build.triangleCount, extent);
  build.phase = PHASE_OPEN;
}

// --- the tree ---

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
    const isFlat = !hasArea(ax, ay, az, bx, by, bz, cx, cy, cz);
    if (isFlat && build.deform == 0) continue;
    store<u32>(build.primitives + (build.kept++ << 2), t);
    if (isFlat) {
      build.flat++;
      continue;
    }
    include(spaceOf(build), ax, ay, az, bx, by, bz, cx, cy, cz);
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  if (build.kept == build.flat) {
    build.error = BUILD_EMPTY;
    return;
  }
  chooseOffset(spaceOf(build));
  const largest = largestCoordinate(spaceOf(build));
  build.exponent = exponentFor(largest);
  build.extent = <f32>(largest * scaleFor(build.exponent));
  build.phase = PHASE_PLACE;
  build.cursor = build.kept;
  if (!isClosed(edgesOf(build))) beginOpen(build);
}

// @ts-ignore: decorator
@inline
function vertexInTree(build: Build, vertex: u32, scale: f64): v128 {
  const x = <f32>((coordinate(build, vertex, 0) - build.offsetX) * scale);
  const y = <f32>((coordinate(build, vertex, 1) - build.offsetY) * scale);
  const z = <f32>((coordinate(build, vertex, 2) - build.offsetZ) * scale);
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(0), 0, x), 1, y), 2, z);
}

/**
 * Answers a triangle's corner in tree space. Where the triangle has no area, all three are its first one, within the
 * bounds of the others, as in a refit.
 */
function cornerInTree(build: Build, t: u32, k: u32, scale: f64): v128 {
  if (build.flat == 0 || !isFlat(build, t)) return vertexInTree(build, corner(build, t, k), scale);
  const vertex = corner(build, t, 0);
  const x = max(min(coordinate(build, vertex, 0), build.highX), build.lowX);
  const y = max(min(coordinate(build, vertex, 1), build.highY), build.lowY);
  const z = max(min(coordinate(build, vertex, 2), build.highZ), build.lowZ);
  return f32x4(
    <f32>((x - build.offsetX) * scale), <f32>((y - build.offsetY) * scale), <f32>((z - build.offsetZ) * scale), 0,
  );
}

function isFlat(build: Build, t: u32): bool {
  const a = corner(build, t, 0), b = corner(build, t, 1), c = corner(build, t, 2);
  return !hasArea(
    coordinate(build, a, 0), coordinate(build, a, 1), coordinate(build, a, 2), coordinate(build, b, 0),
    coordinate(build, b, 1), coordinate(build, b, 2), coordinate(build, c, 0), coordinate(build, c, 1), coordinate(build, c, 2),
  );
}

/** Makes primitives from the waiting indices, last first: a primitive is larger than the index it may overwrite. */
function place(build: Build): void {
  const scale = scaleFor(build.exponent);
  const stop = build.cursor > 4096 ? build.cursor - 4096 : 0;
  for (let i = build.cursor; i > stop; ) {
    i--;
    const t = load<u32>(build.primitives + (<usize>i << 2));
    const a = cornerInTree(build, t, 0, scale);
    const b = cornerInTree(build, t, 1, scale);
    const c = cornerInTree(build, t, 2, scale);
    const p = primitiveAt(build.primitives, i);
    p.low = i32x4.replace_lane(f32x4.pmin(f32x4.pmin(a, b), c), 3, t);
    p.high = f32x4.pmax(f32x4.pmax(a, b), c);
  }
  build.cursor = stop;
  if (stop > 0) return;
  build.phase = PHASE_SPLIT;
  build.stack = allocate(RANGE_BYTES * 1024);
  build.nodes = allocate(NODE_BYTES);
  build.nodeCount = 1;
  boundCentres(build.primitives, 0, build.kept, centresAt(0));
  push(build, 0, build.kept, 0, 0, centresAt(0));
}

function push(build: Build, start: u32, end: u32, depth: u32, node: u32, centres: Centres): void {
  build.stack = reserve(build.stack, <usize>build.stackCount * RANGE_BYTES, <u64>(build.stackCount + 1) * RANGE_BYTES);
  const range = changetype<Range>(build.stack + build.stackCount++ * <u32>RANGE_BYTES);
  range.start = start;
  range.end = end;
  range.depth = depth;
  range.node = node;
  memory.copy(changetype<usize>(range) + offsetof<Range>('low'), changetype<usize>(centres), CENTRES_BYTES);
}

/** Where the ranges of up to four children begin, and where the last one ends: u32 each. */
const segments: usize = memory.data(5 * 4, 4);
/** The bounds of the centres of each of these parts. */
const centres: usize = memory.data(4 * <i32>offsetof<Centres>(), 16);

// @ts-ignore: decorator
@inline
function centresAt(part: usize): Centres {
  return changetype<Centres>(centres + part * CENTRES_BYTES);
}

/** Primitives that are split between two looks at the clock. */
const PRIMITIVES_A_STEP: u32 = 4096;

function splitSome(build: Build): void {
  let work: u32 = 0;
  while (build.stackCount > 0 && work < PRIMITIVES_A_STEP) {
    const range = changetype<Range>(build.stack + --build.stackCount * <u32>RANGE_BYTES);
    work += range.end - range.start;
    memory.copy(centres, changetype<usize>(range) + offsetof<Range>('low'), CENTRES_BYTES);
    makeNode(build, range.start, range.end, range.depth, range.node);
  }
  if (build.stackCount > 0) return;
  release(build.primitives);
  build.primitives = 0;
  build.subtrees = allocate(<u64>build.nodeCount * SUBTREE_BYTES);
  build.extremes = allocate(<u64>build.nodeCount * EXTREMES_BYTES);
  build.phase = PHASE_FIT;
  build.cursor = build.nodeCount;
}

/** Makes a node: cuts its range in two, and the part that promises most again, until there are four. */
function makeNode(build: Build, start: u32, end: u32, depth: u32, index: u32): void {
  store<u32>(segments, start);
  store<u32>(segments, end, 4);
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
    const at = segments + (<usize>widest << 2);
    const first = changetype<usize>(centresAt(widest)), second = first + CENTRES_BYTES;
    memory.copy(at + 8, at + 4, <usize>(parts - widest) << 2);
    memory.copy(second + CENTRES_BYTES, second, <usize>(parts - widest - 1) * CENTRES_BYTES);
    const cut = split(
      build.primitives, load<u32>(at), load<u32>(at, 8), depth >= DEPTH_LIMIT,
      changetype<Centres>(first), changetype<Centres>(second),
    );
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
  const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
  setChildren(node, inner, parts, firstNode, build.blockCount);
  let next = firstNode;
  for (let i = 0; i < parts; i++) {
    const from = load<u32>(segments + (<usize>i << 2));
    const to = load<u32>(segments + (<usize>(i + 1) << 2));
    if (to - from <= LEAF_SIZE) writeBlock(build, from, to);
    else push(build, from, to, depth + 1, next++, centresAt(i));
  }
}

// @ts-ignore: decorator
@inline
function partSize(i: i32): u32 {
  return load<u32>(segments + (<usize>(i + 1) << 2)) - load<u32>(segments + (<usize>i << 2));
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
      const v = cornerInTree(build, t, filled ? k : 0, scale);
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 0));
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 1), 16);
      store<f32>(at + <usize>k * 48, f32x4.extract_lane(v, 2), 32);
    }
    const mark = build.flat != 0 && isFlat(build, t) ? i32.MIN_VALUE : 0; // as in a refit
    store<i32>(at, filled ? t | mark : -1, offsetof<Block>('triangle0'));
  }
  build.placed += to - from;
}

function fitSome(build: Build): void {
  const stop = build.cursor > 64 ? build.cursor - 64 : 0;
  while (build.cursor > stop) {
    const index = --build.cursor;
    const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
    build.areas += fitNode(node, index, build.blocks, build.subtrees, build.extremes, build.extent);
  }
  if (build.cursor > 0) return;
  assemble(build);
  if (build.deform == 0) beginSums(build);
  else build.phase = PHASE_DEFORM;
}

function deformSome(build: Build): void {
  const deform = changetype<DeformBuild>(build.deform);
  const isDone = stepDeform(deform, changetype<Mesh>(build.mesh));
  build.error = deform.error;
  build.culprit = deform.culprit;
  if (!isDone) return;
  freeDeforming(build);
  beginSums(build);
}

function beginSums(build: Build): void {
  build.sums = allocate(SURFACE_SUMS_BYTES);
  memory.fill(build.sums, 0, SURFACE_SUMS_BYTES);
  build.phase = PHASE_SUM;
  build.cursor = build.nodeCount;
}

/** How many nodes are summed up between two looks at the clock: each takes less than a microsecond. */
const SUM_STEP: u32 = 128;

function sumSome(build: Build): void {
  const mesh = changetype<Mesh>(build.mesh), sums = changetype<SurfaceSums>(build.sums);
  const start = build.cursor > SUM_STEP ? build.cursor - SUM_STEP : 0;
  sumNodes(mesh, sums, start, build.cursor);
  build.cursor = start;
  if (start > 0) return;
  takeSums(mesh, sums);
  build.derivation = changetype<usize>(beginDerivation(mesh));
  build.phase = PHASE_DERIVE;
}

/** Derives the rest, and puts all into one piece. */
function deriveSome(build: Build, until: f64): void {
  const d = changetype<Derivation>(build.derivation);
  build.derived = stepDerivation(d, until);
  if (build.derived < 1) return;
  const tree = build.mesh;
  build.mesh = packDerived(d);
  release(tree);
  freeScratch(build);
  build.phase = PHASE_DONE;
}

/** Makes one relocatable piece: header, nodes, blocks, indices, room for the dipoles and for what deforms it. */
function assemble(build: Build): void {
  const nodeBytes = build.nodeCount * <u32>NODE_BYTES;
  const blockBytes = build.blockCount * <u32>BLOCK_BYTES;
  const indexBytes: u32 = build.indices == 0 ? 0 : build.triangleCount * 12;
  const dipoles = dipolesOffset(
    build.nodeCount, build.blockCount, build.indices == 0 ? 0 : 1, build.triangleCount,
  );
  const d = changetype<DeformBuild>(build.deform);
  const deform: u64 = build.deform == 0 ? 0 : deformBytes(d.vertexCount, d.boneCount, d.targetCount, areAbsolute(d));
  const bytes = dipoles + <u64>build.nodeCount * DIPOLE_BYTES + deform;
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
  mesh.keptCount = build.kept - build.flat;
  mesh.vertexCount = build.vertexCount;
  mesh.indexed = build.indices == 0 ? 0 : 1;
  mesh.nodes = MESH_HEADER_BYTES;
  mesh.blocks = mesh.nodes + nodeBytes;
  mesh.indices = mesh.blocks + blockBytes;
  mesh.dipoles = <u32>dipoles;
  mesh.deformBytes = <u32>deform;
  mesh.exponent = build.exponent;
  mesh.closed = isClosed(edgesOf(build)) ? 1 : 0;
  if (build.open != 0) noteOpenEdges(mesh, changetype<OpenEdges>(build.open), build);
  memory.copy(address + offsetof<Mesh>('offsetX'), changetype<usize>(spaceOf(build)), SPACE_BYTES);
  mesh.builtCost = treeCost(spaceOf(build), scaleFor(build.exponent), build.areas);
  mesh.cost = mesh.builtCost;
  memory.copy(address + mesh.nodes, build.nodes, nodeBytes);
  memory.copy(address + mesh.blocks, build.blocks, blockBytes);
  if (indexBytes > 0) memory.copy(address + mesh.indices, build.indices, indexBytes);
  memory.fill(address + mesh.indices + indexBytes, 0, <usize>dipoles - mesh.indices - indexBytes);
  freeScratch(build);
}

function noteOpenEdges(mesh: Mesh, open: OpenEdges, build: Build): void {
  mesh.openEdges = open.count;
  mesh.closingWeld = open.weld;
  const triangle = open.example / 3, k = open.example % 3;
  mesh.openTriangle = triangle;
  mesh.openEdge = k;
  const from = vertexAt(build, corner(build, triangle, k));
  const to = vertexAt(build, corner(build, triangle, k == 2 ? 0 : k + 1));
  memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('openFromX'), from, 12);
  memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('openToX'), to, 12);
}
