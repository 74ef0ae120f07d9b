// Tiles as jobs of BullMQ, on Redis or Valkey. The dispatcher takes results off the queue and writes them to its disk; the id of
// a job is made of its run and tile, so that no job is there twice.

import type { Queue as BullQueue, Job, RedisOptions } from 'bullmq';
import { CollisionError } from 'collision-worker';
import { invalid, throwIfAborted } from '../check.js';
import { loadPeer } from './peer.js';

const DEFAULT_PORT = 6379;
/** The default name of the queue. */
export const QUEUE_NAME = 'collision-worker-clash';

/** The data of a job. */
export interface TileJob {
  place: string;
  key: string;
  tile: number;
}

/** Runs tiles elsewhere. */
export interface Queue {
  run(
    work: string,
    key: string,
    missing: readonly number[],
    onResult: (tile: number, result: string) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** Default 'collision-worker-clash'. */
  name?: string;
  /** The work folder as workers reach it: a path or an http address. Default the path that it has here. */
  place?: string;
  /** Called when the queue does not answer, and when it does again. */
  onNotice?: (notice: string) => void;
}

/** Milliseconds between two checks for results. */
const POLL_MS = 200;
/** Milliseconds after which all missing tiles are added to the queue again, which does nothing if they are still there. */
const RENEW_MS = 5_000;
/** Milliseconds within which a queue must answer for the first time. */
const FIRST_ANSWER_MS = 5_000;
/** How often a failing job is tried. A job whose worker dies is tried again any number of times. */
const ATTEMPTS = 5;
const MAX_JOBS_PER_CALL = 500;
/** Jobs that nobody takes off the queue are removed after a week, since their run was given up. */
const RETENTION_SECONDS = 7 * 24 * 3600;

/** Returns the options of a connection. While the server is gone, pending commands wait for it, until `isClosed` returns true. */
export function connectionOf(address: string, isClosed = () => false): RedisOptions {
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part; // a literal percent sign
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
    ...(url.username ? { username: decode(url.username) } : {}),
    ...(url.password ? { password: decode(url.password) } : {}),
    ...(db ? { db: Number(db) } : {}),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
    // Commands that are sent while the server is gone are sent again when it is back.
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => (isClosed() ? null : Math.min(1000, 50 * times)),
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

/** Reports once that a queue is gone, and once that it is back. */
export function watchConnection(
  source: { on(event: 'error', listener: (error: Error) => void): unknown },
  onNotice: (notice: string) => void,
): { isGone: boolean; isBack: () => void } {
  const connectionState = {
    isGone: false,
    isBack: () => {
      if (connectionState.isGone) onNotice('the queue answers again');
      connectionState.isGone = false;
    },
  };
  source.on('error', (error) => {
    if (!connectionState.isGone)
      onNotice(`the queue does not answer (${error.message || (error as NodeJS.ErrnoException).code}); waiting for it`);
    connectionState.isGone = true;
  });
  return connectionState;
}

/** Resolves when the queue at an address answers. Rejects with WORKER_LOST if none does within some seconds, or if it refuses. */
export async function findQueue(address: string): Promise<void> {
  const { Redis } = await import('ioredis');
  const deadline = performance.now() + FIRST_ANSWER_MS;
  for (;;) {
    const client = new Redis({ ...connectionOf(address, () => true), lazyConnect: true });
    const errors: Error[] = [];
    const recordError = (error: Error): unknown => errors.push(error);
    client.on('error', recordError); // more specific than the error of the call that fails then
    const timer = setTimeout(() => {
      recordError(new Error(`no answer in ${FIRST_ANSWER_MS / 1000} seconds`));
      client.disconnect();
    }, deadline - performance.now());
    await client.connect().then(() => client.ping().catch(recordError), recordError);
    clearTimeout(timer);
    client.disconnect();
    const [cause] = errors;
    if (!cause) return;
    if (cause.name === 'ReplyError' || performance.now() > deadline) {
      const message = `clash: the queue at ${withoutPassword(address)} cannot be reached: ${cause.message}`;
      throw new CollisionError('WORKER_LOST', message, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Opens a queue to add tiles to. Rejects with WORKER_LOST if there is none, UNSUPPORTED if bullmq is not installed. */
export async function openQueue(address: string, options: QueueOptions = {}): Promise<Queue> {
  const { name = QUEUE_NAME, place, onNotice = () => {} } = options;
  let isClosed = false;
  const connection = connectionOf(address, () => isClosed);
  const { Queue } = await loadBullMq();
  await findQueue(address);
  const queue: BullQueue<TileJob, string> = new Queue(name, { connection });
  const { isBack } = watchConnection(queue, onNotice);
  return {
    run: (work, key, missing, onResult, signal) =>
      new Dispatch(queue, place ?? work, key, onResult, isBack).run(missing, signal),
    close: () => {
      isClosed = true;
      return queue.close();
    },
  };
}

/** Dispatches the tiles of one run. */
class Dispatch {
  readonly #queue: BullQueue<TileJob, string>;
  readonly #place: string;
  readonly #key: string;
  readonly #onResult: (tile: number, result: string) => Promise<void>;
  readonly #onAnswer: () => void;
  readonly #missing = new Set<number>();

  constructor(
    queue: BullQueue<TileJob, string>,
    place: string,
    key: string,
    onResult: (tile: number, result: string) => Promise<void>,
    onAnswer: () => void,
  ) {
    this.#queue = queue;
    this.#place = place;
    this.#key = key;
    this.#onResult = onResult;
    this.#onAnswer = onAnswer;
  }

  async run(missingTiles: readonly number[], signal: AbortSignal | undefined): Promise<void> {
    for (const tile of missingTiles) this.#missing.add(tile);
    // Tiles that failed in an earlier run are tried again.
    for (;;) {
      const failed = await unlessAborted(this.#listJobs('failed'), signal);
      if (failed.length === 0) break;
      for (const job of failed) await job.remove();
    }
    let renewAt = 0;
    try {
      while (this.#missing.size > 0) {
        if (performance.now() >= renewAt) {
          await unlessAborted(this.#add(), signal);
          renewAt = performance.now() + RENEW_MS;
        }
        await unlessAborted(this.#collect(), signal);
        await unlessAborted(this.#checkFailed(), signal);
        this.#onAnswer();
        if (this.#missing.size > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        throwIfAborted(signal);
      }
    } catch (error) {
      await waitAtMost(2_000, this.#withdraw());
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
    for (let first = 0; first < tiles.length; first += MAX_JOBS_PER_CALL) {
      const jobs = tiles.slice(first, first + MAX_JOBS_PER_CALL).map((tile) => ({
        name: 'tile',
        data: { place: this.#place, key: this.#key, tile },
        opts: {
          jobId: this.#idOf(tile),
          attempts: ATTEMPTS,
          backoff: { type: 'fixed', delay: 1000 },
          removeOnComplete: { age: RETENTION_SECONDS },
          removeOnFail: { age: RETENTION_SECONDS },
        },
      }));
      await this.#queue.addBulk(jobs);
    }
  }

  /**
   * Lists some of this run's jobs that are completed, or have failed. Runs that were given up may have left any number of jobs,
   * of which only the ids are read.
   */
  async #listJobs(state: 'completed' | 'failed'): Promise<Job<TileJob, string>[]> {
    const ids = await this.#queue.getRanges([state], 0, -1, true);
    const ownIds = ids.filter((id) => id.startsWith(this.#prefix)).slice(0, MAX_JOBS_PER_CALL);
    const jobs = await Promise.all(ownIds.map((id) => this.#queue.getJob(id)));
    return jobs.filter((job) => job !== undefined);
  }

  async #collect(): Promise<void> {
    for (const job of await this.#listJobs('completed')) {
      const { tile } = job.data;
      if (this.#missing.has(tile)) await this.#onResult(tile, job.returnvalue);
      this.#missing.delete(tile);
      await job.remove().catch(() => {}); // the next check finds it again
    }
  }

  async #checkFailed(): Promise<void> {
    const [job] = await this.#listJobs('failed');
    if (!job) return;
    const message = `clash: tile ${job.data.tile} failed ${ATTEMPTS} times: ${job.failedReason}`;
    throw new CollisionError('WORKER_LOST', message);
  }

  /** Removes jobs that nobody has begun from the queue. */
  async #withdraw(): Promise<void> {
    for (const tile of this.#missing) {
      const job = await this.#queue.getJob(this.#idOf(tile));
      await job?.remove().catch(() => {}); // a worker is running it
    }
  }
}

/** Settles as a promise does; rejects with ABORTED as soon as the signal aborts. */
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

/** Waits until a promise settles, but no longer than this. */
async function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  await Promise.race([promise.catch(() => {}), new Promise((resolve) => setTimeout(resolve, milliseconds))]);
}
