import { nextTask } from '../../../shared/next-task.js';

/** An item of the queue: a mesh that is built, or whose vertices are moved. */
export interface QueueItem {
  /** A build or an update is under way or waits for others to end. Only the queue writes this and `build`. */
  isBuilding: boolean;
  /** The number of the item's last build or update. */
  build: number;
  /** Nobody needs the mesh any more. */
  readonly isUnneeded: boolean;
}

/**
 * Most builds under way at once: enough that the builders never wait, and few enough that no task of ours hands over thousands.
 */
const MAX_BUILDS = 64;

/**
 * This many builds begin at once, each further one in its own task: all of them take 4 ms, on top of the slice that found them.
 */
const MAX_BUILDS_PER_TASK = 16;

/** A caller that waits for everything that was under way or queued when it asked. */
interface Waiter {
  /** The number of the newest of these builds and updates, and how many of them have not ended. */
  readonly last: number;
  left: number;
  readonly resolve: () => void;
}

/**
 * Runs builds, a few at once. A waiting item is only an entry of a list, without any other allocation: with a promise and
 * closures for each, those of 20,000 geometries took 43 MB, which the garbage collector moved twice before it freed them.
 */
export class BuildQueue<T extends QueueItem, R> {
  readonly #run: (item: T) => Promise<R>;
  readonly #onEnd: (item: T, result: R) => void;
  /** Builds that are running. */
  #running = 0;
  /** Waiting items, first in first out, from index `#nextWaiting` on. */
  #waiting: (T | undefined)[] = [];
  #nextWaiting = 0;
  /** Builds and updates that have begun, and how many of these have not ended. */
  #begunCount = 0;
  #unendedCount = 0;
  #waiters: Waiter[] = [];

  /** `run` builds an item and never rejects; `onEnd` is called with its result once the next build has begun. */
  constructor(run: (item: T) => Promise<R>, onEnd: (item: T, result: R) => void) {
    this.#run = run;
    this.#onEnd = onEnd;
  }

  /** Queues an item, to be built when there is room for it. */
  add(item: T): void {
    this.begin(item);
    if (this.#running === MAX_BUILDS) this.#waiting.push(item);
    else this.#build(item, ++this.#running > MAX_BUILDS_PER_TASK);
  }

  /** Notes that an update of an item begins; updates do not wait. */
  begin(item: T): void {
    item.isBuilding = true;
    item.build = ++this.#begunCount;
    this.#unendedCount++;
  }

  /** Notes that the build or update of an item has ended. */
  end(item: T): void {
    item.isBuilding = false;
    this.#unendedCount--;
    this.#waiters = this.#waiters.filter((waiter) => {
      if (item.build <= waiter.last && --waiter.left === 0) waiter.resolve();
      return waiter.left > 0;
    });
  }

  /** Waits until every build and update that has begun or is queued has ended. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#unendedCount === 0) resolve();
      else this.#waiters.push({ last: this.#begunCount, left: this.#unendedCount, resolve });
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

  /** Takes the item that has waited longest; null if none waits. Items that nobody needs any more are ended here. */
  #takeWaiting(): T | null {
    while (this.#nextWaiting < this.#waiting.length) {
      const item = this.#waiting[this.#nextWaiting]!;
      this.#waiting[this.#nextWaiting++] = undefined;
      if (!item.isUnneeded) return item;
      this.end(item);
    }
    this.#waiting = [];
    this.#nextWaiting = 0;
    return null;
  }
}
