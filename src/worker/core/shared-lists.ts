// Byte lists that objects share: equal lists are stored once, found by their hash, and freed with their last holder.

import { mix } from './math/hash';
import { allocate, release } from './memory';

/** The header of a list; its bytes follow, a multiple of four. */
@unmanaged
class SharedList {
  /** The next list in the same bucket; for a retired list, the next retired one. */
  next: u32;
  /** Reference count: the objects and others that hold the list. */
  referenceCount: u32;
  hash: u32;
  bytes: u32;
}

const HEADER_BYTES: usize = offsetof<SharedList>();
/**
 * Number of buckets: with as many lists as scenes have, each bucket has few; checking one costs less than writing an
 * object.
 */
const BUCKETS: u32 = 1024;
const buckets: usize = memory.data(<i32>BUCKETS * 4, 16);
/** The lists that wait to be freed. */
let retired: u32 = 0;

// @ts-ignore: decorator
@inline
function bucketOf(hash: u32): usize {
  return buckets + (<usize>(hash & (BUCKETS - 1)) << 2);
}

/** Returns the address of a list's bytes. */
// @ts-ignore: decorator
@inline
export function contentOf(list: usize): usize {
  return list + HEADER_BYTES;
}

/** Returns the length of a list in bytes. */
// @ts-ignore: decorator
@inline
export function bytesOf(list: usize): u32 {
  return changetype<SharedList>(list).bytes;
}

/**
 * Returns the list with these bytes: an existing one, or a new one. It is held for the caller, who must drop it. Throws
 * OUT_OF_MEMORY.
 */
export function holdList(content: usize, bytes: u32): usize {
  let hash64: u64 = bytes;
  for (let at = content; at < content + bytes; at += 4) hash64 = mix(hash64 ^ load<u32>(at));
  const hash = <u32>hash64;
  const bucket = bucketOf(hash);
  for (let at = load<u32>(bucket); at != 0; at = changetype<SharedList>(<usize>at).next) {
    const candidate = changetype<SharedList>(<usize>at);
    if (candidate.hash != hash || candidate.bytes != bytes || memory.compare(contentOf(at), content, bytes) != 0) continue;
    candidate.referenceCount++;
    return at;
  }
  const list = allocate(HEADER_BYTES + bytes);
  memory.copy(contentOf(list), content, bytes);
  const newList = changetype<SharedList>(list);
  newList.hash = hash;
  newList.bytes = bytes;
  newList.referenceCount = 1;
  newList.next = load<u32>(bucket);
  store<u32>(bucket, <u32>list);
  return list;
}

/** Adds a holder to a list; 0 is none. */
export function shareList(list: usize): void {
  if (list != 0) changetype<SharedList>(list).referenceCount++;
}

/** Removes a holder from a list, which is freed with its last holder; 0 is none. */
export function dropList(list: usize): void {
  if (dropReference(list)) release(list);
}

/** Like `dropList` for a list that somebody may still read: `freeRetiredLists` frees it. */
export function retireList(list: usize): void {
  if (!dropReference(list)) return;
  changetype<SharedList>(list).next = retired;
  retired = <u32>list;
}

/** Frees the retired lists. Nobody may still read any of them. */
export function freeRetiredLists(): void {
  while (retired != 0) {
    const next = changetype<SharedList>(<usize>retired).next;
    release(<usize>retired);
    retired = next;
  }
}

/** Removes a holder and returns whether it was the last one; then the list is not found any more. */
function dropReference(list: usize): bool {
  if (list == 0 || --changetype<SharedList>(list).referenceCount != 0) return false;
  let at = bucketOf(changetype<SharedList>(list).hash);
  while (<usize>load<u32>(at) != list) at = <usize>load<u32>(at) + offsetof<SharedList>('next');
  store<u32>(at, changetype<SharedList>(list).next);
  return true;
}

/** Returns the number of holders of all lists. */
export function listUses(): u32 {
  let uses: u32 = 0;
  for (let i: u32 = 0; i < BUCKETS; i++) {
    for (let at = load<u32>(bucketOf(i)); at != 0; at = changetype<SharedList>(<usize>at).next) {
      uses += changetype<SharedList>(<usize>at).referenceCount;
    }
  }
  return uses;
}
