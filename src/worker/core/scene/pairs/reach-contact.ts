// The narrow phase of two objects of which at least one has a reach beyond its shape. They are in contact if their shapes
// are; failing that, if they are no farther apart than their clearances; and failing that, if they met in their motions to where
// they are. It reads nothing of the scene, since it is part of the interruptible module only (pair-module.ts).

import { CONTACTS_BONES, CONTACTS_BOUNDS, PRECISION_MESH, PRECISION_OBB } from '../../../../shared/layout';
import { addBonePair, addPoint, clearContact } from '../../contact/manifold/contact';
import { hasPoints } from '../../contact/manifold/dispatch';
import * as shapes from '../../distance/shape-distance';
import { boxList, boxInList } from '../../shape/box-list';
import { Item, boxListOf, worldOf } from '../../shape/item';
import { multiply } from '../../math/affine';
import { PlacedShape, mapOf, setPlacedShape } from '../../shape/placed-shape';
import { Proxy } from '../../shape/proxy';
import { PairReach, startOfA, startOfB } from '../../shape/reach';
import {
  firstContactDepth, firstContactNormalX, firstContactNormalY, firstContactNormalZ, firstContactTime, firstContactX,
  firstContactY, firstContactZ, sweepBoth,
} from '../../sweep/two-motions';
import { bonesNear, isBoxed } from './bone-pairs';
import { NO_CONTACT, collide } from './narrow-phase';

/** When the two met: 1 if they are in contact where they are. */
export let contactTime: f64 = 1;

const shapeA = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const shapeB = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Returns the same as `collide`, and sets `contactTime`. Throws OUT_OF_MEMORY. */
export function collideInReach(a: Proxy, b: Proxy, itemA: Item, itemB: Item, reach: PairReach): i32 {
  contactTime = 1;
  const contained = collide(a, b, itemA, itemB);
  if (contained != NO_CONTACT) return contained;
  clearContact();
  const detail = <i32>min(a.contacts, b.contacts);
  const isBoxedA = isBoxed(a, itemA, detail), isBoxedB = isBoxed(b, itemB, detail);
  if (isBoxedA || isBoxedB) {
    if (reach.clearance > 0 && bonesNear(a, itemA, b, itemB, detail, reach.clearance)) return 0;
    if (detail == CONTACTS_BONES || !reach.hasMotion) return NO_CONTACT;
    return doBoxesMeetInMotion(itemA, isBoxedA, itemB, isBoxedB, reach) ? 0 : NO_CONTACT;
  }
  const precision = detail == CONTACTS_BOUNDS ? PRECISION_OBB : PRECISION_MESH;
  setPlacedShape(shapeA, itemA, precision);
  setPlacedShape(shapeB, itemB, precision);
  if (reach.clearance > 0 && shapes.distanceOfShapes(shapeA, shapeB, reach.clearance)) {
    if (hasPoints(detail)) addGapPoint();
    return 0;
  }
  if (!reach.hasMotion) return NO_CONTACT;
  const hasMet = sweepBoth(
    shapeA, startOfA(reach), worldOf(itemA), shapeB, startOfB(reach), worldOf(itemB), reach.apartUntil, hasPoints(detail),
  );
  if (!hasMet) return NO_CONTACT;
  contactTime = firstContactTime;
  if (hasPoints(detail)) {
    addPoint(firstContactX, firstContactY, firstContactZ, firstContactNormalX, firstContactNormalY, firstContactNormalZ,
      firstContactDepth);
  }
  return 0;
}

/**
 * Finds which two given boxes meet first in the motion, and when; an object without boxes is represented by its bounds. Returns
 * whether any do.
 */
function doBoxesMeetInMotion(itemA: Item, isBoxedA: bool, itemB: Item, isBoxedB: bool, reach: PairReach): bool {
  const listA: usize = isBoxedA ? boxListOf(itemA) : 0, listB: usize = isBoxedB ? boxListOf(itemB) : 0;
  const countA: u32 = isBoxedA ? boxList(listA).count : 1, countB: u32 = isBoxedB ? boxList(listB).count : 1;
  let boxA: i32 = -1, boxB: i32 = -1;
  let hasMet = false;
  for (let i: u32 = 0; i < countA; i++) {
    setPlacedShape(shapeA, itemA, PRECISION_OBB);
    if (isBoxedA) multiply(mapOf(shapeA), worldOf(itemA), boxInList(listA, i).map());
    for (let j: u32 = 0; j < countB; j++) {
      setPlacedShape(shapeB, itemB, PRECISION_OBB);
      if (isBoxedB) multiply(mapOf(shapeB), worldOf(itemB), boxInList(listB, j).map());
      if (!sweepBoth(shapeA, startOfA(reach), worldOf(itemA), shapeB, startOfB(reach), worldOf(itemB), 0, false)) continue;
      if (hasMet && firstContactTime >= contactTime) continue;
      hasMet = true;
      contactTime = firstContactTime;
      boxA = isBoxedA ? <i32>i : -1;
      boxB = isBoxedB ? <i32>j : -1;
    }
  }
  if (hasMet) addBonePair(boxA, boxB);
  return hasMet;
}

/** Adds the midpoint of the two nearest points. */
function addGapPoint(): void {
  const gap = shapes.distance;
  let x = shapes.pointBX - shapes.pointAX, y = shapes.pointBY - shapes.pointAY, z = shapes.pointBZ - shapes.pointAZ;
  let length = sqrt(x * x + y * y + z * z);
  if (!(length > 0)) {
    // They touch, except for rounding.
    x = shapeB.tx - shapeA.tx; y = shapeB.ty - shapeA.ty; z = shapeB.tz - shapeA.tz;
    length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) z = length = 1;
  }
  addPoint(
    0.5 * (shapes.pointAX + shapes.pointBX), 0.5 * (shapes.pointAY + shapes.pointBY), 0.5 * (shapes.pointAZ + shapes.pointBZ),
    x / length, y / length, z / length, -gap,
  );
}
