import { limitMemory } from '../fixtures/limit-memory.js';
import type { RawWorker, StartMode } from './chaos-worker.js';
import { sourceOf } from './worker-source.js';

const SCRIPT = new URL('../../dist/worker.js', import.meta.url).href;

export function makeWebWorker(start: StartMode, pages: number | undefined): RawWorker {
  const worker = new Worker(urlOf(start, pages), { type: 'module' });
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer),
    terminate: () => worker.terminate(),
    listen: (onMessage, onError) => {
      worker.addEventListener('message', ({ data }) => onMessage(data));
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        onError(event.message);
      });
    },
  };
}

function urlOf(start: StartMode, pages: number | undefined): string {
  if (start === 'no script') return new URL('there-is-no-such-script.js', import.meta.url).href;
  if (start === 'well' && pages === undefined) return SCRIPT;
  // Awaited, because messages sent before the script listens would be lost.
  const source = sourceOf(start, pages, SCRIPT, limitMemory).replace('import(', 'await import(');
  return URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
}
