import * as layout from '../../shared/layout.js';
import type { Filter } from '../../shared/protocol.js';
import type { ObjectId } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { QueryMemory } from './query-memory.js';

/** The outlines of a section, one after the other: shapes and units as in `Section`. */
export interface Outlines {
  objects: Uint32Array<ArrayBuffer>;
  /** One entry more than there are outlines. */
  starts: Uint32Array<ArrayBuffer>;
  closed: Uint8Array<ArrayBuffer>;
  points: Float64Array<ArrayBuffer>;
  triangles: Int32Array<ArrayBuffer>;
}

/** Cuts a core's objects with a plane, one object after the other. Only one section at a time is under way. */
export class CoreSections {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queryMemory: QueryMemory;

  constructor(exports: CoreExports, memory: CoreMemory, queryMemory: QueryMemory) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queryMemory = queryMemory;
  }

  /** Lists the objects that the plane may cut, ascending; `begin` and `step` cut each. `end` must follow. */
  candidates(plane: Float64Array, filter: Filter, roundPoints: number, weld: number | undefined): Uint32Array {
    const angle = (2 * Math.PI) / roundPoints;
    return this.#queryMemory.with(filter, (address) =>
      this.#memory.with(32, (at) => {
        this.#memory.setFloats(at, plane, 4);
        const { beginSection, foundIds } = this.#exports;
        const count = beginSection(at, address, roundPoints, Math.cos(angle), Math.sin(angle), weld ?? -1) >>> 0;
        return this.#memory.copyWords(foundIds() >>> 0, count).sort();
      }),
    );
  }

  /** Begins to cut an object as it is now. */
  begin(object: ObjectId): void {
    this.#exports.beginObjectSection(object);
  }

  /** Cuts until a point in time. Returns whether the object is done. */
  step(deadline: number): boolean {
    return this.#exports.stepObjectSection(deadline) !== 0;
  }

  /** Copies the outlines that were found. */
  outlines(): Outlines {
    const wasm = this.#exports;
    const count = wasm.countOutlines() >>> 0;
    const pointCount = wasm.countOutlinePoints() >>> 0;
    const { buffer } = this.#memory;
    const records = new Uint32Array(buffer, wasm.outlines() >>> 0, (count * layout.OUTLINE_BYTES) / 4);
    const objects = new Uint32Array(count);
    const starts = new Uint32Array(count + 1);
    const closed = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      const at = (i * layout.OUTLINE_BYTES) / 4;
      objects[i] = records[at + layout.OUTLINE_OBJECT / 4];
      starts[i + 1] = records[at + layout.OUTLINE_END / 4];
      closed[i] = records[at + layout.OUTLINE_CLOSED / 4];
    }
    return {
      objects,
      starts,
      closed,
      points: new Float64Array(buffer, wasm.outlinePoints() >>> 0, pointCount * 3).slice(),
      triangles: new Int32Array(buffer, wasm.outlineTriangles() >>> 0, pointCount).slice(),
    };
  }

  /** Frees the core's memory of the section. */
  end(): void {
    this.#exports.endSection();
  }
}
