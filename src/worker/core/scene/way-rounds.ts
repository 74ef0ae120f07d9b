// Where the ways of continuous objects begin: at their positions in the last answered frame. While a pair waits for a
// later frame because the contact budget is used up, the ways of both objects keep their beginnings, so that nothing
// passes through unseen.

import { FLAG_CONTINUOUS } from '../../../shared/layout';
import { takeStart } from '../shape/reach';
import { idsOfFrame, knownReachOfFrame } from './frame-snapshot';
import { idAt, isAlive, itemAt, reachAt, slotOf } from './objects';
import { waitingPairs, waitingSlots } from './pairs/contact-queue';
import { touch } from './scene';
import { clearSlots, hasSlot, slotIn } from './slot-set';
import { noteStart, passed, underWay, wayRound } from './ways';

function isContinuous(slot: u32): bool {
  return idAt(slot) != 0 && (itemAt(slot).flags & FLAG_CONTINUOUS) != 0;
}

/** Holds the beginnings of the ways of all objects of waiting pairs, before `nextRound`. */
export function holdWays(): void {
  if (waitingPairs == 0) return;
  for (let i: u32 = 0; i < waitingSlots.count; i++) hold(idAt(slotIn(waitingSlots, i)));
}

function hold(id: u32): void {
  if (!isAlive(id) || !isContinuous(slotOf(id))) return;
  const reach = reachAt(slotOf(id));
  noteStart(reach, itemAt(slotOf(id)));
  reach.isHeld = 1;
}

/** Does the same after `nextRound`, from the frame's copies of the objects. */
export function restoreWaiting(): void {
  if (waitingPairs == 0) return;
  const ids = idsOfFrame();
  for (let i: u32 = 0; i < waitingSlots.count; i++) restore(load<u32>(ids + (<usize>slotIn(waitingSlots, i) << 2)));
}

/** Restores the ways of all objects from the copies of a frame that was not answered. */
export function restorePassed(): void {
  for (let i: u32 = 0; i < passed.count; i++) restore(idAt(slotIn(passed, i)));
}

function restore(id: u32): void {
  if (!isAlive(id) || !isContinuous(slotOf(id))) return;
  const then = knownReachOfFrame(id);
  if (changetype<usize>(then) == 0) return;
  const reach = reachAt(slotOf(id));
  noteStart(reach, itemAt(slotOf(id)));
  if (!reach.isPlaced || !then.isPlaced) return; // it was teleported since
  takeStart(reach, then);
  reach.round = 0;
  areRestored = true;
}
/** Whether ways of objects were restored whose bounds may already have been set in this round. */
let areRestored: bool = false;

/** Removes finished ways from the bounds of objects that have not moved since. Their pairs are to be found again. */
export function dropPassedWays(): void {
  for (let i: u32 = 0; i < passed.count; i++) {
    const slot = slotIn(passed, i);
    if (!areRestored && hasSlot(underWay, slot)) continue;
    if (isContinuous(slot) && reachAt(slot).round != wayRound) touch(slot);
  }
  clearSlots(passed);
  areRestored = false;
}
