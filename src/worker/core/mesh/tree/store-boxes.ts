// Writes the bounds of a node as eight-bit steps, rounded outwards: one axis at a time, a child in each lane.

import { maxLane, minLane } from '../../math/lanes';
import { Node, childCount } from './layout';

/** The last step of a node's bounds. */
const LAST_STEP: f32 = 255;

/**
 * Writes the boxes of a node's children to it, enlarged by `padding`, then rounded outwards to the node's 256 steps.
 * `mins` and `maxes`: x, y, z and padding, f32 each, for every child.
 */
export function storeBoxes(node: Node, mins: usize, maxes: usize, padding: f32): void {
  const count = childCount(node);
  // A missing child is computed like the first one, and its bytes are set to 0.
  const b: usize = count > 1 ? 16 : 0, c: usize = count > 2 ? 32 : 0, d: usize = count > 3 ? 48 : 0;
  const childBytes = bytesOf(count);
  for (let axis: usize = 0; axis < 12; axis += 4) {
    storeAxis(node, axis, lanesAt(mins + axis, b, c, d), lanesAt(maxes + axis, b, c, d), padding, childBytes);
  }
}

/**
 * Writes the same boxes, given a child in each lane: low x, y and z, then the high ones. The lane of a missing child
 * equals that of the first.
 */
export function storeLanes(node: Node, boxes: usize, padding: f32): void {
  const childBytes = bytesOf(childCount(node));
  for (let axis: usize = 0; axis < 3; axis++) {
    const at = boxes + (axis << 4);
    storeAxis(node, axis << 2, v128.load(at), v128.load(at, 48), padding, childBytes);
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
function storeAxis(node: Node, axis: usize, boxMins: v128, boxMaxes: v128, padding: f32, childBytes: u64): void {
  const origin = minLane(boxMins) - padding, end = maxLane(boxMaxes) + padding;
  let scale = (end - origin) / LAST_STEP;
  while (origin + scale * LAST_STEP < end) scale *= <f32>1.0000002;
  const at = changetype<usize>(node) + axis;
  store<f32>(at, origin, offsetof<Node>('originX'));
  store<f32>(at, scale, offsetof<Node>('scaleX'));

  const start = f32x4.splat(origin), step = f32x4.splat(scale), one = f32x4.splat(1), zero = f32x4.splat(0);
  const from = f32x4.sub(boxMins, f32x4.splat(padding)), to = f32x4.add(boxMaxes, f32x4.splat(padding));
  let first = f32x4.pmax(zero, f32x4.floor(f32x4.div(f32x4.sub(from, start), step)));
  let last = f32x4.pmin(f32x4.splat(LAST_STEP), f32x4.ceil(f32x4.div(f32x4.sub(to, start), step)));
  while (true) {
    const isAboveMin = v128.and(f32x4.gt(f32x4.add(start, f32x4.mul(step, first)), from), f32x4.gt(first, zero));
    const isBelowMax = v128.and(f32x4.lt(f32x4.add(start, f32x4.mul(step, last)), to), f32x4.lt(last, f32x4.splat(LAST_STEP)));
    if (!v128.any_true(v128.or(isAboveMin, isBelowMax))) break;
    first = f32x4.sub(first, v128.and(one, isAboveMin));
    last = f32x4.add(last, v128.and(one, isBelowMax));
  }
  const halves = i16x8.narrow_i32x4_u(i32x4.trunc_sat_f32x4_s(first), i32x4.trunc_sat_f32x4_s(last));
  const steps = i64x2.extract_lane(i8x16.narrow_i16x8_u(halves, halves), 0);
  store<u64>(changetype<usize>(node) + (axis << 1), steps & childBytes);
}

// @ts-ignore: decorator
@inline
function lanesAt(at: usize, b: usize, c: usize, d: usize): v128 {
  return f32x4(load<f32>(at), load<f32>(at + b), load<f32>(at + c), load<f32>(at + d));
}
