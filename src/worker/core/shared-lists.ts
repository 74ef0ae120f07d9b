// Lists of bytes that objects share: of equal ones there is one, found by its hash, which is freed with its last holder.

import { mix } from './math/hash';
import { allocate, release } from './memory';

/** The head of a list; its bytes follow, a multiple of four. */
@unmanaged
class SharedList {
  /** Another list in the same bucket; of one that is let go of, the next such. */
  next: u32;
  /** How many objects have it, and who else holds it. */
  uses: u32;
  hash: u32;
  bytes: u32;
}

const HEADER_BYTES: usize = offsetof<SharedList>();
/** As many lists as scenes have are few in each: a look at one costs less than writing an object. */
const BUCKETS: u32 = 1024;
const buckets: usize = memory.data(<i32>BUCKETS * 4, 16);
/** The lists that wait to be freed. */
let retired: u32 = 0;

// @ts-ignore: decorator
@inline
function bucketOf(hash: u32): usize {
  return buckets + (<usize>(hash & (BUCKETS - 1)) << 2);
}

/** Returns where the bytes of a list begin. */
// @ts-ignore: decorator
@inline
export function contentOf(list: usize): usize {
  return list + HEADER_BYTES;
}

/** Returns how many bytes a list has. */
// @ts-ignore: decorator
@inline
export function bytesOf(list: usize): u32 {
  return changetype<SharedList>(list).bytes;
}

/**
 * Returns the list of these bytes: one that there is, or a new one. It is held for the caller, who must let go of it.
 * Throws OUT_OF_MEMORY.
 */
export function holdList(content: usize, bytes: u32): usize {
  let mixed: u64 = bytes;
  for (let at = content; at < content + bytes; at += 4) mixed = mix(mixed ^ load<u32>(at));
  const hash = <u32>mixed;
  const bucket = bucketOf(hash);
  for (let at = load<u32>(bucket); at != 0; at = changetype<SharedList>(<usize>at).next) {
    const other = changetype<SharedList>(<usize>at);
    if (other.hash != hash || other.bytes != bytes || memory.compare(contentOf(at), content, bytes) != 0) continue;
    other.uses++;
    return at;
  }
  const list = allocate(HEADER_BYTES + bytes);
  memory.copy(contentOf(list), content, bytes);
  const made = changetype<SharedList>(list);
  made.hash = hash;
  made.bytes = bytes;
  made.uses = 1;
  made.next = load<u32>(bucket);
  store<u32>(bucket, <u32>list);
  return list;
}

/** Holds a list once more; 0 is none. */
export function shareList(list: usize): void {
  if (list != 0) changetype<SharedList>(list).uses++;
}

/** Lets go of a list, which is freed with its last holder; 0 is none. */
export function dropList(list: usize): void {
  if (isLetGo(list)) release(list);
}

/** Does the same with a list that somebody may still read: it is freed by `freeRetiredLists`. */
export function retireList(list: usize): void {
  if (!isLetGo(list)) return;
  changetype<SharedList>(list).next = retired;
  retired = <u32>list;
}

/** Frees what was let go of. Nobody may read any of it. */
export function freeRetiredLists(): void {
  while (retired != 0) {
    const next = changetype<SharedList>(<usize>retired).next;
    release(<usize>retired);
    retired = next;
  }
}

/** Returns whether that was the last holder; then nobody finds the list any more. */
function isLetGo(list: usize): bool {
  if (list == 0 || --changetype<SharedList>(list).uses != 0) return false;
  let at = bucketOf(changetype<SharedList>(list).hash);
  while (<usize>load<u32>(at) != list) at = <usize>load<u32>(at) + offsetof<SharedList>('next');
  store<u32>(at, changetype<SharedList>(list).next);
  return true;
}

/** Counts how often lists are held altogether. */
export function listUses(): u32 {
  let uses: u32 = 0;
  for (let i: u32 = 0; i < BUCKETS; i++) {
    for (let at = load<u32>(bucketOf(i)); at != 0; at = changetype<SharedList>(<usize>at).next) {
      uses += changetype<SharedList>(<usize>at).uses;
    }
  }
  return uses;
}
