import * as layout from '../../shared/layout.js';
import type { CoreMemory } from './memory.js';

/** Bytes that are copied between two readings of the clock: 0.1 to 0.5 ms. A million pairs with points have 150 MB. */
const BYTES_PER_STEP = 1 << 20;

/** The result of a frame while it is copied out of the core's memory: call `step` until it returns a buffer. */
export class FrameResultCopy {
  readonly #memory: CoreMemory;
  readonly #address: number;
  readonly #length: number;
  readonly #target: Uint8Array<ArrayBuffer>;
  #copiedBytes = 0;

  /** The result is at `address`. It is copied into `out` if that is large enough. */
  constructor(memory: CoreMemory, address: number, out: ArrayBuffer | undefined) {
    this.#memory = memory;
    this.#address = address;
    this.#length = memory.view.getUint32(address + layout.OUT_BYTES, true);
    // A buffer that is too small is replaced by one with room to grow, so that this stays rare.
    const isLargeEnough = out && out.byteLength >= this.#length;
    this.#target = new Uint8Array(isLargeEnough ? out : new ArrayBuffer(capacityFor(this.#length)));
  }

  /** Copies until time `deadline`. Returns the buffer when everything is copied, else null. */
  step(deadline: number): ArrayBuffer | null {
    do {
      const byteCount = Math.min(this.#length - this.#copiedBytes, BYTES_PER_STEP);
      this.#target.set(this.#memory.bytes(this.#address + this.#copiedBytes, byteCount), this.#copiedBytes);
      this.#copiedBytes += byteCount;
      if (this.#copiedBytes === this.#length) return this.#target.buffer;
    } while (performance.now() < deadline);
    return null;
  }
}

/** Returns half as many bytes again as are needed now, in whole kilobytes. */
function capacityFor(bytes: number): number {
  return Math.ceil((bytes * 1.5) / 1024) * 1024;
}
