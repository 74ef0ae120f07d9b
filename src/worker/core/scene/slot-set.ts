import { reserve } from '../memory';

/** A set of slots: a list in insertion order, and a bitmap that keeps slots unique. */
@unmanaged
export class SlotSet {
  list: usize;
  count: u32;
  bits: usize;
  words: u32;
}

/** Returns how many words of 32 bits a bitmap of this many slots has: an even number, since most readers take two at once. */
// @ts-ignore: decorator
@inline
export function wordsFor(slots: u32): u32 {
  return ((slots + 63) >> 6) << 1;
}

/** Makes room for all slots below `count`, so that adding one of them never allocates. Throws OUT_OF_MEMORY. */
export function reserveSet(set: SlotSet, count: u32): void {
  set.list = reserve(set.list, set.count << 2, <u64>count << 2);
  const words = wordsFor(count);
  if (words <= set.words) return;
  set.bits = reserve(set.bits, set.words << 2, <u64>words << 2);
  memory.fill(set.bits + (<usize>set.words << 2), 0, <usize>(words - set.words) << 2);
  set.words = words;
}

export function addSlot(set: SlotSet, slot: u32): void {
  const at = set.bits + (<usize>(slot >> 5) << 2);
  const bit: u32 = 1 << (slot & 31);
  if (load<u32>(at) & bit) return;
  store<u32>(at, load<u32>(at) | bit);
  store<u32>(set.list + (set.count++ << 2), slot);
}

// @ts-ignore: decorator
@inline
export function hasSlot(set: SlotSet, slot: u32): bool {
  const word = slot >> 5;
  return word < set.words && (load<u32>(set.bits + (<usize>word << 2)) & (1 << (slot & 31))) != 0;
}

// @ts-ignore: decorator
@inline
export function slotIn(set: SlotSet, i: u32): u32 {
  return load<u32>(set.list + (<usize>i << 2));
}

/** Removes the slot that was added last. */
export function removeLast(set: SlotSet): void {
  const slot = slotIn(set, --set.count);
  const at = set.bits + (<usize>(slot >> 5) << 2);
  store<u32>(at, load<u32>(at) & ~(1 << (slot & 31)));
}

export function clearSlots(set: SlotSet): void {
  if (set.count >= set.words) memory.fill(set.bits, 0, <usize>set.words << 2);
  else for (let i: u32 = 0; i < set.count; i++) store<u32>(set.bits + (<usize>(slotIn(set, i) >> 5) << 2), 0);
  set.count = 0;
}

/** Swaps the contents of two sets that have room for the same slots. */
export function exchangeSlots(a: SlotSet, b: SlotSet): void {
  const list = a.list, count = a.count, bits = a.bits, words = a.words;
  a.list = b.list; a.count = b.count; a.bits = b.bits; a.words = b.words;
  b.list = list; b.count = count; b.bits = bits; b.words = words;
}

/** Adds all slots of one set to another, which must have room for them, and empties the first. */
export function moveSlots(from: SlotSet, to: SlotSet): void {
  for (let i: u32 = 0; i < from.count; i++) addSlot(to, slotIn(from, i));
  clearSlots(from);
}
