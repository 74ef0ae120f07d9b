import type { Vec3 } from '../../shared/types.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { levelsOf } from './box-tree.js';
import { ARRAYS, alignUp, type Features, itemCount } from './features.js';

/** Features in the core's memory, laid out as in core/scene/snap/feature-table.ts. */
export interface CoreFeatures {
  address: number;
  angle: number;
}

/** The header of the table: the vertices per element, and the numbers of edges, items and levels. */
const COUNT_WORDS = 4;
const CIRCLES_INDEX = ARRAYS.findIndex(([name]) => name === 'circles');
const FIRST_LEVEL = COUNT_WORDS + ARRAYS.length;
const MAX_LEVELS = 12;
const TABLE_WORDS = FIRST_LEVEL + MAX_LEVELS;
/** Bytes that are copied in a step: a tenth of a millisecond, or half a millisecond if the memory is new. */
const BYTES_PER_STEP = 1 << 20;

/** Copies features into the core's memory, in steps. Throws OUT_OF_MEMORY. */
export function* storeFeatures(snaps: CoreSnaps, features: Features): Generator<void, CoreFeatures> {
  const { size, angle, edges } = features;
  let bytes = alignUp(4 * TABLE_WORDS);
  for (const [name] of ARRAYS) bytes += alignUp(features[name].byteLength);
  const address = snaps.allocate(bytes);
  const levels = levelsOf(itemCount(features));
  const table = new Uint32Array(TABLE_WORDS);
  table.set([size, edges.length / 2, itemCount(features), levels.length - 1]);
  table.set(levels, FIRST_LEVEL);
  let to = address + alignUp(4 * TABLE_WORDS);
  let isStored = false;
  try {
    for (const [i, [name]] of ARRAYS.entries()) {
      const { buffer, byteOffset, byteLength } = features[name];
      table[COUNT_WORDS + i] = to;
      for (let at = 0; at < byteLength; at += BYTES_PER_STEP) {
        const part = new Uint8Array(buffer, byteOffset + at, Math.min(BYTES_PER_STEP, byteLength - at));
        new Uint8Array(snaps.getMemory()).set(part, to + at);
        if (at > 0) yield;
      }
      to += alignUp(byteLength);
    }
    new Uint32Array(snaps.getMemory(), address, TABLE_WORDS).set(table);
    isStored = true;
    return { address, angle };
  } finally {
    // The caller may have given up in the middle.
    if (!isStored) snaps.release(address);
  }
}

/** Returns a circle of the features at an address: its unit axis and its radius. */
export function circleAt(snaps: CoreSnaps, address: number, i: number): { axis: Vec3; radius: number } {
  const circle = snaps.word(address + 4 * (COUNT_WORDS + CIRCLES_INDEX)) + 56 * i;
  return { axis: snaps.vector(circle + 24), radius: snaps.float(circle + 48) };
}
