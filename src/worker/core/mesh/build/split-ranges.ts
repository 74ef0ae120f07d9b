// The phases of a build that make the tree from its triangles: ranges of them are cut until each is a leaf.

import { outOfMemory } from '../../host';
import { allocate, release, reserve } from '../../memory';
import { hasArea } from '../../math/collinear-triangles';
import { BLOCK_BYTES, Block, MAX_NODES, NODE_BYTES, Node, setChildren } from '../tree/layout';
import { scaleFor } from '../tree/tree-space';
import { EXTREMES_BYTES, SUBTREE_BYTES } from './fit-rotation';
import { CENTRES_BYTES, Centres, boundCentres, primitiveAt, split } from './binned-sah';
import { PHASE_SPLIT, PHASE_FIT, Build, corner, coordinate } from './build-state';
import { WORD_BYTES } from '../../sizes';

const LEAF_SIZE: u32 = 4;
/** Ranges are halved from this depth on, so that a tree's depth is bounded for any input. */
const DEPTH_LIMIT: u32 = 48;

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

export function isFlat(build: Build, t: u32): bool {
  const a = corner(build, t, 0), b = corner(build, t, 1), c = corner(build, t, 2);
  return !hasArea(
    coordinate(build, a, 0), coordinate(build, a, 1), coordinate(build, a, 2), coordinate(build, b, 0),
    coordinate(build, b, 1), coordinate(build, b, 2), coordinate(build, c, 0), coordinate(build, c, 1), coordinate(build, c, 2),
  );
}

/** Makes primitives from the waiting indices, last first: a primitive is larger than the index it may overwrite. */
export function place(build: Build): void {
  const scale = scaleFor(build.exponent);
  const stop = build.cursor > PRIMITIVES_A_STEP ? build.cursor - PRIMITIVES_A_STEP : 0;
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
const segments: usize = memory.data(5 * WORD_BYTES, 4);
/** The bounds of the centres of each of these parts. */
const centres: usize = memory.data(4 * <i32>offsetof<Centres>(), 16);

// @ts-ignore: decorator
@inline
function centresAt(part: usize): Centres {
  return changetype<Centres>(centres + part * CENTRES_BYTES);
}

/** Primitives that are made or split between two looks at the clock. */
const PRIMITIVES_A_STEP: u32 = 4096;

export function splitSome(build: Build): void {
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
