// Loaded together with its WebAssembly module on demand, so that pages without culling load neither.
import { FILTER_BYTES } from './filter-bytes.js';
import {
  CHUNK,
  type DrawList,
  type Eye,
  type Forms,
  type SortDirection,
  type ViewFrustum,
  type VisibleInstances,
} from './filter-question.js';

// Offsets at which src/worker/core/frustum-filter.ts reads its input: in float32 numbers or, where the name says so, in float64
// numbers.
const SLACKS = 32;
const ROWS = 64;
const BY_W = 81;
const EYE_64 = 24;
const MATRICES = 4288;
const TABLE_64 = 2656;

/** Float64 numbers per form; bytes per found instance; bytes per instance for its form in the input. */
const FORM_SIZE = 5;
const FOUND_BYTES = 32;
const KIND_BYTES = 4;
/** Byte offset of zeros, as many as there are instances in a chunk. Nothing writes to them. */
const ZEROS = 16896;
const PAGE_BYTES = 1 << 16;

/** Relative error of float32 results, of the sizes of their operands, at most: five operations of 2^-24 each, and some room. */
const SLACK = 2e-6;
/** Lengths are enlarged by this factor. */
const LENGTH_MARGIN = 1 + 1e-5;

/** Smallest divisor: with it, quotients are finite in float32. */
const MIN_DIVISOR = 1e-30;
/** A plane counts as a multiple of w if its normal differs by no more than this; the difference is added to the slack. */
const PARALLEL_TOLERANCE = 1e-6;

/** Numbers per matrix. */
const MATRIX_LENGTH = 16;
/** Matrices of at most this many instances are collected: 8 MB, and as much again for the sorted ones. */
const MAX_COLLECTED = 1 << 17;

interface FilterModule {
  readonly memory: WebAssembly.Memory;
  reserve(at: number, count: number): void;
  collect(at: number): void;
  select(count: number, first: number, found: number, by: number, kinds: number): number;
  list(count: number, direction: number): number;
}

/**
 * Finds which of many spheres a camera may see, and sorts them, in WebAssembly. Its results are in the module's memory, and valid
 * until the next question.
 */
export class FrustumFilter implements VisibleInstances {
  count = 0;
  numbers!: Uint32Array;
  forms!: Uint32Array;
  depths!: Float64Array;
  readonly #module: FilterModule;
  #f32!: Float32Array;
  #f64!: Float64Array;
  #i32!: Int32Array;
  #listed!: Uint32Array;
  #next!: Int32Array;
  #keyed!: Int32Array;
  /**
   * Capacities for forms and instances; byte offsets of the found instances, and of the matrices behind them; capacity for
   * matrices.
   */
  #formCapacity = 0;
  #instanceCapacity = 0;
  #foundAt = 0;
  #matricesAt = 0;
  #matrixCapacity = 0;
  /** Whether the matrices of all found instances are in the module's memory. */
  #isCollected = false;

  static async start(packed = Uint8Array.from(atob(FILTER_BYTES), (c) => c.charCodeAt(0))): Promise<FrustumFilter> {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer());
    return new FrustumFilter(instance.exports as unknown as FilterModule);
  }

  constructor(module: FilterModule) {
    this.#module = module;
    this.#reserve(1, CHUNK);
  }

  /** Sets what is asked: what a camera sees, and what the instances are. */
  ask({ planes, rows }: ViewFrustum, { spheres, ranges }: Forms): void {
    if (spheres.length > this.#formCapacity) this.#reserve(2 * spheres.length, this.#instanceCapacity);
    const f32 = this.#f32;
    for (let plane = 0; plane < 6; plane++) {
      const at = 12 * (plane >> 2) + plane;
      // NaN in a plane keeps all instances.
      const length = Math.max(Math.hypot(planes[4 * plane], planes[4 * plane + 1], planes[4 * plane + 2]), MIN_DIVISOR);
      for (let k = 0; k < 4; k++) f32[at + 4 * k] = planes[4 * plane + k] / length;
      f32[at + 12] += SLACK * Math.abs(f32[at + 12]);
    }
    const extraSlack = this.#writeRows(rows, planes);
    f32[SLACKS] = SLACK + extraSlack;
    let extent = 0;
    for (let i = 0; i < spheres.length; i++) {
      const { center, radius } = spheres[i];
      const at = TABLE_64 + FORM_SIZE * i;
      center.toArray(this.#f64, at);
      this.#f64[at + 3] = (radius * LENGTH_MARGIN) ** 2;
      this.#i32[2 * at + 8] = ranges[2 * i];
      this.#i32[2 * at + 9] = ranges[2 * i + 1];
      extent = Math.max(extent, center.length() + radius);
    }
    f32[SLACKS + 1] = (extent * LENGTH_MARGIN) ** 2;
  }

  /**
   * Writes the rows that yield w, x and y, and the near and far planes if they are parallel to w; returns the slack that this
   * needs.
   */
  #writeRows(rows: Float64Array, planes: Float64Array): number {
    const f32 = this.#f32;
    const [x, y, w] = [0, 4, 8];
    const scaleX = 1 / longerLengthOf(rows, w, x);
    const scaleY = 1 / longerLengthOf(rows, w, y);
    for (let k = 0; k < 4; k++) {
      f32[ROWS + k] = scaleX * rows[w + k];
      f32[ROWS + 4 + k] = scaleX * rows[x + k];
      f32[ROWS + 8 + k] = scaleY * rows[y + k];
    }
    const byY = scaleY / scaleX;
    const sizes = Math.max(Math.abs(f32[ROWS + 7]), Math.abs(f32[ROWS + 11]) / byY);
    f32[ROWS + 12] = byY;
    let extraSlack = 0;
    const wDotScaledW = scaleX * (rows[w] ** 2 + rows[w + 1] ** 2 + rows[w + 2] ** 2);
    // The near plane, and the far one.
    for (const [n, at] of [
      [20, ROWS + 13],
      [16, ROWS + 15],
    ]) {
      const length = Math.max(Math.hypot(planes[n], planes[n + 1], planes[n + 2]), MIN_DIVISOR);
      const wFactor =
        (planes[n] * rows[w] + planes[n + 1] * rows[w + 1] + planes[n + 2] * rows[w + 2]) / (length * wDotScaledW);
      let residualSquared = 0;
      for (let k = 0; k < 3; k++) residualSquared += (planes[n + k] / length - wFactor * scaleX * rows[w + k]) ** 2;
      const d = planes[n + 3] / length;
      const wOffset = wFactor * scaleX * rows[w + 3];
      f32[at] = wFactor;
      f32[at + 1] = d - wOffset + SLACK * (Math.abs(d) + Math.abs(wOffset));
      extraSlack += Math.sqrt(residualSquared);
    }
    f32[ROWS + 3] += SLACK * (Math.abs(f32[ROWS + 3]) + sizes);
    const arePlanesAlongW = extraSlack < PARALLEL_TOLERANCE;
    this.#i32[BY_W] = arePlanesAlongW ? 1 : 0;
    return arePlanesAlongW ? extraSlack : 0;
  }

  /**
   * Finds which of the first `total` instances may be seen. `formIds` has the form of each instance, a number below 0 for one
   * that is to be skipped; if null, all have the first form. Depths are computed if there is an `eye`. With
   * `collectsMatrices`, the matrices of the found instances are collected while they are in the processor's caches, unless
   * there are too many. The forms are copied all at once: a call for each 64 of them took a twentieth of the time for a list
   * of 50,000 instances that are all seen, and a tenth where few are.
   */
  select(
    chunks: readonly Float32Array[],
    formIds: Int32Array | null,
    total: number,
    eye: Eye | null,
    collectsMatrices: boolean,
  ): void {
    if (total > this.#instanceCapacity) this.#reserve(this.#formCapacity, Math.ceil(1.5 * total));
    if (eye !== null) {
      this.#f64.set(eye.position, EYE_64);
      this.#f64.set(eye.forward, EYE_64 + 4);
    }
    const module = this.#module;
    const depthMode = eye?.by ?? 0;
    let count = 0;
    module.collect(0);
    let isCollecting = collectsMatrices && this.#reserveMatrices(CHUNK);
    const formIdsAt = this.#foundAt + FOUND_BYTES * this.#instanceCapacity;
    if (formIds !== null) this.#i32.set(formIds.subarray(0, total), formIdsAt / 4);
    for (let i = 0; CHUNK * i < total; i++) {
      const chunk = chunks[i];
      if (isCollecting && count + CHUNK > this.#matrixCapacity) isCollecting = this.#reserveMatrices(count + CHUNK);
      this.#f32.set(chunk, MATRICES);
      const first = CHUNK * i;
      count = module.select(
        Math.min(chunk.length / MATRIX_LENGTH, total - first),
        first,
        count,
        depthMode,
        formIds === null ? ZEROS : formIdsAt + 4 * first,
      );
    }
    this.count = count;
    this.#isCollected = isCollecting;
  }

  /** Makes room for this many matrices; returns false, and stops collecting, if there are too many. */
  #reserveMatrices(count: number): boolean {
    let hasRoom = count <= MAX_COLLECTED;
    if (hasRoom && count > this.#matrixCapacity) {
      const capacity = Math.min(2 * count, MAX_COLLECTED);
      try {
        this.#grow(this.#matricesAt + 4 * MATRIX_LENGTH * capacity);
        this.#matrixCapacity = capacity;
      } catch {
        hasRoom = false; // out of memory
      }
    }
    this.#module.collect(hasRoom ? this.#matricesAt : 0);
    return hasRoom;
  }

  /** Lists the found instances in an order. */
  list(direction: SortDirection): DrawList {
    const { count } = this;
    if (direction === 0) this.#module.collect(0);
    const areMatricesSorted = direction !== 0 && this.#isCollected && this.#reserveMatrices(2 * count);
    const indices = this.#module.list(count, direction);
    return {
      numbers: this.#listed,
      starts: this.#next.subarray(count),
      counts: this.#keyed,
      indices,
      matrices: areMatricesSorted ? this.#collectedFrom(count) : direction === 0 ? this.matrices : null,
    };
  }

  get matrices(): Float32Array | null {
    return this.#isCollected ? this.#collectedFrom(0) : null;
  }

  #collectedFrom(first: number): Float32Array {
    const at = this.#matricesAt / 4 + MATRIX_LENGTH * first;
    return this.#f32.subarray(at, at + MATRIX_LENGTH * this.count);
  }

  #reserve(forms: number, instances: number): void {
    this.#formCapacity = forms;
    this.#instanceCapacity = instances;
    const at = 8 * (TABLE_64 + FORM_SIZE * forms);
    this.#matricesAt = Math.ceil((at + (FOUND_BYTES + KIND_BYTES) * instances) / 64) * 64;
    this.#matrixCapacity = 0;
    this.#foundAt = at;
    this.#module.reserve(at, instances);
    this.#grow(this.#matricesAt);
  }

  /** Makes room for this many bytes. */
  #grow(bytes: number): void {
    const { memory } = this.#module;
    const missingBytes = bytes - memory.buffer.byteLength;
    if (missingBytes > 0) memory.grow(Math.ceil(missingBytes / PAGE_BYTES));
    const { buffer } = memory;
    const at = this.#foundAt;
    const instances = this.#instanceCapacity;
    this.#f32 = new Float32Array(buffer);
    this.#f64 = new Float64Array(buffer);
    this.#i32 = new Int32Array(buffer);
    this.numbers = new Uint32Array(buffer, at, instances);
    this.forms = new Uint32Array(buffer, at + 4 * instances, instances);
    this.depths = new Float64Array(buffer, at + 8 * instances, instances);
    this.#keyed = new Int32Array(buffer, at + 16 * instances, instances);
    this.#listed = new Uint32Array(buffer, at + 24 * instances, instances);
    this.#next = new Int32Array(buffer, at + 24 * instances, 2 * instances);
  }
}

/** Returns the length of the longer of two planes, which are the sum and the difference of two rows. */
function longerLengthOf(rows: Float64Array, a: number, b: number): number {
  let [sum, difference] = [0, 0];
  for (let k = 0; k < 3; k++) {
    sum += (rows[a + k] + rows[b + k]) ** 2;
    difference += (rows[a + k] - rows[b + k]) ** 2;
  }
  return Math.max(Math.sqrt(Math.max(sum, difference)), MIN_DIVISOR);
}
