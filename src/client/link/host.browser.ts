import { isEndpoint } from './endpoint.js';
import type { Host } from './host.js';

export const browserHost: Host = {
  // Bundlers know this very line and emit the script.
  createWorker: () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'collision-worker' }),
  endpointOf: (worker) => (isEndpoint(worker) ? worker : null),
};
