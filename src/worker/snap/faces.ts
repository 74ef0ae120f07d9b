import type { Vec3 } from '../../shared/types.js';
import { type BlockLayout, blockLayout, type MemoryGetter } from './corners.js';

/** Views of the memory of the core whose mesh was read last; they are empty after it has grown. */
let views = { getMemory: (): ArrayBuffer => new ArrayBuffer(0), floats: new Float32Array(), numbers: new Int32Array() };

/** Reads the triangles, lines or points of a mesh in the core's memory, as posed. */
export class ElementReader {
  readonly #getMemory: MemoryGetter;
  readonly #mesh: number;
  #layout: BlockLayout | undefined;

  constructor(getMemory: MemoryGetter, mesh: number) {
    this.#getMemory = getMemory;
    this.#mesh = mesh;
  }

  /** Reads the layout at first use: for most meshes near a cursor, it is never used. */
  get #blocks(): BlockLayout {
    this.#layout ??= blockLayout(this.#getMemory(), this.#mesh);
    return this.#layout;
  }

  /** Returns a corner of the element in a slot, in mesh space. */
  corner(slot: number, corner: number): Vec3 {
    const { size, lanes, scale, offset } = this.#blocks;
    if (corner >= size) throw new RangeError(`corner ${corner} of ${size}`);
    const at = this.#wordOf(slot) + 3 * corner * lanes;
    const { floats } = views;
    return [
      floats[at] * scale + offset[0],
      floats[at + lanes] * scale + offset[1],
      floats[at + 2 * lanes] * scale + offset[2],
    ];
  }

  /** Returns the index of the element in a slot, as the mesh was given. */
  elementIndex(slot: number): number {
    const { size, lanes } = this.#blocks;
    const at = this.#wordOf(slot) + 3 * size * lanes;
    return views.numbers[at];
  }

  #wordOf(slot: number): number {
    const getMemory = this.#getMemory;
    if (views.getMemory !== getMemory || views.floats.length === 0) {
      views = { getMemory, floats: new Float32Array(getMemory()), numbers: new Int32Array(getMemory()) };
    }
    const { at, lanes, words } = this.#blocks;
    return at + Math.floor(slot / lanes) * words + (slot % lanes);
  }
}
