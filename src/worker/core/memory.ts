// The allocator of linear memory, which belongs to the core: the interruptible narrow phase (pair-module.ts) calls the core
// for memory.

import { IS_INTERRUPTIBLE } from './checkpoint';
import { allocateInCore, outOfMemory, releaseInCore } from './host';

// One address-ordered free list, first fit, neighbours merged when freed (Knuth 1968, vol. 1, 2.5). Removing 20,000 meshes of
// a scene leaves thousands of holes, so a table has for each megabyte its first free chunk and an upper bound of the size of
// its free chunks: no search visits the whole list.

const HEADER: usize = 64; // keeps every payload on a cache line

@unmanaged
class Chunk {
  bytes: usize; // of the payload
  // The neighbouring free chunks, or the heap's record, which is both the head and the tail of the list; valid only while
  // free.
  next: usize;
  previous: usize;
}

/** The free chunks that begin in one megabyte. */
@unmanaged
class Region {
  /** The first of them; 0 if none. */
  first: usize;
  /** Upper bound of their bytes. */
  maxBytes: usize;
}

const REGION_BITS: usize = 20;
const REGIONS: usize = 1 << (32 - REGION_BITS);

@unmanaged
class Heap extends Chunk {
  end: usize;
  inUse: usize;
  /** Sentinel before all regions, which follow: its first chunk is this record. */
  sentinel: usize;
  unused: usize;
}

const HEAP_BYTES: usize = offsetof<Heap>() + REGIONS * offsetof<Region>();
const heap = changetype<Heap>(memory.data(IS_INTERRUPTIBLE ? 16 : <i32>HEAP_BYTES, 16));
if (!IS_INTERRUPTIBLE) {
  heap.end = (__heap_base + 63) & ~63;
  heap.next = heap.previous = heap.sentinel = changetype<usize>(heap);
}

export function usedBytes(): usize {
  return heap.inUse;
}

/**
 * Allocates at least `bytes` bytes and returns their address, aligned to a cache line; they are not cleared. Throws
 * OUT_OF_MEMORY.
 */
export function allocate(bytes: u64): usize {
  if (IS_INTERRUPTIBLE) return allocateInCore(bytes);
  if (bytes > 0xf0000000) outOfMemory(<f64>bytes);
  const size = (max<usize>(<usize>bytes, 64) + 63) & ~63;
  let chunk = firstFit(size);
  if (chunk == 0) {
    // If the last free chunk is too small but ends where the heap ends, it becomes the beginning of the new chunk.
    const last = heap.previous, extendsLast = last + HEADER + changetype<Chunk>(last).bytes == heap.end;
    chunk = extendsLast ? last : heap.end;
    const end = <u64>chunk + HEADER + size;
    const availableBytes = <u64>memory.size() << 16;
    if (end > availableBytes) {
      const neededPages = <i32>((end - availableBytes + 0xffff) >> 16);
      // A sixteenth more than needed, so that the cost of growing step by step stays linear.
      const growthPages = min<i32>(neededPages + (memory.size() >> 4), 65536 - memory.size());
      if (growthPages < neededPages || (memory.grow(growthPages) < 0 && memory.grow(neededPages) < 0)) outOfMemory(<f64>bytes);
    }
    if (extendsLast) unlink(chunk);
    heap.end = <usize>end;
    changetype<Chunk>(chunk).bytes = size;
  } else {
    const rest = changetype<Chunk>(chunk).bytes - size;
    unlink(chunk);
    if (rest > HEADER) {
      const split = chunk + HEADER + size;
      changetype<Chunk>(split).bytes = rest - HEADER;
      changetype<Chunk>(chunk).bytes = size;
      link(split, changetype<Chunk>(chunk).previous);
    }
  }
  heap.inUse += changetype<Chunk>(chunk).bytes + HEADER;
  return chunk + HEADER;
}

export function release(address: usize): void {
  if (IS_INTERRUPTIBLE) {
    releaseInCore(address);
    return;
  }
  if (address == 0) return;
  const chunk = address - HEADER;
  heap.inUse -= changetype<Chunk>(chunk).bytes + HEADER;
  let region = changetype<usize>(regionOf(chunk));
  if (changetype<Region>(region).first - 1 >= chunk) {
    do region -= offsetof<Region>();
    while (changetype<Region>(region).first == 0);
  }
  let previous = changetype<Region>(region).first;
  for (let next = changetype<Chunk>(previous).next; isFree(next) && next < chunk; next = changetype<Chunk>(previous).next) {
    previous = next;
  }
  link(chunk, previous);
  mergeWithNext(chunk);
  mergeWithNext(previous);
}

/** Returns the first free chunk of at least `size` bytes; 0 if none. */
function firstFit(size: usize): usize {
  const last = heap.end >> REGION_BITS;
  for (let i: usize = 0; i <= last; i++) {
    const region = regionOf(i << REGION_BITS);
    if (region.maxBytes < size) continue;
    let maxBytes: usize = 0;
    for (let chunk = region.first; isFree(chunk) && chunk >> REGION_BITS == i; chunk = changetype<Chunk>(chunk).next) {
      const bytes = changetype<Chunk>(chunk).bytes;
      if (bytes >= size) return chunk;
      maxBytes = max(maxBytes, bytes);
    }
    region.maxBytes = maxBytes;
  }
  return 0;
}

/** Returns whether a link leads to a chunk, and not to the end of the list. */
// @ts-ignore: decorator
@inline
function isFree(chunk: usize): bool {
  return chunk > changetype<usize>(heap);
}

/** Returns the region in which a chunk begins. */
// @ts-ignore: decorator
@inline
function regionOf(chunk: usize): Region {
  return changetype<Region>(changetype<usize>(heap) + offsetof<Heap>() + (chunk >> REGION_BITS) * offsetof<Region>());
}

/** Inserts a chunk into the list. */
function link(chunk: usize, previous: usize): void {
  const next = changetype<Chunk>(previous).next, region = regionOf(chunk);
  changetype<Chunk>(chunk).previous = previous;
  changetype<Chunk>(chunk).next = next;
  changetype<Chunk>(previous).next = changetype<Chunk>(next).previous = chunk;
  if (region.first - 1 >= chunk) region.first = chunk;
  region.maxBytes = max(region.maxBytes, changetype<Chunk>(chunk).bytes);
}

/** Removes a chunk from the list. It keeps its links to its neighbours. */
function unlink(chunk: usize): void {
  const next = changetype<Chunk>(chunk).next, previous = changetype<Chunk>(chunk).previous;
  changetype<Chunk>(previous).next = next;
  changetype<Chunk>(next).previous = previous;
  const region = regionOf(chunk);
  if (region.first == chunk) region.first = next > chunk && next >> REGION_BITS == chunk >> REGION_BITS ? next : 0;
}

function mergeWithNext(chunk: usize): void {
  const next = changetype<Chunk>(chunk).next;
  if (chunk + HEADER + changetype<Chunk>(chunk).bytes != next) return;
  unlink(next);
  const bytes = changetype<Chunk>(chunk).bytes + HEADER + changetype<Chunk>(next).bytes;
  changetype<Chunk>(chunk).bytes = bytes;
  regionOf(chunk).maxBytes = max(regionOf(chunk).maxBytes, bytes);
}

/** Returns the number of bytes at an address: at least as many as were requested. */
export function capacityOf(address: usize): usize {
  return changetype<Chunk>(address - HEADER).bytes;
}

/**
 * Makes room for `bytes` bytes: returns `address`, or a larger copy of its first `used` bytes if it is too small. Grows by at
 * least half. Throws OUT_OF_MEMORY.
 */
export function reserve(address: usize, used: usize, bytes: u64): usize {
  const capacity: usize = address == 0 ? 0 : capacityOf(address);
  if (capacity >= bytes) return address;
  return reserveExactly(address, used, max<u64>(bytes, <u64>capacity + (capacity >> 1)));
}

/** Makes room for `bytes` bytes as `reserve` does, but for no more. Throws OUT_OF_MEMORY. */
export function reserveExactly(address: usize, used: usize, bytes: u64): usize {
  if (address != 0 && capacityOf(address) >= bytes) return address;
  const grown = allocate(bytes);
  if (used != 0) memory.copy(grown, address, used);
  release(address);
  return grown;
}
