import * as layout from '../../shared/layout.js';
import type { Clips, Filter, OwnThresholds } from '../../shared/protocol.js';
import type { CoreExports } from './exports.js';
import { type BoxNames, type CoreHit, hitAt, readSortedHits } from './hits.js';
import type { CoreMemory } from './memory.js';
import { type Steps, TASKS_PER_STEP } from './steps.js';

const NO_IDS = new Uint32Array();
/** No object has its own threshold. */
const NO_THRESHOLDS: OwnThresholds = { ids: NO_IDS, thresholds: new Float64Array() };
/** No clipping planes. */
const NO_CLIPS: Clips = { sets: NO_IDS, planes: new Float64Array() };

/** The core's memory for a query's input and its results. */
export class QueryMemory {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #boxNames: BoxNames;
  /** Addresses of the memory for a filter, for the rest of the query, and for a hit. */
  readonly filter: number;
  readonly query: number;
  readonly hit: number;

  constructor(exports: CoreExports, memory: CoreMemory, boxNames: BoxNames) {
    this.#exports = exports;
    this.#memory = memory;
    this.#boxNames = boxNames;
    const motionBytes = Math.max(layout.MOTION_BYTES, 8 * layout.WAY_NUMBERS);
    const queryBytes = Math.max(layout.RAY_BYTES, layout.REGION_BYTES, layout.OBJECT_BYTES + motionBytes);
    this.filter = memory.allocate(layout.FILTER_BYTES + queryBytes + layout.HIT_BYTES);
    this.query = this.filter + layout.FILTER_BYTES;
    this.hit = this.query + queryBytes;
  }

  /** Writes the filter and runs `work` with its address. */
  with<T>(filter: Filter, work: (address: number) => T): T {
    const { layers, side, precision, ignore = NO_IDS, threshold = 0, own = NO_THRESHOLDS, clips = NO_CLIPS } = filter;
    return this.withArrays([ignore, own.ids, own.thresholds, clips.planes, clips.sets], (addresses) => {
      const { words, floats } = this.#memory;
      const set = (offset: number, value: number): void => {
        words[(this.filter + offset) / 4] = value;
      };
      const [ignored, ids, thresholds, planes, sets] = addresses;
      floats[(this.filter + layout.FILTER_THRESHOLD) / 8] = threshold;
      set(layout.FILTER_LAYERS, layers);
      set(layout.FILTER_SIDE, side);
      set(layout.FILTER_PRECISION, precision);
      set(layout.FILTER_IGNORE, ignored);
      set(layout.FILTER_IGNORE_COUNT, ignore.length);
      set(layout.FILTER_OWN_COUNT, own.ids.length);
      set(layout.FILTER_OWN_IDS, ids);
      set(layout.FILTER_OWN_THRESHOLDS, thresholds);
      set(layout.FILTER_CLIP_PLANES, planes);
      set(layout.FILTER_CLIP_SETS, sets);
      set(layout.FILTER_CLIP_SET_COUNT, clips.sets.length / 4);
      return work(this.filter);
    });
  }

  /** Runs `work` with the addresses of copies of the arrays; the address of an empty one is 0. */
  withArrays<T>(arrays: readonly ArrayBufferView[], work: (addresses: readonly number[]) => T): T {
    const addresses: number[] = [];
    try {
      for (const array of arrays) {
        const { byteLength } = array;
        const address = byteLength === 0 ? 0 : this.#memory.allocate(byteLength);
        addresses.push(address);
        if (address === 0) continue;
        this.#memory.bytes(address, byteLength).set(new Uint8Array(array.buffer, array.byteOffset, byteLength));
      }
      return work(addresses);
    } finally {
      for (const address of addresses) if (address !== 0) this.#memory.release(address);
    }
  }

  withArray<T>(array: ArrayBufferView, work: (address: number) => T): T {
    return this.withArrays([array], ([address]) => work(address));
  }

  /** Reads the hit that was found. */
  readHit(): CoreHit {
    return hitAt(this.#memory.view, this.hit, this.#boxNames);
  }

  /** Copies the ids that were found. */
  ids(count: number): Uint32Array<ArrayBuffer> {
    return this.#memory.copyWords(this.#exports.foundIds() >>> 0, count >>> 0);
  }

  /** Returns the hits that were found, in steps between which objects may be removed. */
  hits<H>(
    count: number,
    read: (view: DataView, at: number, boxNames: BoxNames) => H,
    compare: (a: H, b: H) => number,
  ): Steps<H[]> {
    const names = count < TASKS_PER_STEP ? this.#boxNames : new Map(this.#boxNames);
    const at = this.#exports.foundHits() >>> 0;
    return readSortedHits(this.#memory, at, count, (view, offset) => read(view, offset, names), compare);
  }
}
