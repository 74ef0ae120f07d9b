// Which sides of an object's triangles can be hit, if these differ within its mesh: a list (shared-lists.ts) of the
// triangles at which the side changes, in ascending order, searched by bisection: u32 each, a triangle << FACE_SHIFT |
// SIDE_*, which is SIDE_OWN for the object's own sides.

import { FACE_SHIFT } from '../../../../shared/layout';
import { bytesOf, contentOf } from '../../shared-lists';

/** Returns the sides of a triangle (SIDE_*): `defaultSides` unless the list has others. */
export function sidesOfFace(list: usize, triangle: u32, defaultSides: u32): u32 {
  const entries = contentOf(list);
  let low: u32 = 0, high = bytesOf(list) >> 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(entries + (<usize>middle << 2)) >> FACE_SHIFT <= triangle) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return defaultSides;
  const sides = load<u32>(entries + (<usize>(low - 1) << 2)) & ((1 << FACE_SHIFT) - 1);
  return sides != 0 ? sides : defaultSides;
}
