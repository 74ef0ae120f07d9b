/**
 * Consumed entries at the front are dropped when there are this many of them and they are more than half of all
 * entries.
 */
const MIN_TO_COMPACT = 1024;

/**
 * A first-in, first-out queue. An Array's `shift` moves all entries behind the first: 100,000 messages would take
 * seconds.
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

  /** Removes and returns the first entry; undefined if the queue is empty. */
  take(): T | undefined {
    if (this.length === 0) return undefined;
    const entry = this.#entries[this.#next];
    this.#entries[this.#next++] = undefined; // do not keep the taken entry alive
    if (this.length === 0 || (this.#next >= MIN_TO_COMPACT && 2 * this.#next > this.#entries.length)) {
      this.#entries.splice(0, this.#next);
      this.#next = 0;
    }
    return entry;
  }
}
