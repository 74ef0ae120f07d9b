// Writes the bounds of a node as eight-bit steps, rounded outwards.

import { Node, childCount } from './layout';

/**
 * Writes the boxes of a node's children to it, grown by `padding`, then outwards to the node's 256 steps. `lows` and
 * `highs`: x, y, z and nothing, f32 each, for every child.
 */
export function storeBoxes(node: Node, lows: usize, highs: usize, padding: f32): void {
  const at = changetype<usize>(node);
  const count = childCount(node);
  for (let axis: usize = 0; axis < 3; axis++) {
    let low: f32 = Infinity, high: f32 = -Infinity;
    for (let i: usize = 0; i < count; i++) {
      low = min(low, load<f32>(lows + (i << 4) + (axis << 2)));
      high = max(high, load<f32>(highs + (i << 4) + (axis << 2)));
    }
    const origin = low - padding;
    let scale = (high + padding - origin) / 255;
    while (origin + scale * 255 < high + padding) scale *= <f32>1.0000002;
    store<f32>(at + (axis << 2), origin, offsetof<Node>('originX'));
    store<f32>(at + (axis << 2), scale, offsetof<Node>('scaleX'));
    const bounds = at + (axis << 3);
    store<u64>(bounds, 0);
    for (let i: usize = 0; i < count; i++) {
      const from = load<f32>(lows + (i << 4) + (axis << 2)) - padding;
      const to = load<f32>(highs + (i << 4) + (axis << 2)) + padding;
      let first = <i32>max<f32>(0, floor((from - origin) / scale));
      while (first > 0 && origin + scale * <f32>first > from) first--;
      let last = <i32>min<f32>(255, ceil((to - origin) / scale));
      while (last < 255 && origin + scale * <f32>last < to) last++;
      store<u8>(bounds + i, first);
      store<u8>(bounds + i, last, 4);
    }
  }
}
