import { slotOf } from '../../shared/ids.js';
import { grown } from '../../shared/typed-arrays.js';
import { isSameAffine, MAX_SURE_POSITION, MIN_SURE_RATIO } from './affine.js';
import { CLAIMED, offsetInPage, PAGE_SHIFT, type TransformTable } from './transform-table.js';

const NO_PAGE = new Float64Array(0);

/** Initial capacity for the runs of a scene that moves as a whole; grows. */
const INITIAL_CAPACITY = 32;

/**
 * Writes many objects that move in every frame: their transforms go to the table, and are copied from there into the
 * frame, run by run. The worker had the frame's memory a moment ago: writing it number by number takes as long as
 * everything else.
 */
export class BulkWriter {
  readonly #table: TransformTable;
  /** The first slot and the end of each run of moved slots. */
  #runs = new Uint32Array(2 * INITIAL_CAPACITY);
  #runCount = 0;
  /** The open run; `#end` is -1 if there is none. */
  #first = 0;
  #end = -1;
  /** Whether the slots ascend, so that no slot occurs twice. */
  #isAscending = true;

  constructor(table: TransformTable) {
    this.#table = table;
  }

  /**
   * Moves objects, from index `first` to before `end`, for the update() that follows in the same task; objects that are
   * already there are skipped. Returns the index of the first object that needs the general path, for which nothing is
   * done: `setTransform` handles it.
   */
  move(objects: Uint32Array, transforms: readonly ArrayLike<number>[], first: number, end: number): number {
    const table = this.#table;
    const { pages, starts, states } = table;
    const hasContinuous = starts.isAny;
    let page: Float64Array = NO_PAGE;
    let pageIndex = -1;
    let i = first;
    try {
      for (; i < end; i++) {
        const m = transforms[i];
        const id = objects[i];
        const slot = slotOf(id);
        // A getter of the caller may have made other objects.
        if (states[slot] !== CLAIMED || table.ids[slot] !== id || table.states !== states) return i;
        if (slot >>> PAGE_SHIFT !== pageIndex) {
          pageIndex = slot >>> PAGE_SHIFT;
          page = pages[pageIndex] ?? table.pageOf(slot);
        }
        const at = offsetInPage(slot);
        if (isSameAffine(page, at, m) && m[3] === 0 && m[7] === 0 && m[11] === 0 && m[15] === 1) continue;
        if (m.length !== 16) return i;
        // Each number is read once: a getter of the caller cannot change what was checked.
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
        // These checks are free if the array holds nothing but numbers.
        if (typeof ax !== 'number' || typeof ay !== 'number' || typeof az !== 'number') return i;
        if (typeof bx !== 'number' || typeof by !== 'number' || typeof bz !== 'number') return i;
        if (typeof cx !== 'number' || typeof cy !== 'number' || typeof cz !== 'number') return i;
        if (typeof x !== 'number' || typeof y !== 'number' || typeof z !== 'number') return i;

        // Such a getter may also have made other objects.
        if (states[slot] !== CLAIMED || table.ids[slot] !== id || table.states !== states) return i;
        // A transform that the worker might refuse must not replace the one that it has.
        const squareSum = ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz + cx * cx + cy * cy + cz * cz;
        const volume = ax * (by * cz - bz * cy) + bx * (cy * az - cz * ay) + cx * (ay * bz - az * by);
        if (!(volume * volume > MIN_SURE_RATIO * squareSum * squareSum * squareSum)) return i;
        if (!(Math.abs(x + y + z) < MAX_SURE_POSITION)) return i;

        if (hasContinuous && starts.isContinuous(slot)) starts.note(id, page, at);
        page[at] = ax;
        page[at + 1] = ay;
        page[at + 2] = az;
        page[at + 3] = bx;
        page[at + 4] = by;
        page[at + 5] = bz;
        page[at + 6] = cx;
        page[at + 7] = cy;
        page[at + 8] = cz;
        page[at + 9] = x;
        page[at + 10] = y;
        page[at + 11] = z;
        if (slot !== this.#end) this.#beginRun(slot);
        this.#end = slot + 1;
      }
    } catch {
      // Not an array, or a getter of the caller has thrown; the object was not moved by then.
    }
    return i;
  }

  /** Calls `visit` with the first slot and the end of each run of moved slots, and forgets them. */
  takeRuns(visit: (first: number, end: number, isAscending: boolean) => void): void {
    this.#closeRun();
    for (let run = 0; run < this.#runCount; run++)
      visit(this.#runs[2 * run], this.#runs[2 * run + 1], this.#isAscending);
    this.#runCount = 0;
    this.#isAscending = true;
  }

  /** Begins a run of slots. */
  #beginRun(slot: number): void {
    if (slot < this.#end) this.#isAscending = false;
    this.#closeRun();
    this.#first = slot;
  }

  /** Ends the open run, if any. */
  #closeRun(): void {
    if (this.#end < 0) return;
    if (2 * this.#runCount === this.#runs.length) this.#runs = grown(this.#runs);
    this.#runs[2 * this.#runCount] = this.#first;
    this.#runs[2 * this.#runCount + 1] = this.#end;
    this.#runCount++;
    this.#end = -1;
  }
}
