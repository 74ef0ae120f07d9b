import { Worker } from 'node:worker_threads';
import { CollisionError, type ErrorCode } from 'collision-worker';

/** The `workerData` of a thread. */
export interface ThreadData {
  /** The place of the work folder, and the key of the run that must be in it. */
  place: string;
  key: string;
  /** The folder in which files from an address are cached. */
  cache: string | undefined;
  /** The most bytes of meshes that are kept from tile to tile. */
  bytes: number;
}

export type ThreadAnswer = { result: string } | { code: ErrorCode | null; message: string };

/**
 * The most bytes of the meshes of a tile, and of those kept from earlier tiles, however much memory the machine has: with its tree, a
 * mesh takes more, and WebAssembly has 4 GB for it and the rest.
 */
export const MAX_TILE_BYTES = 2 ** 30;

/** How often a tile is tried if threads die over it, or lose their workers. */
const MAX_TRIES = 3;

/** Threads that run tiles, one at a time each. A thread that dies is replaced, and its tile is run again. */
export class ThreadPool {
  readonly #data: ThreadData;
  readonly #maxMegabytes: number;
  readonly #idle: Worker[] = [];
  readonly #workers = new Set<Worker>();
  #isClosed = false;

  /** Each thread may take `bytes` bytes of memory. */
  constructor(data: ThreadData, bytes: number) {
    this.#data = data;
    this.#maxMegabytes = Math.max(128, Math.ceil(bytes / 2 ** 20));
  }

  /** Resolves with the result of a tile, as JSON. There are as many threads as concurrent calls. */
  async run(tile: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const worker = this.#idle.pop() ?? this.#start();
      const answer = await runOn(worker, tile);
      if (answer !== null && 'result' in answer) {
        this.#idle.push(worker);
        return answer.result;
      }
      this.#workers.delete(worker);
      await worker.terminate();
      if (this.#isClosed) throw new CollisionError('ABORTED', 'clash: aborted');
      const { code, message } = answer ?? { code: null, message: 'its thread ended' };
      const isLost = code === null || code === 'WORKER_LOST';
      if (!isLost || tries === MAX_TRIES) {
        const text = message.startsWith('clash: ') ? message : `clash: tile ${tile} failed: ${message}`;
        throw new CollisionError(code ?? 'WORKER_LOST', isLost ? `${text}, ${MAX_TRIES} times` : text);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const worker = new Worker(new URL('./clash-thread.js', import.meta.url), {
      name: 'collision-worker clash',
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: this.#maxMegabytes },
      execArgv: [],
    });
    worker.unref();
    this.#workers.add(worker);
    return worker;
  }
}

/** Resolves with the thread's answer; null if it dies. */
function runOn(worker: Worker, tile: number): Promise<ThreadAnswer | null> {
  return new Promise((resolve) => {
    const settle = (answer: ThreadAnswer | null): void => {
      worker.off('message', settle);
      worker.off('error', fail);
      worker.off('exit', end);
      worker.unref();
      resolve(answer);
    };
    const fail = (error: Error): void => settle({ code: null, message: error.message });
    const end = (): void => settle(null);
    worker.on('message', settle);
    worker.on('error', fail);
    worker.on('exit', end);
    worker.ref();
    worker.postMessage(tile);
  });
}
