// Entry of the worker script, in browsers and in Node.
import packed from '../../build/core.wasm.gz';
import type { AnswerMessage, Endpoint } from '../shared/calls.js';
import { CollisionError } from '../shared/errors.js';
import { failureOf } from '../shared/failure.js';
import type { FromWorker } from '../shared/protocol.js';
import { mayShareCopies } from '../shared/shared-memory.js';
import { VERSION } from '../shared/version.js';
import { bindCore } from './binding/core.js';
import { restoreOrder } from './binding/core-order.js';
import { type CompiledCore, startCore } from './binding/exports.js';
import { Calls } from './calls.js';
import { Inbox } from './inbox.js';
import { WorkerService } from './service.js';

const IN_BROWSER = 'WorkerGlobalScope' in globalThis;

/**
 * Finds the endpoint that sends and receives messages: a web worker's own scope, else the port to the thread that
 * started this one.
 */
function findEndpoint(): Endpoint {
  // Both are endpoints; the types at hand are those of a window and of Node's own ports.
  if (IN_BROWSER) return globalThis as unknown as Endpoint;
  // Uses globalThis, because some bundlers substitute a browser shim for a bare `process`.
  const port = globalThis.process.getBuiltinModule('node:worker_threads').parentPort;
  if (!port) throw new Error('collision-worker: this script runs as a worker only');
  return port as unknown as Endpoint;
}

async function start(endpoint: Endpoint): Promise<void> {
  const post = (message: FromWorker | AnswerMessage, transfer?: Transferable[]) =>
    endpoint.postMessage(message, transfer);
  try {
    const inheritedCore = findInheritedCore();
    const [exports, compiled] = await startCore(inheritedCore ?? restoreOrder(await unpack(packed())));
    const core = bindCore(exports);
    const inbox = new Inbox(endpoint);
    const service = new WorkerService(core, post, inbox);
    inbox.open((message) => service.receive(message), new Calls(service, post));
    const { memoryBytes, usedBytes } = core;
    const ready = { type: 'ready', version: VERSION, memoryBytes, usedBytes, mayShare: mayShareCopies() } as const;
    post(IN_BROWSER || inheritedCore ? ready : { ...ready, compiled });
  } catch (error) {
    post({ type: 'fault', failure: failureOf(error) ?? { code: 'WORKER_LOST', message: String(error) } });
  }
}

/**
 * Returns the module that an earlier worker of the process has compiled, if the thread that started this one passes
 * it on.
 */
function findInheritedCore(): CompiledCore | undefined {
  if (IN_BROWSER) return undefined;
  const { workerData } = globalThis.process.getBuiltinModule('node:worker_threads');
  // An app that starts the script itself may pass on anything else, and there may be no WebAssembly.
  return workerData?.[1] && workerData[1] instanceof WebAssembly.Module ? workerData : undefined;
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  // Node's own gunzip takes 3 ms, its stream 12 to 17.
  if (!IN_BROWSER) return globalThis.process.getBuiltinModule('node:zlib').gunzipSync(bytes);
  if (typeof DecompressionStream === 'undefined') {
    const requirement = 'Chrome 80, Firefox 113 and Safari 16.4 have it';
    throw new CollisionError(
      'UNSUPPORTED',
      `there is no DecompressionStream here, which the core needs: ${requirement}`,
    );
  }
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) chunks.push(part.value);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

start(findEndpoint());
