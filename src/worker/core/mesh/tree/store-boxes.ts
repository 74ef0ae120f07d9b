// Writes the bounds of a node as eight-bit steps, rounded outwards: an axis at a time, a child in each lane.

import { Node, childCount } from './layout';

/** The last step of a node's bounds. */
const LAST: f32 = 255;

/**
 * Writes the boxes of a node's children to it, grown by `padding`, then outwards to the node's 256 steps. `lows` and
 * `highs`: x, y, z and nothing, f32 each, for every child.
 */
export function storeBoxes(node: Node, lows: usize, highs: usize, padding: f32): void {
  const count = childCount(node);
  // A child that there is not is as the first one, and its bytes become 0.
  const b: usize = count > 1 ? 16 : 0, c: usize = count > 2 ? 32 : 0, d: usize = count > 3 ? 48 : 0;
  const bytes = <u64>0xffffffff >> ((4 - <u64>count) << 3), there = bytes | (bytes << 32);
  for (let axis: usize = 0; axis < 12; axis += 4) {
    const low = lanesAt(lows + axis, b, c, d), high = lanesAt(highs + axis, b, c, d);
    const origin = least(low) - padding, end = greatest(high) + padding;
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
}

// @ts-ignore: decorator
@inline
function lanesAt(at: usize, b: usize, c: usize, d: usize): v128 {
  return f32x4(load<f32>(at), load<f32>(at + b), load<f32>(at + c), load<f32>(at + d));
}

// @ts-ignore: decorator
@inline
function least(v: v128): f32 {
  const pairs = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

// @ts-ignore: decorator
@inline
function greatest(v: v128): f32 {
  const pairs = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}
