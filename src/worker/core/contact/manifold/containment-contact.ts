// Contact of a solid with another solid that lies wholly inside it.

import { PlacedShape } from '../../shape/placed-shape';
import { addPoint } from './contact';
import { findWayOut, lastX, lastY, lastZ, wayDepth, wayX, wayY, wayZ } from '../mesh/global-penetration';

/**
 * Adds the contact of two solids, one of which contains the other: a point of the inner one with the direction and depth
 * of the way out. Throws OUT_OF_MEMORY.
 */
export function containmentContact(a: PlacedShape, b: PlacedShape, contained: i32): void {
  findWayOut(a, b, contained);
  addPoint(lastX + a.tx, lastY + a.ty, lastZ + a.tz, wayX, wayY, wayZ, wayDepth);
}
