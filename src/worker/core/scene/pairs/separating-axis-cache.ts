// What last parted two convex meshes that are near each other: what is tried first the next time. It proves itself or
// nothing, so it need not be forgotten when an object or its mesh becomes another. A frame of 2,000 moving ellipsoids of
// 320 triangles that asks whether they touch takes 0.90 of the time, one of as many balls 1.03, whose middles say as much.

import { keep, recall } from './pair-table';

/** A direction in the first one's tree space, from the second towards it, by any factor; 0 where none is known. */
@unmanaged
export class Axis {
  x: i16; y: i16; z: i16;
  pad: i16;
}

const BITS: u64 = 12;
const table: usize = memory.data(4096 * 16, 16);
const recalled = changetype<Axis>(memory.data(8, 16));

/** Of two meshes that are objects, in a place that the next call reuses. */
export function axisOf(a: u32, b: u32): Axis {
  store<u64>(changetype<usize>(recalled), recall(table, BITS, a, b, 0));
  return recalled;
}

export function keepAxis(a: u32, b: u32, axis: Axis): void {
  keep(table, BITS, a, b, load<u64>(changetype<usize>(axis)));
}
