import type { CollisionError } from '../../shared/errors.js';
import { unlessAborted } from '../link/abort.js';
import { named } from '../link/worker-link.js';

/** Lets what is asked of a view before there is any wait for the first one. */
export class FirstView {
  isSet = false;
  readonly #ended: Promise<CollisionError>;
  readonly #set: Promise<void>;
  #resolve!: () => void;

  /** `ended` says that there will be no view any more. */
  constructor(ended: Promise<CollisionError>) {
    this.#ended = ended;
    this.#set = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  set(): void {
    this.isSet = true;
    this.#resolve();
  }

  /** Asks a question once there is a view. Rejects with ABORTED by the signal, and with why there will be no view. */
  async ask<T>(operation: string, signal: AbortSignal | undefined, question: () => Promise<T>): Promise<T> {
    const end = this.#ended.then((error): never => {
      throw named(operation, error);
    });
    await unlessAborted(operation, Promise.race([this.#set, end]), signal);
    return question();
  }
}
