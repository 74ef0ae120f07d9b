import { type AnswerMessage, type CallMessage, transfersOf } from '../shared/calls.js';
import { CollisionError } from '../shared/errors.js';
import { errorToWire } from '../shared/failure.js';
import type { WorkerApi } from '../shared/protocol.js';

type Post = (message: AnswerMessage, transfer?: Transferable[]) => void;

/** Runs calls on the service and answers them, at once if the service answers synchronously. */
export class Calls {
  readonly #service: Record<string, (...args: unknown[]) => unknown>;
  readonly #post: Post;

  constructor(service: WorkerApi, post: Post) {
    this.#service = service as unknown as Record<string, (...args: unknown[]) => unknown>;
    this.#post = post;
  }

  run([call, name, ...args]: CallMessage): void {
    try {
      const value = this.#service[name](...args);
      if (value instanceof Promise) this.#answerLater(call, value);
      else this.#answer(call, value);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /** Answers a call that nobody waits for any more, because the other side keeps every call until it is answered. */
  refuse([call]: CallMessage): void {
    this.#fail(call, errorToWire(new CollisionError('ABORTED', 'nobody waits for it any more')));
  }

  async #answerLater(call: number, answer: Promise<unknown>): Promise<void> {
    try {
      this.#answer(call, await answer);
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #answer(call: number, value: unknown): void {
    this.#post([call, value], transfersOf(value));
  }

  #fail(call: number, error: unknown): void {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    this.#post([call, undefined, { name, message, stack }]);
  }
}
