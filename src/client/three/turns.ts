/** Everything has its turn in so many milliseconds. A second is promised, and frames do not come evenly. */
const ROUND_MS = 850;

/**
 * After a pause, all of them are due. So much of them is looked at in a frame then, or so many where this is more: to
 * look at 50,000 at once takes 4 to 10 ms.
 */
const MOST_AFTER_PAUSE = 1 / 16;
const FEWEST_AFTER_PAUSE = 4096;
/** What lasts so many milliseconds was a pause, unless the frame before took as long. */
const PAUSE_MS = ROUND_MS * MOST_AFTER_PAUSE;

/** Says which of many are to be looked at in a frame, so that each has its turn within a second, whatever the frame rate. */
export class Turns {
  #next = 0;
  #due = 0;
  #last = performance.now();
  #isSlow = false;
  #count = 0;
  /** The most that there were in this round: it does not become slower where some leave. */
  #most = 0;

  /** Answers the number of the one whose turn comes next. */
  get next(): number {
    return this.#next;
  }

  /** Calls `visit` with the numbers of those whose turn it is, of so many: first and end of one range or two. */
  take(count: number, visit: (first: number, end: number) => void): void {
    const now = performance.now();
    // Where some have left, others may have moved to before the one that is next.
    if (count < this.#count) this.#next = Math.max(0, this.#next - (this.#count - count));
    this.#count = count;
    this.#most = Math.max(this.#most, count);
    this.#due += (this.#most * (now - this.#last)) / ROUND_MS;
    const wasSlow = this.#isSlow;
    this.#isSlow = now - this.#last > PAUSE_MS;
    this.#last = now;
    const most =
      this.#isSlow && wasSlow ? count : Math.max(FEWEST_AFTER_PAUSE, Math.ceil(MOST_AFTER_PAUSE * this.#most));
    const taken = Math.min(count, most, Math.floor(this.#due));
    this.#due = Math.min(this.#due, count + 1) - taken;
    if (taken === 0) return;
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
