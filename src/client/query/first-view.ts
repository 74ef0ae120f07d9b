import type { CollisionError } from '../../shared/errors.js';
import { unlessAborted } from '../link/abort.js';
import { named } from '../link/worker-link.js';

/** Lets what is asked of a view before there is any wait for the first one. */
export class FirstView {
  isSet = false;
  readonly #settled: Promise<CollisionError | null>;
  #settle!: (error: CollisionError | null) => void;

  constructor() {
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  set(): void {
    this.isSet = true;
    this.#settle(null);
  }

  /** Says why there will be no view any more. */
  end(error: CollisionError): void {
    this.#settle(error);
  }

  /** Asks a question once there is a view. Rejects with ABORTED by the signal, and with why there will be no view. */
  async ask<T>(operation: string, signal: AbortSignal | undefined, question: () => Promise<T>): Promise<T> {
    const error = await unlessAborted(operation, this.#settled, signal);
    if (error !== null) throw named(operation, error);
    return question();
  }
}
