import type { CallMessage, Endpoint } from '../shared/calls.js';
import type { ToWorker } from '../shared/protocol.js';
import type { Calls } from './calls.js';
import { Queue } from './queue.js';
import { afterMessages, type Gate, INTAKE, type MessageFlow } from './slices.js';

/** Milliseconds of work after which messages may have piled up. */
const PAUSE_AFTER_MS = 2;

/**
 * The messages to the worker. They are answered in the order of their arrival, except for calls that nobody waits for
 * any more. The `drop` of such a call arrives after it: so after long work, all messages that arrived meanwhile are
 * taken in before any of them is answered.
 */
export class Inbox implements MessageFlow {
  readonly #endpoint: Endpoint;
  #receive!: (message: ToWorker) => void;
  #calls!: Pick<Calls, 'run' | 'refuse'>;
  readonly #messageQueue = new Queue<ToWorker | CallMessage>();
  /** Number of the call that began last. */
  call = 0;
  dropped: Set<number> | undefined;
  /** Calls that were dropped before they began. */
  readonly #droppedBeforeStart = new Set<number>();
  #isPaused = false;
  /** Decides which messages pass while the others are held. */
  #gate: Gate | undefined;
  /** Milliseconds since the last pause. */
  #workedMs = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Begins to listen; `receive` gets the messages that are not `calls`. */
  open(receive: (message: ToWorker) => void, calls: Pick<Calls, 'run' | 'refuse'>): void {
    this.#receive = receive;
    this.#calls = calls;
    this.#endpoint.addEventListener('message', (event) =>
      this.#accept((event as MessageEvent<ToWorker | CallMessage>).data),
    );
  }

  hold(gate: Gate): void {
    this.#gate = gate;
  }

  release(): void {
    this.#gate = undefined;
    this.pause();
  }

  /** Takes in all waiting messages before any more are answered. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#acceptAll();
  }

  /**
   * Takes in all waiting messages, then answers them. Node delivers at most a thousand messages at once, so none are
   * left only when a turn has brought none.
   */
  #acceptAll(): void {
    const lengthBefore = this.#messageQueue.length;
    afterMessages(() => {
      if (this.#messageQueue.length > lengthBefore) {
        this.#acceptAll();
        return;
      }
      this.#isPaused = false;
      this.#workedMs = 0;
      this.#answer();
    }, INTAKE);
  }

  #accept(message: ToWorker | CallMessage): void {
    if (!Array.isArray(message) && message.type === 'drop') {
      for (const call of message.calls) (call > this.call ? this.#droppedBeforeStart : this.dropped)?.add(call);
      return;
    }
    this.#messageQueue.add(message);
    this.#answer();
  }

  #answer(): void {
    while (!this.#isPaused && this.#messageQueue.length > 0 && this.#passes(this.#messageQueue.first!)) {
      const start = performance.now();
      this.#deliver(this.#messageQueue.take()!);
      this.#workedMs += performance.now() - start;
      if (this.#workedMs > PAUSE_AFTER_MS) this.pause();
    }
  }

  #passes(message: ToWorker | CallMessage): boolean {
    if (!this.#gate) return true;
    return Array.isArray(message) ? this.#gate.mayCall(message[1], message[2]) : this.#gate.mayPass(message);
  }

  #deliver(message: ToWorker | CallMessage): void {
    if (Array.isArray(message)) {
      [this.call] = message;
      if (this.#droppedBeforeStart.delete(this.call)) this.#calls.refuse(message);
      else this.#calls.run(message);
    } else {
      this.#receive(message);
    }
  }
}
