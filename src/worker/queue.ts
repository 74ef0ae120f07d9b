/** Consumed places at the front are given up when there are so many of them, and more than half of all. */
const FEWEST_TO_COMPACT = 1024;

/**
 * A queue: first in, first out. An Array's `shift` moves all that waits behind: 100,000 messages would take seconds.
 */
export class Queue<T> {
  readonly #entries: (T | undefined)[] = [];
  /** The index of the next entry to be taken. */
  #next = 0;

  get length(): number {
    return this.#entries.length - this.#next;
  }

  add(entry: T): void {
    this.#entries.push(entry);
  }

  /** Returns the next entry to be taken. */
  get first(): T | undefined {
    return this.#entries[this.#next];
  }

  /** Takes the first entry; undefined where none waits. */
  take(): T | undefined {
    if (this.length === 0) return undefined;
    const entry = this.#entries[this.#next];
    this.#entries[this.#next++] = undefined; // what was taken is not held
    if (this.length === 0 || (this.#next >= FEWEST_TO_COMPACT && 2 * this.#next > this.#entries.length)) {
      this.#entries.splice(0, this.#next);
      this.#next = 0;
    }
    return entry;
  }
}
