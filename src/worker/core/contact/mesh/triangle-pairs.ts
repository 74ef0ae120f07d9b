// The pairs of intersecting triangles of two meshes, found exactly, and the segments in which they intersect; sorted by
// the triangle of the first mesh, then of the second. Positions are in world space, in float32.

import { CROSSING_A, CROSSING_B, CROSSING_BYTES, CROSSING_SEGMENT } from '../../../../shared/layout';
import { checkpoint } from '../../checkpoint';
import { Affine, setRelative } from '../../math/affine';
import { intersectionSegment, fromX, fromY, fromZ, toX, toY, toZ } from '../../math/triangle-intersection-segment';
import { Triangle, trianglesIntersect } from '../../math/triangles';
import { reserve } from '../../memory';
import { Mesh, blockAt, composeTreeMap, triangleOf } from '../../mesh/tree/layout';
import { descend, setTrees } from '../../mesh/query/tree-tree';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { addCrossings } from '../manifold/contact';
import { WORD_BYTES } from '../../sizes';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** The map to the world from a's tree space, in which triangles are compared. */
const treeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** The pairs in the order of the tree traversal: CROSSING_* each. */
let foundPairs: usize = 0;
let pairCount: u32 = 0;
let meshA: usize = 0, meshB: usize = 0;

/** A pair during sorting. */
@unmanaged
class Entry {
  b: u32;
  a: u32;
  /** The index of the pair among the found ones. */
  pair: u32;
  pad: u32;
}

const ENTRY_BYTES: usize = offsetof<Entry>();
let entries: usize = 0;
let sorted: usize = 0;

/** Adds all pairs of intersecting triangles, of two meshes whose surfaces intersect. Throws OUT_OF_MEMORY. */
export function trianglePairs(a: PlacedShape, b: PlacedShape): void {
  meshA = <usize>a.mesh;
  meshB = <usize>b.mesh;
  setRelative(map, mapOf(a), mapOf(b));
  composeTreeMap(treeToWorld, changetype<Mesh>(meshA), mapOf(a));
  pairCount = 0;
  setTrees(changetype<Mesh>(meshA), changetype<Mesh>(meshB), map);
  descend(changetype<Mesh>(meshA), changetype<Mesh>(meshB), addIfIntersecting);
  const bytes = <u64>pairCount * ENTRY_BYTES;
  entries = reserve(entries, 0, bytes);
  sorted = reserve(sorted, 0, bytes);
  for (let i: u32 = 0; i < pairCount; i += BATCH_PAIRS) {
    listEntries(i, batchEnd(i));
    checkpoint(BATCH_PAIRS);
  }
  sort(offsetof<Entry>('b'), changetype<Mesh>(meshB).triangleCount);
  sort(offsetof<Entry>('a'), changetype<Mesh>(meshA).triangleCount);
  const to = addCrossings(pairCount);
  for (let i: u32 = 0; i < pairCount; i += BATCH_PAIRS) {
    copyInOrder(to, i, batchEnd(i));
    checkpoint(BATCH_PAIRS);
  }
}

/**
 * How many pairs are processed between two checkpoints: two meshes in the same place have thirteen pairs per triangle.
 */
const BATCH_PAIRS: u32 = 1 << 12;

// @ts-ignore: decorator
@inline
function batchEnd(first: u32): u32 {
  return min(first + BATCH_PAIRS, pairCount);
}

function copyInOrder(crossings: usize, first: u32, end: u32): void {
  let to = crossings + <usize>first * CROSSING_BYTES;
  for (let i = first; i < end; i++, to += CROSSING_BYTES) {
    const entry = changetype<Entry>(entries + i * <u32>ENTRY_BYTES);
    const from = foundPairs + <usize>entry.pair * CROSSING_BYTES;
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
  }
}

/**
 * Adds a pair if its triangles intersect. Returns false, so that the traversal continues to the end. Computes the
 * segment at once, while the results of the intersection test are still available.
 */
function addIfIntersecting(slotA: u32, slotB: u32, p: Triangle, q: Triangle): bool {
  if (!trianglesIntersect(p, q)) return false;
  intersectionSegment(p, q, treeToWorld);
  const used = <usize>pairCount * CROSSING_BYTES;
  foundPairs = reserve(foundPairs, used, <u64>used + CROSSING_BYTES);
  pairCount++;
  const at = foundPairs + used;
  store<u32>(at, triangleOf(blockAt(changetype<Mesh>(meshA), slotA >> 2), slotA & 3), CROSSING_A);
  store<u32>(at, triangleOf(blockAt(changetype<Mesh>(meshB), slotB >> 2), slotB & 3), CROSSING_B);
  store<f32>(at, <f32>fromX, CROSSING_SEGMENT);
  store<f32>(at, <f32>fromY, CROSSING_SEGMENT + 4);
  store<f32>(at, <f32>fromZ, CROSSING_SEGMENT + 8);
  store<f32>(at, <f32>toX, CROSSING_SEGMENT + 12);
  store<f32>(at, <f32>toY, CROSSING_SEGMENT + 16);
  store<f32>(at, <f32>toZ, CROSSING_SEGMENT + 20);
  return false;
}

function listEntries(first: u32, end: u32): void {
  for (let i = first; i < end; i++) {
    const entry = changetype<Entry>(entries + i * <u32>ENTRY_BYTES), from = foundPairs + i * <u32>CROSSING_BYTES;
    entry.a = load<u32>(from, CROSSING_A);
    entry.b = load<u32>(from, CROSSING_B);
    entry.pair = i;
  }
}

/** The number of values of eight bits. */
const DIGIT_VALUES: i32 = 256;
const counts: usize = memory.data(DIGIT_VALUES * WORD_BYTES, 16);

/** Sorts the entries by the numbers at `field`, which are below `limit`: a radix sort of eight bits at a time. */
function sort(field: usize, limit: u32): void {
  for (let shift: u32 = 0; shift < 32 && (limit - 1) >> shift != 0; shift += 8) sortByDigit(field, shift);
}

function sortByDigit(field: usize, shift: u32): void {
  memory.fill(counts, 0, DIGIT_VALUES * WORD_BYTES);
  for (let i: u32 = 0; i < pairCount; i += BATCH_PAIRS) {
    countDigits(field, shift, i, batchEnd(i));
    checkpoint(BATCH_PAIRS);
  }
  let to = sorted;
  for (let at = counts; at < counts + DIGIT_VALUES * WORD_BYTES; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, <u32>to);
    to += count * <u32>ENTRY_BYTES;
  }
  for (let i: u32 = 0; i < pairCount; i += BATCH_PAIRS) {
    moveByDigit(field, shift, i, batchEnd(i));
    checkpoint(BATCH_PAIRS);
  }
  const swapped = sorted;
  sorted = entries;
  entries = swapped;
}

// @ts-ignore: decorator
@inline
function digitCounter(entry: usize, field: usize, shift: u32): usize {
  return counts + (<usize>((load<u32>(entry + field) >> shift) & 255) << 2);
}

function countDigits(field: usize, shift: u32, first: u32, end: u32): void {
  for (let i = first; i < end; i++) {
    const at = digitCounter(entries + i * <u32>ENTRY_BYTES, field, shift);
    store<u32>(at, load<u32>(at) + 1);
  }
}

function moveByDigit(field: usize, shift: u32, first: u32, end: u32): void {
  for (let i = first; i < end; i++) {
    const from = entries + i * <u32>ENTRY_BYTES;
    const at = digitCounter(from, field, shift);
    const to = <usize>load<u32>(at);
    v128.store(to, v128.load(from));
    store<u32>(at, <u32>(to + ENTRY_BYTES));
  }
}
