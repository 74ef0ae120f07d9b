/** Everything has its turn within this many milliseconds. A second is promised, and frames come at uneven intervals. */
const ROUND_MS = 850;

/**
 * After a pause, all items are due. A frame then checks this fraction of them, or this many if that is more, and only while the
 * time lasts: checking 50,000 at once takes 4 to 10 ms, and more if the garbage collector has just emptied the caches.
 */
const MAX_FRACTION_AFTER_PAUSE = 1 / 16;
const MIN_COUNT_AFTER_PAUSE = 4096;
/** An interval of more milliseconds than this is a pause, unless the frame before took as long. */
const PAUSE_MS = ROUND_MS * MAX_FRACTION_AFTER_PAUSE;
/** Consecutive frames that take longer than this also check only while the time lasts. */
const STEADY_MS = 2 * PAUSE_MS;
/** Milliseconds of that time. */
const CATCH_UP_MS = 1;
/** This many items are checked between two readings of the clock. */
const ITEMS_PER_CLOCK_READING = 512;

/** Chooses which items a frame checks, round-robin: each has its turn within a second at any frame rate, if there is time. */
export class Turns {
  #next = 0;
  #due = 0;
  #lastTime = performance.now();
  /** Milliseconds between the previous two frames. */
  #lastMs = 0;
  #count = 0;
  /** The largest count of this round: the round does not slow down when items are removed. */
  #maxCount = 0;

  /** Returns the number of the item whose turn is next. */
  get next(): number {
    return this.#next;
  }

  /** Calls `visit` with the numbers of the items whose turn it is, of `count` in all, as one or more ranges [first, end). */
  take(count: number, visit: (first: number, end: number) => void): void {
    const now = performance.now();
    const ms = now - this.#lastTime;
    const steadyMs = Math.min(ms, this.#lastMs, STEADY_MS);
    const isSlow = Math.min(ms, this.#lastMs) > PAUSE_MS;
    this.#lastTime = now;
    this.#lastMs = ms;
    // If items were removed, others may have moved to numbers before the next one.
    if (count < this.#count) this.#next = Math.max(0, this.#next - (this.#count - count));
    this.#count = count;
    this.#maxCount = Math.max(this.#maxCount, count);
    this.#due = Math.min(count + 1, this.#due + (this.#maxCount * ms) / ROUND_MS);
    const limit = isSlow
      ? count
      : Math.max(MIN_COUNT_AFTER_PAUSE, Math.ceil(MAX_FRACTION_AFTER_PAUSE * this.#maxCount));
    let remaining = Math.min(count, limit, Math.floor(this.#due));
    // The regular share of a frame is done whatever the clock says.
    let batchSize = Math.min(remaining, Math.ceil((this.#maxCount * steadyMs) / ROUND_MS));
    do {
      this.#visit(batchSize, visit);
      remaining -= batchSize;
      batchSize = Math.min(remaining, ITEMS_PER_CLOCK_READING);
    } while (remaining > 0 && performance.now() - now < CATCH_UP_MS);
  }

  /** Visits the next `batchSize` items; there are at least that many. */
  #visit(batchSize: number, visit: (first: number, end: number) => void): void {
    if (batchSize === 0) return;
    const count = this.#count;
    this.#due -= batchSize;
    const first = this.#next < count ? this.#next : 0;
    const end = Math.min(count, first + batchSize);
    this.#next = end;
    if (first === 0) this.#maxCount = count;
    visit(first, end);
    if (end - first === batchSize) return;
    this.#next = batchSize - (end - first);
    visit(0, this.#next);
  }
}
