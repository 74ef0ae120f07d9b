import { reading } from '../../check/validate.js';

/**
 * Lets the newest of the queries that ask for it take the place of those that wait. The service would do that for
 * single queries; here one may be several of the service's. The oldest is never cancelled: somebody who asks faster
 * than the answers come would else get none.
 */
export class LatestOnly {
  readonly #pending: AbortController[] = [];

  async guard<T>(
    { latest, signal }: { latest?: boolean; signal?: AbortSignal },
    query: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    if (latest !== true) return query(signal);
    const controller = new AbortController();
    const both = reading('latest', 'signal', () =>
      signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    );
    for (const waiting of this.#pending.splice(1)) waiting.abort();
    this.#pending.push(controller);
    try {
      return await query(both);
    } finally {
      const index = this.#pending.indexOf(controller);
      if (index >= 0) this.#pending.splice(index, 1);
    }
  }
}
