// Looks at a pair at once where that takes no longer than some microseconds, whatever the shapes are; pairs with a
// mesh, which may take as long as the mesh is large, are left for slices (narrow-phase-slices.ts).

import { CONTACTS_BOUNDS, FLAG_BOXES, SHAPE_MESH } from '../../../../shared/layout';
import { Item } from '../../shape/item';
import { Proxy } from '../../shape/proxy';
import { itemOf } from '../frame-snapshot';
import { postpone } from './contact-queue';
import { addFound } from './found-pairs';
import { NO_CONTACT, collide } from './narrow-phase';
import { REACHING_BYTE } from '../../shape/reach';
import { mayMeet } from './reaching-pairs';

/** Flags in a proxy's second byte of those that may be much work by any detail. */
const HEAVY_BYTE: u8 = <u8>(REACHING_BYTE | (FLAG_BOXES >> 8));

/**
 * Tells whether the work on a pair is left to the interruptible module: where it is not bounded, as one of the two is a mesh
 * and more than bounds are asked for, or boxes stand for one, and where one reaches beyond its shape.
 */
// @ts-ignore: decorator
@inline
export function isHeavy(a: Proxy, b: Proxy): bool {
  return (
    ((a.shape == SHAPE_MESH || b.shape == SHAPE_MESH) && min(a.contacts, b.contacts) > <u8>CONTACTS_BOUNDS) ||
    ((a.moreFlags | b.moreFlags) & HEAVY_BYTE) != 0
  );
}

/** Looks at two objects that may collide, or leaves them for slices; `a` has the lower id. Throws OUT_OF_MEMORY. */
export function lookOrPostpone(a: Proxy, b: Proxy): void {
  if (!isHeavy(a, b)) look(a, b);
  else if (mayMeet(a, b)) postpone(a.id, b.id);
}

/** Looks at two objects that may collide; `a` has the lower id. Throws OUT_OF_MEMORY. */
export function look(a: Proxy, b: Proxy): void {
  lookWith(a, itemOf(a.id), b, itemOf(b.id));
}

/** Looks at two objects as these records have them. Throws OUT_OF_MEMORY. */
export function lookWith(a: Proxy, itemA: Item, b: Proxy, itemB: Item): void {
  const contained = collide(a, b, itemA, itemB);
  if (contained != NO_CONTACT) addFound(a, b, contained);
}
