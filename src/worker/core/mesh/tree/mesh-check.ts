// Validates baked data in steps, so that the caller can do other work in between: the part that meshes of triangles, of
// points and of lines have in common. The code for each kind of mesh adds the memory ranges in which each number only
// has to be within a limit.

import { MESH_HEADER_BYTES } from '../../../../shared/layout';
import { allocate } from '../../memory';
import { CHECKSUM_BYTES, Checksum, beginChecksum } from './checksum';
import {
  MAX_DEPTH, MAX_EXPONENT, MIN_EXPONENT, Mesh, NODE_BYTES, childCount, firstBlock, firstNode, innerCount, isRotated, isSound,
  nodeAt,
} from './layout';
import { SPACE_BYTES, Space, chooseOffset, exponentFor, largestCoordinate } from './tree-space';

export const MESH_OK = 0;
export const MESH_TRUNCATED = 1;
export const MESH_FOREIGN = 2;
export const MESH_OTHER_VERSION = 3;
export const MESH_INCONSISTENT = 4;
export const MESH_CORRUPT = 5;
export const MESH_BAD_LINK = 6;
export const MESH_TOO_DEEP = 9;
export const MESH_BAD_NUMBER = 10;
export const MESH_BAD_INDEX = 11;

/** A check in progress. The ranges, the checksum and the stack of nodes follow in memory. */
@unmanaged
export class MeshCheck {
  mesh: u32;
  /** The number of bytes that exist, whatever the header says. */
  bytes: u32;
  phase: u32;
  /** 1 if no node may be rotated. */
  forbidsRotation: u32;
  rangeCount: u32;
  /** The range that is currently checked. */
  range: u32;
  /** The top of the stack of pending nodes; the numbers that the next node and block must have. */
  top: u32;
  nextNode: u32;
  nextBlock: u32;
  /** The number of triangles in the blocks: those that have an area, and all. */
  keptCount: u32;
  filledCount: u32;
  /** The first block that has not been checked yet. */
  nextUncheckedBlock: u32;
  /** The fault that was found so far. */
  fault: u32;
}

/** Numbers are vectors of f32 whose magnitudes do not exceed the limit. */
export const RANGE_FLOATS: u32 = 0;
/** Numbers are u32 that are less than the limit. */
export const RANGE_WORDS: u32 = 1;
/** Numbers are groups of four u16 that are less than the limit. */
export const RANGE_HALVES: u32 = 2;
/** Numbers are pairs of u32: the first is less than four times the limit, the second less than the limit. */
export const RANGE_PAIRS: u32 = 3;

@unmanaged
class Range {
  /** The start of the part that has not been checked yet. */
  start: u32;
  end: u32;
  kind: u32;
  /** A u32, or the bits of an f32. */
  limit: u32;
}

const RANGE_BYTES: usize = offsetof<Range>();
/** The most ranges of a mesh: eight of the tree and the data for deformation, five of the derived data. */
const MAX_RANGES: usize = 16;
/** The pending nodes, with their depths: three of each depth but the root's, and a fourth of the last. */
const STACK_BYTES: usize = 8 * (3 * <usize>MAX_DEPTH + 1);

const RANGES: usize = (offsetof<MeshCheck>() + 15) & ~15;
const SUM: usize = RANGES + MAX_RANGES * RANGE_BYTES;
const STACK: usize = SUM + CHECKSUM_BYTES;

/** Begins a check of the `bytes` bytes at `address`. The caller must release it. Throws OUT_OF_MEMORY. */
export function beginMeshCheck(address: usize, bytes: u32): MeshCheck {
  const check = changetype<MeshCheck>(allocate(STACK + STACK_BYTES));
  memory.fill(changetype<usize>(check), 0, STACK);
  check.mesh = <u32>address;
  check.bytes = bytes;
  check.nextNode = 1;
  check.top = <u32>stackOf(check);
  push(check, 0, 0);
  return check;
}

// @ts-ignore: decorator
@inline
export function meshOf(check: MeshCheck): Mesh {
  return changetype<Mesh>(<usize>check.mesh);
}

// --- the header ---

/** Checks that a mesh is of a kind and version, and that all of its bytes exist. */
export function checkKind(check: MeshCheck, magic: u32, version: u32): u32 {
  if (check.bytes < <u32>MESH_HEADER_BYTES) return MESH_TRUNCATED;
  const mesh = meshOf(check);
  if (mesh.magic != magic) return MESH_FOREIGN;
  if (mesh.version != version) return MESH_OTHER_VERSION;
  return mesh.bytes == check.bytes ? MESH_OK : MESH_TRUNCATED;
}

/** Returns whether the bytes of the header from offset `start` to before `end`, both multiples of 4, are 0. */
export function isZero(mesh: Mesh, start: usize, end: usize): bool {
  for (let at = start; at < end; at += 4) if (load<u32>(changetype<usize>(mesh) + at) != 0) return false;
  return true;
}

const expectedSpace = changetype<Space>(memory.data(<i32>offsetof<Space>(), 16));

/** More than the diagonal of the largest bounds in float32. */
const MAX_RADIUS: f64 = 1e39;

/**
 * Returns whether the bounds are possible for float32 positions, tree space is the one that follows from them, and the costs and
 * the radius are possible. All vertices may coincide only if `canBePoint`: then tree space is not scaled.
 */
export function areHeaderNumbersValid(mesh: Mesh, canBePoint: bool): bool {
  const space = changetype<usize>(mesh) + offsetof<Mesh>('offsetX');
  memory.copy(changetype<usize>(expectedSpace), space, SPACE_BYTES);
  chooseOffset(expectedSpace);
  const largest = largestCoordinate(expectedSpace);
  return (
    isRangeValid(mesh.minX, mesh.maxX) && isRangeValid(mesh.minY, mesh.maxY) && isRangeValid(mesh.minZ, mesh.maxZ) &&
    memory.compare(changetype<usize>(expectedSpace), space, SPACE_BYTES) == 0 &&
    mesh.exponent == (canBePoint && largest == 0 ? 0 : exponentFor(largest)) &&
    mesh.exponent >= MIN_EXPONENT && mesh.exponent <= MAX_EXPONENT &&
    isCostValid(mesh.cost) && isCostValid(mesh.builtCost) &&
    mesh.radius > 0 && mesh.radius < MAX_RADIUS
  );
}

// Each comparison is false for NaN, here and below.
function isRangeValid(minimum: f64, maximum: f64): bool {
  return minimum >= <f64>-f32.MAX_VALUE && minimum <= maximum && maximum <= <f64>f32.MAX_VALUE;
}

/** Returns whether a cost is possible: a ray visits at least the root. */
function isCostValid(cost: f64): bool {
  return cost >= 1 && cost < Infinity;
}

// --- the checksum ---

/** Begins the checksum, once the header is known to have the right number of bytes. */
export function beginSum(check: MeshCheck): void {
  beginChecksum(sumOf(check), meshOf(check));
}

// @ts-ignore: decorator
@inline
export function sumOf(check: MeshCheck): Checksum {
  return changetype<Checksum>(changetype<usize>(check) + SUM);
}

// --- links ---

// @ts-ignore: decorator
@inline
function stackOf(check: MeshCheck): usize {
  return changetype<usize>(check) + STACK;
}

// @ts-ignore: decorator
@inline
function areLinksDone(check: MeshCheck): bool {
  return check.top == <u32>stackOf(check);
}

/**
 * Checks that nodes and their blocks have the numbers that builds give them, up to the first node that does not end
 * before `end`: a node is popped from the stack, its leaves must be the next blocks and its inner children the next
 * nodes, which are pushed. So everything is linked exactly once, from a node of lower index, and a subtree's blocks are
 * contiguous; otherwise a refit could visit blocks times nodes.
 */
export function checkLinksBefore(check: MeshCheck, end: usize): u32 {
  while (!areLinksDone(check)) {
    if (changetype<usize>(nodeAt(meshOf(check), load<u32>(check.top - 8))) + NODE_BYTES > end) return MESH_OK;
    const fault = checkNode(check);
    if (fault != MESH_OK) return fault;
  }
  const mesh = meshOf(check);
  return check.nextNode == mesh.nodeCount && check.nextBlock == mesh.blockCount ? MESH_OK : MESH_BAD_LINK;
}

// @ts-ignore: decorator
@inline
function push(check: MeshCheck, index: u32, depth: u32): void {
  store<u32>(check.top, index);
  store<u32>(check.top, depth, 4);
  check.top += 8;
}

// A separate function for each step of a long loop, since engines only switch to optimised code when a function is
// called.
function checkNode(check: MeshCheck): u32 {
  const mesh = meshOf(check);
  check.top -= 8;
  const node = nodeAt(mesh, load<u32>(check.top));
  const depth = load<u32>(check.top, 4);
  if (!isSound(node) || (check.forbidsRotation != 0 && isRotated(node))) return MESH_BAD_NUMBER;
  if (firstNode(node) != check.nextNode || firstBlock(node) != check.nextBlock) return MESH_BAD_LINK;
  const inner = innerCount(node);
  check.nextNode += inner;
  check.nextBlock += childCount(node) - inner;
  if (check.nextNode > mesh.nodeCount) return MESH_BAD_LINK;
  if (inner > 0 && depth == MAX_DEPTH) return MESH_TOO_DEEP;
  for (let index = check.nextNode - inner; index < check.nextNode; index++) push(check, index, depth + 1);
  return MESH_OK;
}

/** Returns how many of a mesh's blocks, of `bytes` bytes each and the first at `first`, end at or before `end`. */
export function blocksBefore(mesh: Mesh, first: usize, bytes: usize, end: usize): u32 {
  return end <= first ? 0 : <u32>min<usize>((end - first) / bytes, mesh.blockCount);
}

// --- ranges ---

/**
 * Adds a range: all f32 of the vectors from `start` to `end` must have a magnitude of at most `maxMagnitude`, which excludes
 * NaN.
 */
export function addFloats(check: MeshCheck, start: usize, end: usize, maxMagnitude: f32): void {
  addRange(check, RANGE_FLOATS, start, end, reinterpret<u32>(maxMagnitude));
}

/** Adds a range: all numbers of a kind from `start` to `end` must be less than `limit`. */
export function addNumbers(check: MeshCheck, kind: u32, start: usize, end: usize, limit: u32): void {
  addRange(check, kind, start, end, limit);
}

function addRange(check: MeshCheck, kind: u32, start: usize, end: usize, limit: u32): void {
  const range = rangeAt(check, check.rangeCount++);
  range.kind = kind;
  range.start = <u32>start;
  range.end = <u32>end;
  range.limit = limit;
}

// @ts-ignore: decorator
@inline
function rangeAt(check: MeshCheck, index: u32): Range {
  return changetype<Range>(changetype<usize>(check) + RANGES + <usize>index * RANGE_BYTES);
}

// @ts-ignore: decorator
@inline
export function areRangesDone(check: MeshCheck): bool {
  return check.range == check.rangeCount;
}

/** Checks the next `bytes` bytes, a multiple of 16, of the current range, or what remains of it. */
export function checkRange(check: MeshCheck, bytes: u32): u32 {
  const range = rangeAt(check, check.range);
  const start = <usize>range.start, end = start + min<usize>(bytes, <usize>range.end - start);
  range.start = <u32>end;
  if (end == <usize>range.end) check.range++;
  if (range.kind == RANGE_FLOATS) {
    return areFloatsBelow(start, end, reinterpret<f32>(range.limit)) ? MESH_OK : MESH_BAD_NUMBER;
  }
  if (range.kind == RANGE_WORDS) return areWordsBelow(start, end, range.limit) ? MESH_OK : MESH_BAD_INDEX;
  if (range.kind == RANGE_HALVES) return areHalvesBelow(start, end, range.limit) ? MESH_OK : MESH_BAD_NUMBER;
  return arePairsBelow(start, end, range.limit) ? MESH_OK : MESH_BAD_INDEX;
}

/** Checks those parts of the ranges that lie before `end`, a multiple of 16. */
export function checkRangesBefore(check: MeshCheck, end: usize): u32 {
  while (!areRangesDone(check)) {
    const start = <usize>rangeAt(check, check.range).start;
    if (start >= end) break;
    const fault = checkRange(check, <u32>(end - start));
    if (fault != MESH_OK) return fault;
  }
  return MESH_OK;
}

function areFloatsBelow(start: usize, end: usize, maxMagnitude: f32): bool {
  let below = i32x4.splat(-1);
  for (let at = start; at < end; at += 16) {
    below = v128.and(below, f32x4.le(f32x4.abs(v128.load(at)), f32x4.splat(maxMagnitude)));
  }
  return i32x4.all_true(below);
}

function areWordsBelow(start: usize, end: usize, limit: u32): bool {
  let at = start;
  let maxValue = i32x4.splat(0);
  for (; at + 16 <= end; at += 16) maxValue = i32x4.max_u(maxValue, v128.load(at));
  for (; at < end; at += 4) maxValue = i32x4.max_u(maxValue, v128.load32_splat(at));
  return start == end || i32x4.all_true(i32x4.lt_u(maxValue, i32x4.splat(limit)));
}

function areHalvesBelow(start: usize, end: usize, limit: u32): bool {
  let maxValue = i16x8.splat(0);
  for (let at = start; at < end; at += 8) maxValue = i16x8.max_u(maxValue, v128.load64_zero(at));
  return start == end || (limit > 0 && i16x8.all_true(i16x8.le_u(maxValue, i16x8.splat(<i16>(limit - 1)))));
}

function arePairsBelow(start: usize, end: usize, limit: u32): bool {
  for (let at = start; at < end; at += 8) {
    if (load<u32>(at) >= limit << 2 || load<u32>(at, 4) >= limit) return false;
  }
  return true;
}
