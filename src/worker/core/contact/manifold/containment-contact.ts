// Contact of a solid with another solid that lies wholly inside it.

import { PlacedShape } from '../../shape/placed-shape';
import { addPoint } from './contact';
import {
  findGlobalPenetration, lastPointX, lastPointY, lastPointZ, penetrationDepth, directionX, directionY, directionZ,
} from '../mesh/global-penetration';

/**
 * Adds the contact of two solids, one of which contains the other: a point of the inner one with the direction and depth
 * of the way out. Throws OUT_OF_MEMORY.
 */
export function containmentContact(a: PlacedShape, b: PlacedShape, contained: i32): void {
  findGlobalPenetration(a, b, contained);
  addPoint(lastPointX + a.tx, lastPointY + a.ty, lastPointZ + a.tz, directionX, directionY, directionZ, penetrationDepth);
}
