// Tiles as jobs of BullMQ, on Redis or Valkey. Whoever dispatches them takes what is done off the queue and onto its disk; a
// job is known by its run and tile, so that none is there twice.

import type { Queue as BullQueue, Job, RedisOptions } from 'bullmq';
import { CollisionError } from 'collision-worker';
import { invalid, throwIfAborted } from '../check.js';
import { loadPeer } from './peer.js';

const DEFAULT_PORT = 6379;
/** The name of the queue where none is given. */
export const QUEUE_NAME = 'collision-worker-clash';

/** What a job has. */
export interface TileJob {
  place: string;
  key: string;
  tile: number;
}

/** Has tiles looked at elsewhere. */
export interface Queue {
  run(
    work: string,
    key: string,
    missing: readonly number[],
    take: (tile: number, result: string) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** Default 'collision-worker-clash'. */
  name?: string;
  /** Where workers find the work folder: a path or an http address. Default the path that it has here. */
  place?: string;
  /** Hears when the queue does not answer, and when it does again. */
  onNotice?: (notice: string) => void;
}

/** Milliseconds between two looks at what is done. */
const LOOK_EVERY = 200;
/** Milliseconds after which all that is missing is put on the queue again, which does nothing where it is there. */
const RENEW_EVERY = 5_000;
/** Milliseconds in which a queue has to answer for the first time. */
const FIRST_ANSWER = 5_000;
/** A job that fails is tried so often. One whose worker dies is tried again however often. */
const ATTEMPTS = 5;
const MOST_AT_ONCE = 500;
/** What nobody takes off the queue goes after a week, as the run that it is of was given up. */
const KEPT_SECONDS = 7 * 24 * 3600;

/** Says how to connect. While the server is gone, nothing ends but by `isOver`, as what is on its way waits for it. */
export function connectionOf(address: string, isOver = () => false): RedisOptions {
  const text = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part; // a percent sign that stands for itself
    }
  };
  const url = URL.canParse(address)
    ? new URL(address)
    : invalid('queue', withoutPassword(address), 'an address as redis://localhost:6379');
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:')
    invalid('queue', withoutPassword(address), 'an address that begins with redis://');
  const db = url.pathname.slice(1);
  if (/\D/.test(db)) invalid("the queue's database", db, 'a number');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    ...(url.username ? { username: text(url.username) } : {}),
    ...(url.password ? { password: text(url.password) } : {}),
    ...(db ? { db: Number(db) } : {}),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
    // What is asked while the server is gone is asked when it is back.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => (isOver() ? null : Math.min(1000, 50 * times)),
  };
}

export function withoutPassword(address: string): string {
  return address.replace(/\/\/.*@/, '//');
}

export async function loadBullMq(): Promise<typeof import('bullmq')> {
  const bull = await loadPeer('bullmq', 'a queue', () => import('bullmq'));
  await loadPeer('ioredis', 'a queue', () => import('ioredis'));
  return bull;
}

/** Tells once that a queue is gone, and once that it is back. */
export function watchConnection(
  source: { on(event: 'error', listener: (error: Error) => void): unknown },
  onNotice: (notice: string) => void,
): { isGone: boolean; isBack: () => void } {
  const watched = {
    isGone: false,
    isBack: () => {
      if (watched.isGone) onNotice('the queue answers again');
      watched.isGone = false;
    },
  };
  source.on('error', (error) => {
    if (!watched.isGone)
      onNotice(`the queue does not answer (${error.message || (error as NodeJS.ErrnoException).code}); waiting for it`);
    watched.isGone = true;
  });
  return watched;
}

/** Resolves when the queue at an address answers. Rejects with WORKER_LOST where none does in some seconds, or refuses. */
export async function findQueue(address: string): Promise<void> {
  const { Redis } = await import('ioredis');
  const end = performance.now() + FIRST_ANSWER;
  for (;;) {
    const client = new Redis({ ...connectionOf(address, () => true), lazyConnect: true });
    const errors: Error[] = [];
    const note = (error: Error): unknown => errors.push(error);
    client.on('error', note); // it says more than a call that fails then
    const timer = setTimeout(() => {
      note(new Error(`no answer in ${FIRST_ANSWER / 1000} seconds`));
      client.disconnect();
    }, end - performance.now());
    await client.connect().then(() => client.ping().catch(note), note);
    clearTimeout(timer);
    client.disconnect();
    const [cause] = errors;
    if (!cause) return;
    if (cause.name === 'ReplyError' || performance.now() > end) {
      const message = `clash: the queue at ${withoutPassword(address)} cannot be reached: ${cause.message}`;
      throw new CollisionError('WORKER_LOST', message, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
  }
}

/** Opens a queue to put tiles on. Rejects with WORKER_LOST where there is none, UNSUPPORTED where bullmq is not installed. */
export async function openQueue(address: string, options: QueueOptions = {}): Promise<Queue> {
  const { name = QUEUE_NAME, place, onNotice = () => {} } = options;
  let isOver = false;
  const connection = connectionOf(address, () => isOver);
  const { Queue } = await loadBullMq();
  await findQueue(address);
  const queue: BullQueue<TileJob, string> = new Queue(name, { connection });
  const { isBack } = watchConnection(queue, onNotice);
  return {
    run: (work, key, missing, take, signal) =>
      new Dispatch(queue, place ?? work, key, take, isBack).run(missing, signal),
    close: () => {
      isOver = true;
      return queue.close();
    },
  };
}

/** The tiles of one run on their way. */
class Dispatch {
  readonly #queue: BullQueue<TileJob, string>;
  readonly #place: string;
  readonly #key: string;
  readonly #take: (tile: number, result: string) => Promise<void>;
  readonly #isBack: () => void;
  readonly #missing = new Set<number>();

  constructor(
    queue: BullQueue<TileJob, string>,
    place: string,
    key: string,
    take: (tile: number, result: string) => Promise<void>,
    isBack: () => void,
  ) {
    this.#queue = queue;
    this.#place = place;
    this.#key = key;
    this.#take = take;
    this.#isBack = isBack;
  }

  async run(missing: readonly number[], signal: AbortSignal | undefined): Promise<void> {
    for (const tile of missing) this.#missing.add(tile);
    // What has failed in a run before is tried again.
    for (;;) {
      const failed = await unlessAborted(this.#own('failed'), signal);
      if (failed.length === 0) break;
      for (const job of failed) await job.remove();
    }
    let renewAt = 0;
    try {
      while (this.#missing.size > 0) {
        if (performance.now() >= renewAt) {
          await unlessAborted(this.#add(), signal);
          renewAt = performance.now() + RENEW_EVERY;
        }
        await unlessAborted(this.#collect(), signal);
        await unlessAborted(this.#checkFailed(), signal);
        this.#isBack();
        if (this.#missing.size > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
        throwIfAborted(signal);
      }
    } catch (error) {
      await within(2_000, this.#withdraw());
      throw error;
    }
  }

  #idOf(tile: number): string {
    return `${this.#prefix}${tile}`;
  }

  get #prefix(): string {
    return `${this.#key.slice(0, 24)}-`;
  }

  async #add(): Promise<void> {
    const tiles = [...this.#missing];
    for (let first = 0; first < tiles.length; first += MOST_AT_ONCE) {
      const jobs = tiles.slice(first, first + MOST_AT_ONCE).map((tile) => ({
        name: 'tile',
        data: { place: this.#place, key: this.#key, tile },
        opts: {
          jobId: this.#idOf(tile),
          attempts: ATTEMPTS,
          backoff: { type: 'fixed', delay: 1000 },
          removeOnComplete: { age: KEPT_SECONDS },
          removeOnFail: { age: KEPT_SECONDS },
        },
      }));
      await this.#queue.addBulk(jobs);
    }
  }

  /**
   * Lists some of this run's jobs that are done, or have failed. Runs that were given up may have left any number of theirs,
   * of which no more than the ids are looked at.
   */
  async #own(state: 'completed' | 'failed'): Promise<Job<TileJob, string>[]> {
    const ids = await this.#queue.getRanges([state], 0, -1, true);
    const own = ids.filter((id) => id.startsWith(this.#prefix)).slice(0, MOST_AT_ONCE);
    const jobs = await Promise.all(own.map((id) => this.#queue.getJob(id)));
    return jobs.filter((job) => job !== undefined);
  }

  async #collect(): Promise<void> {
    for (const job of await this.#own('completed')) {
      const { tile } = job.data;
      if (this.#missing.has(tile)) await this.#take(tile, job.returnvalue);
      this.#missing.delete(tile);
      await job.remove().catch(() => {}); // the next look finds it again
    }
  }

  async #checkFailed(): Promise<void> {
    const [job] = await this.#own('failed');
    if (!job) return;
    const message = `clash: tile ${job.data.tile} failed ${ATTEMPTS} times: ${job.failedReason}`;
    throw new CollisionError('WORKER_LOST', message);
  }

  /** Takes what nobody has begun off the queue. */
  async #withdraw(): Promise<void> {
    for (const tile of this.#missing) {
      const job = await this.#queue.getJob(this.#idOf(tile));
      await job?.remove().catch(() => {}); // somebody is at it
    }
  }
}

/** Answers what a promise does; rejects with ABORTED before, where the signal says so. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new CollisionError('ABORTED', 'clash: aborted', { cause: signal.reason }));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Waits for a promise, but no longer than that, whatever becomes of it. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  await Promise.race([promise.catch(() => {}), new Promise((resolve) => setTimeout(resolve, milliseconds))]);
}
