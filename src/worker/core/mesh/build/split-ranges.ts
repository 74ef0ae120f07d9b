// The phases of a build that make the tree from its triangles: ranges are cut until each is a leaf.

import { outOfMemory } from '../../host';
import { allocate, release, reserve } from '../../memory';
import { hasArea } from '../../math/collinear-triangles';
import { BLOCK_BYTES, Block, MAX_NODES, NODE_BYTES, Node, setChildren } from '../tree/layout';
import { scaleFor } from '../tree/tree-space';
import {
  CenterBounds, PRIMITIVE_BYTES, boundCenters, firstPartCount, primitiveAt, setTag, split, tagOf,
} from './binned-sah';
import { FIRST, NOT_CUT, PHASE_SPLIT, SECOND, WHOLE, Build, vertexOfCorner, coordinate, vertexAt } from './build-state';
import {
  ANY_RANGES, CORNERS_BYTES, beginFitting, cutHere, isAtCut, isShared, addFirstPartBox, addLateNode,
} from './parted-build';
import { beginSort, codeScale, copyContents, gatherCells, storeCode, reserveOrder } from './morton-order';

const LEAF_SIZE: u32 = 4;
/** From this depth on, ranges are halved, so that a tree's depth is bounded for any input. */
const DEPTH_LIMIT: u32 = 48;

/** A pending range of primitives, of cells or of groups that is to become a node. */
@unmanaged
class Range {
  start: u32;
  end: u32;
  depth: u32;
  node: u32; // the node's index
  count: u32; // of triangles
  kind: u32; // OF_TRIANGLES, OF_CELLS or OF_GROUPS
  pad: u64;
  min: v128; // Centres
  max: v128;
}

const RANGE_BYTES: usize = offsetof<Range>();

// Range.kind; each consists of elements of the kind before it.
const OF_TRIANGLES: u32 = 0;
const OF_CELLS: u32 = 1;
const OF_GROUPS: u32 = 2;

/** Maps a vertex to tree space in float32, if that is exact, as it is except for the smallest and the largest meshes. */
let offset: v128 = f32x4.splat(0);
let scale32: v128 = f32x4.splat(0);
let scale: f64 = 0;
let isExact: bool = false;

function setSpace(build: Build): void {
  scale = scaleFor(build.exponent);
  isExact = build.flatKeptCount == 0 && abs(build.exponent) < LARGEST_EXPONENT;
  scale32 = f32x4.splat(<f32>scale);
  offset = f32x4(<f32>build.offsetX, <f32>build.offsetY, <f32>build.offsetZ, 0);
}

/** Powers of two up to this exponent, and their reciprocals, are normal numbers in float32. */
const LARGEST_EXPONENT: i32 = 126;

/** Returns a triangle's corner in tree space: x, y, z and an undefined lane. */
// @ts-ignore: decorator
@inline
function cornerInTree(build: Build, t: u32, k: u32): v128 {
  if (!isExact) return roundedInTree(build, t, k);
  return f32x4.mul(f32x4.sub(v128.load(vertexAt(build, vertexOfCorner(build, t, k))), offset), scale32);
}

/** Returns the same, rounded from float64. If the triangle has no area, all three corners are its first one, as in a refit. */
function roundedInTree(build: Build, t: u32, k: u32): v128 {
  const vertex = vertexOfCorner(build, t, build.flatKeptCount != 0 && isFlat(build, t) ? 0 : k);
  const x = coordinate(build, vertex, 0), y = coordinate(build, vertex, 1), z = coordinate(build, vertex, 2);
  return f32x4(
    <f32>((x - build.offsetX) * scale), <f32>((y - build.offsetY) * scale), <f32>((z - build.offsetZ) * scale), 0,
  );
}

export function isFlat(build: Build, t: u32): bool {
  const a = vertexOfCorner(build, t, 0), b = vertexOfCorner(build, t, 1), c = vertexOfCorner(build, t, 2);
  return !hasArea(
    coordinate(build, a, 0), coordinate(build, a, 1), coordinate(build, a, 2), coordinate(build, b, 0),
    coordinate(build, b, 1), coordinate(build, b, 2), coordinate(build, c, 0), coordinate(build, c, 1), coordinate(build, c, 2),
  );
}

/**
 * Maps the bounds of triangles to tree space. This avoids reading vertices a second time and takes half the time, of 17
 * ms for the full dragon.
 */
export function mapBoundsToTree(build: Build): void {
  setSpace(build);
  const hasCells = build.keptCount > MAX_SPLIT_BY_TRIANGLES;
  if (hasCells && build.order == 0) reserveOrder(build);
  const x = <f32>((build.minX - build.offsetX) * scale), y = <f32>((build.minY - build.offsetY) * scale);
  const z = <f32>((build.minZ - build.offsetZ) * scale);
  const gridMin = f32x4(2 * x, 2 * y, 2 * z, 0);
  const extent = max(max(build.maxX - build.minX, build.maxY - build.minY), build.maxZ - build.minZ) * scale;
  const steps = f32x4.splat(codeScale(<f32>extent));
  const stop = build.cursor > PRIMITIVES_PER_STEP ? build.cursor - PRIMITIVES_PER_STEP : 0;
  for (let i = build.cursor; i > stop; ) {
    i--;
    const p = primitiveAt(build.primitives, i), t = tagOf(p.min);
    let treeMin = f32x4.mul(f32x4.sub(p.min, offset), scale32), treeMax = f32x4.mul(f32x4.sub(p.max, offset), scale32);
    if (!isExact) {
      const a = roundedInTree(build, t, 0), b = roundedInTree(build, t, 1), c = roundedInTree(build, t, 2);
      treeMin = f32x4.pmin(f32x4.pmin(a, b), c);
      treeMax = f32x4.pmax(f32x4.pmax(a, b), c);
    }
    p.min = setTag(treeMin, t);
    p.max = setTag(treeMax, 1);
    if (hasCells) storeCode(build, i, f32x4.add(treeMin, treeMax), gridMin, steps);
  }
  build.cursor = stop;
  if (stop > 0) return;
  if (hasCells) beginSort(build);
  else beginSplit(build);
}

/** Begins to split all triangles, by cells if there are any. */
function beginSplit(build: Build): void {
  build.phase = PHASE_SPLIT;
  build.stack = allocate(RANGE_BYTES * 1024);
  build.stackCount = 0;
  // As many blocks as typical surfaces have, so that the buffer need not be copied to a larger one: memory is only
  // touched where it is used.
  const blocks = <u64>build.keptCount * 9 / 28 + 1;
  build.blocks = allocate(blocks * BLOCK_BYTES);
  if (build.indices != 0) build.corners = allocate(blocks * CORNERS_BYTES);
  build.nodes = allocate((blocks / 2 + 1) * NODE_BYTES);
  build.nodeCount = 1;
  const kind = build.groupCount > 0 ? OF_GROUPS : build.cellCount > 0 ? OF_CELLS : OF_TRIANGLES;
  const end = kind == OF_GROUPS ? build.groupCount : kind == OF_CELLS ? build.cellCount : build.keptCount;
  boundCenters(primitivesOf(build, kind), 0, end, partAt(0));
  push(build, 0, end, 0, 0, build.keptCount, kind, partAt(0));
}

export function gatherStep(build: Build): void {
  if (gatherCells(build)) beginSplit(build);
}

function push(
  build: Build, start: u32, end: u32, depth: u32, node: u32, count: u32, kind: u32, centers: CenterBounds,
): void {
  build.stack = reserve(build.stack, <usize>build.stackCount * RANGE_BYTES, <u64>(build.stackCount + 1) * RANGE_BYTES);
  const range = changetype<Range>(build.stack + build.stackCount++ * <u32>RANGE_BYTES);
  range.start = start;
  range.end = end;
  range.depth = depth;
  range.node = node;
  range.count = count;
  range.kind = kind;
  range.min = centers.min;
  range.max = centers.max;
}

/** A part of a range, which becomes a child. */
@unmanaged
class Part extends CenterBounds {
  start: u32;
  end: u32;
  count: u32; // of triangles
  pad: u32;
}

const PART_BYTES: usize = offsetof<Part>();
const parts: usize = memory.data(4 * <i32>offsetof<Part>(), 16);

// @ts-ignore: decorator
@inline
function partAt(i: u32): Part {
  return changetype<Part>(parts + i * <u32>PART_BYTES);
}

/** Primitives that are made or split between two checks of the clock. */
const PRIMITIVES_PER_STEP: u32 = 4096;

/** Up to this many triangles are cut without cells: their bounds are 8 KB, and stay in the first-level cache. */
const MAX_SPLIT_BY_TRIANGLES: u32 = 256;
const FAST_MAX_SPLIT_BY_TRIANGLES: u32 = 32;
/** Up to this many triangles are cut without groups. With 1024, and groups of 64, rays visit 1.2 % more nodes of rods. */
const MAX_SPLIT_BY_CELLS: u32 = 4096;
/**
 * From this depth on no cells are cut, since their sizes differ, and halving their number may not halve the triangles.
 */
const CELL_DEPTH_LIMIT: u32 = 32;

export function splitStep(build: Build): void {
  let work: u32 = 0;
  setSpace(build);
  while (build.stackCount > 0 && work < PRIMITIVES_PER_STEP) {
    const range = changetype<Range>(build.stack + --build.stackCount * <u32>RANGE_BYTES);
    work += range.end - range.start;
    partAt(0).min = range.min;
    partAt(0).max = range.max;
    const depth = range.depth, node = range.node, count = range.count;
    let start = range.start, end = range.end, kind = range.kind;
    if (build.part != WHOLE && build.cut == NOT_CUT && build.stackCount < build.topRanges) {
      if (isAtCut(build)) {
        build.stackCount++;
        cutPendingRanges(build);
        if (build.part == FIRST) return;
        continue;
      }
      if (staysClosed(build, kind, count, end - start, depth) && isShared(build, count)) {
        addLateNode(build, node);
        build.topRanges = ANY_RANGES;
      } else if (build.part == SECOND) {
        build.placedCount += count;
        addFirstPartBox(build, primitivesOf(build, kind), start, end);
        continue;
      } else {
        build.topRanges = build.stackCount;
      }
    }
    while (kind != OF_TRIANGLES && !staysClosed(build, kind, count, end - start, depth)) {
      end = openRange(build, kind--, start, end, count);
      start = 0;
      boundCenters(primitivesOf(build, kind), 0, end, partAt(0));
      work += end;
    }
    makeNode(build, start, end, depth, node, count, kind);
  }
  if (build.stackCount == 0) beginFitting(build);
}

/** Makes the nodes of the pending ranges the first ones of the second part. */
function cutPendingRanges(build: Build): void {
  for (let i: u32 = 0; i < build.stackCount; i++) {
    const range = changetype<Range>(build.stack + i * <u32>RANGE_BYTES);
    addLateNode(build, range.node);
    if (build.part == SECOND) range.node = i;
  }
  cutHere(build, build.stackCount);
}

// @ts-ignore: decorator
@inline
function primitivesOf(build: Build, kind: u32): usize {
  if (kind == OF_GROUPS) return build.groups;
  if (kind == OF_CELLS) return build.groupCount > 0 ? build.belowGroups : build.cells;
  return build.cellCount > 0 ? build.belowCells : build.primitives;
}

/** Returns whether a range has so many triangles that its cells or groups are not opened. */
function staysClosed(build: Build, kind: u32, count: u32, length: u32, depth: u32): bool {
  const maxCount = kind == OF_GROUPS ? MAX_SPLIT_BY_CELLS : build.isFast ? FAST_MAX_SPLIT_BY_TRIANGLES : MAX_SPLIT_BY_TRIANGLES;
  return kind != OF_TRIANGLES && count > maxCount && length > 1 && depth < CELL_DEPTH_LIMIT;
}

/**
 * Copies the contents of groups or cells, `count` triangles, to one buffer per kind: a range is completed with its whole
 * subtree before the next one. Returns how many cells or triangles these are.
 */
function openRange(build: Build, kind: u32, start: u32, end: u32, count: u32): u32 {
  const areGroups = kind == OF_GROUPS;
  const to = reserve(areGroups ? build.belowGroups : build.belowCells, 0, <u64>count * PRIMITIVE_BYTES);
  if (areGroups) build.belowGroups = to;
  else build.belowCells = to;
  return copyContents(primitivesOf(build, kind), start, end, areGroups ? build.cells : build.primitives, to);
}

/** Makes a node: cuts its range in two, then the most expensive part again, until there are four. */
function makeNode(build: Build, start: u32, end: u32, depth: u32, index: u32, totalCount: u32, kind: u32): void {
  const primitives = primitivesOf(build, kind);
  partAt(0).start = start;
  partAt(0).end = end;
  partAt(0).count = totalCount;
  let count: u32 = 1;
  for (; count < 4; count++) {
    // The part with the most triangles stands for the most expensive one: both agree nearly always, and no areas are
    // needed.
    let largest = partAt(0);
    let maxCount: u32 = LEAF_SIZE;
    for (let i: u32 = 0; i < count; i++) {
      const part = partAt(i);
      if (part.count <= maxCount || part.end - part.start == 1) continue;
      maxCount = part.count;
      largest = part;
    }
    if (maxCount == LEAF_SIZE) break;
    const second = partAt(count);
    second.end = largest.end;
    second.start = largest.end = split(primitives, largest.start, largest.end, depth >= DEPTH_LIMIT, largest, second);
    second.count = maxCount - firstPartCount;
    largest.count = firstPartCount;
  }

  // Nodes first, then leaves; the indices of each kind are consecutive.
  let inner: u32 = 0;
  for (let i: u32 = 0; i < count; i++) if (partAt(i).count > LEAF_SIZE) inner++;
  const firstNode = build.nodeCount;
  build.nodeCount += inner;
  if (build.nodeCount > MAX_NODES) outOfMemory(<f64>build.nodeCount * NODE_BYTES);
  build.nodes = reserve(build.nodes, <usize>firstNode * NODE_BYTES, <u64>build.nodeCount * NODE_BYTES);
  const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
  setChildren(node, inner, count, firstNode, build.blockCount);
  let next = firstNode;
  for (let i: u32 = 0; i < count; i++) {
    const part = partAt(i);
    let from = part.start, to = part.end;
    if (part.count > LEAF_SIZE) {
      push(build, from, to, depth + 1, next++, part.count, kind, part);
      continue;
    }
    for (let k = kind; k != OF_TRIANGLES; k--) {
      to = openRange(build, k, from, to, part.count);
      from = 0;
    }
    writeBlock(build, primitivesOf(build, OF_TRIANGLES), from, to);
  }
}

function writeBlock(build: Build, primitives: usize, from: u32, to: u32): void {
  const index = build.blockCount++;
  build.blocks = reserve(build.blocks, <usize>index * BLOCK_BYTES, <u64>build.blockCount * BLOCK_BYTES);
  const block = build.blocks + index * <u32>BLOCK_BYTES;
  const count = to - from;
  if (build.part == SECOND && build.cut == NOT_CUT) addFirstPartBox(build, primitives, from, to);
  // A lane without a triangle has the first triangle's first corner three times. Transposing four corners at a time
  // saves 3 % of the phase compared to one by one.
  const first = primitiveAt(primitives, from);
  const t0 = tagOf(first.min), t1 = count > 1 ? tagOf(primitiveAt(primitives, from + 1).min) : t0;
  const t2 = count > 2 ? tagOf(primitiveAt(primitives, from + 2).min) : t0;
  const t3 = count > 3 ? tagOf(primitiveAt(primitives, from + 3).min) : t0;
  for (let k: u32 = 0; k < 3; k++) {
    const a = cornerInTree(build, t0, k), b = cornerInTree(build, t1, count > 1 ? k : 0);
    const c = cornerInTree(build, t2, count > 2 ? k : 0), d = cornerInTree(build, t3, count > 3 ? k : 0);
    const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5), cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
    const at = block + <usize>k * 48;
    v128.store(at, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
    v128.store(at, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), 16);
    v128.store(at, v128.shuffle<f32>(v128.shuffle<f32>(a, b, 2, 6, 2, 6), v128.shuffle<f32>(c, d, 2, 6, 2, 6), 0, 1, 4, 5), 32);
  }
  for (let lane: u32 = 0; lane < 4; lane++) {
    const t = lane < count ? tagOf(primitiveAt(primitives, from + lane).min) : NO_TRIANGLE;
    const isMarked = build.flatKeptCount != 0 && lane < count && isFlat(build, t);
    store<u32>(block + (<usize>lane << 2), isMarked ? t | FLAT : t, offsetof<Block>('triangle0'));
  }
  build.placedCount += count;
  if (build.indices == 0) return;
  const used = <usize>index * CORNERS_BYTES;
  build.corners = reserve(build.corners, used, <u64>used + CORNERS_BYTES);
  for (let lane: u32 = 0; lane < count; lane++) {
    const t = tagOf(primitiveAt(primitives, from + lane).min), at = build.corners + used + <usize>lane * 12;
    store<u64>(at, load<u64>(build.indices + <usize>t * 12));
    store<u32>(at, load<u32>(build.indices + <usize>t * 12, 8), 8);
  }
}

const NO_TRIANGLE: u32 = 0xffffffff;
/** Marks a triangle without an area, as in a refit. */
const FLAT: u32 = 0x80000000;
