// Where the motions of continuous objects begin: at their positions in the last answered frame. While a pair waits for a
// later frame because the contact budget is used up, the motions of both objects keep their beginnings, so that nothing
// passes through unseen.

import { FLAG_CONTINUOUS } from '../../../shared/layout';
import { copyStart } from '../shape/reach';
import { idsOfFrame, knownReachOfFrame } from './frame-snapshot';
import { idAt, isAlive, itemAt, reachAt, slotOf } from './objects';
import { waitingPairCount, waitingSlots } from './pairs/contact-queue';
import { refreshBounds } from './scene';
import { clearSlots, hasSlot, slotIn } from './slot-set';
import { recordMotionStart, previousMotionSlots, motionSlots, motionRound } from './motions';

function isContinuous(slot: u32): bool {
  return idAt(slot) != 0 && (itemAt(slot).flags & FLAG_CONTINUOUS) != 0;
}

/** Holds the beginnings of the motions of all objects of waiting pairs, before `beginMotionRound`. */
export function holdMotionStarts(): void {
  if (waitingPairCount == 0) return;
  for (let i: u32 = 0; i < waitingSlots.count; i++) holdMotionStart(idAt(slotIn(waitingSlots, i)));
}

function holdMotionStart(id: u32): void {
  if (!isAlive(id) || !isContinuous(slotOf(id))) return;
  const reach = reachAt(slotOf(id));
  recordMotionStart(reach, itemAt(slotOf(id)));
  reach.hasWaitingPair = 1;
}

/** Does the same after `beginMotionRound`, from the frame's copies of the objects. */
export function restoreWaitingMotions(): void {
  if (waitingPairCount == 0) return;
  const ids = idsOfFrame();
  for (let i: u32 = 0; i < waitingSlots.count; i++) restoreMotion(load<u32>(ids + (<usize>slotIn(waitingSlots, i) << 2)));
}

/** Restores the motions of all objects from the copies of a frame that was not answered. */
export function restorePreviousMotions(): void {
  for (let i: u32 = 0; i < previousMotionSlots.count; i++) restoreMotion(idAt(slotIn(previousMotionSlots, i)));
}

function restoreMotion(id: u32): void {
  if (!isAlive(id) || !isContinuous(slotOf(id))) return;
  const frameReach = knownReachOfFrame(id);
  if (changetype<usize>(frameReach) == 0) return;
  const reach = reachAt(slotOf(id));
  // An object that was not copied has kept its beginning unless it has moved since.
  if (reach == frameReach && reach.begun != motionRound) reach.hasWaitingPair = 1;
  recordMotionStart(reach, itemAt(slotOf(id)));
  if (!reach.isPlaced || !frameReach.isPlaced) return; // it was teleported since
  copyStart(reach, frameReach);
  reach.round = 0;
  areRestored = true;
}
/** Whether motions of objects were restored whose bounds may already have been set in this round. */
let areRestored: bool = false;

/** Removes finished motions from the bounds of objects that have not moved since. Their pairs are to be found again. */
export function dropFinishedMotions(): void {
  for (let i: u32 = 0; i < previousMotionSlots.count; i++) {
    const slot = slotIn(previousMotionSlots, i);
    if (!areRestored && hasSlot(motionSlots, slot)) continue;
    if (isContinuous(slot) && reachAt(slot).round != motionRound) refreshBounds(slot);
  }
  clearSlots(previousMotionSlots);
  areRestored = false;
}
