import type { Endpoint } from 'comlink';
import type { ToWorker } from '../shared/protocol.js';
import { afterMessages } from './slices.js';

/** Milliseconds of work after which messages may have piled up. */
const PAUSE_AFTER_MS = 2;

/** comlink's type of the message that calls a function. */
const CALL = 'APPLY';

/**
 * The messages to the worker, which are answered in the order in which they came, but for calls that nobody waits for
 * any more. Their `drop` stands behind them: so after long work everything that came meanwhile is taken in before any
 * of it is answered.
 */
export class Inbox {
  /** Where comlink hears calls to run, and those that were dropped. */
  readonly calls: CallEndpoint;
  readonly droppedCalls: CallEndpoint;

  readonly #endpoint: Endpoint;
  #receive!: (message: ToWorker) => void;
  readonly #waiting: MessageEvent[] = [];
  /** Calls are numbered from 1, as on the other side. */
  #begun = 0;
  readonly #dropped = new Set<number>();
  #isPaused = false;
  /** Milliseconds since the last pause. */
  #worked = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.calls = new CallEndpoint(endpoint);
    this.droppedCalls = new CallEndpoint(endpoint);
  }

  /** Begins; `receive` gets what is not a call. */
  open(receive: (message: ToWorker) => void): void {
    this.#receive = receive;
    this.#endpoint.addEventListener('message', (event) => this.#take(event as MessageEvent));
  }

  /** Takes in what waits before more is answered. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#takeAll();
  }

  /** Node hands over no more than a thousand messages at once: only when none has come are there no more. */
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
      for (const call of message.calls) if (call > this.#begun) this.#dropped.add(call);
      return;
    }
    this.#waiting.push(event);
    this.#answer();
  }

  #answer(): void {
    while (!this.#isPaused && this.#waiting.length > 0) {
      const start = performance.now();
      this.#deliver(this.#waiting.shift()!);
      this.#worked += performance.now() - start;
      if (this.#worked > PAUSE_AFTER_MS) this.pause();
    }
  }

  #deliver(event: MessageEvent): void {
    if (event.data.type === CALL) {
      const isDropped = this.#dropped.delete(++this.#begun);
      (isDropped ? this.droppedCalls : this.calls).deliver(event);
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
