import { availableParallelism, totalmem } from 'node:os';
import { CollisionError } from 'collision-worker';
import { checkInteger, checkNumber } from '../check.js';
import { connectionOf, findQueue, loadBullMq, QUEUE_NAME, type TileJob, watchConnection } from './queue.js';
import { ThreadPool } from './thread-pool.js';

export interface QueueWorkerOptions {
  /** Default 'collision-worker-clash'. */
  name?: string;
  /** Where the work folder is for this machine: a path or an http address. Default what the job says. */
  place?: string;
  /** The folder in which files from an address are kept. Default one in the system's folder for temporary files. */
  cache?: string;
  /** Threads that look at tiles. Default: as many as the machine has cores. */
  workers?: number;
  /** Bytes that all of it may take, more or less. Default half of the machine's memory. */
  memory?: number;
  /** Hears when the queue does not answer, and what fails. */
  onNotice?: (notice: string) => void;
  /** Aborting ends the worker, after the tiles that it is at. */
  signal?: AbortSignal | undefined;
}

/** The threads for the jobs of a run, and how many they are at. */
interface RunPool {
  of: string;
  threads: ThreadPool;
  jobs: number;
}

/** Milliseconds that a tile stays a worker's without a sign of life; the worker gives one twice in this time. */
const LOCK = 4_000;
/** Milliseconds between two looks for tiles whose workers have died. */
const STALLED_EVERY = 1_000;
/** A tile may lose its workers however often: they come and go. */
const MOST_STALLS = 1_000_000;

/**
 * Looks at the tiles of a queue until the signal aborts. Any number of these may run, on any machines; they may come, go and
 * die. Rejects with WORKER_LOST where there is no such queue, with UNSUPPORTED where bullmq is not installed.
 */
export async function runQueueWorker(address: string, options: QueueWorkerOptions = {}): Promise<void> {
  const { name = QUEUE_NAME, place, cache, onNotice = () => {}, signal } = options;
  const { workers = availableParallelism(), memory = totalmem() / 2 } = options;
  checkInteger('workers', workers, 1, 256);
  checkNumber('memory', memory, 2 ** 28, 'bytes, 268,435,456 at least');
  const connection = connectionOf(address, () => signal?.aborted === true);
  const { Worker } = await loadBullMq();
  await findQueue(address);
  const bytes = memory / workers;
  // The newest one is that of the run of the last job; others end with the last of theirs.
  const pools = new Map<string, RunPool>();
  let newest: RunPool | undefined;
  const leave = async (pool: RunPool): Promise<void> => {
    if (pool.jobs > 0 || pool === newest) return;
    pools.delete(pool.of);
    await pool.threads.close();
  };
  const run = async (job: TileJob): Promise<string> => {
    const data = { place: place ?? job.place, key: job.key, cache, bytes: bytes / 4 };
    const of = JSON.stringify(data);
    const before = newest;
    const pool = pools.get(of) ?? { of, threads: new ThreadPool(data, bytes), jobs: 0 };
    pools.set(of, pool);
    newest = pool;
    pool.jobs++;
    if (before) await leave(before);
    try {
      return await pool.threads.run(job.tile);
    } finally {
      pool.jobs--;
      await leave(pool);
    }
  };
  const worker = new Worker<TileJob, string>(name, (job) => run(job.data), {
    connection,
    concurrency: workers,
    lockDuration: LOCK,
    stalledInterval: STALLED_EVERY,
    maxStalledCount: MOST_STALLS,
  });
  const watched = watchConnection(worker, onNotice);
  worker.on('active', watched.isBack);
  worker.on('failed', (job, error) => onNotice(`tile ${job?.data.tile} failed: ${error.message}`));
  try {
    await new Promise<void>((resolve) => {
      if (signal?.aborted) resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    // Nobody takes what it has while the queue is gone: its tiles are given to others.
    await worker.close(watched.isGone);
  } catch (error) {
    await worker.close(true).catch(() => {});
    throw CollisionError.is(error)
      ? error
      : new CollisionError('WORKER_LOST', `clash: ${String(error)}`, { cause: error });
  } finally {
    for (const { threads } of pools.values()) await threads.close();
  }
}
