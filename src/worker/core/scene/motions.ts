// The motions of continuous objects since the last answered frame: sets of the objects that have
// a motion, and of those that had one in the round before, whose bounds still cover a finished motion.

import { Item } from '../shape/item';
import { Reach, beginMotion } from '../shape/reach';
import { SlotSet, addSlot, exchangeSlots, moveSlots, reserveSet } from './slot-set';

/** Slots of objects with a motion in the coming frame, or without one because no frame has seen them yet. */
export const motionSlots = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Slots of `motionSlots` of the previous round. */
export const previousMotionSlots = changetype<SlotSet>(memory.data(<i32>offsetof<SlotSet>(), 16));
/** Counts how often motions were begun again. */
export let motionRound: u32 = 1;

/** Whether any object has ever had a reach beyond its shape. */
export let isAnyReaching: bool = false;

export function markReaching(): void {
  isAnyReaching = true;
}

/** Makes room for slots below `count`. Throws OUT_OF_MEMORY. */
export function reserveMotions(count: u32): void {
  reserveSet(motionSlots, count);
  reserveSet(previousMotionSlots, count);
}

/** Records a continuous object whose bounds were set. */
export function recordMotion(slot: u32, reach: Reach): void {
  if (reach.travel > 0 || !reach.isPlaced) addSlot(motionSlots, slot);
}

/**
 * Lets motions begin at the current positions of the objects, except for motions that are held. The beginning is recorded before
 * an object changes (`recordMotionStart`): recording it in a pass over all objects took 4 % of a frame of 10,000 boxes that all
 * move.
 */
export function beginMotionRound(): void {
  if (previousMotionSlots.count == 0) exchangeSlots(motionSlots, previousMotionSlots);
  else moveSlots(motionSlots, previousMotionSlots);
  motionRound++;
}

/** Records where the motion of a continuous object begins, before the object changes for the first time in a round. */
export function recordMotionStart(reach: Reach, item: Item): void {
  if (reach.begun == motionRound) return;
  reach.begun = motionRound;
  if (!reach.hasWaitingPair || !reach.isPlaced) beginMotion(reach, item);
  reach.isPlaced = 1;
  reach.hasWaitingPair = 0;
}

/** Ends the motion of an object that is teleported, before its bounds are set: it has none in this round. */
export function dropMotion(reach: Reach): void {
  reach.hasWaitingPair = reach.heldIn = 0;
  reach.travel = 0;
  reach.isPlaced = 0;
  reach.begun = motionRound;
}
