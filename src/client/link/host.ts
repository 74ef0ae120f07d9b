import type { WorkerLike } from '../../shared/types.js';
import type { WorkerEndpoint } from './endpoint.js';

/** Where the package runs, which each of its entries knows: a browser, or Node. */
export interface Host {
  /** Ways to make the worker that comes with the package: the first of them as a rule, the next ones where that fails. */
  readonly ways: readonly (() => Promise<() => WorkerLike>)[];
  /** The number of the way that a worker has started by; the next one begins with it. */
  way: number;
  /** Says what to do where no way has led to a worker; empty where nothing is known. */
  advice(): string;
  /** Answers a worker as an endpoint; null for what is none. */
  endpointOf(worker: unknown): WorkerEndpoint | null;
}
