import type { Vec3 } from '../../shared/types.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { levelsOf } from './box-tree.js';
import { ARRAYS, type Features, itemCount, roundedUp } from './features.js';

/** Features in the core's memory, laid out as in core/scene/snap/feature-table.ts. */
export interface CoreFeatures {
  address: number;
  angle: number;
}

/** The header of the table: the vertices per element, and the numbers of edges, items and levels. */
const COUNTS = 4;
const CIRCLES = ARRAYS.findIndex(([name]) => name === 'circles');
const FIRST_LEVEL = COUNTS + ARRAYS.length;
const MOST_LEVELS = 12;
const WORDS = FIRST_LEVEL + MOST_LEVELS;
/** Bytes that are copied in a step: a tenth of a millisecond, or half a millisecond if the memory is new. */
const STEP_BYTES = 1 << 20;

/** Copies features into the core's memory, in steps. Throws OUT_OF_MEMORY. */
export function* placeFeatures(snaps: CoreSnaps, features: Features): Generator<void, CoreFeatures> {
  const { size, angle, edges } = features;
  let bytes = roundedUp(4 * WORDS);
  for (const [name] of ARRAYS) bytes += roundedUp(features[name].byteLength);
  const address = snaps.allocate(bytes);
  const levels = levelsOf(itemCount(features));
  const table = new Uint32Array(WORDS);
  table.set([size, edges.length / 2, itemCount(features), levels.length - 1]);
  table.set(levels, FIRST_LEVEL);
  let to = address + roundedUp(4 * WORDS);
  let isPlaced = false;
  try {
    for (const [i, [name]] of ARRAYS.entries()) {
      const { buffer, byteOffset, byteLength } = features[name];
      table[COUNTS + i] = to;
      for (let at = 0; at < byteLength; at += STEP_BYTES) {
        const part = new Uint8Array(buffer, byteOffset + at, Math.min(STEP_BYTES, byteLength - at));
        new Uint8Array(snaps.memoryOf()).set(part, to + at);
        if (at > 0) yield;
      }
      to += roundedUp(byteLength);
    }
    new Uint32Array(snaps.memoryOf(), address, WORDS).set(table);
    isPlaced = true;
    return { address, angle };
  } finally {
    // The caller may have given up in the middle.
    if (!isPlaced) snaps.release(address);
  }
}

/** Returns a circle of the features at an address: its unit axis and its radius. */
export function circleAt(snaps: CoreSnaps, address: number, i: number): { axis: Vec3; radius: number } {
  const circle = snaps.word(address + 4 * (COUNTS + CIRCLES)) + 56 * i;
  return { axis: snaps.vector(circle + 24), radius: snaps.float(circle + 48) };
}
