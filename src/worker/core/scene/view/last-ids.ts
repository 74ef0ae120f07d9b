// The ids that the slots held in the last frame. A view keeps only one bit per slot, so it does not know which object
// it saw in a slot that was emptied or refilled since. One array serves all views: removed objects are listed by slot,
// in the order of the ids, no matter how many were removed and in which order.

import { reserve } from '../../memory';
import { idsOfFrame, slotCountOfFrame } from '../frame-snapshot';
import { isAlive, slotOf } from '../objects';
import { SlotSet, addSlot, clearSlots, moveSlots, reserveSet, slotIn } from '../slot-set';

/** The ids by slot, 0 if the last frame had no object there. */
export let lastIds: usize = 0;
/** The number of slots of the last frame or of now, whichever is larger: all slots are below. */
export let lastSlotCount: u32 = 0;

/** The slots that hold another object than in the last frame, or none. */
const replaced = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** The slots that were filled or emptied while a frame is under way. */
const replacedDuringFrame = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** The set that currently records such slots. */
let activeSet: SlotSet = replaced;

/** Makes sure that `beginReplacedDuringFrame` allocates nothing. Throws OUT_OF_MEMORY. */
export function reserveReplacedDuringFrame(): void {
  reserveSet(replacedDuringFrame, lastSlotCount);
}

/** Records slots that are filled or emptied from now on for the next frame. */
export function beginReplacedDuringFrame(): void {
  activeSet = replacedDuringFrame;
}

/** Hands those slots to the coming frame. */
export function endReplacedDuringFrame(): void {
  activeSet = replaced;
  moveSlots(replacedDuringFrame, replaced);
}

/** Makes room for all slots below `count`. Throws OUT_OF_MEMORY, with nothing changed. */
export function reserveLastIds(count: u32): void {
  if (count <= lastSlotCount) return;
  reserveSet(replaced, count);
  if (activeSet == replacedDuringFrame) reserveSet(replacedDuringFrame, count);
  lastIds = reserve(lastIds, lastSlotCount << 2, <u64>count << 2);
  memory.fill(lastIds + (<usize>lastSlotCount << 2), 0, <usize>(count - lastSlotCount) << 2);
  lastSlotCount = count;
}

/** Records that a slot is filled or emptied. */
export function recordReplacedSlot(slot: u32): void {
  addSlot(activeSet, slot);
}

/** Reads 64 bits of the bitmap of replaced slots. */
// @ts-ignore: decorator
@inline
export function replacedBits(at: usize): u64 {
  return load<u64>(replaced.bits + at);
}

/** Makes the frame's ids those of the last frame. */
export function updateLastIds(): void {
  const ids = idsOfFrame(), count = slotCountOfFrame();
  for (let i: u32 = 0; i < replaced.count; i++) {
    const slot = slotIn(replaced, i);
    store<u32>(lastIds + (<usize>slot << 2), slot < count ? load<u32>(ids + (<usize>slot << 2)) : 0);
  }
  clearSlots(replaced);
}

/** Takes over an id of another core's last frame. Throws OUT_OF_MEMORY. */
export function restoreLastId(id: u32): void {
  if (isAlive(id)) return;
  const slot = slotOf(id);
  reserveLastIds(slot + 1);
  store<u32>(lastIds + (<usize>slot << 2), id);
  addSlot(replaced, slot);
}
