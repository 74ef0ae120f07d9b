import { Worker } from 'node:worker_threads';
import { CollisionError, type ErrorCode } from 'collision-worker';

/** What a thread is started with. */
export interface ThreadData {
  /** Where the work folder is, and the key of the run that has to be in it. */
  place: string;
  key: string;
  /** Where files from an address are kept. */
  cache: string | undefined;
  /** Most bytes of meshes that are kept from tile to tile. */
  bytes: number;
}

export type ThreadAnswer = { result: string } | { code: ErrorCode | null; message: string };

/** A tile is tried so often where threads die over it, or lose their workers. */
const MOST_TRIES = 3;

/** Threads that look at tiles, each at one at a time. One that dies is replaced, and its tile is looked at again. */
export class ThreadPool {
  readonly #data: ThreadData;
  readonly #megabytes: number;
  readonly #free: Worker[] = [];
  readonly #all = new Set<Worker>();
  #isClosed = false;

  /** `bytes` of memory are for each thread. */
  constructor(data: ThreadData, bytes: number) {
    this.#data = data;
    this.#megabytes = Math.max(128, Math.ceil(bytes / 2 ** 20));
  }

  /** Resolves with what a tile has, as JSON. There may be as many calls at once as there are to be threads. */
  async run(tile: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const worker = this.#free.pop() ?? this.#start();
      const answer = await ask(worker, tile);
      if (answer !== null && 'result' in answer) {
        this.#free.push(worker);
        return answer.result;
      }
      this.#all.delete(worker);
      await worker.terminate();
      if (this.#isClosed) throw new CollisionError('ABORTED', 'clash: aborted');
      const { code, message } = answer ?? { code: null, message: 'its thread ended' };
      const isLost = code === null || code === 'WORKER_LOST';
      if (!isLost || tries === MOST_TRIES) {
        const text = message.startsWith('clash: ') ? message : `clash: tile ${tile} failed: ${message}`;
        throw new CollisionError(code ?? 'WORKER_LOST', isLost ? `${text}, ${MOST_TRIES} times` : text);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.#all];
    this.#all.clear();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const worker = new Worker(new URL('./clash-thread.js', import.meta.url), {
      name: 'collision-worker clash',
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: this.#megabytes },
      execArgv: [],
    });
    worker.unref();
    this.#all.add(worker);
    return worker;
  }
}

/** Resolves with the thread's answer; null where it dies. */
function ask(worker: Worker, tile: number): Promise<ThreadAnswer | null> {
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
