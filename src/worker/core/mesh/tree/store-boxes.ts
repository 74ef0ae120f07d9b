// Writes the bounds of a node as eight-bit steps, rounded outwards: one axis at a time, a child in each lane.

import { greatestLane, leastLane } from '../../math/lanes';
import { Node, childCount } from './layout';

/** The last step of a node's bounds. */
const LAST: f32 = 255;

/**
 * Writes the boxes of a node's children to it, enlarged by `padding`, then rounded outwards to the node's 256 steps.
 * `lows` and `highs`: x, y, z and padding, f32 each, for every child.
 */
export function storeBoxes(node: Node, lows: usize, highs: usize, padding: f32): void {
  const count = childCount(node);
  // A missing child is computed like the first one, and its bytes are set to 0.
  const b: usize = count > 1 ? 16 : 0, c: usize = count > 2 ? 32 : 0, d: usize = count > 3 ? 48 : 0;
  const there = bytesOf(count);
  for (let axis: usize = 0; axis < 12; axis += 4) {
    storeAxis(node, axis, lanesAt(lows + axis, b, c, d), lanesAt(highs + axis, b, c, d), padding, there);
  }
}

/**
 * Writes the same boxes, given a child in each lane: low x, y and z, then the high ones. The lane of a missing child
 * equals that of the first.
 */
export function storeLanes(node: Node, boxes: usize, padding: f32): void {
  const there = bytesOf(childCount(node));
  for (let axis: usize = 0; axis < 3; axis++) {
    const at = boxes + (axis << 4);
    storeAxis(node, axis << 2, v128.load(at), v128.load(at, 48), padding, there);
  }
}

/** Returns a mask of the bytes of the existing children: of their lows, then of their highs. */
// @ts-ignore: decorator
@inline
function bytesOf(count: u32): u64 {
  const bytes = <u64>0xffffffff >> ((4 - <u64>count) << 3);
  return bytes | (bytes << 32);
}

/** Writes an axis, given by its bytes. */
function storeAxis(node: Node, axis: usize, low: v128, high: v128, padding: f32, there: u64): void {
  const origin = leastLane(low) - padding, end = greatestLane(high) + padding;
  let scale = (end - origin) / LAST;
  while (origin + scale * LAST < end) scale *= <f32>1.0000002;
  const at = changetype<usize>(node) + axis;
  store<f32>(at, origin, offsetof<Node>('originX'));
  store<f32>(at, scale, offsetof<Node>('scaleX'));

  const start = f32x4.splat(origin), step = f32x4.splat(scale), one = f32x4.splat(1), none = f32x4.splat(0);
  const from = f32x4.sub(low, f32x4.splat(padding)), to = f32x4.add(high, f32x4.splat(padding));
  let first = f32x4.pmax(none, f32x4.floor(f32x4.div(f32x4.sub(from, start), step)));
  let last = f32x4.pmin(f32x4.splat(LAST), f32x4.ceil(f32x4.div(f32x4.sub(to, start), step)));
  while (true) {
    const isAbove = v128.and(f32x4.gt(f32x4.add(start, f32x4.mul(step, first)), from), f32x4.gt(first, none));
    const isBelow = v128.and(f32x4.lt(f32x4.add(start, f32x4.mul(step, last)), to), f32x4.lt(last, f32x4.splat(LAST)));
    if (!v128.any_true(v128.or(isAbove, isBelow))) break;
    first = f32x4.sub(first, v128.and(one, isAbove));
    last = f32x4.add(last, v128.and(one, isBelow));
  }
  const halves = i16x8.narrow_i32x4_u(i32x4.trunc_sat_f32x4_s(first), i32x4.trunc_sat_f32x4_s(last));
  const steps = i64x2.extract_lane(i8x16.narrow_i16x8_u(halves, halves), 0);
  store<u64>(changetype<usize>(node) + (axis << 1), steps & there);
}

// @ts-ignore: decorator
@inline
function lanesAt(at: usize, b: usize, c: usize, d: usize): v128 {
  return f32x4(load<f32>(at), load<f32>(at + b), load<f32>(at + c), load<f32>(at + d));
}
