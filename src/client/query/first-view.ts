import type { CollisionError } from '../../shared/errors.js';
import { unlessAborted } from '../link/abort.js';
import { errorFromFailure } from '../link/worker-link.js';

/** Makes queries on a view wait until the first view is set. */
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

  /** Ends the wait with the reason why no view will be set any more. */
  end(error: CollisionError): void {
    this.#settle(error);
  }

  /** Asks a question once there is a view. Rejects with ABORTED by the signal, or with the reason why there will be no view. */
  async ask<T>(operation: string, signal: AbortSignal | undefined, question: () => Promise<T>): Promise<T> {
    const error = await unlessAborted(operation, this.#settled, signal);
    if (error) throw errorFromFailure(operation, error);
    return question();
  }
}
