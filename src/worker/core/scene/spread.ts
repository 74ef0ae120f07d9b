import { SHAPE_CAPSULE, SHAPE_MESH } from '../../../shared/layout';
import { Box, boxAt, changes, idAt, itemAt, orientedBounds, slotCount } from './objects';
import { boundingRadius } from './solid';

let known: f64 = 1;
let knownAt: u32 = 0;

/**
 * How far bounding spheres reach from the middle of their objects' boxes at most, in half diagonals of these: 1, unless a
 * matrix stretches something most where it is thin. So boxes that are grown by as much of their half diagonals hold the
 * spheres of all that is in them. After a change all objects are gone through.
 */
export function sphereSpread(): f64 {
  if (knownAt == changes) return known;
  known = 1;
  for (let slot: u32 = 0; slot < slotCount; slot++) {
    if (idAt(slot) == 0) continue;
    const item = itemAt(slot);
    // A box's sphere goes through its farthest corner, and no ellipsoid is longer than its box.
    if (item.shape != SHAPE_MESH && item.shape != SHAPE_CAPSULE) continue;
    const half = halfDiagonal(boxAt(slot));
    if (half > 0) known = max(known, boundingRadius(item, orientedBounds(slot)) / half);
  }
  knownAt = changes;
  return known;
}

function halfDiagonal(box: Box): f64 {
  const x = <f64>box.highX - box.lowX, y = <f64>box.highY - box.lowY, z = <f64>box.highZ - box.lowZ;
  return 0.5 * sqrt(x * x + y * y + z * z);
}
