// Where the motions of continuous objects begin: at their positions in the last answered frame. While a pair waits for a
// later frame because the contact budget is used up, the motions of both objects keep their beginnings, so that nothing
// passes through unseen. Their other pairs are queued in each of these frames, and wait in turn: so once all pairs that waited
// when the beginnings were held are examined, the motions begin where the objects were then.

import { FLAG_CONTINUOUS } from '../../../shared/layout';
import { Affine, copy } from '../math/affine';
import { worldOf } from '../shape/item';
import { Reach, fromOf, nextOf } from '../shape/reach';
import { idsOfFrame, itemOf, knownReachOfFrame } from './frame-snapshot';
import { idAt, isAlive, itemAt, reachAt, slotOf } from './objects';
import { frameIndex, mayStartsAdvance, waitingPairCount, waitingSlots } from './pairs/contact-queue';
import { refreshBounds } from './scene';
import { clearSlots, hasSlot, slotIn } from './slot-set';
import { recordMotionStart, previousMotionSlots, motionSlots, motionRound } from './motions';

function isContinuous(slot: u32): bool {
  return idAt(slot) != 0 && (itemAt(slot).flags & FLAG_CONTINUOUS) != 0;
}

/** Holds the beginning of a motion, or lets it advance; `world` is the object's matrix in the answered frame. */
function holdStart(reach: Reach, world: Affine): void {
  const from = fromOf(reach), next = nextOf(reach);
  if (reach.heldIn != frameIndex - 1) copy(next, from);
  reach.heldIn = frameIndex;
  if (!mayStartsAdvance) return;
  copy(from, next);
  copy(next, world);
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
  holdStart(reach, worldOf(itemAt(slotOf(id))));
}

/** Does the same after `beginMotionRound`, from the frame's copies of the objects. */
export function restoreWaitingMotions(): void {
  if (waitingPairCount == 0) return;
  const ids = idsOfFrame();
  for (let i: u32 = 0; i < waitingSlots.count; i++) restoreMotion(load<u32>(ids + (<usize>slotIn(waitingSlots, i) << 2)), true);
}

/** Restores the motions of all objects from the copies of a frame that was not answered. */
export function restorePreviousMotions(): void {
  for (let i: u32 = 0; i < previousMotionSlots.count; i++) restoreMotion(idAt(slotIn(previousMotionSlots, i)), false);
}

function restoreMotion(id: u32, isAnswered: bool): void {
  if (!isAlive(id) || !isContinuous(slotOf(id))) return;
  const frameReach = knownReachOfFrame(id);
  if (changetype<usize>(frameReach) == 0) return;
  const reach = reachAt(slotOf(id));
  const isKnown = reach != frameReach || reach.begun != motionRound;
  // An object that was not copied has kept its beginning unless it has moved since.
  if (reach == frameReach && isKnown) reach.hasWaitingPair = 1;
  recordMotionStart(reach, itemAt(slotOf(id)));
  if (!reach.isPlaced || !frameReach.isPlaced) return; // it was teleported since
  copy(fromOf(reach), fromOf(frameReach));
  if (isAnswered && isKnown) holdStart(reach, worldOf(itemOf(id)));
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
