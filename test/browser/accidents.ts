import { limitMemory } from '../limit-memory.js';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url).href;

/** What can happen to a worker while it works. */
export type Accident = 'throws' | 'ends itself' | 'hangs' | 'is killed';

const SOURCE = `
  addEventListener('message', ({ data: { accident } }) => {
    if (accident === 'throws') throw new Error('accident');
    if (accident === 'ends itself') close();
    if (accident === 'hangs') for (;;);
  });
`;

/** The package's own worker, to which accidents happen; its core gets no more than so many pages of 64 KB. */
export function createFragileWorker(pages = 65_536): Worker {
  const limit = `
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = (bytes, imports) => instantiate((${limitMemory})(bytes, ${pages}), imports);
  `;
  const source = `${SOURCE} ${pages < 65_536 ? limit : ''} import(${JSON.stringify(SCRIPT)});`;
  return new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
}

export function happen(worker: Worker, accident: Accident): void {
  if (accident === 'is killed') worker.terminate();
  else worker.postMessage({ accident });
}
