// Classes of objects that may collide with the same objects: by layers, collision mask and group. Where many objects
// lie together, the broad phase skips whole classes instead of pairs: a hundred thousand objects of one group in one
// place cost one comparison.

import { CONTACTS_NONE } from '../../../../shared/layout';
import { Proxy } from '../../shape/proxy';
import { copiedProxy } from '../index/frame-trees';
import { canCollide } from './narrow-phase';

/** The class of an object that cannot collide with anything. */
export const NO_CLASS: u32 = 0xffffffff;
/**
 * The most classes that are distinguished, since objects of this many classes mostly may collide anyway: each class
 * costs every object a comparison, 2 ns.
 */
export const MAX_CLASSES: u32 = 1024;

const TABLE_SIZE: u32 = 4096;
/** Hash table with open addressing from the key of a class: 1 + the class, 0 if empty. */
const table: usize = memory.data(<i32>TABLE_SIZE * 4, 16);
/** The address of a proxy of each class. */
const members: usize = memory.data(<i32>MAX_CLASSES * 4, 16);
export let classCount: u32 = 0;
/** Whether there were more classes than are distinguished. */
export let isOverfull: bool = false;

export function beginClasses(): void {
  memory.fill(table, 0, <usize>TABLE_SIZE << 2);
  classCount = 0;
  isOverfull = false;
}

/** Returns whether an object may make a pair with anything. */
// @ts-ignore: decorator
@inline
export function collidesAtAll(p: Proxy): bool {
  return p.contacts != <u8>CONTACTS_NONE && p.layers != 0 && p.collidesWith != 0;
}

// @ts-ignore: decorator
@inline
function memberOf(index: u32): Proxy {
  return changetype<Proxy>(<usize>load<u32>(members + (<usize>index << 2)));
}

/** Returns the class of an object, or NO_CLASS. Creates the class if no object of it came before. */
export function classOf(p: Proxy): u32 {
  if (!collidesAtAll(p)) return NO_CLASS;
  // Multiplicative hashing (Knuth 1973, vol. 3, 6.4), one step per number.
  let hash = (p.layers * 0x9e3779b1) ^ p.collidesWith;
  hash = ((hash * 0x85ebca6b) ^ p.group) * 0xc2b2ae35;
  let at = table + (<usize>(hash >> 20) << 2);
  for (let entry = load<u32>(at); entry != 0; entry = load<u32>(at)) {
    const q = memberOf(entry - 1);
    if (q.layers == p.layers && q.collidesWith == p.collidesWith && q.group == p.group) return entry - 1;
    at = at + 4 == table + (<usize>TABLE_SIZE << 2) ? table : at + 4;
  }
  if (classCount == MAX_CLASSES) {
    isOverfull = true;
    return 0;
  }
  store<u32>(members + (<usize>classCount << 2), <u32>changetype<usize>(p));
  store<u32>(at, ++classCount);
  return classCount - 1;
}

/** Redirects the proxies of the classes to the copies of the trees. */
export function redirectClasses(): void {
  for (let i: u32 = 0; i < classCount; i++) {
    const at = members + (<usize>i << 2);
    store<u32>(at, copiedProxy(load<u32>(at)));
  }
}

/** Returns whether an object may make pairs with objects of a class, as far as both classes decide that. */
// @ts-ignore: decorator
@inline
export function collidesWithClass(p: Proxy, index: u32): bool {
  return canCollide(p, memberOf(index));
}
