// Which sides of its triangles an object shows, where these differ within its mesh: a list of the triangles from which
// on another side shows, ascending, searched by halving. Objects with equal lists share one, found by its hash.

import { FACE_SHIFT } from '../../../../shared/layout';
import { mix } from '../../math/hash';
import { allocate, release } from '../../memory';

/** A list, followed by its entries: u32 each, a triangle << FACE_SHIFT | SIDE_*, which is SIDE_OWN for the object's. */
@unmanaged
class FaceSides {
  /** Another list in the same bucket. */
  next: u32;
  /** How many objects have it, and who else holds it. */
  uses: u32;
  hash: u32;
  count: u32;
}

const HEADER_BYTES: usize = offsetof<FaceSides>();
/** As many lists as scenes have are few in each: a look at one costs less than writing an object. */
const BUCKETS: u32 = 1024;
const buckets: usize = memory.data(<i32>BUCKETS * 4, 16);

// @ts-ignore: decorator
@inline
function bucketOf(hash: u32): usize {
  return buckets + (<usize>(hash & (BUCKETS - 1)) << 2);
}

/**
 * Answers the list of these entries: one that there is, or a new one. It is held for the caller, who must let go of it.
 * Throws OUT_OF_MEMORY.
 */
export function holdFaceSides(entries: usize, count: u32): usize {
  const bytes = <usize>count << 2;
  let mixed: u64 = count;
  for (let at = entries; at < entries + bytes; at += 4) mixed = mix(mixed ^ load<u32>(at));
  const hash = <u32>mixed;
  const bucket = bucketOf(hash);
  for (let at = load<u32>(bucket); at != 0; at = changetype<FaceSides>(<usize>at).next) {
    const other = changetype<FaceSides>(<usize>at);
    if (other.hash != hash || other.count != count || memory.compare(<usize>at + HEADER_BYTES, entries, bytes) != 0) continue;
    other.uses++;
    return at;
  }
  const list = allocate(HEADER_BYTES + bytes);
  memory.copy(list + HEADER_BYTES, entries, bytes);
  const made = changetype<FaceSides>(list);
  made.hash = hash;
  made.count = count;
  made.uses = 1;
  made.next = load<u32>(bucket);
  store<u32>(bucket, list);
  return list;
}

/** Holds a list once more; 0 is none. */
export function shareFaceSides(list: usize): void {
  if (list != 0) changetype<FaceSides>(list).uses++;
}

/** Lets go of a list, which is freed with its last holder; 0 is none. */
export function dropFaceSides(list: usize): void {
  if (list == 0 || --changetype<FaceSides>(list).uses != 0) return;
  let at = bucketOf(changetype<FaceSides>(list).hash);
  while (<usize>load<u32>(at) != list) at = <usize>load<u32>(at) + offsetof<FaceSides>('next');
  store<u32>(at, changetype<FaceSides>(list).next);
  release(list);
}

/** Counts how often lists are held altogether. */
export function faceSidesUses(): u32 {
  let uses: u32 = 0;
  for (let i: u32 = 0; i < BUCKETS; i++) {
    for (let at = load<u32>(bucketOf(i)); at != 0; at = changetype<FaceSides>(<usize>at).next) {
      uses += changetype<FaceSides>(<usize>at).uses;
    }
  }
  return uses;
}

/** Answers the sides of a triangle (SIDE_*): `own` where the list says nothing else. */
export function sidesOfFace(list: usize, triangle: u32, own: u32): u32 {
  const entries = list + HEADER_BYTES;
  let low: u32 = 0, high = changetype<FaceSides>(list).count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(entries + (<usize>middle << 2)) >> FACE_SHIFT <= triangle) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return own;
  const sides = load<u32>(entries + (<usize>(low - 1) << 2)) & ((1 << FACE_SHIFT) - 1);
  return sides != 0 ? sides : own;
}
