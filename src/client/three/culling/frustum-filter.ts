import type { Sphere } from 'three';

/** Many instances are asked about at once; their matrices are in the caches until they have been looked at. */
const CHUNK = 2048;

// Where src/worker/core/frustum-filter.ts reads what it is asked, in numbers of float32 or, where it says so, of float64.
const SLACKS = 32;
const EYE_64 = 24;
const FORMS = 4224;
const MATRICES = 6272;
const TABLE_64 = 19520;

/** Float64 numbers of a form, and bytes of an instance that is found. */
const FORM = 5;
const FOUND_BYTES = 32;
const PAGE_BYTES = 1 << 16;

/** What is computed in float32 is wrong by this part of its operands' sizes at most: five operations of 2^-24 each, and room. */
const SLACK = 2e-6;
/** Lengths are taken for longer by this part. */
const LONGER = 1 + 1e-5;

/** What is divided by more than nothing is finite in float32. */
const LEAST = 1e-30;

interface FilterModule {
  readonly memory: WebAssembly.Memory;
  reserve(at: number, count: number): void;
  select(count: number, first: number, found: number, by: number): number;
  list(count: number, direction: number): number;
}

/** How depths are told: along the direction in which the eye looks, or how far from it. */
export const BY_AXIS = 1;
export const BY_AIR = 2;

/** The eye and where it looks, in the space in which the matrices place instances. */
export interface Eye {
  readonly by: typeof BY_AXIS | typeof BY_AIR;
  readonly position: ArrayLike<number>;
  readonly forward: ArrayLike<number>;
}

/** What instances are: the spheres of the forms, and where the triangles of each begin and how many indices they have. */
export interface Forms {
  readonly spheres: readonly Sphere[];
  readonly ranges: Int32Array;
}

/** What may be seen: the numbers of instances, ascending, their forms, and their depths where these were asked for. */
export interface Found {
  count: number;
  numbers: Uint32Array;
  forms: Uint32Array;
  depths: Float64Array;
}

/** The same in the order in which it is to be drawn: numbers, and for each where its triangles begin and how many indices it has. */
export interface Listed {
  readonly numbers: Uint32Array;
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  /** How many indices all have. */
  readonly indices: number;
}

/** What is listed is sorted by depth, ascending or descending, or by number. */
export type Direction = 1 | -1 | 0;

let filter: FrustumFilter | null = null;
let isBegun = false;

/** Answers the filter, which is there a few milliseconds after this was called first; null until then, or where there is no SIMD. */
export function frustumFilter(): FrustumFilter | null {
  if (!isBegun) void loadFilter();
  return filter;
}

/** Loads what only pages with culling need. */
async function loadFilter(): Promise<void> {
  isBegun = true;
  try {
    const { PACKED_FILTER } = await import('./packed-filter.js');
    await startFilter(Uint8Array.from(atob(PACKED_FILTER), (c) => c.charCodeAt(0)));
  } catch {
    // As it was.
  }
}

/** Starts the filter from its module, packed by gzip. Where that cannot be, instances are looked at without it. */
export async function startFilter(packed: Uint8Array<ArrayBuffer>): Promise<void> {
  isBegun = true;
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const { instance } = await WebAssembly.instantiate(await new Response(stream).arrayBuffer());
    filter = new FrustumFilter(instance.exports as unknown as FilterModule);
  } catch {
    // As it was.
  }
}

/**
 * Finds which of many spheres a camera may see, and sorts them, in WebAssembly. What it answers is in its memory, until it is
 * asked again.
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
  /** There is room for so many forms and instances. */
  #forms = 0;
  #instances = 0;

  constructor(module: FilterModule) {
    this.#module = module;
    this.#reserve(1, CHUNK);
  }

  /**
   * Says what is asked: what a camera sees, by six planes, four numbers each, in the space in which the matrices place instances;
   * and what these are.
   */
  ask(planes: Float64Array, { spheres, ranges }: Forms): void {
    if (spheres.length > this.#forms) this.#reserve(2 * spheres.length, this.#instances);
    const f32 = this.#f32;
    for (let plane = 0; plane < 6; plane++) {
      const at = 12 * (plane >> 2) + plane;
      // What is no number in here leaves all of them.
      const length = Math.max(Math.hypot(planes[4 * plane], planes[4 * plane + 1], planes[4 * plane + 2]), LEAST);
      for (let k = 0; k < 4; k++) f32[at + 4 * k] = planes[4 * plane + k] / length;
      f32[at + 12] += SLACK * Math.abs(f32[at + 12]);
    }
    f32[SLACKS] = SLACK;
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
   * Finds those that may be seen of the instances of some matrices. `forms` says which of the forms each is, by a number below 0
   * that it is not to be found; all are the first where that is null. Depths are found where there is an `eye`.
   */
  select(chunks: readonly Float32Array[], forms: readonly Int32Array[] | null, eye: Eye | null): void {
    const room = CHUNK * chunks.length;
    if (room > this.#instances) this.#reserve(this.#forms, Math.ceil(1.5 * room));
    if (eye !== null) {
      this.#f64.set(eye.position, EYE_64);
      this.#f64.set(eye.forward, EYE_64 + 4);
    }
    const module = this.#module;
    let count = 0;
    if (forms === null) this.#i32.fill(0, FORMS, FORMS + CHUNK);
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i];
      const { length } = chunk;
      this.#f32.set(chunk, MATRICES);
      if (forms !== null) this.#i32.set(forms[i], FORMS);
      count = module.select(length / 16, CHUNK * i, count, eye?.by ?? 0);
    }
    this.count = count;
  }

  /** Lists what it has found in an order. */
  list(direction: Direction): Listed {
    const { count } = this;
    const indices = this.#module.list(count, direction);
    return { numbers: this.#listed, starts: this.#next.subarray(count), counts: this.#keyed, indices };
  }

  #reserve(forms: number, instances: number): void {
    this.#forms = forms;
    this.#instances = instances;
    const { memory } = this.#module;
    const at = 8 * (TABLE_64 + FORM * forms);
    const more = at + FOUND_BYTES * instances - memory.buffer.byteLength;
    if (more > 0) memory.grow(Math.ceil(more / PAGE_BYTES));
    this.#module.reserve(at, instances);
    const { buffer } = memory;
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

type Numbers = Float32Array | Int32Array;

/** What is known of many instances as views of as many as are asked about at once, which are made anew where that is another array. */
export class Chunks<T extends Numbers> {
  readonly #size: number;
  #array: T | null = null;
  #count = 0;
  #views: readonly T[] = [];

  /** So many numbers are of each. */
  constructor(size: number) {
    this.#size = size;
  }

  of(array: T, count: number): readonly T[] {
    if (array === this.#array && count === this.#count) return this.#views;
    this.#array = array;
    this.#count = count;
    const size = this.#size;
    this.#views = Array.from(
      { length: Math.ceil(count / CHUNK) },
      (_, i) => array.subarray(size * CHUNK * i, size * Math.min(count, CHUNK * (i + 1))) as T,
    );
    return this.#views;
  }
}
