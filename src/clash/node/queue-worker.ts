import { availableParallelism, totalmem } from 'node:os';
import { CollisionError } from 'collision-worker';
import { checkInteger, checkNumber } from '../check.js';
import { connectionOf, findQueue, loadBullMq, QUEUE_NAME, type TileJob, watchConnection } from './queue.js';
import { MAX_TILE_BYTES, ThreadPool } from './thread-pool.js';

export interface QueueWorkerOptions {
  /** Default 'collision-worker-clash'. */
  name?: string;
  /** The work folder as this machine reaches it: a path or an http address. Default the one of the job. */
  place?: string;
  /** The folder in which files from an address are cached. Default one in the system's folder for temporary files. */
  cache?: string;
  /** Threads that run tiles. Default: as many as the machine has cores. */
  workers?: number;
  /** The approximate number of bytes that everything may take. Default half of the machine's memory. */
  memory?: number;
  /** Called when the queue does not answer, and when a tile fails. */
  onNotice?: (notice: string) => void;
  /** Aborting ends the worker, after the tiles that it is running. */
  signal?: AbortSignal | undefined;
}

/** The threads for the jobs of a run, and the number of jobs that they are running. */
interface RunPool {
  of: string;
  threads: ThreadPool;
  jobs: number;
}

/** Milliseconds that a worker keeps a tile without a sign of life; it gives one twice in this time. */
const LOCK_MS = 4_000;
/** Milliseconds between two checks for tiles whose workers have died. */
const STALL_CHECK_MS = 1_000;
/** A tile may lose its workers any number of times: they come and go. */
const MAX_STALLS = 1_000_000;

/**
 * Runs the tiles of a queue until the signal aborts. Any number of these may run, on any machines; they may come, go and
 * die. Rejects with WORKER_LOST if there is no such queue, with UNSUPPORTED if bullmq is not installed.
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
  // `newestPool` is the pool of the last job's run; other pools are closed after their last job.
  const pools = new Map<string, RunPool>();
  let newestPool: RunPool | undefined;
  const closeIfUnused = async (pool: RunPool): Promise<void> => {
    if (pool.jobs > 0 || pool === newestPool) return;
    pools.delete(pool.of);
    await pool.threads.close();
  };
  const run = async (job: TileJob): Promise<string> => {
    const data = { place: place ?? job.place, key: job.key, cache, bytes: Math.min(MAX_TILE_BYTES, bytes / 4) };
    const of = JSON.stringify(data);
    const previousPool = newestPool;
    const pool = pools.get(of) ?? { of, threads: new ThreadPool(data, bytes), jobs: 0 };
    pools.set(of, pool);
    newestPool = pool;
    pool.jobs++;
    if (previousPool) await closeIfUnused(previousPool);
    try {
      return await pool.threads.run(job.tile);
    } finally {
      pool.jobs--;
      await closeIfUnused(pool);
    }
  };
  const worker = new Worker<TileJob, string>(name, (job) => run(job.data), {
    connection,
    concurrency: workers,
    lockDuration: LOCK_MS,
    stalledInterval: STALL_CHECK_MS,
    maxStalledCount: MAX_STALLS,
  });
  const connectionState = watchConnection(worker, onNotice);
  worker.on('active', connectionState.isBack);
  worker.on('failed', (job, error) => onNotice(`tile ${job?.data.tile} failed: ${error.message}`));
  try {
    await new Promise<void>((resolve) => {
      if (signal?.aborted) resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    // While the queue is gone, nobody takes the worker's results: its tiles are given to other workers.
    await worker.close(connectionState.isGone);
  } catch (error) {
    await worker.close(true).catch(() => {});
    throw CollisionError.is(error)
      ? error
      : new CollisionError('WORKER_LOST', `clash: ${String(error)}`, { cause: error });
  } finally {
    for (const { threads } of pools.values()) await threads.close();
  }
}
