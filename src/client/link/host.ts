import type { WorkerLike } from '../../shared/types.js';
import type { WorkerEndpoint } from './endpoint.js';

/** Where the package runs, which each of its entries knows: a browser, or Node. */
export interface Host {
  /** Starts the worker that comes with the package. */
  createWorker(): WorkerLike;
  /** Answers a worker as an endpoint; null for what is none. */
  endpointOf(worker: unknown): WorkerEndpoint | null;
}
