import type { Endpoint } from '../../shared/calls.js';

/** A worker as the link uses it. A browser's `Worker` is one. */
export interface WorkerEndpoint extends Endpoint {
  terminate(): unknown;
  /** Makes the worker keep the process alive, in Node; `unref` lets the process end. */
  ref?(): void;
  unref?(): void;
}

export function isEndpoint(worker: unknown): worker is WorkerEndpoint {
  const candidate = worker as Partial<WorkerEndpoint> | null | undefined;
  return (
    typeof candidate?.postMessage === 'function' &&
    typeof candidate.addEventListener === 'function' &&
    typeof candidate.terminate === 'function'
  );
}
