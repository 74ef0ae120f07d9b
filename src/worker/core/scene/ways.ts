// The objects that are continuous and have moved since the last answered frame, and those that had before: their bounds
// cover a way that is over.

import { Reach } from '../shape/reach';
import { SlotSet, addSlot, moveSlots, reserveSet } from './slot-set';

/** Slots of objects with a way in the frame that comes, or without one as no frame has had them. */
export const underWay = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Those of the round before. */
export const passed = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Counts how often ways began anew. */
export let wayRound: u32 = 1;

/** Whether any object has ever reached beyond its shape. */
export let isAnyReaching: bool = false;

export function noteReaching(): void {
  isAnyReaching = true;
}

/** Makes room for slots below `count`. Throws OUT_OF_MEMORY. */
export function reserveWays(count: u32): void {
  reserveSet(underWay, count);
  reserveSet(passed, count);
}

/** Notes a continuous object whose bounds were set. */
export function noteReach(slot: u32, reach: Reach): void {
  if (reach.travel > 0 || !reach.isPlaced) addSlot(underWay, slot);
}

/** Begins a round. */
export function nextRound(): void {
  moveSlots(underWay, passed);
  wayRound++;
}
