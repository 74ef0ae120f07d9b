// The contact of two objects, whatever their layers, groups and details say.

import { CANDIDATE_BYTES, Candidate, setCandidate } from '../../shape/proxy';
import { NO_CONTACT, collide } from './narrow-phase';
import { isAlive, itemAt, orientedBounds, slotOf } from '../objects';
import { clearContact, crossingCount, crossings, pointCount, points } from '../../contact/manifold/contact';

const first = changetype<Candidate>(memory.data(<i32>CANDIDATE_BYTES, 64));
const second = changetype<Candidate>(memory.data(<i32>CANDIDATE_BYTES, 64));

/** NO_CONTACT, or which contains which. `a` is the lower id. Of an object that is not there, there is no contact. */
export function contact(a: u32, b: u32, detail: u32): i32 {
  clearContact();
  if (!isAlive(a) || !isAlive(b)) return NO_CONTACT;
  take(first, a, detail);
  take(second, b, detail);
  return collide(first, second);
}

function take(candidate: Candidate, id: u32, detail: u32): void {
  const slot = slotOf(id);
  setCandidate(candidate, itemAt(slot), orientedBounds(slot));
  candidate.contacts = <u8>detail;
}

/** Of the last `contact`: how many points, where (CONTACT_*), and the same of crossings. */
export function contactPointCount(): u32 { return pointCount; }
export function contactPoints(): usize { return points; }
export function contactCrossingCount(): u32 { return crossingCount; }
export function contactCrossings(): usize { return crossings; }
