/** Milliseconds in which everything has its turn. A second is promised; what comes and goes meanwhile may put one off a round. */
const ROUND_MS = 500;

/** Says which of many are to be looked at in a frame, so that each has its turn within a second, whatever the frame rate. */
export class Turns {
  #next = 0;
  #due = 0;
  #last = performance.now();

  /** Calls `visit` with the numbers of those whose turn it is, of so many: first and end of one range or two. */
  take(count: number, visit: (first: number, end: number) => void): void {
    const now = performance.now();
    this.#due += (count * (now - this.#last)) / ROUND_MS;
    this.#last = now;
    const taken = Math.min(count, Math.floor(this.#due));
    this.#due = Math.min(this.#due - taken, 1);
    if (taken === 0) return;
    const first = this.#next < count ? this.#next : 0;
    const end = Math.min(count, first + taken);
    this.#next = end;
    visit(first, end);
    if (end - first === taken) return;
    this.#next = taken - (end - first);
    visit(0, this.#next);
  }
}
