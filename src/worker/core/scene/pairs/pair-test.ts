// Examines a pair at once if that takes no longer than a few microseconds whatever the shapes are. Pairs with a mesh, which
// may take time in proportion to the mesh, are left for slices (narrow-phase-slices.ts).

import { CONTACTS_BOUNDS, FLAG_BOXES, SHAPE_MESH } from '../../../../shared/layout';
import { Item } from '../../shape/item';
import { Proxy } from '../../shape/proxy';
import { itemOf } from '../frame-snapshot';
import { postpone } from './contact-queue';
import { addPair } from './found-pairs';
import { NO_CONTACT, collide } from './narrow-phase';
import { REACHING_BYTE } from '../../shape/reach';
import { mayMeet } from './reaching-pairs';

/** Flags in a proxy's second byte of objects that may be much work at any detail. */
const HEAVY_BYTE: u8 = <u8>(REACHING_BYTE | (FLAG_BOXES >> 8));

/**
 * Returns whether the work on a pair is left to the interruptible module because it is not bounded: one of the two is a mesh
 * and more than bounds are requested, or boxes represent a mesh, or one has a reach beyond its shape.
 */
// @ts-ignore: decorator
@inline
export function isHeavy(a: Proxy, b: Proxy): bool {
  return (
    ((a.shape == SHAPE_MESH || b.shape == SHAPE_MESH) && min(a.contacts, b.contacts) > <u8>CONTACTS_BOUNDS) ||
    ((a.highFlags | b.highFlags) & HEAVY_BYTE) != 0
  );
}

/** Examines two objects that may collide, or leaves them for slices; `a` has the lower id. Throws OUT_OF_MEMORY. */
export function testOrPostpone(a: Proxy, b: Proxy): void {
  if (!isHeavy(a, b)) testPair(a, b);
  else if (mayMeet(a, b)) postpone(a.id, b.id);
}

/** Examines two objects that may collide; `a` has the lower id. Throws OUT_OF_MEMORY. */
export function testPair(a: Proxy, b: Proxy): void {
  testPairWith(a, itemOf(a.id), b, itemOf(b.id));
}

/** Examines two objects in the state of these records. Throws OUT_OF_MEMORY. */
export function testPairWith(a: Proxy, itemA: Item, b: Proxy, itemB: Item): void {
  const contained = collide(a, b, itemA, itemB);
  if (contained != NO_CONTACT) addPair(a, b, contained);
}
