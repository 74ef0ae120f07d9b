// Workers in browsers. Node has host.node.ts in its place, by the package's `imports`.
import type { WorkerLike } from '../../shared/types.js';
import { isEndpoint, type WorkerEndpoint } from './endpoint.js';

/** Starts the worker that comes with the package. Bundlers know this very line and emit the script. */
export function createDefaultWorker(): WorkerLike {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'collision-worker' });
}

/** Answers a worker as an endpoint; null for what is none. */
export function endpointOf(worker: unknown): WorkerEndpoint | null {
  return isEndpoint(worker) ? worker : null;
}
