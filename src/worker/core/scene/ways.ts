// The ways of continuous objects, which are their motions since the last answered frame: sets of the objects that have
// a way, and of those that had one in the round before, whose bounds still cover a finished way.

import { Item } from '../shape/item';
import { Reach, beginWay } from '../shape/reach';
import { SlotSet, addSlot, exchangeSlots, moveSlots, reserveSet } from './slot-set';

/** Slots of objects with a way in the coming frame, or without one because no frame has seen them yet. */
export const underWay = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Slots of `underWay` of the previous round. */
export const passed = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Counts how often ways were begun again. */
export let wayRound: u32 = 1;

/** Whether any object has ever had a reach beyond its shape. */
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
 * Lets ways begin at the current positions of the objects, except for ways that are held. The beginning is noted before
 * an object changes (`noteStart`): noting it in a pass over all objects took 4 % of a frame of 10,000 boxes that all
 * move.
 */
export function nextRound(): void {
  if (passed.count == 0) exchangeSlots(underWay, passed);
  else moveSlots(underWay, passed);
  wayRound++;
}

/** Notes where the way of a continuous object begins, before the object changes for the first time in a round. */
export function noteStart(reach: Reach, item: Item): void {
  if (reach.begun == wayRound) return;
  reach.begun = wayRound;
  if (!reach.isHeld || !reach.isPlaced) beginWay(reach, item);
  reach.isPlaced = 1;
  reach.isHeld = 0;
}
