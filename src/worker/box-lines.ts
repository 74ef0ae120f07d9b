import type { Vec3 } from '../shared/types.js';
import { BOXES_PER_STEP } from './binding/inspector.js';

/** Corners of a box are numbered by their signs along its axes: bit k is set for plus. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

/**
 * Makes the edges of boxes, 72 numbers each, relative to an origin. Corners are computed in float64 and rounded after the
 * origin is subtracted: so edges near the origin are exact, wherever in the world it is. It may rest between its steps.
 */
export function* linesOf(boxes: Float64Array, [x, y, z]: Vec3): Generator<void, Float32Array<ArrayBuffer>> {
  const count = boxes.length / 12;
  const lines = new Float32Array(72 * count);
  const corners = new Float64Array(24);
  for (let i = 0, to = 0; i < count; i++) {
    if (i % BOXES_PER_STEP === BOXES_PER_STEP - 1) yield;
    const at = 12 * i;
    for (let corner = 0; corner < 8; corner++) {
      const sx = corner & 1 ? 1 : -1;
      const sy = corner & 2 ? 1 : -1;
      const sz = corner & 4 ? 1 : -1;
      for (let k = 0; k < 3; k++) {
        const origin = k === 0 ? x : k === 1 ? y : z;
        const center = boxes[at + 9 + k] - origin;
        corners[3 * corner + k] = center + sx * boxes[at + k] + sy * boxes[at + 3 + k] + sz * boxes[at + 6 + k];
      }
    }
    for (const corner of EDGES) {
      for (let k = 0; k < 3; k++) lines[to++] = corners[3 * corner + k];
    }
  }
  return lines;
}

/** Gives both ends of each edge of box i the colour at index `indexOf(i)` of a list of four bytes each. */
export function* coloursOf(
  count: number,
  list: Uint8Array,
  indexOf: (i: number) => number,
): Generator<void, Uint8Array<ArrayBuffer>> {
  const ends = new Uint32Array(24 * count);
  const colours = new Uint32Array(list.slice().buffer);
  for (let i = 0; i < count; i++) {
    if (i % BOXES_PER_STEP === BOXES_PER_STEP - 1) yield;
    ends.fill(colours[indexOf(i) % colours.length], 24 * i, 24 * i + 24);
  }
  return new Uint8Array(ends.buffer);
}
