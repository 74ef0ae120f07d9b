import { Worker } from 'node:worker_threads';

const SCRIPT = new URL(import.meta.resolve('collision-worker/worker'));

interface Plain {
  type?: string;
}

/** The package's own worker, with a say in when its frames' answers arrive; and what was sent to it. */
export class HeldWorker extends EventTarget {
  /** Types of the messages sent to it; a call's is 'call'. */
  readonly sent: string[] = [];
  readonly worker = new Worker(SCRIPT);
  #isHolding = false;
  readonly #held: unknown[] = [];

  constructor() {
    super();
    this.worker.on('message', (data: Plain) => {
      if (this.#isHolding && data.type === 'result') this.#held.push(data);
      else this.#deliver(data);
    });
    const fail = (message: string) => this.dispatchEvent(Object.assign(new Event('error'), { message }));
    this.worker.on('error', ({ message }) => fail(message));
    this.worker.on('exit', (code) => fail(`exit code ${code}`));
  }

  /** From now on, frames seem to take until `release`. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Lets the next answer through that is held; resolves when it has been. */
  async release(): Promise<void> {
    while (this.#held.length === 0) await new Promise(setImmediate);
    this.#deliver(this.#held.shift());
    await new Promise(setImmediate);
  }

  async letGo(): Promise<void> {
    this.#isHolding = false;
    while (this.#held.length > 0) await this.release();
  }

  postMessage(message: unknown, transfer: Transferable[] = []): void {
    const { type } = message as Plain;
    this.sent.push(type === 'APPLY' ? 'call' : String(type));
    this.worker.postMessage(message, transfer as ArrayBuffer[]);
  }

  terminate(): void {
    this.worker.terminate();
  }

  #deliver(data: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}
