import { CollisionError } from '../../shared/errors.js';
import type { Deferred } from '../link/worker-link.js';

/**
 * The calls of one operation with `latest`: one is in the worker and the newest waits, so that none is cancelled for
 * ever.
 */
export class LatestTurn<T> {
  readonly operation: string;
  #isInWorker = false;
  #waiting: Deferred<T> | undefined;
  #held: (() => void) | undefined;

  constructor(operation: string) {
    this.operation = operation;
  }

  /** Rejects the call that waits with ABORTED, and lets a newer one wait in its place. */
  replaceWaiting(answer: Deferred<T>): void {
    const { operation } = this;
    this.#waiting?.reject(
      new CollisionError('ABORTED', `${operation}: a newer ${operation} with \`latest\` took its place`),
    );
    this.#waiting = answer;
  }

  /** Sends a call to the worker, now or when the call before it is answered. */
  ask(answer: Deferred<T>, send: () => Promise<boolean>): void {
    if (this.#isInWorker) {
      this.#held = () => this.ask(answer, send);
      return;
    }
    if (answer.settled) return;
    this.#isInWorker = true;
    this.#waiting = undefined;
    send().then(() => {
      this.#isInWorker = false;
      const held = this.#held;
      this.#held = undefined;
      held?.();
    });
  }
}
