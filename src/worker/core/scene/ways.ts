// The objects that are continuous and have moved since the last answered frame, and those that had before: their bounds
// cover a way that is over.

import { Item } from '../shape/item';
import { Reach, beginWay } from '../shape/reach';
import { SlotSet, addSlot, exchangeSlots, moveSlots, reserveSet } from './slot-set';

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

/**
 * Lets ways begin where the objects are, but for those that are held. Where that is, is noted before an object changes
 * (`noteStart`): in a pass over all of them, it took 4 % of a frame of 10,000 boxes that all move.
 */
export function nextRound(): void {
  if (passed.count == 0) exchangeSlots(underWay, passed);
  else moveSlots(underWay, passed);
  wayRound++;
}

/** Notes where the way of a continuous object begins, before it changes for the first time in a round. */
export function noteStart(reach: Reach, item: Item): void {
  if (reach.begun == wayRound) return;
  reach.begun = wayRound;
  if (!reach.isHeld || !reach.isPlaced) beginWay(reach, item);
  reach.isPlaced = 1;
  reach.isHeld = 0;
}
