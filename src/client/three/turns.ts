/** Everything has its turn in so many milliseconds. A second is promised, and frames do not come evenly. */
const ROUND_MS = 850;

/**
 * After a pause, all of them are due. So much of them is looked at in a frame then, or so many where this is more, or twice as many as
 * become due in a frame: all have their turn within half a second. To look at 4,096 took 3.5 ms beside all else that a frame does.
 */
const MOST_AFTER_PAUSE = 1 / 32;
const FEWEST_AFTER_PAUSE = 1024;
/** What lasts so many milliseconds was a pause, unless the frame before took as long. */
const PAUSE_MS = ROUND_MS / 16;

/** Says which of many are to be looked at in a frame, so that each has its turn within a second, whatever the frame rate. */
export class Turns {
  #next = 0;
  #due = 0;
  #last = performance.now();
  /** The last frame began so many milliseconds after the one before. */
  #lasted = 0;
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
    const lasted = now - this.#last;
    this.#due += (this.#most * lasted) / ROUND_MS;
    const usual = Math.min(lasted, this.#lasted);
    this.#lasted = lasted;
    this.#last = now;
    const part = Math.max(MOST_AFTER_PAUSE, (2 * usual) / ROUND_MS);
    const most = usual > PAUSE_MS ? count : Math.max(FEWEST_AFTER_PAUSE, Math.ceil(part * this.#most));
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
