import type { Endpoint } from '../shared/calls.js';
import type { ToWorker } from '../shared/protocol.js';
import type { Calls } from './calls.js';
import { Queue } from './queue.js';
import { afterMessages, type Gate, INTAKE, type Turns } from './slices.js';

/** Milliseconds of work after which messages may have piled up. */
const PAUSE_AFTER_MS = 2;

/**
 * The messages to the worker, which are answered in the order in which they came, but for calls that nobody waits for
 * any more. Their `drop` stands behind them: so after long work everything that came meanwhile is taken in before any
 * of it is answered.
 */
export class Inbox implements Turns {
  readonly #endpoint: Endpoint;
  #receive!: (message: ToWorker) => void;
  #calls!: Pick<Calls, 'run' | 'refuse'>;
  readonly #waiting = new Queue<ToWorker>();
  /** The number of the call that was begun last. */
  call = 0;
  dropped: Set<number> | undefined;
  /** Those that were dropped before they began. */
  readonly #unwanted = new Set<number>();
  #isPaused = false;
  /** What passes while the others are held. */
  #gate: Gate | undefined;
  /** Milliseconds since the last pause. */
  #worked = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Begins to listen; `receive` gets what is not one of the `calls`. */
  open(receive: (message: ToWorker) => void, calls: Pick<Calls, 'run' | 'refuse'>): void {
    this.#receive = receive;
    this.#calls = calls;
    this.#endpoint.addEventListener('message', (event) => this.#take((event as MessageEvent<ToWorker>).data));
  }

  hold(gate: Gate): void {
    this.#gate = gate;
  }

  release(): void {
    this.#gate = undefined;
    this.pause();
  }

  /** Takes in what waits before anything more is answered. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#takeAll();
  }

  /**
   * Takes in all that waits, then answers it. Node hands over no more than a thousand messages at once: only when none
   * has come are there no more.
   */
  #takeAll(): void {
    const before = this.#waiting.length;
    afterMessages(() => {
      if (this.#waiting.length > before) {
        this.#takeAll();
        return;
      }
      this.#isPaused = false;
      this.#worked = 0;
      this.#answer();
    }, INTAKE);
  }

  #take(message: ToWorker): void {
    if (message.type === 'drop') {
      for (const call of message.calls) (call > this.call ? this.#unwanted : this.dropped)?.add(call);
      return;
    }
    this.#waiting.add(message);
    this.#answer();
  }

  #answer(): void {
    while (!this.#isPaused && this.#waiting.length > 0 && this.#passes(this.#waiting.first!)) {
      const start = performance.now();
      this.#deliver(this.#waiting.take()!);
      this.#worked += performance.now() - start;
      if (this.#worked > PAUSE_AFTER_MS) this.pause();
    }
  }

  #passes(message: ToWorker): boolean {
    if (!this.#gate) return true;
    return message.type === 'call' ? this.#gate.mayCall(message.name, message.args[0]) : this.#gate.mayPass(message);
  }

  #deliver(message: ToWorker): void {
    if (message.type === 'call') {
      this.call = message.call;
      if (this.#unwanted.delete(this.call)) this.#calls.refuse(message);
      else this.#calls.run(message);
    } else {
      this.#receive(message);
    }
  }
}
