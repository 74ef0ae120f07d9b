import type { Endpoint } from 'comlink';
import type { ToWorker } from '../shared/protocol.js';
import { Queue } from './queue.js';
import { afterMessages, type Gate, type Turns } from './slices.js';

/** Milliseconds of work after which messages may have piled up. */
const PAUSE_AFTER_MS = 2;

/** comlink's type of the message that calls a function. */
const CALL = 'APPLY';

/**
 * The messages to the worker, which are answered in the order in which they came, but for calls that nobody waits for
 * any more. Their `drop` stands behind them: so after long work everything that came meanwhile is taken in before any
 * of it is answered.
 */
export class Inbox implements Turns {
  /** Where comlink hears calls to run, and those that were dropped. */
  readonly calls: CallEndpoint;
  readonly droppedCalls: CallEndpoint;

  readonly #endpoint: Endpoint;
  #receive!: (message: ToWorker) => void;
  readonly #waiting = new Queue<MessageEvent>();
  /** Calls are numbered from 1, as on the other side. */
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
    this.calls = new CallEndpoint(endpoint);
    this.droppedCalls = new CallEndpoint(endpoint);
  }

  /** Begins to listen; `receive` gets what is not a call. */
  open(receive: (message: ToWorker) => void): void {
    this.#receive = receive;
    this.#endpoint.addEventListener('message', (event) => this.#take(event as MessageEvent));
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
    });
  }

  #take(event: MessageEvent): void {
    const message: ToWorker = event.data;
    if (message.type === 'drop') {
      for (const call of message.calls) (call > this.call ? this.#unwanted : this.dropped)?.add(call);
      return;
    }
    this.#waiting.add(event);
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

  #passes({ data }: MessageEvent): boolean {
    if (!this.#gate) return true;
    return data.type === CALL
      ? this.#gate.mayCall(data.path[0], data.argumentList[0]?.value)
      : this.#gate.mayPass(data);
  }

  #deliver(event: MessageEvent): void {
    if (event.data.type === CALL) {
      const isUnwanted = this.#unwanted.delete(++this.call);
      (isUnwanted ? this.droppedCalls : this.calls).deliver(event);
    } else {
      this.#receive(event.data);
    }
  }
}

/** What comlink listens to. */
class CallEndpoint implements Endpoint {
  readonly #endpoint: Endpoint;
  #listener: ((event: Event) => void) | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  deliver(event: MessageEvent): void {
    this.#listener?.(event);
  }

  postMessage(message: unknown, transfer?: Transferable[]): void {
    this.#endpoint.postMessage(message, transfer);
  }

  addEventListener(_: string, listener: EventListenerOrEventListenerObject): void {
    this.#listener = listener as (event: Event) => void;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}
