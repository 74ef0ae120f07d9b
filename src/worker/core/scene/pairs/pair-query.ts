// Answers the query `contact`: that of two objects, whatever their layers, groups and details say.

import { PROXY_BYTES, Proxy, setProxy } from '../../shape/proxy';
import { NO_CONTACT, collide } from './narrow-phase';
import { isAlive, itemAt, orientedBounds, slotOf } from '../objects';
import { clearContact, crossingCount, crossings, pointCount, points } from '../../contact/manifold/contact';

const first = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));
const second = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));

/**
 * Finds the contact of two objects, of which `a` is the lower id. Answers NO_CONTACT, or which contains which. An
 * object that is not there has no contact. Runs to its end. Throws OUT_OF_MEMORY.
 */
export function contact(a: u32, b: u32, detail: u32): i32 {
  clearContact();
  if (!isAlive(a) || !isAlive(b)) return NO_CONTACT;
  take(first, a, detail);
  take(second, b, detail);
  return collide(first, second, itemAt(slotOf(a)), itemAt(slotOf(b)));
}

function take(proxy: Proxy, id: u32, detail: u32): void {
  const slot = slotOf(id);
  setProxy(proxy, itemAt(slot), orientedBounds(slot));
  proxy.contacts = <u8>detail;
}

/**
 * Answers how many points the last `contact` found; the next ones answer where they are (CONTACT_*), and the same of
 * the crossings.
 */
export function contactPointCount(): u32 { return pointCount; }
export function contactPoints(): usize { return points; }
export function contactCrossingCount(): u32 { return crossingCount; }
export function contactCrossings(): usize { return crossings; }
