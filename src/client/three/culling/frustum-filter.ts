import type { Sphere } from 'three';
import { PACKED_FILTER } from './packed-filter.js';

/** Many instances are asked about at once; their matrices are in the caches until they have been looked at. */
const CHUNK = 2048;

// Where src/worker/core/frustum-filter.ts reads what it is asked, in numbers of float32; and the answer.
const LENGTHS = 12;
const REACH = 15;
const CENTRE = 16;
const PLANES = 20;
const GROUP = 20;
const NUMBERS = 64;
const MATRICES = 4096;

/** What is computed in float32 is wrong by this part of its operands' sizes at most: five operations of 2^-24 each, and room. */
const SLACK = 2e-6;
/** Lengths are taken for longer by this part. */
const LONGER = 1 + 1e-5;

/** A number whose products with others are finite in float32. */
const MOST = 1e30;

interface FilterModule {
  readonly memory: WebAssembly.Memory;
  select(count: number, first: number): number;
}

let filter: FrustumFilter | null = null;
let isBegun = false;

/** Answers the filter, which is there a few milliseconds after this was called first; null until then, or where there is no SIMD. */
export function frustumFilter(): FrustumFilter | null {
  if (!isBegun && PACKED_FILTER !== '') void startFilter(Uint8Array.from(atob(PACKED_FILTER), (c) => c.charCodeAt(0)));
  isBegun = true;
  return filter;
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
 * Finds which of many spheres a camera may see, in WebAssembly: of 100,000 instances that all move it takes 0.8 ms, of which
 * reading them is half, and the same in JavaScript takes 1.8.
 */
class FrustumFilter {
  readonly #module: FilterModule;
  readonly #f32: Float32Array;
  readonly #u32: Uint32Array;

  constructor(module: FilterModule) {
    this.#module = module;
    this.#f32 = new Float32Array(module.memory.buffer);
    this.#u32 = new Uint32Array(module.memory.buffer);
  }

  /**
   * Says what is asked: what a camera sees, by the rows x, y and w of its clip space, four numbers each, and by eight planes, of
   * which two are zeros, and the sphere that each instance is, all in the space in which the matrices place them.
   */
  ask(rows: Float64Array, planes: Float64Array, { center, radius }: Sphere): void {
    const f32 = this.#f32;
    f32.set(rows);
    f32[11] += SLACK * (Math.abs(rows[11]) + Math.max(Math.abs(rows[3]), Math.abs(rows[7])));
    let slack = 0;
    for (let pair = 0; pair < 2; pair++) {
      const x = rows[4 * pair];
      const y = rows[4 * pair + 1];
      const z = rows[4 * pair + 2];
      const u = rows[8];
      const v = rows[9];
      const w = rows[10];
      const length = Math.max(Math.hypot(u + x, v + y, w + z), Math.hypot(u - x, v - y, w - z));
      // What is no number in here leaves all of them.
      f32[LENGTHS + pair] = Math.min(1 / length, MOST);
      slack = Math.max(slack, (largest(x, y, z) + largest(u, v, w)) / length);
    }
    f32[LENGTHS + 2] = SLACK * slack;
    f32[REACH] = ((center.length() + radius) * LONGER) ** 2;
    center.toArray(f32, CENTRE);
    f32[CENTRE + 3] = (radius * LONGER) ** 2;
    for (let plane = 0; plane < 8; plane++) {
      const at = PLANES + GROUP * (plane >> 2) + (plane & 3);
      const x = planes[4 * plane];
      const y = planes[4 * plane + 1];
      const z = planes[4 * plane + 2];
      const d = planes[4 * plane + 3];
      f32[at] = x;
      f32[at + 4] = y;
      f32[at + 8] = z;
      f32[at + 12] = d + SLACK * Math.abs(d);
      f32[at + 16] = SLACK * largest(x, y, z);
    }
  }

  /** Adds the numbers of those that may be seen to a list behind the first `count` of it; answers how many are in it then. */
  select(chunks: readonly Float32Array[], list: Uint32Array, count: number): number {
    const module = this.#module;
    const f32 = this.#f32;
    const u32 = this.#u32;
    let length = count;
    for (let i = 0; i < chunks.length; i++) {
      f32.set(chunks[i], MATRICES);
      const found = module.select(chunks[i].length / 16, CHUNK * i);
      for (let n = 0; n < found; n++) list[length++] = u32[NUMBERS + n];
    }
    return length;
  }
}

function largest(x: number, y: number, z: number): number {
  return Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
}

/** The matrices of many instances as views of as many as are asked about at once, which are made anew where that is another array. */
export class MatrixChunks {
  #array: Float32Array | null = null;
  #count = 0;
  #views: readonly Float32Array[] = [];

  of(array: Float32Array, count: number): readonly Float32Array[] {
    if (array === this.#array && count === this.#count) return this.#views;
    this.#array = array;
    this.#count = count;
    this.#views = Array.from({ length: Math.ceil(count / CHUNK) }, (_, i) =>
      array.subarray(16 * CHUNK * i, 16 * Math.min(count, CHUNK * (i + 1))),
    );
    return this.#views;
  }
}
