import type { WorkerLike } from '../../shared/types.js';
import { isEndpoint } from './endpoint.js';
import type { Host } from './host.js';

/** Starts the script beside the package's own. Bundlers recognize this very line, and emit the worker. */
const fromSiblingScript = async () => () => {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'collision-worker' });
};

/** Starts a Blob that imports the script, since browsers start workers of the page's own origin only. */
async function fromOtherOrigin(): Promise<(() => WorkerLike) | null> {
  // Written so that bundlers do not recognize it and emit the script again.
  const script = new URL(import.meta.url.replace(/[^/]*$/, 'worker.js'));
  if (script.origin === globalThis.location?.origin) return null;
  return fromText([`import ${JSON.stringify(script.href)};`], 'module');
}

/** Starts a Blob of the whole script, which is loaded only for this. */
async function fromBlob(): Promise<() => WorkerLike> {
  const { packedWorker } = await import('./worker-text.js');
  const text = new Blob([packedWorker()]).stream().pipeThrough(new DecompressionStream('gzip'));
  return fromText([await new Response(text).arrayBuffer()], 'classic');
}

/** The URLs of Blobs by their type. They are not revoked: lost workers and later services start from them. */
const blobUrls: Partial<Record<WorkerType, string>> = {};

function fromText(parts: BlobPart[], type: WorkerType): () => WorkerLike {
  blobUrls[type] ??= URL.createObjectURL(new Blob(parts, { type: 'text/javascript' }));
  return () => new Worker(blobUrls[type]!, { type, name: 'collision-worker' });
}

function advice(): string {
  // A document without workers is jsdom's; with this option Jest uses the package's entry for Node.
  if (globalThis.Worker === undefined && globalThis.navigator?.userAgent.includes('jsdom')) {
    return "; with Jest, put `testEnvironmentOptions: { customExportConditions: ['node'] }` into jest.config.js";
  }
  if (!import.meta.url.includes('/.vite/')) return '';
  return "; with Vite, put `optimizeDeps: { exclude: ['collision-worker'] }` into vite.config.js";
}

const endpointOf: Host['endpointOf'] = (worker) => (isEndpoint(worker) ? worker : null);

export const browserHost: Host = { ways: [fromSiblingScript, fromOtherOrigin, fromBlob], way: 0, advice, endpointOf };

/** The host of pages that have no separate worker file. */
export const inlineHost: Host = { ways: [fromBlob], way: 0, advice: () => '', endpointOf };
