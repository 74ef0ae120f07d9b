import { CollisionError } from '../../../shared/errors.js';
import { reading } from '../../check/validate.js';
import { unlessAborted } from '../../link/abort.js';

interface LatestQuery {
  readonly latest?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** It stands for a query that is under way. */
interface Pending<T> {
  readonly controller: AbortController;
  /** The answer of the newer query that has taken its place. */
  newer: Promise<T> | null;
}

/**
 * Lets the newest of the queries that ask for it take the place of those that wait, and answer them. The service would
 * do that for single queries; here one may be several of the service's. The oldest is never replaced: somebody who asks
 * faster than the answers come would else get none.
 */
export class LatestOnly<T> {
  readonly #operation: string;
  readonly #pending: Pending<T>[] = [];

  constructor(operation: string) {
    this.#operation = operation;
  }

  guard({ latest, signal }: LatestQuery, query: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    if (latest !== true) return query(signal);
    const pending: Pending<T> = { controller: new AbortController(), newer: null };
    const answer = this.#answer(pending, signal, query);
    for (const waiting of this.#pending.splice(1)) {
      waiting.newer = answer;
      waiting.controller.abort();
    }
    this.#pending.push(pending);
    return answer;
  }

  async #answer(
    pending: Pending<T>,
    signal: AbortSignal | undefined,
    query: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const { controller } = pending;
    try {
      const both = reading(this.#operation, 'signal', () =>
        signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
      );
      return await query(both);
    } catch (error) {
      if (pending.newer === null || signal?.aborted === true) throw error;
      return await this.#follow(pending.newer, signal, query);
    } finally {
      const index = this.#pending.indexOf(pending);
      if (index >= 0) this.#pending.splice(index, 1);
    }
  }

  /** Waits for a newer query's answer; asks by itself where that one is aborted by its own signal. */
  async #follow(
    newer: Promise<T>,
    signal: AbortSignal | undefined,
    query: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    try {
      return await unlessAborted(this.#operation, newer, signal);
    } catch (error) {
      if (!(CollisionError.is(error) && error.code === 'ABORTED') || signal?.aborted === true) throw error;
      return query(signal);
    }
  }
}
