// The allocator of linear memory. Two modules share that: the core and the interruptible narrow phase (pair-module.ts),
// so what the allocator knows is a record in memory that both use, not globals of each.

import { outOfMemory } from './host';

// One address-ordered free list, first fit, neighbours merged when freed (Knuth 1968, vol. 1, 2.5). Only
// large things are allocated here (meshes, tables, scratch arrays), so a list is short and quick enough.

const HEADER: usize = 64; // keeps every payload on a cache line

@unmanaged
class Chunk {
  bytes: usize; // of the payload
  next: usize; // the next free chunk; only while free
}

@unmanaged
class Heap {
  end: usize;
  /** The first free chunk. */
  firstFree: usize;
  inUse: usize;
}

const ownHeap = changetype<Heap>(memory.data(<i32>offsetof<Heap>(), 16));
ownHeap.end = (__heap_base + 63) & ~63;
let heap = ownHeap;

/** Answers the address of the record that another module's `useHeap` takes. */
export function heapRecord(): usize {
  return changetype<usize>(heap);
}

/** Makes this module allocate from another module's heap from now on. Nothing may have been allocated before. */
export function useHeap(record: usize): void {
  heap = changetype<Heap>(record);
}

export function usedBytes(): usize {
  return heap.inUse;
}

/**
 * Allocates at least `bytes` bytes and answers their address, on a cache line; they are not cleared. Throws
 * OUT_OF_MEMORY.
 */
export function allocate(bytes: u64): usize {
  if (bytes > 0xf0000000) outOfMemory(<f64>bytes);
  const size = (max<usize>(<usize>bytes, 64) + 63) & ~63;
  let previous: usize = 0;
  let before: usize = 0;
  let chunk = heap.firstFree;
  while (chunk != 0 && changetype<Chunk>(chunk).bytes < size) {
    previous = before;
    before = chunk;
    chunk = changetype<Chunk>(chunk).next;
  }
  if (chunk == 0) {
    // A last chunk that is too small but ends where the heap does is the beginning of the new one.
    const grows = before != 0 && before + HEADER + changetype<Chunk>(before).bytes == heap.end;
    chunk = grows ? before : heap.end;
    const end = <u64>chunk + HEADER + size;
    const have = <u64>memory.size() << 16;
    if (end > have) {
      const needed = <i32>((end - have + 0xffff) >> 16);
      // A sixteenth more than asked for, so that growing step by step stays linear.
      const generous = min<i32>(needed + (memory.size() >> 4), 65536 - memory.size());
      if (generous < needed || (memory.grow(generous) < 0 && memory.grow(needed) < 0)) outOfMemory(<f64>bytes);
    }
    if (grows) {
      if (previous == 0) heap.firstFree = 0;
      else changetype<Chunk>(previous).next = 0;
    }
    heap.end = <usize>end;
    changetype<Chunk>(chunk).bytes = size;
  } else {
    const rest = changetype<Chunk>(chunk).bytes - size;
    let after = changetype<Chunk>(chunk).next;
    if (rest > HEADER) {
      const split = chunk + HEADER + size;
      changetype<Chunk>(split).bytes = rest - HEADER;
      changetype<Chunk>(split).next = after;
      changetype<Chunk>(chunk).bytes = size;
      after = split;
    }
    if (before == 0) heap.firstFree = after;
    else changetype<Chunk>(before).next = after;
  }
  heap.inUse += changetype<Chunk>(chunk).bytes + HEADER;
  return chunk + HEADER;
}

export function release(address: usize): void {
  if (address == 0) return;
  const chunk = address - HEADER;
  heap.inUse -= changetype<Chunk>(chunk).bytes + HEADER;
  let before: usize = 0;
  let after = heap.firstFree;
  while (after != 0 && after < chunk) {
    before = after;
    after = changetype<Chunk>(after).next;
  }
  changetype<Chunk>(chunk).next = after;
  if (before == 0) heap.firstFree = chunk;
  else changetype<Chunk>(before).next = chunk;
  if (after != 0) mergeWithNext(chunk);
  if (before != 0) mergeWithNext(before);
}

function mergeWithNext(chunk: usize): void {
  const next = changetype<Chunk>(chunk).next;
  if (next == 0 || chunk + HEADER + changetype<Chunk>(chunk).bytes != next) return;
  changetype<Chunk>(chunk).bytes += HEADER + changetype<Chunk>(next).bytes;
  changetype<Chunk>(chunk).next = changetype<Chunk>(next).next;
}

/** Answers how many bytes there are at an address: at least as many as were asked for. */
export function capacityOf(address: usize): usize {
  return changetype<Chunk>(address - HEADER).bytes;
}

/**
 * Makes room for `bytes` bytes: answers `address`, or a larger copy of its first `used` bytes when it holds less. Grows
 * by half at least. Throws OUT_OF_MEMORY.
 */
export function reserve(address: usize, used: usize, bytes: u64): usize {
  const have: usize = address == 0 ? 0 : capacityOf(address);
  if (have >= bytes) return address;
  return moveTo(address, used, max<u64>(bytes, <u64>have + (have >> 1)));
}

/** Makes room for `bytes` bytes as `reserve` does, and for no more. Throws OUT_OF_MEMORY. */
export function moveTo(address: usize, used: usize, bytes: u64): usize {
  if (address != 0 && capacityOf(address) >= bytes) return address;
  const grown = allocate(bytes);
  if (used != 0) memory.copy(grown, address, used);
  release(address);
  return grown;
}
