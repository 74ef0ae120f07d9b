// Loaded together with its WebAssembly module on demand, so that pages without culling load neither.
import { FILTER_BYTES } from './filter-bytes.js';
import { CHUNK, type Direction, type Eye, type Forms, type Found, type Listed, type Sight } from './filter-question.js';

// Offsets at which src/worker/core/frustum-filter.ts reads its input: in float32 numbers or, where the name says so, in float64
// numbers.
const SLACKS = 32;
const ROWS = 64;
const BY_W = 81;
const EYE_64 = 24;
const MATRICES = 4288;
const TABLE_64 = 2656;

/** Float64 numbers per form; bytes per found instance; bytes per instance for its form in the input. */
const FORM = 5;
const FOUND_BYTES = 32;
const KIND_BYTES = 4;
/** Byte offset of zeros, as many as there are instances in a chunk. Nothing writes to them. */
const ZEROS = 16896;
const PAGE_BYTES = 1 << 16;

/** Relative error of float32 results, of the sizes of their operands, at most: five operations of 2^-24 each, and some room. */
const SLACK = 2e-6;
/** Lengths are enlarged by this factor. */
const LONGER = 1 + 1e-5;

/** Smallest divisor: with it, quotients are finite in float32. */
const LEAST = 1e-30;
/** A plane counts as a multiple of w if its normal differs by no more than this; the difference is added to the slack. */
const ALIKE = 1e-6;

/** Numbers per matrix. */
const MATRIX = 16;
/** Matrices of at most this many instances are collected: 8 MB, and as much again for the sorted ones. */
const MOST_COLLECTED = 1 << 17;

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
export class FrustumFilter implements Found {
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
  #forms = 0;
  #instances = 0;
  #at = 0;
  #matricesAt = 0;
  #room = 0;
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
  ask({ planes, rows }: Sight, { spheres, ranges }: Forms): void {
    if (spheres.length > this.#forms) this.#reserve(2 * spheres.length, this.#instances);
    const f32 = this.#f32;
    for (let plane = 0; plane < 6; plane++) {
      const at = 12 * (plane >> 2) + plane;
      // NaN in a plane keeps all instances.
      const length = Math.max(Math.hypot(planes[4 * plane], planes[4 * plane + 1], planes[4 * plane + 2]), LEAST);
      for (let k = 0; k < 4; k++) f32[at + 4 * k] = planes[4 * plane + k] / length;
      f32[at + 12] += SLACK * Math.abs(f32[at + 12]);
    }
    const more = this.#askRows(rows, planes);
    f32[SLACKS] = SLACK + more;
    let reach = 0;
    for (let i = 0; i < spheres.length; i++) {
      const { center, radius } = spheres[i];
      const at = TABLE_64 + FORM * i;
      center.toArray(this.#f64, at);
      this.#f64[at + 3] = (radius * LONGER) ** 2;
      this.#i32[2 * at + 8] = ranges[2 * i];
      this.#i32[2 * at + 9] = ranges[2 * i + 1];
      reach = Math.max(reach, center.length() + radius);
    }
    f32[SLACKS + 1] = (reach * LONGER) ** 2;
  }

  /**
   * Writes the rows that yield w, x and y, and the near and far planes if they are parallel to w; returns the slack that this
   * needs.
   */
  #askRows(rows: Float64Array, planes: Float64Array): number {
    const f32 = this.#f32;
    const [x, y, w] = [0, 4, 8];
    const scaleX = 1 / longerOf(rows, w, x);
    const scaleY = 1 / longerOf(rows, w, y);
    for (let k = 0; k < 4; k++) {
      f32[ROWS + k] = scaleX * rows[w + k];
      f32[ROWS + 4 + k] = scaleX * rows[x + k];
      f32[ROWS + 8 + k] = scaleY * rows[y + k];
    }
    const byY = scaleY / scaleX;
    const sizes = Math.max(Math.abs(f32[ROWS + 7]), Math.abs(f32[ROWS + 11]) / byY);
    f32[ROWS + 12] = byY;
    let more = 0;
    const squares = scaleX * (rows[w] ** 2 + rows[w + 1] ** 2 + rows[w + 2] ** 2);
    // The near plane, and the far one.
    for (const [n, at] of [
      [20, ROWS + 13],
      [16, ROWS + 15],
    ]) {
      const length = Math.max(Math.hypot(planes[n], planes[n + 1], planes[n + 2]), LEAST);
      const along =
        (planes[n] * rows[w] + planes[n + 1] * rows[w + 1] + planes[n + 2] * rows[w + 2]) / (length * squares);
      let rest = 0;
      for (let k = 0; k < 3; k++) rest += (planes[n + k] / length - along * scaleX * rows[w + k]) ** 2;
      const d = planes[n + 3] / length;
      const moved = along * scaleX * rows[w + 3];
      f32[at] = along;
      f32[at + 1] = d - moved + SLACK * (Math.abs(d) + Math.abs(moved));
      more += Math.sqrt(rest);
    }
    f32[ROWS + 3] += SLACK * (Math.abs(f32[ROWS + 3]) + sizes);
    const isByW = more < ALIKE;
    this.#i32[BY_W] = isByW ? 1 : 0;
    return isByW ? more : 0;
  }

  /**
   * Finds which of the first `total` instances may be seen. `forms` has the form of each instance, a number below 0 for one that
   * is to be skipped; if null, all have the first form. Depths are computed if there is an `eye`. With `collects`, the matrices
   * of the found instances are collected while they are in the processor's caches, unless there are too many. The forms are
   * copied all at once: a call for each 64 of them took a twentieth of the time for a list of 50,000 instances that are all seen,
   * and a tenth where few are.
   */
  select(
    chunks: readonly Float32Array[],
    forms: Int32Array | null,
    total: number,
    eye: Eye | null,
    collects: boolean,
  ): void {
    if (total > this.#instances) this.#reserve(this.#forms, Math.ceil(1.5 * total));
    if (eye !== null) {
      this.#f64.set(eye.position, EYE_64);
      this.#f64.set(eye.forward, EYE_64 + 4);
    }
    const module = this.#module;
    const by = eye?.by ?? 0;
    let count = 0;
    module.collect(0);
    let isCollecting = collects && this.#collect(CHUNK);
    const kinds = this.#at + FOUND_BYTES * this.#instances;
    if (forms !== null) this.#i32.set(forms.subarray(0, total), kinds / 4);
    for (let i = 0; CHUNK * i < total; i++) {
      const chunk = chunks[i];
      if (isCollecting && count + CHUNK > this.#room) isCollecting = this.#collect(count + CHUNK);
      this.#f32.set(chunk, MATRICES);
      const first = CHUNK * i;
      count = module.select(
        Math.min(chunk.length / MATRIX, total - first),
        first,
        count,
        by,
        forms === null ? ZEROS : kinds + 4 * first,
      );
    }
    this.count = count;
    this.#isCollected = isCollecting;
  }

  /** Makes room for this many matrices; returns false, and stops collecting, if there are too many. */
  #collect(count: number): boolean {
    let isRoom = count <= MOST_COLLECTED;
    if (isRoom && count > this.#room) {
      const room = Math.min(2 * count, MOST_COLLECTED);
      try {
        this.#grow(this.#matricesAt + 4 * MATRIX * room);
        this.#room = room;
      } catch {
        isRoom = false; // out of memory
      }
    }
    this.#module.collect(isRoom ? this.#matricesAt : 0);
    return isRoom;
  }

  /** Lists the found instances in an order. */
  list(direction: Direction): Listed {
    const { count } = this;
    if (direction === 0) this.#module.collect(0);
    const isArranged = direction !== 0 && this.#isCollected && this.#collect(2 * count);
    const indices = this.#module.list(count, direction);
    return {
      numbers: this.#listed,
      starts: this.#next.subarray(count),
      counts: this.#keyed,
      indices,
      matrices: isArranged ? this.#collectedFrom(count) : direction === 0 ? this.matrices : null,
    };
  }

  get matrices(): Float32Array | null {
    return this.#isCollected ? this.#collectedFrom(0) : null;
  }

  #collectedFrom(first: number): Float32Array {
    const at = this.#matricesAt / 4 + MATRIX * first;
    return this.#f32.subarray(at, at + MATRIX * this.count);
  }

  #reserve(forms: number, instances: number): void {
    this.#forms = forms;
    this.#instances = instances;
    const at = 8 * (TABLE_64 + FORM * forms);
    this.#matricesAt = Math.ceil((at + (FOUND_BYTES + KIND_BYTES) * instances) / 64) * 64;
    this.#room = 0;
    this.#at = at;
    this.#module.reserve(at, instances);
    this.#grow(this.#matricesAt);
  }

  /** Makes room for this many bytes. */
  #grow(bytes: number): void {
    const { memory } = this.#module;
    const more = bytes - memory.buffer.byteLength;
    if (more > 0) memory.grow(Math.ceil(more / PAGE_BYTES));
    const { buffer } = memory;
    const at = this.#at;
    const instances = this.#instances;
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
function longerOf(rows: Float64Array, a: number, b: number): number {
  let [sum, difference] = [0, 0];
  for (let k = 0; k < 3; k++) {
    sum += (rows[a + k] + rows[b + k]) ** 2;
    difference += (rows[a + k] - rows[b + k]) ** 2;
  }
  return Math.max(Math.sqrt(Math.max(sum, difference)), LEAST);
}
