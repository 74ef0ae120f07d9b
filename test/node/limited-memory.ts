import { Worker } from 'node:worker_threads';
import { limitMemory } from './limit-memory.js';

export { limitMemory };

/** The package's own worker with no more memory than that for its core. */
export function createLimitedWorker(pages: number): Worker {
  const script = import.meta.resolve('collision-worker/worker');
  const source = `
    const limitMemory = ${limitMemory};
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (bytes, imports) => instantiate(limitMemory(bytes, ${pages}), imports);
    import(${JSON.stringify(script)});
  `;
  return new Worker(source, { eval: true });
}
