import type { WorkerLike } from '../../shared/types.js';
import type { WorkerEndpoint } from './endpoint.js';

/** The platform of the package, which each of its entries knows: a browser, or Node. */
export interface Host {
  /**
   * Ways to make the worker that comes with the package: usually the first one works, the next ones are tried if it fails. One
   * that is not available here gives null, or rejects.
   */
  readonly ways: readonly (() => Promise<(() => WorkerLike) | null>)[];
  /** The index of the way by which a worker has started; the next start begins with it. */
  way: number;
  /** Returns advice for when no way has led to a worker; empty if there is none. */
  advice(): string;
  /** Returns a worker as an endpoint; null if it is not a worker. */
  endpointOf(worker: unknown): WorkerEndpoint | null;
}
