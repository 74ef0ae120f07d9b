import type { Vec3 } from '../../shared/types.js';
import { type BlockLayout, blockLayout, type MemoryOf } from './corners.js';

/** Reads the triangles, lines or points of a mesh in the core's memory, where its pose has them. */
export class Faces {
  readonly #memoryOf: MemoryOf;
  readonly #blocks: BlockLayout;
  #buffer: ArrayBuffer | undefined;
  #floats = new Float32Array();
  #numbers = new Int32Array();

  constructor(memoryOf: MemoryOf, mesh: number) {
    this.#memoryOf = memoryOf;
    this.#blocks = blockLayout(memoryOf(), mesh);
  }

  /** Answers a corner of the element in a slot, in the space of the mesh. */
  corner(slot: number, corner: number): Vec3 {
    const { size, lanes, scale, offset } = this.#blocks;
    const at = this.#wordOf(slot) + 3 * corner * lanes;
    if (corner >= size) throw new RangeError(`corner ${corner} of ${size}`);
    const floats = this.#floats;
    return [
      floats[at] * scale + offset[0],
      floats[at + lanes] * scale + offset[1],
      floats[at + 2 * lanes] * scale + offset[2],
    ];
  }

  /** Answers the number of the element in a slot, as the mesh was given. */
  numberOf(slot: number): number {
    const { size, lanes } = this.#blocks;
    const at = this.#wordOf(slot) + 3 * size * lanes;
    return this.#numbers[at];
  }

  #wordOf(slot: number): number {
    const buffer = this.#memoryOf();
    if (this.#buffer !== buffer) {
      this.#buffer = buffer;
      this.#floats = new Float32Array(buffer);
      this.#numbers = new Int32Array(buffer);
    }
    const { at, lanes, words } = this.#blocks;
    return at + Math.floor(slot / lanes) * words + (slot % lanes);
  }
}
