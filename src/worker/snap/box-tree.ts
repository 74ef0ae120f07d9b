/** Children of a node, and items of a leaf. */
export const WIDTH = 8;
const ITEMS_PER_STEP = 8192;
/** An empty box. */
const EMPTY_BOX = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
/** Bits of a Morton code for each axis. */
const AXIS_BITS = 10;

/**
 * An implicit bounding volume hierarchy over items in an order that keeps neighbours together: node i of a level has the nodes
 * or items
 */
export interface BoxTree {
  /** The items in the order of the leaves. */
  order: Uint32Array;
  /** Minimum xyz and maximum xyz of each node: level by level, the leaves first, the root last. */
  boxes: Float32Array;
}

/** Returns where the levels of a tree of `itemCount` items begin, in nodes, followed by the number of nodes. */
export function levelsOf(itemCount: number): number[] {
  const starts = [0];
  for (let count = itemCount; count > 0; ) {
    count = Math.ceil(count / WIDTH);
    starts.push(starts[starts.length - 1] + count);
    if (count === 1) break;
  }
  return starts;
}

/** Builds a tree over items by their boxes, six float32 each; it sorts them by the Morton codes of their centres. */
export function* buildBoxTree(items: Float32Array): Generator<void, BoxTree> {
  const order = yield* sortedBy(yield* mortonCodes(items), 3 * AXIS_BITS);
  const levels = levelsOf(order.length);
  const boxes = new Float32Array(6 * levels[levels.length - 1]);
  for (let level = 0; level + 1 < levels.length; level++) {
    const [childBoxes, childCount] = level === 0 ? [items, order.length] : [boxes, levels[level] - levels[level - 1]];
    for (let node = levels[level]; node < levels[level + 1]; node++) {
      boxes.set(EMPTY_BOX, 6 * node);
      const first = (node - levels[level]) * WIDTH;
      for (let child = first; child < Math.min(first + WIDTH, childCount); child++) {
        include(boxes, 6 * node, childBoxes, 6 * (level === 0 ? order[child] : levels[level - 1] + child));
      }
      if (node % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
  }
  return { order, boxes };
}

/** Returns the Morton code of the centre of each box. */
function* mortonCodes(items: Float32Array): Generator<void, Uint32Array> {
  const codes = new Uint32Array(items.length / 6);
  const bounds = Float32Array.from(EMPTY_BOX);
  for (let i = 0; i < codes.length; i++) {
    include(bounds, 0, items, 6 * i);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const scales = [0, 1, 2].map((k) => (2 ** AXIS_BITS - 1) / Math.max(bounds[3 + k] - bounds[k], Number.MIN_VALUE));
  for (let i = 0; i < codes.length; i++) {
    for (let k = 0; k < 3; k++) {
      const center = (items[6 * i + k] + items[6 * i + 3 + k]) / 2;
      codes[i] |= spreadBits(Math.floor((center - bounds[k]) * scales[k])) << k;
    }
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return codes;
}

/** Grows the box at an index of one list by the box at an index of another. */
function include(boxes: Float32Array, box: number, others: Float32Array, other: number): void {
  for (let k = 0; k < 3; k++) {
    boxes[box + k] = Math.min(boxes[box + k], others[other + k]);
    boxes[box + 3 + k] = Math.max(boxes[box + 3 + k], others[other + 3 + k]);
  }
}

/** Inserts two zeros between the bits of a number. */
function spreadBits(value: number): number {
  let x = value & 0x3ff;
  x = (x | (x << 16)) & 0x30000ff;
  x = (x | (x << 8)) & 0x300f00f;
  x = (x | (x << 4)) & 0x30c30c3;
  return (x | (x << 2)) & 0x9249249;
}

/** Returns the indices of keys in ascending order, by a radix sort. */
function* sortedBy(keys: Uint32Array, bits: number): Generator<void, Uint32Array> {
  const { length } = keys;
  let order: Uint32Array = keys.map((_, i) => i);
  let spare: Uint32Array = new Uint32Array(length);
  for (let shift = 0; shift < bits; shift += 10) {
    const starts = new Uint32Array(1025);
    for (let i = 0; i < length; i++) {
      starts[((keys[i] >>> shift) & 1023) + 1]++;
      if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
    for (let i = 0; i < 1024; i++) starts[i + 1] += starts[i];
    for (let i = 0; i < length; i++) {
      spare[starts[(keys[order[i]] >>> shift) & 1023]++] = order[i];
      if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
    [order, spare] = [spare, order];
  }
  return order;
}
