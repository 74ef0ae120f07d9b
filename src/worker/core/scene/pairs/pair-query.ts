// Answers the queries `contact` and `distance`: those of two objects, regardless of their layers, groups and details. As in a
// frame, a pair with a mesh is examined by the interruptible module, in slices.

import { SHAPE_POINT_LINE } from '../../../../shared/layout';
import {
  bonePairCount, bonePairs, clearContact, crossingCount, crossings, pointCount, points,
} from '../../contact/manifold/contact';
import { allocate, release } from '../../memory';
import { Item, ITEM_COPY_BYTES, copyItem, copiedItem } from '../../shape/item';
import { PROXY_BYTES, Proxy, setProxy } from '../../shape/proxy';
import { PAIR_REACH_BYTES, PairReach } from '../../shape/reach';
import { isAlive, itemAt, orientedBounds, reachAt, slotOf } from '../objects';
import { beginMeasure, beginPair, resumePair } from './interruptible';
import { NO_CONTACT, collide } from './narrow-phase';
import { dropSuspended } from './narrow-phase-slices';
import { Outcome } from './outcome';
import { PairDistance } from './pair-distance';
import { isHeavy } from './pair-test';

/** Returned for a suspended pair: it must be resumed. */
const SUSPENDED: i32 = -2;
/** Returned if the object of the lower id, or the other one, is points or lines, whose distances are not measured. */
const FIRST_UNMEASURED: i32 = -3;
const SECOND_UNMEASURED: i32 = -4;

const proxyA = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));
const proxyB = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));
const itemCopyA: usize = memory.data(<i32>ITEM_COPY_BYTES, 16);
const itemCopyB: usize = memory.data(<i32>ITEM_COPY_BYTES, 16);
const lastContact = changetype<Outcome>(memory.data(<i32>offsetof<Outcome>(), 16));

/** The clearances of the two objects. Their motions matter only to frames. */
const reach = changetype<PairReach>(memory.data(<i32>PAIR_REACH_BYTES, 16));

const lastDistance = changetype<PairDistance>(memory.data(<i32>offsetof<PairDistance>(), 16));

/** How many contacts and distances wait with copies of their objects, and whether one was suspended. */
let keptCount: u32 = 0;
let isSuspended: bool = false;

/** Returns whether a contact or a distance was suspended, or waits with copies of its objects. */
export function isContactOpen(): bool {
  return isSuspended || keptCount != 0;
}

/** Gives up the suspended contact or distance: the next pair that is begun takes its place. */
export function giveUpContact(): void {
  isSuspended = false;
}

/** Returns whether the contact of two objects may take long. */
export function isLongContact(a: u32, b: u32, detail: u32): bool {
  if (!isAlive(a) || !isAlive(b)) return false;
  setPairProxy(proxyA, a, detail);
  setPairProxy(proxyB, b, detail);
  if (proxyA.shape == <u8>SHAPE_POINT_LINE || proxyB.shape == <u8>SHAPE_POINT_LINE) return false;
  return isHeavy(proxyA, proxyB);
}

/**
 * Finds the contact of two objects, of which `a` has the lower id, until a time by the clock of `now`. Returns NO_CONTACT, which
 * contains which (0 neither, 1 a inside b, 2 b inside a), or SUSPENDED: then `resumeContact` must follow until it returns
 * something else, before the narrow phase of any frame and any other contact that may take long. An object that does not
 * exist has no contact, nor has one of points or lines. Throws OUT_OF_MEMORY.
 */
export function beginContact(a: u32, b: u32, detail: u32, deadline: f64): i32 {
  if (!isAlive(a) || !isAlive(b)) return NO_CONTACT;
  setPairProxy(proxyA, a, detail);
  setPairProxy(proxyB, b, detail);
  if (proxyA.shape == <u8>SHAPE_POINT_LINE || proxyB.shape == <u8>SHAPE_POINT_LINE) return NO_CONTACT;
  const itemA = itemAt(slotOf(a)), itemB = itemAt(slotOf(b));
  if (isHeavy(proxyA, proxyB)) {
    dropSuspended();
    reach.clearance = clearanceOf(a) + clearanceOf(b);
    return conclude(beginPair(proxyA, itemA, proxyB, itemB, reachAddress(), deadline));
  }
  clearContact();
  lastContact.contained = collide(proxyA, proxyB, itemA, itemB);
  lastContact.points = points;
  lastContact.pointCount = pointCount;
  lastContact.crossings = crossings;
  lastContact.crossingCount = crossingCount;
  lastContact.bonePairs = bonePairs;
  lastContact.bonePairCount = bonePairCount;
  return lastContact.contained;
}

/**
 * Copies two objects in their current state for a contact that takes long, and returns the address of the copies:
 * `beginKeptContact` must follow. The objects may change meanwhile and get other meshes; their current meshes must stay
 * unchanged. Throws OUT_OF_MEMORY.
 */
export function keepContact(a: u32, b: u32, detail: u32): usize {
  const kept = allocate(KEPT_CLEARANCE + 16);
  copyObject(kept, a, detail);
  copyObject(kept + PROXY_BYTES + ITEM_COPY_BYTES, b, detail);
  store<f64>(kept + KEPT_CLEARANCE, clearanceOf(a) + clearanceOf(b));
  keptCount++;
  return kept;
}

/** Offset of the sum of both clearances, after the copies of two objects. */
const KEPT_CLEARANCE: usize = 2 * (PROXY_BYTES + ITEM_COPY_BYTES);

function clearanceOf(id: u32): f64 {
  const reach = reachAt(slotOf(id));
  return changetype<usize>(reach) == 0 ? 0 : reach.clearance;
}

function reachAddress(): usize {
  return reach.clearance > 0 ? changetype<usize>(reach) : 0;
}

function copyObject(to: usize, id: u32, detail: u32): void {
  setPairProxy(changetype<Proxy>(to), id, detail);
  copyItem(to + PROXY_BYTES, itemAt(slotOf(id)));
}

/** Begins the contact of two copied objects and frees the copies; returns the same as `beginContact`. */
export function beginKeptContact(kept: usize, deadline: f64): i32 {
  restoreKept(kept);
  return conclude(beginPair(proxyA, copiedItem(itemCopyA), proxyB, copiedItem(itemCopyB), reachAddress(), deadline));
}

/** Takes over two copied objects and frees the copies. */
function restoreKept(kept: usize): void {
  const other = kept + PROXY_BYTES + ITEM_COPY_BYTES;
  memory.copy(changetype<usize>(proxyA), kept, PROXY_BYTES);
  copyItem(itemCopyA, copiedItem(kept + PROXY_BYTES));
  memory.copy(changetype<usize>(proxyB), other, PROXY_BYTES);
  copyItem(itemCopyB, copiedItem(other + PROXY_BYTES));
  reach.clearance = load<f64>(kept + KEPT_CLEARANCE);
  release(kept);
  keptCount--;
  dropSuspended();
}

/** Returns whether two objects exist and have a distance. */
export function canMeasure(a: u32, b: u32): bool {
  return (
    isAlive(a) && isAlive(b) &&
    itemAt(slotOf(a)).shape != <u8>SHAPE_POINT_LINE && itemAt(slotOf(b)).shape != <u8>SHAPE_POINT_LINE
  );
}

/**
 * Measures the distance of two objects, up to `limit`, until a time by the clock of `now`. Returns NO_CONTACT if they are farther
 * apart, 0 if not (`measuredDistance`), FIRST_UNMEASURED, SECOND_UNMEASURED, or SUSPENDED, as `beginContact`: then
 * `resumeDistance` must follow. As with a contact that takes long, no other may be suspended meanwhile. Throws OUT_OF_MEMORY.
 */
export function beginDistance(a: u32, b: u32, limit: f64, deadline: f64): i32 {
  if (!isAlive(a) || !isAlive(b)) return NO_CONTACT;
  const itemA = itemAt(slotOf(a)), itemB = itemAt(slotOf(b));
  if (itemA.shape == <u8>SHAPE_POINT_LINE) return FIRST_UNMEASURED;
  if (itemB.shape == <u8>SHAPE_POINT_LINE) return SECOND_UNMEASURED;
  // The interruptible module measures other shapes as well, so that the core needs no copy of that code: 5 KB gzipped.
  dropSuspended();
  return concludeDistance(beginMeasure(itemA, itemB, limit, deadline));
}

/** Begins the distance of two objects that `keepContact` has copied, and frees the copies. */
export function beginKeptDistance(kept: usize, limit: f64, deadline: f64): i32 {
  restoreKept(kept);
  return concludeDistance(beginMeasure(copiedItem(itemCopyA), copiedItem(itemCopyB), limit, deadline));
}

/** Resumes the suspended distance; returns the same as `beginDistance`. */
export function resumeDistance(deadline: f64): i32 {
  isSuspended = false; // in case it throws
  return concludeDistance(resumePair(deadline));
}

function concludeDistance(outcome: usize): i32 {
  isSuspended = outcome == 0;
  if (isSuspended) return SUSPENDED;
  memory.copy(changetype<usize>(lastDistance), outcome, offsetof<PairDistance>());
  return lastDistance.isNear ? 0 : NO_CONTACT;
}

/** Returns the address of the last distance (DISTANCE_*). */
export function measuredDistance(): usize {
  return changetype<usize>(lastDistance);
}

/** Resumes the suspended contact; returns the same as `beginContact`. */
export function resumeContact(deadline: f64): i32 {
  isSuspended = false; // in case it throws
  return conclude(resumePair(deadline));
}

function conclude(outcome: usize): i32 {
  isSuspended = outcome == 0;
  if (isSuspended) return SUSPENDED;
  memory.copy(changetype<usize>(lastContact), outcome, offsetof<Outcome>());
  return lastContact.contained;
}

function setPairProxy(proxy: Proxy, id: u32, detail: u32): void {
  const slot = slotOf(id);
  setProxy(proxy, itemAt(slot), orientedBounds(slot));
  proxy.contacts = <u8>detail;
}

/**
 * Returns the number of points of the last contact. The next functions return the address of the points (CONTACT_*), and the same
 * of the crossings and of the pairs of bones.
 */
export function contactPointCount(): u32 { return lastContact.pointCount; }
export function contactPoints(): usize { return lastContact.points; }
export function contactCrossingCount(): u32 { return lastContact.crossingCount; }
export function contactCrossings(): usize { return lastContact.crossings; }
export function contactBonePairCount(): u32 { return lastContact.bonePairCount; }
export function contactBonePairs(): usize { return lastContact.bonePairs; }
