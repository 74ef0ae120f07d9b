import { slotOf } from '../../shared/ids.js';
import type { Staging } from '../frame/frame-builder.js';
import { PLACE_NUMBERS, type Places } from '../places.js';
import { grown } from '../scene/id-table.js';

/** So many in a row are copied at once; fewer one by one, as the views that it takes are objects. */
const RUN = 32;

/**
 * The way of many objects that move in every frame: their transforms are written to where all are kept, and copied from
 * there into the frame, run by run. The frame's memory was the worker's a moment ago: writing it number by number takes
 * as long as all the rest. And what is kept needs no copy of the frame, should the worker be lost.
 */
export class Moves {
  readonly #places: Places;
  /** Of slots in a row that have moved: the first and the end of each run. */
  #runs = new Uint32Array(64);
  #count = 0;
  /** The run of now; it has no end where there is none. */
  #first = 0;
  #end = -1;
  /** Whether the slots ascend, so that none is there twice. */
  #isAscending = true;

  constructor(places: Places) {
    this.#places = places;
  }

  /**
   * Moves objects, from that of number `first` to before that of number `end`, for the update() that follows in the same
   * task; nothing where they are there already. Answers the number of the first that is not as usual: for that nothing is
   * done, it is `setTransform`'s.
   */
  move(objects: Uint32Array, transforms: readonly ArrayLike<number>[], first: number, end: number): number {
    const places = this.#places;
    const { matrices } = places;
    let i = first;
    try {
      for (; i < end; i++) {
        const m = transforms[i];
        if (m.length !== 16) return i;
        // Each is read once: a getter of the caller's cannot change what was checked.
        const ax = m[0];
        const ay = m[1];
        const az = m[2];
        const aw = m[3];
        const bx = m[4];
        const by = m[5];
        const bz = m[6];
        const bw = m[7];
        const cx = m[8];
        const cy = m[9];
        const cz = m[10];
        const cw = m[11];
        const x = m[12];
        const y = m[13];
        const z = m[14];
        if (!(aw === 0 && bw === 0 && cw === 0 && m[15] === 1)) return i;
        // Free of charge where the array holds nothing but numbers.
        if (typeof ax !== 'number' || typeof ay !== 'number' || typeof az !== 'number') return i;
        if (typeof bx !== 'number' || typeof by !== 'number' || typeof bz !== 'number') return i;
        if (typeof cx !== 'number' || typeof cy !== 'number' || typeof cz !== 'number') return i;
        if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return i;

        const id = objects[i];
        const slot = slotOf(id);
        // Such a getter may also have made other objects.
        if (places.newest[slot] !== id || places.matrices !== matrices) return i;
        const at = PLACE_NUMBERS * slot;
        // The translation first: it changes most often.
        if (
          matrices[at + 9] === x &&
          matrices[at + 10] === y &&
          matrices[at + 11] === z &&
          matrices[at] === ax &&
          matrices[at + 1] === ay &&
          matrices[at + 2] === az &&
          matrices[at + 3] === bx &&
          matrices[at + 4] === by &&
          matrices[at + 5] === bz &&
          matrices[at + 6] === cx &&
          matrices[at + 7] === cy &&
          matrices[at + 8] === cz
        ) {
          continue;
        }
        // What the worker might refuse must not take the place of what it has. By the means of the columns' lengths, which
        // asks for more than `isInvertibleAt` does.
        const squares = ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz + cx * cx + cy * cy + cz * cz;
        const volume = ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by);
        if (!(volume * volume > 1e-20 * squares * squares * squares)) return i;
        if (!(Math.abs(x + y + z) < 1e300)) return i;

        matrices[at] = ax;
        matrices[at + 1] = ay;
        matrices[at + 2] = az;
        matrices[at + 3] = bx;
        matrices[at + 4] = by;
        matrices[at + 5] = bz;
        matrices[at + 6] = cx;
        matrices[at + 7] = cy;
        matrices[at + 8] = cz;
        matrices[at + 9] = x;
        matrices[at + 10] = y;
        matrices[at + 11] = z;
        if (slot !== this.#end) this.#begin(slot);
        this.#end = slot + 1;
      }
    } catch {
      // It is no array, or a getter of the caller's has thrown; it was not moved by then.
    }
    return i;
  }

  /** Stages what has moved. */
  gather(staging: Staging): void {
    this.#close();
    const runs = this.#runs;
    const { newest, matrices } = this.#places;
    const isNew = this.#isAscending && staging.singles === 0;
    for (let run = 0; run < this.#count; run++) {
      const end = runs[2 * run + 1];
      for (let i = runs[2 * run]; i < end; ) {
        const slot = i;
        // Removed since, or told about otherwise: that is newer.
        while (i < end && newest[i] !== 0) i++;
        if (isNew && i - slot >= RUN) {
          staging.addRun(newest, matrices, slot, i - slot);
        } else {
          for (let k = slot; k < i; k++) {
            const to = staging.addSingle(newest[k]);
            const { f64 } = staging;
            for (let n = 0; n < PLACE_NUMBERS; n++) f64[to + n] = matrices[PLACE_NUMBERS * k + n];
          }
        }
        i++;
      }
    }
    this.#count = 0;
    this.#isAscending = true;
  }

  /** Begins a run of slots. */
  #begin(slot: number): void {
    if (slot < this.#end) this.#isAscending = false;
    this.#close();
    this.#first = slot;
  }

  /** Ends the run of now. */
  #close(): void {
    if (this.#end < 0) return;
    if (2 * this.#count === this.#runs.length) this.#runs = grown(this.#runs);
    this.#runs[2 * this.#count] = this.#first;
    this.#runs[2 * this.#count + 1] = this.#end;
    this.#count++;
    this.#end = -1;
  }
}
