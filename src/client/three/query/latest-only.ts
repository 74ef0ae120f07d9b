import { CollisionError } from '../../../shared/errors.js';
import { guardRead } from '../../check/validate.js';
import { unlessAborted } from '../../link/abort.js';

interface LatestQuery {
  readonly latest?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A query that is under way. */
interface Pending<T> {
  readonly controller: AbortController;
  /** The answer of the newer query that has replaced this one. */
  newer: Promise<T> | null;
}

/**
 * Lets the newest of the queries with `latest` replace those that wait, and answer them. The service does that for its single
 * queries; here, one query may be several of the service's. The oldest is never replaced: otherwise, a caller that asks faster
 * than answers arrive would get none.
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
    const answer = this.#run(pending, signal, query);
    for (const replaced of this.#pending.splice(1)) {
      replaced.newer = answer;
      replaced.controller.abort();
    }
    this.#pending.push(pending);
    return answer;
  }

  async #run(
    pending: Pending<T>,
    signal: AbortSignal | undefined,
    query: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const { controller } = pending;
    try {
      const eitherSignal = guardRead(this.#operation, 'signal', () =>
        signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
      );
      return await query(eitherSignal);
    } catch (error) {
      if (pending.newer === null || signal?.aborted === true) throw error;
      return await this.#awaitNewer(pending.newer, signal, query);
    } finally {
      const index = this.#pending.indexOf(pending);
      if (index >= 0) this.#pending.splice(index, 1);
    }
  }

  /** Waits for a newer query's answer; asks again on its own if that query is aborted by its own signal. */
  async #awaitNewer(
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
