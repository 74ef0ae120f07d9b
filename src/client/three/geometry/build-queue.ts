import { nextTask } from '../../../shared/next-task.js';

/** It is built, or its vertices are moved. */
export interface Queued {
  /** A build or an update is under way, or waits for others to end. The queue alone writes it, as the next. */
  isBuilding: boolean;
  /** The number of the last one. */
  build: number;
  /** Nobody needs it any more. */
  readonly isUnneeded: boolean;
}

/**
 * So many builds are under way at once: enough for the builders not to wait, and few enough that no task of ours hands
 * over thousands.
 */
const MOST_BUILDS = 64;

/** So many begin at once, and each other one in a task of its own: all of them take 4 ms, beside the slice that found them. */
const MOST_IN_ONE_TASK = 16;

/** Somebody waits for those that are under way at that time. */
interface Waiter {
  /** The number of the newest of them, and how many of them have not ended. */
  readonly last: number;
  left: number;
  readonly resolve: () => void;
}

/**
 * Runs builds, a few at once. One that waits for others is in a list, and nothing else is made for it: with a promise and closures for
 * each, those of 20,000 geometries were 43 MB, which the garbage collector moved twice before it was rid of them.
 */
export class BuildQueue<T extends Queued, R> {
  readonly #run: (item: T) => Promise<R>;
  readonly #onEnd: (item: T, result: R) => void;
  /** How many run. */
  #running = 0;
  /** Those that wait, in the order in which they came, from number `#next` on. */
  #waiting: (T | undefined)[] = [];
  #next = 0;
  /** How many builds and updates have begun, and how many of them have not ended. */
  #begun = 0;
  #unended = 0;
  #waiters: Waiter[] = [];

  /** `run` builds an item and never rejects; `onEnd` is called with what it resolves with, when the next one has begun. */
  constructor(run: (item: T) => Promise<R>, onEnd: (item: T, result: R) => void) {
    this.#run = run;
    this.#onEnd = onEnd;
  }

  /** Has an item built, when there is room for it. */
  add(item: T): void {
    this.begin(item);
    if (this.#running === MOST_BUILDS) this.#waiting.push(item);
    else this.#build(item, ++this.#running > MOST_IN_ONE_TASK);
  }

  /** Notes that an update of an item begins, which waits for nothing. */
  begin(item: T): void {
    item.isBuilding = true;
    item.build = ++this.#begun;
    this.#unended++;
  }

  /** Notes that what was begun has ended. */
  end(item: T): void {
    item.isBuilding = false;
    this.#unended--;
    this.#waiters = this.#waiters.filter((waiter) => {
      if (item.build <= waiter.last && --waiter.left === 0) waiter.resolve();
      return waiter.left > 0;
    });
  }

  /** Waits until all that has begun, or waits, has ended. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#unended === 0) resolve();
      else this.#waiters.push({ last: this.#begun, left: this.#unended, resolve });
    });
  }

  async #build(item: T, isLater: boolean): Promise<void> {
    if (isLater) await nextTask();
    const result = await this.#run(item);
    const next = this.#takeWaiting();
    if (next === null) this.#running--;
    else this.#build(next, false);
    this.end(item);
    this.#onEnd(item, result);
  }

  /** Takes the one that has waited longest; null where there is none. What nobody needs any more ends with that. */
  #takeWaiting(): T | null {
    while (this.#next < this.#waiting.length) {
      const item = this.#waiting[this.#next]!;
      this.#waiting[this.#next++] = undefined;
      if (!item.isUnneeded) return item;
      this.end(item);
    }
    this.#waiting = [];
    this.#next = 0;
    return null;
  }
}
