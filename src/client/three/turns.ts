/** Everything has its turn within this many milliseconds. A second is promised, and frames come at uneven intervals. */
const ROUND_MS = 850;

/**
 * After a pause, all items are due. A frame then checks this fraction of them, or this many if that is more, and only while the
 * time lasts: checking 50,000 at once takes 4 to 10 ms, and more if the garbage collector has just emptied the caches.
 */
const MOST_AFTER_PAUSE = 1 / 16;
const FEWEST_AFTER_PAUSE = 4096;
/** An interval of more milliseconds than this is a pause, unless the frame before took as long. */
const PAUSE_MS = ROUND_MS * MOST_AFTER_PAUSE;
/** Consecutive frames that take longer than this also check only while the time lasts. */
const STEADY_MS = 2 * PAUSE_MS;
/** Milliseconds of that time. */
const CATCH_UP_MS = 1;
/** This many items are checked between two readings of the clock. */
const BETWEEN_CLOCKS = 512;

/** Chooses which items a frame checks, round-robin: each has its turn within a second at any frame rate, if there is time. */
export class Turns {
  #next = 0;
  #due = 0;
  #last = performance.now();
  /** Milliseconds between the previous two frames. */
  #lastMs = 0;
  #count = 0;
  /** The largest count of this round: the round does not slow down when items are removed. */
  #most = 0;

  /** Returns the number of the item whose turn is next. */
  get next(): number {
    return this.#next;
  }

  /** Calls `visit` with the numbers of the items whose turn it is, of `count` in all, as one or more ranges [first, end). */
  take(count: number, visit: (first: number, end: number) => void): void {
    const now = performance.now();
    const ms = now - this.#last;
    const steadyMs = Math.min(ms, this.#lastMs, STEADY_MS);
    const isSlow = Math.min(ms, this.#lastMs) > PAUSE_MS;
    this.#last = now;
    this.#lastMs = ms;
    // If items were removed, others may have moved to numbers before the next one.
    if (count < this.#count) this.#next = Math.max(0, this.#next - (this.#count - count));
    this.#count = count;
    this.#most = Math.max(this.#most, count);
    this.#due = Math.min(count + 1, this.#due + (this.#most * ms) / ROUND_MS);
    const most = isSlow ? count : Math.max(FEWEST_AFTER_PAUSE, Math.ceil(MOST_AFTER_PAUSE * this.#most));
    let left = Math.min(count, most, Math.floor(this.#due));
    // The regular share of a frame is done whatever the clock says.
    let taken = Math.min(left, Math.ceil((this.#most * steadyMs) / ROUND_MS));
    do {
      this.#visit(taken, visit);
      left -= taken;
      taken = Math.min(left, BETWEEN_CLOCKS);
    } while (left > 0 && performance.now() - now < CATCH_UP_MS);
  }

  /** Visits the next `taken` items; there are at least that many. */
  #visit(taken: number, visit: (first: number, end: number) => void): void {
    if (taken === 0) return;
    const count = this.#count;
    this.#due -= taken;
    const first = this.#next < count ? this.#next : 0;
    const end = Math.min(count, first + taken);
    this.#next = end;
    if (first === 0) this.#most = count;
    visit(first, end);
    if (end - first === taken) return;
    this.#next = taken - (end - first);
    visit(0, this.#next);
  }
}
