/** Everything has its turn in so many milliseconds. A second is promised, and frames do not come evenly. */
const ROUND_MS = 850;

/**
 * After a pause, all of them are due. So much of them is looked at in a frame then, or so many where this is more, and only while
 * the time lasts: to look at 50,000 at once takes 4 to 10 ms, and more where the collector of garbage has just emptied the caches.
 */
const MOST_AFTER_PAUSE = 1 / 16;
const FEWEST_AFTER_PAUSE = 4096;
/** What lasts so many milliseconds was a pause, unless the frame before took as long. */
const PAUSE_MS = ROUND_MS * MOST_AFTER_PAUSE;
/** Frames that take longer than this, one after the other, have their turns only while the time lasts, too. */
const STEADY_MS = 2 * PAUSE_MS;
/** Milliseconds of that time. */
const CATCH_UP_MS = 1;
/** So many are looked at between two looks at the clock. */
const BETWEEN_CLOCKS = 512;

/** Says which of many are to be looked at in a frame, so that each has its turn within a second, whatever the frame rate, while there is time. */
export class Turns {
  #next = 0;
  #due = 0;
  #last = performance.now();
  /** Milliseconds between the last two frames. */
  #lastMs = 0;
  #count = 0;
  /** The most that there were in this round: it does not become slower where some leave. */
  #most = 0;

  /** Answers the number of the one whose turn comes next. */
  get next(): number {
    return this.#next;
  }

  /** Calls `visit` with the numbers of those whose turn it is, of so many: first and end of one range or more. */
  take(count: number, visit: (first: number, end: number) => void): void {
    const now = performance.now();
    const ms = now - this.#last;
    const steadyMs = Math.min(ms, this.#lastMs, STEADY_MS);
    const isSlow = Math.min(ms, this.#lastMs) > PAUSE_MS;
    this.#last = now;
    this.#lastMs = ms;
    // Where some have left, others may have moved to before the one that is next.
    if (count < this.#count) this.#next = Math.max(0, this.#next - (this.#count - count));
    this.#count = count;
    this.#most = Math.max(this.#most, count);
    this.#due = Math.min(count + 1, this.#due + (this.#most * ms) / ROUND_MS);
    const most = isSlow ? count : Math.max(FEWEST_AFTER_PAUSE, Math.ceil(MOST_AFTER_PAUSE * this.#most));
    let left = Math.min(count, most, Math.floor(this.#due));
    // What each frame has to do is done whatever the clock says.
    let taken = Math.min(left, Math.ceil((this.#most * steadyMs) / ROUND_MS));
    do {
      this.#visit(taken, visit);
      left -= taken;
      taken = Math.min(left, BETWEEN_CLOCKS);
    } while (left > 0 && performance.now() - now < CATCH_UP_MS);
  }

  /** Visits the next ones, of which there are so many at least. */
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
