import * as layout from '../../shared/layout.js';
import type { CoreMemory } from './memory.js';

/** Bytes that are copied between two readings of the clock: 0.1 to 0.5 ms. A million pairs with points have 150 MB. */
const COPIED_AT_ONCE = 1 << 20;

/** The result of a frame while it is copied out of the core's memory: call `step` until it returns a buffer. */
export class AnswerCopy {
  readonly #memory: CoreMemory;
  readonly #from: number;
  readonly #length: number;
  readonly #target: Uint8Array<ArrayBuffer>;
  #done = 0;

  /** The result is at `from`. It is copied into `out` if that is large enough. */
  constructor(memory: CoreMemory, from: number, out: ArrayBuffer | undefined) {
    this.#memory = memory;
    this.#from = from;
    this.#length = memory.view.getUint32(from + layout.OUT_BYTES, true);
    // A buffer that is too small is replaced by one with room to grow, so that this stays rare.
    const hasRoom = out && out.byteLength >= this.#length;
    this.#target = new Uint8Array(hasRoom ? out : new ArrayBuffer(roomFor(this.#length)));
  }

  /** Copies until time `end`. Returns the buffer when everything is copied, else null. */
  step(end: number): ArrayBuffer | null {
    do {
      const part = Math.min(this.#length - this.#done, COPIED_AT_ONCE);
      this.#target.set(this.#memory.bytes(this.#from + this.#done, part), this.#done);
      this.#done += part;
      if (this.#done === this.#length) return this.#target.buffer;
    } while (performance.now() < end);
    return null;
  }
}

/** Returns half as many bytes again as are needed now, in whole kilobytes. */
function roomFor(bytes: number): number {
  return Math.ceil((bytes * 1.5) / 1024) * 1024;
}
