// The pairs that were looked at in this frame and are in contact.

import { CONTACTS_MANIFOLD } from '../../../shared/layout';
import { bestAxes } from '../contact/box-axes';
import { boxContact } from '../contact/boxes';
import { clearContact } from '../contact/contact';
import { keepContact } from '../contact/pool';
import { compareFour, setFour } from '../math/four-boxes';
import { packing } from '../math/pack';
import { reserve } from '../memory';
import { Candidate } from './candidate';
import { NO_CONTACT, areBoxes, collide } from './narrow';
import { slotCount } from './objects';
import { PAIR_BYTES, Pair, pairIn } from './pair-list';
import { sortByIds, sortBySlots } from './radix';

let found: usize = 0;
export let foundCount: u32 = 0;

export function clearFound(): void {
  foundCount = 0;
}

/** Looks at two objects that may collide; `a` has the lower id. */
export function look(a: Candidate, b: Candidate): void {
  const contained = collide(a, b);
  if (contained != NO_CONTACT) addFound(a, b, contained);
}

/** With the contact that was found. */
function addFound(a: Candidate, b: Candidate, contained: i32): void {
  found = reserve(found, foundCount * <u32>PAIR_BYTES, <u64>(foundCount + 1) * PAIR_BYTES);
  const pair = pairIn(found, foundCount++);
  pair.a = a.id;
  pair.b = b.id;
  pair.contained = contained;
  pair.begun = 0;
  pair.groupA = a.group;
  pair.groupB = b.group;
  pair.contact = keepContact();
  pair.stale = 0;
}

/**
 * Looks at many, by the addresses of their candidates in two lists with room for three more; the lists are changed. The
 * bounds of four pairs are compared at once. Frames of 10,000 rotating boxes take TODO of the time that they take when
 * it is one by one.
 */
export function lookAtAll(firsts: usize, seconds: usize, bytes: usize): void {
  fillFour(firsts, bytes);
  fillFour(seconds, bytes);
  let surely: usize = 0;
  for (let i: usize = 0; i < bytes; i += 16) {
    setFour(firsts + i, seconds + i);
    const compared = compareFour();
    const there: u32 = bytes - i >= 16 ? 15 : (1 << <u32>((bytes - i) >> 2)) - 1;
    const sure = (compared >> 4) & there;
    for (let left = ~(compared | sure) & there; left != 0; left &= left - 1) {
      const at = i + (ctz(left) << 2);
      look(candidateIn(firsts, at), candidateIn(seconds, at));
    }
    const pack = packing(sure);
    v128.store(firsts + surely, v128.swizzle(v128.load(firsts + i), pack));
    v128.store(seconds + surely, v128.swizzle(v128.load(seconds + i), pack));
    surely += popcnt(sure) << 2;
  }
  let boxes: usize = 0;
  for (let i: usize = 0; i < surely; i += 4) {
    const a = candidateIn(firsts, i), b = candidateIn(seconds, i);
    const detail = <i32>min(a.contacts, b.contacts);
    if (!areBoxes(a, b)) {
      look(a, b);
    } else if (detail < CONTACTS_MANIFOLD) {
      clearContact();
      addFound(a, b, 0);
    } else {
      store<u32>(firsts + boxes, load<u32>(firsts + i));
      store<u32>(seconds + boxes, load<u32>(seconds + i));
      boxes += 4;
    }
  }
  fillFour(firsts, boxes);
  fillFour(seconds, boxes);
  for (let i: usize = 0; i < boxes; i += 16) {
    v128.store(axes, bestAxes(firsts + i, seconds + i));
    for (let k: usize = 0; k < min<usize>(boxes - i, 16); k += 4) {
      const a = candidateIn(firsts, i + k), b = candidateIn(seconds, i + k);
      clearContact();
      if (boxContact(a, b, load<i32>(axes + k))) addFound(a, b, 0);
      else look(a, b);
    }
  }
}

const axes: usize = memory.data(16, 16);

/** Repeats the last of a list until it ends with a whole vector. */
// @ts-ignore: decorator
@inline
function fillFour(list: usize, bytes: usize): void {
  for (let at = bytes; at & 15; at += 4) store<u32>(list + at, load<u32>(list + bytes - 4));
}

// @ts-ignore: decorator
@inline
function candidateIn(list: usize, at: usize): Candidate {
  return changetype<Candidate>(<usize>load<u32>(list + at));
}

/** Writes them in order to a list with room for so many. Throws OUT_OF_MEMORY. */
export function sortFound(to: usize): void {
  // Of few among many objects, the slots are more than the pairs.
  if (slotCount <= foundCount * 8) {
    sortBySlots<Pair>(found, to, foundCount, slotCount);
    return;
  }
  sortByIds<Pair>(found, to, foundCount);
  memory.copy(to, found, <usize>foundCount * PAIR_BYTES);
}
