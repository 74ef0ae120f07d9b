import * as layout from '../../shared/layout.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';

/** Boxes as the core finds them, a word or twelve numbers for each. */
export interface FoundBoxes {
  /** Whether there are more. */
  isCutOff: boolean;
  frames: Float32Array<ArrayBuffer>;
  owners: Uint32Array<ArrayBuffer>;
  levels: Uint8Array<ArrayBuffer>;
  counts: Uint32Array<ArrayBuffer>;
  kinds: Uint8Array<ArrayBuffer>;
}

/** Looks into a core: boxes of trees, cells of octrees, bounds of objects. At most `most` boxes are answered. */
export class CoreInspection {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;

  constructor(exports: CoreExports, memory: CoreMemory) {
    this.#exports = exports;
    this.#memory = memory;
  }

  /** Answers the place near which the scene's objects are. */
  origin(): Vec3 {
    const { sceneOrigin } = this.#exports;
    return [sceneOrigin(0), sceneOrigin(1), sceneOrigin(2)];
  }

  /** Finds the boxes of objects' trees; each object has as large a part of them as the others leave. */
  trees(objects: Uint32Array, [first, last]: readonly [number, number], most: number, origin: Vec3): FoundBoxes {
    this.#exports.beginBoxes(0, ...origin);
    let count = 0;
    objects.forEach((id: ObjectId, i) => {
      this.#exports.setMost(count + Math.floor((most - count) / (objects.length - i)));
      count = this.#exports.addTreeBoxes(id, first, last) >>> 0;
    });
    return this.#found(count);
  }

  cells([first, last]: readonly [number, number], most: number, origin: Vec3): FoundBoxes {
    this.#exports.beginBoxes(most, ...origin);
    return this.#found(this.#exports.addCells(first, last) >>> 0);
  }

  bounds(most: number, origin: Vec3): FoundBoxes {
    this.#exports.beginBoxes(most, ...origin);
    return this.#found(this.#exports.addBounds() >>> 0);
  }

  #found(count: number): FoundBoxes {
    const words = this.#memory.uint32s(this.#exports.foundBoxes() >>> 0, (count * layout.INSPECTED_BOX_BYTES) / 4);
    const numbers = new Float32Array(words.buffer);
    const stride = layout.INSPECTED_BOX_BYTES / 4;
    const frames = new Float32Array(12 * count);
    for (let i = 0; i < count; i++) frames.set(numbers.subarray(i * stride, i * stride + 12), 12 * i);
    const column = <T extends Uint32Array | Uint8Array>(values: T, offset: number): T => {
      for (let i = 0; i < count; i++) values[i] = words[i * stride + offset / 4];
      return values;
    };
    return {
      isCutOff: this.#exports.boxesAreCutOff() !== 0,
      frames,
      owners: column(new Uint32Array(count), layout.BOX_OWNER),
      levels: column(new Uint8Array(count), layout.BOX_LEVEL),
      counts: column(new Uint32Array(count), layout.BOX_COUNT),
      kinds: column(new Uint8Array(count), layout.BOX_KIND),
    };
  }
}
