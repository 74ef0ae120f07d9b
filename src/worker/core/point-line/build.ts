// Builds a baked mesh of points or lines, in steps. The tree is balanced, and all blocks but one are full: a range of
// elements is split into up to four parts of whole blocks, in halves at the median of its widest axis (Bentley,
// "Multidimensional Binary Search Trees Used for Associative Searching", 1975).

import { MESH_HEADER_BYTES, POINT_LINE_MAGIC_VALUE, POINT_LINE_VERSION_VALUE } from '../../../shared/layout';
import { now, outOfMemory } from '../host';
import { allocate, release, reserve } from '../memory';
import { MAX_NODES, NODE_BYTES, Node, setChildren } from '../mesh/tree/layout';
import { SPACE_BYTES, Space, chooseOffset, largestCoordinate, scaleFor } from '../mesh/tree/tree-space';
import { BOUNDS_BYTES, costOf, fitNode } from './fit';
import {
  MIN_RADIUS, LINE_ELEMENT, NO_ELEMENT, POINT_ELEMENT, PointLine, blockBytes, blocksFor, elementsPerBlock, exponentOf,
  storeLine, storePoint,
} from './layout';
import { LineRecord, PointRecord, select } from './select';
import { WORD_BYTES } from '../sizes';

const PHASE_SCAN = 0;
const PHASE_RECORDS = 1;
const PHASE_SPLIT = 2;
const PHASE_FIT = 3;
const PHASE_DONE = 4;

export const POINT_LINE_BAD_INDEX = 1;
export const POINT_LINE_EMPTY = 2;

/** Elements that are processed between two readings of the clock. */
const ELEMENTS_PER_STEP: u32 = 16384;
const NODES_PER_STEP: u32 = 1024;

@unmanaged
export class PointLineBuild {
  positions: usize; // f32 xyz per vertex
  indices: usize; // u32, `size` per element; 0 if none
  vertexCount: u32;
  elementCount: u32;
  size: u32; // vertices per element
  error: u32; // POINT_LINE_*, with the culprit beside it
  culprit: u32;
  phase: u32;
  cursor: u32;
  keptCount: u32;
  /** PointRecord or LineRecord of each element, in tree space. */
  records: usize;
  stack: usize;
  stackCount: u32;
  nodeCount: u32;
  blockCount: u32;
  bounds: usize; // while nodes are fitted
  mesh: usize;
  exponent: i32;
  extent: f32; // the largest coordinate in tree space
  pad: u32;
  areas: f64; // half the area of all boxes
  radiusSquared: f64;
  min: v128; max: v128;
  offsetX: f64; offsetY: f64; offsetZ: f64; // Space
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
}

// @ts-ignore: decorator
@inline
function spaceOf(build: PointLineBuild): Space {
  return changetype<Space>(changetype<usize>(build) + offsetof<PointLineBuild>('offsetX'));
}

/** A range of records that waits to become a node. */
@unmanaged
class Range {
  start: u32;
  end: u32;
  node: u32;
  pad: u32;
}

const RANGE_BYTES: usize = offsetof<Range>();

/**
 * Begins a build. `reservePointLine` must follow, then the caller fills positions and indices, then `stepPointLine`.
 * Throws OUT_OF_MEMORY.
 */
export function beginPointLine(vertexCount: u32, elementCount: u32, size: u32): PointLineBuild {
  const build = changetype<PointLineBuild>(allocate(offsetof<PointLineBuild>()));
  memory.fill(changetype<usize>(build), 0, offsetof<PointLineBuild>());
  build.vertexCount = vertexCount;
  build.elementCount = elementCount;
  build.size = size;
  build.min = f32x4.splat(Infinity);
  build.max = f32x4.splat(-Infinity);
  return build;
}

/**
 * Allocates what the build needs to start, separately from its beginning, so that this can be undone. Throws
 * OUT_OF_MEMORY.
 */
export function reservePointLine(build: PointLineBuild, indexed: bool): void {
  build.positions = allocate(<u64>build.vertexCount * 12 + 16);
  if (indexed) build.indices = allocate((<u64>build.elementCount * build.size) << 2);
}

export function freePointLine(build: PointLineBuild): void {
  release(build.positions);
  release(build.indices);
  release(build.records);
  release(build.stack);
  release(build.bounds);
  release(build.mesh);
  release(changetype<usize>(build));
}

/** Works until time `deadline`. Returns the fraction done, or -1 if the data are bad. Throws OUT_OF_MEMORY. */
export function stepPointLine(build: PointLineBuild, deadline: f64): f64 {
  do {
    if (build.phase == PHASE_SCAN) scan(build);
    else if (build.phase == PHASE_RECORDS) placeElements(build);
    else if (build.phase == PHASE_SPLIT) splitStep(build);
    else if (build.phase == PHASE_FIT) fitStep(build);
    if (build.error != 0) return -1;
  } while (build.phase != PHASE_DONE && now() < deadline);
  return fraction(build);
}

function fraction(build: PointLineBuild): f64 {
  const done = <f64>build.cursor;
  if (build.phase == PHASE_SCAN) return (0.05 * done) / <f64>build.elementCount;
  if (build.phase == PHASE_RECORDS) return 0.05 + (0.1 * done) / <f64>build.elementCount;
  if (build.phase == PHASE_SPLIT) return 0.15 + (0.75 * <f64>build.blockCount) / <f64>blocksFor(build.keptCount, build.size);
  if (build.phase == PHASE_FIT) return 0.9 + 0.09 * (1.0 - done / <f64>build.nodeCount);
  return 1;
}

// @ts-ignore: decorator
@inline
function vertexIn(build: PointLineBuild, element: u32, k: u32): u32 {
  const i = element * build.size + k;
  return build.indices == 0 ? i : load<u32>(build.indices + (<usize>i << 2));
}

/** Reads the position of a vertex; the fourth lane is undefined. */
// @ts-ignore: decorator
@inline
function positionOf(build: PointLineBuild, vertex: u32): v128 {
  return v128.load(build.positions + <usize>vertex * 12);
}

// @ts-ignore: decorator
@inline
function isFinite(v: v128): bool {
  return (i32x4.bitmask(f32x4.eq(f32x4.sub(v, v), f32x4.splat(0))) & 7) == 7;
}

/** Finds the elements with finite vertices, and their bounds. */
function scan(build: PointLineBuild): void {
  const end = min<u32>(build.cursor + ELEMENTS_PER_STEP, build.elementCount);
  let boundsMin = build.min, boundsMax = build.max;
  for (let e = build.cursor; e < end; e++) {
    const first = vertexIn(build, e, 0), last = vertexIn(build, e, build.size - 1);
    if (max(first, last) >= build.vertexCount) {
      build.error = POINT_LINE_BAD_INDEX;
      build.culprit = e * build.size + (first >= build.vertexCount ? 0 : 1);
      return;
    }
    const a = positionOf(build, first), b = positionOf(build, last);
    if (!isFinite(a) || !isFinite(b)) continue;
    build.keptCount++;
    boundsMin = f32x4.pmin(f32x4.pmin(boundsMin, a), b);
    boundsMax = f32x4.pmax(f32x4.pmax(boundsMax, a), b);
  }
  build.min = boundsMin;
  build.max = boundsMax;
  build.cursor = end;
  if (end < build.elementCount) return;
  if (build.keptCount == 0) {
    build.error = POINT_LINE_EMPTY;
    return;
  }
  const space = spaceOf(build);
  space.minX = f32x4.extract_lane(boundsMin, 0); space.maxX = f32x4.extract_lane(boundsMax, 0);
  space.minY = f32x4.extract_lane(boundsMin, 1); space.maxY = f32x4.extract_lane(boundsMax, 1);
  space.minZ = f32x4.extract_lane(boundsMin, 2); space.maxZ = f32x4.extract_lane(boundsMax, 2);
  chooseOffset(space);
  const largest = largestCoordinate(space);
  build.exponent = exponentOf(largest);
  build.extent = largest == 0 ? 1 : <f32>(largest * scaleFor(build.exponent));
  build.records = allocate(<u64>build.keptCount * recordBytes(build.size));
  build.phase = PHASE_RECORDS;
  build.cursor = 0;
  build.keptCount = 0;
}

// @ts-ignore: decorator
@inline
function recordBytes(size: u32): usize {
  return size == 1 ? offsetof<PointRecord>() : offsetof<LineRecord>();
}

// Tree space of the current build.
let offsetXy: v128 = f64x2.splat(0), offsetZ: f64 = 0, scale: f64 = 1;

function enterSpace(build: PointLineBuild): void {
  offsetXy = f64x2.replace_lane(f64x2.splat(build.offsetX), 1, build.offsetY);
  offsetZ = build.offsetZ;
  scale = scaleFor(build.exponent);
}

/** Maps a position to tree space, where it is exact. */
// @ts-ignore: decorator
@inline
function toTreeSpace(v: v128): v128 {
  const xy = f64x2.mul(f64x2.sub(f64x2.promote_low_f32x4(v), offsetXy), f64x2.splat(scale));
  const z = <f32>((<f64>f32x4.extract_lane(v, 2) - offsetZ) * scale);
  return f32x4.replace_lane(f32x4.demote_f64x2_zero(xy), 2, z);
}

/** Makes the records. */
function placeElements(build: PointLineBuild): void {
  enterSpace(build);
  const end = min<u32>(build.cursor + ELEMENTS_PER_STEP, build.elementCount);
  const space = spaceOf(build);
  const x = 0.5 * (space.minX + space.maxX), y = 0.5 * (space.minY + space.maxY), z = 0.5 * (space.minZ + space.maxZ);
  const isLine = build.size == 2;
  const step = recordBytes(build.size);
  let radiusSquared = build.radiusSquared;
  let to = build.records + <usize>build.keptCount * step;
  for (let e = build.cursor; e < end; e++) {
    const a = positionOf(build, vertexIn(build, e, 0));
    if (!isFinite(a)) continue;
    if (isLine) {
      const b = positionOf(build, vertexIn(build, e, 1));
      if (!isFinite(b)) continue;
      v128.store(to, toTreeSpace(b), 16);
      radiusSquared = f64.max(radiusSquared, distanceSquaredFrom(b, x, y, z));
    }
    radiusSquared = f64.max(radiusSquared, distanceSquaredFrom(a, x, y, z));
    v128.store(to, i32x4.replace_lane(toTreeSpace(a), 3, e));
    to += step;
  }
  build.radiusSquared = radiusSquared;
  build.keptCount = <u32>((to - build.records) / step);
  build.cursor = end;
  if (end < build.elementCount) return;
  release(build.positions); // the records have all that is needed of them
  build.positions = 0;
  beginTree(build);
}

// @ts-ignore: decorator
@inline
function distanceSquaredFrom(v: v128, x: f64, y: f64, z: f64): f64 {
  const dx = <f64>f32x4.extract_lane(v, 0) - x, dy = <f64>f32x4.extract_lane(v, 1) - y;
  const dz = <f64>f32x4.extract_lane(v, 2) - z;
  return dx * dx + dy * dy + dz * dz;
}

/** Allocates the mesh and writes its header; nodes and blocks follow later. */
function beginTree(build: PointLineBuild): void {
  const size = build.size;
  const blockCount = blocksFor(build.keptCount, size);
  const nodeCount = nodesFor(blockCount);
  const nodes = <u64>MESH_HEADER_BYTES;
  const blocks = nodes + <u64>nodeCount * NODE_BYTES;
  const indices = blocks + <u64>blockCount * blockBytes(size);
  const indexBytes: u64 = build.indices == 0 ? 0 : (<u64>build.elementCount * size) << 2;
  const bytes = indices + indexBytes;
  if (nodeCount > MAX_NODES) outOfMemory(<f64>bytes);
  build.mesh = allocate(bytes);
  const mesh = changetype<PointLine>(build.mesh);
  memory.fill(build.mesh, 0, MESH_HEADER_BYTES);
  mesh.magic = POINT_LINE_MAGIC_VALUE;
  mesh.version = POINT_LINE_VERSION_VALUE;
  mesh.bytes = <u32>bytes;
  mesh.nodeCount = nodeCount;
  mesh.blockCount = blockCount;
  mesh.elementCount = build.elementCount;
  mesh.keptCount = build.keptCount;
  mesh.vertexCount = build.vertexCount;
  mesh.indexed = build.indices == 0 ? 0 : 1;
  mesh.nodes = <u32>nodes;
  mesh.blocks = <u32>blocks;
  mesh.indices = <u32>indices;
  mesh.exponent = build.exponent;
  mesh.size = size;
  mesh.radius = f64.max(sqrt(build.radiusSquared), MIN_RADIUS);
  memory.copy(build.mesh + offsetof<PointLine>('offsetX'), changetype<usize>(spaceOf(build)), SPACE_BYTES);
  if (indexBytes > 0) memory.copy(build.mesh + mesh.indices, build.indices, <usize>indexBytes);
  build.nodeCount = 1;
  push(build, 0, build.keptCount, 0);
  build.phase = PHASE_SPLIT;
}

/** Returns the most blocks below a child: the smallest power of four that is at least a quarter of the blocks. */
function childCapacity(blocks: u32): u32 {
  let capacity: u32 = 1;
  while (<u64>capacity * 4 < blocks) capacity *= 4;
  return capacity;
}

/** Returns the number of nodes of a tree of `blocks` blocks. */
function nodesFor(blocks: u32): u32 {
  if (blocks <= 4) return 1;
  const parts = (blocks - 1) / childCapacity(blocks) + 1;
  const blocksPerPart = blocks / parts, remainder = blocks % parts;
  const smaller = (parts - remainder) * nodesFor(blocksPerPart);
  return 1 + smaller + (remainder == 0 ? 0 : remainder * nodesFor(blocksPerPart + 1));
}

function push(build: PointLineBuild, start: u32, end: u32, node: u32): void {
  build.stack = reserve(build.stack, <usize>build.stackCount * RANGE_BYTES, <u64>(build.stackCount + 1) * RANGE_BYTES);
  const range = changetype<Range>(build.stack + build.stackCount++ * <u32>RANGE_BYTES);
  range.start = start;
  range.end = end;
  range.node = node;
}

function splitStep(build: PointLineBuild): void {
  let work: u32 = 0;
  while (build.stackCount > 0 && work < ELEMENTS_PER_STEP) {
    const range = changetype<Range>(build.stack + --build.stackCount * <u32>RANGE_BYTES);
    work += range.end - range.start;
    makeNode(build, range.start, range.end, range.node);
  }
  if (build.stackCount > 0) return;
  release(build.records);
  build.records = 0;
  build.bounds = allocate(<u64>build.nodeCount * BOUNDS_BYTES);
  build.phase = PHASE_FIT;
  build.cursor = build.nodeCount;
}

/** Where up to four parts of a range begin, and where the last one ends: u32 each. */
const partStarts: usize = memory.data(5 * WORD_BYTES, 4);

// @ts-ignore: decorator
@inline
function partStart(i: u32): u32 {
  return load<u32>(partStarts + (<usize>i << 2));
}

/** Makes a node of a range: splits it into parts of whole blocks, which become leaves or are pushed to become nodes. */
function makeNode(build: PointLineBuild, start: u32, end: u32, index: u32): void {
  const mesh = changetype<PointLine>(build.mesh);
  const blockCapacity = elementsPerBlock(build.size);
  const blocks = blocksFor(end - start, build.size);
  const isLast = blocks <= 4;
  const parts = isLast ? blocks : (blocks - 1) / childCapacity(blocks) + 1;
  const blocksPerPart = blocks / parts, remainder = blocks % parts;
  let at = start;
  for (let i: u32 = 0; i < parts; i++) {
    store<u32>(partStarts + (<usize>i << 2), at);
    at += (blocksPerPart + (i < remainder ? 1 : 0)) * blockCapacity;
  }
  store<u32>(partStarts + (<usize>parts << 2), end);
  if (build.size == 1) partitionParts<PointRecord>(build.records, 0, parts);
  else partitionParts<LineRecord>(build.records, 0, parts);

  const node = changetype<Node>(build.mesh + mesh.nodes + index * <u32>NODE_BYTES);
  const inner: u32 = isLast ? 0 : parts;
  setChildren(node, inner, parts, build.nodeCount, build.blockCount);
  let next = build.nodeCount;
  build.nodeCount += inner;
  for (let i: u32 = 0; i < parts; i++) {
    if (isLast) writeBlock(build, partStart(i), partStart(i + 1));
    else push(build, partStart(i), partStart(i + 1), next++);
  }
}

/** Partitions the records among the parts `first` to `last`. */
function partitionParts<T>(records: usize, first: u32, last: u32): void {
  if (last - first < 2) return;
  const middle = (first + last) >> 1;
  const start = partStart(first), end = partStart(last);
  let sumMin = f32x4.splat(Infinity), sumMax = f32x4.splat(-Infinity);
  let at = records + <usize>start * offsetof<T>();
  for (const stop = records + <usize>end * offsetof<T>(); at < stop; at += offsetof<T>()) {
    let v = v128.load(at);
    if (offsetof<T>() > 16) v = f32x4.add(v, v128.load(at, 16));
    sumMin = f32x4.pmin(sumMin, v);
    sumMax = f32x4.pmax(sumMax, v);
  }
  const d = f32x4.sub(sumMax, sumMin);
  const x = f32x4.extract_lane(d, 0), y = f32x4.extract_lane(d, 1), z = f32x4.extract_lane(d, 2);
  select<T>(records, start, end, partStart(middle), x >= y && x >= z ? 0 : y >= z ? 4 : 8);
  partitionParts<T>(records, first, middle);
  partitionParts<T>(records, middle, last);
}

function writeBlock(build: PointLineBuild, start: u32, end: u32): void {
  const mesh = changetype<PointLine>(build.mesh);
  const size = build.size, blockCapacity = elementsPerBlock(size), step = recordBytes(size);
  const block = build.mesh + mesh.blocks + <usize>build.blockCount * blockBytes(size);
  build.blockCount++;
  for (let lane: u32 = 0; lane < blockCapacity; lane++) {
    const isFilled = start + lane < end;
    const record = build.records + <usize>(isFilled ? start + lane : start) * step;
    const position = v128.load(record);
    const elementIndex = isFilled ? i32x4.extract_lane(position, 3) : NO_ELEMENT;
    const at = block + (<usize>lane << 2);
    if (size == 1) {
      storePoint(at, position);
      store<u32>(at, elementIndex, POINT_ELEMENT);
    } else {
      storeLine(at, position, v128.load(record, 16));
      store<u32>(at, elementIndex, LINE_ELEMENT);
    }
  }
}

function fitStep(build: PointLineBuild): void {
  const mesh = changetype<PointLine>(build.mesh);
  const nodes = build.mesh + mesh.nodes, blocks = build.mesh + mesh.blocks;
  const stop = build.cursor > NODES_PER_STEP ? build.cursor - NODES_PER_STEP : 0;
  while (build.cursor > stop) {
    build.areas += fitNode(nodes, --build.cursor, blocks, build.size, build.bounds, build.extent);
  }
  if (stop > 0) return;
  mesh.builtCost = costOf(mesh, build.areas, <f64>build.extent);
  mesh.cost = mesh.builtCost;
  build.phase = PHASE_DONE;
}
